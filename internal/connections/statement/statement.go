// Package statement imports the statement files that banks offer for download. It holds the
// caller's options for a file, the preview, and the job that stores the rows. A connection
// remembers how its last file was read, so the next one is read in the same way.
package statement

import (
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
)

// Statements imports files into the connections of one household.
type Statements struct {
	db          *pg.DB
	connections *connection.Connections
	accounts    *account.Register
	books       *ledger.Books
	rules       *rulebook.Rulebook
	jobs        *job.Jobs
	formats     []statement.Format
}

// New returns Statements that import files of the given formats. The last format takes files that
// no other format recognizes.
func New(db *pg.DB, f *connection.Connections, accounts *account.Register, books *ledger.Books,
	rules *rulebook.Rulebook, jobs *job.Jobs, formats []statement.Format,
) *Statements {
	return &Statements{
		db: db, connections: f, accounts: accounts, books: books, rules: rules, jobs: jobs, formats: formats,
	}
}

// unprinted returns the inputs that a tool accepts but does not show: the given ones, and the
// options of how to read a file, whose names also occur in a preview's response.
func unprinted(more ...string) []string {
	names := append([]string{"options"}, more...)
	for _, p := range op.SchemaOf[FileOptions]().Props {
		names = append(names, p.Name)
	}
	return names
}

// Ops returns the operations of statement imports.
func (s *Statements) Ops() []*op.Op {
	return []*op.Op{
		op.Quiet(op.Reading(op.Spec{
			Name: "csv.preview", Heavy: true, Route: "POST /connections/csv/preview", TextIn: "csv text/csv",
			Tool: "preview_statement", Scope: op.Full,
			Summary: "Previews how a bank's file would be read; stores nothing.",
			Agent: "Shows how a bank's file (any format) would be read, and its accounts; stores nothing. To " +
				"correct a guess, pass date_format, mapping or another field of the answer here and to the import.",
		}, s.Preview), unprinted("accounts")...),
		op.Quiet(op.Long(op.Writing(op.Spec{
			Name: "csv.import", Heavy: true, Route: "POST /connections/{id}/csv/import", TextIn: "csv text/csv",
			Tool:    "import_statement",
			Runs:    op.Runs{Reach: op.ReachNever, Instead: "runs can't import files; name missing ones in the report"},
			Summary: "Imports a bank's file, as a job; stored rows are not added again.",
			Agent: "Imports a bank's file, once its preview is right; stored rows are not added again. The result's " +
				"change_id reverts it.",
		}, s.ImportFile), 20*time.Second, s.jobs.Await), unprinted("account", "include_likely_duplicates")...),
	}
}

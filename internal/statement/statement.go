// Package statement imports the files that banks let people download: the caller's options for a
// file, how it would be read, and the job that puts its rows into the books. A connection remembers
// how its last file was read, so the next one is read in the same way.
package statement

import (
	"coffer/internal/account"
	"coffer/internal/feed"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/rulebook"
)

// Statements imports files into the connections of one household.
type Statements struct {
	db       *pg.DB
	feed     *feed.Feed
	accounts *account.Register
	books    *ledger.Books
	rules    *rulebook.Rulebook
	jobs     *job.Jobs
}

// New returns Statements that import into those books, through those rules.
func New(db *pg.DB, f *feed.Feed, accounts *account.Register, books *ledger.Books, rules *rulebook.Rulebook,
	jobs *job.Jobs,
) *Statements {
	return &Statements{db: db, feed: f, accounts: accounts, books: books, rules: rules, jobs: jobs}
}

// Ops is the menu of statement.
func (s *Statements) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "csv.preview", Heavy: true, Route: "POST /connections/csv/preview", TextIn: "csv text/csv",
			Scope: op.Full, Summary: "Previews how a CSV statement would be read; stores nothing.",
		}, s.Preview),
		op.Long(op.Writing(op.Spec{
			Name: "csv.import", Heavy: true, Route: "POST /connections/{id}/csv/import", TextIn: "csv text/csv",
			Summary: "Imports a CSV statement, as a job; stored rows are not added again.",
		}, s.ImportFile), 0, s.jobs.Await),
	}
}

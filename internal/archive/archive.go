// Package archive takes a household's data out and brings it back: exports, the ledgers of other programs, backups; and it erases what belongs to a member.
// It must not know what rows mean beyond what an account and a transaction are; which tables and columns there are it asks the catalog.
package archive

import (
	"context"
	"io"

	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/job"
	"coffer/internal/link"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// An Archive takes one household's data out and brings it back.
type Archive struct {
	db      *pg.DB
	jobs    *job.Jobs
	auth    *auth.Auth
	feed    *feed.Feed
	links   *link.Links
	version string // of this program, for manifests
	base    string // where links begin

	eraseMost int64 // a test has less
}

// New makes an Archive of that household.
func New(db *pg.DB, jobs *job.Jobs, a *auth.Auth, f *feed.Feed, l *link.Links, version string) *Archive {
	return &Archive{db: db, jobs: jobs, auth: a, feed: f, links: l, version: version, eraseMost: eraseMost}
}

// Publish says under which address others reach the server; without one the links of exports are paths. It is called while the service is put together, never later.
func (a *Archive) Publish(base string) { a.base = base }

// Ops is archive's menu.
func (a *Archive) Ops() []*op.Op {
	return []*op.Op{
		op.Long(op.Writing(op.Spec{
			Name: "export.create", Route: "POST /exports", Summary: "Writes the whole household, or its ledger alone, into a file as a job, whose result is a link that works once.",
		}, a.CreateExport), 0, a.jobs.Await),
		op.Calling(op.Spec{
			Name: "user.erase", Route: "POST /users/{id}/erase", Summary: "Erases everything that belongs to a member, for good; dry_run shows what would go.",
		}, a.askErase, a.Erase),
	}
}

// Formats are what can be written.
var Formats = []string{"archive", "csv", "hledger", "beancount"}

// Write writes the household into w in that format: the whole of it, or the ledger alone in another program's language.
func (a *Archive) Write(ctx context.Context, w io.Writer, format string, moved progress) error {
	switch format {
	case "archive":
		_, err := a.write(ctx, w, Export, moved)
		return err
	case "csv":
		return a.writeCSV(ctx, w, moved)
	case "hledger":
		return a.writeLedger(ctx, w, hledger{}, moved)
	case "beancount":
		return a.writeLedger(ctx, w, beancount{}, moved)
	}
	return errs.Field("format", "enum", "must be archive, csv, hledger or beancount")
}

// Package archive exports a household's data and imports it again: exports, ledgers in other
// programs' formats, and backups. It also erases what belongs to a member. It must not know what
// rows mean beyond accounts and transactions; it reads the tables and columns from the catalog.
package archive

import (
	"context"
	"io"

	"coffer/internal/books/accountlink"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// An Archive exports and imports one household's data.
type Archive struct {
	db          *pg.DB
	jobs        *job.Jobs
	auth        *auth.Auth
	connections *connection.Connections
	links       *accountlink.Links
	version     string // of this program, for manifests
	base        string // where links begin

	eraseMost int64 // tests set a smaller value
}

// A Config holds what New needs.
type Config struct {
	DB          *pg.DB
	Jobs        *job.Jobs
	Auth        *auth.Auth
	Connections *connection.Connections
	Links       *accountlink.Links
	Version     string // the version of this program, for manifests
	Address     string // the public address of the server; without one the links of exports are paths
}

// New returns an Archive of the household.
func New(c Config) *Archive {
	return &Archive{
		db: c.DB, jobs: c.Jobs, auth: c.Auth, connections: c.Connections, links: c.Links,
		version: c.Version, base: c.Address,
		eraseMost: eraseMost,
	}
}

// Ops returns the operations of exports and erasure.
func (a *Archive) Ops() []*op.Op {
	return []*op.Op{
		op.Long(op.Writing(op.Spec{
			Name: "export.create", Route: "POST /exports", People: op.PeopleAlways,
			Summary: "Exports everything, or only transactions, as a job; the result is a download link that " +
				"works once.",
		}, a.CreateExport), 0, a.jobs.Await),
		op.Calling(op.Spec{
			Name: "user.erase", Route: "POST /users/{id}/erase", People: op.PeopleUnlessDry,
			Summary: "Permanently erases a member's data; dry_run shows what would be erased.",
		}, a.askErase, a.Erase),
	}
}

// Formats lists the formats that can be written.
var Formats = []string{"archive", "csv", "hledger", "beancount"}

// Write writes the household to w in the format: all of it, or only the ledger in another program's
// format.
func (a *Archive) Write(ctx context.Context, w io.Writer, format string, moved progress) error {
	switch format {
	case "archive":
		_, err := a.write(ctx, w, Export, false, moved)
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

// Package finding finds what a person should check: double charges, refunds, unusual charges, new
// prices, missed payments and balances that do not add up. It changes transactions only when
// somebody confirms a finding, through the ledger.
package finding

import (
	"context"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// A Desk holds one household's findings and its decisions about them.
type Desk struct {
	db        *pg.DB
	books     *ledger.Books
	accounts  *account.Register
	recurring *recurring.Payments
}

// New returns the desk for findings in those books, accounts and recurring payments.
func New(db *pg.DB, books *ledger.Books, accounts *account.Register, payments *recurring.Payments) *Desk {
	return &Desk{db, books, accounts, payments}
}

// Subjects returns the subjects that reverts restore.
func (d *Desk) Subjects() []journal.Subject { return []journal.Subject{definition} }

// Tasks returns the timed work of findings: a recount, a minute after a sweep of recurring
// payments.
func (d *Desk) Tasks() []schedule.Task {
	return []schedule.Task{{
		Name: "finding", Fault: "findings not counted",
		Next: func(ctx context.Context, q pg.Querier) (time.Duration, error) {
			ms, err := pg.Value[*int64](ctx, q, `
				select (select ceil(extract(epoch from noted_at + interval '1 minute' - clock_timestamp()) * 1000)::bigint
					from sighting_due limit 1)`)
			return schedule.In(ms), err
		},
		Do: func(ctx context.Context) error {
			return d.db.InTx(ctx, func(tx pg.Tx) error { return d.Recount(ctx, tx) })
		},
	}}
}

// dayOf returns the number of days since 1970.
func dayOf(t time.Time) int { return int(t.Unix() / 86400) }

// date returns the day with that number.
func date(day int) pg.Date { return pg.Day(time.Unix(int64(day)*86400, 0).UTC()) }

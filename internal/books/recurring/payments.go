// Package recurring keeps the payments that come back regularly: it finds them among the
// transactions that changed, stores them, and records what the household decides about them. It
// changes no transaction.
package recurring

import (
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/pg"
)

// Payments are the recurring payments of one household.
type Payments struct {
	db    *pg.DB
	books *ledger.Books
	many  int // manyForms; tests set a smaller one
}

// New returns Payments that use those books.
func New(db *pg.DB, books *ledger.Books) *Payments { return &Payments{db, books, manyForms} }

// Subjects returns the subjects that reverts restore.
func (p *Payments) Subjects() []journal.Subject { return []journal.Subject{subject{definition, p}} }

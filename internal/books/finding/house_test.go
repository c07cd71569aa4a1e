package finding

import (
	"context"
	"slices"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// A house is a database with books and findings.
type house struct {
	*Desk
	t *testing.T
}

func newHouse(t *testing.T) *house {
	t.Helper()
	db := pgtest.New(t)
	books := ledger.New(db, category.New(ledger.CategoryUser{}))
	return &house{New(db, books, account.New(db), recurring.New(db, books)), t}
}

// do runs f in a transaction.
func (h *house) do(f func(ctx context.Context, tx pg.Tx) error) {
	h.t.Helper()
	if err := h.db.InTx(h.t.Context(), func(tx pg.Tx) error { return f(h.t.Context(), tx) }); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	h.do(func(ctx context.Context, tx pg.Tx) error { _, err := pg.Exec(ctx, tx, sql, args...); return err })
}

func (h *house) sweep() {
	h.t.Helper()
	h.do(h.recurring.Sweep)
}

// subjects returns the subjects of the findings' journal.
func (h *house) subjects() []journal.Subject {
	return slices.Concat(h.recurring.Subjects(), h.Subjects())
}

func (h *house) account() id.ID {
	h.t.Helper()
	u := id.New()
	h.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', $2, 'Checking', 'depository', 'EUR')`, u, u.Short())
	return u
}

func (h *house) merge(rows ...ledger.Incoming) {
	h.t.Helper()
	h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.books.Merge(ctx, tx, slices.Values(rows))
		return err
	})
}

// payment returns a row of an account. Days count from the beginning of 2024.
func payment(account id.ID, key, name, merchant string, day int, cents int64) ledger.Incoming {
	amount, err := money.FromCents(cents)
	if err != nil {
		panic(err)
	}
	return ledger.Incoming{
		AccountID: account, ProviderID: key, Date: date(19723 + day), Amount: amount, Currency: "EUR",
		Name: text.Name(name), MerchantName: text.Name(merchant),
	}
}

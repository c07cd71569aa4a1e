package accountlink_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

type world struct {
	ctx   context.Context //nolint:containedctx // the test's, with a person in it
	db    *pg.DB
	books *ledger.Books
	links *accountlink.Links
	jobs  *job.Jobs
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db := pgtest.New(t)
	w := &world{
		ctx: op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full}),
		db:  db,
	}
	jobs := job.New(db, slog.New(slog.DiscardHandler))
	w.books = ledger.New(db, category.New(ledger.CategoryUser{}))
	w.links, w.jobs = accountlink.New(db, w.books, jobs), jobs
	w.books.Tell(w.links)
	jobs.Add(w.links.Kinds()...)
	return w
}

// do runs one use case in its own database transaction.
func do[In, Out any](t *testing.T, w *world, f func(context.Context, pg.Tx, In) (Out, error), in In) Out {
	t.Helper()
	out, err := try(w, f, in)
	if err != nil {
		t.Fatalf("%T: %v", in, err)
	}
	return out
}

func try[In, Out any](w *world, f func(context.Context, pg.Tx, In) (Out, error), in In) (out Out, err error) {
	err = w.db.InTx(w.ctx, func(tx pg.Tx) error {
		out, err = f(w.ctx, tx, in)
		return err
	})
	return out, err
}

func (w *world) accounts(t *testing.T, names ...string) []id.ID {
	t.Helper()
	list := make([]account.Incoming, len(names))
	for i, n := range names {
		list[i] = account.Incoming{
			Provider: "csv", ProviderID: n, Name: text.Name(n), Type: "depository",
			Currency: "EUR",
		}
	}
	return do(t, w, account.New(w.db).AddAccounts, list)
}

func (w *world) merge(t *testing.T, rows ...ledger.Incoming) {
	t.Helper()
	do(t, w, w.books.Merge, slices.Values(rows))
}

func (w *world) sweep(t *testing.T) accountlink.Reconciled {
	t.Helper()
	return do(t, w, func(ctx context.Context, tx pg.Tx, _ op.None) (accountlink.Reconciled,
		error,
	) {
		return w.links.Sweep(ctx, tx)
	}, op.None{})
}

func incoming(account id.ID, key string, day int, amount string) ledger.Incoming {
	d, _ := pg.ParseDate("2026-01-01")
	return ledger.Incoming{
		AccountID: account, ProviderID: key, Date: pg.Day(d.Time().AddDate(0, 0, day)),
		Amount: money.MustParse(amount), Currency: "EUR", Name: text.Name("ROW " + key),
	}
}

// state returns every match of a link in use, with the rows' names and the marks on its
// transactions.
func (w *world) state(t *testing.T) []string {
	t.Helper()
	out, err := pg.Values[string](t.Context(), w.db, `
		select concat_ws(' ', a.name, p.provider_id, b.name, r.provider_id, l.kind, l.confidence, m.verdict,
			p.linked_id = r.id, p.transfer, r.linked_id = p.id, r.excluded, r.transfer)
		from link_match m join account_link l on l.id = m.account_link_id join transaction p on p.id = m.primary_id
			join transaction r on r.id = m.mirror_id
		join account a on a.id = p.account_id join account b on b.id = r.account_id
		where not m.broken and l.deleted_at is null order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) totals(t *testing.T, include ...string) string {
	t.Helper()
	s, err := analytics.New(w.books, account.New(w.db)).Summary(w.ctx, w.db, analytics.SummaryRequest{Include: include})
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, g := range s.Groups {
		out += fmt.Sprint(g.Currency, " ", g.MoneyIn, " ", g.MoneyOut, " ", g.Count, "; ")
	}
	return out
}

func (w *world) only(t *testing.T, kind string) accountlink.Link {
	t.Helper()
	list, err := w.links.List(w.ctx, w.db, accountlink.ListLinks{Kind: &kind, Limit: 50})
	if err != nil || len(list.AccountLinks) != 1 {
		t.Fatalf("%s: %+v, %v", kind, list, err)
	}
	return list.AccountLinks[0]
}

func (w *world) put(t *testing.T, l accountlink.Link, confidence string) accountlink.Link {
	t.Helper()
	return do(t, w, w.links.Put, accountlink.PutLink{ID: l.ShortID, Confidence: confidence})
}

// seed gives two accounts three transfers between them, and a purchase.
func (w *world) seed(t *testing.T) []id.ID {
	t.Helper()
	a := w.accounts(t, "a", "b", "c")
	var rows []ledger.Incoming
	for i := range 3 {
		rows = append(rows, incoming(a[0], fmt.Sprint("out", i), 30*i, fmt.Sprintf("10%d.00", i)),
			incoming(a[1], fmt.Sprint("in", i), 30*i+2, fmt.Sprintf("-10%d.00", i)))
	}
	w.merge(t, append(rows, incoming(a[0], "shop", 3, "40.00"))...)
	return a
}

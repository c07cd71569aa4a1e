package counterparty

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A shop is the environment of these tests, with a database of its own.
type shop struct {
	*Counterparties
	t       *testing.T
	db      *pg.DB
	journal *journal.Journal
	account id.ID
	person  context.Context //nolint:containedctx // the test's own, with a person in it
	agent   context.Context //nolint:containedctx // the test's own, with an agent in it
}

func newShop(t *testing.T) *shop {
	t.Helper()
	db := pgtest.New(t)
	files := category.New(ledger.CategoryUser{}, CategoryUser{})
	books := ledger.New(db, files)
	s := &shop{Counterparties: New(files, books), db: db, t: t, account: id.New()}
	s.journal = journal.New(journal.Config{
		DB: db, Subjects: slices.Concat(files.Subjects(), books.Subjects(), s.Subjects()),
	})
	s.person = op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Robin"})
	s.agent = op.WithActor(t.Context(), op.Actor{Type: op.Agent, ID: id.New(), Name: "Clerk"})
	s.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'a', 'depository', 'EUR')`, s.account, s.account.Short())
	s.exec(`insert into descriptor (name, merchant_name, folded) values ('CRNR BKRY #1', '', e'crnr bkry #1\n')`)
	return s
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := pg.Exec(s.t.Context(), s.db, sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// transactions stores n transactions and returns their short ids.
func (s *shop) transactions(n int) []string {
	s.t.Helper()
	ids, shorts := make([]id.ID, n), make([]string, n)
	for i := range ids {
		ids[i] = id.New()
		shorts[i] = ids[i].Short()
	}
	s.exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
		select v.id, v.short_id, $3, v.short_id, '2026-01-01', 5, 'EUR', (select id from descriptor)
			from unnest($1::uuid[], $2::text[]) v (id, short_id)`, ids, shorts, s.account)
	return shorts
}

// bound returns the counterparty and source of a transaction, with - for none.
func (s *shop) bound(transaction string) string {
	s.t.Helper()
	v, err := pg.Value[string](s.t.Context(), s.db, `
		select coalesce(p.short_id, '-') || ' ' || coalesce(t.counterparty_source, '-') from transaction t left
			join counterparty p on p.id = t.counterparty_id where t.short_id = $1`, transaction)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func do[In, Out any](ctx context.Context, s *shop, f func(context.Context, pg.Tx, In) (Out, error), in In) (Out,
	error,
) {
	s.t.Helper()
	var out Out
	err := s.db.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = f(ctx, tx, in)
		return err
	})
	return out, err
}

func must[In, Out any](ctx context.Context, s *shop, f func(context.Context, pg.Tx, In) (Out, error), in In) Out {
	s.t.Helper()
	out, err := do(ctx, s, f, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func refused[In, Out any](ctx context.Context, s *shop, code errs.Code, f func(context.Context, pg.Tx, In) (Out, error),
	in In,
) {
	s.t.Helper()
	const count = `select count(*) from change`
	before, err := pg.Value[int](ctx, s.db, count)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := do(ctx, s, f, in); !errs.Is(err, code) {
		s.t.Errorf("wanted %s, got %v", code, err)
	}
	if after, err := pg.Value[int](ctx, s.db, count); err != nil || after != before {
		s.t.Errorf("a refused call was recorded: %d changes, then %d, %v", before, after, err)
	}
}

func (s *shop) changes() []journal.Change {
	s.t.Helper()
	page, err := s.journal.List(s.t.Context(), s.db, journal.ListChanges{Limit: 500})
	if err != nil {
		s.t.Fatal(err)
	}
	return page.Changes
}

// revert reverts the newest change.
func (s *shop) revert() journal.Reverted {
	s.t.Helper()
	return must(s.person, s, s.journal.Revert, journal.RevertChange{ChangeID: s.changes()[0].ID.String()})
}

func (s *shop) made(name string) Counterparty {
	s.t.Helper()
	return must(s.person, s, s.Create, CreateCounterparty{Name: name})
}

func (s *shop) all() (out []Counterparty) {
	s.t.Helper()
	err := s.Each(s.t.Context(), s.db, List{}, func(p Counterparty) error {
		out = append(out, p)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *shop) names() string {
	s.t.Helper()
	var names []string
	for _, p := range s.all() {
		names = append(names, p.Name.Plain())
	}
	return strings.Join(names, ",")
}

func given(v string) op.Null[string] { return op.Null[string]{Set: true, Value: &v} }

var cleared = op.Null[string]{Set: true}

func TestCreateReadList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if got := s.names(); got != "" {
		t.Fatalf("an empty list: %s", got)
	}
	p := must(s.person, s, s.Create, CreateCounterparty{
		Name: "Corner Bakery", WebsiteURL: new("https://bakery.example"),
		LogoURL: new("http://bakery.example/logo.png"), CategoryID: new("food_and_drink_groceries"),
		MCC: new("5462"),
	})
	if p.ShortID != p.ID.Short() || p.Name.Plain() != "Corner Bakery" || p.CategoryID == nil || *p.MCC != "5462" ||
		p.CanonicalID != nil {
		t.Errorf("made: %+v", p)
	}
	for _, ref := range []string{p.ID.String(), strings.ToUpper(p.ID.String()), p.ShortID} {
		if got, err := s.Get(t.Context(), s.db, Ref{ref}); err != nil || got.ID != p.ID {
			t.Errorf("get %s: %v", ref, err)
		}
	}
	if _, err := s.Get(t.Context(), s.db, Ref{"nothing0"}); !errs.Is(err, errs.NotFound) {
		t.Errorf("get an unknown counterparty: %v", err)
	}
	refused(s.person, s, errs.Conflict, s.Create, CreateCounterparty{Name: "CORNER bakery"})
	refused(s.person, s, errs.InvalidReference, s.Create, CreateCounterparty{Name: "x", CategoryID: new("nothing")})
	for _, u := range []string{
		"https://", "https://good.example@bad.example", "ftp://x.example",
		"https://a\u202eb.example", "https://%zz", "http://:80",
	} {
		refused(s.person, s, errs.ValidationError, s.Create, CreateCounterparty{Name: "x", WebsiteURL: &u})
		refused(s.person, s, errs.ValidationError, s.Create, CreateCounterparty{Name: "x", LogoURL: &u})
	}
	s.made("a shop")
	if got := s.names(); got != "a shop,Corner Bakery" {
		t.Errorf("list: %s", got)
	}
	if n := len(s.changes()); n != 2 {
		t.Errorf("%d changes for two creations", n)
	}
	s.revert()
	if got := s.names(); got != "Corner Bakery" {
		t.Errorf("after the revert: %s", got)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, other := s.made("Bakery"), s.made("Other")
	category, err := s.categories.Category(t.Context(), s.db, category.CategoryRef{ID: "food_and_drink_groceries"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{category.Slug, category.ShortID, category.ID.String()} {
		got := must(s.person, s, s.Patch, PatchCounterparty{ID: p.ShortID, CategoryID: given(ref)})
		if got.CategoryID == nil || *got.CategoryID != category.ID || got.Name.Plain() != "Bakery" {
			t.Errorf("category %s: %+v", ref, got)
		}
	}
	got := must(s.agent, s, s.Patch, PatchCounterparty{
		ID: p.ShortID, Name: new("BAKERY"),
		WebsiteURL: given("https://b.example/x?y=1"), LogoURL: given("https://b.example/l"), MCC: given("5462"),
	})
	if got.Name.Plain() != "BAKERY" || *got.WebsiteURL != "https://b.example/x?y=1" || *got.MCC != "5462" ||
		got.CategoryID == nil {
		t.Errorf("patched: %+v", got)
	}
	got = must(s.person, s, s.Patch, PatchCounterparty{
		ID: p.ShortID, WebsiteURL: cleared, LogoURL: cleared,
		CategoryID: cleared, MCC: cleared,
	})
	if got.WebsiteURL != nil || got.LogoURL != nil || got.CategoryID != nil || got.MCC != nil {
		t.Errorf("cleared: %+v", got)
	}
	s.revert()
	if got, err := s.Get(t.Context(), s.db, Ref{p.ShortID}); err != nil || got.WebsiteURL == nil ||
		got.LogoURL == nil || got.CategoryID == nil || got.MCC == nil {
		t.Errorf("reverted: %+v, %v", got, err)
	}
	refused(s.person, s, errs.Conflict, s.Patch, PatchCounterparty{ID: other.ShortID, Name: new("bakery")})
	refused(s.person, s, errs.NotFound, s.Patch, PatchCounterparty{ID: "nothing0", Name: new("x")})
	refused(s.person, s, errs.InvalidReference, s.Patch, PatchCounterparty{ID: p.ShortID, CategoryID: given("nothing")})
	refused(s.person, s, errs.ValidationError, s.Patch,
		PatchCounterparty{ID: p.ShortID, WebsiteURL: given("https://a:b@c.example")})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, old := s.made("Bakery"), s.made("Old bakery")
	ts := s.transactions(2)
	must(s.person, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts})
	refused(s.person, s, errs.InUse, s.Delete, Ref{p.ShortID})
	must(s.person, s, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[0]})
	must(s.person, s, s.books.DeleteTransaction, ledger.TransactionRef{TransactionID: ts[1]})
	refused(s.person, s, errs.InUse, s.Delete, Ref{p.ShortID}) // a deleted transaction can be restored
	must(s.person, s, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[1]})
	must(s.person, s, s.Merge, MergeCounterparty{ID: old.ShortID, Into: p.ShortID})
	if out := must(s.person, s, s.Delete, Ref{p.ShortID}); !out.Deleted || out.ID != p.ID {
		t.Errorf("deleted: %+v", out)
	}
	for _, ref := range []string{p.ShortID, old.ShortID} {
		if _, err := s.Get(t.Context(), s.db, Ref{ref}); !errs.Is(err, errs.NotFound) {
			t.Errorf("get a deleted one: %v", err)
		}
	}
	refused(s.person, s, errs.NotFound, s.Delete, Ref{p.ShortID})
	if out := s.revert(); out.Reverted != 2 || len(out.Skipped) != 0 {
		t.Errorf("revert: %+v", out)
	}
	if got, err := s.Get(t.Context(), s.db, Ref{old.ShortID}); err != nil || got.CanonicalID == nil ||
		*got.CanonicalID != p.ID {
		t.Errorf("the counterparty that was merged into it: %+v, %v", got, err)
	}

	must(s.person, s, s.Delete, Ref{p.ShortID})
	deletion := s.changes()[0]
	s.made("bakery") // the name is taken, so the tombstone cannot be removed
	if out := must(s.person, s, s.journal.Revert, journal.RevertChange{ChangeID: deletion.ShortID}); len(
		out.Skipped) != 2 || out.Skipped[0].Reason != "conflict" {
		t.Errorf("revert with the name taken: %+v", out)
	}
}

func TestCategoryMergeMovesCounterparties(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := must(s.person, s, s.Create, CreateCounterparty{Name: "Bakery", CategoryID: new("food_and_drink_groceries")})
	into := must(s.person, s, s.categories.CreateCategory, category.CreateCategory{Slug: "bread", Name: new("Bread")})
	s.made("Plain")
	must(s.person, s, s.Create, CreateCounterparty{Name: "Miller", CategoryID: new("bread")})
	refused(s.person, s, errs.InUse, s.categories.DeleteCategory, category.DeleteCategory{ID: "bread"})
	must(s.person, s, s.categories.MergeCategory, category.MergeCategory{ID: "food_and_drink_groceries", Into: "bread"})
	if got, err := s.Get(t.Context(), s.db, Ref{p.ShortID}); err != nil || *got.CategoryID != into.ID {
		t.Errorf("after the merge: %+v, %v", got, err)
	}
	s.revert()
	if got, err := s.Get(t.Context(), s.db, Ref{p.ShortID}); err != nil || *got.CategoryID != *p.CategoryID {
		t.Errorf("after the revert: %+v, %v", got, err)
	}
}

// A list with more rows than one batch is complete and in order.
func TestLongList(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	var want []string
	for n := range 1203 {
		name := fmt.Sprintf("Shop %04d", n)
		fresh := id.New()
		if _, err := pg.Exec(t.Context(), s.db, `insert into counterparty (id, short_id, name)
			values ($1, $2, $3)`, fresh, fresh.Short(), name); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	if got := s.names(); got != strings.Join(want, ",") {
		t.Errorf("%d characters, want %d", len(got), len(strings.Join(want, ",")))
	}
}

package ledger

import (
	"testing"

	"coffer/internal/books/sift"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A search that matches nearly every wording works like any other: alone and with other filters, in
// lists, counts and conditions.
func TestSearchesMayBeWide(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 10)
	ctx := as(t.Context(), op.User)
	const wide = sift.Many + 2000
	_, err := db.Exec(ctx, `
		with d as (
			insert into descriptor (name, merchant_name, folded) select 'Wide ' || n, '', e'wide ' || n || e'\n'
				from generate_series(1, $1) n returning id)
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, pending)
		select gen_random_uuid(), 'w' || d.id, (select id from account order by id limit 1), 'w' || d.id,
			date '2020-01-01' + d.id % 400, 1, 'EUR', d.id, d.id % 7 = 0 from d`, wide)
	if err != nil {
		t.Fatal(err)
	}
	count := func(f Filter) int64 {
		t.Helper()
		n, err := b.Count(ctx, db, f)
		if err != nil {
			t.Fatal(err)
		}
		return n.Count
	}
	if n := count(Filter{Search: new("WIDE")}); n != wide {
		t.Errorf("counted %d, want %d", n, wide)
	}
	if n := count(Filter{ExcludeSearch: new("wide")}); n != 10 {
		t.Errorf("counted %d without them, want 10", n)
	}
	if n := count(Filter{Search: new("wide"), ExcludeSearch: new(`"wide 1"`)}); n == 0 || n >= wide {
		t.Errorf("counted %d with one search and another excluded", n)
	}
	pending := Filter{Search: new("wide"), Pending: new(true)}
	for name, f := range map[string]Filter{
		"alone": {Search: new("wide")}, "with another": pending,
		"words": {Search: new("wide de"), SearchMode: "words"},
	} {
		if got := walk(ctx, t, b, ListTransactions{Filter: f, Limit: 500}, nil); int64(len(got)) != count(f) ||
			len(got) < 1500 {
			t.Errorf("%s: %d walked, %d counted", name, len(got), count(f))
		}
	}
	page, err := b.Transactions(ctx, db, ListTransactions{Filter: pending, SortBy: new("name"), Limit: 3})
	if err != nil || len(page.Transactions) != 3 || !page.Transactions[0].Pending {
		t.Errorf("by name: %d rows (%v)", len(page.Transactions), err)
	}
	where, none, err := b.Where(ctx, db, Filter{Search: new("wide")})
	if err != nil || none {
		t.Fatalf("as a condition: none %v (%v)", none, err)
	}
	if n, err := pg.Value[int](ctx, db, `select count(*) from transaction t `+where.SQL(),
		where.Args()...); err != nil || n != wide {
		t.Errorf("%d as a condition (%v), want %d", n, err, wide)
	}
	if n, err := pg.Value[int](ctx, db, `select count(*) from descriptor
		where folded like '%wide%'`); err != nil || n <= sift.Many {
		t.Errorf("%d wordings match (%v), so the test proves nothing", n, err)
	}
}

package ledger

import (
	"context"
	"slices"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A search finds words across names, categories, accounts, payees and tags, and amounts as people
// write them, in lists, counts and totals.
func TestSearchesFindAnything(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 2000)
	ctx := as(t.Context(), op.User)
	for _, s := range []string{
		`insert into counterparty (id, short_id, name) values ('019a3c5e-4000-7000-8000-0000000000aa', 'cpcpcpcp', 'Qyë Florist')`,
		`update transaction set counterparty_id = '019a3c5e-4000-7000-8000-0000000000aa', counterparty_source = 'user'
			where hashtext(id::text) % 7 = 0`,
		`insert into tag (id, short_id, slug, display_name) values ('019a3c5e-4000-7000-8000-0000000000bb', 'tgtgtgtg', 'rome-trip', 'x')`,
		`insert into transaction_tag (transaction_id, tag_id, present, source)
			select id, '019a3c5e-4000-7000-8000-0000000000bb', hashtext(id::text) % 2 = 0, 'user' from transaction
			where hashtext(id::text) % 11 = 0`,
		`update account set display_name = 'Savings of Ñandú' where id = (select id from account order by id limit 1)`,
		`update transaction set amount = case when amount < 0 then -75.05 else 75.05 end where hashtext(id::text) % 13 = 0`,
		`update transaction set amount = 1234.56, currency = 'USD' where hashtext(id::text) % 19 = 0`,
		`update transaction set deleted_at = now(), deleted_source = 'user' where hashtext(id::text) % 23 = 0`,
	} {
		if _, err := db.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	const tagged = "exists (select from transaction_tag x where x.transaction_id = t.id and x.present and x.tag_id = '019a3c5e-4000-7000-8000-0000000000bb')"
	const groceries = "exists (select from category c where c.id = t.category_id and lower(c.display_name) like '%groceries%')"
	for search, condition := range map[string]string{
		"qyë":                     "t.counterparty_id is not null",
		"QYË florist":             "t.counterparty_id is not null",
		`"florist qyë"`:           "false",
		"ñandú":                   "t.account_id = (select id from account order by id limit 1)",
		"groceries":               "d.folded like '%groceries%' or " + groceries,
		"groceries qyë":           "(d.folded like '%groceries%' or " + groceries + ") and t.counterparty_id is not null",
		"#rome-trip":              tagged,
		"#Rome-Trip qyë":          tagged + " and t.counterparty_id is not null",
		"rome":                    "d.folded like '%rome%' or " + tagged,
		"#no-such-tag":            "d.folded like '%#no-such-tag%'",
		"75.05":                   "abs(t.amount) = 75.05",
		"75,05":                   "abs(t.amount) = 75.05",
		"€75,05":                  "abs(t.amount) = 75.05",
		"-75.05":                  "t.amount = 75.05",
		"+75.05":                  "t.amount = -75.05",
		"1.234,56":                "abs(t.amount) = 1234.56",
		">100":                    "abs(t.amount) > 100",
		"<20":                     "abs(t.amount) < 20",
		"50..100":                 "abs(t.amount) between 50 and 100",
		">50 <60":                 "abs(t.amount) > 50 and abs(t.amount) < 60",
		"75,05,qyë":               "abs(t.amount) = 75.05 or t.counterparty_id is not null",
		"qyë >100, #rome-trip <9": "t.counterparty_id is not null and abs(t.amount) > 100 or " + tagged + " and abs(t.amount) < 9",
		"12":                      contains("12") + " or abs(t.amount) = 12",
		"e":                       contains("e"),
		"e a":                     "(" + contains("e") + ") and (" + contains("a") + ")",
		"qqxx, qyë":               "t.counterparty_id is not null",
		"qqxx":                    "false",
	} {
		for _, c := range []struct {
			filter Filter
			sql    string
		}{
			{Filter{Search: &search}, condition},
			{Filter{ExcludeSearch: &search}, "(" + condition + ") is not true"},
			{Filter{Search: &search, Direction: new("out")}, "(" + condition + ") and t.amount > 0"},
			{Filter{Search: &search, SearchMode: "contains", Tags: []string{"rome-trip"}}, "(" + condition + ") and " + tagged},
			{Filter{Search: &search, Category: []string{"food_and_drink"}}, "(" + condition + `) and t.category_id in (select id from category
				where slug = 'food_and_drink' or parent_id = (select id from category where slug = 'food_and_drink'))`},
		} {
			want, err := pg.Values[id.ID](ctx, db, `select t.id from transaction t join descriptor d on d.id = t.descriptor_id
				where t.deleted_at is null and (`+c.sql+`) order by t.date desc, t.id desc`)
			if err != nil {
				t.Fatal(search, err)
			}
			if c.sql == condition && len(want) == 0 && condition != "false" && search != "#no-such-tag" {
				t.Errorf("%s: finds nothing, so the test proves nothing", search)
			}
			if got := walk(ctx, t, b, ListTransactions{Filter: c.filter, Limit: 500}, nil); !slices.Equal(got, want) {
				t.Errorf("%s, as %+v: %d listed, want %d", search, c.sql, len(got), len(want))
			}
			n, err := b.Count(ctx, db, c.filter)
			if err != nil || int(n.Count) != len(want) {
				t.Errorf("%s: %d counted, want %d (%v)", search, n.Count, len(want), err)
			}
			sums, err := b.Counted(ctx, db, CountRequest{Filter: c.filter, Totals: true})
			truth, err2 := trueTotals(ctx, db, want)
			if err != nil || err2 != nil || int(sums.Count) != len(want) || !slices.Equal(sums.Totals, truth) {
				t.Errorf("%s: sums %+v, want %+v (%v, %v)", search, sums, truth, err, err2)
			}
		}
	}
}

// trueTotals adds up transactions row by row: all of them, and those that totals of income and
// spending count.
func trueTotals(ctx context.Context, db *pg.DB, ids []id.ID) ([]CountTotal, error) {
	type row struct {
		CountTotal
		CountedColumns
	}
	rows, err := pg.All[row](ctx, db, `
		select currency, sum(greatest(-amount, 0)) as money_in, sum(greatest(amount, 0)) as money_out, sum(-amount) as net,
			count(*) as count, sum(greatest(-amount, 0) * counts) as counted_in, sum(greatest(amount, 0) * counts) as counted_out,
			sum(-amount * counts) as counted_net, sum(counts) as counted
		from (select t.currency, t.amount, (not (t.excluded or t.excluded_reason is not null or t.transfer or a.hidden
				or coalesce(p.kind, c.kind, '') = 'transfer'))::int as counts
			from transaction t join account a on a.id = t.account_id left join category c on c.id = t.category_id
				left join category p on p.id = c.parent_id where t.id = any($1)) t
		group by 1 order by 1`, ids)
	out := make([]CountTotal, len(rows))
	for i, r := range rows {
		out[i] = r.CountTotal
		out[i].Counted = CountedSums(r.CountedColumns)
	}
	return out, err
}

// A count without matches has an empty list of totals. If totals are not requested, the list is
// missing.
func TestTotalsOfNothing(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 10)
	for _, f := range []Filter{{Search: new("qqxx")}, {Amount: new("99999")}} {
		n, err := b.Counted(t.Context(), db, CountRequest{Filter: f, Totals: true})
		if err != nil || n.Count != 0 || n.Totals == nil || len(n.Totals) != 0 {
			t.Errorf("%+v (%v)", n, err)
		}
	}
	n, err := b.Counted(t.Context(), db, CountRequest{})
	if err != nil || n.Count != 10 || n.Totals != nil {
		t.Errorf("%+v (%v)", n, err)
	}
}

func TestSearchesThatSayNothing(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 10)
	for _, f := range []Filter{
		{Search: new(" , ")},
		{ExcludeSearch: new(",")},
		{Amount: new("much")},
		{Search: new("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17")},
	} {
		if _, err := b.Count(t.Context(), db, f); errs.Public(err, "").Code != errs.ValidationError {
			t.Errorf("%v: %v", f.Search, err)
		}
	}
}

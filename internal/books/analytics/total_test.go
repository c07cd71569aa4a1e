package analytics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// newTotals returns the totals of five transactions in two months and two currencies, one of them
// excluded.
func newTotals(t *testing.T) (*Totals, *pg.DB) {
	t.Helper()
	db := pgtest.New(t)
	checking := id.New()
	if _, err := pg.Exec(t.Context(), db, `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, checking, checking.Short()); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), db, `
		with d as (insert into descriptor (name, merchant_name, folded) values ('Shop', '', e'shop\n') returning id)
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, excluded)
		select gen_random_uuid(), 'total' || n, $1, n, day, amount, currency, d.id, excluded from d, (values
			(1, date '2026-01-05', 10.50, 'EUR', false), (2, '2026-01-31', -100, 'EUR', false),
			(3, '2026-02-01', 7, 'EUR', false), (4, '2026-02-01', 7, 'USD', false),
			(5, '2026-02-02', 7, 'EUR', true)) v (n, day, amount, currency, excluded)`, checking); err != nil {
		t.Fatal(err)
	}
	return New(ledger.New(db, category.New(ledger.CategoryUser{})), account.New(db)), db
}

// A summary adds up by currency and group. It leaves out what totals do not count, and includes it
// on request. The tests of package app compare every pair of groupings with sums over the rows.
func TestSummary(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	for name, c := range map[string]struct {
		in   SummaryRequest
		want [][5]string
	}{
		"by currency": {SummaryRequest{}, [][5]string{
			{"", "EUR", "100.00", "17.50", "82.50"}, {"", "USD", "0.00", "7.00", "-7.00"},
		}},
		"by month, with mirrored rows": {
			SummaryRequest{GroupBy: []string{"month"}, Include: []string{"excluded"}},
			[][5]string{
				{"2026-01", "EUR", "100.00", "10.50", "89.50"},
				{"2026-02", "EUR", "0.00", "14.00", "-14.00"},
				{"2026-02", "USD", "0.00", "7.00", "-7.00"},
			},
		},
		"of nothing": {SummaryRequest{Filter: ledger.Filter{Search: new("nowhere")}}, [][5]string{}},
	} {
		got, err := totals.Summary(t.Context(), db, c.in)
		if err != nil || len(got.Groups) != len(c.want) {
			t.Fatalf("%s: %+v (%v)", name, got, err)
		}
		for i, g := range got.Groups {
			month := ""
			if key := g.Keys["month"]; key != nil {
				month = key.Plain()
			}
			row := [5]string{month, string(g.Currency), g.MoneyIn.String(), g.MoneyOut.String(), g.Net.String()}
			if row != c.want[i] {
				t.Errorf("%s: %v, want %v", name, row, c.want[i])
			}
		}
	}
	_, err := totals.Summary(t.Context(), db, SummaryRequest{GroupBy: []string{"day", "day"}})
	if !errs.Is(err, errs.ValidationError) {
		t.Errorf("a grouping twice: %v", err)
	}
}

// A payee is one group, whatever wordings the bank uses for it. Its name is the wording of most of
// its transactions, whatever their category is. A counterparty is a group with its own name.
func TestSummaryByPayee(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	for _, sql := range []string{
		`insert into descriptor (name, merchant_name, folded, payee)
			values ('Shop 4711', '', e'shop 4711\n', 42), ('Baker', '', e'baker\n', 7)`,
		`update descriptor set payee = 42 where name = 'Shop'`,
		// Shop 4711 has four rows with different categories, and Shop three without one.
		`update transaction set descriptor_id = (select id from descriptor where name = 'Shop 4711'),
			category_id = (select id from category order by id limit 1 offset provider_id::int)
			where provider_id in ('1', '2', '3')`,
		`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
			select gen_random_uuid(), 'shop' || n, account_id, 'shop' || n, '2026-01-01', 1, 'EUR',
				(select id from descriptor where name = case when n < 3 then 'Shop' when n = 3 then 'Shop 4711'
					else 'Baker' end)
			from transaction, generate_series(1, 5) n where provider_id = '1'`,
		`insert into counterparty (id, short_id, name)
			values ('00000000-0000-7000-8000-000000000099', 'baker099', 'Our baker')`,
		`update transaction set counterparty_id = '00000000-0000-7000-8000-000000000099' where provider_id = 'shop5'`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	got, err := totals.Summary(t.Context(), db, SummaryRequest{
		GroupBy: []string{"payee"}, Include: []string{"transfers"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, g := range got.Groups {
		key, who := "-", "-"
		if g.Payee != nil {
			key = strconv.FormatInt(int64(*g.Payee), 10)
		}
		if u := g.IDs["payee"]; u != nil {
			who = u.String()[34:]
		}
		said = append(said, fmt.Sprint(g.Keys["payee"].Plain(), " ", key, " ", who, " ", g.Currency, " ", g.Count))
	}
	want := []string{
		"Baker 7 - EUR 1", "Our baker - 99 EUR 1", "Shop 42 - USD 1", "Shop 42 - EUR 6",
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// A timeline counts what the list shows, excluded or not, newest first.
func TestTimeline(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	show := func(in TimelineRequest) (out []string) {
		t.Helper()
		got, err := totals.Timeline(t.Context(), db, in)
		if err != nil || got.HasMore {
			t.Fatal(got, err)
		}
		for _, p := range got.Periods {
			for _, c := range p.Totals {
				out = append(out, strings.TrimSpace(fmt.Sprintln(p.Period, p.Count, c.Currency, c.MoneyIn, c.MoneyOut, c.Net,
					c.Count)))
			}
		}
		return out
	}
	for by, want := range map[string][]string{
		"month": {
			"2026-02 3 EUR 0.00 14.00 -14.00 2", "2026-02 3 USD 0.00 7.00 -7.00 1",
			"2026-01 2 EUR 100.00 10.50 89.50 2",
		},
		"day": {
			"2026-02-02 1 EUR 0.00 7.00 -7.00 1", "2026-02-01 2 EUR 0.00 7.00 -7.00 1",
			"2026-02-01 2 USD 0.00 7.00 -7.00 1", "2026-01-31 1 EUR 100.00 0.00 100.00 1",
			"2026-01-05 1 EUR 0.00 10.50 -10.50 1",
		},
	} {
		if got := show(TimelineRequest{By: by}); !slices.Equal(got, want) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
	if got := show(TimelineRequest{By: "day", Filter: ledger.Filter{Search: new("nowhere")}}); len(got) != 0 {
		t.Errorf("of nothing: %q", got)
	}
}

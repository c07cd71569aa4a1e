package total

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/errs"
	"coffer/internal/filing"
	"coffer/internal/id"
	"coffer/internal/ledger"
	"coffer/internal/pg"
	"coffer/internal/pg/pgtest"
)

// newTotals returns the totals of five transactions in two months and two currencies, one of them
// excluded.
func newTotals(t *testing.T) (*Totals, *pg.DB) {
	t.Helper()
	db := pgtest.New(t)
	account := id.New()
	if _, err := pg.Exec(t.Context(), db, `insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'Checking', 'depository', 'EUR')`, account, account.Short()); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), db, `
		with d as (insert into descriptor (name, merchant_name, folded) values ('Shop', '', e'shop\n') returning id)
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, excluded)
		select gen_random_uuid(), 'total' || n, $1, n, day, amount, currency, d.id, excluded from d, (values
			(1, date '2026-01-05', 10.50, 'EUR', false), (2, '2026-01-31', -100, 'EUR', false),
			(3, '2026-02-01', 7, 'EUR', false), (4, '2026-02-01', 7, 'USD', false),
			(5, '2026-02-02', 7, 'EUR', true)) v (n, day, amount, currency, excluded)`, account); err != nil {
		t.Fatal(err)
	}
	return New(ledger.New(db, filing.New(ledger.CategoryUser{}))), db
}

// A summary adds up per currency and group, leaves out what does not count, and includes it on
// request. The tests of package app compare every pair of groupings with sums over the rows.
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
				month = *key
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

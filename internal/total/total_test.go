package total

import (
	"testing"

	"coffer/internal/errs"
	"coffer/internal/filing"
	"coffer/internal/id"
	"coffer/internal/ledger"
	"coffer/internal/pg"
	"coffer/internal/pg/pgtest"
)

// A summary adds up per currency and group, leaves out what does not count, and includes it on
// request. The tests of package app compare every pair of groupings with sums over the rows.
func TestSummary(t *testing.T) {
	t.Parallel()
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
	totals := New(ledger.New(db, filing.New(ledger.CategoryUser{})))
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

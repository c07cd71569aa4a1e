package analytics

import (
	"fmt"
	"slices"
	"testing"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A list also shows transfers, duplicates, excluded transactions and hidden accounts. Besides the
// sums of its rows, a timeline has the sums of those that totals count. They equal those of a
// summary.
func TestTimelineCounted(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	hidden, own, child := id.New(), id.New(), id.New()
	for _, c := range []struct {
		sql  string
		args []any
	}{
		{`insert into account (id, short_id, provider, provider_id, name, type, currency, hidden)
			values ($1, $2, 'csv', 'h', 'Hidden', 'depository', 'EUR', true)`, []any{hidden, hidden.Short()}},
		{`insert into category (id, short_id, slug, display_name, kind)
			values ($1, $2, 'own_money', 'Own money', 'transfer')`, []any{own, own.Short()}},
		{`insert into category (id, short_id, slug, display_name, parent_id)
			values ($1, $2, 'own_money_saved', 'Saved', $3)`, []any{child, child.Short(), own}},
		{
			`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, transfer,
				category_id, excluded_reason)
			select gen_random_uuid(), 'more' || n, case when hides then $1 else t.account_id end, 'more' || n, '2026-02-03',
				v.amount, 'EUR', t.descriptor_id, v.transfer, v.category, v.reason
			from transaction t, (values (1, 50, true, null::uuid, null, false), (2, -60, true, null, null, false),
				(3, 70, false, $2, null, false), (4, 80, false, $3, null, false), (5, 90, false, null, 'duplicate', false),
				(6, 99, false, null, null, true), (7, -3, false, null, null, false)
			) v (n, amount, transfer, category, reason, hides) where t.provider_id = '1'`,
			[]any{hidden, own, child},
		},
	} {
		if _, err := pg.Exec(t.Context(), db, c.sql, c.args...); err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
	}
	for _, c := range []struct {
		filter ledger.Filter
		want   []string // what totals count of all these rows
	}{
		{ledger.Filter{}, []string{
			"2026-02 EUR of 9: 3.00 in, 7.00 out, 2", "2026-02 USD of 1: 0.00 in, 7.00 out, 1",
			"2026-01 EUR of 2: 100.00 in, 10.50 out, 2",
		}},
		{ledger.Filter{Direction: new("in")}, []string{
			"2026-02 EUR of 2: 3.00 in, 0.00 out, 1", "2026-01 EUR of 1: 100.00 in, 0.00 out, 1",
		}},
		{ledger.Filter{Transfer: new(true)}, []string{"2026-02 EUR of 2: 0.00 in, 0.00 out, 0"}},
		{ledger.Filter{ExcludedReason: new("any")}, []string{"2026-02 EUR of 1: 0.00 in, 0.00 out, 0"}},
		{ledger.Filter{AccountID: []string{hidden.String()}}, []string{"2026-02 EUR of 1: 0.00 in, 99.00 out, 1"}},
	} {
		got, err := totals.Timeline(t.Context(), db, TimelineRequest{By: "month", Filter: c.filter})
		if err != nil {
			t.Fatal(err)
		}
		sum, err := totals.Sums(t.Context(), db, SummaryRequest{GroupBy: []string{"month"}, Filter: c.filter})
		if err != nil {
			t.Fatal(err)
		}
		summed := map[string]SummarySums{}
		for _, g := range sum.Groups {
			summed[g.Keys["month"].Plain()+string(g.Currency)] = g.SummarySums
		}
		var said []string
		for _, p := range got.Periods {
			for _, x := range p.Totals {
				said = append(said, fmt.Sprintf("%s %s of %d: %v in, %v out, %d", p.Period, x.Currency, x.Count,
					x.Counted.MoneyIn, x.Counted.MoneyOut, x.Counted.Count))
				if s := summed[p.Period+string(x.Currency)]; x.Counted.Count != s.Count ||
					s.Count > 0 && x.Counted != ledger.CountedSums(s) {
					t.Errorf("%+v: %+v, and a summary says %+v", c.filter, x.Counted, s)
				}
			}
		}
		if !slices.Equal(said, c.want) {
			t.Errorf("%+v: %q, want %q", c.filter, said, c.want)
		}
	}
}

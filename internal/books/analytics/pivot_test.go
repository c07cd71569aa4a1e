package analytics

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A pivot has the same sums as groups by row and column: in every cell, in every total, in what a
// limit leaves out, and in the average over complete columns.
func TestPivotIsTheGroups(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	const seed = 15
	if _, err := pg.Exec(t.Context(), db, `
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, category_id)
		select gen_random_uuid(), 'pivot' || n, a.id, 'p' || n, date '2025-11-03' + (h % 100)::int,
			((h / 100) % 20000 - 6000) / 100.0, case when h % 5 = 0 then 'USD' else 'EUR' end, d.id,
			(select id from category where kind <> 'transfer' and parent_id is not null order by slug offset h % 4 limit 1)
		from account a, descriptor d, generate_series(1, 400) n, lateral (select abs(hashint8extended(n, $1))) x (h)`,
		seed); err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(seed, 1))
	start := pg.Day(time.Date(2025, 11, 10, 0, 0, 0, 0, time.UTC))
	end := pg.Day(time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC))
	for by := range groupings {
		if periods[by] != nil {
			continue
		}
		for column := range periods {
			for measure := range measures {
				in := SummaryRequest{
					Filter:  ledger.Filter{StartDate: &start, EndDate: &end},
					GroupBy: []string{by, column},
				}
				if column == "day" {
					in.StartDate = new(pg.Day(end.Time().AddDate(0, 0, -40)))
				}
				want, err := totals.Sums(t.Context(), db, in)
				if err != nil {
					t.Fatal(err)
				}
				in.Pivot, in.Measure = true, &measure
				if dice.IntN(2) == 0 {
					in.Limit = new(1 + dice.IntN(3))
				}
				got, err := totals.Sums(t.Context(), db, in)
				if err != nil {
					t.Fatalf("%s by %s: %v", by, column, err)
				}
				checkPivot(t, strings.Join([]string{by, column, measure}, " "), in, got.Pivot, want)
			}
		}
	}
}

func checkPivot(t *testing.T, name string, in SummaryRequest, p *SummaryPivot, want Summary) {
	t.Helper()
	value := func(s SummarySums) money.Total {
		switch *in.Measure {
		case "out":
			return s.Net.Neg()
		case "in":
			return s.MoneyIn
		case "net":
			return s.Net
		}
		var n money.Total
		if err := n.UnmarshalJSON([]byte(strconv.FormatInt(s.Count, 10))); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if in.Limit != nil && len(p.Rows) > *in.Limit {
		t.Errorf("%s: %d rows, of %d", name, len(p.Rows), *in.Limit)
	}
	add := func(to map[string]money.Total, key string, v money.Total) {
		sum, err := to[key].Add(v)
		if err != nil {
			t.Fatal(err)
		}
		to[key] = sum
	}
	row := func(keys map[string]*text.Untrusted, c money.Currency) string {
		key := "(none)"
		if k := keys[in.GroupBy[0]]; k != nil {
			key = k.Plain()
		}
		return key + " " + string(c)
	}
	cells, counts, all := map[string]money.Total{}, map[string]int64{}, map[string]money.Total{}
	var count int64
	for _, g := range want.Groups {
		k := row(g.Keys, g.Currency)
		add(cells, k+" "+g.Keys[in.GroupBy[1]].Plain(), value(g.SummarySums))
		add(all, string(g.Currency), value(g.SummarySums))
		counts[k] += g.Count
		count += g.Count
	}
	seen := map[string]money.Total{}
	note := func(c money.Currency, s SummaryPivotSums) {
		var total, complete money.Total
		n := 0
		for i, v := range s.Values {
			total, _ = total.Add(v)
			if p.Columns[i].Complete {
				complete, _ = complete.Add(v)
				n++
			}
		}
		if !total.Equal(s.Total) {
			t.Errorf("%s: values come to %s, total is %s", name, total, s.Total)
		}
		if (n == 0) != (s.Average == nil) {
			t.Errorf("%s: average %v over %d columns", name, s.Average, n)
		}
		if n > 0 { // n times the average is the sum, up to half a cent each
			var back money.Total
			for range n {
				back, _ = back.Add(*s.Average)
			}
			off, _ := back.Add(complete.Neg())
			if cents := strings.TrimLeft(strings.ReplaceAll(off.String(), ".", ""), "-0"); len(cents) > 2 {
				t.Errorf("%s: average %s of %s over %d columns", name, s.Average, complete, n)
			}
		}
		add(seen, string(c), s.Total)
		count -= s.Count
	}
	for _, r := range p.Rows {
		note(r.Currency, r.SummaryPivotSums)
		k := row(r.Keys, r.Currency)
		if r.Count != counts[k] {
			t.Errorf("%s: %s has %d transactions, want %d", name, k, r.Count, counts[k])
		}
		for i, v := range r.Values {
			if w := cells[k+" "+p.Columns[i].Key]; !v.Equal(w) {
				t.Errorf("%s: %s in %s is %s, want %s", name, k, p.Columns[i].Key, v, w)
			}
		}
	}
	for _, o := range p.Other {
		note(o.Currency, o.SummaryPivotSums)
	}
	if count != 0 {
		t.Errorf("%s: %d transactions are missing", name, count)
	}
	for _, total := range p.Totals {
		if !total.Total.Equal(all[string(total.Currency)]) ||
			!total.Total.Equal(seen[string(total.Currency)]) {
			t.Errorf("%s: totals say %s, groups %s, rows and other %s", name, total.Total, all[string(total.Currency)],
				seen[string(total.Currency)])
		}
	}
	if (len(p.Totals) == 0) != (in.GroupBy[0] == "tag") {
		t.Errorf("%s: %d totals", name, len(p.Totals))
	}
}

// All columns are present, even those without transactions. Columns of periods that are not over
// are marked.
func TestPivotColumns(t *testing.T) {
	t.Parallel()
	day := func(s string) pg.Date {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return pg.Day(d)
	}
	books := Standing{FirstDate: new(day("2025-12-31")), Today: day("2026-03-15")}
	for _, c := range []struct{ by, start, end, want string }{
		{"month", "2025-11-01", "2026-01-31", "2025-11… 2025-12… 2026-01"},
		{"month", "2026-01-01", "2026-03-31", "2026-01 2026-02 2026-03…"},
		{"month", "2026-01-02", "2026-02-28", "2026-01… 2026-02"},
		{"week", "2026-03-01", "2026-03-10", "2026-02-23… 2026-03-02 2026-03-09…"},
		{"day", "2026-03-13", "2026-03-16", "2026-03-13 2026-03-14 2026-03-15… 2026-03-16…"},
	} {
		columns, err := columnsOf(c.by, Days{day(c.start), day(c.end)}, books)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, column := range columns {
			if !column.Complete {
				column.Key += "…"
			}
			got = append(got, column.Key)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s of %s to %s: %s, want %s", c.by, c.start, c.end, got, c.want)
		}
	}
	if _, err := columnsOf("day", Days{day("2026-01-01"), day("2026-03-02")}, books); err == nil {
		t.Error("61 columns are not refused")
	}
}

// Spending and income are separated by the kind of category, and uncategorized transactions by
// their direction. So no spending is hidden by larger income.
func TestSides(t *testing.T) {
	t.Parallel()
	totals, db := newTotals(t)
	if _, err := pg.Exec(t.Context(), db, `
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, category_id)
		select gen_random_uuid(), 'side' || n, a.id, 's' || n, date '2019-03-05', amount, currency, d.id,
			(select id from category where slug = category)
		from (select id from account order by id limit 1) a, (select id from descriptor order by id limit 1) d, (values
			(1, 60, 'EUR', 'food_and_drink_groceries'), (2, -10, 'EUR', 'food_and_drink_groceries'), (3, -900, 'EUR', 'income_salary'),
			(4, 5, 'EUR', 'income_salary'), (5, 7, 'EUR', null), (6, -70, 'EUR', null), (7, 3, 'USD', null),
			(8, 500, 'EUR', 'transfers_savings'), (9, -20, 'USD', 'travel')) v (n, amount, currency, category)`); err != nil {
		t.Fatal(err)
	}
	day := pg.Day(time.Date(2019, 3, 5, 0, 0, 0, 0, time.UTC))
	for side, want := range map[string]string{
		"spending": "EUR -57.00, USD 17.00", "income": "EUR 965.00",
	} {
		for _, by := range [][]string{{"account", "month"}, {"primary_category", "month"}, {"payee", "month"}} {
			got, err := totals.Sums(t.Context(), db, SummaryRequest{
				Filter: ledger.Filter{StartDate: &day, EndDate: &day}, GroupBy: by, Side: &side,
			})
			if err != nil {
				t.Fatal(err)
			}
			var is []string
			for _, sum := range got.Totals {
				is = append(is, string(sum.Currency)+" "+sum.Net.String())
			}
			if strings.Join(is, ", ") != want {
				t.Errorf("%s by %v: %v, want %s", side, by, is, want)
			}
		}
	}
}

package analytics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// randomTotals returns the totals of many transactions in two years, three currencies and two
// accounts. Their categories are of every kind or missing, and some refunds exceed purchases.
func randomTotals(t *testing.T) (*Totals, *pg.DB) {
	t.Helper()
	db := pgtest.New(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into descriptor (name, merchant_name, folded) select 'Shop ' || n, '', 'shop ' || n || e'\n'
		from generate_series(1, 40) n`)
	for _, name := range []string{"A", "B"} {
		account := id.New()
		exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
			values ($1, $2, 'csv', $3, 'Everyday', 'depository', 'EUR')`, account, account.Short(), name)
	}
	dice := rand.New(rand.NewPCG(5, 6))
	var days, categories, descriptors []int32
	var amounts []money.Amount
	for range 1500 {
		amount, err := money.FromCents(dice.Int64N(30000) - 12000)
		if err != nil {
			t.Fatal(err)
		}
		days, amounts = append(days, dice.Int32N(700)), append(amounts, amount)
		categories, descriptors = append(categories, dice.Int32N(60)), append(descriptors, 1+dice.Int32N(40))
	}
	exec(`
		insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
			category_id, excluded, transfer)
		select gen_random_uuid(), 'flow' || n, (select id from account where provider_id = case when n % 3 = 0 then 'A'
				else 'B' end), n, date '2025-12-31' - day, amount, (array['EUR', 'USD', 'JPY'])[1 + n % 3],
			(select min(id) from descriptor) + descriptor - 1, c.id, n % 17 = 0, n % 19 = 0
		from unnest($1::int[], $2::numeric[], $3::int[], $4::int[]) with ordinality
			x (day, amount, category, descriptor, n)
		left join (select id, row_number() over (order by (slug in ('income', 'income_salary', 'food_and_drink',
			'food_and_drink_groceries', 'transfers')) desc, slug) as at from category) c on c.at = x.category`,
		days, amounts, categories, descriptors)
	return New(ledger.New(db, category.New(ledger.CategoryUser{})), account.New(db)), db
}

// add adds up. No sum in these tests is out of range.
func add(all ...money.Total) (out money.Total) {
	for _, x := range all {
		out, _ = out.Add(x)
	}
	return out
}

// The inflow of an account equals its outflow, and income minus spending is net. Everything agrees
// with the summary in every currency, by category and by account. The previous period is the cash
// flow of the days before.
func TestCashflowIsTheSummary(t *testing.T) {
	t.Parallel()
	totals, db := randomTotals(t)
	reversed, drawn, several := 0, 0, 0
	for _, by := range []string{"category", "account"} {
		for _, days := range [][2]string{
			{"2025-11-01", "2025-11-30"}, {"2025-01-01", "2025-12-31"}, {"2025-03-05", "2025-03-17"},
		} {
			for _, compare := range []*string{nil, new(previousPeriod), new(previousYear)} {
				name := fmt.Sprint(by, days, compare != nil)
				start, end := *date(t, days[0]), *date(t, days[1])
				got, err := totals.Cashflow(t.Context(), db, CashflowRequest{&start, &end, compare, by})
				if err != nil || len(got.Currencies) != 3 {
					t.Fatalf("%s: %+v (%v)", name, got, err)
				}
				var before Cashflow
				if compare != nil {
					p := got.Period.Previous
					if before, err = totals.Cashflow(t.Context(), db, CashflowRequest{&p.Start, &p.End, nil, by}); err != nil {
						t.Fatal(err)
					}
				}
				sums, err := totals.Summary(t.Context(), db, SummaryRequest{
					Filter: ledger.Filter{StartDate: &start, EndDate: &end}, GroupBy: []string{"primary_category"},
				})
				if err != nil {
					t.Fatal(err)
				}
				for i, c := range got.Currencies {
					if c.SummarySums != sums.Totals[i].SummarySums || c.Currency != sums.Totals[i].Currency {
						t.Errorf("%s: %+v, the summary has %+v", name, c.SummarySums, sums.Totals[i])
					}
					checkFlow(t, name, c)
					checkCategories(t, name+string(c.Currency), c, sums.Groups)
					for _, n := range c.Nodes {
						if n.Reversed {
							reversed++
						}
						if n.Kind == nodeDrawn {
							drawn++
						}
						if len(n.Parts) > 1 {
							several++
						}
						if compare == nil {
							continue
						}
						then := slices.IndexFunc(before.Currencies[i].Nodes, func(b CashflowNode) bool { return b.ID == n.ID })
						want := money.Total{}
						if then >= 0 {
							want = before.Currencies[i].Nodes[then].Amount
						}
						if *n.Previous != want {
							t.Errorf("%s: %s was %s, want %s", name, n.ID, n.Previous, want)
						}
					}
				}
			}
		}
	}
	if reversed == 0 || drawn == 0 || several == 0 {
		t.Errorf("%d reversed, %d drawn, %d in parts, so the test proves nothing", reversed, drawn, several)
	}
}

// checkFlow checks the consistency of a flow.
func checkFlow(t *testing.T, name string, c CashflowCurrency) {
	t.Helper()
	in, out, kinds := map[string]money.Total{}, map[string]money.Total{}, map[string]money.Total{}
	for _, l := range c.Links {
		out[l.Source], in[l.Target] = add(out[l.Source], l.Amount), add(in[l.Target], l.Amount)
		if l.Amount.IsZero() || l.Amount.IsNeg() {
			t.Errorf("%s: %+v flows nowhere", name, l)
		}
	}
	for _, n := range c.Nodes {
		kinds[n.Kind] = add(kinds[n.Kind], n.Amount)
		var want []money.Total
		switch n.Kind {
		case nodeAccount:
			want = []money.Total{in[n.ID], out[n.ID]}
		case nodeIncome, nodeDrawn:
			want = []money.Total{out[n.ID]}
		default:
			want = []money.Total{in[n.ID]}
		}
		for _, w := range want {
			if w != n.Amount {
				t.Errorf("%s: %s is %s, and %s in, %s out", name, n.ID, n.Amount, in[n.ID], out[n.ID])
			}
		}
		var parts []money.Total
		for _, p := range n.Parts {
			parts = append(parts, p.Amount)
		}
		if len(parts) > 0 && add(parts...) != n.Amount {
			t.Errorf("%s: the parts of %s come to %s, not %s", name, n.ID, add(parts...), n.Amount)
		}
		delete(in, n.ID)
		delete(out, n.ID)
	}
	if len(in)+len(out) > 0 {
		t.Errorf("%s: links without nodes: %v %v", name, in, out)
	}
	if net := add(kinds[nodeIncome], kinds[nodeCategory].Neg()); net != c.Net ||
		add(kinds[nodeSaved], kinds[nodeDrawn].Neg()) != c.Net {
		t.Errorf("%s: income %s, spending %s, saved %s, drawn %s, net %s", name, kinds[nodeIncome],
			kinds[nodeCategory], kinds[nodeSaved], kinds[nodeDrawn], c.Net)
	}
}

// checkCategories compares the nodes of categories with the summary's groups.
func checkCategories(t *testing.T, name string, c CashflowCurrency, groups []Group) {
	t.Helper()
	nets := map[string]money.Total{}
	for _, n := range c.Nodes {
		slug := "none"
		if n.Category != nil {
			slug = *n.Category
		}
		switch n.Kind {
		case nodeIncome:
			nets[slug] = add(nets[slug], n.Amount)
		case nodeCategory:
			nets[slug] = add(nets[slug], n.Amount.Neg())
		}
	}
	for _, g := range groups {
		slug := "none"
		if key := g.Keys["primary_category"]; key != nil {
			slug = key.Plain()
		}
		if g.Currency == c.Currency && nets[slug] != g.Net {
			t.Errorf("%s: %s nets %s, the summary has %s", name, slug, nets[slug], g.Net)
		}
	}
}

// Groups and others together are always the totals, whatever is limited, sorted or compared. The
// previous sums are the summary of the days before.
func TestSummaryAddsUp(t *testing.T) {
	t.Parallel()
	totals, db := randomTotals(t)
	start, end := *date(t, "2025-09-01"), *date(t, "2025-10-31")
	cut := 0
	for _, by := range [][]string{{}, {"category"}, {"merchant"}, {"account", "category"}, {"month", "primary_category"}} {
		for _, sort := range []string{"", "amount", "count", "key", "change"} {
			for _, limit := range []*int{nil, new(3), new(500)} {
				for _, compare := range []*string{nil, new(previousPeriod), new(previousYear)} {
					if sort == "change" && compare == nil {
						continue
					}
					in := SummaryRequest{
						Filter: ledger.Filter{StartDate: &start, EndDate: &end}, GroupBy: by, Limit: limit,
						Compare: compare, MinCount: new(2),
					}
					if sort != "" {
						in.SortBy = &sort
					}
					name := fmt.Sprint(by, sort, limit != nil, compare != nil)
					got, err := totals.Summary(t.Context(), db, in)
					if err != nil {
						t.Fatal(name, err)
					}
					if limit != nil && len(got.Groups) > *limit {
						t.Errorf("%s: %d groups", name, len(got.Groups))
					}
					cut += len(got.Other)
					checkSums(t, name, got, compare != nil)
					if compare == nil {
						continue
					}
					p := got.Period.Previous
					before, err := totals.Sums(t.Context(), db, SummaryRequest{
						Filter: ledger.Filter{StartDate: &p.Start, EndDate: &p.End}, GroupBy: by,
					})
					if err != nil {
						t.Fatal(err)
					}
					for i, total := range got.Totals {
						if *total.Previous != before.Totals[i].SummarySums {
							t.Errorf("%s: %+v before, want %+v", name, *total.Previous, before.Totals[i])
						}
					}
				}
			}
		}
	}
	if cut == 0 {
		t.Error("nothing was ever cut, so the test proves nothing")
	}
}

// checkSums adds up groups and others itself, and compares the results with the totals.
func checkSums(t *testing.T, name string, s Summary, compares bool) {
	t.Helper()
	type sums struct {
		net, before money.Total
		count, then int64
	}
	all := map[money.Currency]sums{}
	put := func(c money.Currency, x SummaryCompared) {
		a := all[c]
		a.net, a.count = add(a.net, x.Net), a.count+x.Count
		if compares {
			a.before, a.then = add(a.before, x.Previous.Net), a.then+x.Previous.Count
			if x.Change.Net != add(x.Net, x.Previous.Net.Neg()) {
				t.Errorf("%s: from %s to %s is not a change of %s", name, x.Previous.Net, x.Net, x.Change.Net)
			}
		}
		all[c] = a
	}
	for _, g := range s.Groups {
		put(g.Currency, g.SummaryCompared)
	}
	for _, o := range s.Other {
		put(o.Currency, o.SummaryCompared)
	}
	for _, total := range s.Totals {
		want := sums{net: total.Net, count: total.Count}
		if compares {
			want.before, want.then = total.Previous.Net, total.Previous.Count
		}
		if all[total.Currency] != want {
			t.Errorf("%s: %s is %+v, want %+v", name, total.Currency, all[total.Currency], want)
		}
	}
	if len(all) != len(s.Totals) {
		t.Errorf("%s: %d currencies in groups, %d in totals", name, len(all), len(s.Totals))
	}
}

// Groups are sorted within their currency, and a limit takes the first of each.
func TestSummaryOrder(t *testing.T) {
	t.Parallel()
	totals, db := randomTotals(t)
	show := func(in SummaryRequest) (out []string) {
		t.Helper()
		s, err := totals.Sums(t.Context(), db, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range s.Groups {
			out = append(out, string(g.Currency)+" "+g.Keys[in.GroupBy[0]].Plain())
		}
		return out
	}
	all, err := totals.Sums(t.Context(), db, SummaryRequest{GroupBy: []string{"merchant"}, SortBy: new("amount")})
	if err != nil {
		t.Fatal(err)
	}
	abs := func(x money.Total) money.Total {
		if x.IsNeg() {
			return x.Neg()
		}
		return x
	}
	if !slices.IsSortedFunc(all.Groups, func(a, b Group) int {
		if a.Currency != b.Currency {
			return strings.Compare(string(a.Currency), string(b.Currency))
		}
		return abs(b.Net).Cmp(abs(a.Net))
	}) {
		t.Error("not sorted by amount within each currency")
	}
	first := map[money.Currency]string{}
	for _, g := range slices.Backward(all.Groups) {
		first[g.Currency] = string(g.Currency) + " " + g.Keys["merchant"].Plain()
	}
	got, want := show(SummaryRequest{GroupBy: []string{"merchant"}, Limit: new(3)}),
		[]string{first["EUR"], first["JPY"], first["USD"]}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the first three are %q, want %q", got, want)
	}
	if got := show(SummaryRequest{GroupBy: []string{"month"}, Limit: new(4)}); !slices.Equal(got,
		[]string{"EUR 2025-11", "EUR 2025-12", "JPY 2025-12", "USD 2025-12"}) {
		t.Errorf("the newest months: %q", got)
	}
	if got := show(SummaryRequest{GroupBy: []string{"month"}, SortBy: new("key"), Limit: new(1)}); !slices.Equal(got,
		[]string{"EUR 2024-01"}) && !slices.Equal(got, []string{"EUR 2024-02"}) {
		t.Errorf("the first month: %q", got)
	}
}

// Without days, the cash flow is that of the current month so far. With only an end date, it is
// that of the month of the end date.
func TestCashflowOfThisMonth(t *testing.T) {
	t.Parallel()
	totals, db := randomTotals(t)
	now, err := today(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	first := pg.Day(now.Time().AddDate(0, 0, 1-now.Time().Day()))
	for _, c := range []struct {
		in   CashflowRequest
		want Days
	}{
		{CashflowRequest{By: "category"}, Days{first, now}},
		{CashflowRequest{By: "category", EndDate: date(t, "2025-03-17")}, Days{*date(t, "2025-03-01"), *date(t, "2025-03-17")}},
		{CashflowRequest{By: "category", StartDate: date(t, "2025-02-17")}, Days{*date(t, "2025-02-17"), now}},
	} {
		got, err := totals.Cashflow(t.Context(), db, c.in)
		if err != nil || got.Period.Days != c.want {
			t.Errorf("%+v: %+v, want %+v (%v)", c.in, got.Period.Days, c.want, err)
		}
	}
}

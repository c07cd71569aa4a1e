package analytics

import (
	"fmt"
	"slices"
	"testing"

	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// newYears returns the totals of three years. The transactions include two currencies, a leap day,
// first and last days of years, income, a refund, both kinds of transfers, a duplicate, an excluded
// one, a hidden account, tags, a deleted one, and some without a category.
func newYears(t *testing.T) (*Totals, *pg.DB) {
	t.Helper()
	totals, db := newTotals(t)
	for _, sql := range []string{
		`delete from transaction`,
		`insert into account (id, short_id, provider, provider_id, name, type, currency, hidden)
			select gen_random_uuid(), 'hidden00', 'csv', 'h', 'Hidden', 'depository', 'EUR', true`,
		`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
			category_id,
			excluded, transfer, excluded_reason, deleted_at)
		select gen_random_uuid(), 'year' || n, a.id, 'y' || n, v.day::date, v.amount, v.currency, d.id, c.id, v.twice,
			v.transfer, v.reason, case when v.gone then now() end
		from (values
			(1, '2024-02-29', 40.10, 'EUR', 'travel_accommodation', false, false, null, false, 'a'),
			(2, '2024-01-01', 10, 'EUR', 'food_and_drink_groceries', false, false, null, false, 'a'),
			(3, '2024-12-31', 20.05, 'EUR', 'food_and_drink_groceries', false, false, null, false, 'a'),
			(4, '2024-05-05', -5, 'EUR', 'food_and_drink_groceries', false, false, null, false, 'a'),
			(5, '2024-05-31', -3000, 'EUR', 'income_salary', false, false, null, false, 'a'),
			(6, '2024-06-01', 99, 'USD', 'travel_accommodation', false, false, null, false, 'a'),
			(7, '2024-06-02', 500, 'EUR', 'transfers_between_accounts', false, false, null, false, 'a'),
			(8, '2024-06-02', -500, 'EUR', null, false, true, null, false, 'a'),
			(9, '2024-06-03', 7, 'EUR', 'travel_accommodation', true, false, null, false, 'a'),
			(10, '2024-06-03', 418, 'EUR', 'travel_accommodation', false, false, 'reimbursed', false, 'a'),
			(11, '2024-06-04', 11, 'EUR', 'travel_accommodation', false, false, null, false, 'h'),
			(12, '2024-06-05', 12, 'EUR', 'travel_accommodation', false, false, null, true, 'a'),
			(13, '2024-07-01', 3.33, 'EUR', null, false, false, null, false, 'a'),
			(14, '2024-07-02', -1.11, 'EUR', null, false, false, null, false, 'a'),
			(15, '2023-02-28', 30, 'EUR', 'travel_accommodation', false, false, null, false, 'a'),
			(16, '2023-12-31', 8, 'USD', 'food_and_drink_groceries', false, false, null, false, 'a'),
			(17, '2025-01-01', 77, 'EUR', 'travel_accommodation', false, false, null, false, 'a'),
			(18, '2022-03-01', 500, 'EUR', 'transfers_between_accounts', false, false, null, false, 'a'),
			(19, '2022-03-01', -500, 'EUR', 'transfers_between_accounts', false, false, null, false, 'a'),
			(20, '2024-08-01', 9, 'USD', 'travel_accommodation', false, false, 'other', false, 'a')
			) v (n, day, amount, currency, category, twice, transfer, reason, gone, account)
		join account a on a.provider_id = v.account left join category c on c.slug = v.category
		cross join (select id from descriptor limit 1) d`,
		`insert into tag (id, short_id, slug, display_name) select gen_random_uuid(), 'taxes000', 'taxes', 'Taxes'`,
		`insert into transaction_tag (transaction_id, tag_id, present, source) select t.id, g.id, true, 'user'
			from transaction t, tag g where g.slug = 'taxes' and t.provider_id in ('y1', 'y4', 'y6', 'y10', 'y15')`,
	} {
		if _, err := pg.Exec(t.Context(), db, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return totals, db
}

// yearTruth calculates the lines of a year independently, by sums over the rows.
const yearTruth = `
	with r as (
		select t.*, coalesce(p.kind, c.kind, '') as kind, c.slug, extract(month from t.date)::int as month,
			extract(year from t.date)::int as year
		from transaction t join account a on a.id = t.account_id left join category c on c.id = t.category_id
			left join category p on p.id = c.parent_id
		where t.deleted_at is null and not t.excluded and t.excluded_reason is null and not t.transfer and not a.hidden
			and not t.is_split),
	s as (
		select 'income' as side, coalesce(slug, '-') as name, currency, year, month, -amount as amount from r
			where kind = 'income' or slug is null and amount < 0
		union all
		select 'spending', coalesce(slug, '-'), currency, year, month, amount from r
			where kind not in ('income', 'transfer') and (slug is not null or amount > 0)
		union all
		select 'tag', g.slug, currency, year, month, amount from r join transaction_tag tt on tt.transaction_id = r.id
			and tt.present join tag g on g.id = tt.tag_id where kind <> 'transfer')
	select concat_ws(' ', side, name, currency, array_to_string(array(
			select coalesce(sum(x.amount), 0)::numeric(12,2) from generate_series(1, 12) m
				left join s x on x.month = m and x.side = s.side and x.name = s.name and x.currency = s.currency
					and x.year = $1 group by m order by m), ' '),
		coalesce(sum(amount) filter (where year = $1), 0)::numeric(12,2),
		coalesce(sum(amount) filter (where year = $1 - 1), 0)::numeric(12,2))
	from s where year in ($1, $1 - 1) group by side, name, currency order by 1`

func joined(values []money.Total) (out string) {
	for _, v := range values {
		out += " " + v.String()
	}
	return out
}

func (y Year) lines() []string {
	lines := []string{}
	add := func(side string, name *string, c money.Currency, l YearLine) {
		if name == nil {
			name = new("-")
		}
		lines = append(lines, fmt.Sprint(side, " ", *name, " ", c, joined(l.Months), " ", l.Total, " ", l.Previous))
	}
	for _, c := range y.Categories {
		add("spending", c.Category, c.Currency, c.YearLine)
	}
	for _, c := range y.Income {
		add("income", c.Category, c.Currency, c.YearLine)
	}
	for _, g := range y.Tags {
		add("tag", &g.Tag, g.Currency, g.YearLine)
	}
	slices.Sort(lines)
	return lines
}

// A year's lines are the sums of its rows in each currency, and its totals are the sums of its
// lines.
func TestYear(t *testing.T) {
	t.Parallel()
	totals, db := newYears(t)
	for _, year := range []int{2021, 2022, 2023, 2024, 2025, 2100} {
		got, err := totals.Year(t.Context(), db, YearRequest{year})
		if err != nil {
			t.Fatal(err)
		}
		want, err := pg.Values[string](t.Context(), db, yearTruth, year)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if !slices.Equal(got.lines(), want) {
			t.Errorf("%d:\n%q, want\n%q", year, got.lines(), want)
		}
		type sums struct{ in, out, net, before, months, incomeMonths money.Total }
		of := map[money.Currency]*sums{}
		at := func(c money.Currency) *sums {
			if of[c] == nil {
				of[c] = &sums{}
			}
			return of[c]
		}
		add := func(a *money.Total, b money.Total) {
			if *a, err = a.Add(b); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range got.Categories {
			add(&at(c.Currency).out, c.Total)
			add(&at(c.Currency).before, c.Previous)
		}
		for _, c := range got.Income {
			add(&at(c.Currency).in, c.Total)
		}
		for _, s := range got.Totals {
			mine := at(s.Currency)
			for i := range 12 {
				add(&mine.months, s.Months[i])
				add(&mine.incomeMonths, s.IncomeMonths[i])
			}
			add(&mine.net, s.Income)
			add(&mine.net, s.Spending.Neg())
			if !s.Income.Equal(mine.in) || !s.Spending.Equal(mine.out) || !s.Net.Equal(mine.net) ||
				!s.Previous.Spending.Equal(mine.before) || !mine.months.Equal(mine.out) ||
				!mine.incomeMonths.Equal(mine.in) {
				t.Errorf("%d: totals %+v, lines %+v", year, s, *mine)
			}
		}
		if len(of) != len(got.Totals) {
			t.Errorf("%d: %d totals of %d currencies", year, len(got.Totals), len(of))
		}
	}
}

// A year also counts what its totals leave out.
func TestYearLeftOut(t *testing.T) {
	t.Parallel()
	totals, db := newYears(t)
	got, err := totals.Year(t.Context(), db, YearRequest{2024})
	if err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprint(got.Transfers, got.Excluded)
	if want := "[{EUR 500.00 500.00 2}] [{reimbursed {EUR 0.00 418.00 1}} {other {USD 0.00 9.00 1}}]"; left != want {
		t.Errorf("left out: %s, want %s", left, want)
	}
	var noted int64
	for _, n := range got.Notes {
		if n.Code == "excluded" {
			noted = *n.Count
		}
	}
	if noted != 2 {
		t.Errorf("notes %+v, want 2 that are left out", got.Notes)
	}
	only, err := totals.Year(t.Context(), db, YearRequest{2022})
	if err != nil || len(only.Totals)+len(only.Categories)+len(only.Income) > 0 || len(only.Transfers) != 1 ||
		only.Transfers[0].Count != 2 {
		t.Errorf("only transfers: %+v (%v)", only, err)
	}
	if got.Period.Previous.Start.String() != "2023-01-01" || got.Period.Previous.End.String() != "2023-12-31" {
		t.Errorf("compared with %+v", got.Period.Previous)
	}
}

// On a leap day, the year before is compared up to the last day of its February.
func TestYearOnLeapDay(t *testing.T) {
	t.Parallel()
	first, last := date(t, "2024-01-01"), date(t, "2024-12-31")
	for today, want := range map[string]string{
		"2024-02-29": "2024-02-29 2023-02-28", "2024-01-01": "2024-01-01 2023-01-01",
		"2024-03-31": "2024-03-31 2023-03-31", "2025-07-01": "2024-12-31 2023-12-31",
	} {
		days, err := compared(previousYear, first, last, *date(t, today))
		if got := days.End.String() + " " + days.Previous.End.String(); err != nil || got != want {
			t.Errorf("on %s: %s, want %s (%v)", today, got, want, err)
		}
	}
}

package target

import (
	"testing"
	"time"

	"coffer/internal/books/analytics"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// exec runs a statement on the household's database.
func (h *house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := pg.Exec(h.Context(), h.db, sql, args...); err != nil {
		h.Fatal(err)
	}
}

// monthly adds a recurring payment on one day of this month and of the two months before it, and
// the expected next payment. With due, this month's payment has not arrived yet.
func (h *house) monthly(name, category string, amount float64, due bool) {
	h.Helper()
	series := id.New()
	h.exec(`insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
			first_date, last_date, last_id, next_date, usual_day, occurrences, sure, price_changes, transfer, name)
		select $1, $2, a.id, 'EUR', case when $3::numeric > 0 then 'out' else 'in' end, 'monthly', 1, array[1], true, $3,
			current_date, current_date, null, case when $4 then m.last else m.next end, case when $4 then 31 else 1 end, 3,
			true, '[]', false, $5
		from account a, (select (date_trunc('month', t) + interval '1 month - 1 day')::date as last,
			(date_trunc('month', t) + interval '1 month')::date as next from (select now() at time zone time_zone as t
			from setting) s) m`, series, series.Short(), amount, due, name)
	h.exec(`
		with d as (insert into descriptor (name, merchant_name, folded) values ($2, '', lower($2) || e'\n') returning id),
		rows as (insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id,
				category_id)
			select gen_random_uuid(), left($2, 4) || n, (select id from account), $2 || n,
				(date_trunc('month', now() at time zone time_zone) - make_interval(months => n))::date, $3, 'EUR', d.id,
				(select id from category where slug = $4)
			from d, setting, generate_series(case when $5 then 1 else 0 end, 2) n returning id, date)
		insert into recurring_row (transaction_id, recurring_id) select id, $1 from rows`, series, name, amount, category, due)
	h.exec(`update recurring set last_id = (select t.id from recurring_row w join transaction t on t.id = w.transaction_id
		where w.recurring_id = $1 order by t.date desc limit 1) where id = $1`, series)
}

func (h *house) list(month *string) analytics.TargetMonth {
	h.Helper()
	got, err := h.totals.Targets(h.Context(), h.db, analytics.ListTargets{Month: month})
	if err != nil {
		h.Fatal(err)
	}
	return got
}

// Rent that is paid on the first is not ahead of pace, because recurring payments count by their
// due dates.
func TestFixedCosts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`delete from transaction`)
	h.monthly("Rent", "home_rent", 1000, false)
	h.monthly("Power", "utilities_energy", 80, true)
	h.monthly("Wages", "income_salary", -2500, false)
	h.monthly("Child benefit", "income_state_benefits", -250, true)
	h.create(CreateTarget{Category: "home", Amount: money.MustParse("1000.00"), StartMonth: new("2026-01")})
	h.create(CreateTarget{Category: "home_rent", Amount: money.MustParse("1000.00"), StartMonth: new("2026-01")})
	h.create(CreateTarget{Category: "utilities", Amount: money.MustParse("70.00"), StartMonth: new("2026-01")})
	h.create(CreateTarget{Category: "travel", Amount: money.MustParse("200.00"), StartMonth: new("2026-01")})
	got := h.list(nil)
	type line struct {
		state, spent, recurring, due string
		fixed                        bool
		payments                     int
	}
	is := map[string]line{}
	for _, m := range got.Targets {
		is[m.Category] = line{m.State, m.Spent.String(), m.Recurring.String(), m.Due.String(), m.Fixed, len(m.Payments)}
	}
	for category, want := range map[string]line{
		"home":      {"within", "1000.00", "1000.00", "0.00", true, 1},
		"home_rent": {"within", "1000.00", "1000.00", "0.00", true, 1},
		"utilities": {"ahead", "0.00", "0.00", "80.00", true, 1}, // the amount due is larger than the target
		"travel":    {"within", "0.00", "0.00", "0.00", false, 0},
	} {
		if is[category] != want {
			t.Errorf("%s: %+v, want %+v", category, is[category], want)
		}
	}
	if len(got.Totals) != 1 {
		t.Fatalf("%+v", got.Totals)
	}
	// The target of home includes the target of rent.
	sum := got.Totals[0]
	for name, of := range map[string][2]string{
		"amount": {sum.Amount.String(), "1270.00"}, "fixed": {sum.Fixed.String(), "1070.00"},
		"spent": {sum.Spent.String(), "1000.00"}, "available": {sum.Available.String(), "270.00"},
		"due": {sum.Due.String(), "80.00"}, "left": {sum.Left.String(), "190.00"},
		"income": {sum.Income.String(), "2500.00"}, "income_due": {sum.IncomeDue.String(), "250.00"},
	} {
		if of[0] != of[1] {
			t.Errorf("%s: %s, want %s", name, of[0], of[1])
		}
	}
	// In the next month, all payments are due once.
	month := pg.Day(time.Now().UTC()).Time()
	next := month.AddDate(0, 0, 1-month.Day()).AddDate(0, 1, 0).Format("2006-01")
	for _, m := range h.list(&next).Targets {
		want := map[string]string{"home": "1000.00", "home_rent": "1000.00", "utilities": "80.00", "travel": "0.00"}[m.Category]
		if m.Due.String() != want || m.Spent.String() != "0.00" {
			t.Errorf("next month %s: %s due, %s spent", m.Category, m.Due, m.Spent)
		}
	}
	// In an earlier month, nothing is due any more.
	last := month.AddDate(0, 0, -month.Day()).Format("2006-01")
	for _, m := range h.list(&last).Targets {
		if !m.Due.IsZero() || m.State == "ahead" {
			t.Errorf("last month %s: %s due, %s", m.Category, m.Due, m.State)
		}
	}
	// A large purchase means that the category is no longer fixed. Rent still counts by its due
	// date.
	h.exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, category_id)
		select gen_random_uuid(), 'sofa', (select id from account), 'sofa', (now() at time zone time_zone)::date, 400, 'EUR',
			(select min(id) from descriptor), (select id from category where slug = 'home_furniture_and_appliances') from setting`)
	for _, m := range h.list(nil).Targets {
		if m.Category == "home" && (m.Fixed || m.State != "over" || m.Recurring.String() != "1000.00") {
			t.Errorf("with a sofa: %+v", m)
		}
	}
	// A dismissed series counts like ordinary spending.
	h.exec(`update recurring set state = 'dismissed' where name = 'Rent'`)
	for _, m := range h.list(nil).Targets {
		if m.Category == "home_rent" && (m.Fixed || !m.Recurring.IsZero()) {
			t.Errorf("dismissed: %+v", m)
		}
	}
}

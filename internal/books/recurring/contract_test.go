package recurring

import (
	"testing"

	"coffer/internal/platform/money"
)

// A contract's group follows from its direction and category, and otherwise from its price.
func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		direction, category, primary, amounts string
		transfer                              bool
		want                                  string
	}{
		{"out", "entertainment_tv_and_film", "entertainment", "fixed", false, "subscription"},
		{"out", "personal_care_gyms_and_fitness", "personal_care", "fixed", false, "subscription"},
		{"out", "", "", "fixed", false, "subscription"},
		{"out", "", "", "variable", false, "bill"},
		{"out", "utilities_energy", "utilities", "variable", false, "bill"},
		{"out", "home_rent", "home", "fixed", false, "bill"},
		{"out", "home_mortgage", "home", "fixed", false, "loan"},
		{"out", "home_mortgage", "home", "fixed", true, "loan"},
		{"in", "home_mortgage", "home", "fixed", true, "transfer"},
		{"out", "loans_and_fees_other_fees", "loans_and_fees", "fixed", false, "bill"},
		{"in", "income_salary", "income", "fixed", false, "income"},
		{"out", "transfers_savings", "transfers", "fixed", true, "saving"},
		{"in", "transfers_savings", "transfers", "fixed", true, "transfer"},
		{"out", "transfers_card_payments", "transfers", "variable", true, "transfer"},
	} {
		r := Recurring{Direction: c.direction, AmountType: c.amounts, Transfer: c.transfer}
		if c.category != "" {
			r.Category, r.Primary = &c.category, &c.primary
		}
		if got := r.group(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Groups are added up by currency, without payments that have ended or were dismissed. Of
// transfers, only money out counts.
func TestByContract(t *testing.T) {
	t.Parallel()
	one := func(group, direction, amount string, currency money.Currency) Recurring {
		sum := money.MustParse(amount).Total()
		year, err := sum.Times(12)
		if err != nil {
			t.Fatal(err)
		}
		return Recurring{
			Group: group, Direction: direction, Currency: currency, MonthlyAmount: sum, YearlyAmount: year, Status: Active,
			State: Auto,
		}
	}
	gone, no := one("bill", "out", "9.00", "EUR"), one("bill", "out", "9.00", "EUR")
	gone.Status, no.State = Ended, Dismissed
	got, err := ByContract([]Recurring{
		one("transfer", "out", "50.00", "EUR"), one("transfer", "in", "-50.00", "EUR"), one("income", "in", "-900.00", "EUR"),
		one("bill", "out", "20.00", "USD"), one("bill", "out", "10.50", "EUR"), one("bill", "out", "1.00", "EUR"), gone, no,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []RecurringGroup{
		{"bill", "EUR", money.MustParse("11.50").Total(), money.MustParse("138.00").Total(), 2},
		{"bill", "USD", money.MustParse("20.00").Total(), money.MustParse("240.00").Total(), 1},
		{"income", "EUR", money.MustParse("900.00").Total(), money.MustParse("10800.00").Total(), 1},
		{"transfer", "EUR", money.MustParse("50.00").Total(), money.MustParse("600.00").Total(), 2},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

// A contract is shown with all its payments, their sum, and its price of a year ago.
func TestShow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.account()
	h.merge(monthly(account, "GYM", 0, 20, 2500)...)
	h.merge(monthly(account, "GYM", 20, 30, 3000)...)
	h.sweep()
	one := h.only(account)
	h.exec(`update transaction set date = date + ((now() at time zone time_zone)::date - (select max(date) from transaction))
		from setting`)
	h.exec(`update recurring r set first_date = first_date + d.shift, last_date = last_date + d.shift,
			next_date = next_date + d.shift, price_changes = (select jsonb_agg(jsonb_set(c, '{date}',
				to_jsonb(((c ->> 'date')::date + d.shift)::text))) from jsonb_array_elements(price_changes) c)
		from (select (now() at time zone time_zone)::date - (select last_date from recurring) as shift from setting) d`)
	got, err := h.Show(t.Context(), h.db, RecurringRef{one.ShortID})
	if err != nil {
		t.Fatal(err)
	}
	if got.Paid.String() != "800.00" || len(got.Payments) != 30 || got.Payments[0].Amount.String() != "30.00" ||
		got.LastYear == nil || got.LastYear.String() != "300.00" || got.YearlyAmount.String() != "360.00" ||
		got.MonthlyAmount.String() != "30.00" || got.Group != "subscription" {
		t.Errorf("%+v", got)
	}
	h.exec(`update recurring set first_date = last_date - 300`)
	if got, err := h.Show(t.Context(), h.db, RecurringRef{one.ShortID}); err != nil || got.LastYear != nil {
		t.Errorf("a contract of this year had a price a year ago: %+v, %v", got.LastYear, err)
	}
}

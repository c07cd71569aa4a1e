package analytics

import (
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// An account that became known later is listed with the balance that it brought, and the change is
// also given without that balance. An account that was opened empty is not listed.
func TestNewAccounts(t *testing.T) {
	t.Parallel()
	w := newWorth(t, 0)
	add := func(name, kind, method, currency string) id.ID {
		u := id.New()
		w.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency, balance_method)
			values ($1, $2, 'csv', $2, $3, $4, $5, $6)`, u, u.Short(), name, kind, currency, method)
		return u
	}
	day := func(ago int) pg.Date { return pg.Day(w.last.AddDate(0, 0, -ago)) }
	states := func(account id.ID, ago int, balance string) {
		w.exec(`insert into account_balance (account_id, day, source, current) values ($1, $2, 'manual', $3::numeric)`,
			account, day(ago), balance)
	}
	pays := func(account id.ID, ago int, amount, currency string) {
		u := id.New()
		w.exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
			select $1, $2, $3, $2, $4, $5::numeric, $6, min(id) from descriptor`, u, u.Short(), account, day(ago), amount, currency)
	}
	checking := add("Checking", "depository", "transactions", "EUR")
	states(checking, 0, "900")
	pays(checking, 300, "-1000", "EUR") // its balance was 0 before
	pays(checking, 20, "100", "EUR")    // moves to the new savings account
	savings := add("Savings", "depository", "transactions", "EUR")
	states(savings, 0, "100")
	pays(savings, 20, "-100", "EUR") // opened empty
	house := add("House", "other", "valuations", "EUR")
	states(house, 100, "500000")
	loan := add("Mortgage", "loan", "transactions", "EUR")
	states(loan, 0, "199000")
	pays(loan, 90, "-1000", "EUR") // came with a debt of 200,000
	dollars := add("Dollars", "depository", "transactions", "USD")
	states(dollars, 50, "70")
	got := w.ask(NetWorthRequest{StartDate: new(day(200)), EndDate: new(day(0)), Interval: "month"})
	if len(got.Changes) != 2 {
		t.Fatalf("%+v", got.Changes)
	}
	c := got.Changes[0]
	if c.Currency != "EUR" || c.Net.String() != "301000.00" || c.Assets.String() != "500000.00" || c.Debts.String() != "199000.00" ||
		c.WithoutNew.String() != "1000.00" || len(c.New) != 2 {
		t.Fatalf("%+v", c)
	}
	for _, n := range c.New {
		want := map[id.ID]string{house: "500000.00", loan: "-200000.00"}[n.ID]
		if n.Balance.String() != want || n.Date.Time().Before(day(100).Time()) {
			t.Errorf("%+v, want %s", n, want)
		}
	}
	if d := got.Changes[1]; d.Currency != "USD" || !d.Net.IsZero() || len(d.New) != 0 {
		t.Errorf("the first account of a currency is new: %+v", d)
	}
	if none := newWorth(t, 0).ask(NetWorthRequest{}); len(none.Changes) != 0 {
		t.Errorf("%+v", none.Changes)
	}
}

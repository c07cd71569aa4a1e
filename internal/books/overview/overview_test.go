package overview

import (
	"context"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// Months follow the household's time zone, and amounts in different currencies are never added up.
// The test compares the figures with sums of its own.
func TestOverviewAddsUpByCurrencyAndMonth(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	books := ledger.New(db, category.New(ledger.CategoryUser{}))
	r := New(analytics.New(books, account.New(db)), account.New(db))
	ctx := op.WithActor(context.WithoutCancel(t.Context()), op.Actor{Type: op.System, Name: "test"})
	for _, zone := range []string{"Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"} { // the days of these zones differ
		if _, err := db.Exec(ctx, `update setting set time_zone = $1`, zone); err != nil {
			t.Fatal(err)
		}
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip("no time zones on this machine: ", err)
		}
		before := time.Now().In(place).Format(time.DateOnly)
		o, err := r.Overview(ctx, db, op.None{})
		if after := time.Now().In(place).Format(time.DateOnly); err != nil || o.Today.String() != before &&
			o.Today.String() != after {
			t.Errorf("today in %s is %s, not %s: %v", zone, o.Today, before, err)
		}
	}
	o, err := r.Overview(ctx, db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	first := o.Spending.ThisMonth.Start.Time()
	if last := o.Spending.LastMonth.End.Time(); !last.Equal(first.AddDate(0, 0, -1)) ||
		o.Spending.ThisMonth.End.Time() != first.AddDate(0, 1, -1) ||
		o.Spending.LastMonth.Start.Time() != first.AddDate(0, -1, 0) {
		t.Fatalf("months: %+v", o.Spending)
	}
	err = db.InTx(ctx, func(tx pg.Tx) error {
		accounts, err := account.New(db).AddAccounts(ctx, tx, []account.Incoming{
			{
				Provider: "csv", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository", Currency: "EUR",
				BalanceCurrent: new(money.MustParse("1000.10")),
			},
			{
				Provider: "csv", ProviderID: "b", Name: text.Name("Card"), Type: "credit", Currency: "EUR",
				BalanceCurrent: new(money.MustParse("250.20")),
			},
			{
				Provider: "csv", ProviderID: "c", Name: text.Name("Dollars"), Type: "depository", Currency: "USD",
				BalanceCurrent: new(money.MustParse("5.00")),
			},
			{Provider: "csv", ProviderID: "d", Name: text.Name("Unknown"), Type: "depository", Currency: "GBP"},
		})
		if err != nil {
			return err
		}
		row := func(n string, at int, day time.Time, amount string) ledger.Incoming {
			return ledger.Incoming{
				AccountID: accounts[at], ProviderID: n, Date: pg.Day(day),
				Amount: money.MustParse(amount), Currency: []money.Currency{"EUR", "EUR", "USD"}[at],
				Name: text.Name("SHOP"),
			}
		}
		_, err = books.Load(ctx, tx, slices.Values([]ledger.Incoming{
			row("1", 0, first, "10.00"), row("2", 1, first, "5.55"), row("3", 0, first, "-100.00"),
			row("4", 2, first, "7.00"),
			row("5", 0, first.AddDate(0, 0, -1), "20.00"), row("6", 0, first.AddDate(0, -1, 0), "1.00"),
			row("7", 0, first.AddDate(0, -1, -1), "999.00"),
		}))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = r.Overview(ctx, db, op.None{}); err != nil {
		t.Fatal(err)
	}
	show := func(m Month) (out []string) {
		for _, x := range m.Totals {
			out = append(out, string(x.Currency)+" "+x.MoneyIn.String()+" "+x.MoneyOut.String()+" "+x.Net.String())
		}
		slices.Sort(out)
		return out
	}
	if got := show(o.Spending.ThisMonth); !slices.Equal(got,
		[]string{"EUR 100.00 15.55 84.45", "USD 0.00 7.00 -7.00"}) {
		t.Errorf("this month: %q", got)
	}
	if got := show(o.Spending.LastMonth); !slices.Equal(got, []string{"EUR 0.00 21.00 -21.00"}) {
		t.Errorf("last month: %q", got)
	}
	tag := func(sql string) int64 {
		t.Helper()
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
		now, err := r.Overview(ctx, db, op.None{})
		if err != nil {
			t.Fatal(err)
		}
		return now.Review.Count
	}
	if n := tag(`insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, t.provider_id <> '1', 'rule' from transaction t, tag g
		where g.slug = 'needs-review'`); n != 6 {
		t.Errorf("%d wait for review, not 6", n)
	}
	if n := tag(`update transaction set deleted_at = now() where provider_id in ('1', '2')`); n != 5 {
		t.Errorf("%d wait for review once one of them is deleted, not 5", n)
	}
	if p, err := r.Pulse(ctx, db, op.None{}); err != nil || p.ReviewCount != 5 {
		t.Errorf("the pulse counts %d reviews, not 5: %v", p.ReviewCount, err)
	}
	if n := tag(`update transaction t set excluded = true, linked_id = o.id from transaction o
		where t.provider_id = '3' and o.provider_id = '4'`); n != 4 {
		t.Errorf("%d wait for review once one of them duplicates another, not 4", n)
	}
	if n := tag(`update transaction t set transfer = true, linked_id = o.id, excluded = false from transaction o
		where t.provider_id = '3' and o.provider_id = '4'`); n != 5 {
		t.Errorf("%d wait for review if one of them is a transfer, not 5", n)
	}
	for most, want := range map[int64]int64{4: 4, 5: 5, 6: 5} {
		if n, err := Reviews(ctx, db, most); err != nil || n != want {
			t.Errorf("up to %d reviews: %d, not %d: %v", most, n, want, err)
		}
	}
	var balances []string
	for _, b := range o.Balances {
		balances = append(balances, string(b.Currency)+" "+b.Assets.String()+" "+b.Debts.String()+" "+b.Net.String())
	}
	if !slices.Equal(balances, []string{"EUR 1000.10 250.20 749.90", "USD 5.00 0.00 5.00"}) {
		t.Errorf("balances: %q", balances)
	}
	tag(`update setting set default_currency = 'USD'`)
	if o, err = r.Overview(ctx, db, op.None{}); err != nil || o.Balances[0].Currency != "USD" || len(o.Balances) != 2 {
		t.Errorf("balances of a household in dollars: %v, %v", o.Balances, err)
	}
}

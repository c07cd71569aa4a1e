package analytics

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

var upcomingToday = pg.Day(time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC))

// made returns a random household: accounts of all kinds, and payments in three currencies. Some
// payments are in another currency than their account.
func made(t *testing.T, r *rand.Rand, series int) ([]recurring.Expected, []account.Account) {
	t.Helper()
	amount := func(most int64) money.Amount {
		a, err := money.FromCents(r.Int64N(2*most) - most)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	currencies := []money.Currency{"EUR", "USD", "JPY"}
	var accounts []account.Account
	for range 1 + r.IntN(6) {
		a := account.Account{
			ID: id.New(), Type: []string{"depository", "credit", "loan", "investment"}[r.IntN(4)],
			Currency: currencies[r.IntN(3)], BalanceMethod: "transactions", Hidden: r.IntN(6) == 0,
		}
		if a.Type == "investment" {
			a.BalanceMethod = "valuations"
		}
		if r.IntN(4) > 0 {
			a.BalanceToday = new(amount(500000))
		}
		if r.IntN(6) == 0 {
			a.ClosedOn = new(pg.Day(upcomingToday.Time().AddDate(0, 0, r.IntN(60)-10)))
		}
		accounts = append(accounts, a)
	}
	var expected []recurring.Expected
	for range series {
		a := accounts[r.IntN(len(accounts))]
		next := pg.Day(upcomingToday.Time().AddDate(0, 0, r.IntN(90)-20))
		one := recurring.Recurring{
			ID: id.New(), AccountID: a.ID, Currency: a.Currency, Amount: amount(90000), NextDate: &next,
			LastDate:   pg.Day(next.Time().AddDate(0, 0, -30)),
			Cadence:    []string{"weekly", "fortnightly", "monthly", "quarterly", "yearly"}[r.IntN(5)],
			Confidence: []string{"high", "medium"}[r.IntN(2)], AmountType: []string{"fixed", "variable"}[r.IntN(2)],
			Usual: new(next.Time().Day()), Transfer: r.IntN(8) == 0,
		}
		if r.IntN(5) == 0 {
			one.Currency = currencies[r.IntN(3)]
		}
		days := one.Expect(upcomingToday, pg.Day(upcomingToday.Time().AddDate(0, 0, 89)))
		if len(days) > 0 {
			expected = append(expected, recurring.Expected{Recurring: one, Days: days})
		}
	}
	return expected, accounts
}

// simulated calculates the result independently, day by day and in whole cents.
func simulated(expected []recurring.Expected, accounts []account.Account) string {
	out := map[string]string{}
	sums := map[string]int64{}
	for _, a := range accounts {
		known := a.BalanceToday != nil && a.BalanceMethod == "transactions"
		sign := int64(1)
		if a.Type == "credit" || a.Type == "loan" {
			sign = -1
		}
		var balance, lowest int64
		on := upcomingToday
		if known {
			balance = sign * a.BalanceToday.Cents()
		}
		seen := false
		for n := range 90 {
			today := pg.Day(upcomingToday.Time().AddDate(0, 0, n))
			for _, e := range expected {
				for _, d := range e.Days {
					late := n == 0 && d.Time().Before(today.Time())
					if e.AccountID != a.ID || a.Hidden || d.String() != today.String() && !late ||
						a.ClosedOn != nil && d.Time().After(a.ClosedOn.Time()) {
						continue
					}
					seen = true
					if !e.Transfer {
						sums[fmt.Sprint(e.Currency, e.Amount.IsNeg())] += e.Amount.Cents()
						sums["count"+string(e.Currency)]++
					}
					certain := !late && e.Confidence == "high" && e.AmountType == "fixed"
					key := fmt.Sprintf("day %s %s %s %v %v", today, e.ID, e.Amount, certain, late)
					out[key] += "x"
					if e.Currency == a.Currency {
						balance -= e.Amount.Cents()
					}
				}
			}
			if n == 0 || balance < lowest {
				lowest, on = balance, today
			}
		}
		if seen {
			out["account "+a.ID.String()] = "unknown"
			if known {
				out["account "+a.ID.String()] = fmt.Sprint(on, " ", sign*lowest)
			}
		}
	}
	return lines(out, sums)
}

func lines(out map[string]string, sums map[string]int64) string {
	var all []string
	for k, v := range out {
		all = append(all, k+": "+v)
	}
	for k, v := range sums {
		if v != 0 {
			all = append(all, fmt.Sprint("sum ", k, " ", v))
		}
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// said returns a result in the same form as simulated.
func said(t *testing.T, u Upcoming) string {
	t.Helper()
	out, sums := map[string]string{}, map[string]int64{}
	cents := func(n money.Total) int64 {
		a, err := n.Amount()
		if err != nil {
			t.Fatal(err)
		}
		return a.Cents()
	}
	for _, d := range u.Days {
		for _, i := range d.Items {
			out[fmt.Sprintf("day %s %s %s %v %v", d.Date, i.RecurringID, i.Amount, i.Certain, i.Due != nil)] += "x"
		}
	}
	for _, a := range u.Accounts {
		out["account "+a.AccountID.String()] = "unknown"
		if a.Lowest != nil {
			out["account "+a.AccountID.String()] = fmt.Sprint(a.Lowest.Date, " ", cents(a.Lowest.Balance))
		}
	}
	for _, s := range u.Totals {
		sums[fmt.Sprint(s.Currency, false)] = cents(s.MoneyOut)
		sums[fmt.Sprint(s.Currency, true)] = -cents(s.MoneyIn)
		sums["count"+string(s.Currency)] = s.Count
		if cents(s.Net) != cents(s.MoneyIn)-cents(s.MoneyOut) {
			t.Errorf("%s: net %s of %s in and %s out", s.Currency, s.Net, s.MoneyIn, s.MoneyOut)
		}
	}
	return lines(out, sums)
}

func TestUpcomingIsWhatDaysComeTo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	caught := 0
	for range 400 {
		expected, accounts := made(t, r, r.IntN(40))
		u, _, err := lookAhead(upcomingToday, expected, accounts)
		if err != nil {
			t.Fatal(err)
		}
		want := simulated(expected, accounts)
		if got := said(t, u); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		// The control: the simulation notices if a payment in another currency is subtracted from
		// an account.
		for i, e := range expected {
			at := slices.IndexFunc(accounts, func(a account.Account) bool { return a.ID == e.AccountID })
			expected[i].Currency = accounts[at].Currency
		}
		if simulated(expected, accounts) != want {
			caught++
		}
	}
	if caught < 100 {
		t.Errorf("only %d households have payments in another currency", caught)
	}
}

// The order of the input does not matter.
func TestUpcomingHasOneOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	expected, accounts := made(t, r, 60)
	first, _, err := lookAhead(upcomingToday, expected, accounts)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		r.Shuffle(len(expected), func(i, j int) { expected[i], expected[j] = expected[j], expected[i] })
		again, _, err := lookAhead(upcomingToday, expected, accounts)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", again.Days) != fmt.Sprintf("%+v", first.Days) ||
			fmt.Sprint(again.Totals) != fmt.Sprint(first.Totals) {
			t.Fatal("another order gives another answer")
		}
	}
}

// With the most recurring payments that a household can have, all weekly for a year, the result has
// a limited size. Its sums still count all payments.
func TestUpcomingIsBounded(t *testing.T) {
	t.Parallel()
	a := account.Account{ID: id.New(), Type: "depository", Currency: "EUR", BalanceMethod: "transactions"}
	a.BalanceToday = new(money.MustParse("1000000.00"))
	until := pg.Day(upcomingToday.Time().AddDate(0, 0, 365))
	var expected []recurring.Expected
	for n := range 2000 {
		next := pg.Day(upcomingToday.Time().AddDate(0, 0, n%7))
		one := recurring.Recurring{
			ID: id.New(), AccountID: a.ID, Currency: "EUR", Amount: money.MustParse("1.00"), NextDate: &next,
			Cadence: "weekly",
		}
		expected = append(expected, recurring.Expected{Recurring: one, Days: one.Expect(upcomingToday, until)})
	}
	for _, most := range []int{upcomingMost, toolUpcomingMost, 1} {
		u, _, err := lookAhead(upcomingToday, expected, []account.Account{a})
		if err != nil {
			t.Fatal(err)
		}
		count := u.Totals[0].Count
		left := u.cut(most)
		var items int64
		for _, d := range u.Days {
			if len(d.Items) == 0 {
				t.Error("a day without payments")
			}
			items += int64(len(d.Items))
		}
		if items != int64(most) || items+left != count || count < 100_000 {
			t.Errorf("%d listed and %d left of %d", items, left, count)
		}
		if got := u.Accounts[0].Lowest.Balance.String(); got != fmt.Sprintf("%d.00", 1000000-count) {
			t.Errorf("the lowest balance is %s", got)
		}
	}
}

// The schema of get_finances lists exactly the views that exist.
func TestEveryViewIsThere(t *testing.T) {
	t.Parallel()
	schema := op.SchemaOf[FinancesRequest]()
	var got []string
	for _, v := range schema.Prop("view").Enum {
		got = append(got, fmt.Sprint(v))
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(views)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

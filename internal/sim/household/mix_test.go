package household_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/sim/household"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *household.Household, rows []household.Transaction) {
		t.Helper()
		pairs := map[int64][]household.Transaction{}
		for _, r := range rows {
			if r.PairID != 0 {
				pairs[r.PairID] = append(pairs[r.PairID], r)
			} else if r.Kind.Paired() || h.Accounts[r.AccountIndex].MirrorOf != household.None {
				t.Fatalf("alone: %s", line(&r))
			}
		}
		for _, p := range pairs {
			if err := paired(h, p); err != nil {
				t.Fatalf("%v: %s%s", err, line(&p[0]), line(&p[len(p)-1]))
			}
		}
	})
}

func paired(h *household.Household, p []household.Transaction) error {
	if len(p) != 2 || p[0].AccountIndex == p[1].AccountIndex || p[1].Date.Sub(p[0].Date) > 72*time.Hour {
		return fmt.Errorf("%d rows, or in one account, or too far apart", len(p))
	}
	if !p[0].Kind.Paired() {
		if h.Accounts[p[1].AccountIndex].MirrorOf != p[0].AccountIndex {
			p[0], p[1] = p[1], p[0]
		}
		if h.Accounts[p[1].AccountIndex].MirrorOf != p[0].AccountIndex || p[0].Amount != p[1].Amount ||
			p[0].Currency != p[1].Currency {
			return fmt.Errorf("not the same money")
		}
		return nil
	}
	exchange := p[0].Kind == household.ExchangeOut || p[0].Kind == household.ExchangeIn
	switch {
	case exchange && (p[0].Currency == p[1].Currency || p[0].Amount.IsNeg() == p[1].Amount.IsNeg()):
		return fmt.Errorf("not an exchange")
	case !exchange && (p[0].Currency != p[1].Currency || p[0].Amount != p[1].Amount.Neg()):
		return fmt.Errorf("does not add up to zero")
	}
	return nil
}

// TestPairedCanFail checks that the check of TestPairs can fail.
func TestPairedCanFail(t *testing.T) {
	t.Parallel()
	h := household.New(household.Options{})
	for r := range h.Transactions() {
		if r.Kind != household.TransferOut {
			continue
		}
		other := r
		other.Kind, other.AccountIndex, other.Amount = household.TransferIn, (r.AccountIndex+1)%len(
			h.Accounts), r.Amount.Neg()
		late, short, alien := other, other, other
		late.Date = late.Date.AddDate(0, 0, 4)
		short.Amount = money.MustParse("-0.01")
		alien.Currency = "USD"
		if err := paired(h, []household.Transaction{r, other}); err != nil {
			t.Fatal(err)
		}
		for _, bad := range [][]household.Transaction{
			{r},
			{r, r},
			{r, late},
			{r, short},
			{r, alien},
			{r, other, other},
		} {
			if paired(h, bad) == nil {
				t.Errorf("accepted: %s%s", line(&bad[0]), line(&bad[len(bad)-1]))
			}
		}
		return
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ *household.Household, rows []household.Transaction) {
		t.Helper()
		bought := map[string]household.Transaction{}
		refunds, full := 0, 0
		for _, r := range rows {
			if (r.Kind == household.Refund) != (r.RefundOf != "") {
				t.Fatal(line(&r))
			}
			if r.RefundOf == "" {
				bought[r.ProviderID] = r
				continue
			}
			of := bought[r.RefundOf]
			if of.ProviderID == "" || of.AccountIndex != r.AccountIndex || of.Name != r.Name || !r.Amount.IsNeg() ||
				r.Amount.Neg().Cmp(of.Amount) > 0 {
				t.Fatalf("%s gives back %s", line(&r), line(&of))
			}
			refunds++
			if r.Amount.Neg() == of.Amount {
				full++
			}
		}
		if len(rows) >= 10_000 && (full*100 < refunds*75 || full == refunds) {
			t.Errorf("%d of %d refunds are full", full, refunds)
		}
	})
}

// TestMix limits the share of each kind of row, in ten thousandths. Rows that follow the calendar
// become rarer as a household has more everyday rows; the other shares stay.
func TestMix(t *testing.T) {
	t.Parallel()
	calendar := []household.Kind{
		household.Salary, household.Freelance, household.Rental, household.Benefit, household.Interest, household.Rent,
		household.Mortgage, household.Utility,
		household.Insurance, household.Childcare, household.Tax, household.Subscription, household.CardPaymentOut,
		household.CardPaymentIn,
		household.LoanPaymentOut, household.LoanPaymentIn, household.ExchangeOut, household.ExchangeIn,
	}
	bounds := map[household.Kind][2]int{
		household.Groceries: {1600, 2400}, household.Bakery: {1100, 1600}, household.Restaurant: {600, 1000},
		household.Tip: {250, 500}, household.Shopping: {1000, 1600},
		household.Online: {300, 600}, household.Health: {200, 400}, household.Leisure: {250, 450},
		household.Transport: {450, 750}, household.Fuel: {120, 280},
		household.Travel: {50, 150}, household.Donation: {20, 60}, household.Invoice: {30, 90},
		household.Peer: {110, 230}, household.ATM: {90, 180},
		household.Foreign: {450, 850}, household.Fee: {80, 200}, household.Refund: {70, 160},
		household.TransferOut: {90, 350}, household.TransferIn: {90, 350},
	}
	for _, c := range []struct {
		options  household.Options
		calendar [2]int
	}{
		{household.Options{Seed: 5}, [2]int{1100, 1800}},
		{household.Options{Seed: 8, Transactions: 200_000, Years: 10}, [2]int{150, 300}},
	} {
		count := map[household.Kind]int{}
		for r := range household.New(c.options).Transactions() {
			count[r.Kind]++
		}
		rows := household.New(c.options).Options.Transactions
		standing := 0
		for _, k := range household.Kinds() {
			if slices.Contains(calendar, k) {
				standing += count[k]
				if count[k] == 0 {
					t.Errorf("%d rows: no %s", rows, k)
				}
				continue
			}
			if n := count[k] * 10_000 / rows; n < bounds[k][0] || n > bounds[k][1] {
				t.Errorf("%d rows: %s has %d in ten thousand, not %v", rows, k, n, bounds[k])
			}
		}
		if n := standing * 10_000 / rows; n < c.calendar[0] || n > c.calendar[1] {
			t.Errorf("%d rows: the calendar has %d in ten thousand, not %v", rows, n, c.calendar)
		}
	}
}

// TestLongTail checks the names for benchmarks of text search and rules: some thousands occur
// repeatedly, and one row in twenty has a name that occurs once.
func TestLongTail(t *testing.T) {
	t.Parallel()
	const rows = 300_000
	count := map[[2]string]int{}
	for r := range household.New(household.Options{Seed: 9, Transactions: rows, Years: 10}).Transactions() {
		count[[2]string{r.Name.Plain(), r.MerchantName.Plain()}]++
	}
	once := 0
	for _, n := range count {
		if n == 1 {
			once++
		}
	}
	if again := len(count) - once; again < 3_000 || again > 12_000 {
		t.Errorf("%d names come again", again)
	}
	if once < rows*4/100 || once > rows*7/100 {
		t.Errorf("%d names come once", once)
	}
}

func TestMonthlyRows(t *testing.T) {
	t.Parallel()
	h := household.New(household.Options{})
	salaries := map[int]map[int]map[money.Amount]bool{} // by account and year
	prices := map[string]map[money.Amount]bool{}
	months := map[time.Time]int{}
	for r := range h.Transactions() {
		switch r.Kind {
		case household.Salary:
			if d := r.Date.Weekday(); d == time.Saturday || d == time.Sunday {
				t.Errorf("paid on %s", r.Date.Format(time.DateOnly))
			}
			if r.Amount.Cents() > -2_000_00 {
				continue // the bonus in November
			}
			year := salaries[r.AccountIndex]
			if year == nil {
				year = map[int]map[money.Amount]bool{}
				salaries[r.AccountIndex] = year
			}
			if year[r.Date.Year()] == nil {
				year[r.Date.Year()] = map[money.Amount]bool{}
			}
			year[r.Date.Year()][r.Amount] = true
			months[r.Date.AddDate(0, 0, 1-r.Date.Day())]++
		case household.Subscription:
			if prices[r.Name.Plain()] == nil {
				prices[r.Name.Plain()] = map[money.Amount]bool{}
			}
			prices[r.Name.Plain()][r.Amount] = true
		}
	}
	if len(salaries) != 2 || len(months) != 36 {
		t.Errorf("%d earners in %d months", len(salaries), len(months))
	}
	for account, years := range salaries {
		all := map[money.Amount]bool{}
		for year, amounts := range years {
			for a := range amounts {
				all[a] = true
			}
			if len(amounts) != 1 {
				t.Errorf("account %d has %d salaries in %d", account, len(amounts), year)
			}
		}
		if len(all) != len(years) {
			t.Errorf("account %d: %d salaries in %d years", account, len(all), len(years))
		}
	}
	if len(prices["NETFLIX.COM"]) < 2 || len(prices["APPLE.COM/BILL"]) != 1 {
		t.Errorf("prices changed %d and %d times", len(prices["NETFLIX.COM"])-1, len(prices["APPLE.COM/BILL"])-1)
	}
}

// TestAccountsStayAfloat checks that an ordinary household does not spend more than it earns, so that
// its past balances are plausible.
func TestAccountsStayAfloat(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		h := household.New(household.Options{Seed: seed})
		rows := slices.Collect(h.Transactions())
		slices.Reverse(rows)
		balances := make([]int64, len(h.Accounts))
		for i, a := range h.Accounts {
			if a.Current != nil {
				balances[i] = a.Current.Cents()
			}
		}
		for _, r := range rows {
			if h.Accounts[r.AccountIndex].Type != "depository" {
				continue
			}
			balances[r.AccountIndex] += r.Amount.Cents()
			if balances[r.AccountIndex] < -500_00 || balances[r.AccountIndex] > 80_000_00 {
				t.Fatalf("seed %d: account %d had %d cents on %s", seed, r.AccountIndex, balances[r.AccountIndex],
					r.Date.Format(time.DateOnly))
			}
		}
	}
}

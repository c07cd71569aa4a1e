package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"coffer/internal/money"
)

func TestParseCurrency(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"EUR", "USD", "XXX", "ABC"} {
		if c, err := money.ParseCurrency(s); err != nil || string(c) != s {
			t.Errorf("%s: %q, %v", s, c, err)
		}
		var c money.Currency
		if err := json.Unmarshal([]byte(`"`+s+`"`), &c); err != nil || string(c) != s {
			t.Errorf("%s from JSON: %q, %v", s, c, err)
		}
	}
	for _, s := range []string{"", "EU", "EURO", "eur", "E R", "EU1", "ÉUR", "EU\x00"} {
		if c, err := money.ParseCurrency(s); !errors.Is(err, money.ErrCurrency) || c != "" {
			t.Errorf("%q: %q, %v", s, c, err)
		}
	}
	var c money.Currency
	if err := json.Unmarshal([]byte(`"eur"`), &c); !errors.Is(err, money.ErrCurrency) {
		t.Errorf("from JSON: %q, %v", c, err)
	}
}

func TestMoneyAdd(t *testing.T) {
	t.Parallel()
	of := func(amount, currency string) money.Money {
		return money.Money{Amount: money.MustParse(amount), Currency: money.Currency(currency)}
	}
	for _, c := range []struct {
		a, b money.Money
		want string
		err  error
	}{
		{of("1.50", "EUR"), of("-0.75", "EUR"), "0.75 EUR", nil},
		{of("9999999999.98", "EUR"), of("0.01", "EUR"), "9999999999.99 EUR", nil},
		{of("9999999999.99", "EUR"), of("0.01", "EUR"), "", money.ErrRange},
		{of("1", "EUR"), of("1", "USD"), "", money.ErrMixed},
		{of("0", "EUR"), of("0", "USD"), "", money.ErrMixed},
		{of("1", ""), of("1", ""), "", money.ErrCurrency},
		{of("1", "EUR"), of("1", "eur"), "", money.ErrCurrency},
	} {
		got, err := c.a.Add(c.b)
		if !errors.Is(err, c.err) || err == nil && got.String() != c.want {
			t.Errorf("%s + %s = %s, %v; want %s, %v", c.a, c.b, got, err, c.want, c.err)
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	var totals money.Totals
	printed := func() string {
		out, err := json.Marshal(totals)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got := printed(); got != "{}" {
		t.Errorf("empty totals print as %s", got)
	}
	for _, m := range []money.Money{
		{Amount: money.MustParse("5"), Currency: "USD"},
		{Amount: money.MustParse("12.50"), Currency: "EUR"},
		{Amount: money.MustParse("-8"), Currency: "USD"},
		{Amount: money.MustParse("0"), Currency: "CHF"},
	} {
		if err := totals.Add(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := totals.Add(money.Money{Amount: money.MustParse("1")}); !errors.Is(err, money.ErrCurrency) {
		t.Errorf("an amount without currency: %v", err)
	}
	if got, want := printed(), `{"CHF":0.00,"EUR":12.50,"USD":-3.00}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !totals.In("JPY").IsZero() || slices.Contains(totals.Currencies(), "JPY") {
		t.Error("asking for a currency added it")
	}
	none := totals.In("JPY")
	if totals.In("EUR").Cmp(totals.In("USD")) != 1 || totals.In("CHF") != none || !totals.In("CHF").Equal(none) {
		t.Error("comparison")
	}
}

func TestTotalsOverflow(t *testing.T) {
	t.Parallel()
	most := money.Money{Amount: money.MustParse("9999999999.99"), Currency: "VND"}
	var totals money.Totals
	for range 1_000_000 {
		if err := totals.Add(most); err != nil {
			t.Fatal(err)
		}
	}
	full := totals.In("VND")
	if full.String() != "9999999999990000.00" {
		t.Errorf("a million times the largest amount is %s", full)
	}
	if err := totals.Add(most); !errors.Is(err, money.ErrRange) || totals.In("VND") != full {
		t.Errorf("once more: %v, %s", err, totals.In("VND"))
	}
}

// TestTotalsProperty compares with sums of whole cents in big.Int, a way of adding that shares
// nothing with ours.
func TestTotalsProperty(t *testing.T) {
	t.Parallel()
	moneys := rapid.Custom(func(t *rapid.T) money.Money {
		return money.Money{
			Amount:   amounts().Draw(t, "amount"),
			Currency: rapid.SampledFrom([]money.Currency{"EUR", "USD", "JPY"}).Draw(t, "currency"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var totals money.Totals
		want := map[money.Currency]*big.Int{}
		list := rapid.SliceOfN(moneys, 0, 200).Draw(t, "list")
		for _, m := range list {
			if err := totals.Add(m); err != nil {
				t.Fatal(err)
			}
			if want[m.Currency] == nil {
				want[m.Currency] = new(big.Int)
			}
			want[m.Currency].Add(want[m.Currency], big.NewInt(m.Amount.Cents()))
		}
		if got := totals.Currencies(); len(got) != len(want) || !slices.IsSorted(got) {
			t.Fatalf("currencies %v, want %d of them", got, len(want))
		}
		for c, cents := range want {
			if got := totals.In(c).String(); got != new(big.Rat).SetFrac(cents, big.NewInt(100)).FloatString(2) {
				t.Fatalf("%s: %s, want %s cents", c, got, cents)
			}
		}
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			if sum, err := a.Add(b); a.Currency != b.Currency &&
				(!errors.Is(err, money.ErrMixed) || sum != (money.Money{})) {
				t.Fatalf("%s + %s = %s, %v", a, b, sum, err)
			}
		}
	})
}

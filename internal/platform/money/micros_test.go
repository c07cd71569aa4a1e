package money_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coffer/internal/platform/money"
)

func TestMicrosText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		micros money.Micros
		print  string
	}{
		"0":                   {0, "0.00"},
		"15":                  {15_000_000, "15.00"},
		"15.00":               {15_000_000, "15.00"},
		"0.075":               {75_000, "0.075"},
		"0.000001":            {1, "0.000001"},
		"3.1":                 {3_100_000, "3.10"},
		"007.5":               {7_500_000, "7.50"},
		"999999999999.999999": {999_999_999_999_999_999, "999999999999.999999"},
	} {
		got, err := money.ParseMicros(text)
		if err != nil || got != want.micros || got.String() != want.print {
			t.Errorf("%s: %d %s (%v)", text, got, got, err)
		}
		printed, err := json.Marshal(got)
		var again money.Micros
		if err != nil || string(printed) != want.print || json.Unmarshal(printed, &again) != nil || again != got {
			t.Errorf("%s in JSON: %s, read again %d (%v)", text, printed, again, err)
		}
	}
	for text, want := range map[string]error{
		"": money.ErrMicros, ".5": money.ErrMicros, "1.": money.ErrMicros, "-1": money.ErrMicros, "+1": money.ErrMicros,
		"1e3": money.ErrMicros, "0.0000001": money.ErrMicros, "1,5": money.ErrMicros, "\t1": money.ErrMicros,
		"null": money.ErrMicros, `"1"`: money.ErrMicros, "1000000000000": money.ErrMicrosRange,
		"99999999999999999999999999": money.ErrMicrosRange,
	} {
		if got, err := money.ParseMicros(text); !errors.Is(err, want) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	if got := money.Micros(-1_500_000).String(); got != "-1.50" {
		t.Errorf("a difference: %s", got)
	}
}

func TestMicrosSums(t *testing.T) {
	t.Parallel()
	const most = money.Micros(1e18 - 1)
	if got, err := money.Micros(1).Add(2); err != nil || got != 3 {
		t.Errorf("%d %v", got, err)
	}
	if got, err := (most - 1).Add(1); err != nil || got != most {
		t.Errorf("%d %v", got, err)
	}
	for _, c := range [][2]money.Micros{{most, 1}, {most, most}, {math.MaxInt64, 1}, {1, -1}, {-1, 1}} {
		if got, err := c[0].Add(c[1]); !errors.Is(err, money.ErrMicrosRange) {
			t.Errorf("%d + %d: %d, %v", c[0], c[1], got, err)
		}
	}
}

// A cost is the exact product, rounded up to a millionth of a dollar. The test compares it with a
// division of big numbers, for any price and number of tokens.
func TestMicrosCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		price string
		n     int64
		want  string
	}{
		{"15.00", 1_000_000, "15.00"},
		{"15", 1, "0.000015"},
		{"0.075", 1, "0.000001"},  // 0.000000075
		{"0.075", 40, "0.000003"}, // exact
		{"0.075", 41, "0.000004"}, // 0.000003075
		{"3", 0, "0.00"},
		{"0", 1_000_000, "0.00"},
	} {
		price, err := money.ParseMicros(c.price)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := price.Cost(c.n); err != nil || got.String() != c.want {
			t.Errorf("%d at %s: %s (%v), want %s", c.n, c.price, got, err, c.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 100_000 {
		price := random.Int64() >> random.IntN(63)
		n := random.Int64() >> random.IntN(63)
		want := new(big.Int).Mul(big.NewInt(price), big.NewInt(n))
		want.Div(want.Add(want, big.NewInt(999_999)), big.NewInt(1_000_000))
		got, err := money.Micros(price).Cost(n)
		if want.Cmp(big.NewInt(1e18-1)) > 0 {
			refused++
			if !errors.Is(err, money.ErrMicrosRange) {
				t.Fatalf("%d at %d: %d (%v), want %s refused", n, price, got, err, want)
			}
			continue
		}
		if err != nil || want.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%d at %d: %d (%v), want %s", n, price, got, err, want)
		}
	}
	if refused == 0 || refused == 100_000 {
		t.Errorf("%d were too large, so the test proves nothing", refused)
	}
	if _, err := money.Micros(1).Cost(-1); err == nil {
		t.Error("a negative number of tokens has a cost")
	}
}

package money

import (
	"encoding/json"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestRates(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1.0825": "1.0825", "1": "1.0", "0.000000001": "0.000000001", "999999999.999999999": "999999999.999999999",
		"0": "", "0.000": "", "-1": "", "1.": "", ".5": "", "1.0000000001": "", "1e3": "", "1000000000": "", "": "",
		"1.25e-7": "0.000000125", "1E-9": "0.000000001", "1e-0": "1.0", "5e-1": "0.5", "1.5e-9": "", "1e-10": "", "e-3": "",
		"1.e-3": "", "12e-3": "", "1e--3": "", "1e-": "", "-1e-3": "", "0e-3": "",
	} {
		r, err := ParseRate(in)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%q: %s, %v", in, r, err)
		}
		if err != nil {
			continue
		}
		n, err := r.NumericValue()
		var back, read Rate
		if err != nil || back.ScanNumeric(n) != nil || back != r {
			t.Errorf("%s was stored as %s, %v", r, back, err)
		}
		if printed, err := json.Marshal(r); err != nil || json.Unmarshal(printed, &read) != nil || read != r {
			t.Errorf("%s was printed as %s, %v", r, printed, err)
		}
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sum, rate, times, over string }{
		{"100.00", "1.0825", "108.25", "92.38"},
		{"-100.00", "1.0825", "-108.25", "-92.38"},
		{"0.01", "0.5", "0.01", "0.02"}, // half a cent, away from zero
		{"-0.01", "0.5", "-0.01", "-0.02"},
		{"0.01", "0.499999999", "0.00", "0.02"},
		{"0.00", "3", "0.00", "0.00"},
	} {
		r, err := ParseRate(c.rate)
		if err != nil {
			t.Fatal(err)
		}
		s := MustParse(c.sum).Total().In("EUR")
		times, err := s.Times(r)
		if err != nil || times.String() != c.times {
			t.Errorf("%s × %s = %s, %v", c.sum, c.rate, times, err)
		}
		if over, err := s.Over(r); err != nil || over.String() != c.over {
			t.Errorf("%s ÷ %s = %s, %v", c.sum, c.rate, over, err)
		}
	}
	most, err := newTotal(maxTotal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := most.In("EUR").Times(2 * billion); err == nil {
		t.Error("too large, and no error")
	}
	if _, err := most.In("EUR").Itself().Plus(most.In("EUR").Itself()); err == nil {
		t.Error("too large, and no error")
	}
}

// A product is the exact one, rounded by at most half a cent.
func TestConvertIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(-1e12+1, 1e12-1).Draw(t, "cents")
		r := Rate(rapid.Int64Range(1, 1e12).Draw(t, "rate"))
		a, err := FromCents(cents)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Total().In("EUR").Times(r)
		if err != nil {
			t.Fatal(err)
		}
		off := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(got.cents), big.NewInt(billion)),
			new(big.Int).Mul(big.NewInt(cents), big.NewInt(int64(r))))
		if off.Abs(off).Cmp(big.NewInt(billion/2)) > 0 {
			t.Fatalf("%d × %s = %s, off by %s", cents, r, got, off)
		}
	})
}

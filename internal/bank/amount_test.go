package bank_test

import (
	"testing"

	"coffer/internal/bank"
)

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		`72.1`: "72.10", `0.30`: "0.30", `-0.1`: "-0.10", `1e3`: "1000.00", `1E+3`: "1000.00", `1.25e1`: "12.50",
		`125e-1`: "12.50",
		`5e-2`:   "0.05", `12.000`: "12.00", `"12.340"`: "12.34", `-0`: "0.00", `-0.0e5`: "0.00",
		`9999999999.99`:       "9999999999.99",
		`0.30000000000000000`: "0.30", "\t7\n": "7.00", `"-42.47"`: "-42.47",
	} {
		got, err := bank.ParseAmount([]byte(token))
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v; want %s", token, got, err, want)
		}
	}
	for _, token := range []string{
		``, `null`, `true`, `""`, `"`, `0.30000000000000004`, `1e-3`, `1e11`, `1e99999999999999999999`, `1e400000000`,
		`NaN`, `Infinity`, `0x10`,
		`1_000`, `"1,000.00"`, `12.`, `.5`, `--1`, `"+1"`, `1e`, `[1]`, `10000000000`, `"$1"`, `1.2.3`,
	} {
		if got, err := bank.ParseAmount([]byte(token)); err == nil {
			t.Errorf("%s: got %s, want an error", token, got)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{`72.1`, `"1e3"`, `-0.00`, `1e-30`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		a, err := bank.ParseAmount(token)
		if err != nil {
			return
		}
		if again, err := bank.ParseAmount([]byte(a.String())); err != nil || again != a {
			t.Errorf("%q: %s is not what it prints", token, a)
		}
	})
}

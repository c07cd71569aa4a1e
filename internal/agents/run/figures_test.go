package run

import (
	"slices"
	"strings"
	"testing"
)

// Figures returns exactly the numbers of a message that do not occur in the given data.
func TestFigures(t *testing.T) {
	t.Parallel()
	given := []string{
		`{"total":"-1234.50","count":17,"date":"2026-11-09","share":0.125,"id":"a8Kd93xQ","month":"2026-10"}`,
		"Today is Monday, 2026-11-16 (Europe/Berlin).",
	}
	for message, want := range map[string][]string{
		"":                                    nil,
		"You spent 1234.50 EUR in 17 charges": nil,
		"You spent 1,234.50 in 17 charges":    nil,
		"You spent 1.234,50 € (−1234,5)":      nil,
		"1\u202f234,50 EUR, EUR1234.5":        nil,
		"On 9 November 2026, 09.11.2026":      nil,
		"1. First\n2) Second\n 3. Third 17":   nil,
		"the id a8Kd93xQ and Q3":              nil,
		"12 % more than 18 charges":           {"12 %", "18"},
		"12% more, 12 % again":                {"12 %"},
		"1.2k and 17k":                        {"1.2k", "17k"},
		"1234.51":                             {"1234.51"},
		"1234":                                {"1234"},
		"0.125 and 12.5 %":                    {"12.5 %"},
		"a total of 1251.50":                  {"1251.50"},
		"17 17 17.00 0017":                    nil,
	} {
		if got := Figures(message, given); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q: not found %q, want %q", message, got, want)
		}
	}
	if got := Figures("1 234,50", given); !slices.Equal(got, []string{"1", "234,50"}) {
		t.Errorf("two numbers: %q", got)
	}
	if got := Traced("All is well.\n", given); got != "All is well.\n" {
		t.Errorf("a message without numbers became %q", got)
	}
	got := Traced("It was 99.\n", given)
	if !strings.HasPrefix(got, "It was 99.\n\n---\n\n") || !strings.Contains(got, "**Not found in the data:** 99.") {
		t.Errorf("traced: %q", got)
	}
	many := strings.Repeat("x ", 3)
	for i := range 60 {
		many += " " + strings.Repeat("7", i+2)
	}
	if got := Traced(many, nil); strings.Count(got, " · ") != maxNamed-1 || !strings.Contains(got, " and more") {
		t.Errorf("many: %q", got)
	}
}

package linksession

import "testing"

// A bank is found by words of its name, in the spellings that people type.
func TestBankIsCalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, search string
		want         bool
	}{
		{"Förde Sparkasse", "förde", true},
		{"Förde Sparkasse", "SPARK ford", true},
		{"Förde Sparkasse", "foerde", true},
		{"Foerde Sparkasse", "förde", true},
		{"Crédit Agricole", "credit", true},
		{"Neue Bank", "neue", true},
		{"Bank of Queensland", "quee", true},
		{"Förde Sparkasse", "forte", false},
		{"Förde Sparkasse", "förde bank", false},
		{"Nordbank", "", true},
	} {
		if got := called(c.name, c.search); got != c.want {
			t.Errorf("%q is called %q: %v", c.name, c.search, got)
		}
	}
}

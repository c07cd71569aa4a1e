package rule_test

import (
	"slices"
	"testing"

	"coffer/internal/rule"
)

// A recent rule skips history, with the index and without, and other rules are not affected.
func TestRecentRulesPassOverHistory(t *testing.T) {
	t.Parallel()
	set := rule.Compile([]rule.Rule{
		{Priority: 1, Trigger: rule.Always, Recent: true}, {Priority: 2, Trigger: rule.Always},
	})
	for history, want := range map[bool][]int{false: {0, 1}, true: {1}} {
		d := rule.Draft{Facts: rule.Facts{Name: "Shop", History: history}}
		if got := set.Match(&d, rule.AllFields, nil); !slices.Equal(got, want) {
			t.Errorf("history %t: %v match, want %v", history, got, want)
		}
		if got := set.Match(&d, rule.NameFields, nil); !slices.Equal(got, want) {
			t.Errorf("history %t, by name: %v match, want %v", history, got, want)
		}
		if got := set.Run(&d, rule.Pass{}).Hits; !slices.Equal(got, want) {
			t.Errorf("history %t: %v run, want %v", history, got, want)
		}
	}
}

package engine_test

import (
	"slices"
	"testing"

	"coffer/internal/rules/engine"
)

// A recent rule ignores history, with and without the index. Other rules are not affected.
func TestRecentRulesPassOverHistory(t *testing.T) {
	t.Parallel()
	set := engine.Compile([]engine.Rule{
		{Priority: 1, Trigger: engine.Always, Recent: true}, {Priority: 2, Trigger: engine.Always},
	})
	for history, want := range map[bool][]int{false: {0, 1}, true: {1}} {
		d := engine.Draft{Facts: engine.Facts{Name: "Shop", History: history}}
		if got := set.Match(&d, engine.AllFields, nil); !slices.Equal(got, want) {
			t.Errorf("history %t: %v match, want %v", history, got, want)
		}
		if got := set.Match(&d, engine.NameFields, nil); !slices.Equal(got, want) {
			t.Errorf("history %t, by name: %v match, want %v", history, got, want)
		}
		if got := set.Run(&d, engine.Pass{}).Hits; !slices.Equal(got, want) {
			t.Errorf("history %t: %v run, want %v", history, got, want)
		}
	}
}

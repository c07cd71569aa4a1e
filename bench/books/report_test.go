package main

import (
	"strings"
	"testing"
)

// TestMissedGoalsAreNamed: the error for missed goals names each missed goal with its figure, for
// every kind of goal. It does not name goals that were met.
func TestMissedGoalsAreNamed(t *testing.T) {
	t.Parallel()
	of := func(name, goal string, coffer, bare figure, r result) *result {
		r.Name, r.Goal, r.Coffer, r.Bare = name, goal, []figure{coffer}, []figure{bare}
		r.settle()
		return &r
	}
	fast, slow := figure{Both: 1, PerSecond: 100}, figure{Both: 3, PerSecond: 50}
	met := []*result{
		of("met by ratio", "≤ 1.5×", fast, fast, result{most: 1.5}),
		of("met by time", "≤ 2 ms", fast, fast, result{ms: 2}),
		of("met by rate", "≥ 60 %", fast, fast, result{most: 0.6, rate: true}),
	}
	if err := (&report{Results: met}).missed(); err != nil {
		t.Error(err)
	}
	err := (&report{Results: append(met,
		of("a ratio", "≤ 1.5×", slow, fast, result{most: 1.5}),
		of("a time", "≤ 2 ms", slow, fast, result{ms: 2}),
		of("a rate", "≥ 60 %", slow, fast, result{most: 0.6, rate: true}))}).missed()
	if err == nil {
		t.Fatal("nothing was missed")
	}
	for _, want := range []string{
		"a ratio: 3.00×, the goal is ≤ 1.5×", "a time: 3 ms, the goal is ≤ 2 ms", "a rate: 50 %, the goal is ≥ 60 %",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if strings.Contains(err.Error(), "met by") {
		t.Error(err)
	}
}

package main

import (
	"strings"
	"testing"
	"time"
)

// TestReport: the report detects a growing figure, and accepts one that only goes up and down.
func TestReport(t *testing.T) {
	t.Parallel()
	hour := func(change func(at float64, s *sample)) []sample {
		var all []sample
		for i := range 200 {
			at := float64(i) / 200
			s := sample{at: time.Duration(at * float64(time.Hour)), memory: 50 << 20, goroutines: 60, handles: 20}
			if i%2 == 0 {
				s.memory, s.goroutines, s.handles = 52<<20, 70, 24
			}
			change(at, &s)
			all = append(all, s)
		}
		return all
	}
	for name, c := range map[string]struct {
		change func(at float64, s *sample)
		broken int64
		row    string // the row that contains MISSED
	}{
		"steady":                    {change: func(float64, *sample) {}},
		"memory before the warm-up": {change: func(at float64, s *sample) { s.memory *= min(1, 0.5+4*at) }},
		"memory": {
			change: func(at float64, s *sample) { s.memory *= 1 + 0.02*at },
			row:    "memory, %/h",
		},
		"goroutines": {
			change: func(at float64, s *sample) { s.goroutines += 100 * at },
			row:    "goroutines",
		},
		"descriptors": {change: func(at float64, s *sample) { s.handles += 50 * at }, row: "descriptors"},
		"a 500":       {change: func(float64, *sample) {}, broken: 1, row: "answers of 5xx"},
	} {
		h := &house{}
		h.syncs.Store(1)
		h.turns.Store(1)
		h.broken.Store(c.broken)
		var out strings.Builder
		err := h.report(&out, hour(c.change), 15*time.Minute)
		if (err != nil) != (c.row != "") {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if missed := c.row != "" && strings.Contains(line, c.row); missed != strings.Contains(line, "MISSED") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

package app_test

import (
	"strings"
	"testing"

	"coffer/internal/app"
)

// TestTranscriptForPeople: on a terminal a line of a transcript is short. Prompts are cut, because
// every sheet repeats them, and rows are counted.
func TestTranscriptForPeople(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"kind":"system","text":"` + strings.Repeat("Decide. ", 100) + `"}`: "Decide. Decide.",
		`{"kind":"definition","definition":{"name":"Review","model":"m"}}`:   "Review, asking m",
		`{"kind":"worklist","rows":[["a"],["b","c"]]}`:                       "2 rows to decide",
		`{"kind":"decided","rows":[{"row":1,"outcome":"planned"},{"row":2,"outcome":"unsure"},` +
			`{"row":3,"outcome":"planned"}]}`: "2 planned, 1 unsure",
		`{"kind":"assistant","text":"red \u001b[31m"}`: "red",
	} {
		got := app.Spoken([]byte(line))
		if !strings.Contains(got, want) || len(got) > 220 || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", line, got)
		}
	}
}

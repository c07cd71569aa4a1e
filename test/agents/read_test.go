package agents_test

import (
	"slices"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/sim/models"
)

// TestReadingRun: the model calls a tool, reads its result and ends with a message, which becomes
// the report. The service looks for the report's numbers in the tools' results.
func TestReadingRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, models.Sequence(
		models.Use("transaction_summary", map[string]any{"group_by": []string{"category"}}),
		models.Say("Nothing remarkable: 918273.45 went out."),
	))
	got, lines := h.run(reader())
	if got.Status != workflow.Succeeded || got.Turns != 2 || got.Limit != nil {
		t.Fatalf("%+v, error %v; %v", got, deref(got.Error), kinds(lines))
	}
	want := []string{
		"definition", "system", "user", "assistant", "usage", "tool_call", "tool_result", "assistant", "usage", "end",
	}
	if !slices.Equal(kinds(lines), want) {
		t.Errorf("lines %v, want %v", kinds(lines), want)
	}
	if got.Report == nil || *got.Kind != "weekly-digest" || !strings.Contains(*got.Report, "Not found in the data") ||
		!strings.Contains(*got.Report, "918273.45 ") && !strings.Contains(*got.Report, "918273.45.") {
		t.Errorf("report %v", deref(got.Report))
	}
	if got.Cost == nil || *got.Cost <= 0 {
		t.Errorf("cost %v", got.Cost)
	}
	requests := h.sim.Requests()
	if len(requests) != 2 || !strings.Contains(requests[0].System, "household") || len(requests[0].Tools) != 3 {
		t.Errorf("%d requests: %.300v", len(requests), requests)
	}
}

func deref(s *string) string {
	if s == nil {
		return "<nil>"
	}
	return *s
}

package agents_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/sim/models"
)

// TestThroughTheAPI does everything over the API: it configures a model, and creates and runs a
// workflow. The run's report exists, and reverting the run also reverts what the workflow wrote.
func TestThroughTheAPI(t *testing.T) {
	t.Parallel()
	h := ownHouse(t)
	ids := h.ids(3)
	h.sim.Play(models.Sequence(
		models.Use("update_transactions", update(ids, nil)),
		models.Say("Three are filed."),
	))
	h.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI),
		"prices": []any{map[string]any{"model": "sim", "input_usd": "1", "output_usd": "5"}},
	}, nil)
	h.must("agent.update", map[string]any{"default_provider": "openai_compatible", "default_model": "sim"}, nil)
	h.must("workflow.create", map[string]any{
		"slug": "filer", "name": "Filer", "prompt": "File what waits.", "scope": "full_access", "dry_run": false,
		"report": "message", "max_cost_usd": json.Number("0.50"),
	}, nil)
	before := h.hash()
	var run struct {
		ID       string      `json:"id"`
		Status   string      `json:"status"`
		Cost     json.Number `json:"cost_usd"`
		Changes  []string    `json:"changes"`
		ReportID *string     `json:"report_id"`
		Error    any         `json:"error"`
	}
	h.play("filer", &run)
	if run.Status != "succeeded" || len(run.Changes) != 2 || run.ReportID == nil || run.Cost == "" {
		t.Fatalf("%+v", run)
	}
	if h.filed(op.Agent) != 3 {
		t.Errorf("%d have a category", h.filed(op.Agent))
	}
	var report json.RawMessage
	h.must("report.get", map[string]any{"id": *run.ReportID}, &report)
	if !strings.Contains(string(report), "Three are filed.") || !strings.Contains(string(report), `"kind":"filer"`) {
		t.Errorf("report %s", report)
	}
	h.must("workflow-run.revert", map[string]any{"id": run.ID}, nil)
	if h.hash() != before {
		t.Error("reverting the run did not restore the books")
	}
	// One call undoes everything that a workflow did since a time.
	for range 2 {
		h.sim.Play(models.Sequence(
			models.Use("update_transactions", update(ids, nil)),
			models.Say("Filed once more."),
		))
		h.play("filer", nil)
	}
	if h.hash() == before {
		t.Error("two more runs changed nothing")
	}
	h.must("change.undo", map[string]any{"workflow_slug": "filer", "since": "2020-01-01"}, nil)
	if h.hash() != before {
		t.Error("undoing what the workflow did did not restore the books")
	}
	if _, err := h.call("change.undo", map[string]any{"workflow_slug": "nobody", "since": "2020-01-01"}); err == nil {
		t.Error("a workflow that never ran was undone")
	}
}

// TestTimeZoneMovesSchedules: changing the household's time zone also changes the next start of its
// workflows.
func TestTimeZoneMovesSchedules(t *testing.T) {
	t.Parallel()
	h := ownHouse(t)
	next := func(name string, args map[string]any) time.Time {
		t.Helper()
		answer, err := h.call(name, args)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var w struct {
			Next time.Time `json:"next_run_at"`
		}
		if err := json.Unmarshal(answer.Body, &w); err != nil {
			t.Fatal(err)
		}
		return w.Next
	}
	next("model.set", map[string]any{"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI)})
	next("setting.update", map[string]any{"time_zone": "Europe/Berlin"})
	next("workflow.create", map[string]any{
		"slug": "early", "name": "Early", "prompt": "Look.", "scope": "read_only", "trigger": "schedule",
		"schedule": "15 6 * * *", "provider": "openai_compatible", "model": "sim",
	})
	next("workflow.enable", map[string]any{"slug": "early"})
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Asia/Kathmandu"} {
		next("setting.update", map[string]any{"time_zone": zone})
		in, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		if at := next("workflow.get", map[string]any{"slug": "early"}); at.In(in).Format("15:04") != "06:15" ||
			time.Until(at) > 25*time.Hour {
			t.Errorf("in %s it starts at %s", zone, at.In(in))
		}
	}
}

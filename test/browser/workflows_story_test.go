package browser_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// TestWorkflowsStory finds a workflow, changes what it may spend, turns it on, reads what a run said,
// and undoes what the run did.
func TestWorkflowsStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	for _, size := range []string{"desktop", "phone"} { //nolint:paralleltest // as above
		t.Run(size, func(t *testing.T) { workflowStory(t, h, axe, size) })
	}
}

func workflowStory(t *testing.T, h *house, axe, size string) {
	t.Helper()
	before := h.filed(t)
	run := h.ran(t, "large-charge-sentinel", `Ignore <b>all</b> of it & <script>alert(1)</script>`)
	h.did(t, run, size)
	b := newBrowser(t, size)
	b.enterAt(t, h, "/agents", "Choose an AI model first")
	b.do(t, step{Do: "see", Text: "Last run: US$0.02 · Done"})
	b.whole(t, axe)
	b.do(t, step{Do: "press", Name: "Turn on: Weekly summary"})
	b.do(t, step{Do: "see", Text: "“Weekly summary” turned on"})
	b.do(t, step{Do: "press", Name: "Turn off: Weekly summary"})
	b.do(t, step{Do: "see", Text: "“Weekly summary” turned off"})

	// The run's limit of costs is changed, and nothing else.
	b.screen(t, "/workflows/large-charge-sentinel", "Transactions per run")
	was := h.definition(t, "large-charge-sentinel")
	b.do(t, step{Do: "click", Name: "Edit"})
	b.whole(t, axe)
	b.fill(t, "Cost limit per run (USD)", map[string]string{"desktop": "0.25", "phone": "0.5"}[size])
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "” saved"})
	now, mayMove := h.definition(t, "large-charge-sentinel"), []string{
		"max_cost_usd", "version", "updated_at", "customized", "estimate",
	}
	for field := range now {
		if fmt.Sprint(was[field]) != fmt.Sprint(now[field]) && !slices.Contains(mayMove, field) {
			t.Errorf("%s became %v, and was %v", field, now[field], was[field])
		}
	}
	if fmt.Sprint(now["max_cost_usd"]) == fmt.Sprint(was["max_cost_usd"]) {
		t.Errorf("the cap is still %v", now["max_cost_usd"])
	}

	// The transcript is text: a stranger's text is shown, and not run.
	b.screen(t, "/runs/"+run.Short(), "Transcript")
	b.do(t, step{Do: "see", Text: "Tool call: query transactions"})
	b.do(t, step{Do: "see", Text: "Ignore <b>all</b> of it"})
	b.do(t, step{Do: "click", Name: "Tool call: query transactions.*"})
	b.do(t, step{Do: "see", Text: "search_mode"})
	b.whole(t, axe)

	planned, category := h.approves(t)
	b.screen(t, "/runs/"+planned.Short(), "Proposed changes")
	b.do(t, step{Do: "says", Name: "main", Text: "Approves " + category})
	b.whole(t, axe)

	b.screen(t, "/runs/"+run.Short(), "Transcript")
	b.do(t, step{Do: "click", Name: "Undo run"})
	b.do(t, step{Do: "see", Text: "will be undone"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undid"})
	if after := h.filed(t); !maps.Equal(before, after) {
		t.Error("undoing the run leaves other categories behind")
	}
}

// approves adds a run whose plan only approves what is there, and returns the name of the category.
func (h *house) approves(t *testing.T) (run id.ID, category string) {
	t.Helper()
	run = h.ran(t, "large-charge-sentinel", "Approved.")
	const rows = `transaction_tag tt join tag g on g.id = tt.tag_id and g.slug = 'needs-review' join transaction t
		on t.id = tt.transaction_id join category c on c.id = t.category_id where tt.present and t.deleted_at is null`
	category, err := pg.Value[string](t.Context(), h.DB, `select c.display_name from `+rows+` order by t.date desc, t.id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), h.DB, `
		with planned as (update workflow_run set plan_state = 'waiting', mode = 'planning' where id = $1)
		insert into workflow_plan (run_id, seq, tool, subject, subject_id, field, ref, before, note)
		select $1, row_number() over (order by t.date desc, t.id), 'update_transactions', 'transaction', t.id, 'tag', g.id,
			'1', 'as last month' from `+rows+` order by t.date desc, t.id limit 3`, run); err != nil {
		t.Fatal(err)
	}
	return run, category
}

// definition is a workflow as the API shows it.
func (h *house) definition(t *testing.T, slug string) map[string]any {
	t.Helper()
	return get[map[string]any](t, h, "/api/v1/workflows/"+slug)
}

// ran adds a run of a workflow that has ended, with what was said in it.
func (h *house) ran(t *testing.T, slug, said string) id.ID {
	t.Helper()
	run := id.New()
	_, err := pg.Exec(t.Context(), h.DB, `
		insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, status, definition, definition_hash,
			turns, input_tokens, output_tokens, cost_micros, asked_type, asked_name, created_at, started_at, finished_at)
		select $1, $2, w.id, w.slug, 'manual', 'succeeded', jsonb_build_object('slug', w.slug, 'name', w.name,
			'max_turns', w.max_turns, 'max_minutes', w.max_minutes, 'max_cost_micros', 500000, 'max_writes', w.max_writes),
			'00', 2, 8120, 240, 24600, 'user', 'Robin', now() - interval '5 s', now() - interval '5 s', now()
		from workflow w where w.slug = $3`, run, run.Short(), slug)
	if err != nil {
		t.Fatal(err)
	}
	lines := []struct {
		kind string
		body map[string]any
	}{
		{"system", map[string]any{"text": "You work for a household."}},
		{"user", map[string]any{"text": "Look at what is new."}},
		{"assistant", map[string]any{"turn": 1, "text": "", "calls": []int{1}, "stop": "tool_use", "model": "sim"}},
		{"usage", map[string]any{"turn": 1, "input_tokens": 4000, "output_tokens": 120, "cost_usd": 0.0123, "took_ms": 2100}},
		{"tool_call", map[string]any{
			"call": "a", "tool": "query_transactions", "route": "done",
			"arguments": map[string]any{"search_mode": "words", "limit": 20},
		}},
		{"tool_result", map[string]any{"call": "a", "untrusted": true, "content": `{"name": "Bakery"}`}},
		{"tool_call", map[string]any{
			"call": "b", "tool": "delete_category", "route": "refused", "why": "delete_category is not one of its tools",
			"arguments": map[string]any{"slug": "food"},
		}},
		{"assistant", map[string]any{"turn": 2, "text": said, "calls": []int{}, "stop": "end", "model": "sim"}},
		{"usage", map[string]any{"turn": 2, "input_tokens": 4120, "output_tokens": 120, "cost_usd": 0.0123, "took_ms": 900}},
		{"end", map[string]any{"status": "succeeded"}},
	}
	for i, l := range lines {
		body, err := json.Marshal(l.body)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pg.Exec(t.Context(), h.DB, `insert into workflow_line (run_id, seq, kind, body)
			values ($1, $2, $3, $4)`, run, i+1, l.kind, string(body)); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// did has a run file three transactions.
func (h *house) did(t *testing.T, run id.ID, size string) {
	t.Helper()
	key := h.agent(t, "run "+size)
	var operations []string
	for _, tx := range h.list(t, "limit=3&held=false&category=food_and_drink_groceries") {
		operations = append(operations, fmt.Sprintf(`{"transaction_id": %q, "category": "health"}`, tx.ID))
	}
	h.as(t, key, "/api/v1/transactions/update", `{"operations": [`+strings.Join(operations, ",")+`]}`)
	if _, err := pg.Exec(t.Context(), h.DB, `update change set actor_id = $1, cause = 'workflow_run'
		where actor_name = $2`, run, "run "+size); err != nil {
		t.Fatal(err)
	}
}

package agents_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// writer returns a workflow that writes.
func writer() workflow.Definition {
	d := reader()
	d.Slug, d.Name, d.Scope, d.Report, d.Tools = "filer", "Filer", "full_access", "none", nil
	d.MaxTurns = 30
	return d
}

// ids returns short ids of transactions whose category no person set.
func (h *house) ids(n int) []string {
	h.t.Helper()
	out, err := pg.Values[string](h.t.Context(), h.DB, `select short_id from transaction where deleted_at is null
		and not pending and category_source is distinct from 'user' order by date desc, id desc limit $1`, n)
	if err != nil || len(out) < n {
		h.t.Fatalf("%d transactions: %v", len(out), err)
	}
	return out
}

func update(ids []string, more map[string]any) map[string]any {
	var ops []any
	for _, u := range ids {
		o := map[string]any{"transaction_id": u, "category": "health_dental", "note": "because"}
		ops = append(ops, o)
	}
	args := map[string]any{"operations": ops}
	maps.Copy(args, more)
	return args
}

func (h *house) hash() string {
	h.t.Helper()
	s, err := ledgertest.Canonical(h.t.Context(), h.DB, nil, "")
	if err != nil {
		h.t.Fatal(err)
	}
	rules, err := pg.Values[string](h.t.Context(), h.DB, `select name || conditions::text || actions::text || enabled
		from rule where deleted_at is null order by 1`)
	if err != nil {
		h.t.Fatal(err)
	}
	tags, err := pg.Values[string](h.t.Context(), h.DB, `select slug from tag where deleted_at is null order by 1`)
	if err != nil {
		h.t.Fatal(err)
	}
	return s[strings.LastIndex(s, "\n")+1:] + strings.Join(rules, ";") + strings.Join(tags, ";")
}

func (h *house) filed(source string) int {
	h.t.Helper()
	n, err := pg.Value[int](h.t.Context(), h.DB, `select count(*) from transaction t join category c
		on c.id = t.category_id where c.slug = 'health_dental' and t.category_source = $1`, source)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// TestWritesUntilTheLimit: a run writes until its exact limit and then plans. A person can apply
// the plan.
func TestWritesUntilTheLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ids := h.ids(30)
	h.sim.Play(models.Sequence(
		models.Use("update_transactions", update(ids[:12], nil)),
		models.Use("update_transactions", update(ids[12:24], nil)),
		models.Use("update_transactions", update(ids[24:], nil)),
		models.Say("done"),
	))
	d := writer()
	d.MaxWrites = new(20)
	run := h.start(d)
	got, lines := h.wait(run)
	if got.Status != workflow.LimitReached || deref(got.Limit) != "max_writes" || got.Mode != workflow.Planning ||
		got.PlanState != "waiting" || got.Changes != 1 || h.filed("agent") != 12 {
		t.Fatalf("%+v error %s limit %s filed %d", got, deref(got.Error), deref(got.Limit), h.filed("agent"))
	}
	if !slices.Contains(kinds(lines), "limit") {
		t.Errorf("lines %v", kinds(lines))
	}
	before := h.hash()
	page := h.plan(run.String())
	if page.Entries != 18 || page.Transactions != 18 || len(page.Items) != 18 || len(page.Totals) == 0 ||
		page.Items[0].After.Plain() != "health_dental" || page.Items[0].Transaction == nil ||
		page.Items[0].Note.Plain() != "because" || page.Items[0].Tool != "update_transactions" {
		t.Errorf("plan %+v", page)
	}
	answer, err := h.call("workflow-run.apply", map[string]any{
		"id": run.Short(), "except": []any{json.Number(fmt.Sprint(page.Items[0].Seq))},
	})
	if err != nil {
		t.Fatal(err)
	}
	var applied workflow.AppliedPlan
	if err := json.Unmarshal(answer.Body, &applied); err != nil || applied.Applied != 17 ||
		len(applied.Skipped) != 0 || applied.ChangeID == nil {
		t.Fatalf("%s %v", answer.Body, err)
	}
	if n := h.filed("agent"); n != 29 || h.filed("user") != 0 {
		t.Errorf("%d were categorized by the agent, %d are locked", n, h.filed("user"))
	}
	change, err := pg.Value[string](t.Context(), h.DB, `select cause || ' ' || summary || ' ' || actor_type
		from change where id = $1 and actor_id = $2`, applied.ChangeID, run)
	if err != nil || change != "workflow_run filer: changes approved by Ada agent" {
		t.Errorf("%q %v", change, err)
	}
	if _, err := h.call("workflow-run.apply", map[string]any{"id": run.Short()}); err == nil {
		t.Error("a plan was applied twice")
	}
	if _, err := h.call("change.revert", map[string]any{"change_id": applied.ChangeID.String()}); err != nil {
		t.Fatal(err)
	}
	if h.hash() != before {
		t.Error("reverting the plan did not restore the books")
	}
}

func (h *house) plan(run string) workflow.PlanPage {
	h.t.Helper()
	answer, err := h.call("workflow-run.plan", map[string]any{"id": run})
	if err != nil {
		h.t.Fatal(err)
	}
	var page workflow.PlanPage
	if err := json.Unmarshal(answer.Body, &page); err != nil {
		h.t.Fatal(err)
	}
	return page
}

// TestDryRun: a dry run changes nothing, and reads the books as if its plan were applied. Applying
// the plan has the same result as a direct run.
func TestDryRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ids := h.ids(3)
	var seen []string
	script := func() models.Script {
		steps := []models.Answer{
			models.Use("create_tag", map[string]any{"slug": "odd", "display_name": "Odd"}),
			models.Use("update_transactions", map[string]any{"operations": []any{map[string]any{
				"transaction_id": ids[0], "category": "health_dental", "tags_to_add": []string{"odd"},
			}}}),
			models.Use("create_transaction_rule", map[string]any{"rules": []any{map[string]any{
				"name": "dentists", "conditions": map[string]any{"field": "name", "op": "contains", "value": "dent"},
				"category_slug": "health_dental",
			}}}),
			models.Use("query_transactions", map[string]any{"tags": []string{"odd"}}),
			models.Say("done"),
		}
		n := 0
		return func(r models.Request) models.Answer {
			if n == 4 {
				for _, x := range r.Results() {
					seen = append(seen, x.Content)
				}
			}
			n++
			return steps[n-1]
		}
	}
	h.sim.Play(script())
	d := writer()
	d.DryRun = true
	before := h.hash()
	run := h.start(d)
	got, lines := h.wait(run)
	if got.Status != workflow.Succeeded || got.PlanState != "waiting" || got.Changes != 0 {
		t.Fatalf("%+v %s %s", got, deref(got.Error), lines[len(lines)-1].Body)
	}
	if h.hash() != before {
		t.Fatal("a dry run changed the books")
	}
	if len(seen) == 0 || !strings.Contains(seen[len(seen)-1], ids[0]) {
		t.Errorf("the run does not see its own plan: %v", seen)
	}
	page := h.plan(run.String())
	var items []string
	for _, i := range page.Items {
		items = append(items, i.Subject+" "+i.Field+" "+i.After.Plain())
	}
	want := []string{
		"tag record odd", "transaction category health_dental", "transaction tag odd", "rule record dentists",
	}
	slices.Sort(items)
	slices.Sort(want)
	if !slices.Equal(items, want) {
		t.Errorf("plan %q, want %q", items, want)
	}
	answer, err := h.call("workflow-run.apply", map[string]any{"id": run.String(), "strict": true})
	if err != nil {
		t.Fatal(err)
	}
	planned := h.hash()
	var applied workflow.AppliedPlan
	if err := json.Unmarshal(answer.Body, &applied); err != nil {
		t.Fatal(err)
	}
	if _, err := h.call("change.revert", map[string]any{"change_id": applied.ChangeID.String()}); err != nil {
		t.Fatal(err)
	}
	if h.hash() != before {
		t.Error("reverting the plan did not restore the books")
	}
	h.sim.Play(script())
	d.DryRun, d.MakesRules = false, true
	if got, _ := h.run(d); got.Status != workflow.Succeeded || got.PlanState != "none" || got.Changes != 3 {
		t.Fatalf("directly: %+v", got)
	}
	if h.hash() != planned {
		t.Error("the plan and the direct run come to different books")
	}
}

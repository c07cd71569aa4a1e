package agents_test

import (
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// TestTrustFalls: after people found five of a workflow's last decisions wrong, its next run only
// plans and gives the reason. Only a person can let it write again. Mistakes that the person knew
// at that time do not count again.
func TestTrustFalls(t *testing.T) {
	t.Parallel()
	d := newDiary(t, 0)
	d.sim.Play(models.Dictionary)
	d.tag(60)
	d.must("workflow.update", map[string]any{"slug": "filer", "dry_run": false}, nil)
	run := func() workflow.Run {
		t.Helper()
		var r workflow.Run
		d.must("workflow.run", map[string]any{"slug": "filer"}, &r)
		d.wait(r.ID)
		d.must("workflow-run.get", map[string]any{"id": r.ID.String()}, &r)
		return r
	}
	first := run()
	filed, err := pg.Values[id.ID](t.Context(), d.DB, `select id from transaction where category_source = 'agent'
		order by id`)
	if err != nil || len(filed) < 6 || first.Mode != workflow.Doing {
		t.Fatalf("%d were categorized: %+v (%v)", len(filed), first, err)
	}
	correct := func(ids ...id.ID) {
		t.Helper()
		for _, u := range ids {
			d.must("update_transactions", map[string]any{"operations": []any{
				map[string]any{"transaction_id": u.String(), "category": "travel_other"},
			}}, nil)
		}
	}
	state := func() workflow.Workflow {
		t.Helper()
		var w workflow.Workflow
		d.must("workflow.get", map[string]any{"slug": "filer"}, &w)
		return w
	}
	correct(filed[:4]...)
	if r := run(); r.Mode != workflow.Doing || state().DryRun || state().DistrustedAt != nil {
		t.Errorf("after four mistakes: %s %+v", r.Mode, state())
	}
	correct(filed[4])
	r := run()
	now := state()
	if r.Mode != workflow.Planning || !now.DryRun || now.DistrustedAt == nil || now.Record.Corrected != 5 {
		t.Errorf("after five mistakes: %s %+v", r.Mode, now)
	}
	const why = "5 of its last 5 reviewed changes were corrected"
	if lines := d.lines(r.ID); len(lines) == 0 || lines[0].Kind != workflow.LineNote ||
		!strings.Contains(string(lines[0].Body), why) {
		t.Errorf("the run does not say why: %v", kinds(lines))
	}
	if n := d.value(`select count(*) from report where kind = 'alert' and body like $1`, why+"%"); n != 1 {
		t.Errorf("%d reports say why", n)
	}
	d.must("workflow.update", map[string]any{"slug": "filer", "dry_run": false}, nil)
	if r := run(); r.Mode != workflow.Doing || state().DryRun || state().DistrustedAt != nil {
		t.Errorf("a person trusts it again: %s %+v", r.Mode, state())
	}
}

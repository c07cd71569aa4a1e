package agents_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// curator returns a workflow that plans a counterparty for each payee, a few transactions at a
// time.
func curator() workflow.Definition {
	d := queue()
	d.Slug, d.DryRun, d.Report, d.MaxWrites = "counterparty-curator", true, "none", new(50)
	d.Worklist = &workflow.Worklist{
		Filter: ledger.Filter{CounterpartyID: new("none")}, Size: 25, Sets: []string{workflow.SetsCounterparty},
		By: workflow.ByPayee,
	}
	return d
}

// apply applies the plan of a run.
func (h *house) apply(run id.ID) workflow.AppliedPlan {
	h.t.Helper()
	var out workflow.AppliedPlan
	h.must("workflow-run.apply", map[string]any{"id": run.String()}, &out)
	return out
}

// TestTwoPlansOfTheSamePayees: two waiting plans create counterparties with the same names. The
// plan that is applied second uses those that exist by then. It writes all planned changes, and no
// transaction is forgotten.
func TestTwoPlansOfTheSamePayees(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	const unfiled = `select count(distinct p.subject_id) from workflow_plan p join transaction t on t.id = p.subject_id
		where p.field = 'counterparty' and t.counterparty_id is null`
	_, _, one := h.sheets(curator())
	_, _, two := h.sheets(curator())
	if n := h.value(`select count(*) from (select p.row ->> 'name' from workflow_plan p
		where p.subject = 'counterparty' group by 1 having count(distinct p.run_id) = 2) x`); n == 0 {
		t.Fatal("control: no counterparty is in both plans")
	}
	planned := h.value(unfiled)
	first := h.apply(one)
	if first.State != "applied" || first.Applied == 0 || len(first.Skipped) > 0 || first.Bound > 0 {
		t.Errorf("the first: %+v", first)
	}
	second := h.apply(two)
	if second.State != "applied" || second.Applied == 0 || len(second.Skipped) > 0 || second.Bound == 0 {
		t.Errorf("the second: %+v", second)
	}
	if left := h.value(unfiled); left > 0 || planned == 0 {
		t.Errorf("%d of %d planned transactions have no counterparty", left, planned)
	}
	// Continue to the end, with two plans waiting each time. Only the rows that the model skipped
	// remain.
	for range 20 {
		_, _, one = h.sheets(curator())
		got, _, two := h.sheets(curator())
		if got.PlanState == "waiting" {
			h.apply(two)
		}
		if h.value(`select count(*) from workflow_run where id = $1 and plan_state = 'waiting'`, one) == 0 {
			break
		}
		h.apply(one)
	}
	if left := h.value(unfiled); left > 0 {
		t.Errorf("in the end %d planned transactions have no counterparty", left)
	}
}

// TestPlanOfNothing: a plan of which nothing can be applied any more is discarded, and its
// transactions return to the worklist.
func TestPlanOfNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	_, _, run := h.sheets(curator())
	rows := h.shorts(`select distinct t.short_id from workflow_plan p join transaction t on t.id = p.subject_id
		where p.run_id = $1 and p.field = 'counterparty'`, run)
	var other struct {
		ID string `json:"id"`
	}
	for _, name := range h.shorts(`select distinct p.row ->> 'name' from workflow_plan p where p.run_id = $1
		and p.subject = 'counterparty'`, run) {
		h.must("counterparty.create", map[string]any{"name": name}, &other)
	}
	for _, short := range rows { // a person decides about each one and undoes the decision
		done, err := h.call("transaction.update", map[string]any{"transaction_id": short, "counterparty_id": other.ID})
		if err == nil {
			_, err = h.call("change.revert", map[string]any{"change_id": done.Change.String()})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.call("workflow-run.apply", map[string]any{"id": run.String(), "strict": true})
	if !errs.Is(err, errs.Conflict) {
		t.Errorf("strictly: %v", err)
	}
	out := h.apply(run)
	if out.State != "dropped" || out.Applied != 0 || len(out.Skipped) < len(rows) || len(rows) == 0 {
		t.Errorf("%d transactions, %+v", len(rows), out)
	}
	if n := h.value(`select count(*) from workflow_run where id = $1 and plan_state = 'dropped'`, run); n != 1 {
		t.Error("the plan counts as applied")
	}
	if n := h.value(`select count(*) from workflow_plan where run_id = $1 and state in ('open', 'excepted')`, run); n > 0 {
		t.Errorf("%d decisions count as wrong, although nobody was against them", n)
	}
	_, _, again := h.sheets(curator())
	if n := h.value(`select count(distinct p.subject_id) from workflow_plan p join workflow_plan q
		on q.run_id = $2 and q.subject_id = p.subject_id and q.field = 'counterparty'
		where p.run_id = $1 and p.field = 'counterparty'`, run, again); n != len(rows) {
		t.Errorf("%d of %d are planned again", n, len(rows))
	}
}

// TestPlannedRecordsThatExistByNow: a plan would create a tag, a category with a subcategory, or a
// rule. If such a record exists by now, the plan uses it for its other changes instead of creating
// another.
func TestPlannedRecordsThatExistByNow(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	row := h.shorts(`select short_id from transaction where deleted_at is null and not is_split order by id limit 1`)[0]
	records := []step{
		{"tag.create", map[string]any{"slug": "fresh"}},
		{"category.create", map[string]any{"slug": "hobby", "name": "Hobby"}},
		{"rule.create", map[string]any{"rules": []any{map[string]any{
			"name": "Riding", "category_slug": "hobby", "conditions": map[string]any{"field": "name", "op": "eq", "value": "x"},
		}}}},
	}
	plan := h.rehearse(append(records,
		step{"category.create", map[string]any{"slug": "hobby_riding", "name": "Riding", "parent_id": "hobby"}},
		step{"transaction.tag", map[string]any{"transaction_id": row, "tag_slug": "fresh"}},
		step{"transaction.update", map[string]any{"transaction_id": row, "category": "hobby_riding"}},
	))
	for _, r := range records {
		h.must(r.op, r.args, nil)
	}
	var out journal.Carried
	ctx := op.WithActor(t.Context(), ada)
	err := h.DB.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = h.Journal.Carry(ctx, tx, journal.Note{Summary: "Applied a plan", Approved: true}, plan)
		return err
	})
	if err != nil || len(out.Bound) != len(records) || len(out.Skipped) > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	got := h.shorts(`select concat_ws(' ', c.slug, p.slug, g.slug, (select count(*) from tag where slug = 'fresh'),
			(select count(*) from category where slug = 'hobby'), (select count(*) from rule where name = 'Riding'))
		from transaction t join category c on c.id = t.category_id join category p on p.id = c.parent_id
			join transaction_tag x on x.transaction_id = t.id and x.present join tag g on g.id = x.tag_id and g.slug = 'fresh'
		where t.short_id = $1`, row)
	if !slices.Equal(got, []string{"hobby_riding hobby fresh 1 1 1"}) {
		t.Errorf("%q", got)
	}
}

// A step is a call that is rehearsed.
type step struct {
	op   string
	args map[string]any
}

// rehearse returns what the calls would write.
func (h *house) rehearse(steps []step) []journal.Planned {
	h.t.Helper()
	ops := map[string]*op.Op{}
	for _, o := range h.Ops() {
		ops[o.ID()] = o
	}
	plan, err := h.Journal.Rehearse(h.t.Context(), journal.Rehearsal{}, func(ctx context.Context, tx pg.Tx) error {
		for _, s := range steps {
			if _, _, err := h.Runner.CallIn(ctx, tx, ops[s.op], op.Call{
				Actor: ada, Surface: op.REST, Args: s.args, RequestID: "test",
			}); err != nil {
				return fmt.Errorf("%s: %w", s.op, err)
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return plan
}

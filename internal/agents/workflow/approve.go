package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Plans holds the plans of runs and people's decisions about them.
type Plans struct {
	db    *pg.DB
	store *Store
	// call calls a tool in tx, as the caller.
	call func(ctx context.Context, tx pg.Tx, tool string, args map[string]any) (op.Answer, error)
}

// NewPlans returns the Plans of a household.
func NewPlans(db *pg.DB, s *Store) *Plans { return &Plans{db: db, store: s} }

// Use sets the ops that planned calls need, and the runner for them.
func (p *Plans) Use(runner *op.Runner, menu []*op.Op) {
	tools := map[string]*op.Op{}
	for _, o := range menu {
		if o.Tool != "" {
			tools[o.Tool] = o
		}
	}
	p.call = func(ctx context.Context, tx pg.Tx, tool string, args map[string]any) (op.Answer, error) {
		o, known := tools[tool]
		if !known {
			return op.Answer{}, errs.New(errs.Conflict, "this version of coffer has no tool %s; discard the "+
				"plan and run the workflow again", tool)
		}
		answer, _, err := runner.CallIn(ctx, tx, o, op.Call{
			Actor: op.ActorOf(ctx), Surface: op.Tool, Words: op.SurfaceOf(ctx), Args: args, RequestID: id.Base62(16),
		})
		return answer, err
	}
}

// Ops returns the operations on plans.
func (p *Plans) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "workflow-run.plan", Route: "GET /workflow-runs/{id}/plan",
			Summary: "Shows a run's plan: each field's current and proposed value.",
		}, p.Show),
		op.Writing(op.Spec{
			Name: "workflow-run.apply", Route: "POST /workflow-runs/{id}/apply", People: op.PeopleAlways,
			Summary: "Applies a run's plan, or part of it, as one change.",
		}, p.Apply),
		op.Writing(op.Spec{
			Name: "workflow-run.drop", Route: "POST /workflow-runs/{id}/drop", People: op.PeopleAlways,
			Summary: "Discards a run's plan.",
		}, p.Drop),
	}
}

// A plannedRun is a run with a plan.
type plannedRun struct {
	ID         id.ID           `db:"id"`
	ShortID    string          `db:"short_id"`
	Slug       string          `db:"workflow_slug"`
	PlanState  string          `db:"plan_state"`
	Ended      bool            `db:"ended"`
	Definition json.RawMessage `db:"definition"`
	WorkflowID *id.ID          `db:"workflow_id"` // null: it was deleted
}

const plannedRuns = `select id, short_id, workflow_id, workflow_slug, plan_state, finished_at is not null as ended,
	definition from workflow_run where id = $1 or short_id = $2`

func noPlan(err error) error { return pg.Found(err, "run", "{workflow-run.list} lists them") }

// waiting returns a run whose plan waits for a person, locked.
func (p *Plans) waiting(ctx context.Context, tx pg.Tx, ref string) (plannedRun, error) {
	run, err := pg.One[plannedRun](ctx, tx, plannedRuns+` for update`, pg.RefTo(ref).IDArgs()...)
	switch {
	case err != nil:
		return run, noPlan(err)
	case !run.Ended:
		return run, errs.New(errs.Conflict, "this run is still in progress; wait until it ends, or cancel it "+
			"with {workflow-run.cancel}")
	case run.PlanState == planNone:
		return run, errs.New(errs.Conflict, "this run has no plan")
	case run.PlanState != planWaiting:
		return run, errs.New(errs.Conflict, "this plan was already %s", run.PlanState)
	}
	return run, nil
}

// ApplyPlan is the input of Apply.
type ApplyPlan struct {
	ID     string  `json:"id" minLength:"1" doc:"The run's UUID or short id"`
	Except []int64 `json:"except,omitempty" maxItems:"5000" minimum:"1" doc:"Items of the plan to skip, by seq"`
	Strict bool    `json:"strict,omitempty" doc:"If something has changed since it was planned, write nothing and return 409"`
}

// A PlanSkip is an item of a plan that was not applied.
type PlanSkip struct {
	Seq       int64  `json:"seq"`
	Subject   string `json:"subject" enum:"transaction,rule,tag,category,counterparty,account,account_link,report,target,pattern"`
	SubjectID id.ID  `json:"subject_id"`
	Field     string `json:"field"`
	Reason    string `json:"reason" enum:"changed_since,held,missing,conflict" doc:"changed_since: someone changed it after it was planned; missing: it, or what it refers to, does not exist; conflict: its name is taken, or it would contradict the current data"`
}

// A PlanJob is a call that Apply made.
type PlanJob struct {
	Tool  string `json:"tool"`
	JobID *id.ID `json:"job_id" doc:"The job that does the work; null if there is none"`
}

// AppliedPlan is the result of Apply.
type AppliedPlan struct {
	State     string     `json:"state" enum:"applied,dropped" doc:"dropped: nothing of it was left to apply"`
	ChangeID  *id.ID     `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing was written"`
	ChangeIDs []id.ID    `json:"change_ids" doc:"Ids of its changes, oldest first: more than one if the plan moves a name from one record to another"`
	Applied   int        `json:"applied" doc:"Fields that were changed"`
	Bound     int        `json:"bound" doc:"Records not created, because ones with the same names already existed; those are used"`
	Skipped   []PlanSkip `json:"skipped" doc:"Fields skipped; a worklist includes their transactions again"`
	Calls     []PlanJob  `json:"calls" doc:"Calls that were made after these changes"`
}

// Apply carries out a run's plan: it writes the plan's entries as one change of the run, and then
// makes the plan's calls as the caller. The fields keep the agent as their source, so they are not
// locked: a person who approves a plan has not decided about each field.
func (p *Plans) Apply(ctx context.Context, tx pg.Tx, in ApplyPlan) (AppliedPlan, error) {
	out := AppliedPlan{State: planApplied, ChangeIDs: []id.ID{}, Skipped: []PlanSkip{}, Calls: []PlanJob{}}
	run, err := p.waiting(ctx, tx, in.ID)
	if err != nil {
		return out, err
	}
	plan, err := p.store.Plan(ctx, tx, run.ID)
	if err != nil {
		return out, err
	}
	chosen, err := plan.without(in.Except)
	if err != nil {
		return out, err
	}
	var d Definition
	if err := json.Unmarshal(run.Definition, &d); err != nil {
		return out, fmt.Errorf("read the definition of a run: %w", err)
	}
	who := op.ActorOf(ctx)
	carried, err := p.store.Journal.Carry(op.Acting(ctx, Live{ID: run.ID}.Actor(d)), tx, journal.Note{
		Cause: journal.WorkflowRun, Summary: fmt.Sprintf("%s: changes approved by %s", run.Slug, who.Name),
		Approved: true,
	}, chosen.Entries)
	if err != nil {
		return out, err
	}
	out.ChangeIDs, out.Applied, out.Bound = append(out.ChangeIDs, carried.Changes...), carried.Done, len(carried.Bound)
	if len(carried.Changes) > 0 {
		out.ChangeID = &carried.Changes[0]
	}
	for _, e := range journal.Net(chosen.Entries) {
		if reason := carried.Left[e.ID]; reason != "" {
			out.Skipped = append(out.Skipped, PlanSkip{e.ID, e.Subject, e.SubjectID, e.Field, reason})
		}
	}
	if in.Strict && len(out.Skipped)+out.Bound > 0 {
		return out, moved(out.Skipped, out.Bound)
	}
	for _, c := range chosen.Calls {
		answer, err := p.call(ctx, tx, c.Tool, c.rebound(carried.Bound))
		if err != nil {
			return out, err
		}
		var made struct {
			ID *id.ID `json:"id"`
		}
		_ = json.Unmarshal(answer.Body, &made) // most tools start no job
		out.Calls = append(out.Calls, PlanJob{c.Tool, made.ID})
	}
	if out.Applied+len(out.Calls) == 0 {
		out.State = planDropped
	}
	if err := forget(ctx, tx, run.WorkflowID, out.Skipped); err != nil {
		return out, err
	}
	return out, p.decided(ctx, tx, run.ID, out.State, plan, chosen, carried.Left)
}

// reasons say why an item of a plan cannot be applied.
var reasons = map[string]string{
	"changed_since": "someone changed it after it was planned",
	"held":          "a person set it",
	"missing":       "it, or what it refers to, does not exist",
	"conflict":      "its name is taken, or it would contradict the current data",
}

// moved returns the error if a strict application finds changed fields.
func moved(skipped []PlanSkip, bound int) error {
	e := errs.New(errs.Conflict, "%d fields changed since the plan was made, so nothing was written; apply "+
		"without strict to skip them, or discard the plan", len(skipped))
	if len(skipped) == 0 {
		e = errs.New(errs.Conflict, "%d records that the plan would create already exist, so nothing was "+
			"written; apply without strict to use them, or discard the plan", bound)
	}
	for _, s := range skipped[:min(len(skipped), 100)] {
		e.Details = append(e.Details, errs.Detail{
			Field: fmt.Sprintf("items[seq=%d].%s", s.Seq, s.Field), Code: s.Reason, Message: reasons[s.Reason],
		})
	}
	return e
}

// decided stores the result of each item of a plan, and the state of the plan.
func (p *Plans) decided(ctx context.Context, tx pg.Tx, run id.ID, state string, plan, chosen Plan,
	left map[int64]string,
) error {
	became := map[int64]string{}
	for _, e := range chosen.Entries {
		became[e.ID] = entryApplied
		if left[e.ID] != "" {
			became[e.ID] = entrySkipped
		}
	}
	for _, c := range chosen.Calls {
		became[c.Seq] = entryApplied
	}
	var seqs []int64
	var states []string
	for seq := range plan.tools {
		s := became[seq]
		if s == "" {
			s = entryExcepted
		}
		seqs, states = append(seqs, seq), append(states, s)
	}
	_, err := pg.Exec(ctx, tx, `update workflow_plan p set state = v.state
		from unnest($2::bigint[], $3::text[]) v (seq, state) where p.run_id = $1 and p.seq = v.seq`, run, seqs, states)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `update workflow_run set plan_state = $2 where id = $1`, run, state)
	return err
}

// RunOnly identifies the run whose plan Drop discards.
type RunOnly struct {
	ID string `json:"id" minLength:"1" doc:"The run's UUID or short id"`
}

// A DroppedPlan is the result of Drop.
type DroppedPlan struct {
	RunID   id.ID `json:"run_id"`
	Dropped int   `json:"dropped" doc:"Fields and calls that were not applied"`
}

// Drop discards a run's plan.
func (p *Plans) Drop(ctx context.Context, tx pg.Tx, in RunOnly) (DroppedPlan, error) {
	run, err := p.waiting(ctx, tx, in.ID)
	if err != nil {
		return DroppedPlan{}, err
	}
	plan, err := p.store.Plan(ctx, tx, run.ID)
	if err != nil {
		return DroppedPlan{}, err
	}
	return DroppedPlan{run.ID, len(journal.Net(plan.Entries)) + len(plan.Calls)},
		p.decided(ctx, tx, run.ID, planDropped, plan, Plan{}, nil)
}

// without returns the plan without some of its items. It removes every entry for the same fields,
// and every item that needs a record which is then not created.
func (p Plan) without(except []int64) (Plan, error) {
	type spot struct {
		subject id.ID
		field   string
		ref     id.ID
	}
	at := func(e journal.Planned) spot {
		s := spot{subject: e.SubjectID, field: e.Field}
		if e.Ref != nil {
			s.ref = *e.Ref
		}
		return s
	}
	out, drop := make(map[int64]bool, len(except)), map[spot]bool{}
	for i, seq := range except {
		if p.tools[seq] == "" {
			return Plan{}, errs.Field(fmt.Sprintf("except[%d]", i), "reference",
				"is not an item of this plan; {workflow-run.plan} lists its items")
		}
		out[seq] = true
	}
	gone := map[string]bool{}
	for _, e := range p.Entries {
		if out[e.ID] {
			drop[at(e)] = true
			if e.Row != nil {
				gone[e.SubjectID.String()] = e.Field == journal.FieldRecord
			}
		}
	}
	left := Plan{tools: p.tools}
	for _, e := range p.Entries {
		needs := e.Ref != nil && gone[e.Ref.String()] || e.After != nil && gone[*e.After] ||
			e.Subject != journal.Transaction && gone[e.SubjectID.String()]
		if !drop[at(e)] && !needs {
			left.Entries = append(left.Entries, e)
		}
	}
	for _, c := range p.Calls {
		if !out[c.Seq] && !c.names(gone) {
			left.Calls = append(left.Calls, c)
		}
	}
	return left, nil
}

// names reports whether a call refers to one of the records, by its short id or its UUID.
func (c PlannedCall) names(gone map[string]bool) bool {
	refs, _ := c.Arguments["rule_ids"].([]any)
	for _, r := range refs {
		s, _ := r.(string)
		for u, is := range gone {
			if is && (s == u || s == id.Must(u).Short()) {
				return true
			}
		}
	}
	return false
}

// rebound returns the call's arguments with each planned rule replaced by the existing rule.
func (c PlannedCall) rebound(bound map[id.ID]id.ID) map[string]any {
	refs, _ := c.Arguments["rule_ids"].([]any)
	if len(bound) == 0 || len(refs) == 0 {
		return c.Arguments
	}
	now := make([]any, len(refs))
	for i, r := range refs {
		now[i] = r
		for was, is := range bound {
			if s, _ := r.(string); s == was.String() || s == was.Short() {
				now[i] = is.String()
			}
		}
	}
	out := maps.Clone(c.Arguments)
	out["rule_ids"] = now
	return out
}

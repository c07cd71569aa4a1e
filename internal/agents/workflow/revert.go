package workflow

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// RevertRun is the input of Revert.
type RevertRun struct {
	ID     string `json:"id" minLength:"1" doc:"The run's UUID or short id"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
}

// A RunReverted is the result of undoing a run.
type RunReverted struct {
	journal.Undone
	RulesSince []RuleSince `json:"rules_since" doc:"What rules that the run made have done since; that is not the run's and stays"`
}

// A RuleSince is a rule of a run that matched transactions later.
type RuleSince struct {
	RuleID       id.ID `json:"rule_id" db:"rule_id"`
	Transactions int64 `json:"transactions" db:"transactions" doc:"Number of transactions changed"`
}

// Revert undoes every change of a run and of the jobs that it started, newest first.
func (w *Workflows) Revert(ctx context.Context, tx pg.Tx, in RevertRun) (RunReverted, error) {
	run, err := w.RunByID(ctx, tx, RunRef{in.ID})
	if err != nil {
		return RunReverted{}, err
	}
	if run.FinishedAt == nil {
		return RunReverted{}, errs.New(errs.Conflict,
			"this run is still in progress; wait until it ends, or cancel it with {workflow-run.cancel}")
	}
	since, err := pg.All[RuleSince](ctx, tx, `
		select r.id as rule_id, t.transactions from rule r
		cross join lateral (select count(distinct e.subject_id) as transactions
			from entry e join change c on c.id = e.change_id
			where e.rule_id = r.id and e.subject = 'transaction' and c.actor_id is distinct from $1) t
		where r.created_by_id = $1 and t.transactions > 0 order by r.id limit 200`, run.ID)
	if err != nil {
		return RunReverted{}, err
	}
	undone, err := w.undo.UndoActor(ctx, tx, run.ID, in.DryRun)
	return RunReverted{undone, since}, err
}

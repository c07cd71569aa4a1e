package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/agents/eval"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// EvalWorkflow is the request for an eval of a workflow.
type EvalWorkflow struct {
	Slug     string        `json:"slug" minLength:"1" doc:"The workflow's slug, UUID or short id" example:"review-queue"`
	Sample   int           `json:"sample,omitempty" minimum:"1" maximum:"1000" default:"200" doc:"Number of people's newest decisions to use"`
	Windows  int           `json:"windows,omitempty" minimum:"1" maximum:"20" default:"4" doc:"Number of points in time at which the model sees the data; more are fairer and slower"`
	Provider *string       `json:"provider,omitempty" enum:"anthropic,openai_compatible" doc:"Provider of model; the workflow's if omitted"`
	Model    *string       `json:"model,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Model to use instead of the workflow's" example:"qwen3:14b"`
	Prompt   *string       `json:"prompt,omitempty" minLength:"1" maxLength:"20000" doc:"Prompt to use instead of the workflow's"`
	MaxCost  *money.Amount `json:"max_cost_usd,omitempty" doc:"The most that it may cost, in US dollars; the workflow's limit if omitted. One of them is needed unless the model is free"`
}

// The limits of an eval in addition to its cost. Every answer for a sheet needs one turn.
const (
	evalTurns   = 3   // maximum number of answers per sheet
	evalMinutes = 120 // unless the workflow has more
	evalSheet   = 25  // rows of a sheet, for workflows without a worklist
)

// Eval queues a run that measures a workflow. It changes nothing in the books.
func (w *Workflows) Eval(ctx context.Context, tx pg.Tx, in EvalWorkflow) (Run, error) {
	d, err := w.lock(ctx, tx, in.Slug)
	if err != nil {
		return Run{}, err
	}
	if err := w.measurable(d); err != nil {
		return Run{}, err
	}
	live, err := pg.Values[string](ctx, tx, `select short_id from workflow_run where workflow_id = $1
		and status in ('queued', 'running') and trigger = $2 limit 1`, d.ID, Eval)
	if err != nil {
		return Run{}, err
	}
	if len(live) > 0 {
		return Run{}, errs.New(errs.Conflict,
			"an eval of this workflow is in progress (run %s); wait for it, or cancel it with "+
				"{workflow-run.cancel}",
			live[0])
	}
	if err := w.ask(ctx, tx, &d, in); err != nil {
		return Run{}, err
	}
	if in.Prompt != nil {
		if d.Prompt, err = prose("prompt", *in.Prompt); err != nil {
			return Run{}, err
		}
	}
	if in.MaxCost != nil {
		if d.MaxCost = in.MaxCost; d.MaxCost.IsNeg() {
			return Run{}, errs.Field("max_cost_usd", "range", "must not be negative")
		}
	}
	frozen, priced, err := w.freeze(ctx, tx, d)
	if err != nil {
		return Run{}, err
	}
	if err := w.paid(ctx, tx, frozen); err != nil {
		return Run{}, err
	}
	frozen.measure(in)
	return w.enqueue(ctx, tx, d.ID, Eval, frozen, priced)
}

// ask makes an eval use another model than the workflow's. A model without a provider keeps the
// provider.
func (w *Workflows) ask(ctx context.Context, q pg.Querier, d *Workflow, in EvalWorkflow) error {
	if in.Model == nil {
		if in.Provider != nil {
			return errs.Field("model", "required", "is required with provider")
		}
		return nil
	}
	models, err := w.models(ctx, q)
	if err != nil {
		return err
	}
	own, err := models.of(d.Provider, d.Model)
	if err != nil {
		return err
	}
	if d.Provider, d.Model = in.Provider, in.Model; d.Provider == nil {
		if own.Source == NoModel {
			return errs.Field("provider", "required",
				"is required with model, because the workflow has no provider yet")
		}
		d.Provider = &own.Provider
	}
	return nil
}

// measurable returns an error if a workflow cannot be measured.
func (w *Workflows) measurable(d Workflow) error {
	switch {
	case d.Worklist != nil && d.Worklist.Decides(SetsCategory):
		return nil
	case d.Worklist == nil && d.Scope == op.Full.String() &&
		(len(d.Tools) == 0 || slices.Contains(d.Tools, "update_transactions")):
		return nil
	}
	return errs.New(errs.ValidationError, "%s doesn't set categories, which an eval compares with people's "+
		"decisions; choose a workflow whose worklist sets category, or that has the tool update_transactions",
		d.Slug)
}

// paid makes sure that an eval that costs money has a limit, because it asks about hundreds of
// transactions.
func (w *Workflows) paid(ctx context.Context, q pg.Querier, d Definition) error {
	if d.MaxCostMicros != nil {
		return nil
	}
	models, err := w.models(ctx, q)
	if err != nil {
		return err
	}
	chosen, err := models.of(&d.Provider, &d.Model)
	if err != nil || chosen.free() {
		return err
	}
	return errs.Field("max_cost_usd", "required", "is required as a cost limit for the eval, because the "+
		"workflow has no limit and its model is not free (prices of 0)")
}

// measure turns the definition into that of an eval.
func (d *Definition) measure(in EvalWorkflow) {
	d.Eval = &eval.Asking{Sample: in.Sample, Windows: in.Windows}
	d.Report, d.DryRun, d.MaxWrites = ReportNone, true, nil
	perSheet := evalTurns
	if d.Worklist == nil { // without a worklist the model may use tools before it decides
		d.Worklist = &Worklist{Size: evalSheet, Sets: []string{SetsCategory}}
		perSheet = max(perSheet, d.MaxTurns)
	} else {
		d.Tools = nil
		d.Worklist = &Worklist{Filter: d.Worklist.Filter, Size: d.Worklist.Size, Sets: []string{SetsCategory}}
	}
	d.PerSheet = perSheet
	sheets := in.Sample/max(1, d.Worklist.Size) + in.Windows
	d.MaxTurns, d.MaxMinutes = perSheet*sheets, max(d.MaxMinutes, evalMinutes)
}

// enqueue writes a run and its job.
func (w *Workflows) enqueue(ctx context.Context, tx pg.Tx, of id.ID, trigger string, d Definition, priced bool) (Run,
	error,
) {
	runID, err := w.insertRun(ctx, tx, of, trigger, d, priced)
	if err != nil {
		return Run{}, err
	}
	if _, err := w.jobs.Enqueue(ctx, tx, RunKind, runArgs{runID}, job.Options{ID: runID}); err != nil {
		return Run{}, err
	}
	return w.RunByID(ctx, tx, RunRef{runID.String()})
}

// Evaluated computes the figures of an eval, compares them with the workflow's previous eval,
// stores them with the run, and returns them.
func (s *Store) Evaluated(ctx context.Context, tx pg.Tx, run Live, m eval.Measured) (eval.Evaluation, error) {
	type row struct {
		ID     id.ID           `db:"id"`
		Model  string          `db:"model"`
		Result json.RawMessage `db:"result"`
	}
	last, err := pg.All[row](ctx, tx, `select id, coalesce(definition ->> 'model', '') as model, result
		from workflow_run where workflow_id = $1 and id < $2 and trigger = $3 and result is not null
		order by id desc limit 1`, run.WorkflowID, run.ID, Eval)
	if err != nil {
		return eval.Evaluation{}, err
	}
	for _, l := range last {
		m.Last, m.LastRun, m.LastModel = &eval.Evaluation{}, l.ID, l.Model
		if err := json.Unmarshal(l.Result, m.Last); err != nil {
			return eval.Evaluation{}, fmt.Errorf("stored figures: %w", err)
		}
	}
	m.Cost, m.InputTokens, m.OutputTokens = run.CostMicros, run.InputTokens, run.OutputTokens
	m.Seconds = (run.ElapsedMS + 999) / 1000
	out, err := eval.Figures(m)
	if err != nil {
		return out, err
	}
	printed, err := json.Marshal(out)
	if err != nil {
		return out, fmt.Errorf("print figures: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `update workflow_run set result = $2::text::jsonb where id = $1`, run.ID, string(printed))
	return out, err
}

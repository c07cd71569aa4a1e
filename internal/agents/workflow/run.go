package workflow

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"coffer/internal/agents/eval"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Run is one execution of a workflow.
type Run struct {
	ID             id.ID            `json:"id" db:"id" doc:"Also the actor_id of its changes"`
	ShortID        string           `json:"short_id,omitempty" db:"short_id" required:"true"`
	WorkflowID     *id.ID           `json:"workflow_id" db:"workflow_id" doc:"null if the workflow was deleted"`
	WorkflowSlug   string           `json:"workflow_slug" db:"workflow_slug"`
	WorkflowName   string           `json:"workflow_name" db:"workflow_name" doc:"As it was when the run was queued"`
	Trigger        string           `json:"trigger" db:"trigger" enum:"manual,schedule,after_sync,eval"`
	Status         string           `json:"status" db:"status" enum:"queued,running,succeeded,failed,cancelled,limit_reached"`
	Mode           string           `json:"mode" db:"mode" enum:"doing,planning" doc:"planning: its changes are planned and not made"`
	Turns          int              `json:"turns" db:"turns"`
	InputTokens    int64            `json:"input_tokens" db:"input_tokens" doc:"All tokens, including those read from and written to the provider's cache"`
	OutputTokens   int64            `json:"output_tokens" db:"output_tokens"`
	CostUSD        *money.Micros    `json:"cost_usd" db:"-" doc:"null if a price is not known"`
	Limits         Limits           `json:"limits" db:"-"`
	Limit          *string          `json:"limit" db:"limit_name" enum:"max_turns,max_cost_usd,monthly_ceiling_usd,max_minutes,max_writes,writes_per_day,context,transcript,repeats" doc:"The limit that it reached"`
	Changes        []id.ID          `json:"changes" db:"changes" doc:"Ids of its changes, oldest first: the first 500"`
	Plan           PlanState        `json:"plan" db:"-"`
	LeftOpen       int              `json:"left_open" db:"left_open" doc:"Transactions that it was not sure about and left for a person"`
	ReportID       *id.ID           `json:"report_id" db:"report_id"`
	Error          *job.Failure     `json:"error" db:"-" doc:"Why it failed; null otherwise"`
	DefinitionHash string           `json:"definition_hash" db:"definition_hash" doc:"SHA-256 of the definition that it was started with"`
	JobID          id.ID            `json:"job_id" db:"-" doc:"Its job, with the same id"`
	Result         *eval.Evaluation `json:"result" db:"-" doc:"The figures of an eval; null for other runs, and until it has ended"`
	AskedBy        string           `json:"asked_by" db:"asked_name" doc:"Who started it"`
	CreatedAt      pg.Time          `json:"created_at" db:"created_at"`
	StartedAt      *pg.Time         `json:"started_at" db:"started_at"`
	FinishedAt     *pg.Time         `json:"finished_at" db:"finished_at"`
}

// Limits are the limits with which the run was started; null means no limit.
type Limits struct {
	MaxTurns   int           `json:"max_turns"`
	MaxMinutes int           `json:"max_minutes"`
	MaxCost    *money.Amount `json:"max_cost_usd"`
	MaxWrites  *int          `json:"max_writes"`
}

// A PlanState describes the plan of a run.
type PlanState struct {
	State        string `json:"state" enum:"none,waiting,applied,dropped" doc:"waiting: a person must apply or drop it"`
	Transactions int64  `json:"transactions" doc:"Number of transactions to change"`
	Entries      int64  `json:"entries" doc:"Number of fields to change"`
	Calls        int64  `json:"calls" doc:"Number of calls in the plan"`
}

type runRow struct {
	Run
	Cost         *int64          `db:"cost_micros"`
	Definition   json.RawMessage `db:"definition"`
	PlanState    string          `db:"plan_state"`
	Transactions int64           `db:"plan_transactions"`
	Entries      int64           `db:"plan_entries"`
	Calls        int64           `db:"plan_calls"`
	ErrorCode    *string         `db:"error_code"`
	ErrorMessage *string         `db:"error_message"`
	Figures      json.RawMessage `db:"result"`
}

// runRows reads runs, and wholeRun reads one run with every transaction of an eval. The changes and
// the plan of each run are looked up by an index.
const (
	runRows  = `select r.result - 'items' as result, ` + runColumns
	wholeRun = `select r.result, ` + runColumns
)

const runColumns = `r.id, r.short_id, r.workflow_id, r.workflow_slug, r.definition ->> 'name' as workflow_name,
		r.trigger, r.status, r.mode, r.turns,
		r.input_tokens + r.cache_read_tokens + r.cache_write_tokens as input_tokens,
		r.output_tokens, r.cost_micros, r.limit_name, r.plan_state, r.left_open, r.report_id, r.error_code,
		r.error_message, r.definition_hash, r.asked_name, r.created_at, r.started_at, r.finished_at,
		jsonb_build_object('max_turns', r.definition -> 'max_turns', 'max_minutes', r.definition -> 'max_minutes',
			'max_cost_micros', r.definition -> 'max_cost_micros', 'max_writes', r.definition -> 'max_writes') as definition,
		array(select c.id from change c where c.actor_id = r.id order by c.seq limit 500) as changes,
		p.transactions as plan_transactions, p.entries as plan_entries, p.calls as plan_calls
	from workflow_run r
	cross join lateral (select count(distinct x.subject_id) filter (where x.subject = 'transaction') as transactions,
			count(x.subject) as entries, count(*) - count(x.subject) as calls
		from (select p.subject, p.subject_id from workflow_plan p where p.run_id = r.id
			group by p.subject, p.subject_id, p.field, p.ref, case when p.subject is null then p.seq end
			having p.subject is null or ` + netOfField + `) x) p`

// netOfField is the condition that a field ends with another value than it began with, as in
// journal.Net. So the list of runs counts the same items that the plan itself lists.
const netOfField = `bool_or(p.row is not null and p.row <> 'null')
	or (array_agg(p.before order by p.seq))[1] is distinct from (array_agg(p.after order by p.seq desc))[1]
	or (array_agg(p.before_source order by p.seq))[1]
		is distinct from (array_agg(p.after_source order by p.seq desc))[1]`

func (r runRow) run() (Run, error) {
	var d Definition
	if err := json.Unmarshal(r.Definition, &d); err != nil {
		return Run{}, fmt.Errorf("stored definition: %w", err)
	}
	out := r.Run
	out.JobID, out.CostUSD = out.ID, (*money.Micros)(r.Cost)
	out.Limits = Limits{MaxTurns: d.MaxTurns, MaxMinutes: d.MaxMinutes, MaxWrites: d.MaxWrites}
	if d.MaxCostMicros != nil {
		limit, err := money.FromCents(*d.MaxCostMicros / microsPerCent)
		if err != nil {
			return Run{}, err
		}
		out.Limits.MaxCost = &limit
	}
	out.Plan = PlanState{r.PlanState, r.Transactions, r.Entries, r.Calls}
	if r.ErrorCode != nil && r.ErrorMessage != nil {
		out.Error = &job.Failure{Code: errs.Code(*r.ErrorCode), Message: *r.ErrorMessage}
	}
	if len(r.Figures) > 0 {
		if err := json.Unmarshal(r.Figures, &out.Result); err != nil {
			return Run{}, fmt.Errorf("stored figures: %w", err)
		}
	}
	return out, nil
}

// A RunRef identifies a run.
type RunRef struct {
	ID string `json:"id" minLength:"1" doc:"The run's UUID or short id"`
}

func noRun(err error) error { return pg.Found(err, "run", "{workflow-run.list} lists them") }

// RunByID returns one run.
func (w *Workflows) RunByID(ctx context.Context, q pg.Querier, in RunRef) (Run, error) {
	r, err := pg.One[runRow](ctx, q, wholeRun+` where r.id = $1 or r.short_id = $2`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return Run{}, noRun(err)
	}
	return r.run()
}

// ListRuns is the request for a page of runs.
type ListRuns struct {
	Workflow *string `json:"workflow,omitempty" minLength:"1" maxLength:"64" doc:"Filter by workflow: slug, UUID or short id"`
	Status   *string `json:"status,omitempty" enum:"queued,running,succeeded,failed,cancelled,limit_reached" doc:"Filter by status"`
	Plan     *string `json:"plan,omitempty" enum:"none,waiting,applied,dropped" doc:"Filter by state of the plan"`
	Cursor   string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit    int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// A RunList is a page of runs, newest first.
type RunList struct {
	Runs       []Run  `json:"runs"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
}

// Runs returns a page of runs.
func (w *Workflows) Runs(ctx context.Context, q pg.Querier, in ListRuns) (RunList, error) {
	var of *id.ID
	if in.Workflow != nil {
		found, err := pg.Value[id.ID](ctx, q, `select id from workflow where id = $1 or slug = $2 or short_id = $3
			order by (slug = $2) desc limit 1`, pg.RefTo(*in.Workflow).Args()...)
		if err != nil {
			return RunList{}, pg.Named(err, "workflow", "workflow", "{workflow.list} lists them")
		}
		of = &found
	}
	filters := in
	filters.Cursor, filters.Limit = "", 0
	return w.page(ctx, q, "workflow-runs", filters, in, of)
}

// ListRunsOf is the request for a page of a workflow's runs.
type ListRunsOf struct {
	Slug   string  `json:"slug" minLength:"1" doc:"The workflow's slug, UUID or short id" example:"review-queue"`
	Status *string `json:"status,omitempty" enum:"queued,running,succeeded,failed,cancelled,limit_reached" doc:"Filter by status"`
	Plan   *string `json:"plan,omitempty" enum:"none,waiting,applied,dropped" doc:"Filter by state of the plan"`
	Cursor string  `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// RunsOf returns a page of a workflow's runs.
func (w *Workflows) RunsOf(ctx context.Context, q pg.Querier, in ListRunsOf) (RunList, error) {
	of, err := w.find(ctx, q, in.Slug)
	if err != nil {
		return RunList{}, err
	}
	filters := in
	filters.Slug, filters.Cursor, filters.Limit = of.String(), "", 0
	return w.page(ctx, q, "runs of a workflow", filters, ListRuns{
		Status: in.Status, Plan: in.Plan, Cursor: in.Cursor, Limit: in.Limit,
	}, &of)
}

func (w *Workflows) page(ctx context.Context, q pg.Querier, list string, filters any, in ListRuns, of *id.ID) (RunList,
	error,
) {
	pager, err := w.db.Pager(ctx, list, filters)
	if err != nil {
		return RunList{}, err
	}
	found, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]runRow, error) {
		return pg.All[runRow](ctx, q, runRows+`
			where ($1::uuid is null or r.workflow_id = $1) and ($2::text is null or r.status = $2)
				and ($3::text is null or r.plan_state = $3) and ($4::uuid is null or r.id < $4)
			order by r.id desc limit $5`, of, in.Status, in.Plan, before, limit)
	}, func(r runRow) id.ID { return r.ID })
	if err != nil {
		return RunList{}, err
	}
	out := RunList{Runs: []Run{}, NextCursor: next, HasMore: next != ""}
	for _, r := range found {
		run, err := r.run()
		if err != nil {
			return RunList{}, err
		}
		out.Runs = append(out.Runs, run)
	}
	return out, nil
}

// Run queues a run of a workflow for the caller. If one is already queued or running, it is
// returned instead.
func (w *Workflows) Run(ctx context.Context, tx pg.Tx, in Ref) (Run, error) {
	found, err := w.find(ctx, tx, in.Slug)
	if err != nil {
		return Run{}, err
	}
	run, _, err := w.queue(ctx, tx, found, Manual)
	return run, err
}

// await waits for op.Long. A run has ended when its job has.
func (w *Workflows) await(ctx context.Context, run Run, d time.Duration) (Run, bool) {
	if run.FinishedAt == nil {
		if _, err := w.jobs.Wait(ctx, run.ID, d); err != nil {
			return run, false
		}
	}
	now, err := w.RunByID(ctx, w.db, RunRef{run.ID.String()})
	if err != nil {
		return run, false
	}
	return now, now.FinishedAt != nil
}

// queue writes a run of a workflow and its job, in tx. If a run is already queued or running, queue
// returns that run, and joined is true. It locks the workflow's row, so two callers do not start it
// twice.
func (w *Workflows) queue(ctx context.Context, tx pg.Tx, workflow id.ID, trigger string) (run Run, joined bool,
	err error,
) {
	d, err := w.lock(ctx, tx, workflow.String())
	if err != nil {
		return Run{}, false, err
	}
	live, err := pg.Values[id.ID](ctx, tx, `select id from workflow_run where workflow_id = $1
		and status in ('queued', 'running') and trigger <> 'eval'`, workflow)
	if err != nil {
		return Run{}, false, err
	}
	if len(live) > 0 {
		run, err = w.RunByID(ctx, tx, RunRef{live[0].String()})
		return run, true, err
	}
	why, err := w.distrust(ctx, tx, &d)
	if err != nil {
		return Run{}, false, err
	}
	frozen, priced, err := w.freeze(ctx, tx, d)
	if err != nil {
		return Run{}, false, err
	}
	run, err = w.enqueue(ctx, tx, d.ID, trigger, frozen, priced)
	if err == nil && why != "" {
		_, err = pg.Exec(ctx, tx, `insert into workflow_line (run_id, seq, kind, body)
			values ($1, 1, $2, jsonb_build_object('text', $3::text))`, run.ID, LineNote, why)
	}
	return run, false, err
}

// freeze returns the definition that a run keeps, with its blocks composed and its model chosen.
// Later changes of the workflow do not affect the run. priced reports whether the model's price is
// known. freeze fails if the run could not ask its model.
func (w *Workflows) freeze(ctx context.Context, tx pg.Tx, d Workflow) (_ Definition, priced bool, _ error) {
	models, err := w.models(ctx, tx)
	if err != nil {
		return Definition{}, false, err
	}
	budget, err := w.Month(ctx, tx)
	if err != nil {
		return Definition{}, false, err
	}
	chosen, err := models.of(d.Provider, d.Model)
	if err != nil {
		return Definition{}, false, err
	}
	if err := chosen.usable(d.MaxCost != nil || budget.Ceiling != nil); err != nil {
		return Definition{}, false, err
	}
	if err := budget.open(); err != nil && !chosen.free() {
		return Definition{}, false, err
	}
	system, err := blockText(ctx, tx, d.PromptBlocks)
	if err != nil {
		return Definition{}, false, err
	}
	out := Definition{
		Slug: d.Slug, Name: d.Name, Version: d.Version, System: system, Prompt: d.Prompt,
		Provider: chosen.Provider, Model: chosen.Model, Tools: d.Tools, Scope: d.Scope, MaxTurns: d.MaxTurns,
		MaxWrites: d.MaxWrites, MaxMinutes: d.MaxMinutes, DryRun: d.DryRun, MakesRules: d.MakesRules,
		Worklist: d.Worklist, Report: d.Report,
	}
	if len(out.Tools) == 0 && d.Worklist == nil {
		out.Tools = names(w.Tools(d.Scope))
	}
	if d.MaxCost != nil {
		out.MaxCostMicros = new(d.MaxCost.Cents() * microsPerCent)
	}
	return out, chosen.Price != nil, nil
}

// insertRun writes the row of a run. Without dry_run the run writes its changes; at a limit it may
// begin to plan instead.
func (w *Workflows) insertRun(ctx context.Context, tx pg.Tx, workflow id.ID, trigger string, d Definition,
	priced bool,
) (id.ID, error) {
	printed, err := json.Marshal(d)
	if err != nil {
		return id.ID{}, fmt.Errorf("print definition: %w", err)
	}
	hash := sha256.Sum256(printed)
	mode := Doing
	if d.DryRun && d.Scope == op.Full.String() {
		mode = Planning
	}
	who := op.ActorOf(ctx)
	var asked *id.ID
	if !who.ID.IsZero() {
		asked = &who.ID
	}
	var newID id.ID
	err = pg.Redraw(ctx, tx, "workflow_run_short_id", func(tx pg.Tx) error {
		newID = id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into workflow_run (id, short_id, workflow_id, workflow_slug, trigger, mode, definition, definition_hash,
				max_writes, cost_micros, asked_type, asked_id, asked_name)
			values (@id, @short, @workflow, @slug, @trigger, @mode, @definition::text::jsonb, @hash, @writes,
				case when @priced then 0 end, @type, @asked, @name)`, pg.Args{
			"id": newID, "short": newID.Short(), "workflow": workflow, "slug": d.Slug, "trigger": trigger, "mode": mode,
			"definition": string(printed), "hash": hex.EncodeToString(hash[:]), "writes": d.MaxWrites, "priced": priced,
			"type": who.Type, "asked": asked, "name": who.Name,
		})
		return err
	})
	return newID, err
}

// DefinitionOf returns the definition that a run was started with.
func (w *Workflows) DefinitionOf(ctx context.Context, q pg.Querier, run id.ID) (Definition, error) {
	var d Definition
	raw, err := pg.Value[json.RawMessage](ctx, q, `select definition from workflow_run where id = $1`, run)
	if err != nil {
		return d, noRun(err)
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("stored definition: %w", err)
	}
	return d, nil
}

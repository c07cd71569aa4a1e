package workflow

import (
	"context"
	"time"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/cron"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Workflow is an agent that the household defined.
type Workflow struct {
	ID           id.ID         `json:"id" db:"id"`
	ShortID      string        `json:"short_id,omitempty" db:"short_id" required:"true"`
	Slug         string        `json:"slug" db:"slug" example:"review-queue"`
	Name         string        `json:"name" db:"name"`
	Description  string        `json:"description" db:"description"`
	Prompt       string        `json:"prompt" db:"prompt" doc:"The model's task"`
	PromptBlocks []string      `json:"prompt_blocks" db:"prompt_blocks" doc:"Slugs of the texts that stand before the prompt, in order"`
	Provider     *string       `json:"provider" db:"provider" enum:"anthropic,openai_compatible" doc:"null: the household default"`
	Model        *string       `json:"model" db:"model" doc:"null: the household default"`
	ModelSource  string        `json:"model_source" db:"-" enum:"own,default,none" doc:"Whose model it uses; none: it cannot run until a model is set"`
	Tools        []string      `json:"tools" db:"tools" doc:"Names of tools; empty: all tools of its scope, or only decide if it has a worklist"`
	Scope        string        `json:"scope" db:"scope" enum:"read_only,full_access"`
	Trigger      string        `json:"trigger" db:"trigger" enum:"manual,schedule,after_sync" doc:"What starts it while it is enabled"`
	Schedule     *string       `json:"schedule" db:"schedule" doc:"Five cron fields, in the household's time zone or in one that TZ= names" example:"0 7 * * 1"`
	ScheduleText *string       `json:"schedule_text" db:"-" doc:"The schedule in words" example:"every Monday at 07:00"`
	NextRunAt    *pg.Time      `json:"next_run_at" db:"due_at" doc:"When it starts next by itself; null if nothing is planned"`
	MaxTurns     int           `json:"max_turns" db:"max_turns" doc:"Model responses per run"`
	MaxCost      *money.Amount `json:"max_cost_usd" db:"max_cost_usd" doc:"The most that a run may cost, in US dollars; null means no limit"`
	MaxWrites    *int          `json:"max_writes" db:"max_writes" doc:"Writes that a run may make, one for each transaction and record; null means no limit beyond the household's"`
	MaxMinutes   int           `json:"max_minutes" db:"max_minutes"`
	DryRun       bool          `json:"dry_run" db:"dry_run" doc:"Changes are only proposed (a plan), and a person applies or drops the plan"`
	DistrustedAt *pg.Time      `json:"distrusted_at" db:"distrusted_at" doc:"When coffer set dry_run, because people found too many of its decisions wrong; null if it did not"`
	MakesRules   bool          `json:"makes_rules" db:"makes_rules" doc:"Allow it to create rules without approval, unless dry_run is set"`
	Worklist     *Worklist     `json:"worklist" db:"worklist" doc:"The transactions that it works through in sheets; null: it holds a conversation"`
	Report       string        `json:"report" db:"report" enum:"none,message,server" doc:"message: its last message becomes a report; server: coffer writes one about the run"`
	Enabled      bool          `json:"enabled" db:"enabled" doc:"Starts automatically; a person can always run it"`
	IsSystem     bool          `json:"is_system" db:"is_system" doc:"Built in: it can't be deleted"`
	Customized   bool          `json:"customized" db:"customized" doc:"A person changed this built-in workflow, so upgrades don't change it"`
	Version      int64         `json:"version" db:"version" doc:"Increases with every change of the definition"`
	LastRun      *LastRun      `json:"last_run" db:"-"`
	Estimate     *Estimate     `json:"estimate" db:"-" doc:"What a run uses"`
	Record       Record        `json:"record" db:"-" doc:"Track record of its decisions"`
	CreatedAt    pg.Time       `json:"created_at" db:"created_at"`
	UpdatedAt    pg.Time       `json:"updated_at" db:"updated_at"`
}

// Record counts the outcomes of a workflow's decisions.
type Record = trackrecord.WorkflowRecord

// A LastRun is the newest run of a workflow.
type LastRun struct {
	ID         id.ID         `json:"id"`
	ShortID    string        `json:"short_id,omitempty" required:"true"`
	Status     string        `json:"status" enum:"queued,running,succeeded,failed,cancelled,limit_reached"`
	PlanState  string        `json:"plan_state" enum:"none,waiting,applied,dropped"`
	CostUSD    *money.Micros `json:"cost_usd" doc:"null if a price is not known"`
	CreatedAt  pg.Time       `json:"created_at"`
	FinishedAt *pg.Time      `json:"finished_at"`
}

// An Estimate is the expected usage of a run.
type Estimate struct {
	Runs         int64         `json:"runs" doc:"Number of runs averaged; 0: an estimate from the definition"`
	InputTokens  int64         `json:"input_tokens"`
	OutputTokens int64         `json:"output_tokens"`
	CostUSD      *money.Micros `json:"cost_usd" doc:"null if the model's price is not known"`
}

// A stored is a Workflow as the database returns it, with its newest run and the averages of its
// last runs.
type stored struct {
	Workflow
	RunID       *id.ID   `db:"run_id"`
	RunShort    *string  `db:"run_short_id"`
	RunStatus   *string  `db:"run_status"`
	RunPlan     *string  `db:"run_plan"`
	RunCost     *int64   `db:"run_cost"`
	RunCreated  *pg.Time `db:"run_created"`
	RunFinished *pg.Time `db:"run_finished"`
	MeanRuns    int64    `db:"mean_runs"`
	MeanIn      int64    `db:"mean_in"`
	MeanOut     int64    `db:"mean_out"`
	MeanCost    *int64   `db:"mean_cost"`
}

// estimated is how many runs are averaged for an estimate.
const estimated = 5

const columns = `w.id, w.short_id, w.slug, w.name, w.description, w.prompt, w.prompt_blocks, w.provider, w.model,
	w.tools, w.scope, w.trigger, w.schedule, case when w.enabled then w.due_at end as due_at, w.max_turns,
	(w.max_cost_micros::numeric / 1000000)::numeric(12, 2) as max_cost_usd, w.max_writes, w.max_minutes, w.dry_run,
	case when w.dry_run then w.distrusted_at end as distrusted_at,
	w.makes_rules, w.worklist, w.report, w.enabled, w.is_system, w.customized, w.version, w.created_at, w.updated_at`

const workflows = `select ` + columns + `, r.id as run_id, r.short_id as run_short_id, r.status as run_status,
		r.plan_state as run_plan, r.cost_micros as run_cost, r.created_at as run_created,
		r.finished_at as run_finished, coalesce(m.runs, 0) as mean_runs, coalesce(m.input, 0) as mean_in,
		coalesce(m.output, 0) as mean_out, m.cost as mean_cost
	from workflow w
	left join lateral (select * from workflow_run r where r.workflow_id = w.id and r.trigger <> 'eval'
		order by r.id desc limit 1) r on true
	left join lateral (select count(*) as runs,
			ceil(avg(x.input_tokens + x.cache_read_tokens + x.cache_write_tokens))::bigint as input,
			ceil(avg(x.output_tokens))::bigint as output,
			case when count(*) = count(x.cost_micros) then ceil(avg(x.cost_micros))::bigint end as cost
		from (select * from workflow_run x where x.workflow_id = w.id and x.turns > 0 and x.trigger <> 'eval'
				and x.status in ('succeeded', 'limit_reached') order by x.id desc limit $1) x
		having count(*) > 0) m on true`

// records turns stored rows into the workflows that callers see.
func (w *Workflows) records(ctx context.Context, q pg.Querier, rows []stored) ([]Workflow, error) {
	models, err := w.models(ctx, q)
	if err != nil {
		return nil, err
	}
	ids := make([]id.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	records, err := trackrecord.OfWorkflows(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Workflow, len(rows))
	for i, r := range rows {
		chosen, err := models.of(r.Provider, r.Model)
		if err != nil {
			return nil, err
		}
		out[i] = r.Workflow
		out[i].ModelSource, out[i].Record = chosen.Source, records[r.ID]
		out[i].Estimate = r.estimate(chosen)
		if r.Schedule != nil {
			if s, err := cron.Parse(*r.Schedule, time.UTC); err == nil { // checked when it was stored
				out[i].ScheduleText = new(s.Describe())
			}
		}
		if r.RunID != nil {
			out[i].LastRun = &LastRun{
				ID: *r.RunID, ShortID: *r.RunShort, Status: *r.RunStatus, PlanState: *r.RunPlan,
				CostUSD: (*money.Micros)(r.RunCost), CreatedAt: *r.RunCreated, FinishedAt: r.RunFinished,
			}
		}
	}
	return out, nil
}

// All is the list of all workflows.
type All struct {
	Workflows []Workflow `json:"workflows"`
}

// List returns all workflows, by slug. There are few, so the list has no pages.
func (w *Workflows) List(ctx context.Context, q pg.Querier, _ op.None) (All, error) {
	rows, err := pg.All[stored](ctx, q, workflows+` order by w.slug limit $2`, estimated, 2*mostWorkflows)
	if err != nil {
		return All{}, err
	}
	out, err := w.records(ctx, q, rows)
	return All{out}, err
}

// A ToolWorkflow is a Workflow in the form of the tools: with its purpose, but without its
// instructions.
type ToolWorkflow struct {
	ID          id.ID         `json:"id" doc:"Short id"`
	Slug        string        `json:"slug"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Scope       string        `json:"scope" enum:"read_only,full_access"`
	Trigger     string        `json:"trigger" enum:"manual,schedule,after_sync"`
	Schedule    *string       `json:"schedule"`
	Enabled     bool          `json:"enabled"`
	DryRun      bool          `json:"dry_run"`
	MaxWrites   *int          `json:"max_writes"`
	MaxCost     *money.Amount `json:"max_cost_usd"`
	LastRun     *LastRun      `json:"last_run"`
}

// ToolWorkflows is the list of all workflows in the form of the tools.
type ToolWorkflows struct {
	Workflows []ToolWorkflow `json:"workflows"`
	Notes     []op.Note      `json:"notes,omitempty"`
}

func toolWorkflows(all All) ToolWorkflows {
	out, size := ToolWorkflows{Workflows: []ToolWorkflow{}}, 0
	for _, w := range all.Workflows {
		const rest = 600 // bytes of a record apart from its texts
		if size += rest + len(w.Name) + len(w.Description) + len(w.Slug); size > op.PageBytes {
			out.Notes = []op.Note{{Code: "truncated", Message: "not all workflows fit into one result"}}
			break
		}
		out.Workflows = append(out.Workflows, ToolWorkflow{
			w.ID, w.Slug, w.Name, w.Description, w.Scope, w.Trigger, w.Schedule, w.Enabled, w.DryRun, w.MaxWrites,
			w.MaxCost, w.LastRun,
		})
	}
	return out
}

// A Ref identifies a workflow.
type Ref struct {
	Slug string `json:"slug" minLength:"1" doc:"The workflow's slug, UUID or short id" example:"review-queue"`
}

func noWorkflow(err error) error { return pg.Found(err, "workflow", "{workflow.list} lists them") }

// find returns the id of the workflow that a reference identifies.
func (w *Workflows) find(ctx context.Context, q pg.Querier, ref string) (id.ID, error) {
	found, err := pg.Value[id.ID](ctx, q, `select id from workflow where id = $1 or slug = $2 or short_id = $3
		order by (slug = $2) desc limit 1`, pg.RefTo(ref).Args()...)
	return found, noWorkflow(err)
}

// lock returns the workflow that a reference identifies. Nobody else can change or start it until
// the transaction ends.
func (w *Workflows) lock(ctx context.Context, tx pg.Tx, ref string) (Workflow, error) {
	found, err := w.find(ctx, tx, ref)
	if err != nil {
		return Workflow{}, err
	}
	if _, err := pg.Value[id.ID](ctx, tx, `select id from workflow where id = $1 for update`, found); err != nil {
		return Workflow{}, noWorkflow(err)
	}
	return w.byID(ctx, tx, found)
}

func (w *Workflows) byID(ctx context.Context, q pg.Querier, workflow id.ID) (Workflow, error) {
	row, err := pg.One[stored](ctx, q, workflows+` where w.id = $2`, estimated, workflow)
	if err != nil {
		return Workflow{}, noWorkflow(err)
	}
	out, err := w.records(ctx, q, []stored{row})
	if err != nil {
		return Workflow{}, err
	}
	return out[0], nil
}

// Get returns one workflow.
func (w *Workflows) Get(ctx context.Context, q pg.Querier, in Ref) (Workflow, error) {
	found, err := w.find(ctx, q, in.Slug)
	if err != nil {
		return Workflow{}, err
	}
	return w.byID(ctx, q, found)
}

package workflow

import (
	"context"
	"reflect"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// newWrites is how many transactions a run of a new workflow may change by default.
const newWrites = 200

// microsPerCent turns cents into millionths of a dollar.
const microsPerCent = 10_000

// CreateWorkflow is the input of Create.
type CreateWorkflow struct {
	Slug         string        `json:"slug" minLength:"1" maxLength:"64" doc:"Lower-case words joined by - or _" example:"pocket-money"`
	Name         string        `json:"name" minLength:"1" maxLength:"200" format:"line" example:"Pocket money"`
	Description  string        `json:"description,omitempty" maxLength:"1000" doc:"Purpose"`
	Prompt       string        `json:"prompt" minLength:"1" maxLength:"20000" doc:"The model's task" example:"Tell us what was spent on toys last week."`
	PromptBlocks []string      `json:"prompt_blocks,omitempty" maxItems:"10" maxLength:"64" doc:"Slugs of the texts that stand before the prompt, in order" example:"[\"house\"]"`
	Provider     *string       `json:"provider,omitempty" enum:"anthropic,openai_compatible" doc:"Together with model; the household default if omitted"`
	Model        *string       `json:"model,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Tools        []string      `json:"tools,omitempty" maxItems:"100" maxLength:"64" doc:"Names of tools; empty: all tools of its scope"`
	Scope        string        `json:"scope" enum:"read_only,full_access" doc:"read_only: it can change nothing"`
	Trigger      string        `json:"trigger,omitempty" enum:"manual,schedule,after_sync" default:"manual" doc:"What starts it while it is enabled"`
	Schedule     *string       `json:"schedule,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"With trigger schedule: five cron fields, in the household's time zone or in one that TZ= names" example:"0 7 * * 1"`
	MaxTurns     int           `json:"max_turns,omitempty" minimum:"1" maximum:"200" default:"30" doc:"Model responses per run"`
	MaxCost      *money.Amount `json:"max_cost_usd,omitempty" doc:"The most that a run may cost, in US dollars; no limit if omitted"`
	MaxWrites    op.Null[int]  `json:"max_writes,omitzero" minimum:"0" maximum:"100000" doc:"Writes that a run may make, one for each transaction and record; 200 if omitted, null means no limit"`
	MaxMinutes   int           `json:"max_minutes,omitempty" minimum:"1" maximum:"720" default:"30"`
	DryRun       *bool         `json:"dry_run,omitempty" doc:"Changes are only proposed (a plan), and a person applies or drops the plan; true if omitted and the scope is full_access"`
	MakesRules   bool          `json:"makes_rules,omitempty" doc:"Whether it can create rules without approval"`
	Worklist     *Worklist     `json:"worklist,omitempty" doc:"The transactions that it works through in sheets; a conversation if omitted"`
	Report       *string       `json:"report,omitempty" enum:"none,message,server" doc:"message: its last message becomes a report; server: coffer writes one. Defaults to server with a worklist and to message without"`
	Enabled      bool          `json:"enabled,omitempty" doc:"Start automatically"`
}

// Create creates a workflow.
func (w *Workflows) Create(ctx context.Context, tx pg.Tx, in CreateWorkflow) (Workflow, error) {
	d := Workflow{
		Name: in.Name, Description: text.Prose(in.Description, 1000).Plain(), PromptBlocks: in.PromptBlocks,
		Provider: in.Provider, Model: in.Model, Tools: in.Tools, Scope: in.Scope, Trigger: in.Trigger,
		Schedule: in.Schedule, MaxTurns: in.MaxTurns, MaxCost: in.MaxCost, MaxWrites: in.MaxWrites.Value,
		MaxMinutes: in.MaxMinutes, DryRun: in.Scope == op.Full.String(), MakesRules: in.MakesRules,
		Worklist: in.Worklist, Report: ReportMessage, Enabled: in.Enabled,
	}
	if in.DryRun != nil {
		d.DryRun = *in.DryRun
	}
	if !in.MaxWrites.Set {
		d.MaxWrites = new(newWrites)
	}
	if in.Worklist != nil {
		d.Report = ReportServer
	}
	if in.Report != nil {
		d.Report = *in.Report
	}
	var err error
	if d.Slug, err = checkSlug(in.Slug); err != nil {
		return Workflow{}, err
	}
	if d.Prompt, err = prose("prompt", in.Prompt); err != nil {
		return Workflow{}, err
	}
	if err := w.check(ctx, tx, &d); err != nil {
		return Workflow{}, err
	}
	n, err := pg.Value[int](ctx, tx, `select count(*) from workflow`)
	if err != nil {
		return Workflow{}, err
	}
	if n >= mostWorkflows {
		return Workflow{}, errs.New(errs.Conflict, "limit of %d workflows reached; delete one first", mostWorkflows)
	}
	err = pg.Redraw(ctx, tx, "workflow_short_id", func(tx pg.Tx) error {
		d.ID = id.New()
		d.ShortID = d.ID.Short()
		return w.insert(ctx, tx, &d)
	})
	if err != nil {
		return Workflow{}, workflowSlug(err)
	}
	return w.byID(ctx, tx, d.ID)
}

func workflowSlug(err error) error {
	if pg.Violates(err, "workflow_slug") {
		return errs.New(errs.SlugConflict, "a workflow with this slug already exists; choose another slug")
	}
	return err
}

// args returns the fields that a person can set, as arguments for the table's columns.
func (d *Workflow) args(ctx context.Context, tx pg.Tx) (pg.Args, error) {
	var micros *int64
	if d.MaxCost != nil {
		micros = new(d.MaxCost.Cents() * microsPerCent)
	}
	due, err := firstDue(ctx, tx, d)
	return pg.Args{
		"id": d.ID, "short": d.ShortID, "slug": d.Slug, "name": d.Name, "description": d.Description,
		"prompt": d.Prompt, "blocks": orEmpty(d.PromptBlocks), "provider": d.Provider, "model": d.Model,
		"tools": orEmpty(d.Tools), "scope": d.Scope, "trigger": d.Trigger, "schedule": d.Schedule,
		"turns": d.MaxTurns, "cost": micros, "writes": d.MaxWrites, "minutes": d.MaxMinutes, "dry": d.DryRun,
		"rules": d.MakesRules, "worklist": d.Worklist, "report": d.Report, "enabled": d.Enabled, "due": due,
	}, err
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func (w *Workflows) insert(ctx context.Context, tx pg.Tx, d *Workflow) error {
	args, err := d.args(ctx, tx)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into workflow (id, short_id, slug, name, description, prompt, prompt_blocks, provider, model, tools, scope,
			trigger, schedule, max_turns, max_cost_micros, max_writes, max_minutes, dry_run, makes_rules, worklist, report,
			enabled, due_at)
		values (@id, @short, @slug, @name, @description, @prompt, @blocks, @provider, @model, @tools, @scope, @trigger,
			@schedule, @turns, @cost, @writes, @minutes, @dry, @rules, @worklist, @report, @enabled, @due)`, args)
	return err
}

// PatchWorkflow is the input of Patch. Absent fields do not change.
type PatchWorkflow struct {
	Slug         string                `json:"slug" minLength:"1" doc:"The workflow's slug, UUID or short id" example:"review-queue"`
	NewSlug      *string               `json:"new_slug,omitempty" minLength:"1" maxLength:"64" doc:"Renames it"`
	Name         *string               `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Description  *string               `json:"description,omitempty" maxLength:"1000"`
	Prompt       *string               `json:"prompt,omitempty" minLength:"1" maxLength:"20000"`
	PromptBlocks *[]string             `json:"prompt_blocks,omitempty" maxItems:"10" maxLength:"64" doc:"Replaces the whole list"`
	Provider     op.Null[string]       `json:"provider,omitzero" enum:"anthropic,openai_compatible" doc:"null, with model: null, means the household default"`
	Model        op.Null[string]       `json:"model,omitzero" minLength:"1" maxLength:"200" format:"line"`
	Tools        *[]string             `json:"tools,omitempty" maxItems:"100" maxLength:"64" doc:"Replaces the whole list; empty: all tools of its scope"`
	Scope        *string               `json:"scope,omitempty" enum:"read_only,full_access" doc:"full_access also sets dry_run if it was read_only, unless dry_run is given"`
	Trigger      *string               `json:"trigger,omitempty" enum:"manual,schedule,after_sync"`
	Schedule     op.Null[string]       `json:"schedule,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"With trigger schedule: five cron fields"`
	MaxTurns     *int                  `json:"max_turns,omitempty" minimum:"1" maximum:"200"`
	MaxCost      op.Null[money.Amount] `json:"max_cost_usd,omitzero" doc:"In US dollars; null means no limit"`
	MaxWrites    op.Null[int]          `json:"max_writes,omitzero" minimum:"0" maximum:"100000" doc:"null means no limit"`
	MaxMinutes   *int                  `json:"max_minutes,omitempty" minimum:"1" maximum:"720"`
	DryRun       *bool                 `json:"dry_run,omitempty"`
	MakesRules   *bool                 `json:"makes_rules,omitempty"`
	Worklist     op.Null[Worklist]     `json:"worklist,omitzero" doc:"null: it holds a conversation"`
	Report       *string               `json:"report,omitempty" enum:"none,message,server"`
	Enabled      *bool                 `json:"enabled,omitempty"`
}

// set assigns the value to the field if there is one.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// apply changes the definition.
func (in PatchWorkflow) apply(d *Workflow) (err error) {
	if in.NewSlug != nil {
		if d.Slug, err = checkSlug(*in.NewSlug); err != nil {
			return err
		}
	}
	if in.Prompt != nil {
		if d.Prompt, err = prose("prompt", *in.Prompt); err != nil {
			return err
		}
	}
	if in.Description != nil {
		d.Description = text.Prose(*in.Description, 1000).Plain()
	}
	if in.Scope != nil && *in.Scope == op.Full.String() && d.Scope != *in.Scope {
		d.DryRun = true // at first, only propose changes
	}
	if in.Trigger != nil && *in.Trigger != Schedule && !in.Schedule.Set {
		d.Schedule = nil
	}
	if in.Provider.Set {
		d.Provider = in.Provider.Value
	}
	if in.Model.Set {
		d.Model = in.Model.Value
	}
	if in.Schedule.Set {
		d.Schedule = in.Schedule.Value
	}
	if in.MaxCost.Set {
		d.MaxCost = in.MaxCost.Value
	}
	if in.MaxWrites.Set {
		d.MaxWrites = in.MaxWrites.Value
	}
	if in.Worklist.Set {
		in.work(d)
	}
	set(&d.Name, in.Name)
	set(&d.PromptBlocks, in.PromptBlocks)
	set(&d.Tools, in.Tools)
	set(&d.Scope, in.Scope)
	set(&d.Trigger, in.Trigger)
	set(&d.MaxTurns, in.MaxTurns)
	set(&d.MaxMinutes, in.MaxMinutes)
	set(&d.DryRun, in.DryRun)
	set(&d.MakesRules, in.MakesRules)
	set(&d.Report, in.Report)
	set(&d.Enabled, in.Enabled)
	return nil
}

// work changes the worklist. A new worklist also changes the tools and the author of the report,
// unless the call sets them.
func (in PatchWorkflow) work(d *Workflow) {
	d.Worklist = in.Worklist.Value
	switch {
	case d.Worklist == nil && d.Report == ReportServer:
		d.Report = ReportMessage
	case d.Worklist != nil && d.Report == ReportMessage:
		d.Report = ReportServer
	}
	if d.Worklist != nil {
		d.Tools = []string{}
	}
}

// Patch changes a workflow.
func (w *Workflows) Patch(ctx context.Context, tx pg.Tx, in PatchWorkflow) (Workflow, error) {
	was, err := w.lock(ctx, tx, in.Slug)
	if err != nil {
		return Workflow{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return Workflow{}, err
	}
	now := was
	if err := in.apply(&now); err != nil {
		return Workflow{}, err
	}
	if err := w.check(ctx, tx, &now); err != nil {
		return Workflow{}, err
	}
	return w.save(ctx, tx, was, now)
}

// save stores a changed definition.
func (w *Workflows) save(ctx context.Context, tx pg.Tx, was, now Workflow) (Workflow, error) {
	if reflect.DeepEqual(was, now) {
		return was, nil
	}
	args, err := now.args(ctx, tx)
	if err != nil {
		return Workflow{}, err
	}
	args["customized"] = was.Customized || was.IsSystem && now.does(was)
	args["timed"] = was.Enabled != now.Enabled || was.Trigger != now.Trigger ||
		!reflect.DeepEqual(was.Schedule, now.Schedule)
	_, err = pg.Exec(ctx, tx, `
		update workflow set slug = @slug, name = @name, description = @description, prompt = @prompt,
			prompt_blocks = @blocks, provider = @provider, model = @model, tools = @tools, scope = @scope,
			trigger = @trigger, schedule = @schedule, max_turns = @turns, max_cost_micros = @cost, max_writes = @writes,
			max_minutes = @minutes, dry_run = @dry, makes_rules = @rules, worklist = @worklist, report = @report,
			enabled = @enabled, due_at = case when @timed then @due else due_at end, customized = @customized,
			distrusted_at = case when dry_run = @dry then distrusted_at when not @dry then clock_timestamp() end,
				version = version + 1, updated_at = clock_timestamp()
		where id = @id`, args)
	if err != nil {
		return Workflow{}, workflowSlug(err)
	}
	if was.Enabled && !now.Enabled {
		if err := w.cancelQueued(ctx, tx, was.ID); err != nil {
			return Workflow{}, err
		}
	}
	return w.byID(ctx, tx, was.ID)
}

// does reports whether the workflow now does something different. Its model, its trigger and its
// limits don't count: they are the household's choice, and upgrades never touch them.
func (d *Workflow) does(before Workflow) bool {
	what := func(d *Workflow) []any {
		return []any{
			d.Slug, d.Name, d.Description, d.Prompt, orEmpty(d.PromptBlocks), orEmpty(d.Tools), d.Scope, d.MakesRules,
			d.Worklist, d.Report,
		}
	}
	return !reflect.DeepEqual(what(d), what(&before))
}

// Delete removes a workflow. Its runs stay, because the journal refers to them.
func (w *Workflows) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	was, err := w.lock(ctx, tx, in.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if was.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected,
			"%s is shipped with coffer and cannot be deleted; {workflow.disable} keeps it from starting", was.Slug)
	}
	if err := w.cancelQueued(ctx, tx, was.ID); err != nil {
		return op.Deleted{}, err
	}
	running, err := pg.Value[bool](ctx, tx, `select exists (select from workflow_run where workflow_id = $1
		and status in ('queued', 'running'))`, was.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if running {
		return op.Deleted{}, errs.New(errs.Conflict,
			"a run of this workflow is in progress; wait for it, or cancel it with {workflow-run.cancel}")
	}
	_, err = pg.Exec(ctx, tx, `delete from workflow where id = $1`, was.ID)
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

// Enable lets a workflow start by itself.
func (w *Workflows) Enable(ctx context.Context, tx pg.Tx, in Ref) (Workflow, error) {
	return w.enable(ctx, tx, in, true)
}

// Disable keeps a workflow from starting by itself. A queued run is canceled; a running one
// continues.
func (w *Workflows) Disable(ctx context.Context, tx pg.Tx, in Ref) (Workflow, error) {
	return w.enable(ctx, tx, in, false)
}

func (w *Workflows) enable(ctx context.Context, tx pg.Tx, in Ref, on bool) (Workflow, error) {
	was, err := w.lock(ctx, tx, in.Slug)
	if err != nil {
		return Workflow{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return Workflow{}, err
	}
	now := was
	now.Enabled = on
	return w.save(ctx, tx, was, now)
}

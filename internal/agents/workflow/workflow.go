package workflow

import (
	"slices"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/report"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/settings"
)

// Config holds the dependencies of Workflows.
type Config struct {
	DB       *pg.DB
	Jobs     *job.Jobs
	Books    *ledger.Books
	Settings *settings.Settings
	Undo     *journal.Undo
	Reports  *report.Reports
	// Menu returns every op of the service. It is called only when a tool is looked up, because the
	// list also contains the ops of this package and is complete only later.
	Menu func() []*op.Op
}

// Workflows are the agents of one household.
type Workflows struct {
	db       *pg.DB
	jobs     *job.Jobs
	books    *ledger.Books
	settings *settings.Settings
	undo     *journal.Undo
	reports  *report.Reports
	menu     func() []*op.Op
	settled  time.Duration
}

// New returns Workflows with these dependencies.
func New(c Config) *Workflows {
	return &Workflows{
		db: c.DB, jobs: c.Jobs, books: c.Books, settings: c.Settings, undo: c.Undo, reports: c.Reports, menu: c.Menu,
		settled: settled,
	}
}

// Ops returns the operations on workflows. Those that start, change or approve an agent are
// reserved for people, because an agent that could use them would have no limits.
func (w *Workflows) Ops() []*op.Op {
	return slices.Concat(w.definitionOps(), w.runOps(), w.blockOps())
}

func (w *Workflows) definitionOps() []*op.Op {
	return []*op.Op{
		op.Shaped(op.Reading(op.Spec{
			Name: "workflow.list", Route: "GET /workflows", Tool: "list_workflows", Record: true,
			Summary: "Lists the household's agents, by slug.",
			Agent: "Lists the household's own agents (workflows): purpose, trigger, limits and result of the " +
				"last run. Only people can start, change or approve them.",
		}, w.List), toolWorkflows),
		op.Writing(op.Spec{
			Name: "workflow.create", Route: "POST /workflows", People: op.PeopleAlways,
			Summary: "Creates an agent: a prompt, its tools, its trigger and its limits.",
		}, w.Create),
		op.Reading(op.Spec{
			Name: "workflow.get", Route: "GET /workflows/{slug}", Summary: "Shows one agent.",
		}, w.Get),
		op.Writing(op.Spec{
			Name: "workflow.update", Route: "PATCH /workflows/{slug}", People: op.PeopleAlways,
			Summary: "Changes an agent. A run in progress keeps its definition.",
		}, w.Patch),
		op.Writing(op.Spec{
			Name: "workflow.delete", Route: "DELETE /workflows/{slug}", People: op.PeopleAlways,
			Summary: "Deletes an agent. Its runs and their changes are kept.",
		}, w.Delete),
		op.Writing(op.Spec{
			Name: "workflow.enable", Route: "POST /workflows/{slug}/enable", People: op.PeopleAlways,
			Summary: "Enables an agent's schedule or after-sync trigger.",
		}, w.Enable),
		op.Writing(op.Spec{
			Name: "workflow.disable", Route: "POST /workflows/{slug}/disable", People: op.PeopleAlways,
			Summary: "Disables an agent's automatic start and cancels a queued run.",
		}, w.Disable),
		op.Long(op.Writing(op.Spec{
			Name: "workflow.run", Route: "POST /workflows/{slug}/run", People: op.PeopleAlways, Provided: true,
			Summary: "Runs an agent now, even if disabled. If a run is in progress, returns that run.",
		}, w.Run), 0, w.await),
		op.Long(op.Writing(op.Spec{
			Name: "workflow.eval", Route: "POST /workflows/{slug}/eval", People: op.PeopleAlways, Provided: true,
			Summary: "Tests an agent's accuracy against people's past decisions, using the data available at " +
				"the time. It changes nothing.",
		}, w.Eval), 0, w.await),
		op.Reading(op.Spec{
			Name: "workflow.runs", Route: "GET /workflows/{slug}/runs", Summary: "Lists an agent's runs, newest first.",
		}, w.RunsOf),
	}
}

func (w *Workflows) runOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "workflow-run.list", Route: "GET /workflow-runs",
			Summary: "Lists runs of all agents, newest first.",
		}, w.Runs),
		op.Reading(op.Spec{
			Name: "workflow-run.get", Route: "GET /workflow-runs/{id}",
			Summary: "Shows one run: its status, cost, changes and plan.",
		}, w.RunByID),
		op.Writing(op.Spec{
			Name: "workflow-run.cancel", Route: "POST /workflow-runs/{id}/cancel", People: op.PeopleAlways,
			Summary: "Stops a run. Its changes so far are kept and can be reverted.",
		}, w.Cancel),
		op.Writing(op.Spec{
			Name: "workflow-run.revert", Route: "POST /workflow-runs/{id}/revert", People: op.PeopleUnlessDry,
			Summary: "Undoes every change of a run.",
		}, w.Revert),
	}
}

func (w *Workflows) blockOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "prompt-block.list", Route: "GET /prompt-blocks", Record: true,
			Summary: "Lists prompt blocks, which several prompts share, by slug.",
		}, w.Blocks),
		op.Writing(op.Spec{
			Name: "prompt-block.create", Route: "POST /prompt-blocks", People: op.PeopleAlways,
			Summary: "Creates a prompt block for several prompts.",
		}, w.CreateBlock),
		op.Reading(op.Spec{
			Name: "prompt-block.get", Route: "GET /prompt-blocks/{slug}", Summary: "Shows one prompt block.",
		}, w.Block),
		op.Writing(op.Spec{
			Name: "prompt-block.update", Route: "PATCH /prompt-blocks/{slug}", People: op.PeopleAlways,
			Summary: "Changes a prompt block, for all agents that use it.",
		}, w.PatchBlock),
		op.Writing(op.Spec{
			Name: "prompt-block.delete", Route: "DELETE /prompt-blocks/{slug}", People: op.PeopleAlways,
			Summary: "Deletes a prompt block that no agent uses.",
		}, w.DeleteBlock),
	}
}

// runTimeout is how long one try of a run's job may take. A run's own limit in minutes is always
// shorter.
const runTimeout = 13 * time.Hour

// Package run carries out workflow runs: it asks models, runs the tools that they call, and records
// what happens. It writes no table itself: package workflow does, and every tool call is an op.
//
// # The loop
//
// The transcript is the run's whole state. A worker reads the lines, does the open work, and adds
// lines, so another server can continue after any line. Every tool call commits in the job's fenced
// batch together with the lines that record it. If the worker is killed, both exist or neither
// does. Only a model call is made outside a batch. Its cost is reserved before, so a lost call is
// counted and made again: model calls happen at least once, effects exactly once.
//
// # The gate
//
// The model is not trusted. Every call goes through [gate], which decides whether the call is made,
// planned for a person, or rejected. The journal entries of each call are checked again afterwards.
//
// # Modes
//
// A [mode] decides which messages the model gets and how its calls are handled. A conversation
// gives it the workflow's tools; a worklist gives it sheets of transactions and one tool.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/report"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Models returns the configured model servers.
type Models interface {
	// Model returns the client of a provider.
	Model(ctx context.Context, provider string) (llm.Client, error)
	// Price returns the price of a model, and false if it is unknown.
	Price(ctx context.Context, q pg.Querier, provider, name string) (llm.Price, bool, error)
}

// A Config holds the dependencies of an Agent.
type Config struct {
	DB      *pg.DB
	Store   *workflow.Store
	Journal *journal.Journal
	Books   *ledger.Books
	Reports *report.Reports
	Models  Models
	Evals   Evals
}

// An Agent carries out runs.
type Agent struct {
	Config
	runner *op.Runner
	tools  map[string]*op.Op
	names  []string // of tools, in the order of the menu
}

// New returns an Agent that has no tools yet.
func New(c Config) *Agent { return &Agent{Config: c} }

// Use sets the ops that the agent may call, and the runner for them. The menu also contains the ops
// of workflows, which need the agent. So the menu can only be built after the agent.
func (a *Agent) Use(runner *op.Runner, menu []*op.Op) {
	a.runner, a.tools, a.names = runner, map[string]*op.Op{}, nil
	for _, o := range menu {
		if o.Tool != "" {
			a.tools[o.Tool] = o
			a.names = append(a.names, o.Tool)
		}
	}
}

// A Result is the result of a run's job.
type Result struct {
	RunID  id.ID  `json:"run_id"`
	Status string `json:"status" enum:"succeeded,limit_reached,failed,cancelled"`
}

// Work runs the job of a workflow run. The job and the run have the same id.
func (a *Agent) Work(ctx context.Context, j *job.Run) (any, error) {
	r := &run{Agent: a, job: j}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	if !r.live.Ended() { // a worker may die between the run's last batch and the end of its job
		if err := r.loop(ctx); err != nil {
			return nil, err
		}
	}
	return Result{r.live.ID, r.live.Status}, nil
}

// A run is a workflow run that a worker is executing.
type run struct {
	*Agent
	job    *job.Run
	live   workflow.Live
	def    workflow.Definition
	actor  op.Actor
	client llm.Client
	state  state
	mode   mode
}

// A mode determines how a run uses its model. There are three: conversations for workflows without
// a worklist, sheets for those with one, and measuring for evals. A mode must be able to restore
// its state from run.state or from the books, because another worker may continue after any batch.
//
// A mode writes through run.batch, which commits effects and lines together. For tool calls of the
// model it uses run.perform, which calls ops and applies the gate, the limits and the plan.
type mode interface {
	// next is called when every call of the last answer has its result. It returns the messages for
	// the model, or that the run is done. A line of kind system begins a new conversation: earlier
	// messages are not sent again.
	next(ctx context.Context, r *run) (say []workflow.Say, done bool, err error)
	// tools returns the tools that the model may call now. They must be the same, byte for byte,
	// for the whole conversation.
	tools(r *run) []llm.Tool
	// call carries out one call of the last answer and writes its lines: at least a result. It is
	// not called for calls that are invalid or repeated.
	call(ctx context.Context, r *run, c call) error
	// finish adds the last lines and effects of a run, such as its report, unless the run fails or
	// is canceled. limit is "" if the run ended by itself.
	finish(ctx context.Context, tx pg.Tx, r *run, limit string) ([]workflow.Say, error)
}

// start takes over the run, and rebuilds its state from the lines.
func (r *run) start(ctx context.Context) error {
	was, err := r.Store.Load(ctx, r.DB, r.job.ID())
	if err != nil {
		return err
	}
	if r.def, err = was.Read(); err != nil {
		return err
	}
	_, priced, err := r.Models.Price(ctx, r.DB, r.def.Provider, r.def.Model)
	if err != nil {
		return err
	}
	err = r.job.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		now, resumed, err := r.Store.Start(ctx, tx, was.ID, priced)
		if err != nil {
			return job.Step{}, err
		}
		r.live = now
		if resumed {
			_, err = r.Store.Append(ctx, tx, was.ID, note("The run was resumed."))
		}
		return job.Step{Total: int64(r.def.MaxTurns)}, err
	})
	if err != nil || r.live.Ended() {
		return err
	}
	at("started")
	r.actor = r.live.Actor(r.def)
	lines, err := r.Store.Lines(ctx, r.DB, r.live.ID)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := r.state.fold(l); err != nil {
			return err
		}
	}
	if r.client, err = r.Models.Model(ctx, r.def.Provider); err != nil {
		return err
	}
	r.mode = r.modeOf(r.def)
	return nil
}

// batch commits effects and lines together, and then adds the lines to the state. f may run more
// than once, so it must not change anything except the database and its return values.
func (r *run) batch(ctx context.Context, step job.Step, f func(context.Context, pg.Tx) ([]workflow.Say, error)) error {
	var lines []workflow.Line
	err := r.job.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		say, err := f(ctx, tx)
		if err != nil {
			return job.Step{}, err
		}
		if lines, err = r.Store.Append(ctx, tx, r.live.ID, say...); err != nil {
			return job.Step{}, err
		}
		r.live, err = r.Store.Load(ctx, tx, r.live.ID)
		return step, err
	})
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := r.state.fold(l); err != nil {
			return err
		}
	}
	return nil
}

// note returns a line with a remark of coffer itself.
func note(format string, args ...any) workflow.Say {
	return workflow.Say{Kind: workflow.LineNote, Body: noteLine{fmt.Sprintf(format, args...)}}
}

// failed returns the error that ends a run that cannot continue.
func failed(code errs.Code, format string, args ...any) error {
	return job.Final(errs.New(code, format, args...))
}

// pauses are the waits after consecutive failures of a model server.
var pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// later returns an error after which the job is tried again. The job counts its failures since its
// last batch, so the run has its own count, which decides when to give up.
func later(err error, failures int, asked time.Duration) error {
	pause := pauses[min(failures, len(pauses))-1]
	if failures >= mostFailures || asked > pauses[len(pauses)-1] {
		return job.Final(err)
	}
	face := errs.Public(err, "")
	return errs.Wrap(err, face.Code, "%s", face.Message).Later(max(pause, asked))
}

// A limitError ends a run at a limit.
type limitError struct {
	name        string
	limit, used any
}

func (e *limitError) Error() string { return "the run reached its limit " + e.name }

// isLimit returns the limit that err is about, or nil.
func isLimit(err error) *limitError {
	e, _ := errors.AsType[*limitError](err)
	return e
}

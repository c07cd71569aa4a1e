// Package run carries out workflow runs: it asks models, runs the tools that they call, and
// writes down what happens. It writes no table; package workflow does, and every tool call is an
// op.
//
// # The loop
//
// The transcript is the run's whole state. A worker reads the lines, works on what they leave open,
// and adds more, so another server can go on after any of them. Every tool call commits in the
// job's fenced batch with the lines that record it: a kill leaves both or neither. Only a model
// call is made outside a batch. Its cost is reserved before, so a lost call is counted and made
// again: model calls happen at least once, effects exactly once.
//
// # The gate
//
// The model is not trusted. Every call goes through [gate], which decides whether the call is done,
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

// Models are the model servers as they are configured now.
type Models interface {
	// Model returns the client of a provider.
	Model(ctx context.Context, provider string) (llm.Client, error)
	// Price returns what a model costs, and false if that is not known.
	Price(ctx context.Context, q pg.Querier, provider, name string) (llm.Price, bool, error)
}

// A Config is what an Agent is made of.
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
	names  []string // of tools, in the menu's order
}

// New returns an Agent that has no tools yet.
func New(c Config) *Agent { return &Agent{Config: c} }

// Use gives the agent the ops that it may call, and what runs them. The menu also has the ops of
// workflows, which need the agent, so it cannot exist before the agent does.
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

// Work is the job of a run, which has the run's id.
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

// A run is a workflow run in the hands of one worker.
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

// A mode is what a run does with its model. The conversation of a workflow without a worklist is
// one; sheets are the other. A mode keeps nothing that it cannot read from run.state or from the
// books: another worker may go on after any batch.
//
// A mode writes through run.batch (effects and lines in one commit) and through run.perform, which
// makes calls of ops on behalf of a call of the model, with the gate, the limits and the plan.
type mode interface {
	// next is called when every call of the last answer has its result. It returns the messages for
	// the model, or that the run is done. A line of kind system begins a new conversation: earlier
	// messages are not sent again.
	next(ctx context.Context, r *run) (say []workflow.Say, done bool, err error)
	// tools are those that the model may call now. They must be the same, byte for byte, for the
	// whole conversation.
	tools(r *run) []llm.Tool
	// call carries out one call of the last answer and writes its lines: a result at least. It is
	// not called for calls that were broken or repeated.
	call(ctx context.Context, r *run, c call) error
	// finish adds the last lines and effects of a run, such as its report, unless the run was
	// broken off. limit is "" if the run ended by itself.
	finish(ctx context.Context, tx pg.Tx, r *run, limit string) ([]workflow.Say, error)
}

// start takes the run over, and rebuilds its state from the lines.
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

// batch commits effects and lines together, and then takes the lines into the state. f may run more
// than once, so it changes nothing but the database and what it returns.
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

// note returns a line that is from coffer itself.
func note(format string, args ...any) workflow.Say {
	return workflow.Say{Kind: workflow.LineNote, Body: noteLine{fmt.Sprintf(format, args...)}}
}

// failed is the end of a run that cannot go on.
func failed(code errs.Code, format string, args ...any) error {
	return job.Final(errs.New(code, format, args...))
}

// pauses are the waits after failures of a model server, one after the other.
var pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

// later returns a failure after which the job is tried again. The job counts its failures from the
// last batch on, so the run has a count of its own that decides when to give up.
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

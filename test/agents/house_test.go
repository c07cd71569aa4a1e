// Package agents runs workflows of a household against simulated model servers: whole
// conversations, their limits, plans and costs. The models are scripts, so no test calls a real
// one.
package agents_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"coffer/internal/agents/eval"
	"coffer/internal/agents/run"
	"coffer/internal/agents/workflow"
	"coffer/internal/app"
	"coffer/internal/llm"
	"coffer/internal/llm/all"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/household"
	"coffer/internal/sim/models"
)

// A house is the service with a household, and a model server that plays a script.
type house struct {
	*app.App
	t      testing.TB
	sim    *models.Server
	models *modelServer
	end    time.Time // the last day of the household's data; zero means the generator's default
}

// A modelServer replaces the configured model servers of a house: one server, with a price that
// tests set.
type modelServer struct {
	mu     sync.Mutex
	client llm.Client
	price  *llm.Price
}

func (m *modelServer) Model(context.Context, string) (llm.Client, error) { return m.client, nil }

func (m *modelServer) Price(context.Context, pg.Querier, string, string) (llm.Price, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.price == nil {
		return llm.Price{}, false, nil
	}
	return *m.price, true, nil
}

// cheap is a price of $1 for a million input tokens and $5 for a million output tokens.
var cheap = llm.Price{Input: 1_000_000, CacheRead: 100_000, CacheWrite: 1_250_000, Output: 5_000_000}

func newHouse(t testing.TB, script models.Script) *house {
	t.Helper()
	return newHouseOf(t, script, 400)
}

// newHouseOf does the same as newHouse, with that many transactions.
func newHouseOf(t testing.TB, script models.Script, transactions int) *house {
	t.Helper()
	h := &house{t: t, models: &modelServer{price: &cheap}}
	h.replace(models.Options{Script: script})
	h.build(transactions, func() {
		store := &workflow.Store{Journal: h.Journal, Reports: h.Reports}
		a := run.New(run.Config{
			DB: h.DB, Store: store, Journal: h.Journal, Books: h.Books, Reports: h.Reports, Models: h.models,
			Evals: eval.New(h.Rules),
		})
		a.Use(h.Runner, h.Ops())
		h.Jobs.Add(h.Workflows.Kind(a.Work))
	})
	return h
}

// ownHouse returns a house that takes its model server from the household's settings.
func ownHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, models: &modelServer{}}
	h.replace(models.Options{})
	h.build(400, func() {})
	return h
}

// build builds the service with a household. It calls before ahead of starting the jobs.
func (h *house) build(transactions int, before func()) {
	h.t.Helper()
	t := h.t
	var err error
	h.App, err = app.Build(t.Context(), app.Config{DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 8},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.DB.Close)
	people := household.New(household.Options{
		Seed: 7, Transactions: transactions, Years: max(1, transactions/100_000), End: h.end,
	})
	if err := h.Seed(t.Context(), people, io.Discard); err != nil {
		t.Fatal(err)
	}
	before()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- h.Jobs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("jobs: %v", err)
		}
	})
}

// replace gives the house another model server.
func (h *house) replace(o models.Options) {
	h.t.Helper()
	sim, err := models.New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(sim.Close)
	spec, err := all.Find("openai_compatible")
	if err != nil {
		h.t.Fatal(err)
	}
	client, err := spec.New(llm.Config{BaseURL: sim.Base(models.OpenAI)})
	if err != nil {
		h.t.Fatal(err)
	}
	h.sim, h.models.client = sim, client
}

// reader returns a workflow that only reads.
func reader() workflow.Definition {
	return workflow.Definition{
		Slug: "weekly-digest", Name: "Weekly summary", Version: 1, System: "You look after a household's books.",
		Prompt: "Say what happened last week.", Provider: "openai_compatible", Model: "sim", Scope: "read_only",
		MaxTurns: 12, MaxMinutes: 10, Report: "message",
		Tools: []string{"get_overview", "transaction_summary", "query_transactions"},
	}
}

// start queues a run.
func (h *house) start(d workflow.Definition) id.ID {
	h.t.Helper()
	return h.startOf(d, nil)
}

// startOf queues a run of a stored workflow.
func (h *house) startOf(d workflow.Definition, of *id.ID) id.ID {
	h.t.Helper()
	printed, err := json.Marshal(d)
	if err != nil {
		h.t.Fatal(err)
	}
	run, mode := id.New(), workflow.Doing
	if d.DryRun {
		mode = workflow.Planning
	}
	err = h.DB.InTx(h.t.Context(), func(tx pg.Tx) error {
		_, err := pg.Exec(h.t.Context(), tx, `insert into workflow_run (id, short_id, workflow_slug, trigger, mode,
			definition, definition_hash, max_writes, asked_type, asked_name, workflow_id) values ($1, $2, $3, 'manual', $4,
			$5, 'hash', $6, 'user', 'Ada', $7)`, run, run.Short(), d.Slug, mode, string(printed), d.MaxWrites, of)
		if err != nil {
			return err
		}
		_, err = h.Jobs.Enqueue(op.WithActor(h.t.Context(), ada), tx, workflow.RunKind, map[string]any{"run": run},
			job.Options{ID: run})
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

var ada = op.Actor{Type: op.User, ID: id.Must("00000000-0000-7000-8000-0000000000ad"), Name: "Ada", Scope: op.Full}

// A told holds everything that is stored about a run.
type told struct {
	Status    string  `db:"status"`
	Mode      string  `db:"mode"`
	Limit     *string `db:"limit_name"`
	Turns     int     `db:"turns"`
	Cost      *int64  `db:"cost_micros"`
	PlanState string  `db:"plan_state"`
	Report    *string `db:"report"`
	Kind      *string `db:"kind"`
	Error     *string `db:"error"`
	Changes   int     `db:"changes"`
}

// run runs a workflow until it ends.
func (h *house) run(d workflow.Definition) (told, []workflow.Line) {
	h.t.Helper()
	return h.wait(h.start(d))
}

func (h *house) wait(run id.ID) (told, []workflow.Line) {
	h.t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		j, err := h.Jobs.Wait(h.t.Context(), run, 20*time.Second)
		if err != nil {
			h.t.Fatal(err)
		}
		if j.Ended() {
			break
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("the run does not end: %+v %v", j, h.lines(run))
		}
	}
	out, err := pg.One[told](h.t.Context(), h.DB, `select r.status, mode, limit_name, turns, cost_micros, plan_state,
		p.body as report, p.kind, r.error_message as error,
		(select count(*) from change c where c.actor_id = r.id) as changes
		from workflow_run r left join report p on p.id = r.report_id where r.id = $1`, run)
	if err != nil {
		h.t.Fatal(err)
	}
	return out, h.lines(run)
}

// play has a stored workflow run over the API until it ends, also if that takes longer than a call
// waits, and reads the run.
func (h *house) play(slug string, into any) {
	h.t.Helper()
	var made struct {
		ID id.ID `json:"id"`
	}
	h.must("workflow.run", map[string]any{"slug": slug, "wait": "30s"}, &made)
	h.wait(made.ID)
	h.must("workflow-run.get", map[string]any{"id": made.ID.String()}, into)
}

func (h *house) lines(run id.ID) []workflow.Line {
	h.t.Helper()
	lines, err := pg.All[workflow.Line](h.t.Context(), h.DB,
		`select seq, at, kind, body from workflow_line where run_id = $1 order by seq`, run)
	if err != nil {
		h.t.Fatal(err)
	}
	return lines
}

// kinds returns the kinds of the lines, in order.
func kinds(lines []workflow.Line) []string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Kind)
	}
	return out
}

// call makes a call as Ada.
func (h *house) call(name string, args map[string]any) (op.Answer, error) {
	h.t.Helper()
	for _, o := range h.Ops() {
		if o.ID() == name || o.Tool == name {
			return h.Runner.Call(h.t.Context(), o, op.Call{
				Actor: ada, Surface: op.REST, Args: args, RequestID: "test",
			})
		}
	}
	h.t.Fatalf("there is no op %s", name)
	return op.Answer{}, nil
}

// must makes a call as Ada, which must succeed.
func (h *house) must(name string, args map[string]any, into any) {
	h.t.Helper()
	answer, err := h.call(name, args)
	if err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Body, into); err != nil {
			h.t.Fatal(err)
		}
	}
}

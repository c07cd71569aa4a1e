package workflow

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/report"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/settings"
)

// A bench is Workflows with a database of their own, and a person as the caller.
type bench struct {
	*Workflows
	t   *testing.T
	ctx context.Context //nolint:containedctx // of the whole test
	set *settings.Settings
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db := pgtest.New(t)
	f := category.New(ledger.CategoryUser{})
	books := ledger.New(db, f)
	jobs := job.New(db, nil)
	set := settings.New(settings.Config{DB: db})
	j := journal.New(journal.Config{DB: db, Subjects: append(f.Subjects(), books.Subjects()...)})
	b := &bench{t: t, set: set, ctx: op.WithActor(context.WithoutCancel(t.Context()), op.Actor{
		Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full,
	})}
	b.Workflows = New(Config{
		DB: db, Jobs: jobs, Books: books, Settings: set, Undo: journal.NewUndo(j, jobs), Reports: report.New(),
		Menu: func() []*op.Op { return append(stubs(), b.Ops()...) },
	})
	jobs.Add(b.Kind(func(context.Context, *job.Run) (any, error) { return nil, nil })) //nolint:nilnil // no result
	return b
}

// stubs returns tools that do nothing, for all names that presets use.
func stubs() (out []*op.Op) {
	none := func(context.Context, pg.Querier, op.None) (op.None, error) { return op.None{}, nil }
	_, all, err := presets()
	if err != nil {
		panic(err)
	}
	for _, p := range all {
		for _, name := range p.Tools {
			out = append(out, op.Reading(op.Spec{Tool: name, Summary: "Nothing."}, none))
		}
	}
	return out
}

// in runs f in a transaction.
func in[T any](b *bench, f func(context.Context, pg.Tx) (T, error)) (out T, err error) {
	b.t.Helper()
	err = b.db.InTx(b.ctx, func(tx pg.Tx) (err error) {
		out, err = f(b.ctx, tx)
		return err
	})
	return out, err
}

func must[T any](b *bench, f func(context.Context, pg.Tx) (T, error)) T {
	b.t.Helper()
	out, err := in(b, f)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) create(w CreateWorkflow) Workflow {
	b.t.Helper()
	return must(b, func(ctx context.Context, tx pg.Tx) (Workflow, error) { return b.Create(ctx, tx, w) })
}

func (b *bench) model() {
	b.t.Helper()
	must(b, func(ctx context.Context, tx pg.Tx) (settings.Models, error) {
		return b.set.SetModel(ctx, tx, settings.SetModel{
			Provider: "openai_compatible", BaseURL: op.Null[string]{Set: true, Value: new("http://127.0.0.1:1")},
			Prices: &[]settings.Price{{Model: "small", Input: "0.5", Output: "2"}},
		})
	})
}

// local returns a workflow with its own model.
func local(slug string) CreateWorkflow {
	return CreateWorkflow{
		Slug: slug, Name: slug, Prompt: "Say hello.", Scope: "full_access", Trigger: Manual, MaxTurns: 5, MaxMinutes: 5,
		Provider: new("openai_compatible"), Model: new("small"),
	}
}

// Presets are stored once and upgraded when their text changes. They are not changed if a person
// has changed them.
func TestPresets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n, err := b.FillPresets(b.ctx)
	if err != nil || n != 10 {
		t.Fatalf("%d texts: %v", n, err)
	}
	if n, err = b.FillPresets(b.ctx); err != nil || n != 0 {
		t.Fatalf("%d texts the second time: %v", n, err)
	}
	all, err := b.List(b.ctx, b.db, op.None{})
	if err != nil || len(all.Workflows) != 7 {
		t.Fatalf("%d workflows: %v", len(all.Workflows), err)
	}
	for _, w := range all.Workflows {
		if w.Enabled || !w.IsSystem || w.Customized || w.DryRun != (w.Scope == "full_access") {
			t.Errorf("%s: %+v", w.Slug, w)
		}
	}
	patch := func(p PatchWorkflow) Workflow {
		return must(b, func(ctx context.Context, tx pg.Tx) (Workflow, error) { return b.Patch(ctx, tx, p) })
	}
	if w := patch(PatchWorkflow{Slug: "weekly-digest", MaxTurns: new(3)}); w.Customized || w.Version != 2 {
		t.Errorf("limits are the household's: %+v", w)
	}
	if w := patch(PatchWorkflow{Slug: "review-queue", Prompt: new("Ours.")}); !w.Customized {
		t.Errorf("a changed prompt is the household's: %+v", w)
	}
	// The new version has other texts.
	if _, err := pg.Exec(b.ctx, b.db, `update workflow set shipped = 'old', prompt = 'old' where not customized`); err != nil {
		t.Fatal(err)
	}
	if n, err = b.FillPresets(b.ctx); err != nil || n != 6 {
		t.Errorf("%d texts upgraded: %v", n, err)
	}
	digest, err := b.Get(b.ctx, b.db, Ref{"weekly-digest"})
	if err != nil || digest.Prompt == "old" || digest.MaxTurns != 3 {
		t.Errorf("after the upgrade: %+v %v", digest, err)
	}
	if w, err := b.Get(b.ctx, b.db, Ref{"review-queue"}); err != nil || w.Prompt != "Ours." {
		t.Errorf("the upgrade changed a customized workflow: %+v %v", w, err)
	}
}

// If two callers start a workflow, they get the same run. The second workflow shows that another
// workflow gets its own run.
func TestQueueJoins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	one, two := b.create(local("one")), b.create(local("two"))
	const callers = 8
	type started struct {
		run    Run
		joined bool
		err    error
	}
	results := make(chan started, 2*callers)
	for range callers {
		for _, w := range []Workflow{one, two} {
			go func() {
				var s started
				s.err = b.db.InTx(b.ctx, func(tx pg.Tx) (err error) {
					s.run, s.joined, err = b.queue(b.ctx, tx, w.ID, Manual)
					return err
				})
				results <- s
			}()
		}
	}
	runs, fresh := map[id.ID]bool{}, 0
	for range 2 * callers {
		s := <-results
		if s.err != nil {
			t.Fatal(s.err)
		}
		runs[s.run.ID] = true
		if !s.joined {
			fresh++
		}
		if s.run.Mode != Planning || s.run.Status != Queued || s.run.JobID != s.run.ID || s.run.AskedBy != "Ada" {
			t.Errorf("run: %+v", s.run)
		}
	}
	if len(runs) != 2 || fresh != 2 {
		t.Errorf("%d runs, %d of them new", len(runs), fresh)
	}
	n, err := pg.Value[int](b.ctx, b.db, `select count(*)::int from job where id in (select id from workflow_run)`)
	if err != nil || n != 2 {
		t.Errorf("%d jobs: %v", n, err)
	}
}

// A run keeps the definition with which it was queued, and its final status is correct.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	w := b.create(local("one"))
	run := must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{w.Slug}) })
	must(b, func(ctx context.Context, tx pg.Tx) (Workflow, error) {
		return b.Patch(ctx, tx, PatchWorkflow{Slug: w.Slug, Prompt: new("Something else.")})
	})
	d, err := b.DefinitionOf(b.ctx, b.db, run.ID)
	if err != nil || d.Prompt != "Say hello." || len(d.Tools) == 0 || d.Model != "small" {
		t.Errorf("definition: %+v %v", d, err)
	}
	if _, err := pg.Exec(b.ctx, b.db, `insert into model_month (month, spent_micros, reserved_micros)
		values ('2026-01-01', 5, 100)`); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(b.ctx, b.db, `insert into model_call (id, run_id, turn, state, provider, model, month,
		reserved_micros) values ($1, $2, 1, 'asking', 'x', 'y', '2026-01-01', 40)`, id.New(), run.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(b.ctx, b.db, `update workflow_run set status = 'running', started_at = now(), cost_micros = 2
		where id = $1`, run.ID); err != nil {
		t.Fatal(err)
	}
	must(b, func(ctx context.Context, tx pg.Tx) (op.None, error) {
		return op.None{}, b.Ended(ctx, tx, []job.Ended{{
			JobID: run.ID, State: job.Failed, Code: errs.ProviderError, Message: "no answer",
		}})
	})
	got, err := b.RunByID(b.ctx, b.db, RunRef{run.ShortID})
	if err != nil || got.Status != Failed || got.Error == nil || got.Error.Code != errs.ProviderError ||
		got.FinishedAt == nil || got.CostUSD == nil || *got.CostUSD != 42 {
		t.Errorf("ended: %+v %v", got, err)
	}
	type month struct {
		Spent    int64 `db:"spent_micros"`
		Reserved int64 `db:"reserved_micros"`
	}
	if m, err := pg.One[month](b.ctx, b.db, `select spent_micros, reserved_micros from model_month`); err != nil ||
		m != (month{45, 60}) {
		t.Errorf("month: %+v %v", m, err)
	}
	lines, err := b.Lines(b.ctx, b.db, run.ID, 0)
	if err != nil || len(lines) != 1 || lines[0].Kind != LineEnd {
		t.Fatalf("lines: %+v %v", lines, err)
	}
	printed, err := json.Marshal(lines[0])
	var line struct {
		Seq          int
		Kind, Status string
		Code         string
	}
	if err != nil || json.Unmarshal(printed, &line) != nil || line.Seq != 1 || line.Status != Failed ||
		line.Code != string(errs.ProviderError) {
		t.Errorf("line: %s %v", printed, err)
	}
	// A run keeps its final status, even if its job ends in another way.
	must(b, func(ctx context.Context, tx pg.Tx) (op.None, error) {
		return op.None{}, b.Ended(ctx, tx, []job.Ended{{JobID: run.ID, State: job.Cancelled}})
	})
	if got, err = b.RunByID(b.ctx, b.db, RunRef{run.ShortID}); err != nil || got.Status != Failed {
		t.Errorf("ended twice: %+v %v", got, err)
	}
}

// Disable cancels a queued run. A person can still run the workflow, and cancel that run.
func TestDisableAndCancel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	in := local("one")
	in.Trigger, in.Schedule, in.Enabled = Schedule, new("0 7 * * *"), true
	w := b.create(in)
	if w.NextRunAt == nil || w.NextRunAt.Time().Before(time.Now()) {
		t.Errorf("next run: %+v", w.NextRunAt)
	}
	start := func() Run {
		return must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{w.Slug}) })
	}
	status := func(r Run) string {
		now, err := b.RunByID(b.ctx, b.db, RunRef{r.ID.String()})
		if err != nil {
			t.Fatal(err)
		}
		return now.Status
	}
	first := start()
	w = must(b, func(ctx context.Context, tx pg.Tx) (Workflow, error) { return b.Disable(ctx, tx, Ref{w.Slug}) })
	if w.Enabled || w.NextRunAt != nil || status(first) != Cancelled {
		t.Errorf("disabled: %+v, run %s", w, status(first))
	}
	second := start()
	if second.ID == first.ID {
		t.Error("a run that was cancelled was joined")
	}
	must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Cancel(ctx, tx, RunRef{second.ID.String()}) })
	if status(second) != Cancelled {
		t.Errorf("cancelled: %s", status(second))
	}
}

// If the cost is limited, a run needs a price. If the month's limit is used up, no run starts that
// costs money. A free model is not affected by these limits.
func TestMoneyBeforeARun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	unpriced, priced, free := local("unpriced"), local("priced"), local("free")
	unpriced.Model, free.Model = new("unknown"), new("own")
	for _, w := range []CreateWorkflow{unpriced, priced, free} {
		b.create(w)
	}
	must(b, func(ctx context.Context, tx pg.Tx) (settings.Models, error) {
		return b.set.SetModel(ctx, tx, settings.SetModel{Provider: "openai_compatible", Prices: &[]settings.Price{
			{Model: "small", Input: "0.5", Output: "2"}, {Model: "own", Input: "0", Output: "0"},
		}})
	})
	starts := func(want map[string]errs.Code) {
		t.Helper()
		for slug, code := range want {
			run, err := in(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{slug}) })
			if code == "" && err != nil || code != "" && !errs.Is(err, code) {
				t.Errorf("%s: %v, not %q", slug, err, code)
			}
			if err == nil {
				if known := run.CostUSD != nil; known != (slug != "unpriced") {
					t.Errorf("%s: cost %v", slug, run.CostUSD)
				}
				must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Cancel(ctx, tx, RunRef{run.ID.String()}) })
			}
		}
	}
	starts(map[string]errs.Code{"unpriced": "", "priced": "", "free": ""}) // no limit on the cost
	must(b, func(ctx context.Context, tx pg.Tx) (settings.Agents, error) {
		return b.set.PatchAgents(ctx, tx, settings.PatchAgents{
			MonthlyCeiling: op.Null[money.Amount]{Set: true, Value: new(money.MustParse("1.00"))},
		})
	})
	starts(map[string]errs.Code{"unpriced": errs.ProviderNotConfig, "priced": "", "free": ""})
	if _, err := pg.Exec(b.ctx, b.db, `insert into model_month (month, spent_micros, reserved_micros)
		select date_trunc('month', now() at time zone time_zone)::date, 999999, 0 from setting`); err != nil {
		t.Fatal(err)
	}
	starts(map[string]errs.Code{"priced": ""}) // a millionth of a dollar is left
	if _, err := pg.Exec(b.ctx, b.db, `update model_month set reserved_micros = 1`); err != nil {
		t.Fatal(err)
	}
	starts(map[string]errs.Code{"unpriced": errs.ProviderNotConfig, "priced": errs.RunLimit, "free": ""})
}

// Mend ends runs that were imported without their jobs, and no other runs.
func TestMendEndsRunsWithoutJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	one, two := b.create(local("one")), b.create(local("two"))
	start := func(w Workflow) Run {
		return must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{w.Slug}) })
	}
	lost, kept := start(one), start(two)
	if _, err := pg.Exec(b.ctx, b.db, `delete from job where id = $1`, lost.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Mend(b.ctx); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[id.ID]string{lost.ID: Failed, kept.ID: Queued} {
		if now, err := b.RunByID(b.ctx, b.db, RunRef{run.String()}); err != nil || now.Status != want {
			t.Errorf("%s, not %s: %v", now.Status, want, err)
		}
	}
}

// Transcripts are deleted after the time that the household sets; the runs stay.
func TestForgetTranscripts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	w := b.create(local("one"))
	for i, days := range []int{91, 89} {
		run := must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{w.Slug}) })
		must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Cancel(ctx, tx, RunRef{run.ID.String()}) })
		if _, err := pg.Exec(b.ctx, b.db, `update workflow_run set finished_at = now() - make_interval(days => $2)
			where id = $1`, run.ID, days); err != nil {
			t.Fatal(err)
		}
		if err := b.Forget(b.ctx); err != nil {
			t.Fatal(err)
		}
		lines, err := b.Lines(b.ctx, b.db, run.ID, 0)
		if err != nil || len(lines) != i {
			t.Errorf("%d lines after %d days: %v", len(lines), days, err)
		}
	}
	if n, err := pg.Value[int](b.ctx, b.db, `select count(*)::int from workflow_run`); err != nil || n != 2 {
		t.Errorf("%d runs: %v", n, err)
	}
}

// Lists of runs count a plan like the plan itself: each field once, and no field that ends with the
// value it began with.
func TestPlanCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.model()
	w := b.create(local("one"))
	run := must(b, func(ctx context.Context, tx pg.Tx) (Run, error) { return b.Run(ctx, tx, Ref{w.Slug}) })
	one, two, rule, tag, first, second := id.New(), id.New(), id.New(), id.New(), id.New(), id.New()
	for i, e := range []struct {
		subject       string
		of            id.ID
		field         string
		ref           *id.ID
		before, after *string
		row           *string
	}{
		{"transaction", one, "category", nil, nil, new(first.String()), nil},
		{"transaction", one, "category", nil, new(first.String()), new(second.String()), nil},
		{"transaction", two, "tag", &tag, nil, new("1"), nil},
		{"transaction", two, "tag", &tag, new("1"), nil, nil},
		{"rule", rule, "record", nil, nil, new("{}"), new("{}")},
	} {
		if _, err := pg.Exec(b.ctx, b.db, `
			insert into workflow_plan (run_id, seq, tool, subject, subject_id, field, ref, before, after, row)
			values ($1, $2, 'x', $3, $4, $5, $6, $7, $8, $9::text::jsonb)`, run.ID, i+1, e.subject, e.of, e.field, e.ref,
			e.before, e.after, e.row); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pg.Exec(b.ctx, b.db, `insert into workflow_plan (run_id, seq, tool, arguments)
		values ($1, 10, 'x', '{}'), ($1, 11, 'x', '{}')`, run.ID); err != nil {
		t.Fatal(err)
	}
	got, err := b.RunByID(b.ctx, b.db, RunRef{run.ShortID})
	if err != nil {
		t.Fatal(err)
	}
	page, err := NewPlans(b.db, nil).Show(b.ctx, b.db, PlanRef{ID: run.ShortID, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	told := [3]int64{got.Plan.Transactions, got.Plan.Entries, got.Plan.Calls}
	if want := [3]int64{int64(page.Transactions), int64(page.Entries), int64(page.Calls)}; told != want ||
		want != [3]int64{1, 2, 2} {
		t.Errorf("the run says %v, its plan %v", told, want)
	}
}

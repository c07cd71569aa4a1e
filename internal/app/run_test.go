package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

// newRun stores a run that was created some days ago, and returns its actor.
func newRun(t testing.TB, w *world, most *int, days int) op.Actor {
	t.Helper()
	run := id.New()
	_, err := w.DB.Exec(t.Context(), `
		insert into workflow_run (id, short_id, workflow_slug, trigger, definition, definition_hash, max_writes,
			asked_type, asked_name, created_at)
		values ($1, $2, 'filer', 'manual', '{}', '', $3, 'user', 'me', now() - make_interval(days => $4))`, run,
		run.Short(), most, days)
	if err != nil {
		t.Fatal(err)
	}
	return op.Actor{Type: op.Agent, ID: run, Run: &run, Name: "filer", Scope: op.Full}
}

// tagged calls update_transactions within a transaction, as a run does.
func tagged(ctx context.Context, w *world, run op.Actor, tag string, transactions ...string) (op.Answer, error) {
	var operations []any
	for _, u := range transactions {
		operations = append(operations, map[string]any{"transaction_id": u, "tags_to_add": []any{tag}})
	}
	var o *op.Op
	for _, each := range w.Ops() {
		if each.Tool == "update_transactions" {
			o = each
		}
	}
	var answer op.Answer
	var refused error
	err := w.DB.InTx(ctx, func(tx pg.Tx) (err error) {
		answer, _, refused = w.Runner.CallIn(ctx, tx, o, op.Call{
			Actor: run, Surface: op.Tool, Args: map[string]any{"operations": operations}, RequestID: "test",
		})
		if _, public := errors.AsType[*errs.Error](refused); refused != nil && !public {
			return refused
		}
		return nil
	})
	return answer, errors.Join(err, refused)
}

func transactionIDs(t testing.TB, w *world, n int) []string {
	t.Helper()
	ids, err := pg.Values[string](t.Context(), w.DB, `select id::text from transaction where deleted_at is null
		order by id limit $1`, n)
	if err != nil || len(ids) < n {
		t.Fatal(len(ids), err)
	}
	return ids
}

// TestRunBudget: a run makes as many writes as its limit allows, and no more, on two servers at
// once. A new day does not raise the limit. The tag that the run creates counts as a write. Writes
// that a person approved do not count. The control is a run without a limit.
func TestRunBudget(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	revertSeed(t, first, 20)
	second := newWorldOn(t, first.Config.DatabaseURL.Reveal(), app.Config{})
	ids := transactionIDs(t, first, 100)
	for _, c := range []struct {
		most *int
		days int
		want int
	}{{new(17), 0, 17}, {new(17), 1, 17}, {nil, 0, 101}} {
		run := newRun(t, first, c.most, c.days)
		tag := "t" + strings.ToLower(run.ID.Short())
		var wait sync.WaitGroup
		for k, w := range []*world{first, second} {
			wait.Go(func() {
				for i := k; i < len(ids); i += 2 {
					_, err := tagged(t.Context(), w, run, tag, ids[i])
					face, _ := errors.AsType[*errs.Error](err)
					if face != nil && (face.Code != errs.RateLimited || face.Limit.Name != journal.LimitOfRun) {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		changed, err := pg.Value[int](t.Context(), first.DB, `select count(distinct e.subject_id) from change c
			join entry e on e.change_id = c.id where c.actor_id = $1 and c.cause = 'workflow_run'`, run.ID)
		if err != nil || changed != c.want {
			t.Errorf("a run of %v days ago changed %d transactions and tags, want %d: %v", c.days, changed, c.want, err)
		}
		if err := first.Journal.ForgetBudgets(t.Context()); err != nil {
			t.Error(err)
		}
		if c.most == nil {
			continue
		}
		ctx := op.WithActor(t.Context(), run)
		for approved, code := range map[bool]errs.Code{true: "", false: errs.RateLimited} {
			err := first.DB.InTx(ctx, func(tx pg.Tx) error {
				_, err := journal.Record(ctx, tx, journal.Note{Summary: "x", Approved: approved}, []journal.Entry{{
					Subject: journal.Transaction, SubjectID: id.Must(ids[0]), Field: journal.FieldCategory,
				}})
				return err
			})
			if (err == nil) != (code == "") || code != "" && !errs.Is(err, code) {
				t.Errorf("approved %v: %v", approved, err)
			}
		}
	}
	// All agents of the household share the daily limit.
	if _, err := first.DB.Exec(t.Context(), `delete from write_budget;
		update setting set writes_per_day = 5`); err != nil {
		t.Fatal(err)
	}
	_, err := tagged(t.Context(), first, newRun(t, first, nil, 0), "sixth", ids[:6]...)
	if face, _ := errors.AsType[*errs.Error](err); face == nil || face.Limit.Name != journal.LimitOfDay {
		t.Errorf("over the household's limit: %v", err)
	}
}

// TestJobsActAsTheirRun: a job that a run starts acts as the run. A run can read its own identity.
func TestJobsActAsTheirRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revertSeed(t, w, 1)
	run := newRun(t, w, new(3), 0)
	got := make(chan op.Actor, 1)
	w.Jobs.Add(job.Kind{Name: "who", Unit: "looks", Work: func(ctx context.Context, _ *job.Run) (any, error) {
		got <- op.ActorOf(ctx)
		return nil, nil //nolint:nilnil // it has no result
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Jobs.Run(ctx) }()
	err := w.DB.InTx(ctx, func(tx pg.Tx) error {
		_, err := w.Jobs.Enqueue(op.WithActor(ctx, run), tx, "who", map[string]any{}, job.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case a := <-got:
		if a.Run == nil || *a.Run != run.ID || a.ID != run.ID || a.Key != nil || a.Type != op.Agent {
			t.Errorf("the job acts as %+v", a)
		}
	case <-time.After(5 * time.Minute):
		t.Error("the job did not run")
	}
	stop()
	<-ended
	answer, err := w.Runner.Call(t.Context(), opNamed(t, w.Ops(), "overview.get"),
		op.Call{Actor: run, Surface: op.REST, Args: map[string]any{}})
	var out struct {
		You struct {
			Kind   string
			Writes struct {
				Limit    int
				ResetsAt *string `json:"resets_at"`
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(answer.Body, &out)
	}
	if err != nil || out.You.Kind != "run" || out.You.Writes.Limit != 3 || out.You.Writes.ResetsAt != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestFailedOperationRegistersNoTag: a failed operation leaves nothing behind: neither the tag that
// it would have added nor a change.
func TestFailedOperationRegistersNoTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revertSeed(t, w, 1)
	ids := transactionIDs(t, w, 2)
	update := func(operations ...any) string {
		t.Helper()
		answer, err := w.call(t.Context(), opNamed(t, w.Ops(), "transaction.change"), op.REST,
			map[string]any{"operations": operations})
		if err != nil {
			t.Fatal(err)
		}
		return string(answer.Body)
	}
	out := update(map[string]any{"transaction_id": ids[0], "tags_to_add": []any{"left-behind"}, "category": "nothing"},
		map[string]any{"transaction_id": id.New().String(), "tags_to_add": []any{"left-behind"}},
		map[string]any{"transaction_id": ids[1], "tags_to_add": []any{"left-behind", "-"}},
		map[string]any{"transaction_id": ids[1], "tags_to_remove": []any{"left-behind"}})
	if !strings.Contains(out, `"change_id":null`) || !strings.Contains(out, `"failed":4`) {
		t.Error(out)
	}
	tags := `select count(*) from tag where slug = 'left-behind'`
	if n, err := pg.Value[int](t.Context(), w.DB, tags); err != nil || n != 0 {
		t.Errorf("%d tags, %v", n, err)
	}
	// The control: one of the operations succeeds and creates the tag, and another one then removes
	// it.
	out = update(map[string]any{"transaction_id": ids[0], "tags_to_add": []any{"left-behind"}, "category": "nothing"},
		map[string]any{"transaction_id": ids[0], "tags_to_add": []any{"Left-Behind"}},
		map[string]any{"transaction_id": ids[1], "tags_to_remove": []any{"left-behind"}})
	if n, err := pg.Value[int](t.Context(), w.DB, tags); err != nil || n != 1 || !strings.Contains(out, `"failed":1`) {
		t.Errorf("%d tags, %v: %s", n, err, out)
	}
}

// TestRehearsalCost prints how long it takes to apply a plan temporarily, and to compute the books
// as of an earlier moment. The limit is ten times the time on an idle machine.
func TestRehearsalCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	size := 5_000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		size = 20_000
	}
	if err := w.Seed(t.Context(), household.New(household.Options{Seed: 1, Transactions: size, Years: 2}),
		t.Output()); err != nil {
		t.Fatal(err)
	}
	run := newRun(t, w, nil, 0)
	ctx := op.WithActor(t.Context(), run)
	ids := transactionIDs(t, w, 500)
	change := opNamed(t, w.Ops(), "transaction.change")
	var plan []journal.Planned
	var laid time.Duration
	entries := 0
	for at := 0; at < len(ids); at += 50 {
		var operations []any
		for i, u := range ids[at : at+50] {
			operations = append(operations, map[string]any{
				"transaction_id": u, "category": []string{"health_dental", "food_and_drink_groceries"}[i%2],
				"tags_to_add": []any{fmt.Sprint("batch-", at)}, "note": "why",
			})
		}
		start := time.Now()
		made, err := w.Journal.Rehearse(ctx, journal.Rehearsal{Plan: plan}, func(ctx context.Context, tx pg.Tx) error {
			laid, entries = laid+time.Since(start), entries+len(plan)
			_, _, err := w.Runner.CallIn(ctx, tx, change, op.Call{
				Actor: run, Surface: op.Tool, Args: map[string]any{"operations": operations}, RequestID: "test",
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		plan = append(plan, made...)
	}
	each := laid.Seconds() * 1000 / float64(entries)
	before, err := pg.Value[pg.Time](ctx, w.DB, `select clock_timestamp()`)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err = w.DB.InTx(ctx, func(tx pg.Tx) error {
		_, err := w.Journal.Carry(ctx, tx, journal.Note{Summary: "Applied a plan", Approved: true}, plan)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	applied := time.Since(start)
	undone := errors.New("undone")
	start = time.Now()
	err = w.DB.InTx(ctx, func(tx pg.Tx) error {
		if skipped, err := w.Journal.AsOf(ctx, tx, before); err != nil || len(skipped) > 0 {
			t.Errorf("%+v, %v", skipped, err)
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	t.Logf("%d planned entries: %.3f ms each to lay over the books, %.3f ms each to apply; back as of before in %s",
		len(plan), each, applied.Seconds()*1000/float64(len(plan)), time.Since(start).Round(time.Millisecond))
	if each > 3 {
		t.Errorf("a planned entry takes %.3f ms", each)
	}
}

// TestCarryWithoutAnEntry: if a plan lacks the entry that creates a tag, entries that refer to the
// tag are skipped, and the rest is applied.
func TestCarryWithoutAnEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revertSeed(t, w, 1)
	run := newRun(t, w, nil, 0)
	ctx := op.WithActor(t.Context(), run)
	target := transactionIDs(t, w, 1)[0]
	plan, err := w.Journal.Rehearse(ctx, journal.Rehearsal{}, func(ctx context.Context, tx pg.Tx) error {
		_, _, err := w.Runner.CallIn(ctx, tx, opNamed(t, w.Ops(), "transaction.change"), op.Call{
			Actor: run, Surface: op.Tool, RequestID: "test", Args: map[string]any{"operations": []any{map[string]any{
				"transaction_id": target, "tags_to_add": []any{"planned"}, "comment": "seen",
			}}},
		})
		return err
	})
	if err != nil || len(plan) != 3 || plan[0].Subject != journal.Tag {
		t.Fatalf("%+v, %v", plan, err)
	}
	for _, part := range []struct {
		plan []journal.Planned
		done int
	}{{plan[1:], 1}, {plan, 3}} {
		undone := errors.New("undone")
		err = w.DB.InTx(ctx, func(tx pg.Tx) error {
			out, err := w.Journal.Carry(ctx, tx, journal.Note{Summary: "x", Approved: true}, part.plan)
			if err != nil || out.Done != part.done || len(out.Skipped) != len(part.plan)-part.done {
				t.Errorf("%+v, %v", out, err)
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
	}
}

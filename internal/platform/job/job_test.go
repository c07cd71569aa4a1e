package job_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// patience is the maximum time that a test waits for an expected event.
const patience = 2 * time.Minute

// ada is the caller in these tests.
var ada = op.Actor{Type: op.User, ID: id.Must("00000000-0000-7000-8000-0000000000ad"), Name: "Ada", Scope: op.Full}

func newJobs(t testing.TB, db *pg.DB, kinds ...job.Kind) *job.Jobs {
	t.Helper()
	j := job.New(db, slog.New(slog.DiscardHandler))
	j.Quicken(100*time.Millisecond, 2*time.Second) // a lease that a busy machine does not lose
	j.Add(kinds...)
	return j
}

// start runs j until the test ends or stop is called. stop waits until j has ended.
func start(t testing.TB, j *job.Jobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- j.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func enqueue(t testing.TB, j *job.Jobs, db *pg.DB, kind string, args any, o job.Options) job.Job {
	t.Helper()
	var made job.Job
	ctx := op.WithActor(t.Context(), ada)
	err := db.InTx(ctx, func(tx pg.Tx) (err error) {
		made, err = j.Enqueue(ctx, tx, kind, args, o)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func cancelJob(t testing.TB, j *job.Jobs, db *pg.DB, which id.ID) (got job.Job, err error) {
	t.Helper()
	err = db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		got, err = j.Cancel(t.Context(), tx, job.Ref{JobID: which.String()})
		return err
	})
	return got, err
}

func ended(t testing.TB, j *job.Jobs, which id.ID, state string) job.Job {
	t.Helper()
	got, err := j.Wait(t.Context(), which, patience)
	if err != nil || got.State != state {
		t.Fatalf("the job is %s (%+v, %v), want %s", got.State, got.Error, err, state)
	}
	return got
}

// await returns when the condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

type countArgs struct {
	Batches int `json:"batches"`
}

// counting adds up 1 … n, one number per batch. It calls between before each batch.
func counting(between func(ctx context.Context, n int) error) job.Kind {
	return job.Kind{
		Name: "count", Unit: "numbers", Retries: 3,
		Work: func(ctx context.Context, run *job.Run) (any, error) {
			var args countArgs
			if err := run.Args(&args); err != nil {
				return nil, err
			}
			at := struct{ N, Sum int }{}
			if _, err := run.Position(&at); err != nil {
				return nil, err
			}
			for at.N < args.Batches {
				if between != nil {
					if err := between(ctx, at.N+1); err != nil {
						return nil, err
					}
				}
				next := at
				next.N++
				next.Sum += next.N
				err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
					_, err := tx.Exec(ctx, `insert into counted (job, n, attempt)
					values ($1, $2, $3)`, run.ID(), next.N, run.Attempt())
					return job.Step{Position: next, Done: 1, Total: int64(args.Batches)}, err
				})
				if err != nil {
					return nil, err
				}
				at = next
			}
			return map[string]int{"sum": at.Sum}, nil
		},
	}
}

func countedTable(t testing.TB, db *pg.DB) {
	t.Helper()
	if _, err := db.Exec(t.Context(), `
		create table counted (job uuid, n int, attempt int, at timestamptz default clock_timestamp());
		create table present (pid int);
		create table allowance (n int)`); err != nil {
		t.Fatal(err)
	}
}

// checkCounted checks that each number was counted once.
func checkCounted(t testing.TB, db *pg.DB, which id.ID, n int) {
	t.Helper()
	if rows, distinct := counted(t, db, which); rows != n || distinct != n {
		t.Errorf("%d batches were committed, %d of them different; want %d", rows, distinct, n)
	}
}

func counted(t testing.TB, db *pg.DB, which id.ID) (rows, distinct int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `select count(*), count(distinct n) from counted
		where job = $1`, which).Scan(&rows, &distinct); err != nil {
		t.Fatal(err)
	}
	return rows, distinct
}

func TestJobRunsToItsEnd(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	var who atomic.Pointer[op.Actor]
	j := newJobs(t, db, counting(func(ctx context.Context, _ int) error {
		who.Store(new(op.ActorOf(ctx)))
		return nil
	}))
	made := enqueue(t, j, db, "count", countArgs{20}, job.Options{})
	if made.State != job.Queued || made.Progress.Unit != "numbers" || made.Result != nil || made.StartedAt != nil {
		t.Errorf("as made: %+v", made)
	}
	start(t, j)
	got := ended(t, j, made.ID, job.Succeeded)
	if string(got.Result) != `{"sum": 210}` || got.Progress.Done != 20 || *got.Progress.Total != 20 ||
		got.Error != nil || got.StartedAt == nil || got.FinishedAt == nil {
		t.Errorf("as ended: %+v %s", got, got.Result)
	}
	checkCounted(t, db, made.ID, 20)
	if a := who.Load(); a.ID != ada.ID || a.Name != ada.Name || a.Type != ada.Type || a.Scope != ada.Scope {
		t.Errorf("worked in the name of %+v", a)
	}
}

func TestEnqueueIsPartOfItsTransaction(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, counting(nil))
	undone := errors.New("undone")
	err := db.InTx(t.Context(), func(tx pg.Tx) error {
		if _, err := j.Enqueue(t.Context(), tx, "count", countArgs{1}, job.Options{}); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	left, err := pg.Value[int](t.Context(), db, `select count(*) from job`)
	if err != nil || left != 0 {
		t.Errorf("%d rows are left (%v)", left, err)
	}
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := j.Enqueue(t.Context(), tx, "no such kind", nil, job.Options{})
		return err
	})
	if err == nil {
		t.Error("a kind that nobody knows was taken on")
	}
}

// Requests for the same key join a queued or running job, even at the same moment, but not one that
// has ended.
func TestUniqueJobsAreJoined(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, counting(nil))
	var group sync.WaitGroup
	made := make([]job.Job, 12)
	for i := range made {
		group.Go(func() { made[i] = enqueue(t, j, db, "count", countArgs{3}, job.Options{Unique: "one"}) })
	}
	group.Wait()
	for _, m := range made {
		if m.ID != made[0].ID {
			t.Errorf("two jobs: %s and %s", m.ID, made[0].ID)
		}
	}
	other := enqueue(t, j, db, "count", countArgs{3}, job.Options{Unique: "two"})
	if other.ID == made[0].ID {
		t.Error("another key joined")
	}
	start(t, j)
	ended(t, j, made[0].ID, job.Succeeded)
	ended(t, j, other.ID, job.Succeeded)
	if again := enqueue(t, j, db, "count", countArgs{3}, job.Options{Unique: "one"}); again.ID == made[0].ID {
		t.Error("a job that has ended was joined")
	}
	checkCounted(t, db, made[0].ID, 3)
}

// Two servers run many jobs; each job runs once.
func TestTwoServersWorkEachJobOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	a, b := newJobs(t, db, counting(nil)), newJobs(t, db, counting(nil))
	start(t, a)
	start(t, b)
	var made []job.Job
	for range 30 {
		made = append(made, enqueue(t, a, db, "count", countArgs{5}, job.Options{}))
	}
	for _, m := range made {
		ended(t, b, m.ID, job.Succeeded)
		checkCounted(t, db, m.ID, 5)
	}
}

func TestCancelInEveryState(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	reached, idle := make(chan struct{}, 1), make(chan struct{})
	j := newJobs(t, db, counting(func(ctx context.Context, n int) error {
		if n == 3 {
			reached <- struct{}{}
			<-ctx.Done() // between batches, like work that waits for an outside service
			return context.Cause(ctx)
		}
		return nil
	}), job.Kind{Name: "deaf", Unit: "batches", Work: func(ctx context.Context, run *job.Run) (any, error) {
		for i := 0; ; i++ {
			err := run.Batch(ctx, func(context.Context, pg.Tx) (job.Step, error) {
				if i == 1 {
					reached <- struct{}{}
					<-idle // in the middle of a batch
				}
				return job.Step{Done: 1}, nil
			})
			if err != nil {
				return nil, err
			}
		}
	}})
	waiting := enqueue(t, j, db, "count", countArgs{5}, job.Options{})
	if got, err := cancelJob(t, j, db, waiting.ID); err != nil || got.State != job.Cancelled || got.FinishedAt == nil {
		t.Errorf("a job that waits: %+v %v", got, err)
	}
	if _, err := cancelJob(t, j, db, waiting.ID); !errs.Is(err, errs.Conflict) {
		t.Errorf("a cancelled job: %v", err)
	}
	start(t, j)
	between := enqueue(t, j, db, "count", countArgs{5}, job.Options{})
	<-reached
	for range 2 { // canceling twice is not an error
		if got, err := cancelJob(t, j, db, between.ID); err != nil || got.State != job.Running {
			t.Errorf("a job that runs: %+v %v", got, err)
		}
	}
	ended(t, j, between.ID, job.Cancelled)
	checkCounted(t, db, between.ID, 2)

	inside := enqueue(t, j, db, "deaf", nil, job.Options{})
	<-reached
	if got, err := cancelJob(t, j, db, inside.ID); err != nil || got.State != job.Running {
		t.Errorf("a job within a batch: %+v %v", got, err)
	}
	close(idle)
	if got := ended(t, j, inside.ID, job.Cancelled); got.Progress.Done != 2 {
		t.Errorf("the batch under way must commit and none after it: %+v", got.Progress)
	}
	if rows, _ := counted(t, db, waiting.ID); rows != 0 {
		t.Error("a job ran that was cancelled before it began")
	}
	if _, err := cancelJob(t, j, db, id.New()); !errs.Is(err, errs.NotFound) {
		t.Errorf("no job: %v", err)
	}
}

// A temporary failure is retried, a permanent one fails at once, and the requester sees only the
// public part.
func TestRetryByKindOfError(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var tries sync.Map
	failing := func(name string, failures int, err error) job.Kind {
		return job.Kind{Name: name, Unit: "tries", Retries: 1, Work: func(context.Context, *job.Run) (any, error) {
			n, _ := tries.LoadOrStore(name, new(atomic.Int64))
			if int(n.(*atomic.Int64).Add(1)) <= failures {
				return nil, err
			}
			return nil, nil
		}}
	}
	cases := []struct {
		name     string
		failures int
		err      error
		state    string
		tries    int64
		code     errs.Code
	}{
		{"passes", 1, errs.New(errs.ProviderError, "later"), job.Succeeded, 2, ""},
		{"limited", 1, errs.New(errs.RateLimited, "slower"), job.Succeeded, 2, ""},
		{
			"stays away", 9, fmt.Errorf("fetch: %w", errs.New(errs.ProviderTimeout, "the bank does not answer")),
			job.Failed, 2, errs.ProviderTimeout,
		},
		{"wrong", 9, errs.New(errs.ValidationError, "mend it"), job.Failed, 1, errs.ValidationError},
		{"unknown", 9, errors.New("secret detail"), job.Failed, 1, errs.InternalError},
	}
	j := newJobs(t, db, job.Kind{
		Name: "panics", Unit: "tries", Retries: 3,
		Work: func(context.Context, *job.Run) (any, error) { panic("secret detail") },
	},
		job.Kind{
			Name: "slow", Unit: "tries", Timeout: 50 * time.Millisecond,
			Work: func(ctx context.Context, _ *job.Run) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
	for _, c := range cases {
		j.Add(failing(c.name, c.failures, c.err))
	}
	start(t, j)
	made := map[string]job.Job{}
	for _, c := range cases {
		made[c.name] = enqueue(t, j, db, c.name, nil, job.Options{})
	}
	for _, c := range cases {
		got := ended(t, j, made[c.name].ID, c.state)
		n, _ := tries.Load(c.name)
		if n := n.(*atomic.Int64).Load(); n != c.tries {
			t.Errorf("%s: %d tries, want %d", c.name, n, c.tries)
		}
		if (got.Error == nil) != (c.code == "") || got.Error != nil && got.Error.Code != c.code {
			t.Errorf("%s: %+v", c.name, got.Error)
		}
		if took := got.FinishedAt.Time().Sub(got.StartedAt.Time()); c.tries > 1 && took < job.Pauses[0] {
			t.Errorf("%s: tried again after %v", c.name, took)
		}
	}
	for name, code := range map[string]errs.Code{"panics": errs.InternalError, "slow": errs.Unavailable} {
		got := ended(t, j, enqueue(t, j, db, name, nil, job.Options{}).ID, job.Failed)
		if got.Error.Code != code {
			t.Errorf("%s: %+v", name, got.Error)
		}
	}
	leak, err := pg.Value[bool](t.Context(), db, `select exists (select from job where job::text like '%secret%')`)
	if err != nil || leak {
		t.Errorf("a private cause is stored (%v)", err)
	}
}

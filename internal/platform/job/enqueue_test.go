package job_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"github.com/jackc/pgx/v5"
)

func enqueueAll(t testing.TB, j *job.Jobs, db *pg.DB, orders ...job.Order) []job.Job {
	t.Helper()
	var made []job.Job
	ctx := op.WithActor(t.Context(), ada)
	err := db.InTx(ctx, func(tx pg.Tx) (err error) {
		made, err = j.EnqueueAll(ctx, tx, "count", orders)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// EnqueueAll returns many jobs in the order of the requests, including jobs that already existed.
// All of them run.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, counting(nil))
	first := enqueue(t, j, db, "count", countArgs{2}, job.Options{Unique: "7"})
	orders := []job.Order{}
	for i := range 40 {
		// each key twice in one call
		orders = append(orders, job.Order{Args: countArgs{i % 3}, Options: job.Options{Unique: fmt.Sprint(i % 20)}})
	}
	orders = append(orders, job.Order{Args: countArgs{1}}, job.Order{Args: countArgs{1}}) // no key: two jobs
	made := enqueueAll(t, j, db, orders...)
	if len(made) != 42 || made[7].ID != first.ID || made[27].ID != first.ID || made[40].ID == made[41].ID {
		t.Fatalf("%d jobs; the existing one is %s, returned %s and %s", len(made), first.ID, made[7].ID,
			made[27].ID)
	}
	for i := range 20 {
		if made[i].ID != made[i+20].ID || made[i].ID == made[(i+1)%20].ID {
			t.Errorf("key %d: %s and %s", i, made[i].ID, made[i+20].ID)
		}
	}
	if got := enqueueAll(t, j, db); len(got) != 0 {
		t.Errorf("nothing asked for: %v", got)
	}
	start(t, j)
	done, all := j.AwaitAll(t.Context(), made, patience)
	if !all || len(done) != 42 {
		t.Fatalf("%d jobs, all ended: %t", len(done), all)
	}
	for i, d := range done {
		if d.ID != made[i].ID || d.State != job.Succeeded {
			t.Errorf("%d: %+v", i, d)
		}
	}
	jobs, err := pg.Value[int](t.Context(), db, `select count(*) from job`)
	if err != nil || jobs != 22 {
		t.Errorf("%d jobs, want 22 (%v)", jobs, err)
	}
}

// Two servers enqueue the same keys in opposite orders at the same time. Each key has one job, and
// neither server gets an error.
func TestManyAtOnceFromTwoSides(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, counting(nil))
	var group sync.WaitGroup
	for side := range 6 {
		group.Go(func() {
			var orders []job.Order
			for i := range 50 {
				if side%2 == 1 {
					i = 49 - i
				}
				orders = append(orders, job.Order{
					Args:    countArgs{1},
					Options: job.Options{Unique: fmt.Sprint(i), Again: side%3 == 0},
				})
			}
			enqueueAll(t, j, db, orders...)
		})
	}
	group.Wait()
	n, err := pg.Value[int](t.Context(), db, `select count(*) from job`)
	if err != nil || n != 50 {
		t.Errorf("%d jobs, want 50 (%v)", n, err)
	}
}

// Requests with Again while the job runs cause exactly one further run, regardless of their number.
// A request while the job waits joins it.
func TestOneFurtherRun(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"succeeds": job.Succeeded, "fails": job.Failed,
		"is cancelled": job.Cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			var runs atomic.Int32
			inside, release := make(chan string, 10), make(chan struct{})
			j := newJobs(t, db, job.Kind{
				Name: "count", Unit: "runs",
				Work: func(ctx context.Context, run *job.Run) (any, error) {
					var args struct{ Why string }
					if err := run.Args(&args); err != nil {
						return nil, err
					}
					first := runs.Add(1) == 1
					inside <- args.Why + " by " + op.ActorOf(ctx).Name
					if !first {
						return nil, nil
					}
					select {
					case <-release:
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					}
					if end == job.Failed {
						return nil, fmt.Errorf("broken")
					}
					return nil, nil
				},
			})
			ask := func(why string, again bool) job.Job {
				return enqueue(t, j, db, "count", map[string]string{"why": why}, job.Options{Unique: "k", Again: again})
			}
			one := ask("first", true)
			if waiting := ask("while it waits", true); waiting.ID != one.ID {
				t.Error("a job that waits was not joined")
			}
			start(t, j)
			if got := <-inside; got != "first by Ada" {
				t.Errorf("ran for %s", got)
			}
			if joined := ask("by hand", false); joined.ID != one.ID {
				t.Error("a job that runs was not joined")
			}
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					if running := ask("news", true); running.ID != one.ID {
						t.Error("a request for another run returns another job than the running one")
					}
				})
			}
			group.Wait()
			if end == job.Cancelled {
				if _, err := cancelJob(t, j, db, one.ID); err != nil {
					t.Fatal(err)
				}
			} else {
				close(release)
			}
			ended(t, j, one.ID, end)
			if got := <-inside; got != "news by Ada" {
				t.Errorf("then ran for %s", got)
			}
			await(t, "the further run ends", func() bool { return !lives(t, db) })
			if n := runs.Load(); n != 2 {
				t.Errorf("%d runs, want the one and a further one", n)
			}
		})
	}
}

// A request without Again does not cause a further run.
func TestJoinedJobIsNotFollowed(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var runs atomic.Int32
	inside, release := make(chan struct{}, 1), make(chan struct{})
	j := newJobs(t, db, job.Kind{Name: "count", Unit: "runs", Work: func(context.Context, *job.Run) (any, error) {
		runs.Add(1)
		inside <- struct{}{}
		<-release
		return nil, nil
	}})
	one := enqueue(t, j, db, "count", nil, job.Options{Unique: "k"})
	start(t, j)
	<-inside
	for range 5 {
		enqueue(t, j, db, "count", nil, job.Options{Unique: "k"})
	}
	close(release)
	ended(t, j, one.ID, job.Succeeded)
	if runs.Load() != 1 || lives(t, db) {
		t.Errorf("%d runs", runs.Load())
	}
}

// A further run is not lost with the worker, whether another worker continues the job or the job is
// given up.
func TestFurtherRunOutlivesTheWorker(t *testing.T) {
	t.Parallel()
	for losses, want := range map[int]string{0: job.Succeeded, 9: job.Failed} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			countedTable(t, db)
			j := newJobs(t, db, counting(nil))
			one := enqueue(t, j, db, "count", countArgs{1}, job.Options{Unique: "k"})
			_, err := db.Exec(t.Context(), `update job set state = 'running', lease_owner = 'dead',
				renewed_at = now() - interval '1 hour', losses = $2 where id = $1`, one.ID, losses)
			if err != nil {
				t.Fatal(err)
			}
			enqueue(t, j, db, "count", countArgs{2}, job.Options{Unique: "k", Again: true})
			start(t, j)
			ended(t, j, one.ID, want)
			await(t, "all has ended", func() bool { return !lives(t, db) })
			further, err := pg.Values[id.ID](t.Context(), db, `select id from job where id <> $1`, one.ID)
			if err != nil || len(further) != 1 {
				t.Fatalf("%d further jobs (%v), want one", len(further), err)
			}
			checkCounted(t, db, further[0], 2)
		})
	}
}

// Jobs end and are requested in the same moments, again and again. After every request a run
// begins.
func TestFurtherRunIsNeverLost(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var seen, told atomic.Int64
	work := job.Kind{Name: "count", Unit: "runs", Work: func(context.Context, *job.Run) (any, error) {
		now := told.Load()
		for {
			was := seen.Load()
			if was >= now || seen.CompareAndSwap(was, now) {
				return nil, nil
			}
		}
	}}
	a, b := newJobs(t, db, work), newJobs(t, db, work)
	start(t, a)
	start(t, b)
	var group sync.WaitGroup
	for side := range 4 {
		group.Go(func() {
			for range 60 {
				told.Add(1) // the data exists before anyone is notified
				enqueue(t, []*job.Jobs{a, b}[side%2], db, "count", nil, job.Options{Unique: "k", Again: true})
			}
		})
	}
	group.Wait()
	await(t, "all has ended", func() bool { return !lives(t, db) })
	if seen.Load() != told.Load() {
		t.Errorf("the last run saw %d of %d", seen.Load(), told.Load())
	}
	overlaps, err := pg.Value[int](t.Context(), db, `select count(*) from job a
		join job b on a.id < b.id and a.started_at < b.finished_at and b.started_at < a.finished_at`)
	if err != nil || overlaps != 0 {
		t.Errorf("%d pairs of runs overlap (%v)", overlaps, err)
	}
}

func lives(t testing.TB, db *pg.DB) bool {
	t.Helper()
	live, err := pg.Value[bool](t.Context(), db, `select exists (select from job where finished_at is null)`)
	if err != nil {
		t.Fatal(err)
	}
	return live
}

// A job that Put adds to a batch of statements commits with them if its condition holds. A second
// job with its key is not created. Notified workers begin at once; others find the job themselves.
func TestPut(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, counting(nil))
	j.Rest(5 * time.Second)
	ctx := op.WithActor(t.Context(), ada)
	put := func(key string, holds, whole bool) error {
		var b pgx.Batch
		given := `select where @about::uuid is not null`
		if !holds {
			given = `select where @about::uuid is null`
		}
		if err := j.Put(ctx, &b, "count", countArgs{1}, job.Options{Unique: key}, given, id.New()); err != nil {
			t.Fatal(err)
		}
		if !whole {
			b.Queue(`select 1/0`)
		}
		return db.SendBatch(ctx, &b).Close()
	}
	states := func() string {
		s, err := pg.Value[string](ctx, db,
			`select coalesce(string_agg(unique_key || ' ' || state || ' ' || actor_name, ', ' order by unique_key), '') from job`)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for range 2 { // before any worker starts, so that the second request joins the first job
		if err := put("first", true, true); err != nil {
			t.Fatal(err)
		}
	}
	start(t, j)
	first := "first succeeded " + ada.Name + ", "
	await(t, "the first look", func() bool { return states()+", " == first })
	if err := put("told", true, true); err != nil {
		t.Fatal(err)
	}
	if err := put("not so", false, true); err != nil {
		t.Fatal(err)
	}
	if err := put("undone", true, false); err == nil {
		t.Error("a batch that fails goes well")
	}
	await(t, "the job that workers were told of", func() bool { return states() == first+"told succeeded "+ada.Name })
	// A notification can be lost with a connection.
	if _, err := db.Exec(t.Context(), `alter table job disable trigger job_wakes`); err != nil {
		t.Fatal(err)
	}
	if err := put("untold", true, true); err != nil {
		t.Fatal(err)
	}
	await(t, "the job that nobody was told of",
		func() bool { return states() == first+"told succeeded "+ada.Name+", untold succeeded "+ada.Name })
}

package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// An obituary is the end of a job as its kind recorded it.
type obituary struct {
	State   string `db:"state"`
	Code    string `db:"code"`
	Message string `db:"message"`
	Same    bool   `db:"same"` // written by the transaction that ended the job
}

func obituaries(t testing.TB, db *pg.DB, which id.ID) []obituary {
	t.Helper()
	all, err := pg.All[obituary](t.Context(), db, `
		select o.state, o.code, o.message, o.xmin::text = job.xmin::text and o.state = job.state as same
		from obituary o join job on job.id = o.job where job.id = $1`, which)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func obituaryTable(t testing.TB, db *pg.DB) {
	t.Helper()
	_, err := db.Exec(t.Context(), `create table obituary (job uuid, state text, code text, message text)`)
	if err != nil {
		t.Fatal(err)
	}
}

// mourn stores the ended jobs.
func mourn(ctx context.Context, tx pg.Querier, ended []job.Ended) error {
	for _, e := range ended {
		_, err := tx.Exec(ctx, `insert into obituary values ($1, $2, $3, $4)`, e.JobID, e.State, string(e.Code),
			e.Message)
		if err != nil {
			return err
		}
	}
	return nil
}

// mortal is a kind whose jobs end as their argument says.
func mortal(ended func(context.Context, pg.Tx, []job.Ended) error, waits chan<- id.ID) job.Kind {
	return job.Kind{
		Name: "mortal", Unit: "lives", Lane: job.Models, Retries: 1, Ended: ended,
		Work: func(ctx context.Context, run *job.Run) (any, error) {
			var how string
			if err := run.Args(&how); err != nil {
				return nil, err
			}
			switch how {
			case "fails":
				return nil, errs.New(errs.ProviderError, "the model refused")
			case "waits":
				waits <- run.ID()
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return nil, nil //nolint:nilnil // there is no result
		},
	}
}

// For every end of a job, its kind's Ended is called once, in the transaction that ends the job. A
// failure that is retried is not an end.
func TestKindIsToldOfEveryEnd(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	obituaryTable(t, db)
	waits := make(chan id.ID, 3)
	j := newJobs(t, db, mortal(func(ctx context.Context, tx pg.Tx, ended []job.Ended) error {
		return mourn(ctx, tx, ended)
	}, waits))
	orphan := func(set string) job.Job {
		made := enqueue(t, j, db, "mortal", "ends", job.Options{})
		_, err := db.Exec(t.Context(), `update job set state = 'running', lease_owner = 'dead',
			renewed_at = now() - interval '1 hour', `+set+` where id = $1`, made.ID)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	queued := enqueue(t, j, db, "mortal", "ends", job.Options{})
	if _, err := cancelJob(t, j, db, queued.ID); err != nil {
		t.Fatal(err)
	}
	abandoned, hopeless, resumed := orphan("cancel_requested = true"), orphan("losses = 9"), orphan("losses = 8")
	succeeds := enqueue(t, j, db, "mortal", "ends", job.Options{})
	fails := enqueue(t, j, db, "mortal", "fails", job.Options{})
	start(t, j)
	running := enqueue(t, j, db, "mortal", "waits", job.Options{Unique: "followed"})
	for got := range waits {
		if got == running.ID {
			break
		}
	}
	enqueue(t, j, db, "mortal", "ends", job.Options{Unique: "followed", Again: true})
	if _, err := cancelJob(t, j, db, running.ID); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		job  job.Job
		want obituary
	}{
		{"cancelled in the queue", queued, obituary{State: job.Cancelled}},
		{"cancelled, its worker dead", abandoned, obituary{State: job.Cancelled}},
		{"given up", hopeless, obituary{
			State: job.Failed, Code: "INTERNAL_ERROR",
			Message: "the server stopped repeatedly during this job; see the server log",
		}},
		{"resumed", resumed, obituary{State: job.Succeeded}},
		{"succeeded", succeeds, obituary{State: job.Succeeded}},
		{"failed twice", fails, obituary{State: job.Failed, Code: "PROVIDER_ERROR", Message: "the model refused"}},
		{"cancelled at work", running, obituary{State: job.Cancelled}},
	} {
		ended(t, j, c.job.ID, c.want.State)
		got := obituaries(t, db, c.job.ID)
		c.want.Same = true
		if c.job.ID == running.ID { // the following job has changed its row since, in a savepoint
			c.want.Same = got[0].Same
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: notified of %+v, want %+v", c.name, got, c.want)
		}
	}
}

// If Ended fails, the job has not ended: it runs again until both are written. A kind whose Ended
// fails does not keep other jobs from ending.
func TestEndAndTellingAreOne(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	obituaryTable(t, db)
	var calls atomic.Int64
	j := newJobs(t, db, counting(nil), mortal(func(ctx context.Context, tx pg.Tx, ended []job.Ended) error {
		if err := mourn(ctx, tx, ended); err != nil {
			return err
		}
		if calls.Add(1) <= 2 {
			return errors.New("not yet")
		}
		return nil
	}, nil))
	countedTable(t, db)
	dead := enqueue(t, j, db, "mortal", "ends", job.Options{})
	other := enqueue(t, j, db, "count", countArgs{1}, job.Options{})
	_, err := db.Exec(t.Context(), `update job set state = 'running', lease_owner = 'dead',
		renewed_at = now() - interval '1 hour', cancel_requested = id = $1, losses = 9`, dead.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cancelJob(t, j, db, enqueue(t, j, db, "mortal", "ends", job.Options{}).ID); err == nil {
		t.Error("a job was cancelled without its kind")
	}
	start(t, j)
	ended(t, j, other.ID, job.Failed)
	ended(t, j, dead.ID, job.Cancelled)
	if got := obituaries(t, db, dead.ID); len(got) != 1 || !got[0].Same {
		t.Errorf("notified of %+v", got)
	}
	open, err := pg.Value[int](t.Context(), db, `select count(*) from obituary join job on job.id = job
		where finished_at is null`)
	if err != nil || open != 0 {
		t.Errorf("%d jobs are mourned and live (%v)", open, err)
	}
	if n := calls.Load(); n < 3 {
		t.Errorf("notified %d times, so the test proves nothing", n)
	}
}

// If a server is killed after Ended was called and before the commit, neither is stored. In the
// comparison the kind writes in its own transaction, and Ended is called twice.
func TestKilledWhileTelling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		apart bool
		want  int
	}{"in the transaction that ends it": {false, 1}, "control in another": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 3})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(db.Close)
			countedTable(t, db)
			obituaryTable(t, db)
			j := newJobs(t, db, mortal(nil, nil))
			made := enqueue(t, j, db, "mortal", "ends", job.Options{})
			first := server{URL: url, Quick: true, Dies: true, Apart: c.apart}.start(t)
			_ = first.Wait() // it kills itself
			if h, _ := holder(t, db, made.ID); h.State != job.Running {
				t.Fatalf("the job is %s", h.State)
			}
			server{URL: url, Quick: true, Apart: c.apart}.start(t)
			ended(t, j, made.ID, job.Succeeded)
			if got := obituaries(t, db, made.ID); len(got) != c.want {
				t.Errorf("notified of %+v, want it %d times", got, c.want)
			}
		})
	}
}

// telling returns the Ended of a server's process, which stores the end of a job.
func telling(db *pg.DB, s server) func(context.Context, pg.Tx, []job.Ended) error {
	return func(ctx context.Context, tx pg.Tx, ended []job.Ended) error {
		var q pg.Querier = tx
		if s.Apart {
			q = db
		}
		err := mourn(ctx, q, ended)
		if s.Dies {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // it does not return
		}
		return err
	}
}

// Work that waits for an outside service, such as a model, is canceled when its lease is next renewed,
// within two seconds on a machine that is not busy, and learns the reason. In the comparison leases are
// not renewed, and the work continues to wait.
func TestCancelBreaksOffAWait(t *testing.T) {
	t.Parallel()
	for name, renew := range map[string]time.Duration{"as usual": 2 * time.Second, "control": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			within := patience
			if name == "control" {
				within = 3 * time.Second
			}
			db := pgtest.New(t)
			waits, broken := make(chan id.ID), make(chan error, 1)
			k := mortal(nil, waits)
			work := k.Work
			k.Work = func(ctx context.Context, run *job.Run) (any, error) {
				_, err := work(ctx, run)
				broken <- err
				return nil, errors.New("the connection was closed") // the error of any client
			}
			j := newJobs(t, db, k)
			j.Quicken(renew, time.Hour)
			start(t, j)
			made := enqueue(t, j, db, "mortal", "waits", job.Options{})
			<-waits
			if _, err := cancelJob(t, j, db, made.ID); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			select {
			case err := <-broken:
				if !errors.Is(err, job.ErrCancelled) {
					t.Errorf("broken off by %v", err)
				}
				ended(t, j, made.ID, job.Cancelled)
				t.Logf("broken off after %v", time.Since(began).Round(time.Millisecond))
				if name == "control" {
					t.Error("broken off without a renewal, so the test proves nothing")
				}
			case <-time.After(within):
				if name != "control" {
					t.Errorf("still waiting after %v", within)
				}
			}
		})
	}
}

// A record can share its id with its job. A job that is joined keeps its own id.
func TestGivenID(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, counting(nil))
	want := id.New()
	if made := enqueue(t, j, db, "count", countArgs{}, job.Options{ID: want, Unique: "one"}); made.ID != want ||
		made.ShortID != want.Short() {
		t.Errorf("made %s", made.ID)
	}
	if joined := enqueue(t, j, db, "count", countArgs{}, job.Options{ID: id.New(), Unique: "one"}); joined.ID != want {
		t.Errorf("joined %s", joined.ID)
	}
}

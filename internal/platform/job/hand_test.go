package job_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A server that stops lets the current batch commit. Another server continues the job at once, and
// not only after the lease has run out.
func TestStoppingServerHandsOver(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	var reached sync.Once
	inside, release := make(chan struct{}), make(chan struct{})
	slow := counting(nil)
	work := slow.Work
	slow.Work = func(ctx context.Context, run *job.Run) (any, error) {
		if run.Attempt() == 1 {
			err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
				reached.Do(func() { close(inside) })
				<-release
				_, err := tx.Exec(ctx, `insert into counted (job, n, attempt) values ($1, 1, 1)`, run.ID())
				return job.Step{Position: struct{ N, Sum int }{1, 1}, Done: 1}, err
			})
			if err != nil {
				return nil, err
			}
		}
		return work(ctx, run)
	}
	a, b := newJobs(t, db, slow), newJobs(t, db, slow)
	for _, j := range []*job.Jobs{a, b} {
		j.Quicken(time.Second, time.Hour) // only a hand-over can give the job to another server
	}
	stop := start(t, a)
	made := enqueue(t, a, db, "count", countArgs{10}, job.Options{})
	<-inside
	start(t, b)
	go func() {
		for !job.Stopping(a) {
			time.Sleep(time.Millisecond)
		}
		close(release)
	}()
	stop()
	got := ended(t, b, made.ID, job.Succeeded)
	if string(got.Result) != `{"sum": 55}` || got.Progress.Done != 10 {
		t.Errorf("%s %+v", got.Result, got.Progress)
	}
	checkCounted(t, db, made.ID, 10)
	first, err := pg.Value[int](t.Context(), db, `select count(*) from counted where attempt = 1`)
	if err != nil || first != 1 {
		t.Errorf("the stopping server committed %d batches (%v), want the one that was under way", first, err)
	}
}

// Work that ignores all signals is canceled when stopPatience is over, and its last batch is rolled
// back.
func TestStoppingServerBreaksOffDeafWork(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	inside := make(chan struct{}, 1)
	j := newJobs(t, db, job.Kind{
		Name: "deaf", Unit: "batches",
		Work: func(ctx context.Context, run *job.Run) (any, error) {
			return nil, run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
				inside <- struct{}{}
				_, err := tx.Exec(ctx, `insert into counted (job, n, attempt) values ($1, 1, 1)`, run.ID())
				if err == nil {
					<-ctx.Done()
				}
				return job.Step{}, err
			})
		},
	})
	stop := start(t, j)
	made := enqueue(t, j, db, "deaf", nil, job.Options{})
	<-inside
	stop()
	checkCounted(t, db, made.ID, 0)
	if got, err := j.Get(t.Context(), db, job.Ref{JobID: made.ShortID}); err != nil || got.State != job.Queued {
		t.Errorf("%+v %v", got, err)
	}
}

// A job that repeatedly kills its servers is given up in the end.
func TestJobThatKillsItsWorkersIsGivenUp(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, counting(nil))
	made := enqueue(t, j, db, "count", countArgs{2}, job.Options{})
	_, err := db.Exec(t.Context(), `
		update job set state = 'running', lease_owner = 'dead', renewed_at = now() - interval '1 hour', losses = 9
			where id = $1`, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	start(t, j)
	if got := ended(t, j, made.ID, job.Failed); got.Error == nil || got.Error.Code != "INTERNAL_ERROR" {
		t.Errorf("%+v", got.Error)
	}
}

func TestRunAtAndOrder(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, counting(nil))
	start(t, j)
	at := time.Now().Add(700 * time.Millisecond)
	later := enqueue(t, j, db, "count", countArgs{1}, job.Options{RunAt: at})
	now := enqueue(t, j, db, "count", countArgs{1}, job.Options{Priority: 4})
	ended(t, j, now.ID, job.Succeeded)
	got := ended(t, j, later.ID, job.Succeeded)
	if got.StartedAt.Time().Before(at) {
		t.Errorf("started %v early", at.Sub(got.StartedAt.Time()))
	}
}

func TestWaitIsShortLivedAndHoldsNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	countedTable(t, db)
	j := newJobs(t, db, counting(nil))
	made := enqueue(t, j, db, "count", countArgs{1}, job.Options{})
	least := int32(8) // a viewer uses a connection only for a moment; if it held one, none would be free
	var group sync.WaitGroup
	began := time.Now()
	for range 40 { // the pool has 8
		group.Go(func() {
			got, err := j.Wait(t.Context(), made.ID, 500*time.Millisecond)
			if err != nil || got.State != job.Queued {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
	over := make(chan struct{})
	go func() { group.Wait(); close(over) }()
	for waiting := true; waiting; {
		select {
		case <-over:
			waiting = false
		case <-time.After(5 * time.Millisecond):
			least = min(least, db.Stat().AcquiredConns())
		}
	}
	if took := time.Since(began); took < 500*time.Millisecond || took > patience {
		t.Errorf("waited %v", took)
	}
	if least == 8 {
		t.Error("those who wait hold all connections")
	}
	start(t, j)
	ended(t, j, made.ID, job.Succeeded)
	if _, ok := j.Await(t.Context(), made, patience); !ok {
		t.Error("an ended job is not seen as ended")
	}
}

func TestOldJobsAreForgotten(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	j := newJobs(t, db, counting(nil))
	old, young := enqueue(t, j, db, "count", nil, job.Options{}), enqueue(t, j, db, "count", nil, job.Options{})
	for _, m := range []job.Job{old, young} {
		if _, err := cancelJob(t, j, db, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	live := enqueue(t, j, db, "count", nil, job.Options{})
	if _, err := db.Exec(t.Context(), `update job set finished_at = now() - interval '31 days'
		where id = $1`, old.ID); err != nil {
		t.Fatal(err)
	}
	if err := job.Prune(j, t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := j.List(t.Context(), db, job.List{Limit: 10})
	if err != nil || len(page.Jobs) != 2 || page.Jobs[0].ID != live.ID || page.Jobs[1].ID != young.ID {
		t.Errorf("%+v %v", page, err)
	}
}

// A viewer at one server is notified of changes at another server: of the start, of each batch and
// of the end. The clock of the viewer's server does not wake here, so only notifications can cause
// the reads.
func TestWaitersAreNotifiedByOtherServers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	proceed := make(chan struct{})
	works := newJobs(t, db, job.Kind{
		Name: "gated", Unit: "batches",
		Work: func(ctx context.Context, run *job.Run) (any, error) {
			for range 2 {
				<-proceed
				if err := run.Batch(ctx, func(context.Context, pg.Tx) (job.Step, error) {
					return job.Step{Done: 1}, nil
				}); err != nil {
					return nil, err
				}
			}
			<-proceed
			return nil, nil
		},
	})
	waits := newJobs(t, db)
	waits.Rest(time.Hour)
	start(t, waits)
	await(t, "the server listens", waits.Listening)
	made := enqueue(t, works, db, "gated", nil, job.Options{})
	done, leave := waits.Watch(made.ID, patience)
	defer leave()
	start(t, works)
	for _, want := range []int64{0, 1, 2} {
		for got := done(); got != want; got = done() {
			if got < 0 || got > want {
				t.Fatalf("%d batches are shown, want %d", got, want)
			}
		}
		if want < 2 {
			proceed <- struct{}{}
		}
	}
	ended := make(chan job.Job, 1)
	go func() {
		now, err := waits.Wait(t.Context(), made.ID, time.Hour)
		if err != nil {
			t.Error(err)
		}
		ended <- now
	}()
	proceed <- struct{}{}
	if now := <-ended; now.State != job.Succeeded {
		t.Errorf("the job that was waited for is %s", now.State)
	}
}

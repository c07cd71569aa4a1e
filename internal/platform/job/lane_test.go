package job_test

import (
	"context"
	"errors"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// occupied is a kind whose jobs run until the test closes end.
func occupied(name string, lane job.Lane, begun chan<- id.ID, end <-chan struct{}) job.Kind {
	return job.Kind{
		Name: name, Unit: "hours", Lane: lane,
		Work: func(ctx context.Context, run *job.Run) (any, error) {
			select {
			case begun <- run.ID():
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			select {
			case <-end:
				return nil, nil //nolint:nilnil // it only lasts
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
	}
}

// A job of one lane begins at once, even if another lane is full, because each lane has its own
// workers.
func TestLanesDoNotStarveEachOther(t *testing.T) {
	t.Parallel()
	lanes := map[job.Lane]string{job.Bulk: "bulk", job.Prompt: "prompt", job.Models: "models"}
	for full, name := range lanes {
		t.Run(name+" is full", func(t *testing.T) {
			t.Parallel()
			db := pgtest.New(t)
			end := make(chan struct{})
			defer close(end)
			begun := map[job.Lane]chan id.ID{}
			var kinds []job.Kind
			for l, name := range lanes {
				begun[l] = make(chan id.ID)
				kinds = append(kinds, occupied(name, l, begun[l], end))
			}
			j := newJobs(t, db, kinds...)
			start(t, j)
			for range 30 {
				enqueue(t, j, db, name, nil, job.Options{Priority: 1})
			}
			for range job.Workers[full] { // until all workers of the lane are busy
				<-begun[full]
			}
			for l, other := range lanes {
				if l == full {
					continue
				}
				made := enqueue(t, j, db, other, nil, job.Options{Priority: 4})
				if got := <-begun[l]; got != made.ID {
					t.Errorf("%s began, not %s", got, made.ID)
				}
			}
			// Check the test: all workers of the full lane are busy, so with shared workers the
			// jobs of other lanes would wait.
			busy, err := pg.Value[int](t.Context(), db, `select count(*) from job
				where kind = $1 and state = 'running'`, name)
			if err != nil || busy != job.Workers[full] {
				t.Errorf("%d of %s run (%v), so the test proves nothing", busy, name, err)
			}
		})
	}
}

// asked enqueues a job by an op that the caller calls.
func asked(t *testing.T, r *op.Runner, o *op.Op, who op.Actor) (short string, err error) {
	t.Helper()
	a, err := r.Call(t.Context(), o, op.Call{Actor: who, Surface: op.REST, Args: map[string]any{}, RequestID: "test"})
	if err != nil {
		return "", err
	}
	return string(a.Body), nil
}

// The number of a caller's waiting jobs is limited, and the jobs of a caller with many run after
// those of a caller with few.
func TestOneCallersJobsAreBounded(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	begun, end := make(chan id.ID, 100), make(chan struct{})
	j := newJobs(t, db, occupied("bulk", job.Bulk, begun, end), occupied("prompt", job.Prompt, begun, end))
	of := func(kind string) *op.Op {
		return op.Writing(op.Spec{Name: kind + ".start", Route: "POST /" + kind, Summary: "Starts it."},
			func(ctx context.Context, tx pg.Tx, _ op.None) (job.Job, error) {
				return j.Enqueue(ctx, tx, kind, nil, job.Options{})
			})
	}
	r := &op.Runner{DB: db}
	bulk, prompt := of("bulk"), of("prompt")
	bob := op.Actor{Type: op.User, ID: id.New(), Name: "Bob", Scope: op.Full}
	n, refused := 0, error(nil)
	for ; refused == nil && n < 100; n++ {
		_, refused = asked(t, r, bulk, ada)
	}
	e, _ := errors.AsType[*errs.Error](refused)
	if n-1 != job.MostQueued || e == nil || e.Code != errs.RateLimited || e.After <= 0 {
		t.Fatalf("after %d jobs: %v", n-1, refused)
	}
	if _, err := asked(t, r, prompt, ada); err != nil {
		t.Errorf("prompt work is refused as well: %v", err)
	}
	if _, err := asked(t, r, bulk, bob); err != nil {
		t.Errorf("another caller is refused as well: %v", err)
	}
	last, err := pg.Value[int](t.Context(), db, `
		select count(*) from job a, job b where a.actor_name = 'Ada' and b.actor_name = 'Bob' and a.kind = 'bulk'
			and a.priority > b.priority`)
	if err != nil || last < job.MostQueued-2 {
		t.Errorf("%d of the many jobs go behind another caller's first (%v)", last, err)
	}
	enqueue(t, j, db, "bulk", nil, job.Options{}) // the limit does not apply to jobs of the service itself
	start(t, j)
	close(end)
	await(t, "all jobs end", func() bool {
		open, err := pg.Value[int](t.Context(), db, `select count(*) from job where state <> 'succeeded'`)
		return err == nil && open == 0
	})
	if _, err := asked(t, r, bulk, ada); err != nil {
		t.Errorf("with none waiting: %v", err)
	}
}

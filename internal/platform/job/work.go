package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// claim takes as many due jobs as there are free workers, and starts them. Other servers do the
// same, but each job is taken by only one of them.
func (j *Jobs) claim(ctx context.Context) error {
	for i := range lanes {
		free, kinds := j.reserve(i)
		if free == 0 {
			continue
		}
		// The time is clock_timestamp(): now() may be before the end of the job that this one
		// follows.
		taken, err := pg.All[claim](ctx, j.reserved, `
			with next as (
				select id from job where state = 'queued' and run_at <= clock_timestamp() and kind = any(@kinds)
				order by priority, run_at, id limit @free for update skip locked)
			update job set
				state = 'running', attempt = attempt + 1, started_at = coalesce(started_at, clock_timestamp()),
				lease_owner = @owner, lease_number = lease_number + 1, renewed_at = clock_timestamp()
			from next where job.id = next.id
			returning job.id, short_id, kind, args, position, attempt, failures, priority, lease_number, actor_type,
				actor_id, actor_name, actor_scope, actor_key, actor_run`,
			pg.Args{"owner": j.owner, "kinds": kinds, "free": free})
		j.release(i, free-len(taken))
		if err != nil {
			return err
		}
		if len(taken) > 0 {
			_ = notifyMoved(ctx, j.reserved) // only needed by viewers on other servers
		}
		for _, c := range taken {
			go func() {
				j.take(context.WithoutCancel(ctx), c)
				j.release(i, 1)
				j.clock.Wake(task) // look for the worker's next job
			}()
		}
	}
	return nil
}

// reserve marks all free workers of a lane as busy, and returns their number and the kinds that
// they run. On a server that is stopping it returns none.
func (j *Jobs) reserve(i Lane) (free int, kinds []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := &j.lanes[i]
	if j.closed || len(l.kinds) == 0 {
		return 0, nil
	}
	free, l.busy = workers[i]-l.busy, workers[i]
	return free, l.kinds
}

// release marks n workers of a lane as free.
func (j *Jobs) release(i Lane, n int) {
	j.mu.Lock()
	j.lanes[i].busy -= n
	j.mu.Unlock()
	signal(j.freed)
}

// signal sends to a channel with a buffer of one, unless the buffer is full.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a signal is waiting already
	}
}

// take runs a job that this process has claimed, and records its end. If that fails, the lease runs
// out and the job is recovered.
func (j *Jobs) take(ctx context.Context, c claim) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &Run{jobs: j, claim: c, cancel: cancel, position: c.Position, renewed: time.Now()}
	j.track(r)
	defer j.untrack(r)
	j.views.poke(c.ID)
	start := time.Now()
	result, err := r.work(op.WithActor(ctx, c.actor()))
	r.finish(ctx, result, err, time.Since(start))
}

func (c claim) actor() op.Actor {
	a := op.Actor{
		Type: c.ActorType, Name: c.ActorName, Scope: op.Scope(c.ActorScope), Key: c.ActorKey,
		Run: c.ActorRun,
	}
	if c.ActorID != nil {
		a.ID = *c.ActorID
	}
	return a
}

// track registers the run. If the run was claimed while the server began to stop, close has not
// seen it, so track halts it at once.
func (j *Jobs) track(r *Run) {
	j.mu.Lock()
	j.running[r] = true
	closed := j.closed
	j.mu.Unlock()
	signal(j.begun)
	if closed {
		r.halt(ErrStopping)
	}
}

func (j *Jobs) untrack(r *Run) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, r)
}

func (j *Jobs) runs() []*Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]*Run, 0, len(j.running))
	for r := range j.running {
		all = append(all, r)
	}
	return all
}

func (j *Jobs) stopping() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

// work calls the kind's work with its timeout, and turns a panic into an error.
func (r *Run) work(ctx context.Context) (result any, err error) {
	k := r.jobs.kinds[r.claim.Kind]
	late := errs.New(errs.Unavailable, "this took longer than %s and was stopped; try again with less data", k.Timeout)
	ctx, done := context.WithTimeoutCause(ctx, k.Timeout, late)
	defer done()
	defer func() {
		if p := recover(); p != nil {
			err = errs.Panicked("job "+k.Name, p)
		}
		if err != nil && errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), late) {
			err = late
		}
	}()
	return k.Work(ctx, r)
}

// finish records the result of the run, its failure, or that another worker must continue it.
func (r *Run) finish(ctx context.Context, result any, err error, took time.Duration) {
	cause := context.Cause(ctx)
	var end ending
	switch {
	case err == nil:
		end = r.succeeded(result)
	case errors.Is(err, ErrLost) || errors.Is(cause, ErrLost):
		end = ending{outcome: "lost"}
	case errors.Is(err, ErrCancelled) || errors.Is(cause, ErrCancelled):
		end = ending{outcome: Cancelled, state: Cancelled}
	case errors.Is(err, ErrStopping) || errors.Is(cause, ErrStopping):
		end = ending{outcome: "handed over", state: Queued}
	default:
		end = r.failed(err)
	}
	if end.state != "" {
		// The canceled context of the run must not keep its end from being recorded. A failed write
		// is repeated for as long as a lease lasts; then the lease runs out and another worker
		// continues.
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.jobs.tempo.lease)
		defer cancel()
		held, werr := r.end(writing, end)
		for werr != nil && (pg.Away(werr) || errs.Is(werr, errs.Unavailable)) && writing.Err() == nil {
			sleep(writing, 250*time.Millisecond)
			held, werr = r.end(writing, end)
		}
		if werr != nil {
			end.outcome, err = "not written", errors.Join(werr, err)
		} else if !held {
			end.outcome = "lost"
		}
		r.jobs.views.poke(r.claim.ID)
	}
	r.report(ctx, end.outcome, err, took)
}

// An ending is the part of a run's outcome that is stored.
type ending struct {
	outcome string // for the log
	state   string // "" stores nothing
	result  []byte
	failure *errs.Error
	failed  bool          // counts against the retries
	pause   time.Duration // before the next try
}

func (r *Run) succeeded(result any) ending {
	b, err := json.Marshal(result)
	if err != nil {
		return r.failed(fmt.Errorf("print the job's result: %w", err))
	}
	switch {
	case string(b) == "null":
		b = nil
	case b[0] != '{':
		return r.failed(fmt.Errorf("job %s: a result must be an object", r.claim.Kind))
	}
	return ending{outcome: Succeeded, state: Succeeded, result: b}
}

// pauses are the waits before the retries of a temporary failure.
var pauses = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}

func (r *Run) failed(err error) ending {
	if MayPass(err) && r.claim.Failures < r.jobs.kinds[r.claim.Kind].Retries {
		return ending{
			outcome: "to be tried again", state: Queued, failed: true,
			pause: max(pauses[min(r.claim.Failures, len(pauses)-1)], asked(err)),
		}
	}
	return ending{outcome: Failed, state: Failed, failure: errs.Public(err, r.claim.ShortID)}
}

// asked returns the delay that an error requests before the next try, but at most the longest
// pause.
func asked(err error) time.Duration {
	if e, ok := errors.AsType[*errs.Error](err); ok {
		return min(e.After, pauses[len(pauses)-1])
	}
	return 0
}

// MayPass reports whether a retry could help: the other side is unavailable or overloaded, or the
// database asked for it. Other errors are permanent.
func MayPass(err error) bool {
	if _, ok := errors.AsType[final](err); ok {
		return false
	}
	if e, ok := errors.AsType[*errs.Error](err); ok {
		switch e.Kind() {
		case errs.KindUnavailable, errs.KindUpstream:
			return true
		case errs.KindLimited: // a longer wait, such as for tomorrow's budget, is not worth it
			return e.After <= pauses[len(pauses)-1]
		}
		return false
	}
	return pg.Retryable(err) || pg.Away(err) || pg.TimedOut(err) || errors.Is(err, context.DeadlineExceeded)
}

// Final marks a failure that must not be retried, because the work has already handled it.
func Final(err error) error { return final{err} }

type final struct{ error }

// Unwrap returns the failure itself.
func (f final) Unwrap() error { return f.error }

// end stores the ending if the worker still has the lease, and reports whether it did.
func (r *Run) end(ctx context.Context, e ending) (held bool, err error) {
	over := Ended{JobID: r.claim.ID, State: e.state}
	var code, message *string
	if e.failure != nil {
		over.Code, over.Message = e.failure.Code, e.failure.Message
		code, message = new(string(over.Code)), &over.Message
	}
	err = r.jobs.reserved.InTx(ctx, func(tx pg.Tx) error {
		n, err := pg.Exec(ctx, tx, `
			update job set
				state = @state, result = @result, error_code = @code, error_message = @message, lease_owner = null,
					lease_number = lease_number + 1,
				finished_at = case when @state <> 'queued' then now() end, failures = failures + @failed,
				run_at = case when @state = 'queued' then now() + make_interval(secs => @pause) else run_at end
			where id = @id and lease_number = @number and state = 'running'`, pg.Args{
			"state": e.state, "result": json.RawMessage(e.result), "code": code, "message": message,
			"failed": count(e.failed), "pause": int(e.pause.Seconds()),
			"id": r.claim.ID, "number": r.claim.Number,
		})
		held = n == 1
		if err != nil || !held {
			return err
		}
		if e.state == Queued {
			return notifyMoved(ctx, tx)
		}
		return r.jobs.ended(ctx, tx, r.claim.Kind, over)
	})
	return held, err
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// report writes the run's one log line.
func (r *Run) report(ctx context.Context, outcome string, err error, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("kind", r.claim.Kind), slog.String("job", r.claim.ShortID), slog.Int("attempt", r.claim.Attempt),
		slog.String("outcome", outcome), slog.Duration("took", took),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", errs.LogText(err)))
		switch outcome {
		case Failed, "not written":
			level = slog.LevelError
		case "lost", "to be tried again":
			level = slog.LevelWarn
		}
	}
	if r.jobs.Observe != nil {
		r.jobs.Observe(r.claim.Kind, outcome, took)
	}
	r.jobs.log.LogAttrs(context.WithoutCancel(ctx), level, "job", attrs...)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// The reasons why a run ends early. Batch returns one of them, and the work returns it unchanged.
var (
	ErrCancelled = errors.New("job: cancelled")
	ErrStopping  = errors.New("job: the server is stopping; another one continues the job")
	ErrLost      = errors.New("job: another worker owns this job now")
)

// A Run is a job that a worker is running, as its work sees it.
type Run struct {
	jobs   *Jobs
	claim  claim
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	inside   bool            // a batch is under way
	halted   error           // why the work must end before its next batch
	spoilt   error           // the error of a batch that may or may not have committed
	position json.RawMessage // as committed
	renewed  time.Time       // when the lease was last certainly held, by this machine's monotonic clock
}

// A claim is a job as the database returns it to the worker that takes it.
type claim struct {
	ID         id.ID           `db:"id"`
	ShortID    string          `db:"short_id"`
	Kind       string          `db:"kind"`
	Args       json.RawMessage `db:"args"`
	Position   json.RawMessage `db:"position"`
	Attempt    int             `db:"attempt"`
	Failures   int             `db:"failures"`
	Priority   int             `db:"priority"`
	Number     int64           `db:"lease_number"`
	ActorType  string          `db:"actor_type"`
	ActorID    *id.ID          `db:"actor_id"`
	ActorName  string          `db:"actor_name"`
	ActorScope int             `db:"actor_scope"`
	ActorKey   *id.ID          `db:"actor_key"`
	ActorRun   *id.ID          `db:"actor_run"`
}

// ID returns the job's id.
func (r *Run) ID() id.ID { return r.claim.ID }

// Attempt returns how many times a worker has taken this job, counted from 1.
func (r *Run) Attempt() int { return r.claim.Attempt }

// Warn logs a failure that does not stop the work.
func (r *Run) Warn(ctx context.Context, what string, err error) {
	r.jobs.log.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, what, slog.String("kind", r.claim.Kind),
		slog.String("job", r.claim.ShortID), slog.String("error", errs.LogText(err)))
}

// Args reads the arguments of the job.
func (r *Run) Args(into any) error {
	if err := json.Unmarshal(r.claim.Args, into); err != nil {
		return fmt.Errorf("read the job's arguments: %w", err)
	}
	return nil
}

// Position reads the position of the last committed batch, and reports whether there is one.
func (r *Run) Position(into any) (bool, error) {
	r.mu.Lock()
	at := r.position
	r.mu.Unlock()
	if at == nil {
		return false, nil
	}
	if err := json.Unmarshal(at, into); err != nil {
		return false, fmt.Errorf("read the job's position: %w", err)
	}
	return true, nil
}

// A Step is the result of a batch. It is written in the batch's own transaction.
type Step struct {
	Position any   // where the next run resumes; nil does not change it
	Done     int64 // how many more are done
	Total    int64 // how many there are in all; 0 does not change it
}

// Batch runs f in a transaction and commits it with the position and the progress that f returns,
// if this worker still owns the job; otherwise nothing is committed. Between batches a job can be
// canceled and handed over, so work makes all its changes in batches of about a second. If Batch
// returns an error, the work must return it too.
func (r *Run) Batch(ctx context.Context, f func(context.Context, pg.Tx) (Step, error)) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	position, cancelled, err := r.batch(ctx, f)
	r.leave(err, position, cancelled)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, ErrLost) {
		return cause
	}
	return err
}

func (r *Run) batch(ctx context.Context, f func(context.Context, pg.Tx) (Step, error)) (position json.RawMessage,
	cancelled bool, err error,
) {
	leave, err := r.jobs.db.Enter(ctx, pg.Working, "")
	if err != nil {
		return nil, false, err
	}
	defer leave()
	err = r.jobs.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := pg.Exec(ctx, tx, `select set_config('application_name', $1, true),
			set_config('lock_timeout', $2, true), pg_notify('coffer', $3)`,
			r.mark(), strconv.FormatInt(pg.JobLocks.Milliseconds(), 10), movedTask)
		if err != nil {
			return err
		}
		step, err := f(ctx, tx)
		if err != nil {
			return err
		}
		position, cancelled, err = r.fence(ctx, tx, step)
		return err
	})
	return position, cancelled, err
}

// enter returns an error if a batch may not begin.
func (r *Run) enter(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.halted != nil:
		return r.halted
	case r.spoilt != nil:
		return r.spoilt
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.inside:
		return errors.New("job: two batches of one run at the same time")
	}
	r.inside = true
	return nil
}

// leave ends a batch. A request to stop or cancel that arrived during the batch takes effect now.
func (r *Run) leave(err error, position json.RawMessage, cancelled bool) {
	r.mu.Lock()
	r.inside = false
	switch {
	case err != nil && pg.Away(err):
		// The connection broke, so the commit may or may not have succeeded. Only a new run, which
		// reads the position, can know.
		r.spoilt = err
	case err == nil && position != nil:
		r.position = position
	}
	halted := r.halted
	r.mu.Unlock()
	if err == nil {
		r.jobs.views.poke(r.claim.ID)
	}
	if halted != nil {
		r.cancel(halted)
	} else if cancelled {
		r.halt(ErrCancelled)
	}
}

// halt ends the run between batches: at once, or after the current batch.
func (r *Run) halt(why error) {
	r.mu.Lock()
	if r.halted == nil {
		r.halted = why
	}
	why, inside := r.halted, r.inside
	r.mu.Unlock()
	if !inside {
		r.cancel(why)
	}
}

// fence writes the position and progress as the last statement of a batch. The row is therefore
// locked only for a moment, and the lease can be renewed during a long batch. Until the commit no
// other worker can take the lease. If another worker has taken it already, the row is not found and
// the transaction is rolled back.
func (r *Run) fence(ctx context.Context, tx pg.Tx, s Step) (position json.RawMessage, cancelled bool, err error) {
	if s.Position != nil {
		if position, err = json.Marshal(s.Position); err != nil {
			return nil, false, fmt.Errorf("print the job's position: %w", err)
		}
	}
	var total *int64
	if s.Total > 0 {
		total = &s.Total
	}
	// clock_timestamp() and not now(): now() is the start of the batch, and the lease would look
	// that old.
	cancelled, err = pg.Value[bool](ctx, tx, `
		update job set position = coalesce(@position, position), done = done + @done, total = coalesce(@total, total),
			renewed_at = clock_timestamp(), failures = 0, losses = 0
		where id = @id and lease_number = @number and state = 'running'
		returning cancel_requested`, pg.Args{
		"position": position, "done": s.Done, "total": total, "id": r.claim.ID, "number": r.claim.Number,
	})
	if errors.Is(err, pg.ErrNoRow) {
		return nil, false, ErrLost
	}
	return position, cancelled, err
}

// mark returns the name of the connection of a batch. endZombies finds the connection by it when
// the lease is lost.
func (r *Run) mark() string { return mark(r.claim.ShortID, r.claim.Number) }

func mark(short string, number int64) string { return fmt.Sprintf("coffer job %s %d", short, number) }

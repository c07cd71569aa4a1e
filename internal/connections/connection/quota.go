package connection

import (
	"context"
	"fmt"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// A spentError says that a connection has made all the requests that it may make in 24 hours. The
// provider was not called.
type spentError struct {
	title string
	limit int
	until pg.Time // when the next request may be made
}

func (e *spentError) Error() string {
	return fmt.Sprintf("coffer sends %s at most %d requests in 24 hours, and has sent them all; "+
		"sync again after %s", e.title, e.limit, e.until.Time().UTC().Format("15:04 UTC"))
}

// Unwrap returns the public error.
func (e *spentError) Unwrap() error { return errs.New(errs.ConnNotSyncable, "%s", e.Error()) }

// recent selects the requests of a connection c that still count.
const recent = `from unnest(c.asked_at) at where at > clock_timestamp() - interval '24 hours'`

// spend counts one more request of a connection. It does so before the request, so the request is
// counted even if this server crashes. It returns a spentError if no request is left. If the
// provider counts whole loops, further pages of a loop are free, and so is a loop for which a
// person waits.
func (f *Connections) spend(ctx context.Context, connection id.ID, p bank.Provider, at bank.Position) error {
	traits := p.Traits()
	if traits.DailyCalls == 0 || traits.PerLoop && (at.Next != "" || at.Person != nil) {
		return nil
	}
	n, err := pg.Exec(ctx, f.db, `
		update connection c set asked_at = array(select at `+recent+`) || clock_timestamp()
		where id = $1 and (select count(*) `+recent+`) < $2`, connection, traits.DailyCalls)
	if err != nil || n == 1 {
		return err
	}
	return f.spent(ctx, f.db, connection, traits)
}

// spent returns the error for a connection that has no requests left.
func (f *Connections) spent(ctx context.Context, q pg.Querier, connection id.ID, traits bank.Traits) error {
	until, err := pg.Value[pg.Time](ctx, q, `select coalesce((select min(at) `+recent+`) + interval '24 hours',
		clock_timestamp()) from connection c where id = $1`, connection)
	if err != nil {
		return pg.Found(err, "connection", "{connection.list} lists them")
	}
	return &spentError{traits.Title, traits.DailyCalls, until}
}

// affords returns an error that says when a connection can be synced again, if its requests are
// used up.
func (f *Connections) affords(ctx context.Context, q pg.Querier, l syncedConnection, person bool) error {
	spec, ok := all.Find(l.Provider)
	if !ok || !spec.Remote() || spec.Type.Traits().DailyCalls == 0 {
		return nil
	}
	traits := spec.Type.Traits()
	if traits.PerLoop && person {
		return nil
	}
	left, err := pg.Value[bool](ctx, q, `select (select count(*) `+recent+`) < $2 from connection c where id = $1`,
		l.ID, traits.DailyCalls)
	if err != nil || left {
		return err
	}
	return f.spent(ctx, q, l.ID, traits)
}

// rest ends a sync that has no requests left. The bank did not fail. The next sync is due when a
// request is allowed again.
func (r *syncRun) rest(ctx context.Context, e *spentError) error {
	err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *syncState) (int64, error) {
		if _, err := pg.Exec(ctx, tx, `update connection set updated_at = clock_timestamp(),
			next_sync_at = case when status in ('active', 'error') then $2::timestamptz end where id = $1`,
			r.link.ID, e.until.Time().Add(time.Minute)); err != nil {
			return 0, err
		}
		return 0, endLog(ctx, tx, at.Log, "error", new(string(errs.RateLimited)), new(e.Error()))
	})
	if err != nil {
		return err
	}
	return job.Final(e)
}

package feed

import (
	"context"
	"math/rand/v2"
	"time"

	"coffer/internal/bank"
	"coffer/internal/id"
	"coffer/internal/pg"
)

const (
	usualInterval = 6 * time.Hour
	patience      = 3 // failures in a row before a connection is in error
	firstPause    = 5 * time.Minute
)

// interval is how long after a good sync the next one is due: a little more or less each time, so that connections made together do not stay together.
func (f *Feed) interval(l link, t bank.Traits) time.Duration {
	wait := usualInterval
	if l.Interval != nil {
		wait = time.Duration(*l.Interval) * time.Second
	}
	wait = max(wait, t.MinInterval)
	return wait + rand.N(wait/10+1) //nolint:gosec // jitter, no secret
}

// fail writes what stopped the sync into its log, and what follows for the connection.
func (r *round) fail(ctx context.Context, e *bank.Error) error {
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *place) (int64, error) {
		l, err := lockLink(ctx, tx, r.link.ID)
		if err != nil {
			return 0, err
		}
		status := after(l, e)
		pause := max(e.RetryAfter, min(firstPause<<min(l.Failures, 8), r.feed.interval(l, r.provider.Traits())))
		_, err = pg.Exec(ctx, tx, `
			update connection set
				status = @status, status_reason = case when @status = 'active' then status_reason else @reason end, status_message = case when @status = 'active' then status_message else @message end,
				consecutive_failures = consecutive_failures + 1, credentials = case when @status = 'disconnected' then null else credentials end,
				next_sync_at = case when @status in ('active', 'error') then clock_timestamp() + @pause * interval '1 second' end, updated_at = clock_timestamp()
			where id = @id`, pg.Args{"id": l.ID, "status": status, "reason": e.Code, "message": e.Advice, "pause": pause.Seconds()})
		if err != nil {
			return 0, err
		}
		return 0, endLog(ctx, tx, at.Log, "error", &e.Code, &e.Advice)
	})
}

// after is the status of a connection whose sync failed: the contract's table.
func after(l link, e *bank.Error) string {
	switch {
	case l.Status == "disconnected" || e.Class == bank.Permanent && e.Revoked:
		return "disconnected"
	case e.Class == bank.Reauth:
		return "pending_reauth"
	case e.Class == bank.Permanent || e.Class == bank.Ours || l.Failures+1 >= patience:
		return "error"
	}
	return l.Status
}

// SweepDue takes on the syncs that are due, some at a time. Every replica may do it: they skip each other's rows, and a sync that is under way is joined.
func (f *Feed) SweepDue(ctx context.Context) (int, error) {
	n := 0
	err := f.db.InTx(ctx, func(tx pg.Tx) error {
		due, err := pg.Values[id.ID](ctx, tx, `
			update connection set next_sync_at = clock_timestamp() + interval '15 minutes'
			where id in (
				select id from connection where next_sync_at <= clock_timestamp() and status in ('active', 'error') and not paused and provider <> 'csv'
				order by next_sync_at limit 50 for update skip locked)
			returning id`)
		if err != nil {
			return err
		}
		n = len(due)
		for _, c := range due { // each is a job of its own, with a ticket of its own
			if _, err := f.order(ctx, tx, order{c, "schedule"}); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

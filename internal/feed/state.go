package feed

import (
	"context"
	"math/rand/v2"
	"time"

	"coffer/internal/bank"
	"coffer/internal/pg"
)

const (
	patience   = 3 // failures in a row before a connection is in error
	firstPause = 5 * time.Minute
)

// interval is how long after a good sync the next one is due: a little more or less each time, so that connections made together do not stay together.
func interval(l link, t bank.Traits) time.Duration {
	wait := max(time.Duration(l.Interval)*time.Second, t.MinInterval)
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
		var traits bank.Traits
		if r.provider != nil { // it may be that none is configured
			traits = r.provider.Traits()
		}
		pause := max(e.RetryAfter, min(firstPause<<min(l.Failures, 8), interval(l, traits)))
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
	case l.Status == "pending_reauth" || e.Class == bank.Reauth: // a webhook may have said so while the sync ran
		return "pending_reauth"
	case e.Class == bank.Permanent || e.Class == bank.Ours || l.Failures+1 >= patience:
		return "error"
	}
	return l.Status
}

package connection

import (
	"context"
	"math/rand/v2"
	"time"

	"coffer/internal/bank"
	"coffer/internal/notify"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

const (
	patience   = 3 // failures in a row before a connection is in error
	firstPause = 5 * time.Minute
)

// interval returns how long after a successful sync the next one is due. The time varies a little,
// so connections created together do not sync together.
func interval(l syncedConnection, t bank.Traits) time.Duration {
	wait := max(time.Duration(l.Interval)*time.Second, t.MinInterval)
	return wait + rand.N(wait/10+1) //nolint:gosec // jitter, no secret
}

// fail writes the reason into the log of the sync, and updates the connection. If a webhook or a
// person set a state while the sync ran, that state and its reason stay.
func (r *syncRun) fail(ctx context.Context, e *bank.Error) error {
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, at *syncState) (int64, error) {
		l, err := lockLink(ctx, tx, r.link.ID)
		if err != nil {
			return 0, err
		}
		var traits bank.Traits
		if r.provider != nil { // nil if none is configured
			traits = r.provider.Traits()
		}
		if err := failed(ctx, tx, l, traits, e); err != nil {
			return 0, err
		}
		return 0, endLog(ctx, tx, at.Log, "error", &e.Code, &e.Advice)
	})
}

// failed updates a locked connection after a failure.
func failed(ctx context.Context, tx pg.Tx, l syncedConnection, traits bank.Traits, e *bank.Error) error {
	switch status := after(l, e); {
	case status == "disconnected" && l.Status == status:
		return nil
	case status == "disconnected":
		return disconnect(ctx, tx, l.ID, e.Code, e.Advice)
	default:
		return postpone(ctx, tx, l, traits, status, e)
	}
}

// postpone records a failure in the connection, and sets when the bank is asked again.
func postpone(ctx context.Context, tx pg.Tx, l syncedConnection, traits bank.Traits, status string,
	e *bank.Error,
) error {
	pause := max(e.RetryAfter, min(firstPause<<min(l.Failures, 8), interval(l, traits)))
	_, err := pg.Exec(ctx, tx, `
		update connection set
			status = @status, consecutive_failures = consecutive_failures + 1, updated_at = clock_timestamp(),
			status_reason = case when @known then status_reason else @reason end, status_message = case
				when @known then status_message else @message end,
			next_sync_at = case
				when @status in ('active', 'error') then clock_timestamp() + @pause * interval '1 second' end
		where id = @id`, pg.Args{
		"id": l.ID, "status": status, "known": status == "active" || status == "pending_reauth" && l.Status == status,
		"reason": e.Code, "message": e.Advice, "pause": pause.Seconds(),
	})
	switch {
	case err != nil || status == l.Status:
		return err
	case status == "pending_reauth":
		return tell(ctx, tx, notify.NeedsSignIn, l.ID)
	case status == "error":
		return tell(ctx, tx, notify.SyncFailed, l.ID)
	}
	return nil
}

// disconnect ends a connection permanently. Its credentials are erased; accounts and transactions
// stay.
func disconnect(ctx context.Context, tx pg.Tx, connection id.ID, reason, message string) error {
	_, err := pg.Exec(ctx, tx, `
		update connection set status = 'disconnected', status_reason = $2, status_message = $3, credentials = null,
			next_sync_at = null, updated_at = clock_timestamp() where id = $1`,
		connection, reason, message)
	return err
}

// works makes a connection active because its login works again. If the member has signed in again
// (renewed), the old end of consent and the note about new accounts no longer apply. Otherwise the
// end of consent stays.
func works(ctx context.Context, tx pg.Tx, connection id.ID, renewed bool) error {
	_, err := pg.Exec(ctx, tx, `
		with kept as (select id, case when not @renewed then consent_expires_at end as consent,
				not @renewed and consent_expires_at between clock_timestamp() and clock_timestamp() + interval '7 days' as soon
			from connection where id = @id)
		update connection c set
			status = 'active', consecutive_failures = 0, next_sync_at = clock_timestamp() + interval '15 minutes',
				updated_at = clock_timestamp(),
			consent_expires_at = k.consent, new_accounts_available = new_accounts_available and not @renewed,
			status_reason = case when k.soon then @reason end, status_message = case when k.soon then @advice end
		from kept k where c.id = k.id
			and c.status <> 'disconnected'`, pg.Args{
		"id": connection, "renewed": renewed, "reason": consentExpiring,
		"advice": expiringAdvice,
	})
	return err
}

// after returns the status of a connection whose sync failed, from the contract's table.
func after(l syncedConnection, e *bank.Error) string {
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

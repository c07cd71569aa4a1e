package connection

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/notify"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	consentExpiring = "CONSENT_EXPIRING"
	expiringAdvice  = "Access to the bank expires soon. Reconnect before then; syncs continue until that date."
)

// Webhooker returns the provider with this name, if its webhooks can be verified.
func (f *Connections) Webhooker(ctx context.Context, name string) (bank.Webhooker, error) {
	p, err := f.Configured(ctx, name)
	if err != nil {
		return nil, err
	}
	w, ok := p.(bank.Webhooker)
	if !ok {
		return nil, errs.New(errs.ProviderNotConfig, "%s sends no webhooks", name)
	}
	return w, nil
}

// A Hint is a webhook event about a connection, and how it arrived.
type Hint struct {
	Provider string
	Trigger  string // of a sync that follows: webhook or replay
	Event    bank.Event
}

// Heard is the result of a hint.
type Heard struct {
	Connection *id.ID // nil if the event is not about a known connection
	Synced     bool   // a sync was queued, or the waiting one was joined
	Message    string // what was done, or why nothing was
}

// ErrStranger means that a hint names an unknown connection.
var ErrStranger = errs.New(errs.NotFound,
	"no connection matches the id in this event; connect the bank, then replay the event")

// Hear does what a hint asks for: it applies the contract's table of states, and starts a sync if
// there is new data.
func (f *Connections) Hear(ctx context.Context, tx pg.Tx, h Hint) (Heard, error) {
	if h.Event.Effect == bank.SessionDone {
		return Heard{Message: "the link session was updated"}, nil
	}
	if h.Event.ConnectionID == "" {
		return Heard{Message: "the event is not about a connection; no action needed"}, nil
	}
	l, err := pg.One[syncedConnection](ctx, tx, linkRows+` where c.provider = $1
		and c.provider_id = $2`+keeping, h.Provider, h.Event.ConnectionID)
	if errors.Is(err, pg.ErrNoRow) {
		return Heard{}, ErrStranger
	}
	if err != nil {
		return Heard{}, err
	}
	c := l.ID
	out := Heard{Connection: &c, Message: "no action needed"}
	if l.Status == "disconnected" && h.Event.Effect != bank.Nothing {
		out.Message = "the connection was disconnected permanently; no action taken"
		return out, nil
	}
	switch h.Event.Effect {
	case bank.Sync, bank.AccountGone: // a sync reads the accounts and shows if one is gone
		return f.news(ctx, tx, out, l, h.Trigger)
	case bank.Repaired:
		if l, err = loginRepaired(ctx, tx, l); err != nil {
			return Heard{}, err
		}
		return f.news(ctx, tx, out, l, h.Trigger)
	case bank.NeedsReauth:
		out.Message = "the bank needs reconnecting"
		return out, needsReauth(ctx, tx, c, h.Event)
	case bank.Expiring:
		out.Message = "access to the bank expires soon; the connection shows the date"
		return out, expiring(ctx, tx, c, h.Event)
	case bank.Revoked:
		out.Message = "access was revoked at the bank, so the connection was disconnected and its " +
			"credentials deleted"
		return out, disconnect(ctx, tx, c, h.Event.Code, h.Event.Advice)
	case bank.NewAccounts:
		out.Message = "the bank has accounts that this connection does not include; reconnect the bank to " +
			"add them"
		_, err := pg.Exec(ctx, tx, `update connection set new_accounts_available = true,
			updated_at = clock_timestamp() where id = $1`, c)
		return out, err
	}
	return out, nil
}

// news requests a sync, unless the connection cannot be synced without a person.
func (f *Connections) news(ctx context.Context, tx pg.Tx, out Heard, l syncedConnection, trigger string) (Heard,
	error,
) {
	if err := l.syncable(trigger); err != nil {
		out.Message = "not synced: " + op.Public(ctx, err).Message
		return out, nil
	}
	if _, err := f.requestSync(ctx, tx, syncRequest{Connection: l.ID, Trigger: trigger}); err != nil {
		return Heard{}, err
	}
	out.Synced, out.Message = true, "a sync was requested"
	return out, nil
}

// needsReauth stops syncs until the member has signed in. If the connection already waits for a
// sign-in, the first reason stays.
func needsReauth(ctx context.Context, tx pg.Tx, c id.ID, e bank.Event) error {
	moved, err := pg.Exec(ctx, tx, `
		update connection set status = 'pending_reauth', status_reason = $2, status_message = $3, next_sync_at = null,
			updated_at = clock_timestamp()
		where id = $1 and status in ('active', 'error')`, c, e.Code, e.Advice)
	if err != nil || moved == 0 {
		return err
	}
	return tell(ctx, tx, notify.NeedsSignIn, c)
}

func expiring(ctx context.Context, tx pg.Tx, c id.ID, e bank.Event) error {
	var at *pg.Time
	if !e.ExpiresAt.IsZero() {
		at = new(pg.At(e.ExpiresAt))
	}
	_, err := pg.Exec(ctx, tx, `
		update connection set
			consent_expires_at = coalesce(@at, consent_expires_at), updated_at = clock_timestamp(),
			status_reason = case status when 'active' then @reason
				else status_reason end, status_message = case status when 'active' then @advice else status_message end
		where id = @id`, pg.Args{"id": c, "at": at, "reason": consentExpiring, "advice": expiringAdvice})
	return err
}

// loginRepaired ends pending_reauth when the provider reports a repair. In other states the login
// was not known to be broken, and the next sync finds out the state.
func loginRepaired(ctx context.Context, tx pg.Tx, l syncedConnection) (syncedConnection, error) {
	if l.Status != "pending_reauth" {
		return l, nil
	}
	l.Status = "active"
	return l, works(ctx, tx, l.ID, false)
}

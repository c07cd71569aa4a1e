package webhook

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/pg"
)

// Kind is the job that does what an event asks for.
const Kind = "webhook.process"

// Kinds are the jobs of webhooks.
func (w *Webhooks) Kinds() []job.Kind {
	return []job.Kind{{Name: Kind, Unit: "events", Work: w.process, Retries: 5}}
}

// A task is what the job is asked to do.
type task struct {
	Event id.ID `json:"webhook_event_id"`
}

// A stored is an event as its effect needs it.
type stored struct {
	ID         id.ID    `db:"id"`
	Provider   string   `db:"provider"`
	Type       string   `db:"event_type"`
	Effect     string   `db:"effect"`
	Connection *id.ID   `db:"connection_id"`
	About      string   `db:"about"`
	Account    string   `db:"account"`
	Code       string   `db:"code"`
	Advice     string   `db:"advice"`
	Session    []byte   `db:"session"`
	ExpiresAt  *pg.Time `db:"expires_at"`
	Status     string   `db:"status"`
}

const storedRows = `
	select id, provider, event_type, effect, connection_id, about, account, code, advice, session, expires_at, status from webhook_event`

func (s stored) hint(trigger string) feed.Hint {
	e := bank.Event{Type: s.Type, Effect: bank.ParseEffect(s.Effect), ConnectionID: s.About, AccountID: s.Account, Code: s.Code, Advice: s.Advice}
	if s.ExpiresAt != nil {
		e.ExpiresAt = s.ExpiresAt.Time()
	}
	return feed.Hint{Provider: s.Provider, Trigger: trigger, Event: e}
}

// process is the job. The effect and the event's new status commit together, and only while the event waits: however often it runs, the effect comes once.
func (w *Webhooks) process(ctx context.Context, run *job.Run) (any, error) {
	var t task
	if err := run.Args(&t); err != nil {
		return nil, err
	}
	if err := w.finishSession(ctx, t.Event); err != nil {
		return nil, err
	}
	var heard feed.Heard
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (_ job.Step, err error) {
		heard, err = w.effect(ctx, tx, t.Event)
		return job.Step{Done: 1, Total: 1}, err
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"connection_id": heard.Connection, "triggered": heard.Synced, "message": heard.Message}, nil
}

// effect does what an event that waits asks for, and says in it what came of that.
func (w *Webhooks) effect(ctx context.Context, tx pg.Tx, event id.ID) (feed.Heard, error) {
	e, err := pg.One[stored](ctx, tx, storedRows+` where id = $1 for update`, event)
	if errors.Is(err, pg.ErrNoRow) {
		return feed.Heard{Message: "the event was swept away"}, nil
	}
	if err != nil {
		return feed.Heard{}, err
	}
	if e.Status != received {
		return feed.Heard{Connection: e.Connection, Message: "this was done before"}, nil
	}
	heard, err := w.feed.Hear(ctx, tx, e.hint("webhook"))
	if errors.Is(err, feed.ErrStranger) {
		return feed.Heard{Message: errs.Public(err, "").Message}, settle(ctx, tx, e.ID, nil, errs.Public(err, "").Message)
	}
	if err != nil {
		return feed.Heard{}, err
	}
	return heard, settle(ctx, tx, e.ID, heard.Connection, "")
}

// finishSession looks after the link session that an event is about. It asks the provider, so it stands before the transaction; asked twice it does nothing the second time, and the feed's own sweep comes to the same end without it.
func (w *Webhooks) finishSession(ctx context.Context, event id.ID) error {
	e, err := pg.One[stored](ctx, w.db, storedRows+` where id = $1 and status = 'received' and session is not null`, event)
	if errors.Is(err, pg.ErrNoRow) {
		return nil
	}
	if err != nil || w.ring == nil {
		return err
	}
	name, err := w.ring.Open(sessionPlace(event), e.Session)
	if err != nil {
		return err
	}
	return w.feed.FinishSession(ctx, e.Provider, string(name))
}

// settle ends an event: processed, or in error where there is a message.
func settle(ctx context.Context, tx pg.Tx, event id.ID, connection *id.ID, message string) error {
	_, err := pg.Exec(ctx, tx, `
		update webhook_event set
			status = case when $3 = '' then 'processed' else 'error' end, error_message = $3, connection_id = coalesce($2, connection_id), processed_at = clock_timestamp()
		where id = $1`, event, connection, message)
	return err
}

const (
	received = "received"

	keptFor = 90 // days
	gaveUp  = "what this event asks for could not be done; the server's log says why. Replay it, or wait for the next sync"
)

// Sweep removes old events, a batch at a time, and says of those whose job gave up that they are in error. Every replica may do it: they skip each other's rows.
func (w *Webhooks) Sweep(ctx context.Context) error {
	_, err := pg.Exec(ctx, w.db, `
		update webhook_event set status = 'error', error_message = $1, processed_at = clock_timestamp()
		where status = 'received' and created_at < now() - interval '10 minutes' and
			not exists (select from job j where j.kind = $2 and j.unique_key = webhook_event.id::text and j.state in ('queued', 'running'))`, gaveUp, Kind)
	for err == nil {
		var n int64
		n, err = pg.Exec(ctx, w.db, `
			delete from webhook_event where id in (
				select id from webhook_event where created_at < now() - make_interval(days => $1) limit 5000 for update skip locked)`, keptFor)
		if n == 0 {
			break
		}
	}
	return err
}

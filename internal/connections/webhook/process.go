package webhook

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Kind is the job that processes an event.
const Kind = "webhook.process"

// Kinds returns the package's kinds of jobs.
func (w *Webhooks) Kinds() []job.Kind {
	return []job.Kind{{
		Name: Kind, Unit: "events", Work: w.process, Retries: 5, Lane: job.Prompt,
		Results: []*op.Schema{op.SchemaOf[Processed]()},
	}}
}

// A task holds the job's arguments.
type task struct {
	Event id.ID `json:"webhook_event_id"`
}

// A stored event has the columns that are needed to process it.
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
	select id, provider, event_type, effect, connection_id, about, account, code, advice, session, expires_at, status
		from webhook_event`

func (s stored) hint(trigger string) connection.Hint {
	e := bank.Event{
		Type: s.Type, Effect: bank.ParseEffect(s.Effect), ConnectionID: s.About, AccountID: s.Account,
		Code: s.Code, Advice: s.Advice,
	}
	if s.ExpiresAt != nil {
		e.ExpiresAt = s.ExpiresAt.Time()
	}
	return connection.Hint{Provider: s.Provider, Trigger: trigger, Event: e}
}

// process runs the job. The effect and the event's new status are committed together, and only if
// the event is still waiting, so the effect happens once however often the job runs.
func (w *Webhooks) process(ctx context.Context, run *job.Run) (any, error) {
	var t task
	if err := run.Args(&t); err != nil {
		return nil, err
	}
	if err := w.finishSession(ctx, t.Event); err != nil {
		return nil, err
	}
	var heard connection.Heard
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (_ job.Step, err error) {
		heard, err = w.effect(ctx, tx, t.Event)
		return job.Step{Done: 1, Total: 1}, err
	})
	if err != nil {
		return nil, err
	}
	return Processed{heard.Connection, heard.Synced, heard.Message}, nil
}

// Processed is the result of the job.
type Processed struct {
	ConnectionID *id.ID `json:"connection_id" doc:"Connection of the event"`
	Triggered    bool   `json:"triggered" doc:"Whether it started a sync"`
	Message      string `json:"message"`
}

// effect carries out a waiting event and stores the outcome in it.
func (w *Webhooks) effect(ctx context.Context, tx pg.Tx, event id.ID) (connection.Heard, error) {
	e, err := pg.One[stored](ctx, tx, storedRows+` where id = $1 for update`, event)
	if errors.Is(err, pg.ErrNoRow) {
		return connection.Heard{Message: "the event was deleted"}, nil
	}
	if err != nil {
		return connection.Heard{}, err
	}
	if e.Status != received {
		return connection.Heard{Connection: e.Connection, Message: "already done"}, nil
	}
	heard, err := w.connections.Hear(ctx, tx, e.hint("webhook"))
	if errors.Is(err, connection.ErrStranger) {
		return connection.Heard{Message: errs.Public(err, "").Message},
			finishEvent(ctx, tx, e.ID, nil, errs.Public(err, "").Message)
	}
	if err != nil {
		return connection.Heard{}, err
	}
	return heard, finishEvent(ctx, tx, e.ID, heard.Connection, "")
}

// finishSession updates the link session that an event is about. It calls the provider, so it runs
// before the transaction begins. Once the session has ended, another call does nothing. Without
// this call the sweep of package linksession would end the session later.
func (w *Webhooks) finishSession(ctx context.Context, event id.ID) error {
	e, err := pg.One[stored](ctx, w.db, storedRows+` where id = $1 and status = 'received'
		and session is not null`, event)
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
	return w.sessions.Finish(ctx, e.Provider, string(name))
}

// finishEvent marks an event as processed, or as failed if there is an error message.
func finishEvent(ctx context.Context, tx pg.Tx, event id.ID, connection *id.ID, message string) error {
	_, err := pg.Exec(ctx, tx, `
		update webhook_event set
			status = case when $3 = '' then 'processed' else 'error' end, error_message = $3,
				connection_id = coalesce($2, connection_id), processed_at = clock_timestamp()
		where id = $1`, event, connection, message)
	return err
}

const (
	received = "received"

	keptFor = 90 // days
	gaveUp  = "this event could not be processed; see the server log. Replay it, or wait for the next sync"
)

// Sweep deletes old events, a batch at a time, and marks events whose job gave up as failed. Every
// replica may run it: replicas skip rows that another has locked.
func (w *Webhooks) Sweep(ctx context.Context) error {
	_, err := pg.Exec(ctx, w.db, `
		update webhook_event set status = 'error', error_message = $1, processed_at = clock_timestamp()
		where status = 'received' and created_at < now() - interval '10 minutes' and
			not exists (select from job j where j.kind = $2 and j.unique_key = webhook_event.id::text
				and j.state in ('queued', 'running'))`, gaveUp, Kind)
	for err == nil {
		var n int64
		n, err = pg.Exec(ctx, w.db, `
			delete from webhook_event where id in (
				select id from webhook_event where created_at < now() - make_interval(days => $1)
					limit 5000 for update skip locked)`, keptFor)
		if n == 0 {
			break
		}
	}
	return err
}

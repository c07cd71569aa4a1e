package webhook

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Ops returns the operations of webhooks.
func (w *Webhooks) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "webhook.list", Route: "GET /webhook-events", Scope: op.Full,
			Summary: "Lists webhook events, newest first.",
		}, w.Events),
		op.Writing(op.Spec{
			Name: "webhook.replay", Route: "POST /webhook-events/{id}/replay",
			Summary: "Requests the sync of a webhook event again; if the event was never processed, " +
				"processes it.",
		}, w.Replay),
	}
}

// An Event is a webhook event from a provider.
type Event struct {
	ID              id.ID          `json:"id" db:"id"`
	ShortID         string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Provider        all.Remote     `json:"provider" db:"provider"`
	EventType       string         `json:"event_type" db:"event_type" doc:"The provider's own type, such as TRANSACTIONS.SYNC_UPDATES_AVAILABLE"`
	ConnectionID    string         `json:"connection_id" db:"connection_id" doc:"Empty if the event has no connection in this household"`
	InstitutionName text.Untrusted `json:"institution_name" db:"institution_name" doc:"Untrusted: the bank's name as the provider gives it; empty if unknown"`
	RawPayloadHash  string         `json:"raw_payload_hash" db:"payload_hash" doc:"SHA-256 of the body, in hexadecimal; the body is not kept"`
	Status          string         `json:"status" db:"status" enum:"received,processed,error"`
	ErrorMessage    string         `json:"error_message" db:"error_message" doc:"Empty unless the status is error"`
	CreatedAt       pg.Time        `json:"created_at" db:"created_at"`
}

// List asks for a page of events.
type List struct {
	Provider *all.Remote `json:"provider,omitempty" doc:"Filter by provider"`
	Status   *string     `json:"status,omitempty" enum:"received,processed,error" doc:"Filter by status"`
	Page     int         `json:"page,omitempty" minimum:"1" maximum:"1000000" default:"1" doc:"Page number, from 1"`
	Limit    int         `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Page size"`
}

// Events is a page of events, with their total number.
type Events struct {
	WebhookEvents []Event `json:"webhook_events"`
	Total         int     `json:"total"`
	Page          int     `json:"page"`
	PageSize      int     `json:"page_size"`
	TotalPages    int     `json:"total_pages"`
}

// Events returns a page of events, newest first.
func (w *Webhooks) Events(ctx context.Context, q pg.Querier, in List) (Events, error) {
	out := Events{Page: in.Page, PageSize: in.Limit}
	var err error
	out.Total, err = pg.Value[int](ctx, q, `select count(*) from webhook_event
		where ($1::text is null or provider = $1) and ($2::text is null or status = $2)`, in.Provider, in.Status)
	if err != nil {
		return Events{}, err
	}
	out.TotalPages = (out.Total + in.Limit - 1) / in.Limit
	out.WebhookEvents, err = pg.All[Event](ctx, q, `
		select e.id, e.short_id, e.provider, e.event_type, coalesce(e.connection_id::text, '') as connection_id,
			coalesce(c.institution_name, '') as institution_name,
			e.payload_hash, e.status, e.error_message, e.created_at
		from webhook_event e left join connection c on c.id = e.connection_id
		where (@provider::text is null or e.provider = @provider) and (@status::text is null or e.status = @status)
			order by e.id desc limit @limit offset @offset`,
		pg.Args{"provider": in.Provider, "status": in.Status, "limit": in.Limit, "offset": (in.Page - 1) * in.Limit})
	return out, err
}

// Ref names an event.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The event's UUID or short id"`
}

// Replayed is the result of a replay.
type Replayed struct {
	WebhookEventID id.ID  `json:"webhook_event_id"`
	ConnectionID   string `json:"connection_id" doc:"Empty if the event has no connection in this household"`
	Triggered      bool   `json:"triggered" doc:"Whether a sync was requested"`
	Message        string `json:"message"`
}

// Replay starts the sync that an event would have caused. An event also reports the state of a
// connection when the event was sent. That state is applied only once, so replaying an old event
// does not restore an old state.
func (w *Webhooks) Replay(ctx context.Context, tx pg.Tx, in Ref) (Replayed, error) {
	e, err := pg.One[stored](ctx, tx, storedRows+` where id = $1 or short_id = $2 for update`,
		pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return Replayed{}, pg.Found(err, "webhook event", "{webhook.list} lists them; they are kept for 90 days")
	}
	hint := e.hint("replay")
	syncs := hint.Event.Effect == bank.Sync || hint.Event.Effect == bank.Repaired ||
		hint.Event.Effect == bank.AccountGone
	if e.Status == "processed" {
		if !syncs {
			return replayed(e, connection.Heard{
				Connection: e.Connection,
				Message:    "this event does not request a sync; it was handled when it arrived",
			}), nil
		}
		hint.Event.Effect = bank.Sync
	}
	heard, err := w.connections.Hear(ctx, tx, hint)
	switch {
	case errors.Is(err, connection.ErrStranger):
		return Replayed{}, errs.New(errs.Conflict,
			"no connection matches the id in this event; connect the bank first, then replay it")
	case err != nil:
		return Replayed{}, err
	case syncs && !heard.Synced:
		return Replayed{}, errs.New(errs.ConnNotSyncable, "%s", heard.Message)
	}
	return replayed(e, heard), finishEvent(ctx, tx, e.ID, heard.Connection, "")
}

func replayed(e stored, heard connection.Heard) Replayed {
	out := Replayed{WebhookEventID: e.ID, Triggered: heard.Synced, Message: heard.Message}
	if heard.Connection != nil {
		out.ConnectionID = heard.Connection.String()
	}
	return out
}

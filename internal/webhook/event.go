package webhook

import (
	"context"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/feed"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// Ops is the menu of webhooks.
func (w *Webhooks) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "webhook.list", Route: "GET /webhook-events", Scope: op.Full, Summary: "Lists what providers told of their own accord, newest first."}, w.Events),
		op.Writing(op.Spec{
			Name: "webhook.replay", Route: "POST /webhook-events/{id}/replay",
			Summary: "Takes on the sync that a webhook would have caused; of one whose effect never came, the whole effect.",
		}, w.Replay),
	}
}

// An Event is something that a provider told.
type Event struct {
	ID              id.ID          `json:"id" db:"id"`
	ShortID         string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Provider        string         `json:"provider" db:"provider" enum:"plaid,teller"`
	EventType       string         `json:"event_type" db:"event_type" doc:"In the provider's words, such as TRANSACTIONS.SYNC_UPDATES_AVAILABLE"`
	ConnectionID    string         `json:"connection_id" db:"connection_id" doc:"Empty where it is about none of ours"`
	InstitutionName text.Untrusted `json:"institution_name" db:"institution_name" doc:"Untrusted: the bank's name as the provider has it; empty where it is not known"`
	RawPayloadHash  string         `json:"raw_payload_hash" db:"payload_hash" doc:"SHA-256 of the body, in hexadecimal; the body is not kept"`
	Status          string         `json:"status" db:"status" enum:"received,processed,error"`
	ErrorMessage    string         `json:"error_message" db:"error_message" doc:"Empty unless the status is error"`
	CreatedAt       pg.Time        `json:"created_at" db:"created_at"`
}

// List asks for a page of events.
type List struct {
	Provider *string `json:"provider,omitempty" enum:"plaid,teller" doc:"Only of this provider"`
	Status   *string `json:"status,omitempty" enum:"received,processed,error" doc:"Only in this status"`
	Page     int     `json:"page,omitempty" minimum:"1" maximum:"1000000" default:"1" doc:"Which page, from 1"`
	Limit    int     `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"How many on a page"`
}

// Events is a page of events, with how many there are in all.
type Events struct {
	WebhookEvents []Event `json:"webhook_events"`
	Total         int     `json:"total"`
	Page          int     `json:"page"`
	PageSize      int     `json:"page_size"`
	TotalPages    int     `json:"total_pages"`
}

// Events is a page of events, newest first.
func (w *Webhooks) Events(ctx context.Context, q pg.Querier, in List) (Events, error) {
	out := Events{Page: in.Page, PageSize: in.Limit}
	var err error
	out.Total, err = pg.Value[int](ctx, q, `select count(*) from webhook_event where ($1::text is null or provider = $1) and ($2::text is null or status = $2)`, in.Provider, in.Status)
	if err != nil {
		return Events{}, err
	}
	out.TotalPages = (out.Total + in.Limit - 1) / in.Limit
	out.WebhookEvents, err = pg.All[Event](ctx, q, `
		select e.id, e.short_id, e.provider, e.event_type, coalesce(e.connection_id::text, '') as connection_id, coalesce(c.institution_name, '') as institution_name,
			e.payload_hash, e.status, e.error_message, e.created_at
		from webhook_event e left join connection c on c.id = e.connection_id
		where (@provider::text is null or e.provider = @provider) and (@status::text is null or e.status = @status) order by e.id desc limit @limit offset @offset`,
		pg.Args{"provider": in.Provider, "status": in.Status, "limit": in.Limit, "offset": (in.Page - 1) * in.Limit})
	return out, err
}

// Ref names an event.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The event's UUID or short id"`
}

// Replayed is what came of a replay.
type Replayed struct {
	WebhookEventID id.ID  `json:"webhook_event_id"`
	ConnectionID   string `json:"connection_id" doc:"Empty where the event is about none of ours"`
	Triggered      bool   `json:"triggered" doc:"A sync was taken on"`
	Message        string `json:"message"`
}

// Replay takes on the sync that an event would have caused. What an event says about the state of a connection was true when it was said: it is done once and not again, so that an old event does not bring an old state back.
func (w *Webhooks) Replay(ctx context.Context, tx pg.Tx, in Ref) (Replayed, error) {
	e, err := pg.One[stored](ctx, tx, storedRows+` where id = $1 or short_id = $2 for update`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return Replayed{}, pg.Found(err, "webhook event", "GET /api/v1/webhook-events lists them; they are kept for 90 days")
	}
	hint := e.hint("replay")
	syncs := hint.Event.Effect == bank.Sync || hint.Event.Effect == bank.Repaired || hint.Event.Effect == bank.AccountGone
	if e.Status == "processed" {
		if !syncs {
			return replayed(e, feed.Heard{Connection: e.Connection, Message: "this event asks for no sync, and what it asks for was done when it came"}), nil
		}
		hint.Event.Effect = bank.Sync
	}
	heard, err := w.feed.Hear(ctx, tx, hint)
	switch {
	case errors.Is(err, feed.ErrStranger):
		return Replayed{}, errs.New(errs.Conflict, "no connection here is known to the provider by the name that this event has; link the bank first, then replay it")
	case err != nil:
		return Replayed{}, err
	case syncs && !heard.Synced:
		return Replayed{}, errs.New(errs.ConnNotSyncable, "%s", heard.Message)
	}
	return replayed(e, heard), settle(ctx, tx, e.ID, heard.Connection, "")
}

func replayed(e stored, heard feed.Heard) Replayed {
	out := Replayed{WebhookEventID: e.ID, Triggered: heard.Synced, Message: heard.Message}
	if heard.Connection != nil {
		out.ConnectionID = heard.Connection.String()
	}
	return out
}

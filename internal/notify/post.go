package notify

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// An Event is something that happened.
type Event struct {
	Type    Type
	Subject string // an event is reported once for each type and subject
	// Data has ids, dates, amounts, counts and names that the household chose; never text from a
	// bank.
	Data map[string]any
	// Full is added to Data for endpoints that take bank text.
	Full map[string]any
	// The records that the event is about. Erasing one of them erases the notification too.
	Connection, Account *id.ID
}

// maxData limits the JSON of Data and Full together, so that a message has at most 16 kB.
const maxData = 15_000

// Post stores events in the transaction that causes them. It leaves out events that were reported
// before. It locks the endpoints while it reads them: an endpoint that is being deleted gets no
// event, and the transaction does not fail because of it.
func Post(ctx context.Context, tx pg.Tx, events ...Event) error {
	events, err := untold(ctx, tx, events)
	if err != nil {
		return err
	}
	for _, e := range events {
		data, err := json.Marshal(orEmpty(e.Data))
		if err != nil {
			return fmt.Errorf("notify: print %s: %w", e.Type, err)
		}
		full, err := json.Marshal(orEmpty(e.Full))
		if err != nil {
			return fmt.Errorf("notify: print %s: %w", e.Type, err)
		}
		if len(data)+len(full) > maxData {
			full = []byte("{}")
		}
		if len(data) > maxData {
			return fmt.Errorf("notify: the data of %s has %d bytes", e.Type, len(data))
		}
		err = pg.Redraw(ctx, tx, "notification_short_id", func(tx pg.Tx) error {
			newID := id.New()
			_, err := pg.Exec(ctx, tx, `
				with inserted as (
					insert into notification (id, short_id, type, subject, data, full_data, connection_id, account_id)
					values (@id, @short, @type, @subject, @data::jsonb, @full::jsonb, @connection, @account)
					on conflict on constraint notification_subject do nothing returning id)
				insert into delivery (id, notification_id, endpoint_id, next_at)
				select gen_random_uuid(), f.id, e.id, clock_timestamp() from inserted f, endpoint e
				where e.enabled and (e.events = '{}' or @type::text = any(e.events))
				for key share of e`, pg.Args{
				"id": newID, "short": newID.Short(), "type": e.Type, "subject": e.Subject,
				"data": string(data), "full": string(full), "connection": e.Connection, "account": e.Account,
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("notify: post %s: %w", e.Type, err)
		}
	}
	return nil
}

// untold returns the events that have no notification yet. Most callers check a state again and
// again, so most of their events are already reported.
func untold(ctx context.Context, tx pg.Tx, events []Event) ([]Event, error) {
	if len(events) < 2 {
		return events, nil // for one event, the insert makes the same check
	}
	types, subjects := make([]string, len(events)), make([]string, len(events))
	for i, e := range events {
		types[i], subjects[i] = string(e.Type), e.Subject
	}
	places, err := pg.Values[int](ctx, tx, `
		select (v.place - 1)::int from unnest($1::text[], $2::text[]) with ordinality v (type, subject, place)
		where not exists (select from notification n where n.type = v.type and n.subject = v.subject)
		order by v.place`, types, subjects)
	out := make([]Event, len(places))
	for i, at := range places {
		out[i] = events[at]
	}
	return out, err
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

package connection

import (
	"context"

	"coffer/internal/notify"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// tell posts an event about a connection, in the transaction that changes its state. The time of
// the change identifies the event. So the same state is reported again only after it has ended and
// returned.
func tell(ctx context.Context, tx pg.Tx, what notify.Type, connection id.ID) error {
	type row struct {
		Provider    string  `db:"provider"`
		Institution *string `db:"institution_name"`
		Reason      *string `db:"status_reason"`
		Since       pg.Time `db:"updated_at"`
	}
	c, err := pg.One[row](ctx, tx, `select provider, institution_name, status_reason, updated_at from connection
		where id = $1`, connection)
	if err != nil {
		return err
	}
	return notify.Post(ctx, tx, notify.Event{
		Type: what, Subject: connection.String() + " " + c.Since.String(), Connection: &connection,
		Data: map[string]any{"connection_id": connection, "provider": c.Provider, "reason": c.Reason},
		Full: map[string]any{"institution_name": c.Institution},
	})
}

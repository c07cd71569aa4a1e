package feed

import (
	"context"
	"fmt"

	"coffer/internal/id"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// A NewConnection is a connection on its way in.
type NewConnection struct {
	MemberID    id.ID
	Provider    string
	Institution text.Untrusted
}

// AddConnections stores connections and answers their ids in the order given.
func (f *Feed) AddConnections(ctx context.Context, tx pg.Tx, connections []NewConnection) ([]id.ID, error) {
	ids := make([]id.ID, len(connections))
	err := pg.Redraw(ctx, tx, "connection_short_id", func(tx pg.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"connection"}, []string{"id", "short_id", "member_id", "provider", "institution_name"},
			pgx.CopyFromSlice(len(connections), func(i int) ([]any, error) {
				ids[i] = id.New()
				c := connections[i]
				return []any{ids[i], ids[i].Short(), c.MemberID, c.Provider, c.Institution.Plain()}, nil
			}))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add connections: %w", err)
	}
	return ids, nil
}

package counterparty

import (
	"context"
	"errors"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Gathering asks to merge several counterparties into one.
type Gathering struct {
	ID   *string // the id of the counterparty to merge into
	Name *string // or its name; if no counterparty has it, the first of From is renamed, or a new one is created
	From []id.ID // the counterparties that are merged into it
}

// Gather merges several counterparties into one. It returns that one, and the entries for its
// caller to record.
func (c *Counterparties) Gather(ctx context.Context, tx pg.Tx, in Gathering) (Counterparty, []journal.Entry, error) {
	if err := definition.Lock(ctx, tx, in.From); err != nil {
		return Counterparty{}, nil, err
	}
	into, entries, err := chosen(ctx, tx, in)
	if err != nil {
		return Counterparty{}, nil, err
	}
	source := journal.Source(op.ActorOf(ctx))
	for _, from := range in.From {
		if from == into.ID {
			continue
		}
		ids, err := lockWithMerged(ctx, tx, from)
		if err != nil {
			return Counterparty{}, nil, err
		}
		records, err := definition.Around(ctx, tx, ids, source, func() error {
			_, err := pg.Exec(ctx, tx, `update counterparty set canonical_id = $2, updated_at = clock_timestamp()
				where id = any($1)`, ids, into.ID)
			return err
		})
		if err != nil {
			return Counterparty{}, nil, err
		}
		moved, err := c.move(ctx, tx, from, into.ID)
		if err != nil {
			return Counterparty{}, nil, err
		}
		entries = append(append(entries, records...), moved...)
	}
	return into, entries, nil
}

// chosen returns the counterparty into which the others are merged.
func chosen(ctx context.Context, tx pg.Tx, in Gathering) (Counterparty, []journal.Entry, error) {
	if in.ID != nil {
		p, err := keep(ctx, tx, *in.ID)
		return p, nil, err
	}
	taken, err := pg.Value[id.ID](ctx, tx, `select coalesce(canonical_id, id) from counterparty
		where lower(name) = lower($1) and deleted_at is null`, *in.Name)
	if err != nil && !errors.Is(err, pg.ErrNoRow) {
		return Counterparty{}, nil, err
	}
	if len(in.From) == 0 || err == nil && taken != in.From[0] {
		return named(ctx, tx, *in.Name)
	}
	// Rename the first one. No other counterparty has the name; the first may have it in another
	// spelling.
	var p Counterparty
	entries, err := definition.Around(ctx, tx, in.From[:1], journal.Source(op.ActorOf(ctx)), func() (err error) {
		p, err = pg.One[Counterparty](ctx, tx, `update counterparty set name = $2, updated_at = clock_timestamp()
			where id = $1 returning `+columns, in.From[0], *in.Name)
		return err
	})
	if pg.Violates(err, "counterparty_name") {
		return Counterparty{}, nil, errNameTaken()
	}
	return p, entries, err
}

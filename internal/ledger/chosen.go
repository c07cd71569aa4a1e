package ledger

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// Where returns a filter as conditions on transaction t, for other packages that read transactions.
// It reports none if nothing can match.
func (b *Books) Where(ctx context.Context, q pg.Querier, f Filter) (where *pg.Where, none bool, err error) {
	s, err := b.resolve(ctx, q, f, nil)
	if err != nil {
		return nil, false, err
	}
	s.all()
	return &s.Where, s.none, nil
}

// Lock keeps others from changing these transactions until the database transaction ends.
func (b *Books) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	return subject{b}.Lock(ctx, tx, ids)
}

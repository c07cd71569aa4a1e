package ledger

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Where returns a filter as conditions on transaction t, for other packages that read transactions.
// If none is true, nothing can match.
func (b *Books) Where(ctx context.Context, q pg.Querier, f Filter) (where *pg.Where, none bool, err error) {
	s, err := b.resolve(ctx, q, f, nil)
	if err != nil {
		return nil, false, err
	}
	s.all()
	return &s.Where, s.none, nil
}

// rareTag is the largest number of transactions with a tag for which WhereTagged starts from the
// tag.
const rareTag = 20_000

// WhereTagged is Where for callers that expect few transactions among many. If the filter names a
// single rare tag, the condition looks up the transactions of that tag first. PostgreSQL's
// statistics may not show that they are few.
func (b *Books) WhereTagged(ctx context.Context, q pg.Querier, f Filter) (where *pg.Where, none bool, err error) {
	if len(f.Tags) != 1 {
		return b.Where(ctx, q, f)
	}
	tags, err := tagIDs(ctx, q, "tags", f.Tags)
	if err != nil {
		return nil, false, err
	}
	n, err := pg.Value[int](ctx, q, `select count(*) from (
		select from transaction_tag where tag_id = $1 and present limit $2) x`, tags[0], rareTag+1)
	if err != nil {
		return nil, false, err
	}
	if n > rareTag {
		return b.Where(ctx, q, f)
	}
	f.Tags = nil
	if where, none, err = b.Where(ctx, q, f); err == nil {
		where.And("t.id = any(array(select transaction_id from transaction_tag "+
			"where tag_id = (select $?::uuid) and present))", tags[0])
	}
	return where, none, err
}

// Lock keeps others from changing these transactions until the database transaction ends.
func (b *Books) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	return subject{b}.Lock(ctx, tx, ids)
}

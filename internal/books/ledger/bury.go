package ledger

import (
	"context"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Remove deletes transactions that a bank no longer has, by the bank's ids. They become tombstones
// that the bank lifts if it sends them again. A transaction that a person deleted stays the
// person's tombstone, and an id from before a posting matches nothing.
func (b *Books) Remove(ctx context.Context, tx pg.Tx, account id.ID, providerIDs []string) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction
		where account_id = $1 and provider_id = any($2) and deleted_at is null and origin = 'bank'
		order by id`, account, providerIDs)
	if err != nil {
		return nil, err
	}
	entries, err := b.bury(ctx, tx, ids, &provider)
	return b.parted(ctx, tx, ids, entries, err)
}

// Withdraw deletes transactions that a bank takes back in a file, by the bank's ids. An earlier
// file still lists them, and must not bring them back: so they are tombstones of the person who
// imports.
func (b *Books) Withdraw(ctx context.Context, tx pg.Tx, account id.ID, providerIDs []string) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction
		where account_id = $1 and provider_id = any($2) and deleted_at is null and origin = 'bank'
		order by id`, account, providerIDs)
	if err != nil {
		return nil, err
	}
	entries, err := b.bury(ctx, tx, ids, new(op.User))
	return b.parted(ctx, tx, ids, entries, err)
}

// RemoveRows deletes the next live transactions of an account in the caller's name. Parts follow
// their transaction.
func (b *Books) RemoveRows(ctx context.Context, tx pg.Tx, account id.ID, limit int) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select t.id from transaction t
		where t.account_id = $1 and t.deleted_at is null and `+journal.BankRow+`
		order by t.date desc, t.id desc limit $2`, account, limit)
	if err != nil {
		return nil, err
	}
	return b.bury(ctx, tx, ids, nil)
}

// bury turns transactions into tombstones of that source; nil means the caller.
func (b *Books) bury(ctx context.Context, tx pg.Tx, ids []id.ID, source *string) ([]journal.Entry, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	now := pg.At(time.Now()).String()
	edits := make([]Edit, len(ids))
	for i, u := range ids {
		edits[i] = Edit{Transaction: u, Field: journal.FieldDeleted, Value: &now, Source: source}
	}
	_, entries, err := b.Apply(ctx, tx, edits, false)
	return entries, err
}

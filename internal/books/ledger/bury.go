package ledger

import (
	"context"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Remove deletes transactions that a bank no longer has. It takes the bank's ids. If the bank sends
// such a transaction again, it is restored. A transaction that a person deleted stays deleted. The
// id that a transaction had while it was pending matches nothing.
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

// Withdraw deletes transactions that a bank cancels in a file. It takes the bank's ids. An earlier
// file still lists these transactions and must not restore them if it is imported again. So they
// count as deleted by a person.
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

// RemoveRows deletes up to limit transactions of an account, newest first, in the caller's name.
// The parts of a split transaction are deleted with it.
func (b *Books) RemoveRows(ctx context.Context, tx pg.Tx, account id.ID, limit int) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select t.id from transaction t
		where t.account_id = $1 and t.deleted_at is null and `+journal.BankRow+`
		order by t.date desc, t.id desc limit $2`, account, limit)
	if err != nil {
		return nil, err
	}
	return b.bury(ctx, tx, ids, nil)
}

// bury turns transactions into tombstones with that source. A nil source means the caller.
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

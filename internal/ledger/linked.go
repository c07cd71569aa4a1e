package ledger

import (
	"context"
	"maps"
	"slices"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// A Follower is told of transactions that were deleted or restored, in the transaction that does
// it: what stood beside them counts otherwise now.
type Follower interface {
	Follow(ctx context.Context, tx pg.Tx, transactions []id.ID) error
}

// Tell names the follower. It is called while the service is put together, never later.
func (b *Books) Tell(f Follower) { b.follower = f }

// followed notes the days of transactions that were deleted or restored, and tells of them.
func (b *Books) followed(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := b.Touch(ctx, tx, ids); err != nil || b.follower == nil {
		return err
	}
	return b.follower.Follow(ctx, tx, ids)
}

// touch notes days on which transactions are new or have changed.
func touch(ctx context.Context, tx pg.Tx, days []Touched) error {
	if len(days) == 0 {
		return nil
	}
	var accounts []id.ID
	var first, last []pg.Date
	for _, d := range days {
		accounts, first, last = append(accounts, d.AccountID), append(first, d.First), append(last, d.Last)
	}
	_, err := pg.Exec(ctx, tx, `insert into touched (account_id, first, last) select *
		from unnest($1::uuid[], $2::date[], $3::date[])`, accounts, first, last)
	return err
}

// Touch notes the days of these transactions, as if they were new.
func (b *Books) Touch(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `insert into touched (account_id, first, last) select account_id, min(date), max(date)
		from transaction where id = any($1) group by account_id`, ids)
	return err
}

// DaysOf returns the days of these transactions, by account.
func (b *Books) DaysOf(ctx context.Context, q pg.Querier, ids []id.ID) ([]Touched, error) {
	return pg.All[Touched](ctx, q, `select account_id, min(date) as first, max(date) as last from transaction
		where id = any($1) group by account_id`, ids)
}

// TouchAll notes all days of these accounts, as if everything in them were new.
func (b *Books) TouchAll(ctx context.Context, tx pg.Tx, accounts []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		insert into touched (account_id, first, last) select account_id, min(date), max(date) from transaction
			where account_id = any($1) group by account_id`, accounts)
	return err
}

// Touched are days of an account in which something has changed.
type Touched struct {
	AccountID id.ID   `db:"account_id"`
	First     pg.Date `db:"first"`
	Last      pg.Date `db:"last"`
}

// TakeTouched returns what has changed since it was last called; if the transaction fails, the same
// is returned again. Only one caller at a time may call it.
func (b *Books) TakeTouched(ctx context.Context, tx pg.Tx) ([]Touched, error) {
	return pg.All[Touched](ctx, tx, `delete from touched returning account_id, first, last`)
}

// A Mark is what account links make of a transaction.
type Mark struct {
	Transaction id.ID  `db:"id"`
	Linked      *id.ID `db:"linked_id"` // the other side of a match
	Excluded    bool   `db:"excluded"`  // it repeats another
	Transfer    bool   `db:"transfer"`  // it is a side of a transfer
}

// Mark writes marks, in one statement; what is marked so already is not written. The caller has
// locked the transactions.
func (b *Books) Mark(ctx context.Context, tx pg.Tx, marks []Mark) error {
	ids, linked, excluded, transfer := make([]id.ID, len(marks)), make([]*id.ID, len(marks)), make([]bool,
		len(marks)), make([]bool, len(marks))
	for i, m := range marks {
		ids[i], linked[i], excluded[i], transfer[i] = m.Transaction, m.Linked, m.Excluded, m.Transfer
	}
	_, err := pg.Exec(ctx, tx, `
		update transaction t set linked_id = v.linked_id, excluded = v.excluded, transfer = v.transfer,
			updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::uuid[], $3::bool[], $4::bool[]) v (id, linked_id, excluded, transfer)
		where t.id = v.id and (t.linked_id, t.excluded, t.transfer) is distinct
			from (v.linked_id, v.excluded, v.transfer)`, ids, linked, excluded, transfer)
	return err
}

// days are the days of accounts on which a page wrote something.
func (out Merged) days() []Touched { return slices.Collect(maps.Values(out.touched)) }

package ledger

import (
	"context"
	"maps"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Follower is notified when transactions are deleted or restored, in the same database
// transaction. The transactions that they are matched with then count differently.
type Follower interface {
	Follow(ctx context.Context, tx pg.Tx, transactions []id.ID) error
}

// Tell sets the follower. It is called only while the service is assembled.
func (b *Books) Tell(f Follower) { b.follower = f }

// followed records the days of transactions that were deleted or restored, and notifies the
// follower.
func (b *Books) followed(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := b.Touch(ctx, tx, ids); err != nil || b.follower == nil {
		return err
	}
	return b.follower.Follow(ctx, tx, ids)
}

// touch records days on which transactions are new or have changed.
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

// Touch records the days of these transactions as if they were new.
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

// TouchAll records all days of these accounts as if all their transactions were new.
func (b *Books) TouchAll(ctx context.Context, tx pg.Tx, accounts []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		insert into touched (account_id, first, last) select account_id, min(date), max(date) from transaction
			where account_id = any($1) group by account_id`, accounts)
	return err
}

// Touched is a range of days of an account in which something has changed.
type Touched struct {
	AccountID id.ID   `db:"account_id"`
	First     pg.Date `db:"first"`
	Last      pg.Date `db:"last"`
}

// TakeTouched returns the changes since the last call. If the database transaction fails, the next
// call returns the same again. Only one caller at a time may call it.
func (b *Books) TakeTouched(ctx context.Context, tx pg.Tx) ([]Touched, error) {
	return pg.All[Touched](ctx, tx, `delete from touched returning account_id, first, last`)
}

// A Mark is the effect of account links on a transaction.
type Mark struct {
	Transaction id.ID  `db:"id"`
	Linked      *id.ID `db:"linked_id"` // the other side of a match
	Excluded    bool   `db:"excluded"`  // it duplicates another transaction
	Transfer    bool   `db:"transfer"`  // it is one side of a transfer
}

// Mark writes marks in one statement. Marks that are already stored are not written again. The
// caller has locked the transactions.
func (b *Books) Mark(ctx context.Context, tx pg.Tx, marks []Mark) error {
	ids, linked, excluded, transfer := make([]id.ID, len(marks)), make([]*id.ID, len(marks)), make([]bool,
		len(marks)), make([]bool, len(marks))
	for i, m := range marks {
		ids[i], linked[i], excluded[i], transfer[i] = m.Transaction, m.Linked, m.Excluded, m.Transfer
	}
	marked, err := pg.Values[id.ID](ctx, tx, `
		update transaction t set linked_id = v.linked_id, excluded = v.excluded, transfer = v.transfer,
			updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::uuid[], $3::bool[], $4::bool[]) v (id, linked_id, excluded, transfer)
		where t.id = v.id and (t.linked_id, t.excluded, t.transfer) is distinct
			from (v.linked_id, v.excluded, v.transfer)
		returning t.id`, ids, linked, excluded, transfer)
	if err != nil {
		return err
	}
	return wrote(ctx, tx, marked)
}

// days returns the days of accounts on which a page wrote something.
func (out Merged) days() []Touched { return slices.Collect(maps.Values(out.touched)) }

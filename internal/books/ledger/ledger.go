// Package ledger keeps the books: transactions with the categories, tags and counterparties that
// the household gave them. It does not know the source of transactions or what a rule is.
package ledger

import (
	"context"
	"sync/atomic"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Books are one household's books.
type Books struct {
	db         *pg.DB
	categories *category.Categories
	naming     atomic.Pointer[naming] // as last read

	follower Follower     // nil without a follower
	matcher  Matcher      // nil without a matcher
	draw     func() id.ID // makes the ids of new transactions; only tests replace id.New
}

// New returns Books whose transactions use those categories and tags.
func New(db *pg.DB, f *category.Categories) *Books {
	return &Books{db: db, categories: f, draw: id.New}
}

// Subjects returns the parts of the ledger that reverts restore.
func (b *Books) Subjects() []journal.Subject {
	return []journal.Subject{subject{b}, moves{b}, corrections{b}}
}

// CategoryUser moves the transactions of a category to another one in a merge. The source of the
// category stays, because a merge does not decide about single transactions. Deleted transactions
// move too. They are queried separately: each of the two kinds has an index, and there is no index
// for both together.
type CategoryUser struct{}

// Uses implements [category.User].
func (CategoryUser) Uses(ctx context.Context, tx pg.Tx, category id.ID) (int64, string, error) {
	n, err := pg.Value[int64](ctx, tx, `
		select (select count(*) from transaction where category_id = $1 and deleted_at is null) + (select count(*)
			from transaction where category_id = $1 and deleted_at is not null)`, category)
	return n, "transactions", err
}

// Move implements [category.User].
func (CategoryUser) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `
		select id from transaction where category_id = any($1) and deleted_at is null union all select id
			from transaction where category_id = any($1) and deleted_at is not null`, from)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	// The rows are locked separately. A statement that waits for another edit rereads only the
	// locked row, so one statement for both halves could miss it.
	if err := (subject{}).Lock(ctx, tx, ids); err != nil {
		return nil, err
	}
	return pg.All[journal.Entry](ctx, tx, `
		update transaction t set category_id = v.into_id, updated_at = clock_timestamp()
		from unnest($3::uuid[]) m (id), unnest($1::uuid[], $2::uuid[]) v (from_id, into_id)
		where t.id = m.id and t.category_id = v.from_id
		returning 0::bigint as id, 'transaction' as subject, t.id as subject_id, 'category' as field, null::uuid as ref,
			v.from_id::text as before, v.into_id::text as after, t.category_source as before_source,
				t.category_source as after_source,
			null::uuid as rule_id, null as note`, from, into, ids)
}

package target

import (
	"context"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

var definition = journal.Definition{
	Subject: journal.Target, Table: "target", Fits: fits,
	Columns: []string{"category_id", "currency", "amount", "rollover", "start_month", "end_month"},
}

// Subjects returns the subjects that reverts restore.
func (t *Targets) Subjects() []journal.Subject { return []journal.Subject{definition} }

// fits returns the targets that cannot be restored: those whose category no longer exists, and
// those whose category has another target in their currency.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	ids, records := make([]id.ID, len(entries)), make([]*string, len(entries))
	for i, e := range entries {
		ids[i], records[i] = e.SubjectID, e.After
	}
	// Lock the categories until the transaction ends. This waits for concurrent deletions.
	_, err := pg.Exec(ctx, tx, `
		select from category where id in (select (v.record::jsonb ->> 'category_id')::uuid
			from unnest($1::text[]) v (record)) order by id for share`, records)
	if err != nil {
		return nil, err
	}
	astray, err := pg.Values[id.ID](ctx, tx, `
		select v.id from (
			select id, (record::jsonb ->> 'category_id')::uuid as category_id, record::jsonb ->> 'currency' as currency,
				row_number() over (partition by record::jsonb ->> 'category_id', record::jsonb ->> 'currency'
					order by id) as nth
			from unnest($1::uuid[], $2::text[]) u (id, record) where record is not null) v
		where v.nth > 1
			or exists (select from category c where c.id = v.category_id and c.deleted_at is not null)
			or exists (select from target o where o.category_id = v.category_id and o.currency = v.currency
				and o.deleted_at is null and o.id <> all($1))`, ids, records)
	return journal.Conflicts(entries, astray), err
}

// A CategoryUser moves targets when a category is merged into another.
type CategoryUser struct{}

var _ category.User = CategoryUser{}

// Uses implements [category.User].
func (CategoryUser) Uses(ctx context.Context, tx pg.Tx, category id.ID) (int64, string, error) {
	n, err := pg.Value[int64](ctx, tx, `select count(*) from target where category_id = $1 and deleted_at is null`,
		category)
	return n, "targets", err
}

// Move implements [category.User]. If the replacing category already has a target in the same
// currency, that target is kept and the other is deleted.
func (CategoryUser) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from target where category_id = any($1) and deleted_at is null
		order by id for update`, from)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return definition.Around(ctx, tx, ids, journal.Source(op.ActorOf(ctx)), func() error {
		_, err := pg.Exec(ctx, tx, `
			update target t set category_id = case when m.taken then t.category_id else m.into_id end,
				deleted_at = case when m.taken then clock_timestamp() end, updated_at = clock_timestamp()
			from (
				select t.id, v.into_id, row_number() over (partition by v.into_id, t.currency order by t.id) > 1
					or exists (select from target o where o.category_id = v.into_id and o.currency = t.currency
						and o.deleted_at is null) as taken
				from target t join unnest($2::uuid[], $3::uuid[]) v (from_id, into_id) on v.from_id = t.category_id
				where t.id = any($1)) m
			where m.id = t.id`, ids, from, into)
		if pg.Violates(err, "target_category") {
			return errs.New(errs.Conflict, "another call is creating a target for this category; try again")
		}
		return err
	})
}

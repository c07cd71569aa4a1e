package counterparty

import (
	"context"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// MergeCounterparty is the input of Merge.
type MergeCounterparty struct {
	ID   string `json:"id" minLength:"1" doc:"The counterparty to merge and retire: UUID or short id"`
	Into string `json:"into" minLength:"1" doc:"The counterparty that replaces it: UUID or short id"`
}

// Merge moves all transactions of one counterparty to another, and returns the other one. The first
// one can still be read and names the other as its replacement. So do counterparties that were
// merged into the first one earlier.
func (c *Counterparties) Merge(ctx context.Context, tx pg.Tx, in MergeCounterparty) (Counterparty, error) {
	from, into, err := lockBoth(ctx, tx, in)
	if err != nil {
		return Counterparty{}, err
	}
	switch {
	case from.ID == into.ID:
		return Counterparty{}, errs.New(errs.Conflict, "a counterparty can't be merged into itself")
	case from.CanonicalID != nil:
		return Counterparty{}, errs.New(errs.Conflict, "this counterparty was already merged into %s",
			from.CanonicalID.Short())
	case into.CanonicalID != nil:
		return Counterparty{}, errs.New(errs.Conflict, "this counterparty was itself merged into %s; merge "+
			"into that one",
			into.CanonicalID.Short())
	}
	ids, err := lockWithMerged(ctx, tx, from.ID)
	if err != nil {
		return Counterparty{}, err
	}
	err = definition.Recorded(ctx, tx, ids, journal.Note{Did: journal.Facts{
		Action: journal.ActionMerged, Kind: journal.Counterparty, Subject: &from.ID,
		With: map[string]id.ID{journal.WithInto: into.ID},
	}},
		func() ([]journal.Entry, error) {
			_, err := pg.Exec(ctx, tx, `update counterparty set canonical_id = $2, updated_at = clock_timestamp()
			where id = any($1)`, ids, into.ID)
			if err != nil {
				return nil, err
			}
			return c.move(ctx, tx, from.ID, into.ID)
		})
	return into, err
}

// lockBoth finds both sides of a merge and locks them in a fixed order, so that two merges never
// deadlock.
func lockBoth(ctx context.Context, tx pg.Tx, in MergeCounterparty) (from, into Counterparty, err error) {
	if from, err = find(ctx, tx, in.ID); err != nil {
		return from, into, missing(err)
	}
	if into, err = find(ctx, tx, in.Into); err != nil {
		return from, into, pg.Named(err, "into", "counterparty", lists)
	}
	if err := definition.Lock(ctx, tx, []id.ID{from.ID, into.ID}); err != nil {
		return from, into, err
	}
	if from, err = find(ctx, tx, in.ID); err != nil {
		return from, into, missing(err)
	}
	into, err = find(ctx, tx, in.Into)
	return from, into, pg.Named(err, "into", "counterparty", lists)
}

// move links all transactions of one counterparty to another, including deleted ones. A merge does
// not decide about single transactions, so the source of each link stays, and links that a person
// set are moved too.
func (c *Counterparties) move(ctx context.Context, tx pg.Tx, from, into id.ID) ([]journal.Entry, error) {
	type binding struct {
		ID     id.ID   `db:"id"`
		Source *string `db:"counterparty_source"`
	}
	// Two queries, because each has a partial index. A separate statement locks the rows. A
	// statement that waits for an edit rechecks only the locked row, so one statement with both
	// queries could miss the row.
	ids, err := pg.Values[id.ID](ctx, tx, `
		select id from transaction where counterparty_id = $1 and deleted_at is null union all select id
			from transaction where counterparty_id = $1 and deleted_at is not null`, from)
	if err != nil {
		return nil, err
	}
	bound, err := pg.All[binding](ctx, tx, `select id, counterparty_source from transaction
		where id = any($1) and counterparty_id = $2 order by id for update`, ids, from)
	if err != nil {
		return nil, err
	}
	value := into.String()
	edits := make([]ledger.Edit, len(bound))
	for i, t := range bound {
		edits[i] = ledger.Edit{Transaction: t.ID, Field: journal.FieldCounterparty, Value: &value, Source: t.Source}
	}
	_, entries, err := c.books.Apply(ctx, tx, edits, true)
	return entries, err
}

// fits returns the counterparties that cannot be set to the recorded state. A restored merge must
// not lead to a counterparty that was merged or deleted since. It must not start from a
// counterparty into which others were merged. Neither a merge nor a deletion may leave transactions
// behind, because nobody would see them. The category must exist.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	ids, records := make([]id.ID, len(entries)), make([]*string, len(entries))
	for i, e := range entries {
		ids[i], records[i] = e.SubjectID, e.After
	}
	// Lock the counterparties that the records lead to until the transaction ends. This waits for
	// concurrent deletions and merges.
	_, err := pg.Exec(ctx, tx, `
		select from category where id in (select (v.record::jsonb ->> 'category_id')::uuid
			from unnest($1::text[]) v (record)) order by id for share`, records)
	if err != nil {
		return nil, err
	}
	_, err = pg.Exec(ctx, tx, `
		select from counterparty where id in (select (v.record::jsonb ->> 'canonical_id')::uuid
			from unnest($1::text[]) v (record)) order by id for share`, records)
	if err != nil {
		return nil, err
	}
	astray, err := pg.Values[id.ID](ctx, tx, `
		select v.id from unnest($1::uuid[], $2::text[]) v (id, record)
		cross join lateral (select (v.record::jsonb ->> 'canonical_id')::uuid,
			(v.record::jsonb ->> 'category_id')::uuid) r (canonical_id, category_id)
		where exists (select from category c where c.id = r.category_id and c.deleted_at is not null)
			or exists (select from counterparty p where p.id = r.canonical_id and p.id <> all($1)
				and (p.canonical_id is not null or p.deleted_at is not null))
			or (v.record is null or r.canonical_id is not null) and (
				exists (select from counterparty p where p.canonical_id = v.id and p.id <> all($1)
					and p.deleted_at is null)
				or exists (select from transaction t where t.counterparty_id = v.id))`, ids, records)
	return journal.Conflicts(entries, astray), err
}

// A CategoryUser moves the categories of counterparties when a category is merged.
type CategoryUser struct{}

var _ category.User = CategoryUser{}

// Uses implements [category.User].
func (CategoryUser) Uses(ctx context.Context, tx pg.Tx, category id.ID) (int64, string, error) {
	n, err := pg.Value[int64](ctx, tx, `select count(*) from counterparty
		where category_id = $1 and deleted_at is null`, category)
	return n, "counterparties", err
}

// Move implements [category.User].
func (CategoryUser) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from counterparty where category_id = any($1)
		order by id for update`, from)
	if err != nil {
		return nil, err
	}
	return definition.Around(ctx, tx, ids, journal.Source(op.ActorOf(ctx)), func() error {
		// Only those that are locked, which the entries are about. Another call may have given the
		// category to more of them since; the second pass of the merge moves and records those.
		_, err := pg.Exec(ctx, tx, `
			update counterparty p set category_id = v.into_id, updated_at = clock_timestamp()
			from unnest($3::uuid[]) m (id), unnest($1::uuid[], $2::uuid[]) v (from_id, into_id)
			where p.id = m.id and p.category_id = v.from_id`, from, into, ids)
		return err
	})
}

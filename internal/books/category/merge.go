package category

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// MergeCategory is the input of MergeCategory.
type MergeCategory struct {
	ID   string `json:"id" minLength:"1" doc:"The category to merge and retire: slug, short id or UUID"`
	Into string `json:"into" minLength:"1" doc:"The category that replaces it: slug, short id or UUID"`
}

// MergeCategory moves everything that uses one category to another, and returns the other one.
func (f *Categories) MergeCategory(ctx context.Context, tx pg.Tx, in MergeCategory) (Category, error) {
	if err := changing(ctx, tx); err != nil {
		return Category{}, err
	}
	from, err := f.Category(ctx, tx, CategoryRef{in.ID})
	if err != nil {
		return Category{}, err
	}
	into, err := f.Named(ctx, tx, "into", in.Into)
	if err != nil {
		return Category{}, err
	}
	if err := f.mergeRecorded(ctx, tx, merge{from, into}); err != nil {
		return Category{}, err
	}
	return f.Category(ctx, tx, CategoryRef{into.ID.String()})
}

// mergeRecorded runs one merge and records it as a change.
func (f *Categories) mergeRecorded(ctx context.Context, tx pg.Tx, m merge) error {
	ids, err := f.withSubcategories(ctx, tx, []id.ID{m.from.ID, m.into.ID})
	if err != nil {
		return err
	}
	err = categoryDefinition.Recorded(ctx, tx, ids, journal.Note{Did: journal.Facts{
		Action: journal.ActionMerged, Kind: journal.Category, Subject: &m.from.ID,
		With: map[string]id.ID{journal.WithInto: m.into.ID},
	}},
		func() ([]journal.Entry, error) {
			return f.merge(ctx, tx, []merge{m})
		})
	return err
}

// withSubcategories returns categories and their subcategories. A merge or an import changes only
// these.
func (f *Categories) withSubcategories(ctx context.Context, q pg.Querier, ids []id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, q, `select id from category where deleted_at is null
		and (id = any($1) or parent_id = any($1)) order by id`, ids)
}

// A merge names the category that is retired and the one that replaces it.
type merge struct{ from, into Category }

// merge moves subcategories and users, then retires the merged categories. The tree must be locked,
// and no category may be on both sides.
func (f *Categories) merge(ctx context.Context, tx pg.Tx, merges []merge) ([]journal.Entry, error) {
	from, into := make([]id.ID, len(merges)), make([]id.ID, len(merges))
	for i, m := range merges {
		if m.from.ID == m.into.ID {
			return nil, errs.New(errs.Conflict, "the category %s can't be merged into itself", m.from.Slug)
		}
		from[i], into[i] = m.from.ID, m.into.ID
	}
	_, err := pg.Exec(ctx, tx, `
		update category c set parent_id = v.into_id, updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::uuid[]) v (from_id, into_id)
		where c.parent_id = v.from_id and c.deleted_at is null`, from, into)
	if pg.Violates(err, "category_parent") || pg.Violates(err, "category_not_its_own_parent") {
		return nil, errs.New(errs.Conflict,
			"a primary with subcategories can only be merged into another primary, which takes over its subcategories")
	}
	if err != nil {
		return nil, err
	}
	// A second pass moves references that other calls stored in the meantime. Locking the
	// categories first would be shorter, but it could deadlock with a caller that has locked a
	// transaction and waits for its category.
	entries, err := f.move(ctx, tx, from, into)
	if err != nil {
		return nil, err
	}
	if err := categoryDefinition.Lock(ctx, tx, from); err != nil {
		return nil, err
	}
	late, err := f.move(ctx, tx, from, into)
	if err != nil {
		return nil, err
	}
	return append(entries, late...), f.retire(ctx, tx, from)
}

// move changes all references to from[i] into references to into[i].
func (f *Categories) move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	var entries []journal.Entry
	for _, u := range f.users {
		more, err := u.Move(ctx, tx, from, into)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, nil
}

// retire takes categories out of use: built-in ones are hidden, the others deleted.
func (f *Categories) retire(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update category set
			hidden = hidden or is_system, deleted_at = case when is_system then null
				else clock_timestamp() end, updated_at = clock_timestamp()
		where id = any($1)`, ids)
	return err
}

// Package category keeps the tree of categories and the tags of transactions. It must not know
// transactions, rules or anything else that uses a category; such packages register as
// a User.
package category

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Categories are one household's categories and tags.
type Categories struct {
	users []User
}

// New returns Categories with these users. Before a category is deleted, its users report how much
// they use it. In a merge they move their references to the replacement.
func New(users ...User) *Categories {
	return &Categories{users: append([]User{mappings{}}, users...)}
}

// Ops returns the operations on categories and tags.
func (f *Categories) Ops() []*op.Op { return append(f.tagOps(), f.categoryOps()...) }

// Subjects returns the subjects that reverts restore.
func (f *Categories) Subjects() []journal.Subject {
	categories := categoryDefinition
	categories.Fits = f.fits
	return []journal.Subject{tagDefinition, tree{categories}}
}

var (
	tagDefinition = journal.Definition{
		Subject: journal.Tag, Table: "tag", Unique: "slug",
		Columns: []string{"slug", "display_name", "description", "color", "icon"},
		Carried: tagged,
	}
	categoryDefinition = journal.Definition{
		Subject: journal.Category, Table: "category", Unique: "slug",
		Columns:  []string{"slug", "display_name", "parent_id", "kind", "icon", "color", "sort_order", "hidden"},
		Computed: []string{"is_primary"},
	}
)

// A User stores references to categories and must follow when one is merged into another.
type User interface {
	// Uses returns the number of references to the category, which is locked, and their plural
	// noun, such as "rules".
	Uses(ctx context.Context, tx pg.Tx, category id.ID) (count int64, what string, err error)
	// Move changes all references to from[i] into references to into[i], for all i at once, and
	// returns entries for the journal.
	Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error)
}

// mappings are the rows that map a bank's category to one of ours.
type mappings struct{}

func (mappings) Uses(ctx context.Context, tx pg.Tx, category id.ID) (int64, string, error) {
	n, err := pg.Value[int64](ctx, tx, `select count(*) from category_mapping where category_id = $1`, category)
	return n, "bank category mappings", err
}

func (m mappings) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	all := slices.Concat(from, into)
	before, err := m.read(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	_, err = pg.Exec(ctx, tx, `
		update category_mapping m set category_id = v.into_id
		from unnest($1::uuid[], $2::uuid[]) v (from_id, into_id) where m.category_id = v.from_id`, from, into)
	if err != nil {
		return nil, err
	}
	after, err := m.read(ctx, tx, all)
	if err != nil {
		return nil, err
	}
	source := journal.Source(op.ActorOf(ctx))
	var entries []journal.Entry
	for _, c := range all {
		if list, there := after[c]; there && list != before[c] {
			delete(after, c) // two categories may merge into the same one
			entries = append(entries, journal.Entry{
				Subject: journal.Category, SubjectID: c, Field: fieldMappings,
				Before: new(before[c]), After: new(list), AfterSource: &source,
			})
		}
	}
	return entries, nil
}

// fieldMappings is the journal's field for the bank categories that are mapped to one of ours.
const fieldMappings = "mappings"

// read returns the mappings of each category as JSON, in a stable order.
func (mappings) read(ctx context.Context, q pg.Querier, categories []id.ID) (map[id.ID]string, error) {
	type row struct {
		Category id.ID  `db:"category"`
		List     string `db:"list"`
	}
	rows, err := pg.All[row](ctx, q, `
		select v.id as category,
			coalesce(jsonb_agg(jsonb_build_array(m.provider, m.raw_primary, m.raw_detailed)
			order by m.provider, m.raw_primary, m.raw_detailed) filter (where m.provider is not null),
			'[]')::text as list
		from unnest($1::uuid[]) v (id) left join category_mapping m on m.category_id = v.id group by v.id`, categories)
	out := make(map[id.ID]string, len(rows))
	for _, r := range rows {
		out[r.Category] = r.List
	}
	return out, err
}

// apply sets the mappings in each entry's list to its category. A mapping that moved to another
// category is in that category's list.
func (mappings) apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) error {
	var ids []id.ID
	var lists []string
	for _, e := range entries {
		if e.After != nil {
			ids, lists = append(ids, e.SubjectID), append(lists, *e.After)
		}
	}
	_, err := pg.Exec(ctx, tx, `
		update category_mapping m set category_id = v.id
		from unnest($1::uuid[], $2::text[]) v (id, list), jsonb_array_elements(v.list::jsonb) x
		where m.provider = x->>0 and m.raw_primary = x->>1 and m.raw_detailed = x->>2
			and m.category_id <> v.id`, ids, lists)
	return err
}

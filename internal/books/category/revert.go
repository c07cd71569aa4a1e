package category

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// tree reverts categories under the lock of the whole tree.
type tree struct{ journal.Definition }

// Lock implements journal.Subject.
func (t tree) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	if err := changing(ctx, tx); err != nil {
		return err
	}
	return t.Definition.Lock(ctx, tx, ids)
}

// Apply implements journal.Subject. It sets mappings first, because a category can be deleted only
// if nothing is mapped to it.
func (t tree) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var filed, records []journal.Entry
	for _, e := range entries {
		if e.Field == fieldMappings {
			filed = append(filed, e)
		} else {
			records = append(records, e)
		}
	}
	if err := (mappings{}).apply(ctx, tx, filed); err != nil {
		return nil, err
	}
	ids := make([]id.ID, len(records))
	for i, e := range records {
		ids[i] = e.SubjectID
	}
	if err := forsake(ctx, tx, ids); err != nil {
		return nil, err
	}
	return t.Definition.Apply(ctx, tx, records)
}

// Make creates the categories of a plan. Their parent is set when they come into use, because
// before that the parent may not fit.
func (t tree) Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error {
	placed := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		var columns map[string]any
		if err := json.Unmarshal(row, &columns); err != nil {
			return fmt.Errorf("read a planned category: %w", err)
		}
		columns["parent_id"], columns["kind"] = nil, "expense"
		var err error
		if placed[i], err = json.Marshal(columns); err != nil {
			return fmt.Errorf("print a planned category: %w", err)
		}
	}
	return t.Definition.Make(ctx, tx, placed)
}

// forsake detaches deleted categories from these parents, because the parents may become
// subcategories themselves. If a deleted category is restored, its journal record has its parent.
func forsake(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `update category set parent_id = null, kind = 'expense'
		where parent_id = any($1) and deleted_at is not null`, ids)
	return err
}

// fits returns the categories that cannot be set to the recorded state: the parent was deleted or
// is not a primary, a primary with subcategories would become a subcategory, or a category in use
// would be deleted.
func (f *Categories) fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	parents, err := places(ctx, tx)
	if err != nil {
		return nil, err
	}
	now := maps.Clone(parents) // before the restored ones are added
	for _, e := range entries {
		if e.After == nil {
			delete(parents, e.SubjectID)
			continue
		}
		var record struct {
			ParentID *id.ID `json:"parent_id"`
		}
		if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
			return nil, fmt.Errorf("read a recorded category: %w", err)
		}
		parents[e.SubjectID] = record.ParentID
	}
	var left []journal.Skipped
	out := map[id.ID]bool{}
	for again := true; again; {
		again = false
		for _, e := range entries {
			if out[e.SubjectID] {
				continue
			}
			stands, err := f.stands(ctx, tx, e, parents)
			if err != nil {
				return nil, err
			}
			if stands {
				continue
			}
			left, out[e.SubjectID], again = append(left, journal.Skip(e, "conflict")), true, true
			if p, ok := now[e.SubjectID]; ok {
				parents[e.SubjectID] = p
			} else {
				delete(parents, e.SubjectID)
			}
		}
	}
	return left, nil
}

// places returns the parents of all live categories.
func places(ctx context.Context, q pg.Querier) (map[id.ID]*id.ID, error) {
	type row struct {
		ID     id.ID  `db:"id"`
		Parent *id.ID `db:"parent_id"`
	}
	rows, err := pg.All[row](ctx, q, `select id, parent_id from category where deleted_at is null`)
	out := make(map[id.ID]*id.ID, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Parent
	}
	return out, err
}

func (f *Categories) stands(ctx context.Context, tx pg.Tx, e journal.Entry, parents map[id.ID]*id.ID) (bool, error) {
	parent := parents[e.SubjectID]
	if e.After != nil && parent == nil {
		return true, nil
	}
	for _, p := range parents {
		if p != nil && *p == e.SubjectID {
			return false, nil
		}
	}
	if e.After != nil {
		above, ok := parents[*parent]
		return ok && above == nil, nil
	}
	for _, u := range f.users {
		if n, _, err := u.Uses(ctx, tx, e.SubjectID); err != nil || n > 0 {
			return false, err
		}
	}
	return true, nil
}

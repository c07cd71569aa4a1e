package journal

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// A changeFamily is a change, the root, and the reverts that follow from it: each one undoes or
// restores the root.
type changeFamily struct {
	Root   id.ID `db:"root"`
	Undoes bool  `db:"undoes"` // this member takes the root back
}

// join keeps others from reverting anything in the change's family, and from extending its root,
// until the transaction ends.
func join(ctx context.Context, tx pg.Tx, change id.ID) (changeFamily, error) {
	f, err := pg.One[changeFamily](ctx, tx, `select coalesce(root, id) as root, undoes from change
		where id = $1`, change)
	if err != nil {
		return changeFamily{}, err
	}
	return f, lockChange(ctx, tx, f.Root)
}

// A spot is one field of one subject.
type spot struct {
	subject id.ID
	field   string
	ref     id.ID // zero where the field needs none
}

func at(subject id.ID, field string, ref *id.ID) spot {
	s := spot{subject: subject, field: field}
	if ref != nil {
		s.ref = *ref
	}
	return s
}

// A touch is an entry of a change, reduced to what the history of its field needs.
type touch struct {
	ID      int64  `db:"id"`
	Change  id.ID  `db:"change_id"`
	Subject id.ID  `db:"subject_id"`
	Field   string `db:"field"`
	Ref     *id.ID `db:"ref"`
}

// undoing are the entries of a change that stand, one for each field (the first before, the last
// after), and which of those fields someone has touched since. The subjects are locked.
//
// Two plain reads are put together here and not by a join: right after a large change PostgreSQL
// knows nothing of its size yet, and a plan that looks at each entry's successors apart goes
// through all of them each time.
func (j *Journal) undoing(ctx context.Context, tx pg.Tx, change id.ID, f changeFamily) ([]Entry, map[int64]bool,
	error,
) {
	wrote, err := pg.All[Entry](ctx, tx, `
		select id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note
			from entry where change_id = $1 order by id`, change)
	if err != nil {
		return nil, nil, err
	}
	mine := make([]Entry, 0, len(wrote))
	first, last := make(map[spot]int, len(wrote)), make(map[spot]int64, len(wrote))
	for _, e := range wrote {
		s := at(e.SubjectID, e.Field, e.Ref)
		if i, twice := first[s]; twice {
			mine[i].After, mine[i].AfterSource = e.After, e.AfterSource
		} else {
			first[s], mine = len(mine), append(mine, e)
		}
		last[s] = e.ID
	}
	since, families, err := j.since(ctx, tx, change, wrote)
	if err != nil {
		return nil, nil, err
	}
	histories := map[spot][]changeFamily{}
	for _, t := range since {
		s := at(t.Subject, t.Field, t.Ref)
		if l, ok := last[s]; ok && t.ID > l {
			histories[s] = append(histories[s], families[t.Change])
		}
	}
	entries, later := make([]Entry, 0, len(mine)), map[int64]bool{}
	for _, e := range mine {
		undone, touched := f.fate(histories[at(e.SubjectID, e.Field, e.Ref)])
		if undone {
			continue
		}
		entries = append(entries, e)
		if touched {
			later[e.ID] = true
		}
	}
	return entries, later, nil
}

// since returns what others wrote about the subjects of these entries from the first of them on, in
// order, with their families.
func (j *Journal) since(ctx context.Context, tx pg.Tx, change id.ID, wrote []Entry) ([]touch, map[id.ID]changeFamily,
	error,
) {
	if len(wrote) == 0 {
		return nil, nil, nil
	}
	subjects := make([]id.ID, 0, len(wrote))
	seen := make(map[id.ID]bool, len(wrote))
	for _, e := range wrote {
		if !seen[e.SubjectID] {
			seen[e.SubjectID], subjects = true, append(subjects, e.SubjectID)
		}
	}
	touches, err := pg.All[touch](ctx, tx, `
		select y.id, y.change_id, y.subject_id, y.field, y.ref
		from unnest($1::uuid[]) v (id) join entry y on y.subject_id = v.id
		where y.id > $2 and y.change_id <> $3`, subjects, wrote[0].ID, change)
	if err != nil {
		return nil, nil, err
	}
	// The order of a field's history: entries are numbered while their writer holds the subject's
	// lock.
	slices.SortFunc(touches, func(a, b touch) int { return cmp.Compare(a.ID, b.ID) })
	var changes []id.ID
	families := map[id.ID]changeFamily{}
	for _, t := range touches {
		if _, known := families[t.Change]; !known {
			families[t.Change], changes = changeFamily{}, append(changes, t.Change)
		}
	}
	type member struct {
		ID id.ID `db:"id"`
		changeFamily
	}
	members, err := pg.All[member](ctx, tx, `select c.id, coalesce(c.root, c.id) as root, c.undoes
		from unnest($1::uuid[]) v (id) join change c on c.id = v.id`, changes)
	for _, m := range members {
		families[m.ID] = m.changeFamily
	}
	return touches, families, err
}

// fate says of a field that the family's member wrote whether that was undone since, and else
// whether someone has touched the field. What stands on a field is a stack of roots: a change, or
// what brings it back, lays its root on top, and what takes it back takes it off, so that a change
// and the revert that undid it leave a field as if neither had been. Below the member's own place
// that holds as well: what was taken off there and put back in turn is as it was.
func (f changeFamily) fate(later []changeFamily) (undone, touched bool) {
	// what lies above the place that is looked from, and what is missing below it, the lowest last
	var stack, off []id.ID
	if !f.Undoes {
		stack = append(stack, f.Root)
	}
	for _, l := range later {
		top, low := len(stack)-1, len(off)-1
		switch {
		case l.Undoes && top >= 0 && stack[top] == l.Root:
			stack = stack[:top]
		case l.Undoes:
			off = append(off, l.Root)
		case top < 0 && low >= 0 && off[low] == l.Root:
			off = off[:low]
		case top < 0 || stack[top] != l.Root: // one change may write a field twice
			stack = append(stack, l.Root)
		}
	}
	stands := len(stack) > 0 && stack[0] == f.Root
	if f.Undoes {
		return stands, len(off) > 0 || len(stack) > 0
	}
	return !stands, len(off) > 0 || len(stack) > 1
}

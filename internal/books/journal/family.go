package journal

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A changeFamily identifies a change's family: the root change and its reverts, each of which
// undoes or restores the root.
type changeFamily struct {
	Root   id.ID `db:"root"`
	Undoes bool  `db:"undoes"` // this member undoes the root
}

// join locks the change's family until the transaction ends: nobody else can revert a member or
// extend the root.
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
	ref     id.ID // zero if the field needs none
}

func at(subject id.ID, field string, ref *id.ID) spot {
	s := spot{subject: subject, field: field}
	if ref != nil {
		s.ref = *ref
	}
	return s
}

// A touch is an entry of a change, reduced to the columns that the history of its field needs.
type touch struct {
	ID      int64  `db:"id"`
	Change  id.ID  `db:"change_id"`
	Subject id.ID  `db:"subject_id"`
	Field   string `db:"field"`
	Ref     *id.ID `db:"ref"`
	Closes  bool   `db:"closes"` // a person removed the tag that asks for a review
	Same    bool   `db:"same"`   // for a category: only its source changed
}

// A standing holds the entries of a change that are still in effect, one for each field (the first
// before, the last after). It also holds which of those fields someone has touched since, and which
// belong to transactions whose review a person closed since. A person who closes a review and keeps
// the category agrees to it. That does not count as touching the field: it only makes the person
// the source, and undoing the change also undoes the agreement.
type standing struct {
	entries  []Entry
	later    map[int64]bool
	reviewed map[int64]bool
}

// undoing returns the entries of a change that are still in effect. The subjects are locked.
//
// It reads twice and combines the results in Go, instead of using a join. Right after a large
// change, PostgreSQL does not know the size of the change yet. It would choose a plan that looks up
// each entry's successors separately and scans all of them each time.
func (j *Journal) undoing(ctx context.Context, tx pg.Tx, change id.ID, f changeFamily) (standing, error) {
	wrote, err := pg.All[Entry](ctx, tx, `
		select id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note
			from entry where change_id = $1 order by id`, change)
	if err != nil {
		return standing{}, err
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
		return standing{}, err
	}
	closings, closed, err := closed(ctx, tx, since, families)
	if err != nil {
		return standing{}, err
	}
	histories, agreed := map[spot][]changeFamily{}, map[spot]bool{}
	for _, t := range since {
		s := at(t.Subject, t.Field, t.Ref)
		l, ok := last[s]
		switch family := families[t.Change]; {
		case !ok || t.ID <= l:
		case t.Same && closings[closing{t.Subject, family.Root}]:
			agreed[s] = !family.Undoes
		default:
			histories[s] = append(histories[s], family)
		}
	}
	out := standing{entries: make([]Entry, 0, len(mine)), later: map[int64]bool{}, reviewed: map[int64]bool{}}
	for _, e := range mine {
		s := at(e.SubjectID, e.Field, e.Ref)
		undone, touched := f.fate(histories[s])
		if undone {
			continue
		}
		if agreed[s] { // the person who agreed is the source by now
			e.AfterSource = new(op.User)
		}
		out.entries = append(out.entries, e)
		if touched {
			out.later[e.ID] = true
		}
		if e.Subject == Transaction && closed[e.SubjectID] {
			out.reviewed[e.ID] = true
		}
	}
	return out, nil
}

// A closing is a transaction and the change by which a person closed its review.
type closing struct{ transaction, root id.ID }

// closed returns the changes in since by which people closed reviews, and the transactions whose
// review a person closed and nobody reopened.
func closed(ctx context.Context, q pg.Querier, since []touch, families map[id.ID]changeFamily) (
	closings map[closing]bool, closed map[id.ID]bool, err error,
) {
	closings, closed = map[closing]bool{}, map[id.ID]bool{}
	var ids []id.ID
	for _, t := range since {
		if t.Closes {
			closings[closing{t.Subject, families[t.Change].Root}] = true
			ids = append(ids, t.Subject)
		}
	}
	if len(ids) == 0 {
		return closings, closed, nil
	}
	still, err := pg.Values[id.ID](ctx, q, `
		select transaction_id from transaction_tag
		where transaction_id = any($1) and not present and source = 'user'
			and tag_id = (select id from tag where slug = 'needs-review' and deleted_at is null)`, distinct(ids))
	for _, u := range still {
		closed[u] = true
	}
	return closings, closed, err
}

// since returns the entries of other changes about the same subjects, in order and starting after
// the first given entry, with the families of those changes.
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
		select y.id, y.change_id, y.subject_id, y.field, y.ref,
			coalesce(y.field = 'tag' and y.before is not null and y.after is null and y.after_source = 'user'
				and y.ref = (select id from tag where slug = 'needs-review' and deleted_at is null), false) as closes,
			coalesce(y.field = 'category' and y.before = y.after, false) as same
		from unnest($1::uuid[]) v (id) join entry y on y.subject_id = v.id
		where y.id > $2 and y.change_id <> $3`, subjects, wrote[0].ID, change)
	if err != nil {
		return nil, nil, err
	}
	// Entry ids are in the order of a field's history, because the writer holds the subject's lock.
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

// fate reports about a field that a member of the family wrote. undone is whether that write was
// undone since. If it was not, touched is whether someone has changed the field since. The writes
// to a field form a stack of roots: a change, or its restoration, pushes its root, and an undo pops
// it. So a change and the revert that undid it cancel out. An undo can also pop a root from below
// the member's own position, and a restoration can push it back. These two cancel out as well.
func (f changeFamily) fate(later []changeFamily) (undone, touched bool) {
	// the roots above the member's position, and the roots missing below it, the lowest last
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
		case top < 0 || stack[top] != l.Root: // a change may write a field twice
			stack = append(stack, l.Root)
		}
	}
	stands := len(stack) > 0 && stack[0] == f.Root
	if f.Undoes {
		return stands, len(off) > 0 || len(stack) > 0
	}
	return !stands, len(off) > 0 || len(stack) > 1
}

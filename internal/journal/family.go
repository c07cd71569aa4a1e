package journal

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// A family is a change and the reverts that follow from it: each takes the first one, the root, back or brings it back.
type family struct {
	Root   id.ID `db:"root"`
	Undoes bool  `db:"undoes"` // this member takes the root back
}

// join keeps others from reverting anything of the change's family, and from extending its root, until the transaction ends.
func join(ctx context.Context, tx pg.Tx, change id.ID) (family, error) {
	f, err := pg.One[family](ctx, tx, `select coalesce(root, id) as root, undoes from change where id = $1`, change)
	if err != nil {
		return family{}, err
	}
	return f, hold(ctx, tx, f.Root)
}

// undoing are the entries of a change that stand, one for each field (the first before, the last after), and which of those fields someone has touched since.
func (j *Journal) undoing(ctx context.Context, tx pg.Tx, change id.ID, f family) ([]Entry, map[int64]bool, error) {
	type row struct {
		Entry
		Later []string `db:"later"` // the changes since: of which root each is, and whether it takes that back
	}
	// All in a few passes over what the change wrote, whatever the statistics say: right after a large change they are old, and looking for each entry's successors apart could go through all entries each time.
	rows, err := pg.All[row](ctx, tx, `
		with mine as materialized (
			select distinct on (subject_id, field, ref)
				id, subject, subject_id, field, ref, before, before_source, rule_id, note,
				last_value(id) over w as last, last_value(after) over w as after, last_value(after_source) over w as after_source
			from entry where change_id = $1
			window w as (partition by subject_id, field, ref order by id rows between unbounded preceding and unbounded following)
			order by subject_id, field, ref, id),
		since as materialized (
			select y.id, y.change_id, y.subject_id, y.field, y.ref from entry y
			where y.subject_id = any(array(select subject_id from mine)) and y.change_id <> $1),
		later as (
			select m.id, array_agg(coalesce(c.root, c.id) || ' ' || c.undoes order by y.id) as changes
			from mine m join since y on y.subject_id = m.subject_id and y.field = m.field and y.ref is not distinct from m.ref and y.id - m.last > 0 join change c on c.id = y.change_id
			group by m.id)
		select e.id, e.subject, e.subject_id, e.field, e.ref, e.before, e.before_source, e.rule_id, e.note, e.after, e.after_source, coalesce(l.changes, '{}') as later
		from mine e left join later l on l.id = e.id`, change)
	if err != nil {
		return nil, nil, err
	}
	entries, later := make([]Entry, 0, len(rows)), map[int64]bool{}
	for _, r := range rows {
		undone, touched := f.fate(r.Later)
		if undone {
			continue
		}
		entries = append(entries, r.Entry)
		if touched {
			later[r.ID] = true
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return int(a.ID - b.ID) })
	return entries, later, nil
}

// fate says of a field that the family's member wrote whether that was undone since, and else whether someone has touched the field. What stands on a field is a stack of roots: a change, or what brings it back, lays its root on top,
// and what takes it back takes it off, so that a change and the revert that undid it leave a field as if neither had been.
func (f family) fate(later []string) (undone, touched bool) {
	var stack []string
	root := f.Root.String()
	if !f.Undoes {
		stack = append(stack, root)
	}
	for _, l := range later {
		other, undoes, _ := strings.Cut(l, " ")
		switch top := len(stack) - 1; {
		case undoes == "true" && top >= 0 && stack[top] == other:
			stack = stack[:top]
		case undoes == "true": // it took back what stood below all that is looked at here
			touched = true
		case top < 0 || stack[top] != other: // one change may write a field twice
			stack = append(stack, other)
		}
	}
	stands := len(stack) > 0 && stack[0] == root
	if f.Undoes {
		return stands, touched || len(stack) > 0
	}
	return !stands, touched || len(stack) > 1
}

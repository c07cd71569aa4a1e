package journal

import (
	"context"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// lock locks the subjects of these changes until the transaction ends, so that the result of
// undoing stays true.
func (j *Journal) lock(ctx context.Context, tx pg.Tx, changes ...id.ID) error {
	type row struct {
		Subject string  `db:"subject"`
		IDs     []id.ID `db:"ids"`
	}
	rows, err := pg.All[row](ctx, tx, `select subject, array_agg(distinct subject_id) as ids from entry
		where change_id = any($1) group by subject order by subject`, changes)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if s := j.subjects[r.Subject]; s != nil {
			if err := s.Lock(ctx, tx, r.IDs); err != nil {
				return err
			}
		}
	}
	return nil
}

// reversed returns the entry that undoes this one.
func (e Entry) reversed() Entry {
	e.Before, e.After, e.BeforeSource, e.AfterSource = e.After, e.Before, e.AfterSource, e.BeforeSource
	e.Note, e.RuleID = nil, nil
	return e
}

// apply asks the owners to set fields, and returns the entries that were set and those that were
// skipped.
//
// Records that come into use are set first, so that others can refer to them. Records that go out
// of use are set last, when nothing refers to them any more. Owners are ordered by how they refer
// to each other, so their order is reversed too.
//
// If whole is set, entries that refer to a record that could not be created are skipped too. A
// revert does not need this, because the records that it restores existed.
func (j *Journal) apply(ctx context.Context, tx pg.Tx, entries []Entry, whole bool) (done []Entry, skipped []Skipped,
	err error,
) {
	absent := map[id.ID]bool{}
	for _, leaving := range []bool{false, true} {
		owners := j.all()
		if leaving {
			slices.Reverse(owners)
		}
		for _, s := range owners {
			var mine []Entry
			for _, e := range entries {
				switch {
				case !j.takes(s, e) || leaves(s, e) != leaving:
				case whole && e.Ref != nil && absent[*e.Ref]:
					skipped = append(skipped, Skip(e, "missing"))
				default:
					mine = append(mine, e)
				}
			}
			if len(mine) == 0 {
				continue
			}
			left, err := s.Apply(ctx, tx, mine)
			if err != nil {
				return nil, nil, err
			}
			gone := make(map[int64]bool, len(left))
			for _, l := range left {
				gone[l.entry] = true
			}
			skipped = append(skipped, left...)
			for _, e := range mine {
				switch {
				case !gone[e.ID]:
					done = append(done, e)
				case e.creates():
					absent[e.record()] = true
				}
			}
		}
	}
	return done, skipped, nil
}

package journal

import (
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Around returns an entry for each row that a write changed, and none for others.
func TestAroundRecordsWhatChanged(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	a, _ := s.create(t, "a")
	b, _ := s.create(t, "b")
	c, _ := s.create(t, "c")
	var entries []Entry
	s.in(t, func(tx pg.Tx) (err error) {
		entries, err = tags.Around(s.ctx, tx, []id.ID{a, b, c}, "user", func() error {
			if _, err := tx.Exec(s.ctx, `update tag set display_name = 'Renamed' where id = $1`, a); err != nil {
				return err
			}
			_, err := tx.Exec(s.ctx, `update tag set deleted_at = now() where id = $1`, b)
			return err
		})
		return err
	})
	if len(entries) != 2 || entries[0].SubjectID != a || entries[1].SubjectID != b {
		t.Fatalf("%+v", entries)
	}
	if from, to := parts(entries[0].Before, entries[0].After); *from != "display_name: New" ||
		*to != "display_name: Renamed" {
		t.Errorf("the first was %q and is %q", *from, *to)
	}
	if entries[1].Before == nil || entries[1].After != nil {
		t.Errorf("the deleted one: %+v", entries[1])
	}
}

func TestReadLeavesOutDeletedRows(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	a, _ := s.create(t, "a")
	b, _ := s.create(t, "b")
	s.write(t, b, `update tag set deleted_at = now() where id = $1`)
	got, err := tags.Read(s.ctx, s.db, []id.ID{a, b, id.New()})
	if err != nil || len(got) != 1 || got[a] == nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	merged := Definition{Gone: "canonical_id"}
	for name, c := range map[string]struct {
		of     Definition
		record *string
		want   bool
	}{
		"no record":              {tags, nil, true},
		"a record":               {tags, new(`{"slug":"a"}`), false},
		"one that is replaced":   {merged, new(`{"canonical_id":"x"}`), true},
		"one that is not":        {merged, new(`{"canonical_id":null}`), false},
		"one that is not JSON":   {merged, new(`x`), false},
		"Gone of another record": {tags, new(`{"canonical_id":"x"}`), false},
	} {
		if got := c.of.Leaves(FieldRecord, c.record); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

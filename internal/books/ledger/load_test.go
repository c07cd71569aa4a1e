package ledger

import (
	"context"
	"slices"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// drawing makes the books use these ids first.
func (b *testBooks) drawing(ids ...string) {
	b.draw = func() id.ID {
		if len(ids) == 0 {
			return id.New()
		}
		next := id.Must(ids[0])
		ids = ids[1:]
		return next
	}
}

// An id is drawn again if its short id is taken: by a stored transaction, by another one of the
// same load, and once more if the second draw is taken too.
func TestTakenShortIDs(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	load := func(rows ...Incoming) {
		t.Helper()
		err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
			n, err := b.Load(t.Context(), tx, slices.Values(rows))
			if err == nil && n != int64(len(rows)) {
				t.Errorf("%d of %d are new", n, len(rows))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	row := func(provider string) Incoming {
		return told(b.account, provider, "2026-03-01", "4.20", "Café "+provider)
	}
	const stored = "019a3c5e-4000-7000-8000-0000000000aa"
	b.drawing(stored)
	load(row("stored"))
	tagged := row("like the stored one")
	tagged.Tags = []string{"needs-review"}
	b.drawing("019a3c5e-4001-7000-8000-0000000000aa", "019a3c5e-4002-7000-8000-0000000000bb",
		"019a3c5e-4003-7000-8000-0000000000bb", "019a3c5e-4004-7000-8000-0000000000aa")
	load(tagged, row("one"), row("like one"))
	b.drawing("019a3c5e-4005-7000-8000-0000000000aa", "019a3c5e-4006-7000-8000-0000000000bb")
	if m := b.merge(t, row("merged"), row("merged too")); len(m.Inserted) != 2 {
		t.Errorf("merged %+v", m)
	}
	b.drawing("019a3c5e-4007-7000-8000-0000000000aa")
	travel, err := pg.Value[string](t.Context(), b.db, `select id::text from category where slug = 'travel'`)
	if err != nil {
		t.Fatal(err)
	}
	err = b.db.InTx(t.Context(), func(tx pg.Tx) error {
		asked := 0
		_, err := b.MergeJudged(t.Context(), tx, []Incoming{row("judged")},
			func(_ context.Context, _ pg.Tx, newRows []NewRow) ([]Edit, error) {
				asked++
				return []Edit{{
					Transaction: newRows[0].ID, Field: journal.FieldCategory, Source: new("rule"),
					Value: &travel,
				}}, nil
			})
		if asked != 2 {
			t.Errorf("the judge was called %d times", asked)
		}
		return err
	})
	if got := b.one(t, "judged"); err != nil || got.Category == nil || *got.Category != "travel" {
		t.Errorf("judged: %+v, %v", got, err)
	}
	type kept struct {
		ID    id.ID  `db:"id"`
		Short string `db:"short_id"`
		Tags  int    `db:"tags"`
		Name  string `db:"provider_id"`
	}
	rows, err := pg.All[kept](t.Context(), b.db, `select id, short_id, provider_id,
		(select count(*) from transaction_tag where transaction_id = t.id) as tags from transaction t
		order by provider_id`)
	if err != nil || len(rows) != 7 {
		t.Fatalf("%+v %v", rows, err)
	}
	for _, r := range rows {
		if r.Short != r.ID.Short() {
			t.Errorf("%s: the short id %s is not that of %s", r.Name, r.Short, r.ID)
		}
		if r.Name == "stored" && r.ID.String() != stored {
			t.Errorf("the stored transaction now has the id %s", r.ID)
		}
		if want := map[bool]int{true: 1}[r.Name == "like the stored one"]; r.Tags != want {
			t.Errorf("%s has %d tags", r.Name, r.Tags)
		}
	}
}

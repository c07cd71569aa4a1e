package workflow

import (
	"fmt"
	"slices"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Every item of a plan shows the category that its transaction has after the plan is applied. That
// is also true if the plan only approves the existing category, and so has no entry for it.
func TestPlanCategories(t *testing.T) {
	t.Parallel()
	s := openShop(t, "kept", "moved", "new", "none", "emptied")
	run, groceries, pets, review := id.New(), id.New(), id.New(), id.New()
	s.exec(`insert into category (id, short_id, slug, display_name, kind)
		values ($1, $2, 'our_groceries', 'Our groceries', 'expense')`, groceries, groceries.Short())
	s.exec(`insert into workflow_run (id, short_id, workflow_slug, trigger, mode, status, definition, definition_hash,
		asked_type, asked_name, finished_at) values ($1, $2, 'x', 'manual', 'planning', 'succeeded', '{}', 'hash', 'user',
		'Ada', now())`, run, run.Short())
	s.exec(`update transaction set category_id = $1 where provider_id in ('0', '1', '4')`, groceries)
	plan := []journal.Planned{{Entry: journal.Entry{
		Subject: journal.Category, SubjectID: pets, Field: journal.FieldRecord, After: new(`{"slug": "our_pets"}`),
	}}}
	to := map[int]*string{1: new(pets.String()), 2: new(pets.String()), 4: nil}
	for i := range 5 {
		of := s.ids(fmt.Sprint(i))[0]
		if after, moves := to[i]; moves {
			before := new(groceries.String())
			if i == 2 {
				before = nil
			}
			plan = append(plan, journal.Planned{Entry: journal.Entry{
				Subject: journal.Transaction, SubjectID: of, Field: journal.FieldCategory, Before: before, After: after,
			}})
		}
		plan = append(plan, journal.Planned{Entry: journal.Entry{
			Subject: journal.Transaction, SubjectID: of, Field: journal.FieldTag, Ref: &review, Before: new("1"),
		}})
	}
	if err := s.db.InTx(s.Context(), func(tx pg.Tx) error {
		return (&Store{}).AddPlan(s.Context(), tx, run, "update_transactions", plan,
			[]PlannedCall{{Tool: "apply_rules"}})
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for cursor := ""; ; { // two to a page, so that a category and its approval are on different pages
		page, err := NewPlans(s.db, nil).Show(s.Context(), s.db, PlanRef{ID: run.String(), Limit: 2, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			category := "-"
			if i.Category != nil {
				category = *i.Category
			}
			got = append(got, i.Subject+" "+i.Field+" "+category)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	tag := "transaction tag "
	if want := []string{
		"category record -", tag + "our_groceries", "transaction category our_pets", tag + "our_pets",
		"transaction category our_pets", tag + "our_pets", tag + "-", "transaction category -", tag + "-", "call  -",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

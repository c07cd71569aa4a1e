package browser_test

import (
	"testing"
)

// targetsOfAMonth adds a suggested budget and undoes it, reads how the others are going, and edits and
// deletes one.
func targetsOfAMonth(t *testing.T, h *house, axe string) {
	t.Helper()
	live := func(want int) {
		t.Helper()
		if n := h.count(t, `select count(*) from target where deleted_at is null`); n != want {
			t.Errorf("%d budgets, not %d", n, want)
		}
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/budget", "Suggested budgets")
	b.do(t, step{Do: "see", Text: " over budget"})
	b.do(t, step{Do: "click", Name: "Add"})
	b.do(t, step{Do: "see", Text: "budget added"})
	live(4)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	live(3)
	b.do(t, step{Do: "press", Name: "Edit Food & Drink budget"})
	b.do(t, step{Do: "see", Text: "How much you want to spend"})
	b.whole(t, axe)
	b.fill(t, "Monthly amount (EUR)", "a lot")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Enter an amount, for example"})
	b.fill(t, "Monthly amount (EUR)", "9,000.50")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "of €9,000.50"})
	b.do(t, step{Do: "press", Name: "Edit Food & Drink budget"})
	b.do(t, step{Do: "click", Name: "Delete"})
	b.do(t, step{Do: "see", Text: "Budget deleted"})
	live(2)
	b.do(t, step{Do: "click", Name: "Add budget"})
	b.do(t, step{Do: "see", Text: "Includes subcategories"})
	b.whole(t, axe)
}

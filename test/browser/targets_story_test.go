package browser_test

import (
	"testing"
)

// targetsOfAMonth sets a proposed target and undoes it, reads how the others stand, and changes and
// deletes one.
func targetsOfAMonth(t *testing.T, h *house, axe string) {
	t.Helper()
	live := func(want int) {
		t.Helper()
		if n := h.count(t, `select count(*) from target where deleted_at is null`); n != want {
			t.Errorf("%d targets are set, not %d", n, want)
		}
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/targets", "Proposed")
	b.do(t, step{Do: "see", Text: " over"})
	b.do(t, step{Do: "click", Name: "Set"})
	b.do(t, step{Do: "see", Text: "Target for"})
	live(4)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	live(3)
	b.do(t, step{Do: "press", Name: "Change the target for Food and Drink"})
	b.do(t, step{Do: "see", Text: "What you mean to spend"})
	b.whole(t, axe)
	b.fill(t, "A month, in EUR", "a lot")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Write an amount such as"})
	b.fill(t, "A month, in EUR", "9,000.50")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "of €9,000.50"})
	b.do(t, step{Do: "press", Name: "Change the target for Food and Drink"})
	b.do(t, step{Do: "click", Name: "Delete"})
	b.do(t, step{Do: "see", Text: "Target deleted"})
	live(2)
	b.do(t, step{Do: "click", Name: "Set a target"})
	b.do(t, step{Do: "see", Text: "A category includes those below it"})
	b.whole(t, axe)
}

package browser_test

import (
	"testing"

	"coffer/internal/pg"
)

// accountByHand adds a house that no bank knows, calls it otherwise, closes it, takes that back,
// deletes it and takes that back too.
func accountByHand(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/accounts", "Owned in all")
	b.do(t, step{Do: "click", Name: "Add one by hand…"})
	b.do(t, step{Do: "choose", Name: "What it is", Value: "House or flat"})
	b.do(t, step{Do: "see", Text: "It is worth what you last said it is"})
	b.whole(t, axe)
	b.fill(t, "Called", "Our <b>house</b>")
	b.fill(t, "Worth, if you know", "a lot")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Write an amount such as"})
	b.fill(t, "Worth, if you know", "410,000")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Our <b>house</b> is added"})
	b.do(t, step{Do: "see", Text: "none; kept by hand"})
	b.do(t, step{Do: "see", Text: "410,000"})
	b.whole(t, axe)
	at, err := pg.Value[string](t.Context(), h.DB, `select short_id from account where provider = 'manual'`)
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "forgive"})
	b.screen(t, "/accounts/"+at, "kept by hand") // without what was said before
	b.fill(t, "Called", "The house")
	b.fill(t, "Closed on", "2026-01-31")
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Saved"})
	if n := h.count(t, `select count(*) from account where name = 'The house' and closed_on = '2026-01-31'`); n != 1 {
		t.Error("the account was not changed")
	}
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if n := h.count(t, `select count(*) from account where name = 'Our <b>house</b>' and closed_on is null`); n != 1 {
		t.Error("the account was not changed back")
	}
	b.screen(t, "/accounts/"+at, "kept by hand")
	b.do(t, step{Do: "click", Name: "Delete the account…"})
	b.do(t, step{Do: "see", Text: "It has no payments"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Delete it"})
	b.do(t, step{Do: "see", Text: "is deleted"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Kept by hand"})
	b.whole(t, axe)
	if n := h.count(t, `select count(*) from account where provider = 'manual' and deleted_at is null`); n != 1 {
		t.Errorf("%d accounts are kept by hand", n)
	}
}

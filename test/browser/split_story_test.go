package browser_test

import (
	"testing"

	"coffer/internal/platform/pg"
)

// splitAPayment divides a payment at a desk and on a phone, changes a part, joins it again and undoes
// that.
func splitAPayment(t *testing.T, h *house, axe string) {
	t.Helper()
	for _, on := range []string{"desktop", "phone"} {
		one, err := pg.Value[string](t.Context(), h.DB, `select short_id from transaction where deleted_at is null
			and not is_split and origin = 'bank' and amount between 20 and 900 and currency = 'EUR'
			order by date desc, id desc limit 1`)
		if err != nil {
			t.Fatal(err)
		}
		split := func(parts int) {
			t.Helper()
			if n := h.count(t, `select count(*) from transaction where deleted_at is null and parent_id =
				(select id from transaction where short_id = '`+one+`')`); n != parts {
				t.Errorf("on the %s it has %d parts, not %d", on, n, parts)
			}
		}
		b := newBrowser(t, on)
		b.enterAt(t, h, "/transactions?open="+one, "Bank details")
		b.do(t, step{Do: "press", Name: "Split"})
		b.do(t, step{Do: "see", Text: "Enter an amount for each part"})
		b.fill(t, "Amount for part 1", "12.50")
		b.do(t, step{Do: "see", Text: "The last part gets whatever remains"})
		b.do(t, step{Do: "click", Name: "Add part"})
		b.fill(t, "Amount for part 2", "1.25")
		b.do(t, step{Do: "see", Text: "Split into 3"})
		b.whole(t, axe)
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "see", Text: "Edit split"})
		b.do(t, step{Do: "idle"})
		b.do(t, step{Do: "see", Text: "Split into 3"})
		b.whole(t, axe)
		split(3)
		b.screen(t, "/transactions?open="+one, "Split into 3") // without what was offered to undo
		b.do(t, step{Do: "click", Name: "Edit split"})
		b.do(t, step{Do: "press", Name: "Remove part 2"})
		b.do(t, step{Do: "see", Text: "Split into 2"})
		b.do(t, step{Do: "click", Name: "Split into 2"})
		b.do(t, step{Do: "see", Text: "Undo"}) // the dialog's button has the same words as the heading
		b.do(t, step{Do: "see", Text: "Split into 2"})
		split(2)
		b.screen(t, "/transactions?open="+one, "Split into 2") // without what was offered to undo
		b.do(t, step{Do: "click", Name: "Remove split"})
		b.do(t, step{Do: "see", Text: "Split removed"})
		split(0)
		b.do(t, step{Do: "click", Name: "Undo"})
		b.do(t, step{Do: "see", Text: "Undone"}) // the screen may still show the parts that were removed
		b.do(t, step{Do: "see", Text: "Split into 2"})
		split(2)
		part, err := pg.Value[string](t.Context(), h.DB, `select short_id from transaction where parent_id =
			(select id from transaction where short_id = $1) order by id limit 1`, one)
		if err != nil {
			t.Fatal(err)
		}
		b.screen(t, "/transactions?open="+part, "Part of")
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
	}
}

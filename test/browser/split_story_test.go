package browser_test

import (
	"testing"

	"coffer/internal/pg"
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
		b.enterAt(t, h, "/transactions?open="+one, "What the bank says")
		b.do(t, step{Do: "press", Name: "Split"})
		b.do(t, step{Do: "see", Text: "Write an amount such as"})
		b.fill(t, "Amount of part 1", "12.50")
		b.do(t, step{Do: "see", Text: "The last part has what the others leave"})
		b.do(t, step{Do: "click", Name: "Add a part"})
		b.fill(t, "Amount of part 2", "1.25")
		b.do(t, step{Do: "see", Text: "Split into 3 parts"})
		b.whole(t, axe)
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "see", Text: "Its 3 parts"})
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
		split(3)
		b.do(t, step{Do: "click", Name: "Change the parts"})
		b.do(t, step{Do: "press", Name: "Drop part 2"})
		b.do(t, step{Do: "see", Text: "Split into 2 parts"})
		b.do(t, step{Do: "click", Name: "Split into 2 parts"})
		b.do(t, step{Do: "see", Text: "Its 2 parts"})
		split(2)
		b.screen(t, "/transactions?open="+one, "Its 2 parts") // without what was offered to undo
		b.do(t, step{Do: "click", Name: "Join again"})
		b.do(t, step{Do: "see", Text: "Joined again"})
		split(0)
		b.do(t, step{Do: "click", Name: "Undo"})
		b.do(t, step{Do: "see", Text: "Its 2 parts"})
		split(2)
		part, err := pg.Value[string](t.Context(), h.DB, `select short_id from transaction where parent_id =
			(select id from transaction where short_id = $1) order by id limit 1`, one)
		if err != nil {
			t.Fatal(err)
		}
		b.screen(t, "/transactions?open="+part, "A part of")
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
	}
}

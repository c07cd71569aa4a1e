package browser_test

import (
	"testing"

	"coffer/internal/platform/pg"
)

// paymentsByHand writes a payment down, undoes it, writes another and corrects it, on a phone.
func paymentsByHand(t *testing.T, h *house, axe string) {
	t.Helper()
	live := func(want int) {
		t.Helper()
		if n := h.count(t, `select count(*) from transaction where origin = 'manual' and deleted_at is null`); n != want {
			t.Errorf("%d payments are written down, not %d", n, want)
		}
	}
	b := newBrowser(t, "phone")
	for _, at := range []struct{ path, text string }{
		{"/budget", "Budget"}, {"/review", "Review"}, {"/", "Overview"}, {"/transactions", "Transactions"},
	} {
		if b.house == nil {
			b.enterAt(t, h, at.path, at.text)
		} else {
			b.screen(t, at.path, at.text)
		}
		b.do(t, step{Do: "named-link", Name: "Add transaction"})
		b.do(t, step{Do: "see", Text: "Money out"})
	}
	b.whole(t, axe)
	write := func(amount, name string) {
		t.Helper()
		b.fill(t, "Amount", amount)
		b.fill(t, "Payee", name)
		b.do(t, step{Do: "quiet"}) // the form has its accounts
		b.do(t, step{Do: "enter"})
	}
	write("a lot", "Market stall")
	b.do(t, step{Do: "see", Text: "Enter an amount, for example"})
	b.whole(t, axe)
	b.fill(t, "Amount", "12.50")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Market stall added"})
	b.whole(t, axe)
	live(1)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Money out"})
	live(0)
	write("7.30", "Kiosk at the corner")
	b.do(t, step{Do: "see", Text: "Kiosk at the corner added"})
	live(1)
	b.do(t, step{Do: "idle"})
	short, err := pg.Value[string](t.Context(), h.DB, `select short_id from transaction
		where origin = 'manual' and deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	b.screen(t, "/transactions?open="+short, "Added manually")
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Edit…"})
	b.do(t, step{Do: "see", Text: "Edit transaction"})
	b.fill(t, "Amount", "8.10")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Transaction updated"})
	if n := h.count(t, `select count(*) from transaction where origin = 'manual' and amount = 8.10`); n != 1 {
		t.Error("the payment was not corrected")
	}
}

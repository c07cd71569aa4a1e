package browser_test

import (
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// payeesHouse has a shop whose name the bank writes in two ways, and other payees.
var payeesHouse = small{
	name: "payees",
	payments: []payment{
		{"Everyday", 0, 1, 10, "EDEKA", "food_and_drink_groceries"},
		{"Everyday", 1, 3, 20.5, "EDEKA", "food_and_drink_groceries"},
		{"Everyday", 1, 9, 7.25, "CARD PAYMENT 4421 EDEKA 5426", "food_and_drink_groceries"},
		{"Everyday", 1, 12, 4, "Bakery", "food_and_drink_groceries"},
		{"Everyday", 2, 1, 700, "Rent", "home_rent"},
		{"Everyday", 2, 2, 50, "Everyday", "transfers_savings"},
		{"Everyday", 2, 3, 50, "CARD PAYMENT 4421 EVERYDAY 5426", "transfers_savings"},
	},
}

// TestPayeesStory merges two payees that are the same shop, renames the result and undoes each
// step, with the keyboard alone. Then it merges payees on a phone.
func TestPayeesStory(t *testing.T) {
	t.Parallel()
	axe := built(t)
	h := payeesHouse.house(t)
	h.name = "payees-"
	const list = "/settings/categories?tab=payees"
	b := newBrowser(t, "desktop")
	act := func(name, says string) {
		t.Helper()
		b.do(t, step{Do: "reach", Name: name})
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "see", Text: says})
	}
	back := func(part, text string) { // undoes a step, and waits until that part of the screen says the text again
		t.Helper()
		b.do(t, step{Do: "key", Name: "z"})
		b.do(t, step{Do: "says", Name: part, Text: text})
		b.do(t, step{Do: "idle"}) // the buttons that come next are of other answers
		h.named(t, 0, "nobody")
	}

	b.enterAt(t, h, list, "Same payee?")
	b.do(t, step{Do: "see", Text: "2 + 1 · 3 transactions"})
	b.do(t, step{Do: "see", Text: "1 suggestion"}) // but no suggestion for the household's own account
	b.do(t, step{Do: "says", Name: "main", Text: h.paidTo(t, "EDEKA")})
	b.whole(t, axe)
	act("Merge 2: Edeka, Edeka", "Merged into Edeka")
	h.named(t, 3, "Edeka")
	b.do(t, step{Do: "says", Name: "main", Text: h.paidTo(t, "EDEKA", "CARD PAYMENT 4421 EDEKA 5426")})
	if v := b.look(t); strings.Contains(v.Text, "Same payee?") {
		t.Errorf("it is still asked:\n%s", v.Text)
	}
	b.whole(t, axe)
	back("main", "Same payee?")

	b.do(t, step{Do: "follow", Name: "Edeka"})
	b.do(t, step{Do: "see", Text: "By month"})
	b.do(t, step{Do: "says", Name: "main", Text: "By month " + h.paidTo(t, "EDEKA")})
	b.whole(t, axe)
	act("Rename", "Also for new transactions")
	b.whole(t, axe)
	b.fill(t, "Name", "Corner shop")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Renamed to Corner shop"})
	b.do(t, step{Do: "says", Name: "h1", Text: "Corner shop"})
	h.named(t, 2, "Corner shop")
	b.do(t, step{Do: "see", Text: "Payee Corner shop"}) // the rule for future transactions
	b.whole(t, axe)
	back("h1", "Edeka")

	act("Merge into Edeka", "Merged into Edeka")
	h.named(t, 3, "Edeka")
	b.do(t, step{Do: "says", Name: "main", Text: "By month " + h.paidTo(t, "EDEKA", "CARD PAYMENT 4421 EDEKA 5426")})
	b.do(t, step{Do: "see", Text: "CARD PAYMENT 4421 EDEKA 5426"}) // an alias
	back("main", "Same payee?")

	act("Merge…", "Merge payee")
	b.do(t, step{Do: "choose", Name: "Merge into", Value: "Bakery"})
	b.whole(t, axe)
	act("Merge", "Merged into Bakery")
	b.do(t, step{Do: "says", Name: "h1", Text: "Bakery"})
	h.named(t, 3, "Bakery")
	back("h1", "Edeka")
	b.do(t, step{Do: "key", Name: "Shift+Z"})
	b.do(t, step{Do: "see", Text: "Redone"})
	b.do(t, step{Do: "says", Name: "h1", Text: "Bakery"})
	h.named(t, 3, "Bakery")
	back("h1", "Edeka")

	b.screen(t, list, "Same payee?")
	act("Don’t merge: Edeka, Edeka", "Most spent")
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(v.Text, "Same payee?") {
		t.Errorf("it is asked again:\n%s", v.Text)
	}

	b = newBrowser(t, "phone light")
	b.enterAt(t, h, list, "Same payee?")
	b.whole(t, axe)
	b.do(t, step{Do: "follow", Name: "Rent"})
	b.do(t, step{Do: "see", Text: "By month"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Merge…"})
	b.do(t, step{Do: "see", Text: "Merge payee"})
	b.do(t, step{Do: "choose", Name: "Merge into", Value: "Bakery"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Merge"})
	b.do(t, step{Do: "see", Text: "Merged into Bakery"})
	h.named(t, 2, "Bakery")
	b.do(t, step{Do: "says", Name: "h1", Text: "Bakery"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "says", Name: "h1", Text: "Rent"})
	h.named(t, 0, "nobody")

	h.member(t, "Vilde", "viewer")
	b = newBrowser(t, "desktop")
	b.enterAs(t, h, "vilde@example.com", list, "Most spent")
	b.do(t, step{Do: "follow", Name: "Edeka"})
	b.do(t, step{Do: "see", Text: "By month"})
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "controls", Text: "^(Rename|Merge|Don’t|Edit)"})
	b.look(t)
}

// named checks how many transactions have the counterparty of that name, that no transaction has
// another counterparty, and that there is one rule for it, or none without transactions.
func (h *house) named(t *testing.T, want int, name string) {
	t.Helper()
	n := h.count(t, `select count(*) from transaction t join counterparty c on c.id = t.counterparty_id where c.name = $1`, name)
	all := h.count(t, `select count(counterparty_id) from transaction`)
	rules := h.count(t, `select count(*) from rule where deleted_at is null and actions @> '[{"type": "assign_counterparty"}]'`)
	if n != want || all != want || rules != min(want, 1) {
		t.Errorf("%d of %d transactions with a payee are of %s, not %d; %d rules", n, all, name, want, rules)
	}
}

// paidTo returns how much was paid to payees with these bank texts. The database adds it up, and
// the text looks as it does on screens.
func (h *house) paidTo(t *testing.T, names ...string) string {
	t.Helper()
	sum, err := pg.Value[string](t.Context(), h.DB, `select '€' || to_char(sum(t.amount), 'FM999,990.00')
		from transaction t join descriptor d on d.id = t.descriptor_id where t.deleted_at is null and d.name = any($1)`, names)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

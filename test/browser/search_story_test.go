package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// findAnything finds payments by words, a tag and amounts, narrows them by every kind of filter with the
// keyboard, goes back, and compares each sum on the screen with the database.
func findAnything(t *testing.T, h *house, axe string) {
	t.Helper()
	amount, err := pg.Value[string](t.Context(), h.DB, `select replace(amount::text, '.', ',') from transaction
		where deleted_at is null and amount > 0 and currency = 'EUR' order by date desc, id desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	b.addsUp(t, h, "true")
	b.do(t, step{Do: "named"})
	b.whole(t, axe)

	b.do(t, step{Do: "key", Name: "/"})
	b.fill(t, "Search transactions", amount)
	b.addsUp(t, h, "abs(amount) = "+strings.Replace(amount, ",", ".", 1))
	b.fill(t, "Search transactions", "#needs-review >20")
	const waits = `abs(amount) > 20 and id in (select tt.transaction_id from transaction_tag tt
		join tag g on g.id = tt.tag_id where g.slug = 'needs-review' and tt.present)`
	b.addsUp(t, h, waits)
	b.whole(t, axe)
	b.fill(t, "Search transactions", "nothing like this")
	b.do(t, step{Do: "see", Text: "No matching transactions"})
	b.do(t, step{Do: "press", Name: "Clear filters"})
	b.addsUp(t, h, "true")

	b.do(t, step{Do: "press", Name: "Amount"})
	b.do(t, step{Do: "write", Name: "From", Value: "10"})
	b.do(t, step{Do: "write", Name: "To", Value: "50,00"})
	b.whole(t, axe)
	b.do(t, step{Do: "enter"})
	const between = "abs(amount) between 10 and 50"
	b.addsUp(t, h, between)
	for _, category := range []string{"Groceries", "Restaurants"} {
		b.do(t, step{Do: "click", Name: "Category"})
		b.fill(t, "Category", category)
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "says", Name: "main", Text: "Category " + category})
	}
	filed := func(names string) string {
		return between + " and category_id in (select id from category where display_name in (" + names + "))"
	}
	b.addsUp(t, h, filed("'Groceries', 'Restaurants'"))
	b.whole(t, axe)
	b.do(t, step{Do: "back"})
	b.addsUp(t, h, filed("'Groceries'"))

	b.do(t, step{Do: "press", Name: "Dates"})
	b.do(t, step{Do: "see", Text: "Last 90 days"})
	b.whole(t, axe)
	day, err := pg.Value[string](t.Context(), h.DB, `select (max(date) - 60)::text from transaction where deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, step{Do: "write", Name: "From", Value: day})
	b.do(t, step{Do: "key", Name: "Escape"})
	lately := filed("'Groceries'") + " and date >= '" + day + "'"
	b.addsUp(t, h, lately)

	b.do(t, step{Do: "key", Name: "v"})
	b.fill(t, "View name", "Middling")
	b.do(t, step{Do: "click", Name: "Save view"})
	b.do(t, step{Do: "see", Text: "View “Middling” saved"})
	b.do(t, step{Do: "press", Name: "Clear filters"})
	b.addsUp(t, h, "true")
	b.do(t, step{Do: "click", Name: "Views"})
	b.fill(t, "Views", "Middling")
	b.do(t, step{Do: "enter"})
	b.addsUp(t, h, lately)
	b.do(t, step{Do: "press", Name: "Remove filter Category Groceries"})
	after := between + " and date >= '" + day + "'"
	b.addsUp(t, h, after)

	b.do(t, step{Do: "idle"}) // the rows come after the sums
	for _, key := range []string{"x", "j", "j", "Shift+X"} {
		b.do(t, step{Do: "key", Name: key})
	}
	b.do(t, step{Do: "see", Text: "3 selected"})
	first := "id in (select id from transaction where deleted_at is null and " + after + " order by date desc, id desc limit 3)"
	for currency, words := range h.sums(t, first) {
		b.do(t, step{Do: "says", Name: "[data-selected=" + currency + "]", Text: strings.Join(words, " · ")})
	}
	b.whole(t, axe)

	b = newBrowser(t, "phone")
	b.enterAt(t, h, "/transactions?amount=10..50", listed)
	b.do(t, step{Do: "press", Name: "Filters 1"})
	b.do(t, step{Do: "see", Text: "Clear filters"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Status"})
	b.fill(t, "Status", "Money out")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "press", Name: "Remove filter Amount 10 – 50"})
	b.do(t, step{Do: "click", Name: "Show .* transactions?"})
	b.addsUp(t, h, "amount > 0")
	b.whole(t, axe)
}

// filterByKeys narrows the list with the keyboard alone: from the search on, Tab leads through the row of
// filters, each opens by Enter, and Escape and a choice lead back to it.
func filterByKeys(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	at := func(want string) {
		t.Helper()
		got := b.do(t, step{Do: "focused"}).Text
		for end := time.Now().Add(time.Minute); got != want && time.Now().Before(end); { // it moves when what was open has closed
			got = b.do(t, step{Do: "focused"}).Text
		}
		if got != want {
			t.Errorf("the focus is on %q, not on %q", got, want)
		}
	}
	opens := func(name, shows string) {
		t.Helper()
		b.do(t, step{Do: "reach", Name: name})
		b.do(t, step{Do: "enter"})
		b.do(t, step{Do: "see", Text: shows})
	}
	b.do(t, step{Do: "key", Name: "/"})
	at("Search transactions /")
	opens("Dates", "Last 90 days")
	b.do(t, step{Do: "key", Name: "Escape"})
	at("Dates")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "reach", Name: "Last 90 days"})
	b.do(t, step{Do: "enter"})
	now := time.Now()
	first, last := now.AddDate(0, 0, -89).Format(time.DateOnly), now.Format(time.DateOnly)
	days := "Dates " + spoken(t, first) + " – " + spoken(t, last)
	b.do(t, step{Do: "says", Name: "main", Text: days})
	b.addsUp(t, h, "date between '"+first+"' and '"+last+"'")
	b.do(t, step{Do: "key", Name: "Escape"})
	at("Dates")
	b.whole(t, axe)

	opens("Amount", "Exactly")
	at("From")
	b.do(t, step{Do: "write", Name: "From", Value: "10"})
	b.do(t, step{Do: "enter"})
	at("Amount")
	b.do(t, step{Do: "says", Name: "main", Text: "Amount ≥ 10"})
	b.do(t, step{Do: "reach", Name: "Remove filter " + days})
	b.do(t, step{Do: "enter"})
	b.addsUp(t, h, "abs(amount) >= 10")

	b.do(t, step{Do: "key", Name: "/"})
	b.do(t, step{Do: "reach", Name: "Category"})
	b.do(t, step{Do: "enter"})
	b.fill(t, "Category", "Groceries")
	b.do(t, step{Do: "enter"})
	const both = `abs(amount) >= 10 and category_id in (select id from category where display_name = 'Groceries')`
	b.addsUp(t, h, both)
	at("Category")
	b.do(t, step{Do: "reach", Name: "Status"})
	b.do(t, step{Do: "enter"})
	b.fill(t, "Status", "Money out")
	b.do(t, step{Do: "enter"})
	b.addsUp(t, h, both+" and amount > 0")
	at("Status")
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "Alt+ArrowLeft"})
	b.addsUp(t, h, both)
	b.do(t, step{Do: "key", Name: "/"})
	b.do(t, step{Do: "reach", Name: "Clear filters"})
	b.do(t, step{Do: "enter"})
	b.addsUp(t, h, "true")
}

// sums returns what the transactions of a condition add up to, as the app says it, by currency.
func (h *house) sums(t *testing.T, where string) map[string][]string {
	t.Helper()
	type row struct {
		Currency string `db:"currency"`
		In       string `db:"money_in"`
		Out      string `db:"money_out"`
		Net      string `db:"net"`
		Falls    bool   `db:"falls"`
	}
	const form = "'FM999,999,990.00'"
	rows, err := pg.All[row](t.Context(), h.DB, `select currency, sum(amount) > 0 as falls, to_char(abs(sum(amount)), `+form+`) as net,
		to_char(sum(greatest(-amount, 0)), `+form+`) as money_in, to_char(sum(greatest(amount, 0)), `+form+`) as money_out
		from transaction where deleted_at is null and (`+where+`) group by currency`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, r := range rows {
		sign, ok := map[string]string{"EUR": "€", "USD": "US$", "GBP": "£"}[r.Currency]
		if !ok {
			continue
		}
		var words []string
		if r.Out != "0.00" {
			words = append(words, "Money out "+sign+r.Out)
		}
		if r.In != "0.00" {
			words = append(words, "Money in +"+sign+r.In)
		}
		if len(words) == 2 {
			net := map[bool]string{true: "−", false: "+"}[r.Falls]
			words = append(words, "Net "+net+sign+r.Net)
		}
		out[r.Currency] = words
	}
	return out
}

// counts is whether totals count a transaction, and with them the sums above the list.
const counts = `(not excluded and excluded_reason is null and not transfer
	and not exists (select from account where id = account_id and hidden)
	and not exists (select from category c left join category p on p.id = c.parent_id
		where c.id = category_id and coalesce(p.kind, c.kind) = 'transfer'))`

// addsUp waits until the screen shows count and sums of a condition, as the database has them: how
// many match, how many of them no total counts, and what the others come to.
func (b *browser) addsUp(t *testing.T, h *house, where string) {
	t.Helper()
	n, err := pg.Value[string](t.Context(), h.DB, `select to_char(count(*), 'FM999,999,990') || ' transaction' ||
		case when count(*) = 1 then '' else 's' end from transaction where deleted_at is null and (`+where+`)`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pg.Value[int](t.Context(), h.DB, `select count(*) from transaction where deleted_at is null and not (`+
		counts+`) and (`+where+`)`)
	if err != nil {
		t.Fatal(err)
	}
	sums := h.sums(t, "("+where+") and "+counts)
	switch {
	case out > 0 && len(sums) > 0:
		n += fmt.Sprintf(" · %d not counted in totals", out)
	case out > 0: // then the sums are theirs
		n, sums = n+" · not counted in totals", h.sums(t, where)
	}
	if len(sums) == 0 {
		t.Fatalf("nothing is %s, so the test proves nothing", where)
	}
	b.do(t, step{Do: "says", Name: "section[aria-label='Matching transactions']", Text: n})
	for currency, words := range sums {
		b.do(t, step{Do: "says", Name: "[data-sum=" + currency + "]", Text: strings.Join(words, " ")})
	}
}

package browser_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/pg"
)

// TestTransactionsStory finds payments, reads one, and changes one and many by keyboard.
func TestTransactionsStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	t.Run("many at a desk", func(t *testing.T) { manyAtADesk(t, h, axe) })   //nolint:paralleltest // as above
	t.Run("many on a phone", func(t *testing.T) { manyOnAPhone(t, h, axe) }) //nolint:paralleltest // as above
	t.Run("views", func(t *testing.T) { savedViews(t, h, axe) })             //nolint:paralleltest // as above
	t.Run("one", func(t *testing.T) { onePayment(t, h, axe) })               //nolint:paralleltest // as above
	t.Run("purpose", func(t *testing.T) { purposeOfAPayment(t, h, axe) })    //nolint:paralleltest // as above
	t.Run("a newcomer", func(t *testing.T) { newcomer(t, h, axe) })          //nolint:paralleltest // as above
	t.Run("a balance", func(t *testing.T) { balanceByHand(t, h, axe) })      //nolint:paralleltest // as above
	t.Run("targets", func(t *testing.T) { targetsOfAMonth(t, h, axe) })      //nolint:paralleltest // as above
	t.Run("an account", func(t *testing.T) { accountByHand(t, h, axe) })     //nolint:paralleltest // as above
	t.Run("recurring", func(t *testing.T) { recurringPayments(t, h, axe) })  //nolint:paralleltest // as above
	t.Run("upcoming", func(t *testing.T) { upcomingPayments(t, h, axe) })    //nolint:paralleltest // as above
	t.Run("findings", func(t *testing.T) { lookedAt(t, h, axe) })            //nolint:paralleltest // as above
	t.Run("by hand", func(t *testing.T) { paymentsByHand(t, h, axe) })       //nolint:paralleltest // as above
	t.Run("a split", func(t *testing.T) { splitAPayment(t, h, axe) })        //nolint:paralleltest // as above
	t.Run("a merge", func(t *testing.T) { mergedAccounts(t, h, axe) })       //nolint:paralleltest // as above
}

// purposeOfAPayment finds a payment by a reference in its purpose, and reads what it was for.
func purposeOfAPayment(t *testing.T, h *house, axe string) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), h.DB, `update descriptor set detail = 'Rechnung vom Oktober REF ' || 10000 + id,
		folded = folded || e'\nrechnung vom oktober ref ' || 10000 + id`); err != nil {
		t.Fatal(err)
	}
	detail, err := pg.Value[string](t.Context(), h.DB, `select min(d.detail) from transaction t
		join descriptor d on d.id = t.descriptor_id where t.deleted_at is null group by d.id having count(*) = 1
		order by max(t.date) desc, d.id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []string{"desktop", "phone"} {
		b := newBrowser(t, on)
		b.enterAt(t, h, "/transactions?search="+url.QueryEscape(detail), "1 payment")
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
		found := h.list(t, "search="+url.QueryEscape(detail))
		if len(found) != 1 {
			t.Fatalf("%d payments have the purpose %q", len(found), detail)
		}
		b.screen(t, "/transactions?open="+found[0].ID, "What the bank says")
		b.do(t, step{Do: "see", Text: "Purpose"})
		b.do(t, step{Do: "see", Text: detail})
		b.whole(t, axe)
	}
}

// newcomer types a whole name, reads the reason right after, reloads, and leaves a payee for later.
func newcomer(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/review", "to review")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "s"})
	b.do(t, step{Do: "see", Text: "Left for later: "})
	b.do(t, step{Do: "see", Text: "1 left for later, "})
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(strings.ToLower(v.Text), "left for later") {
		t.Error("what was left for later does not come back with Z")
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Nothing of yours to undo here"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "File under", "Rent")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: " under Rent"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(v.Text, "under Rent") || strings.Contains(v.Text, "Done of the inbox") {
		t.Error("what was undone is still counted, or offered to undo")
	}
	third := h.newest(t, 3)[2]
	b.screen(t, fmt.Sprintf("/transactions?open=%s", third), "What the bank says")
	b.do(t, step{Do: "idle"})
	if now := b.do(t, step{Do: "current"}).Text; now == "" {
		t.Error("not one row is marked after a reload")
	}
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "File under", "Rent")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Why it is “Rent”"})
	b.do(t, step{Do: "see", Text: "Rules and agents leave it alone"})
	b.whole(t, axe)
}

// manyAtADesk chooses rows by keys, then all that match; each change is shown before it is done, and
// can be taken back whole.
func manyAtADesk(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", "payments")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "j"})
	b.file(t, "Pharmacy")
	for _, key := range []string{"x", "j", "j", "Shift+X"} {
		b.do(t, step{Do: "key", Name: key})
	}
	b.do(t, step{Do: "see", Text: "3 chosen"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "File under", "Clothing")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "1 payment of them was filed by a person"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Leave those as they are"})
	b.do(t, step{Do: "see", Text: "File 2 payments under Clothing"})
	b.do(t, step{Do: "click", Name: "Cancel"})
	b.do(t, step{Do: "key", Name: "t"})
	b.fill(t, "Tag with", "Trip to Rome")
	b.do(t, step{Do: "see", Text: "New: Trip to Rome"})
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Tag 3 payments #trip-to-rome?"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Tag 3 payments #trip-to-rome"})
	b.do(t, step{Do: "see", Text: "Tagged 3 #trip-to-rome"})
	if n := len(h.list(t, "limit=10&tags=trip-to-rome")); n != 3 {
		t.Errorf("%d payments have the tag, not 3", n)
	}
	b.screen(t, "/transactions?tag=trip-to-rome", "Show all")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "Control+a"})
	b.do(t, step{Do: "see", Text: "3 chosen"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "File under", "Lodging")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "File 3 payments under"})
	b.whole(t, axe)
	// Meanwhile a program tags a fourth: what was seen no longer holds, so nothing is written.
	body, err := json.Marshal(map[string]any{"operations": []map[string]any{{
		"transaction_id": h.newest(t, 20)[19], "tags_to_add": []string{"trip-to-rome"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json", string(body))
	b.do(t, step{Do: "click", Name: "File 3 payments under .*"})
	b.do(t, step{Do: "see", Text: "Meanwhile another number of payments matches"})
	b.do(t, step{Do: "click", Name: "File 4 payments under .*"})
	b.do(t, step{Do: "see", Text: "Filed 4 under"})
	before := len(h.list(t, "limit=10&tags=trip-to-rome&category=travel"))
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if after := len(h.list(t, "limit=10&tags=trip-to-rome&category=travel")); before != 4 || after >= 4 {
		t.Errorf("%d were filed, and %d are after the undo", before, after)
	}
}

func manyOnAPhone(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/transactions", "payments")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "click", Name: "Choose"})
	b.do(t, step{Do: "tick", Name: "Choose"})
	b.do(t, step{Do: "see", Text: "1 chosen"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Choose all .*"})
	b.do(t, step{Do: "click", Name: "Tag ?T?"})
	b.fill(t, "Tag with", "shared")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "#shared?"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Cancel"})
	b.screen(t, "/transactions?direction=out", "Money out")
	b.do(t, step{Do: "click", Name: "Save view ?V?"})
	b.do(t, step{Do: "see", Text: "Name of the view"})
	b.whole(t, axe)
}

// savedViews keeps filters under a name, changes them, finds them by the palette, deletes them and takes
// that back. A viewer sees what is shared, and nothing that changes it.
func savedViews(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", "payments")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.do(t, step{Do: "see", Text: "A view keeps filters"})
	b.screen(t, "/transactions?direction=in", "Save view")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.fill(t, "Name of the view", "What comes in")
	b.do(t, step{Do: "tick", Name: "Shared"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save the view"})
	b.do(t, step{Do: "see", Text: "Saved the view What comes in"})
	b.do(t, step{Do: "press", Name: "Without What comes in"})
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "click", Name: "Views"})
	b.do(t, step{Do: "see", Text: "Shared"})
	b.whole(t, axe)
	b.fill(t, "Views", "comes")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Edit view"})
	b.do(t, step{Do: "click", Name: "Money in"}) // takes the filter away
	b.do(t, step{Do: "see", Text: "What comes in, changed"})
	b.screen(t, "/accounts", "Owned in all")
	b.do(t, step{Do: "key", Name: "Control+k"})
	b.fill(t, "Search or go to", "comes in")
	b.do(t, step{Do: "see", Text: "Shared view"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "ArrowDown"}) // past what finds payments with these words
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Edit view"})
	if v := b.look(t); !strings.Contains(v.URL, "direction=in") {
		t.Errorf("the view leads to %s", v.URL)
	}
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.do(t, step{Do: "see", Text: "Change this view"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Delete"})
	b.do(t, step{Do: "see", Text: "Deleted the view What comes in"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Edit view"})

	post[json.RawMessage](t, h, "/api/v1/views", "application/json",
		`{"name":"Large ones","shared":true,"filters":{"min_amount":500,"direction":"out"}}`)
	h.member(t, "Vilde", "viewer")
	b = newBrowser(t, "phone")
	b.enterAs(t, h, "vilde@example.com", "/transactions", "because your role is viewer")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "click", Name: "Views"})
	b.fill(t, "Views", "Large")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "This view also filters by min amount"})
	b.whole(t, axe)
	if v := b.look(t); strings.Contains(v.Text, "Edit view") || strings.Contains(v.Text, "Save view") {
		t.Error("a viewer is offered to change a view")
	}
}

// onePayment is read and commented on, loses a tag, is removed and comes back.
func onePayment(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop dark")
	first := h.newest(t, 1)[0]
	b.enterAt(t, h, "/transactions", "payments")
	b.screen(t, fmt.Sprintf("/transactions?open=%s", first), "What the bank says")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "File under", "Pharmac")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Rules and agents leave it alone"})
	b.do(t, step{Do: "key", Name: "p"})
	b.fill(t, "Name the payee", "The corner shop")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Its payee is The corner shop"})
	b.do(t, step{Do: "key", Name: "m"})
	b.fill(t, "Write a comment", "For the cold")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Comment added"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Let go"})
	b.do(t, step{Do: "see", Text: "Why it has no category"})
	b.do(t, step{Do: "click", Name: "Remove this payment"})
	b.do(t, step{Do: "see", Text: "Bring it back"})
	b.do(t, step{Do: "click", Name: "Bring it back"})
	b.do(t, step{Do: "see", Text: "It is back"})
	b.do(t, step{Do: "click", Name: "All that was done to it, with undo"})
	b.do(t, step{Do: "see", Text: "One payment"})
	b.whole(t, axe)
}

package browser_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
)

// TestTransactionsStory finds payments, reads one, and changes one and many by keyboard.
func TestTransactionsStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	t.Run("find", func(t *testing.T) { findAnything(t, h, axe) })            //nolint:paralleltest // as above
	t.Run("filter by keys", func(t *testing.T) { filterByKeys(t, h, axe) })  //nolint:paralleltest // as above
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
		b.enterAt(t, h, "/transactions?search="+url.QueryEscape(detail), "1 transaction")
		b.do(t, step{Do: "idle"})
		b.whole(t, axe)
		found := h.list(t, "search="+url.QueryEscape(detail))
		if len(found) != 1 {
			t.Fatalf("%d payments have the purpose %q", len(found), detail)
		}
		b.screen(t, "/transactions?open="+found[0].ID, "Bank details")
		b.do(t, step{Do: "see", Text: "Memo"})
		b.do(t, step{Do: "see", Text: detail})
		b.whole(t, axe)
	}
}

// newcomer skips a payee, then types the whole name of a category for it, and undoes both. After
// that it opens a transaction by its address, categorizes it and reads the reason right after.
func newcomer(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/review", "to review")
	b.do(t, step{Do: "idle"})
	payee, _, _ := strings.Cut(b.current(t), "\n")
	b.do(t, step{Do: "key", Name: "s"})
	b.do(t, step{Do: "see", Text: payee + " transaction"}) // Skipped 3 Bakery transactions
	b.do(t, step{Do: "see", Text: "1 payee skipped, "})
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(strings.ToLower(v.Text), "skipped") {
		t.Error("a skipped payee does not come back with Z")
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Nothing to undo"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", "Rent")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: " as Rent"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); strings.Contains(v.Text, "as Rent") || strings.Contains(v.Text, " reviewed") {
		t.Error("what was undone is still counted, or offered to undo")
	}
	third := h.newest(t, 3)[2]
	b.screen(t, fmt.Sprintf("/transactions?open=%s", third), "Bank details")
	b.do(t, step{Do: "idle"})
	if now := b.do(t, step{Do: "current"}).Text; now == "" {
		t.Error("not one row is marked after a reload")
	}
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", "Rent")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Why “Rent”?"})
	b.do(t, step{Do: "see", Text: "rules and agents won’t change it"})
	b.whole(t, axe)
}

// manyAtADesk chooses rows by keys, then all that match; each change is shown before it is done,
// and can be undone as a whole.
func manyAtADesk(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "j"})
	b.file(t, "Pharmacy")
	for _, key := range []string{"x", "j", "j", "Shift+X"} {
		b.do(t, step{Do: "key", Name: key})
	}
	b.do(t, step{Do: "see", Text: "3 selected"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", "Clothing")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "1 was categorized by a person"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Skip those"})
	b.do(t, step{Do: "see", Text: "Categorize 2 transactions as Clothing"})
	b.do(t, step{Do: "click", Name: "Cancel"})
	b.do(t, step{Do: "key", Name: "t"})
	b.fill(t, "Add tag", "Trip to Rome")
	b.do(t, step{Do: "see", Text: "Create “Trip to Rome”"})
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Tag 3 transactions #trip-to-rome?"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Tag 3 transactions #trip-to-rome"})
	b.do(t, step{Do: "see", Text: "Tagged 3 with #trip-to-rome"})
	if n := len(h.list(t, "limit=10&tags=trip-to-rome")); n != 3 {
		t.Errorf("%d payments have the tag, not 3", n)
	}
	b.screen(t, "/transactions?tag=trip-to-rome", "Clear filters")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "Control+a"})
	b.do(t, step{Do: "see", Text: "3 selected"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", "Lodging")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Categorize 3 transactions as"})
	b.whole(t, axe)
	// Meanwhile a program tags a fourth transaction: the preview no longer holds, so nothing is
	// written.
	body, err := json.Marshal(map[string]any{"operations": []map[string]any{{
		"transaction_id": h.newest(t, 20)[19], "tags_to_add": []string{"trip-to-rome"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	post[json.RawMessage](t, h, "/api/v1/transactions/update", "application/json", string(body))
	b.do(t, step{Do: "click", Name: "Categorize 3 transactions as .*"})
	b.do(t, step{Do: "see", Text: "The matching transactions changed"})
	b.do(t, step{Do: "click", Name: "Categorize 4 transactions as .*"})
	b.do(t, step{Do: "see", Text: "Categorized 4 as"})
	before := len(h.list(t, "limit=10&tags=trip-to-rome&category=travel"))
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	if after := len(h.list(t, "limit=10&tags=trip-to-rome&category=travel")); before != 4 || after >= 4 {
		t.Errorf("%d had the category, and %d have it after the undo", before, after)
	}
}

func manyOnAPhone(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "click", Name: "Select"})
	b.do(t, step{Do: "tick", Name: "Select"})
	b.do(t, step{Do: "see", Text: "1 selected"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Select all .*"})
	b.do(t, step{Do: "click", Name: "Tag ?T?"})
	b.fill(t, "Add tag", "shared")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "#shared?"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Cancel"})
	b.screen(t, "/transactions?direction=out", "Money out")
	b.do(t, step{Do: "click", Name: "Save view ?V?"})
	b.do(t, step{Do: "see", Text: "View name"})
	b.whole(t, axe)
}

// savedViews saves filters as a view, changes it, finds it in the palette, deletes it and undoes
// that. A viewer sees shared views, and nothing that changes them.
func savedViews(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/transactions", listed)
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.do(t, step{Do: "see", Text: "Add a filter before"})
	b.screen(t, "/transactions?direction=in", "Save view")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.fill(t, "View name", "What comes in")
	b.do(t, step{Do: "tick", Name: "Shared"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save view"})
	b.do(t, step{Do: "see", Text: "View “What comes in” saved"})
	b.do(t, step{Do: "press", Name: "Clear What comes in"})
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "click", Name: "Views"})
	b.do(t, step{Do: "see", Text: "Shared"})
	b.whole(t, axe)
	b.fill(t, "Views", "comes")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Edit view"})
	b.do(t, step{Do: "press", Name: "Remove filter Status Money in"})
	b.do(t, step{Do: "see", Text: "What comes in (edited)"})
	b.screen(t, "/accounts", "Assets")
	b.do(t, step{Do: "key", Name: "Control+k"})
	b.fill(t, "Search", "comes in")
	b.do(t, step{Do: "see", Text: "Shared view"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "ArrowDown"}) // past the entry that searches transactions for these words
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Edit view"})
	if v := b.look(t); !strings.Contains(v.URL, "direction=in") {
		t.Errorf("the view leads to %s", v.URL)
	}
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "v"})
	b.do(t, step{Do: "see", Text: "View name"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Delete"})
	b.do(t, step{Do: "see", Text: "View “What comes in” deleted"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Edit view"})

	post[json.RawMessage](t, h, "/api/v1/views", "application/json",
		`{"name":"Large ones","shared":true,"filters":{"min_amount":500,"direction":"out"}}`)
	h.member(t, "Vilde", "viewer")
	b = newBrowser(t, "phone")
	b.enterAs(t, h, "vilde@example.com", "/transactions", "You have view-only access")
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

// onePayment gets a category, a payee and a comment, is unlocked, deleted and restored.
func onePayment(t *testing.T, h *house, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop dark")
	first := h.newest(t, 1)[0]
	b.enterAt(t, h, "/transactions", listed)
	b.screen(t, fmt.Sprintf("/transactions?open=%s", first), "Bank details")
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "key", Name: "c"})
	b.fill(t, "Choose category", "Pharmac")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "rules and agents won’t change it"})
	b.do(t, step{Do: "key", Name: "p"})
	b.fill(t, "Choose payee", "The corner shop")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Payee set to The corner shop"})
	b.do(t, step{Do: "key", Name: "m"})
	b.fill(t, "Add a comment", "For the cold")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Comment added"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Unlock"})
	b.do(t, step{Do: "see", Text: "Why is it uncategorized?"})
	b.do(t, step{Do: "click", Name: "Delete transaction"})
	b.do(t, step{Do: "see", Text: "Restore"})
	b.do(t, step{Do: "click", Name: "Restore"})
	b.do(t, step{Do: "see", Text: "Transaction restored"})
	b.do(t, step{Do: "click", Name: "View full history"})
	b.do(t, step{Do: "see", Text: "Clear filters"})
	b.whole(t, axe)
}

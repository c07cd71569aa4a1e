package browser_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"coffer/internal/platform/pg"
)

// linkStory sees both sides of the pairs of a proposed link, confirms it, and undoes that; then
// it does the same with all that are likely.
func linkStory(t *testing.T, h *house, axe, size string) {
	t.Helper()
	h.proposeLinks(t)
	h.settle(t) // of the links that were confirmed before
	waiting := h.count(t, `select count(*) from account_link where confidence = 'auto' and deleted_at is null`)
	b := newBrowser(t, size)
	b.enterAt(t, h, "/review/links", fmt.Sprintf("%d to review.", waiting))
	b.do(t, step{Do: "see", Text: "Hide matches"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "These are transfers"})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d to review.", waiting-1)})
	if n := h.count(t, `select count(*) from transaction where transfer`); n == 0 {
		t.Errorf("a confirmed link changes no total")
	}
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d to review.", waiting)})
	likely := h.count(t, `select count(*) from account_link where confidence = 'auto' and deleted_at is null
		and kind = 'transfer' and matched * 100 >= 80 * candidates`)
	if likely == 0 || likely == waiting {
		t.Fatalf("%d of %d links are likely", likely, waiting)
	}
	b.screen(t, "/review/links", fmt.Sprintf("%d to review.", waiting)) // without what was said before
	b.do(t, step{Do: "click", Name: fmt.Sprintf("Confirm %d selected", likely)})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d to review.", waiting-likely)})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d to review.", waiting)})
}

// proposeLinks links two accounts between which money moves, for a person to decide; the sweep that
// follows proposes others.
func (h *house) proposeLinks(t *testing.T) {
	t.Helper()
	if h.count(t, `select count(*) from account_link`) > 0 {
		return
	}
	type pair struct{ A, B string }
	most, err := pg.One[pair](t.Context(), h.DB, `select a.account_id::text as a, b.account_id::text as b
		from transaction a join transaction b on a.amount = -b.amount and a.currency = b.currency
			and abs(a.date - b.date) <= 3 and a.account_id <> b.account_id
		where a.amount > 50 group by 1, 2 order by count(*) desc, 1, 2 limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	post[json.RawMessage](t, h, "/api/v1/account-links", "application/json", fmt.Sprintf(
		`{"primary_account_id": %q, "mirror_account_id": %q, "kind": "transfer", "confidence": "auto"}`, most.A, most.B))
	h.settle(t)
}

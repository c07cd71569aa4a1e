package browser_test

import (
	"testing"

	"coffer/internal/books/finding"
)

// lookedAt dismisses an alert and undoes it, dismisses it again, and restores it, at a desk and on a
// phone.
func lookedAt(t *testing.T, h *house, axe string) {
	t.Helper()
	said := func(want int) {
		t.Helper()
		if n := h.count(t, `select count(*) from finding where state = 'dismissed' and deleted_at is null`); n != want {
			t.Errorf("%d are dismissed, not %d", n, want)
		}
	}
	list, err := h.Findings.Findings(t.Context(), h.DB, finding.ListFindings{State: "open", Limit: 500})
	if err != nil || len(list.Findings) == 0 {
		t.Fatal("no findings: ", err)
	}
	seen := map[string]int{}
	for _, f := range list.Findings {
		if f.PayeeName != nil {
			seen[f.PayeeName.Plain()]++
		}
	}
	var name string
	for _, f := range list.Findings { // a finding that occurs once, so its button does too
		if f.PayeeName != nil && seen[f.PayeeName.Plain()] == 1 {
			name = f.PayeeName.Plain()
			break
		}
	}
	for _, size := range []string{"desktop", "phone"} {
		b := newBrowser(t, size)
		b.enterAt(t, h, "/review/alerts", name)
		b.whole(t, axe)
		b.do(t, step{Do: "press", Name: "Dismiss " + name})
		b.do(t, step{Do: "see", Text: "1 dismissed"})
		said(1)
		b.do(t, step{Do: "click", Name: "Undo"})
		b.do(t, step{Do: "see", Text: "Undone"})
		said(0)
		b.do(t, step{Do: "press", Name: "Dismiss " + name})
		b.do(t, step{Do: "click", Name: "1 dismissed"})
		b.do(t, step{Do: "press", Name: "Restore " + name})
		b.do(t, step{Do: "see", Text: "Restored"})
		said(0)
	}
}

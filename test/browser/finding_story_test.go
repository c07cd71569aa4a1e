package browser_test

import "testing"

// findings dismisses a refund, undoes it, dismisses it again and finds it among the dismissed ones.
func findings(t *testing.T, h *house, axe string) {
	t.Helper()
	said := func(want int) {
		t.Helper()
		if n := h.count(t, `select count(*) from finding where state = 'dismissed' and deleted_at is null`); n != want {
			t.Errorf("%d findings are dismissed, not %d", n, want)
		}
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/findings", "Money back")
	b.do(t, step{Do: "press", Name: "Dismiss"})
	b.do(t, step{Do: "see", Text: "Dismissed, and not shown again"})
	said(1)
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undone"})
	said(0)
	b.do(t, step{Do: "press", Name: "Dismiss"})
	b.do(t, step{Do: "see", Text: "1 dismissed"})
	said(1)
	b.whole(t, axe)
}

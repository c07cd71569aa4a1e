package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// somebodyTold adds an address, keeps its secret, tests it, and sees what arrived and what did not.
func somebodyTold(t *testing.T, h *house, axe, size string) {
	t.Helper()
	var broken atomic.Bool
	var got atomic.Int64
	kitchen := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // what it says is another test's
		if broken.Load() {
			w.WriteHeader(http.StatusGone)
			return
		}
		got.Add(1)
	}))
	t.Cleanup(kitchen.Close)
	counts := func(want int, query string) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); h.count(t, query) != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d, not %d", query, h.count(t, query), want)
			}
		}
	}
	b := newBrowser(t, size)
	b.enterAt(t, h, "/settings/notifications", "No notifications set up")
	b.do(t, step{Do: "click", Name: "Add webhook"})
	b.do(t, step{Do: "see", Text: "retries for three days"})
	b.whole(t, axe)
	b.fill(t, "URL", "http://169.254.169.254/hook")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "link-local"})
	b.do(t, step{Do: "look", Look: true}) // the refusal is an error in the log, as it must be
	b.fill(t, "URL", kitchen.URL+"/secret-topic")
	b.fill(t, "Name", "Kitchen")
	b.do(t, step{Do: "enter"})
	b.do(t, step{Do: "see", Text: "Signing secret"})
	b.whole(t, axe)
	if v := b.look(t); !strings.Contains(v.Text, "whsec_") {
		t.Error("the secret is not shown")
	}
	b.do(t, step{Do: "click", Name: "Done"})
	b.do(t, step{Do: "click", Name: "Notification rules"})
	b.fill(t, "Large transactions", "500")
	b.do(t, step{Do: "choose", Name: "Daily review reminder at", Value: "18:00"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "/^Saved$/"})
	if n := h.count(t, `select count(*) from setting where review_digest_hour = 18
		and large_charge -> 0 ->> 'amount' = '500.00'`); n != 1 {
		t.Error("the notification rules were not stored")
	}
	b.do(t, step{Do: "press", Name: "Test Kitchen"})
	b.do(t, step{Do: "see", Text: "Test message delivered"})
	if got.Load() != 1 {
		t.Errorf("%d messages arrived", got.Load())
	}
	h.as(t, h.agent(t, "Bell"), "/api/v1/reports", `{"title":"November","body":"It went well."}`)
	counts(1, `select count(*) from delivery d join notification n on n.id = d.notification_id
		where n.type = 'report.submitted' and d.state = 'delivered'`)
	broken.Store(true)
	h.as(t, h.agent(t, "Bell again"), "/api/v1/reports", `{"title":"December","body":"It went well."}`)
	counts(1, `select count(*) from delivery where state = 'failed'`)
	b.screen(t, "/settings/notifications", "the receiver unsubscribed")
	b.do(t, step{Do: "click", Name: "Recent messages"})
	b.do(t, step{Do: "see", Text: "Failed"})
	b.whole(t, axe)
	if v := b.look(t); strings.Contains(v.Text, "secret-topic") || strings.Contains(v.Text, "whsec_") {
		t.Error("the list shows what may be secret")
	}
	broken.Store(false)
	b.do(t, step{Do: "press", Name: "Edit Kitchen"})
	b.do(t, step{Do: "see", Text: "Enabled"})
	b.whole(t, axe)
	b.do(t, step{Do: "tick", Name: "Enabled"})
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "All events"})
	b.do(t, step{Do: "press", Name: "Resend: New report."})
	counts(0, `select count(*) from delivery d join notification n on n.id = d.notification_id
		where n.type = 'report.submitted' and d.state <> 'delivered'`)
	b.do(t, step{Do: "press", Name: "Edit Kitchen"})
	b.do(t, step{Do: "click", Name: "Remove"})
	b.do(t, step{Do: "click", Name: "Remove webhook"})
	b.do(t, step{Do: "see", Text: "No notifications set up"})
	b.whole(t, axe)
}

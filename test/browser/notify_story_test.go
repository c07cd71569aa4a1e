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
		for end := time.Now().Add(20 * time.Second); h.count(t, query) != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d, not %d", query, h.count(t, query), want)
			}
		}
	}
	b := newBrowser(t, size)
	b.enterAt(t, h, "/settings", "Nobody is told yet")
	b.do(t, step{Do: "click", Name: "Add an address"})
	b.do(t, step{Do: "see", Text: "tries again for three days"})
	b.whole(t, axe)
	b.fill(t, "Address", "http://169.254.169.254/hook")
	b.do(t, step{Do: "click", Name: "Add the address"})
	b.do(t, step{Do: "see", Text: "link-local"})
	b.do(t, step{Do: "look", Look: true}) // the refusal is an error in the log, as it must be
	b.fill(t, "Address", kitchen.URL+"/secret-topic")
	b.fill(t, "Name", "Kitchen")
	b.do(t, step{Do: "click", Name: "Add the address"})
	b.do(t, step{Do: "see", Text: "The signing secret"})
	b.whole(t, axe)
	if v := b.look(t); !strings.Contains(v.Text, "whsec_") {
		t.Error("the secret is not shown")
	}
	b.do(t, step{Do: "click", Name: "I have copied it"})
	b.do(t, step{Do: "click", Name: "What is worth telling"})
	b.fill(t, "Payments from", "500")
	b.do(t, step{Do: "choose", Name: "What waits for review, each day from", Value: "18:00"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Saved"})
	if n := h.count(t, `select count(*) from setting where review_digest_hour = 18
		and large_charge -> 0 ->> 'amount' = '500.00'`); n != 1 {
		t.Error("what is worth telling was not stored")
	}
	b.do(t, step{Do: "press", Name: "Test Kitchen"})
	b.do(t, step{Do: "see", Text: "The test message arrived"})
	if got.Load() != 1 {
		t.Errorf("%d messages arrived", got.Load())
	}
	h.as(t, h.agent(t, "Bell"), "/api/v1/reports", `{"title":"November","body":"It went well."}`)
	counts(1, `select count(*) from delivery d join notification n on n.id = d.notification_id
		where n.type = 'report.submitted' and d.state = 'delivered'`)
	broken.Store(true)
	h.as(t, h.agent(t, "Bell again"), "/api/v1/reports", `{"title":"December","body":"It went well."}`)
	counts(1, `select count(*) from delivery where state = 'failed'`)
	b.screen(t, "/settings", "it wants no more messages")
	b.do(t, step{Do: "click", Name: "Last messages"})
	b.do(t, step{Do: "see", Text: "Not delivered"})
	b.whole(t, axe)
	if v := b.look(t); strings.Contains(v.Text, "secret-topic") || strings.Contains(v.Text, "whsec_") {
		t.Error("the list shows what may be secret")
	}
	broken.Store(false)
	b.do(t, step{Do: "press", Name: "Change Kitchen"})
	b.do(t, step{Do: "see", Text: "Turned on"})
	b.whole(t, axe)
	b.do(t, step{Do: "tick", Name: "Turned on"})
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Everything"})
	b.do(t, step{Do: "press", Name: "Send again: A report was submitted."})
	counts(0, `select count(*) from delivery d join notification n on n.id = d.notification_id
		where n.type = 'report.submitted' and d.state <> 'delivered'`)
	b.do(t, step{Do: "press", Name: "Change Kitchen"})
	b.do(t, step{Do: "click", Name: "Remove"})
	b.do(t, step{Do: "click", Name: "Remove the address"})
	b.do(t, step{Do: "see", Text: "Nobody is told yet"})
	b.whole(t, axe)
}

package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/sim/banks"
)

// TestReauth repairs a broken bank login through both providers, on the page and with the widget
// alone.
func TestReauth(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, provider := range []string{"plaid", "teller"} {
		s := d.begin(t, "/connections/link-session", fmt.Sprintf(`{"provider":%q}`, provider))
		var book *banks.Book
		var e banks.Enrolment
		if provider == "plaid" {
			d.share(t, s)
			d.page(t, s)
			book = d.plaid.Book(d.providerID(t, d.outcome(t, s.Token).ConnectionID))
		} else {
			e = d.teller.Enroll()
			d.post(t, s, given(e))
			book = e.Book
		}
		c := d.outcome(t, s.Token).ConnectionID
		d.sync(t, c)
		status := func() string {
			t.Helper()
			r := d.send(t, exchange{method: http.MethodGet, path: "/api/v1/connections/" + c, key: d.key})
			var v struct {
				Status string `json:"status"`
			}
			if err := json.Unmarshal([]byte(r.body), &v); err != nil {
				t.Fatal(err)
			}
			return v.Status
		}
		broken := func() {
			t.Helper()
			book.Break(map[string]string{
				"plaid":  "ITEM_LOGIN_REQUIRED",
				"teller": "enrollment.disconnected.credentials_invalid",
			}[provider])
			d.sync(t, c)
			if got := status(); got != "pending_reauth" {
				t.Fatalf("%s: a broken login leaves the connection %s", provider, got)
			}
		}
		broken()
		s = d.begin(t, "/connections/"+c+"/reauth-session", ``)
		if r := d.page(t, s); !strings.Contains(r.body, "needs you to sign in again") {
			t.Errorf("%s: %s", provider, r.body)
		}
		if provider == "plaid" {
			if r := d.send(t, exchange{
				method: http.MethodPost, path: "/api/v1/connections/" + c + "/reauth-complete",
				key: d.key,
			}); r.code() != "CONNECTION_NOT_SYNCABLE" {
				t.Errorf("the login is still broken: %d %s", r.status, r.body)
			}
			d.share(t, s) // this repairs the login
			if r := d.page(t, s); !strings.Contains(r.body, "Bank reconnected") {
				t.Errorf("%s", r.body)
			}
		} else {
			other := d.begin(t, "/connections/"+c+"/reauth-session", ``)
			if r := d.post(t, other, given(d.teller.Enroll())); !strings.Contains(r.body, "a different bank login") {
				t.Errorf("another enrolment repairs this one: %s", r.body)
			}
			book.Repair()
			if r := d.post(t, s, given(e)); !strings.Contains(r.body, "Bank reconnected") {
				t.Errorf("%s", r.body)
			}
		}
		if got := status(); got != "active" {
			t.Errorf("%s: a repaired connection is %s", provider, got)
		}
		if n := d.count(t, `select count(*) from job where kind = 'feed.sync' and unique_key = $1`, c); n < 3 {
			t.Errorf("%s: no sync was taken on, %d jobs", provider, n)
		}
		d.sync(t, c)
		broken()
		book.Repair()
		if r := d.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/connections/" + c + "/reauth-complete",
			key: d.key,
		}); r.status != http.StatusOK || !strings.Contains(r.body, `"status":"active"`) {
			t.Errorf("%s: %d %s", provider, r.status, r.body)
		}
		d.sync(t, c)
		if r := d.send(t, exchange{
			method: http.MethodDelete, path: "/api/v1/connections/" + c,
			key: d.key,
		}); r.status != http.StatusNoContent {
			t.Fatalf("%d %s", r.status, r.body)
		}
		for _, path := range []string{"/reauth-session", "/reauth-complete"} {
			if r := d.send(t, exchange{
				method: http.MethodPost, path: "/api/v1/connections/" + c + path,
				key: d.key,
			}); r.code() != "CONNECTION_NOT_SYNCABLE" {
				t.Errorf("%s of a connection that is gone: %d %s", path, r.status, r.body)
			}
		}
	}
}

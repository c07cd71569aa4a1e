package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A branch is a household, and a simulator of banks that redirect browsers back to coffer. It
// records the log and the responses.
type branch struct {
	desk
	sim *banks.EnableBanking
	log *logBook
	all strings.Builder // the bodies of the responses
}

func newBranch(t *testing.T) *branch {
	t.Helper()
	sim, err := banks.NewEnableBanking(banks.EnableBankingOptions{
		Household: household.Options{Seed: 3, Transactions: 200, Years: 1, End: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, []byte(sim.Key()), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &branch{sim: sim, log: &logBook{}}
	d.world = newLoggedWorld(t, pgtest.URL(t), app.Config{
		EncryptionKey: seal.NewSecret(testRing), PublicURL: "http://127.0.0.1:1",
		Providers: app.Providers{"enablebanking": {
			"application": sim.Application(), "key": key, "url": sim.URL(),
		}},
	}, httptest.NewUnstartedServer(nil), slog.NewJSONHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return d
}

// ask sends a request and records the response.
func (d *branch) ask(t *testing.T, method, path, body string) reply {
	t.Helper()
	r := d.send(t, exchange{method: method, path: "/api/v1" + path, key: d.key, body: body})
	d.all.WriteString(r.body)
	return r
}

// signIn signs the member in at the bank, and returns the address to which the bank redirects the
// browser.
func (d *branch) signIn(t *testing.T, s linkSession, leave bool) string {
	t.Helper()
	to, err := d.sim.Visit(t.Context(), fmt.Sprint(s.ProviderConfig["hosted_url"]), leave)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// lands opens, on this server, the address to which the bank redirected.
func (d *branch) lands(t *testing.T, to string) reply {
	t.Helper()
	r := d.send(t, exchange{method: http.MethodGet, path: strings.TrimPrefix(to, "http://127.0.0.1:1")})
	d.all.WriteString(r.body)
	return r
}

type listedBanks struct {
	Institutions []struct{ ID, Name, Country string }
	Total        int
	NextCursor   string `json:"next_cursor"`
	HasMore      bool   `json:"has_more"`
}

func (d *branch) banks(t *testing.T, query string) (out listedBanks) {
	t.Helper()
	r := d.ask(t, http.MethodGet, "/providers/enablebanking/institutions?"+query, "")
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != http.StatusOK {
		t.Fatalf("%s: %d %s", query, r.status, r.body)
	}
	return out
}

// TestInstitutions: a provider's list of banks has pages and is sorted by name. A search finds
// words in any order.
func TestInstitutions(t *testing.T) {
	t.Parallel()
	d := newBranch(t)
	seen, last := map[string]bool{}, ""
	for cursor := ""; ; {
		page := d.banks(t, "country=DE&limit=50&cursor="+cursor)
		for _, b := range page.Institutions {
			if seen[b.ID] || strings.ToLower(b.Name) < last {
				t.Errorf("%s comes twice, or after %s", b.Name, last)
			}
			seen[b.ID], last = true, strings.ToLower(b.Name)
		}
		if cursor = page.NextCursor; page.HasMore != (cursor != "") || page.Total != 123 {
			t.Fatalf("%+v", page)
		}
		if !page.HasMore {
			break
		}
	}
	if len(seen) != 123 || d.sim.Calls("/aspsps") != 1 {
		t.Errorf("%d banks in %d calls", len(seen), d.sim.Calls("/aspsps"))
	}
	// A cursor is bound to its filters.
	cursor := d.banks(t, "country=DE&limit=1").NextCursor
	for _, query := range []string{"country=FR", "country=DE&search=bank", "country=DE"} {
		r := d.ask(t, http.MethodGet, "/providers/enablebanking/institutions?"+query+"&limit=1&cursor="+cursor, "")
		if refused := strings.Contains(r.body, "INVALID_CURSOR"); refused == (query == "country=DE") {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	if got := d.banks(t, "country=DE&search="+url.QueryEscape("sparkasse FÖRDE")); got.Total != 1 {
		t.Errorf("%+v", got)
	}
	if got := d.banks(t, "country=DE&search=nobody"); got.Total != 0 || got.Institutions == nil {
		t.Errorf("%+v", got)
	}
	for path, field := range map[string]string{
		"/providers/enablebanking/institutions":                      "country",
		"/providers/enablebanking/institutions?country=Germany":      "country",
		"/providers/simplefin/institutions?country=US":               "provider",
		"/providers/enablebanking/institutions?country=DE&cursor=xx": "",
	} {
		if r := d.ask(t, http.MethodGet, path, ""); r.status != http.StatusBadRequest ||
			field != "" && !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

// TestLinkByRedirect: a bank redirects to coffer with a state, which belongs to one session and
// works once. Consent expires, and is renewed for the same accounts.
func TestLinkByRedirect(t *testing.T) {
	t.Parallel()
	d := newBranch(t)
	if r := d.ask(t, http.MethodGet, "/providers", ""); !strings.Contains(r.body, `"way":"redirect"`) ||
		!strings.Contains(r.body, `"institutions":true`) {
		t.Fatal(r.body)
	}
	for _, body := range []string{
		`{"provider":"enablebanking"}`, `{"provider":"enablebanking","institution_id":"DE-nobody"}`,
		`{"provider":"simplefin","institution_id":"DE-1"}`,
	} {
		if r := d.ask(t, http.MethodPost, "/connections/link-session", body); r.status != http.StatusBadRequest ||
			!strings.Contains(r.body, `"field":"institution_id"`) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	listed := d.banks(t, "country=DE&search=musterbank").Institutions
	begin := func() linkSession {
		return d.begin(t, "/connections/link-session",
			`{"provider":"enablebanking","country":"DE","institution_id":"`+listed[0].ID+`"}`)
	}
	// A member who leaves the bank's page, and a state that belongs to no session.
	s := begin()
	d.lands(t, d.signIn(t, s, true))
	if o := d.outcome(t, s.Token); o.State != "failed" || o.Error.Code != "NOT_AUTHORIZED" {
		t.Errorf("%+v", o)
	}
	for _, query := range []string{"", "?code=x", "?code=x&state=nobody"} {
		if r := d.lands(t, "http://127.0.0.1:1/link/return"+query); r.status != http.StatusNotFound {
			t.Errorf("%q: %d", query, r.status)
		}
	}
	// Two sessions at the same time: the state identifies the session.
	first, second := begin(), begin()
	if r := d.page(t, first); !strings.Contains(r.body, "Continue to Enable Banking") {
		t.Error(r.body)
	}
	to := d.signIn(t, second, false)
	if r := d.post(t, first, url.Values{"address": {to}}); r.status != http.StatusBadRequest {
		t.Errorf("another session's address: %d", r.status)
	}
	if r := d.lands(t, to); !strings.Contains(r.body, "Bank connected") {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if d.outcome(t, first.Token).State != "pending" || d.outcome(t, second.Token).State != "done" {
		t.Error("the wrong session ended")
	}
	if r := d.lands(t, to); r.status != http.StatusNotFound {
		t.Errorf("a second time: %d", r.status)
	}
	connection := d.outcome(t, second.Token).ConnectionID
	days := d.count(t, `select extract(day from consent_expires_at - now())::bigint from connection
		where status_reason is null`)
	if days < 177 || days > 179 {
		t.Errorf("consent ends in %d days", days)
	}
	secrets := append(d.sim.Secrets(), mustQuery(t, to).Get("code"), mustQuery(t, to).Get("state"))
	// A member can paste the address if the bank did not redirect the browser. Here the bank is
	// already connected, so the page asks whether to connect it again.
	r := d.post(t, first, url.Values{"address": {"  " + d.signIn(t, first, false) + "\n"}})
	if d.all.WriteString(r.body); !strings.Contains(r.body, "Connect this bank again?") {
		t.Errorf("%d %s", r.status, r.body)
	}
	d.post(t, first, url.Values{"leave": {"yes"}})
	// Consent is renewed: the bank uses new ids, and coffer keeps the same accounts.
	accounts := d.count(t, `select count(*) from account`)
	if _, err := pg.Exec(t.Context(), d.DB, `update connection set status = 'pending_reauth',
		consent_expires_at = now() - interval '1 day'`); err != nil {
		t.Fatal(err)
	}
	again := d.begin(t, "/connections/"+connection+"/reauth-session", `{}`)
	if r := d.lands(t, d.signIn(t, again, false)); !strings.Contains(r.body, "Bank reconnected") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if n := d.count(t, `select count(*) from connection where status = 'active' and consent_expires_at > now()`); n != 1 {
		t.Error("the consent was not renewed")
	}
	if n := d.count(t, `select count(*) from account`); n != accounts || n == 0 {
		t.Errorf("%d accounts of %d", n, accounts)
	}
	secrets = append(secrets, d.sim.Secrets()...)
	export := d.ask(t, http.MethodGet, "/export", "")
	rows, err := pg.Values[string](t.Context(), d.DB, `select encode(credentials, 'escape') from connection
		where credentials is not null union all select row_to_json(j)::text from job j union all
		select row_to_json(s)::text from sync_log s union all select row_to_json(l)::text from link_session l`)
	if err != nil {
		t.Fatal(err)
	}
	everything := d.all.String() + export.body + d.log.String() + strings.Join(rows, "\n")
	for i, secret := range append(secrets, "PRIVATE KEY") {
		if strings.Contains(everything, secret) {
			t.Errorf("secret %d is shown", i)
		}
	}
	if !strings.Contains(everything, "Musterbank") { // the control
		t.Error("nothing was kept")
	}
}

func mustQuery(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

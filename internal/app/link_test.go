package app_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A desk is a world with simulators of both providers, as coffer sandbox runs them.
type desk struct {
	*world
	plaid  *banks.Plaid
	teller *banks.Teller
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	size := household.Options{Seed: 11, Transactions: 300, Years: 1}
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: size, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	w := newWorldOn(t, pgtest.URL(t), app.Config{
		EncryptionKey: seal.NewSecret(testRing), Providers: app.Providers{
			"plaid":  {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": p.URL()},
			"teller": {"application_id": "app_1", "environment": "sandbox", "url": tl.URL()},
		}, PublicURL: "http://127.0.0.1:1",
	})
	w.work(t)
	return &desk{w, p, tl}
}

type linkSession struct {
	Token          string         `json:"token"`
	URL            string         `json:"url"`
	ExpiresAt      time.Time      `json:"expires_at"`
	ProviderConfig map[string]any `json:"provider_config"`
	path           string
}

type linkOutcome struct {
	State        string `json:"state"`
	ConnectionID string `json:"connection_id"`
	Error        *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// begin starts a session.
func (d *desk) begin(t *testing.T, path, body string) linkSession {
	t.Helper()
	r := d.send(t, exchange{method: http.MethodPost, path: "/api/v1" + path, key: d.key, body: body})
	var s linkSession
	if err := json.Unmarshal([]byte(r.body), &s); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	s.path = strings.TrimPrefix(s.URL, "http://127.0.0.1:1")
	if s.path != "/link/"+s.Token || time.Until(s.ExpiresAt) > 31*time.Minute ||
		time.Until(s.ExpiresAt) < 25*time.Minute {
		t.Errorf("%+v", s)
	}
	return s
}

func (d *desk) outcome(t *testing.T, token string) linkOutcome {
	t.Helper()
	r := d.send(t, exchange{method: http.MethodGet, path: "/api/v1/connections/link-session/" + token, key: d.key})
	var o linkOutcome
	if err := json.Unmarshal([]byte(r.body), &o); err != nil || r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return o
}

// page requests the page as a browser does, without an API key.
func (d *desk) page(t *testing.T, s linkSession) reply {
	t.Helper()
	return d.send(t, exchange{method: http.MethodGet, path: s.path})
}

// post posts a form to the page and follows redirects back to the page.
func (d *desk) post(t *testing.T, s linkSession, form url.Values) reply {
	t.Helper()
	return d.send(t, exchange{
		method: http.MethodPost, path: s.path, body: form.Encode(),
		kind: "application/x-www-form-urlencoded",
	})
}

// share finishes the link on Plaid's own page, as the member would.
func (d *desk) share(t *testing.T, s linkSession) {
	t.Helper()
	if _, err := d.plaid.FinishLink(fmt.Sprint(s.ProviderConfig["token"])); err != nil {
		t.Fatal(err)
	}
}

// given returns the form that link.js posts with the result of Teller Connect.
func given(e banks.Enrolment) url.Values {
	return url.Values{"given": {fmt.Sprintf(`{"access_token":%q,"enrollment_id":%q,"user_id":"usr_1","signatures":[]}`,
		e.AccessToken, e.ID)}}
}

func (d *desk) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), d.DB, sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const ownPage = "default-src 'none'; style-src 'self'; img-src 'self'; font-src 'self'; form-action 'self'; " +
	"require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'"

func (d *desk) holdsPolicy(t *testing.T, r reply, want string) {
	t.Helper()
	if got := r.header.Get("Content-Security-Policy"); got != want {
		t.Errorf("the policy is\n%s\nnot\n%s", got, want)
	}
	if r.header.Get("Referrer-Policy") != "no-referrer" || r.header.Get("Cache-Control") != "no-store" ||
		r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v", r.header)
	}
}

// TestLinkHosted links a bank on Plaid's own page. Polling alone must finish the link: nobody opens
// coffer's page again, and no webhook arrives.
func TestLinkHosted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.begin(t, "/connections/link-session", `{"provider":"plaid","redirect_url":"https://app.example/back"}`)
	r := d.page(t, s)
	d.holdsPolicy(t, r, ownPage)
	if r.status != http.StatusOK || !strings.Contains(r.body,
		html.EscapeString(fmt.Sprint(s.ProviderConfig["hosted_url"]))) || strings.Contains(r.body, "<script") ||
		r.header.Get("Refresh") != "3" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if o := d.outcome(t, s.Token); o.State != "pending" || o.ConnectionID != "" || o.Error != nil {
		t.Errorf("%+v", o)
	}
	d.share(t, s)
	d.sweep(t, s)
	o := d.outcome(t, s.Token)
	if o.State != "done" || o.ConnectionID == "" {
		t.Fatalf("%+v", o)
	}
	d.sync(t, o.ConnectionID)
	d.holdsBook(t, d.plaid.Book(d.providerID(t, o.ConnectionID)))
	r = d.page(t, s)
	if r.status != http.StatusOK || !strings.Contains(r.body, "Bank connected") ||
		!strings.Contains(r.body, "Nordbank") || r.header.Get("Refresh") != "3; url=https://app.example/back" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if n := d.count(t, `select count(*) from link_session where secret is null and state = 'done'`); n != 1 {
		t.Error("a session that has ended keeps its secret")
	}
	if n := d.count(t, `select count(*) from link_session where token_hash = $1::text::bytea
		or encode(token_hash, 'escape') like '%' || $1::text || '%'`, s.Token); n != 0 {
		t.Error("the token is stored")
	}
}

// sweep repeats what the server's timed work does until the session has ended.
func (d *desk) sweep(t *testing.T, s linkSession) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); d.outcome(t, s.Token).State == "pending"; {
		if time.Now().After(deadline) {
			t.Fatal("the session does not end")
		}
		if _, err := pg.Exec(t.Context(), d.DB, `update link_session set look_at = now()
			where state = 'pending'`); err != nil {
			t.Fatal(err)
		}
		if _, err := d.LinkSessions.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *desk) providerID(t *testing.T, connection string) string {
	t.Helper()
	name, err := pg.Value[string](t.Context(), d.DB, `select provider_id from connection
		where id = $1::uuid`, connection)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLinkWidget links a bank with Teller's widget in coffer's own page. The page's policy allows
// that widget's hosts and no others.
func TestLinkWidget(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.begin(t, "/connections/link-session", `{"provider":"teller"}`)
	r := d.page(t, s)
	host := d.teller.URL() + "/"
	d.holdsPolicy(t, r, "default-src 'none'; script-src 'self' "+host+
		"connect/connect.js; style-src 'self'; img-src 'self'; font-src 'self'; frame-src "+host+
		"; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	config := regexp.MustCompile(`data-config="([^"]*)"`).FindStringSubmatch(r.body)
	var started map[string]any
	if len(config) != 2 || json.Unmarshal([]byte(html.UnescapeString(config[1])), &started) != nil ||
		started["applicationId"] != "app_1" || started["nonce"] == "" {
		t.Fatalf("%s", r.body)
	}
	for _, script := range regexp.MustCompile(`<script src="([^"]*)"`).FindAllStringSubmatch(r.body, -1) {
		at := script[1]
		if strings.HasPrefix(at, "/") {
			at = d.url + at
		}
		res, err := http.Get(at)
		if err != nil || res.StatusCode != http.StatusOK ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("%s: %v %v", at, res, err)
		}
		_ = res.Body.Close()
	}
	e := d.teller.Enroll()
	forged := url.Values{"given": {fmt.Sprintf(`{"access_token":%q,"enrollment_id":"enr_of_someone_else"}`,
		e.AccessToken)}}
	for _, wrong := range []url.Values{{}, {"given": {"{"}}, {"given": {"{}"}}, forged} {
		if r := d.post(t, s, wrong); r.status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", wrong, r.status, r.body)
		}
	}
	if o := d.outcome(t, s.Token); o.State != "pending" {
		t.Fatalf("a widget's mistake ended the session: %+v", o)
	}
	var together sync.WaitGroup // a person who clicks twice, or a browser that sends a request twice
	for range 5 {
		together.Go(func() {
			if r := d.post(t, s, given(e)); r.status != http.StatusOK {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	together.Wait()
	o := d.outcome(t, s.Token)
	if n := d.count(t, `select count(*) from connection`); o.State != "done" || n != 1 {
		t.Fatalf("%+v, %d connections", o, n)
	}
	if r := d.post(t, s, given(d.teller.Enroll())); r.status != http.StatusOK ||
		d.count(t, `select count(*) from connection`) != 1 {
		t.Errorf("a session links twice: %d %s", r.status, r.body)
	}
	d.sync(t, o.ConnectionID)
	d.holdsBook(t, e.Book)
}

// TestLinkTokens: a request without a token, or with a wrong or expired token, does nothing.
func TestLinkTokens(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.begin(t, "/connections/link-session", `{"provider":"teller"}`)
	for _, wrong := range []string{
		"status", "none", s.Token + "x", s.Token[1:], strings.ToLower(s.Token),
		strings.Repeat("a", 32),
	} {
		if r := d.send(t, exchange{method: http.MethodGet, path: "/link/" + wrong}); r.status != http.StatusNotFound ||
			r.header.Get("Content-Security-Policy") != ownPage {
			t.Errorf("%s: %d %s", wrong, r.status, r.body)
		}
		if r := d.post(t, linkSession{path: "/link/" + wrong},
			given(banks.Enrolment{AccessToken: "a", ID: "b"})); r.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", wrong, r.status, r.body)
		}
		if r := d.send(t, exchange{
			method: http.MethodGet, path: "/api/v1/connections/link-session/" + wrong,
			key: d.key,
		}); r.code() != "NOT_FOUND" {
			t.Errorf("%s: %d %s", wrong, r.status, r.body)
		}
	}
	if r := d.send(t, exchange{
		method: http.MethodGet,
		path:   "/api/v1/connections/link-session/" + s.Token,
	}); r.status != http.StatusUnauthorized {
		t.Errorf("without a key: %d %s", r.status, r.body)
	}
	if _, err := pg.Exec(t.Context(), d.DB,
		`update link_session set expires_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if r := d.post(t, s, given(d.teller.Enroll())); !strings.Contains(r.body, "SESSION_EXPIRED") ||
		d.count(t, `select count(*) from connection`) != 0 {
		t.Errorf("a session that is over links a bank: %d %s", r.status, r.body)
	}
	if o := d.outcome(t, s.Token); o.State != "failed" || o.Error.Code != "SESSION_EXPIRED" {
		t.Errorf("%+v", o)
	}
	late := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	if _, err := pg.Exec(t.Context(), d.DB, `update link_session set expires_at = now() - interval '1 second',
		look_at = now() where state = 'pending'`); err != nil {
		t.Fatal(err)
	}
	d.sweep(t, late)
	if o := d.outcome(t, late.Token); o.State != "failed" || o.Error.Code != "SESSION_EXPIRED" {
		t.Errorf("%+v", o)
	}
	if _, err := pg.Exec(t.Context(), d.DB,
		`update link_session set expires_at = now() - interval '2 days'`); err != nil {
		t.Fatal(err)
	}
	if r := d.page(t, s); r.status != http.StatusNotFound {
		t.Errorf("a session of two days ago: %d", r.status)
	}
}

// TestLinkEnds: if the member leaves the provider's page, no bank is linked. A webhook about a
// session has the same effect as polling.
func TestLinkEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	left := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	if err := d.plaid.LeaveLink(fmt.Sprint(left.ProviderConfig["token"])); err != nil {
		t.Fatal(err)
	}
	if r := d.page(t, left); !strings.Contains(r.body, "SESSION_LEFT") {
		t.Errorf("%d %s", r.status, r.body)
	}
	forgotten := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	d.plaid.Script(banks.Fault{Path: "/link/token/get", Status: 400, Code: "INVALID_LINK_TOKEN", Times: -1})
	if err := d.LinkSessions.Finish(t.Context(), "plaid", fmt.Sprint(forgotten.ProviderConfig["token"])); err != nil ||
		d.outcome(t, forgotten.Token).State != "failed" {
		t.Errorf("a session that the provider has forgotten goes on: %+v %v", d.outcome(t, forgotten.Token), err)
	}
	d.plaid.Calm()
	s := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	name := fmt.Sprint(s.ProviderConfig["token"])
	if err := d.LinkSessions.Finish(t.Context(), "plaid", name); err != nil || d.outcome(t, s.Token).State != "pending" {
		t.Errorf("%v", err)
	}
	d.share(t, s)
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			if err := d.LinkSessions.Finish(t.Context(), "plaid", name); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if o := d.outcome(t, s.Token); o.State != "done" || d.count(t, `select count(*) from connection`) != 1 {
		t.Errorf("%+v", o)
	}
	if err := d.LinkSessions.Finish(t.Context(), "plaid", "link-sandbox-of-nobody"); err != nil {
		t.Error(err)
	}
}

// If a bank does not respond after the exchange, nothing is lost: the exchanged token is stored,
// sealed, and tried again.
func TestLinkTriesAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	d.share(t, s)
	d.plaid.Script(banks.Fault{Path: "/accounts/get", Status: 500, Code: "INTERNAL_SERVER_ERROR", Times: -1})
	for range 2 {
		if err := d.LinkSessions.Finish(t.Context(), "plaid", fmt.Sprint(s.ProviderConfig["token"])); err == nil {
			t.Fatal("a failing provider is not an error")
		}
		if o := d.outcome(t, s.Token); o.State != "pending" || o.Error != nil {
			t.Fatalf("%+v", o)
		}
	}
	if n := d.count(t, `select count(*) from link_session
		where position('access-sandbox' in encode(secret, 'escape')) > 0`); n != 0 {
		t.Error("what was exchanged can be read")
	}
	d.plaid.Calm()
	d.sweep(t, s)
	if o := d.outcome(t, s.Token); o.State != "done" || d.plaid.Calls("/item/public_token/exchange") != 1 {
		t.Errorf("%+v after %d exchanges", o, d.plaid.Calls("/item/public_token/exchange"))
	}
}

// TestLinkDuplicate: coffer links the same accounts a second time only after a person agrees. It
// asks before it exchanges anything.
func TestLinkDuplicate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, provider := range []string{"plaid", "teller"} {
		start := func() linkSession {
			s := d.begin(t, "/connections/link-session", fmt.Sprintf(`{"provider":%q}`, provider))
			if provider == "plaid" {
				d.share(t, s)
			} else if r := d.post(t, s, given(d.teller.Enroll())); r.status != http.StatusOK {
				t.Fatalf("%d %s", r.status, r.body)
			}
			d.page(t, s)
			return s
		}
		if o := d.outcome(t, start().Token); o.State != "done" {
			t.Fatalf("%s: %+v", provider, o)
		}
		exchanges := d.plaid.Calls("/item/public_token/exchange")
		again, other := start(), start()
		for _, s := range []linkSession{again, other} {
			if o := d.outcome(t, s.Token); o.State != "pending" || o.Error == nil || o.Error.Code != "SEEMS_LINKED" {
				t.Fatalf("%s: %+v", provider, o)
			}
			if r := d.page(t, s); !strings.Contains(r.body, "Connect anyway") {
				t.Errorf("%s: %s", provider, r.body)
			}
		}
		if d.plaid.Calls("/item/public_token/exchange") != exchanges {
			t.Error("what seems to be linked was exchanged without asking")
		}
		if r := d.post(t, other, url.Values{"leave": {"yes"}}); !strings.Contains(r.body, "SESSION_LEFT") {
			t.Errorf("%s: %s", provider, r.body)
		}
		if r := d.post(t, again, url.Values{"anyway": {"yes"}}); !strings.Contains(r.body, "Bank connected") {
			t.Errorf("%s: %s", provider, r.body)
		}
		if n := d.count(t, `select count(*) from connection where provider = $1`, provider); n != 2 {
			t.Errorf("%s: %d connections", provider, n)
		}
	}
}

// The input of a session is validated, and the error for a connection without credentials points to
// link sessions.
func TestLinkInput(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for body, want := range map[string]string{
		`{"provider":"csv"}`:                                                  "VALIDATION_ERROR",
		`{"provider":"plaid","user_id":"nobody00"}`:                           "INVALID_REFERENCE",
		`{"provider":"plaid","redirect_url":"http://evil.example/"}`:          "VALIDATION_ERROR",
		`{"provider":"plaid","redirect_url":"javascript:alert(1)"}`:           "VALIDATION_ERROR",
		`{"provider":"plaid","redirect_url":"https://someone@evil.example/"}`: "VALIDATION_ERROR",
		`{"provider":"plaid","redirect_url":"https:evil"}`:                    "VALIDATION_ERROR",
	} {
		if r := d.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/connections/link-session", key: d.key,
			body: body,
		}); r.code() != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	d.begin(t, "/connections/link-session", `{"provider":"plaid","redirect_url":"http://localhost:3000/done"}`)
	for _, provider := range []string{"plaid", "teller"} {
		r := d.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/connections", key: d.key,
			body: fmt.Sprintf(`{"provider":%q}`, provider),
		})
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, "link-session") {
			t.Errorf("%s: %d %s", provider, r.status, r.body)
		}
	}
	// Plaid does not offer its hosted page to this customer.
	d.plaid.Script(banks.Fault{Path: "/link/token/create", Status: 400, Code: "INVALID_FIELD"})
	s := d.begin(t, "/connections/link-session", `{"provider":"plaid"}`)
	r := d.page(t, s)
	d.holdsPolicy(t, r, "default-src 'none'; script-src 'self' "+
		"https://cdn.plaid.com/link/v2/stable/link-initialize.js; style-src 'self' https://cdn.plaid.com/; img-src "+
		"'self' https://cdn.plaid.com/; font-src 'self'; "+
		"connect-src https://sandbox.plaid.com/; frame-src https://cdn.plaid.com/; form-action 'self'; "+
		"frame-ancestors 'none'; base-uri 'none'")
	token, err := d.plaid.FinishLink(fmt.Sprint(s.ProviderConfig["token"]))
	if err != nil {
		t.Fatal(err)
	}
	if r := d.post(t, s, url.Values{"given": {fmt.Sprintf(`{"public_token":%q}`, token)}}); !strings.Contains(r.body,
		"Bank connected") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

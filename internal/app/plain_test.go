package app_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// plainHost is the name under which people reach a server over plain HTTP.
const plainHost = "umbrel.local"

// A guest is a browser on another machine of the network, with at most one cookie.
type guest struct {
	*world
	host   string
	cookie *http.Cookie
}

func (g *guest) do(t *testing.T, method, path, kind, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = g.host
	req.Header.Set("Origin", "http://"+g.host)
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if g.cookie != nil {
		req.AddCookie(&http.Cookie{Name: g.cookie.Name, Value: g.cookie.Value})
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cookies() {
		g.cookie = c
	}
	return reply{res.StatusCode, text.String(), res.Header}
}

const formKind = "application/x-www-form-urlencoded"

func (g *guest) setUp(t *testing.T) {
	t.Helper()
	ticket, err := g.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r := g.do(t, "POST", "/setup/"+ticket, formKind,
		"name=Robin&email=robin@example.com&password="+strings.ReplaceAll(password, " ", "+"))
	if r.status != http.StatusSeeOther || g.cookie == nil {
		t.Fatalf("set up: %d %s", r.status, r.body)
	}
}

// TestPlainHTTP: over plain HTTP people can sign in and work only with COFFER_ALLOW_HTTP, and every
// page warns them. Refused are the calls that only admins can make, calls that grant rights or
// export data, passkeys, and apps.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	g := &guest{world: newWorldOn(t, pgtest.URL(t), app.Config{AllowHTTP: true}), host: plainHost}
	g.setUp(t)
	if g.cookie.Name != auth.PlainCookie || g.cookie.Secure || !g.cookie.HttpOnly ||
		g.cookie.SameSite != http.SameSiteLaxMode {
		t.Fatalf("cookie: %v", g.cookie)
	}
	for _, page := range []string{"/login", "/account", "/device", "/setup/gone", "/nowhere"} {
		if r := g.do(t, "GET", page, "", ""); !strings.Contains(r.body, "This connection isn&#39;t protected") &&
			!strings.Contains(r.body, "This connection isn't protected") {
			t.Errorf("%s has no warning: %d %s", page, r.status, r.body)
		}
	}
	if r := g.do(t, "GET", "/login", "", ""); strings.Contains(r.body, "can't stay signed in") {
		t.Error("the sign-in page says that nobody can stay signed in")
	}
	if r := g.do(t, "GET", "/auth/session", "", ""); !strings.Contains(r.body, `"write":true,"admin":false`) {
		t.Errorf("session: %s", r.body)
	}
	ours := g.cookie
	// The cookie's name does not change the session's rights.
	for _, as := range []string{auth.PlainCookie, auth.SessionCookie} {
		g.cookie = &http.Cookie{Name: as, Value: ours.Value}
		if r := g.do(t, "POST", "/api/v1/tags", "application/json", `{"slug": "`+as[2:5]+`", "display_name": "T"}`); r.status >= 300 {
			t.Errorf("%s: a member's call: %d %s", as, r.status, r.body)
		}
		for _, call := range [][3]string{
			{"POST", "/api/v1/users", `{"name": "Kim"}`},
			{"PATCH", "/api/v1/settings", `{"household_name": "Ours"}`},
			{"POST", "/api/v1/api-keys", `{"name": "mine", "scope": "full_access"}`},
			{"POST", "/account/passkeys/begin", ``},
			{"POST", "/login/passkey/begin", ``},
		} {
			r := g.do(t, call[0], call[1], "application/json", call[2])
			if g.cookie = (&http.Cookie{Name: as, Value: ours.Value}); r.status != http.StatusForbidden ||
				!strings.Contains(r.body, "plain HTTP") {
				t.Errorf("%s: %s %s: %d %s", as, call[0], call[1], r.status, r.body)
			}
		}
	}
	g.cookie = ours
	if r := g.do(t, "GET", "/device", "", ""); r.status != http.StatusForbidden {
		t.Errorf("device: %d", r.status)
	}
	if _, err := g.Auth.Consent(t.Context(), g.actor(t), auth.Wish{}); err == nil ||
		!strings.Contains(err.Error(), "plain HTTP") {
		t.Errorf("consent: %v", err)
	}
	g.Auth.AllowHTTP = false // a session ends when the setting is removed
	if r := g.do(t, "GET", "/api/v1/tags", "", ""); r.status != http.StatusUnauthorized {
		t.Errorf("after the setting was removed: %d %s", r.status, r.body)
	}
}

func (g *guest) actor(t *testing.T) op.Actor {
	t.Helper()
	actor, err := g.Auth.Session(t.Context(), g.cookie.Value)
	if err != nil || !actor.Plain {
		t.Fatalf("%+v %v", actor, err)
	}
	return actor
}

// TestPlainHTTPIsAsked: nothing changes without the setting over plain HTTP, or on the server's own
// machine.
func TestPlainHTTPIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host  string
		allow bool
		deaf  bool
	}{
		{plainHost, false, true},
		{"localhost", true, false},
		{"127.0.0.1:8080", false, false},
	} {
		g := &guest{world: newWorldOn(t, pgtest.URL(t), app.Config{AllowHTTP: c.allow}), host: c.host}
		g.setUp(t)
		if g.cookie.Name != auth.SessionCookie || !g.cookie.Secure {
			t.Errorf("%+v: cookie %v", c, g.cookie)
		}
		r := g.do(t, "GET", "/login", "", "")
		if strings.Contains(r.body, "can't stay signed in") != c.deaf || strings.Contains(r.body, "isn't protected") {
			t.Errorf("%+v: %s", c, r.body)
		}
		if r := g.do(t, "PATCH", "/api/v1/settings", "application/json", `{"household_name": "Ours"}`); r.status != http.StatusOK {
			t.Errorf("%+v: an admin's call: %d %s", c, r.status, r.body)
		}
	}
}

// TestPlainHTTPBesideHTTPS: a server with HTTPS refuses the setting with an error.
func TestPlainHTTPBesideHTTPS(t *testing.T) {
	t.Parallel()
	for _, c := range []app.Config{
		{AllowHTTP: true, PublicURL: "https://money.example.com"},
		{AllowHTTP: true, TLSCert: "a", TLSKey: "b"},
	} {
		c.DatabaseURL = seal.NewSecret("postgres://nobody@127.0.0.1:1/none")
		if _, err := app.Build(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "COFFER_ALLOW_HTTP") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

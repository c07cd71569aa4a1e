package app_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// invite creates an invitation and returns the path of its link.
func (w *world) invite(t *testing.T, member string) string {
	t.Helper()
	x := exchange{method: "POST", path: "/api/v1/users/" + member + "/invitation", key: w.key}
	r := w.send(t, x)
	validateResponse(t, x, r)
	var made struct{ URL, QR string }
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != 200 {
		t.Fatalf("invite: %d %s", r.status, r.body)
	}
	at, err := url.Parse(made.URL)
	if err != nil || !regexp.MustCompile(`^/join/[0-9A-Za-z]{43}$`).MatchString(at.Path) {
		t.Fatalf("the link is %s, %v", made.URL, err)
	}
	return at.Path
}

var requestID = regexp.MustCompile(`Request [0-9a-f-]+`)

// TestInvitation: an invited member chooses a password that nobody else learns, and is signed in.
// The test then searches the log, the responses and the database for the password and the link.
func TestInvitation(t *testing.T) {
	t.Parallel()
	var written apptest.Log
	database := pgtest.URL(t)
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(database), DatabaseMaxConns: 8, RatePerMinute: 60_000_000, RateBurst: 1_000_000,
		AuthFailures: 1_000_000, LoginsPerMinute: 1_000_000,
	}, slog.New(slog.NewJSONHandler(&written, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := &world{App: a, url: server.URL}
	w.key = w.newKey(t, auth.CreateKey{Name: "me", Scope: "full_access", ActorType: "user"}).Secret
	const chosen = "canary sentence 7741 of Kim"
	kim := made(t, &visitor{world: w}, "/api/v1/users", `{"name":"Kim","email":"kim@example.com"}`)
	path := w.invite(t, kim)
	token := strings.TrimPrefix(path, "/join/")
	var answers []string
	see := func(v *visitor, method, path string, form url.Values, want int) reply {
		t.Helper()
		r, to := v.do(t, method, path, form)
		if r.status != want {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
		answers = append(answers, r.body+" "+to)
		if r.header.Get("Content-Type") == "text/html; charset=utf-8" && r.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s %s may send its address on", method, path)
		}
		return r
	}
	one := &visitor{world: w}
	for range 3 { // viewing the page does not use the invitation up
		if r := see(one, "GET", path, nil, 200); !strings.Contains(r.body, "Welcome, Kim") ||
			!strings.Contains(r.body, "kim@example.com") {
			t.Errorf("the page: %s", r.body)
		}
	}
	for _, weak := range []string{"short", "password123", "kim@example.com", "Household1"} {
		see(one, "POST", path, url.Values{"password": {weak}}, 400)
	}
	// A member without an email address must enter one, and sees one error about it.
	lee := &visitor{world: w}
	faulty := see(lee, "POST", w.invite(t, made(t, lee, "/api/v1/users", `{"name":"Lee"}`)),
		url.Values{"password": {chosen}, "email": {""}}, 400)
	if n := strings.Count(faulty.body, "Email must"); n != 1 {
		t.Errorf("the page names a missing address %d times: %s", n, faulty.body)
	}
	r, _ := one.do(t, "POST", path, url.Values{"password": {chosen}}, "Sec-Fetch-Site", "cross-site")
	if r.status != 403 || one.cookie != "" {
		t.Errorf("from a page of another site: %d", r.status)
	}
	see(one, "POST", path, url.Values{"password": {chosen}}, http.StatusSeeOther)
	if r := see(one, "GET", "/account", nil, 200); !strings.Contains(r.body, "Sessions") {
		t.Errorf("after joining: %s", r.body)
	}
	used := see(&visitor{world: w}, "POST", path, url.Values{"password": {chosen}}, 404)
	unknown := see(&visitor{world: w}, "POST", "/join/"+strings.Repeat("A", 43), url.Values{"password": {chosen}}, 404)
	if requestID.ReplaceAllString(used.body, "") != requestID.ReplaceAllString(unknown.body, "") {
		t.Errorf("used up and unknown differ:\n%s\n%s", used.body, unknown.body)
	}
	// An invitation also lets in a member who has lost the password. It ends the member's open
	// sessions.
	again := w.invite(t, kim)
	other := &visitor{world: w}
	see(other, "POST", again, url.Values{"password": {chosen + " again"}}, http.StatusSeeOther)
	if r, _ := one.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, `"signed_in":false`) {
		t.Errorf("the session from before goes on: %s", r.body)
	}
	for _, x := range []string{"/api/v1/users", "/api/v1/users/" + kim, "/api/v1/users/" + kim + "/login"} {
		answers = append(answers, w.send(t, exchange{method: "GET", path: x, key: w.key}).body)
	}
	stored, err := pg.Value[string](t.Context(), w.DB, `select
		coalesce((select string_agg(l::text, ' ') from login l), '') || coalesce((select string_agg(t::text, ' ') from ticket t), '')
		|| coalesce((select string_agg(i::text, ' ') from idempotency i), '')
		|| coalesce((select string_agg(a::text, ' ') from attempt a), '')`)
	if err != nil {
		t.Fatal(err)
	}
	// Make a request fail: the log must show its route, not its path, which contains the link's
	// token.
	if _, err := w.DB.Exec(t.Context(), `alter table ticket rename to mislaid`); err != nil {
		t.Fatal(err)
	}
	see(&visitor{world: w}, "POST", again, url.Values{"password": {chosen}}, 500)
	for _, form := range []string{chosen, "canary sentence 7741", base64.StdEncoding.EncodeToString([]byte("canary sentence"))} {
		for where, text := range map[string]string{"an answer": strings.Join(answers, "\n"), "the log": written.String(), "the database": stored} {
			if strings.Contains(text, form) {
				t.Errorf("%s has the password", where)
			}
		}
	}
	for where, text := range map[string]string{"the log": written.String(), "the database": stored} {
		if strings.Contains(text, token) {
			t.Errorf("%s has the link", where)
		}
	}
	if !strings.Contains(written.String(), "/join/{token}") {
		t.Errorf("the log says nothing of the page, so that nothing was shown: %s", written.String())
	}
}

// TestWhoMayInvite: only admins can invite, after a recent sign-in. Agents cannot.
func TestWhoMayInvite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := made(t, &visitor{world: w}, "/api/v1/users", `{"name":"Kim","email":"kim@example.com"}`)
	_, admin := w.session(t, "admin")
	_, member := w.session(t, "member")
	_, viewer := w.session(t, "viewer")
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: "agent"}).Secret
	reads := w.newKey(t, auth.CreateKey{Name: "reads", Scope: "read_only", ActorType: "user"}).Secret
	for name, c := range map[string]struct {
		by   credential
		want int
	}{
		"an admin": {credential{session: admin}, 200}, "a member": {credential{session: member}, 403},
		"a viewer": {credential{session: viewer}, 403}, "an agent": {credential{key: agent}, 403},
		"a reader": {credential{key: reads}, 403}, "nobody": {credential{}, 401},
	} {
		for _, try := range []struct{ method, path, body string }{
			{"POST", "/api/v1/users/" + kim + "/invitation", ""},
			{"DELETE", "/api/v1/users/" + kim + "/invitation", ""},
			{"POST", "/api/v1/users", fmt.Sprintf(`{"name":"By %s","invite":true}`, name)},
		} {
			r := c.by.send(t, w, try.method, try.path, try.body)
			want := c.want
			if want == 200 {
				want = map[string]int{"POST /api/v1/users": 201, "DELETE /api/v1/users/" + kim + "/invitation": 204}[try.method+" "+try.path]
				if want == 0 {
					want = 200
				}
			}
			if r.status != want {
				t.Errorf("%s, %s %s: %d %s, not %d", name, try.method, try.path, r.status, r.body, want)
			}
		}
	}
	if _, err := w.DB.Exec(t.Context(), `update token set proved_at = now() - interval '6 minutes' where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
	stale := credential{session: admin}
	if r := stale.send(t, w, "POST", "/api/v1/users/"+kim+"/invitation", ""); r.code() != "PROOF_REQUIRED" {
		t.Errorf("without proof: %d %s", r.status, r.body)
	}
	if r := stale.send(t, w, "DELETE", "/api/v1/users/"+kim+"/invitation", ""); r.status != 204 {
		t.Errorf("voiding without proof: %d %s", r.status, r.body)
	}
}

// TestAdminsPasswordIsReplaced: a member who signs in with a password that an admin set must
// replace it on the page. Over the API this password does not sign in.
func TestAdminsPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := &visitor{world: w}
	kim := made(t, v, "/api/v1/users", `{"name":"Kim","email":"kim@example.com"}`)
	made(t, v, "/api/v1/users/"+kim+"/login", `{"kind":"password","password":"given by an admin"}`)
	r := w.send(t, exchange{method: "POST", path: "/auth/login", body: `{"email":"kim@example.com","password":"given by an admin"}`})
	if r.code() != "FORBIDDEN" || !strings.Contains(r.body, "/login") || r.header.Get("Set-Cookie") != "" {
		t.Errorf("over the API: %d %s", r.status, r.body)
	}
	_, to := v.do(t, "POST", "/login", url.Values{"email": {"kim@example.com"}, "password": {"given by an admin"}})
	if !strings.HasPrefix(to, "/join/") || v.cookie != "" {
		t.Fatalf("it leads to %s, with cookie %q", to, v.cookie)
	}
	if r, _ := v.do(t, "GET", to, nil); r.status != 200 || !strings.Contains(r.body, "Choose a new password") {
		t.Errorf("the page: %d %s", r.status, r.body)
	}
	if r, _ := v.do(t, "POST", to, url.Values{"password": {"given by an admin"}}); r.status != 400 || v.cookie != "" {
		t.Errorf("the same again: %d", r.status)
	}
	if _, at := v.do(t, "POST", to, url.Values{"password": {"one of my own"}}); at != "/" || v.cookie == "" {
		t.Errorf("another: %s", at)
	}
	r = w.send(t, exchange{method: "POST", path: "/auth/login", body: `{"email":"kim@example.com","password":"one of my own"}`})
	if r.status != 200 {
		t.Errorf("the new one: %d %s", r.status, r.body)
	}
}

// A member joins with a passkey, and signs in with it.
func TestJoiningWithAPasskey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := &visitor{world: w}
	kim := made(t, v, "/api/v1/users", `{"name":"Kim"}`)
	path := w.invite(t, kim)
	device := &authenticator{origin: "http://localhost", rp: "localhost"}
	c := begin(t, v, path+"/passkey/begin")
	handle, _ := base64.RawURLEncoding.DecodeString(c.Options.User.ID)
	answer := device.create(c.Options.Challenge, string(handle))
	if r := v.script(t, "/join/"+strings.Repeat("A", 43)+"/passkey/finish?ticket="+c.Ticket, answer); r.status != 404 {
		t.Errorf("with another link: %d %s", r.status, r.body)
	}
	if r := v.script(t, path+"/passkey/finish?ticket="+c.Ticket, answer); r.status != 200 || v.cookie == "" ||
		!strings.Contains(r.body, `{"next":"/"}`) {
		t.Fatalf("%d %s", r.status, r.body)
	}
	again := &visitor{world: w}
	if r := again.script(t, path+"/passkey/begin", ""); r.status != 404 {
		t.Errorf("a second time: %d %s", r.status, r.body)
	}
	c = begin(t, again, "/login/passkey/begin")
	if r := again.script(t, "/login/passkey/finish?ticket="+c.Ticket, device.get(c.Options.Challenge)); r.status != 200 || again.cookie == "" {
		t.Errorf("signing in: %d %s", r.status, r.body)
	}
}

// TestInvitationsEndWithASignInMethod: an invitation ends when its member gets a sign-in method.
// Otherwise an older link could still replace it.
func TestInvitationsEndWithASignInMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim := made(t, &visitor{world: w}, "/api/v1/users", `{"name":"Kim","email":"kim@example.com"}`)
	path := w.invite(t, kim)
	if r, _ := (&visitor{world: w}).do(t, "GET", path, nil); r.status != 200 {
		t.Fatalf("before: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{
		method: "POST", path: "/api/v1/users/" + kim + "/login", key: w.key,
		body: `{"kind":"password","password":"set by the admin now"}`,
	}); r.status != 201 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r, _ := (&visitor{world: w}).do(t, "POST", path, url.Values{"password": {"whoever has the link 1"}}); r.status != 404 {
		t.Errorf("the older link: %d %s", r.status, r.body)
	}
}

package app_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/surface/signin/signintest"
)

// leave makes the session look like that of a browser left open: the last sign-in is six minutes
// old.
func (v *visitor) leave(t testing.TB) {
	t.Helper()
	if _, err := v.DB.Exec(t.Context(), `update token set proved_at = now() - interval '6 minutes'
		where kind = 'session' and hash = sha256($1)`, []byte(v.cookie)); err != nil {
		t.Fatal(err)
	}
}

// again signs in again at the address to, first with a wrong password, and returns the address that
// the server redirects to afterwards.
func (v *visitor) again(t testing.TB, to string) string {
	t.Helper()
	if !strings.HasPrefix(to, "/login?again=1&next=") {
		t.Fatalf("not asked to sign in again, but sent to %q", to)
	}
	before := v.cookie
	page, _ := v.do(t, "GET", to, nil)
	if !strings.Contains(page.body, "Confirm it&#39;s you") || !strings.Contains(page.body, `value="robin@example.com"`) {
		t.Errorf("the page does not ask Robin to sign in again: %s", page.body)
	}
	form := url.Values{"email": {"robin@example.com"}, "password": {"not the password"}}
	for _, m := range hidden.FindAllStringSubmatch(page.body, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	if r, _ := v.do(t, "POST", "/login", form); r.status != http.StatusUnauthorized ||
		!strings.Contains(r.body, "Confirm it&#39;s you") || v.cookie != before {
		t.Errorf("sign in again with a wrong password: %d %s", r.status, r.body)
	}
	form.Set("password", password)
	r, back := v.do(t, "POST", "/login", form)
	if r.status != http.StatusSeeOther || v.cookie == before {
		t.Fatalf("sign in again: %d %s", r.status, r.body)
	}
	if _, to := (&visitor{world: v.world, cookie: before}).do(t, "GET", "/account", nil); to == "" {
		t.Error("the session from before still works")
	}
	return back
}

// A browser left open is not enough to grant access: the member must sign in again, and then
// continues where they were.
func TestProofIsAskedForAgain(t *testing.T) {
	t.Parallel()
	v := published(t)
	v.leave(t)
	if r, _ := v.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, `"proved_until":null`) {
		t.Errorf("a browser left open: %s", r.body)
	}
	key := func() reply {
		return v.send(t, exchange{
			method: "POST", path: "/api/v1/api-keys",
			body:   `{"name":"new","scope":"full_access"}`,
			header: map[string]string{"Cookie": "__Host-coffer=" + v.cookie, "Sec-Fetch-Site": "same-origin"},
		})
	}
	if r := key(); r.code() != "PROOF_REQUIRED" || !strings.Contains(r.body, "/login?again=1") {
		t.Errorf("create a key in a browser left open: %d %s", r.status, r.body)
	}
	program := &visitor{world: v.world}
	_, refused := program.ask(t, "full_access")
	if r, _ := v.do(t, "POST", "/device", url.Values{
		"user_code": {refused},
		"decision":  {"refuse"},
	}); r.status != 200 || !strings.Contains(r.body, "Request denied") {
		t.Errorf("refuse in a browser left open: %d %s", r.status, r.body)
	}
	_, user := program.ask(t, "full_access")
	grant := url.Values{"user_code": {user}, "decision": {"grant"}, "scope": {"read_only"}}
	_, to := v.do(t, "POST", "/device", grant)
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*) from device
		where state = 'approved'`); err != nil || n != 0 {
		t.Errorf("%d keys were granted without signing in again, %v", n, err)
	}
	back := v.again(t, to)
	if page, _ := v.do(t, "GET", back, nil); !strings.Contains(page.body, user) ||
		!strings.Contains(page.body, "Authorize") {
		t.Errorf("after signing in again, %s shows: %s", back, page.body)
	}
	if r, _ := v.do(t, "POST", "/device", grant); r.status != 200 {
		t.Errorf("grant a key after signing in again: %d %s", r.status, r.body)
	}
	if r := key(); r.status != 201 {
		t.Errorf("create a key after signing in again: %d %s", r.status, r.body)
	}

	// A member can grant read access without signing in again, but not write access.
	c := newClient(t, v)
	v.leave(t)
	c.letIn(t, v, "read")
	form := c.asks(v, "read write")
	form.Set("decision", "allow")
	form.Set("grant", "write")
	_, to = v.do(t, "POST", "/oauth/authorize", form)
	back = v.again(t, to)
	if u, err := url.Parse(back); err != nil || u.Path != "/oauth/authorize" ||
		u.Query().Encode() != c.asks(v, "read write").Encode() {
		t.Errorf("returned to a different authorization request: %s", back)
	}
	c.letIn(t, v, "read write")
}

func TestOwnWaysIn(t *testing.T) {
	t.Parallel()
	v := settled(t)
	device := &authenticator{origin: "http://localhost", rp: "localhost"}
	page, _ := v.do(t, "GET", "/account", nil)
	if !strings.Contains(page.body, "Add a passkey") || strings.Contains(page.body, ">Remove<") ||
		strings.Contains(page.body, "again=1") {
		t.Errorf("a member with one sign-in method: %s", page.body)
	}
	login := func(kind string) string {
		short, err := pg.Value[string](t.Context(), v.DB, `select coalesce((select short_id from login
			where kind = $1), '')`, kind)
		if err != nil {
			t.Fatal(err)
		}
		return short
	}
	if r, _ := v.do(t, "POST", "/account/logins/end",
		url.Values{"login": {login("password")}}); r.status != http.StatusConflict || login("password") == "" {
		t.Errorf("remove the last sign-in method: %d %s", r.status, r.body)
	}
	v.leave(t)
	if page, _ := v.do(t, "GET", "/account", nil); strings.Contains(page.body, "Add a passkey") ||
		!strings.Contains(page.body, "Sign in again to make changes") {
		t.Errorf("/account in a browser left open: %s", page.body)
	}
	if r := v.script(t, "/account/passkeys/begin", ""); r.code() != "PROOF_REQUIRED" {
		t.Errorf("add a passkey in a browser left open: %d %s", r.status, r.body)
	}
	_, to := v.do(t, "POST", "/account/logins/end", url.Values{"login": {login("password")}})
	if back := v.again(t, to); back != "/account" {
		t.Errorf("returned to %s, want /account", back)
	}
	c := begin(t, v, "/account/passkeys/begin")
	if r := v.script(t, "/account/passkeys/finish?ticket="+c.Ticket,
		device.create(c.Options.Challenge, "x")); r.status != 200 {
		t.Fatalf("add a passkey: %d %s", r.status, r.body)
	}
	other := &visitor{world: v.world}
	other.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}})
	_, stranger := v.session(t, "admin")
	if r, _ := (&visitor{world: v.world, cookie: stranger}).do(t, "POST", "/account/logins/end",
		url.Values{"login": {login("password")}}); r.status != http.StatusNotFound {
		t.Errorf("remove another member's sign-in method: %d %s", r.status, r.body)
	}
	if _, to := v.do(t, "POST", "/account/logins/end",
		url.Values{"login": {login("password")}}); to != "/account?done=login" || login("password") != "" {
		t.Errorf("remove the password: redirected to %q", to)
	}
	if _, to := other.do(t, "GET", "/account", nil); to == "" {
		t.Error("the other session still works")
	}
	if r, _ := v.do(t, "GET", "/account?done=login", nil); r.status != 200 ||
		!strings.Contains(r.body, "Sign-in method removed") {
		t.Errorf("/account in the session that removed the password: %d %s", r.status, r.body)
	}
}

// A member who posts a form after their session has ended is sent to sign in, and from there to a
// page that exists.
func TestFormsOfEndedSessions(t *testing.T) {
	t.Parallel()
	v := published(t)
	forms := map[string]url.Values{
		"/device":          {"user_code": {"WDJB-MJHT"}},
		"/oauth/authorize": newClient(t, v).asks(v, "read"),
	}
	for _, r := range v.Raw() {
		if method, path, _ := strings.Cut(r.Route, " "); method == "POST" && strings.HasPrefix(path, "/account/") &&
			!strings.Contains(path, "passkeys") {
			forms[path] = nil
		}
	}
	if len(forms) < 5 {
		t.Fatalf("too few forms: %v", forms)
	}
	for path, form := range forms {
		_, to := (&visitor{world: v.world}).do(t, "POST", path, form)
		u, err := url.Parse(to)
		if err != nil || u.Path != "/login" {
			t.Errorf("POST %s redirects to %q, not to /login", path, to)
			continue
		}
		if r, _ := v.do(t, "GET", u.Query().Get("next"), nil); r.status != 200 &&
			(path != "/device" || r.status != 404) {
			t.Errorf("POST %s, then sign in: GET %s returns %d %s", path, u.Query().Get("next"), r.status, r.body)
		}
	}
}

// An OIDC issuer has sessions of its own. Returning from it counts as a new sign-in only if the
// issuer states that the member has just signed in there.
func TestProofByIssuer(t *testing.T) {
	t.Parallel()
	i := signintest.New(t)
	v := settledIn(t, newWorldOn(t, pgtest.URL(t), app.Config{
		OIDCIssuer: i.URL, OIDCClientID: "coffer",
		OIDCClientSecret: seal.NewSecret("secret"), OIDCName: "Example",
	}))
	join := func() (reply, string) { return v.do(t, "POST", "/account/oidc", url.Values{}) }
	v.leave(t)
	if _, to := join(); !strings.HasPrefix(to, "/login?again=1&next=%2Faccount") {
		t.Errorf("add an OIDC identity in a browser left open: redirected to %q", to)
	}
	v.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}})
	r, _ := join()
	to := strings.ReplaceAll(regexp.MustCompile(`class="button" href="([^"]+)"`).FindStringSubmatch(r.body)[1], "&amp;",
		"&")
	if _, next := v.travel(t, to, tripCookie(r)); next != "/account?done=oidc" {
		t.Fatalf("add an OIDC identity: redirected to %q", next)
	}
	proved := func() bool {
		page, _ := v.do(t, "GET", "/account", nil)
		return strings.Contains(page.body, "Add a passkey")
	}
	sign := func(path string) (reply, string) {
		r, to := v.do(t, "GET", path, nil)
		u, err := url.Parse(to)
		if err != nil || strings.Contains(path, "again") != (u.Query().Get("prompt") == "login" &&
			u.Query().Get("max_age") == "0") {
			t.Errorf("%s sends the wrong prompt or max_age to the issuer: %s", path, to)
		}
		return v.travel(t, to, tripCookie(r))
	}
	for name, c := range map[string]struct {
		age    int // seconds since the sign-in at the issuer; 0 if it does not say
		proves bool
	}{"it does not say": {0, false}, "an hour ago": {3600, false}, "just now": {1, true}} {
		i.Set(signintest.Behavior{Age: c.age})
		if _, next := sign("/login/oidc?next=/account"); next != "/account" || proved() != c.proves {
			t.Errorf("%s: sent to %s, proved is %v", name, next, proved())
		}
		v.leave(t)
		r, next := sign("/login/oidc?again=1&next=/device")
		if c.proves && (next != "/device" || !proved()) || !c.proves &&
			(r.status != http.StatusUnauthorized || proved()) {
			t.Errorf("%s, signing in again: %d, sent to %s", name, r.status, next)
		}
	}
}

// An issuer that fails is called once, and then left alone for a few seconds, however many visitors
// want to sign in with it.
func TestIssuerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(gone.Close)
	v := &visitor{world: newWorldOn(t, pgtest.URL(t), app.Config{
		OIDCIssuer: gone.URL, OIDCClientID: "coffer",
		OIDCName: "Example",
	})}
	for range 5 {
		if r, _ := v.do(t, "GET", "/login/oidc", nil); r.status != http.StatusBadGateway ||
			r.header.Get("Retry-After") != "5" {
			t.Errorf("%d, Retry-After %q: %s", r.status, r.header.Get("Retry-After"), r.body)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the issuer was called %d times, want 1", asked.Load())
	}
}

// The server makes browsers keep using HTTPS if its own public address is an HTTPS address.
func TestBrowsersStayWithHTTPS(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://coffer.example.org": "max-age=31536000",
		"http://127.0.0.1:8080":      "", "": "",
	} {
		v := &visitor{world: newWorldOn(t, pgtest.URL(t), app.Config{PublicURL: address})}
		for _, path := range []string{"/login", "/api/v1/health", "/no/such/page"} {
			if r, _ := v.do(t, "GET", path, nil); r.header.Get("Strict-Transport-Security") != want {
				t.Errorf("%s at %q: the header is %q", path, address, r.header.Get("Strict-Transport-Security"))
			}
		}
	}
}

// Failures are counted per network, not per address, because one IPv6 customer has more addresses
// than the server could count.
func TestFailuresOfOneNetwork(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{
		RatePerMinute: 3000, RateBurst: 300, AuthFailures: 20,
		LoginsPerMinute: 10,
	})
	handler, err := w.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	try := func(from string) int {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/tags", http.NoBody)
		req.RemoteAddr = from
		req.Header.Set("X-API-Key", "not a key")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, req)
		return rec.Code
	}
	limited := 0
	for n := range 40 {
		if try(fmt.Sprintf("[2001:db8:0:1::%x]:1234", n)) == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 18 {
		t.Errorf("%d of 40 failures from one network were limited", limited)
	}
	if code := try("[2001:db8:0:2::1]:1234"); code != http.StatusUnauthorized {
		t.Errorf("a caller from the neighboring network: %d", code)
	}
}

package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/surface/web"
)

// A visitor is a browser. It keeps the session's cookie and states which site its requests come
// from. It follows no redirect.
type visitor struct {
	*world
	cookie string
}

func (v *visitor) do(t testing.TB, method, path string, form url.Values, header ...string) (reply, string) {
	t.Helper()
	x := exchange{method: method, path: path, header: map[string]string{
		"Sec-Fetch-Site": "same-origin",
		"User-Agent":     "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}}
	if form != nil {
		x.body, x.kind = form.Encode(), "application/x-www-form-urlencoded"
	}
	if v.cookie != "" {
		x.header["Cookie"] = auth.SessionCookie + "=" + v.cookie
	}
	for i := 0; i < len(header); i += 2 {
		x.header[header[i]] = header[i+1]
	}
	req, err := http.NewRequestWithContext(t.Context(), x.method, v.url+x.path, strings.NewReader(x.body))
	if err != nil {
		t.Fatal(err)
	}
	if x.kind != "" {
		req.Header.Set("Content-Type", x.kind)
	}
	for k, value := range x.header {
		req.Header.Set(k, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	var body bytes.Buffer
	if _, err := body.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	for _, c := range res.Cookies() {
		if c.Name == auth.SessionCookie {
			v.cookie = c.Value
		}
	}
	return reply{res.StatusCode, body.String(), res.Header}, res.Header.Get("Location")
}

const password = "correct horse battery staple"

// settled returns the browser of Robin, who has set up a household.
func settled(t *testing.T) *visitor {
	t.Helper()
	return settledIn(t, newWorld(t))
}

func settledIn(t *testing.T, w *world) *visitor {
	t.Helper()
	v := &visitor{world: w}
	ticket, err := v.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r, to := v.do(t, "POST", "/setup/"+ticket, url.Values{
		"name": {"Robin"}, "email": {"robin@example.com"},
		"password": {password},
	})
	if r.status != http.StatusSeeOther || to != "/" || v.cookie == "" {
		t.Fatalf("set up: %d %s %s", r.status, to, r.body)
	}
	return v
}

// TestSetupTakesTheCurrencyOfThePlace: a new household gets the currency of its first admin's
// country, which the browser's languages indicate.
func TestSetupTakesTheCurrencyOfThePlace(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	for accepted, want := range map[string]string{
		"en-US,en;q=0.9": "USD", "de-DE,de;q=0.9,en;q=0.8": "EUR", "en-GB": "GBP", "": "EUR", "es-419": "EUR",
	} {
		w := newWorld(t)
		v := &visitor{world: w}
		ticket, err := w.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := v.do(t, "POST", "/setup/"+ticket, url.Values{
			"name": {"Robin"}, "email": {"robin@example.com"}, "password": {password},
		}, "Accept-Language", accepted); r.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", accepted, r.status, r.body)
		}
		got, err := pg.Value[string](t.Context(), w.DB, `select default_currency from setting`)
		if err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", accepted, got, err, want)
		}
	}
}

// TestSetupKeepsACurrencyThatWasChosen: setup does not change settings that somebody made before.
func TestSetupKeepsACurrencyThatWasChosen(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	if _, err := pg.Exec(t.Context(), w.DB, `update setting set default_currency = 'CHF',
		updated_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	ticket, err := w.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{world: w}
	v.do(t, "POST", "/setup/"+ticket, url.Values{
		"name": {"Robin"}, "email": {"robin@example.com"}, "password": {password},
	}, "Accept-Language", "en-US")
	if got, err := pg.Value[string](t.Context(), w.DB, `select default_currency from setting`); err != nil ||
		got != "CHF" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestSetupHappensOnce(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	w := newWorld(t)
	ticket, err := w.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{world: w}
	if r, _ := v.do(t, "GET", "/setup/"+ticket, nil); r.status != 200 {
		t.Fatalf("the page: %d %s", r.status, r.body)
	}
	if r, _ := v.do(t, "GET", "/setup/"+strings.Repeat("A", 43), nil); r.status != 404 {
		t.Errorf("another token: %d", r.status)
	}
	if r, _ := v.do(t, "POST", "/setup/"+ticket, url.Values{
		"name": {"Robin"}, "email": {"robin@example.com"},
		"password": {"short"},
	}); r.status != 400 || !strings.Contains(r.body, "at least 10") ||
		!strings.Contains(r.body, "robin@example.com") {
		t.Errorf("a short password: %d %s", r.status, r.body)
	}
	var all sync.WaitGroup
	var made atomic.Int64
	for n := range 6 {
		all.Go(func() {
			one := &visitor{world: w}
			if r, _ := one.do(t, "POST", "/setup/"+ticket,
				url.Values{
					"name": {"Robin"}, "email": {fmt.Sprintf("robin%d@example.com", n)},
					"password": {password},
				}); r.status == http.StatusSeeOther {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d of 6 set the household up", made.Load())
	}
	if n, err := pg.Value[string](t.Context(), w.DB, `select string_agg(name, ',') from member
		where deleted_at is null`); err != nil || n != "Robin" {
		t.Errorf("the members are %s, %v", n, err)
	}
	again, err := w.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := v.do(t, "POST", "/setup/"+again, url.Values{
		"name": {"Eve"}, "email": {"eve@example.com"},
		"password": {password},
	}); r.status != http.StatusConflict {
		t.Errorf("set up again: %d %s", r.status, r.body)
	}
}

func TestSigningIn(t *testing.T) {
	t.Parallel()
	v := settled(t)
	first := v.cookie
	sign := func(site, password string) reply {
		r, _ := v.do(t, "POST", "/auth/login", nil)
		if r.status != http.StatusUnsupportedMediaType {
			t.Errorf("without a body: %d", r.status)
		}
		x := exchange{
			method: "POST", path: "/auth/login",
			body:   fmt.Sprintf(`{"email":"ROBIN@example.com","password":%q}`, password),
			header: map[string]string{"Sec-Fetch-Site": site, "Cookie": auth.SessionCookie + "=" + v.cookie},
		}
		r = v.send(t, x)
		validateResponse(t, x, r)
		return r
	}
	if r := sign("cross-site", password); r.code() != "FORBIDDEN" {
		t.Errorf("from a page of another site: %d %s", r.status, r.body)
	}
	if r := sign("same-origin", "not the password"); r.code() != "INVALID_LOGIN" {
		t.Errorf("a wrong password: %d %s", r.status, r.body)
	}
	r := sign("same-origin", password)
	set := r.header.Get("Set-Cookie")
	if r.status != 200 || !regexp.MustCompile(
		`^__Host-coffer=[0-9A-Za-z]{43}; Path=/; Max-Age=1209600; HttpOnly; Secure; SameSite=Lax$`).MatchString(set) {
		t.Fatalf("%d %s %s", r.status, r.body, set)
	}
	v.cookie = strings.TrimPrefix(strings.SplitN(set, ";", 2)[0], auth.SessionCookie+"=")
	if v.cookie == first {
		t.Error("signing in kept the session")
	}
	old := &visitor{world: v.world, cookie: first}
	if r, _ := old.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, `"signed_in":false`) {
		t.Errorf("the session from before goes on: %s", r.body)
	}
	r, _ = v.do(t, "GET", "/auth/session", nil)
	if !strings.Contains(r.body, `"signed_in":true`) || !strings.Contains(r.body, `"Robin"`) {
		t.Errorf("the session: %s", r.body)
	}
	var shown struct {
		Session struct {
			ProvedUntil time.Time `json:"proved_until"`
		} `json:"session"`
		Can struct{ Write, Admin bool } `json:"can"`
	}
	if err := json.Unmarshal([]byte(r.body), &shown); err != nil || !shown.Can.Write || !shown.Can.Admin {
		t.Errorf("an admin's session says %+v, %v", shown, err)
	}
	if left := time.Until(shown.Session.ProvedUntil); left > auth.ProofLife || left < auth.ProofLife-time.Minute {
		t.Errorf("the proof of a new session ends in %s, not in %s", left, auth.ProofLife)
	}
	validateResponse(t, exchange{method: "GET", path: "/auth/session"}, r)
	for role, want := range map[string]string{
		"member": `"can":{"write":true,"admin":false}`, "viewer": `"can":{"write":false,"admin":false}`,
	} {
		_, cookie := v.session(t, role)
		other := &visitor{world: v.world, cookie: cookie}
		if r, _ := other.do(t, "GET", "/auth/session", nil); !strings.Contains(r.body, want) {
			t.Errorf("the session of a %s: %s", role, r.body)
		}
	}
	// A session works in place of a key. A change must come from one of coffer's pages.
	post := func(header ...string) reply {
		x := exchange{
			method: "POST", path: "/api/v1/tags", body: `{"slug":"by-hand"}`,
			header: map[string]string{"Cookie": auth.SessionCookie + "=" + v.cookie},
		}
		for i := 0; i < len(header); i += 2 {
			x.header[header[i]] = header[i+1]
		}
		return v.send(t, x)
	}
	for _, foreign := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		if r := post(foreign...); r.code() != "FORBIDDEN" {
			t.Errorf("%v: %d %s", foreign, r.status, r.body)
		}
	}
	if r := post("Sec-Fetch-Site", "same-origin"); r.status != 201 {
		t.Errorf("from a page of ours: %d %s", r.status, r.body)
	}
	if r := v.send(t, exchange{
		method: "POST", path: "/api/v1/tags", key: v.key, body: `{"slug":"by-key"}`,
		header: map[string]string{"Sec-Fetch-Site": "cross-site"},
	}); r.status != 201 {
		t.Errorf("a key needs no page: %d %s", r.status, r.body)
	}
	by, err := pg.Value[string](t.Context(), v.DB,
		`select actor_type || ' ' || actor_name || ' ' || (actor_id = (select id from member where name = 'Robin')) from change order by id limit 1`)
	if err != nil || by != "user Robin true" {
		t.Errorf("the change was made by %s, %v", by, err)
	}
	// A repeated Idempotency-Key in the same session returns the stored response.
	if a, b := post("Idempotency-Key", "k"), post("Idempotency-Key", "k"); a.status != 409 ||
		b.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("repeated: %d, then %d %s", a.status, b.status, b.header.Get("Idempotency-Replayed"))
	}
	sign("same-origin", password)
	if r, _ := v.do(t, "POST", "/auth/logout", nil, "Sec-Fetch-Site", "cross-site"); r.status != http.StatusForbidden {
		t.Errorf("signed out by another site: %d", r.status)
	}
	if r, _ := v.do(t, "POST", "/auth/logout", nil); r.status != http.StatusNoContent || v.cookie != "" {
		t.Errorf("sign out: %d", r.status)
	}
}

// Signing in must never send someone to another site.
func TestNextStaysInside(t *testing.T) {
	t.Parallel()
	v := settled(t)
	for next, want := range map[string]string{
		"/device?user_code=A": "/device?user_code=A", "": "/", "https://evil.example": "/",
		"//evil.example": "/", "/\\evil.example": "/",
		"javascript:alert(1)": "/", "///evil.example": "/", "/%09/evil.example": "/%09/evil.example",
		"http:evil": "/", "evil": "/",
	} {
		_, to := v.do(t, "POST", "/login", url.Values{
			"email": {"robin@example.com"}, "password": {password},
			"next": {next},
		})
		if to != want {
			t.Errorf("next %q leads to %q", next, to)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	v := settled(t)
	ticket, err := v.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	asking, _, err := v.Auth.Ask(t.Context(), `<script>alert(1)</script>`, "read_only", "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	inline := regexp.MustCompile(`(?i)<style|style=|<script>|<script src="http|\son[a-z]+=|javascript:|http-equiv`)
	for _, path := range []string{
		"/login", "/login?next=/device", "/account", "/account?done=%3Cscript%3E",
		"/setup/" + ticket, "/setup/wrong", "/device", "/device?user_code=" + asking.UserCode,
		"/device?user_code=%3Cb%3E",
	} {
		r, _ := v.do(t, "GET", path, nil)
		policy := r.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "form-action 'self'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if found := inline.FindString(r.body); found != "" || r.header.Get("Cache-Control") != "no-store" ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %q in the page, %v", path, found, r.header)
		}
	}
	if r, _ := v.do(t, "POST", "/login", url.Values{
		"email":    {`"><script>`},
		"password": {"x"},
	}); r.status != http.StatusUnauthorized || inline.MatchString(r.body) ||
		!strings.Contains(r.body, "Wrong email or password.") {
		t.Errorf("a wrong login: %d %s", r.status, r.body)
	}
	// A member who knows the password can change it. The other sessions end.
	other := &visitor{world: v.world}
	other.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}})
	if r, _ := v.do(t, "POST", "/account/password", url.Values{
		"old": {"not it, surely"},
		"new": {"another long password"},
	}); r.status != http.StatusUnauthorized {
		t.Errorf("with a wrong password: %d %s", r.status, r.body)
	}
	if r, to := v.do(t, "POST", "/account/password", url.Values{
		"old": {password},
		"new": {"another long password"},
	}); to != "/account?done=password" {
		t.Errorf("change: %d %s", r.status, r.body)
	}
	if _, to := other.do(t, "GET", "/account", nil); to != "/login?next=%2Faccount" {
		t.Errorf("the other session goes on: %q", to)
	}
	other.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {"another long password"}})
	page, _ := v.do(t, "GET", "/account", nil)
	session := regexp.MustCompile(`name="session" value="(\w+)"`).FindStringSubmatch(page.body)
	if session == nil {
		t.Fatalf("the other session is not shown: %s", page.body)
	}
	if _, to := v.do(t, "POST", "/account/sessions/end",
		url.Values{"session": {session[1]}}); to != "/account?done=session" {
		t.Errorf("end the other: %q", to)
	}
	if _, to := other.do(t, "GET", "/account", nil); to == "" {
		t.Error("the other session goes on")
	}
}

// TestFormsTakeOnlyText: if a form field is not text, the sender gets a client error. This holds
// for pages and programs.
func TestFormsTakeOnlyText(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	for _, strange := range []string{"\x00", "a\x00b", "\xff\xfe", strings.Repeat("é", 30_000)} {
		forms := map[string]url.Values{
			"POST /login":                      {"email": {strange}, "password": {strange}, "next": {strange}},
			"POST /account/password":           {"old": {strange}, "new": {strange}},
			"POST /account/sessions/end":       {"session": {strange}},
			"POST /account/assistants/end":     {"assistant": {strange}},
			"POST /device":                     {"user_code": {strange}, "decision": {"grant"}},
			"POST /setup/x":                    {"name": {strange}, "email": {strange}, "password": {strange}},
			"POST /oauth/device_authorization": {"client_id": {strange}}, "POST /oauth/revoke": {"token": {strange}},
			"POST /oauth/authorize": {"client_id": {strange}},
			"POST /oauth/token":     {"grant_type": {"authorization_code"}, "client_id": {strange}, "code": {strange}},
		}
		for _, name := range []string{"client_id", "redirect_uri", "scope", "state", "code_challenge", "resource"} {
			ask := c.asks(v, "read")
			ask.Set(name, strange)
			forms["GET /oauth/authorize?"+ask.Encode()] = nil
		}
		for _, path := range []string{"/login?next=", "/device?user_code=", "/account?done=", "/setup/"} {
			forms["GET "+path+url.QueryEscape(strange)] = nil
		}
		for route, form := range forms {
			method, path, _ := strings.Cut(route, " ")
			if r, _ := v.do(t, method, path, form); r.status >= 500 {
				t.Errorf("%.60s with %.10q: %d %s", route, strange, r.status, r.body)
			}
		}
		body, _ := json.Marshal(map[string]string{"email": strange, "password": strange})
		if r := v.send(t, exchange{
			method: "POST", path: "/auth/login", body: string(body),
			header: map[string]string{"Sec-Fetch-Site": "same-origin"},
		}); r.status >= 500 {
			t.Errorf("/auth/login with %.10q: %d %s", strange, r.status, r.body)
		}
	}
	if r := v.send(t, exchange{
		method: "POST", path: "/oauth/token", body: "grant_type=refresh_token&refresh_token=x",
		kind: "application/x-www-form-urlencoded",
		header: map[string]string{"Authorization": "Basic " +
			base64.StdEncoding.EncodeToString([]byte("%00:"))},
	}); r.status != 401 {
		t.Errorf("a client's name that is not text: %d %s", r.status, r.body)
	}
}

// After too many tries, the page states when to come back.
func TestTooManySignInsOnThePage(t *testing.T) {
	t.Parallel()
	v := settled(t)
	var last reply
	for range 12 {
		last, _ = (&visitor{world: v.world}).do(t, "POST", "/login",
			url.Values{"email": {"robin@example.com"}, "password": {"not the password"}})
	}
	if after, err := strconv.Atoi(last.header.Get("Retry-After")); last.status != http.StatusTooManyRequests ||
		err != nil || after < 1 || !strings.Contains(last.body, `role="alert"`) {
		t.Errorf("%d, Retry-After %q: %s", last.status, last.header.Get("Retry-After"), last.body)
	}
}

// TestWebApp: only members can open the web app. The server redirects others to sign in, and an
// unknown address is not found.
func TestWebApp(t *testing.T) {
	t.Parallel()
	v := settled(t)
	stranger := &visitor{world: v.world}
	for _, path := range slices.AppendSeq(web.Screens(), maps.Keys(web.Moved())) {
		path = strings.ReplaceAll(strings.TrimSuffix(path, "{$}"), "{id}", "k3xK9a2Q")
		if _, to := stranger.do(t, "GET", path, nil); to != "/login?next="+url.QueryEscape(path) {
			t.Errorf("%s leads a stranger to %q", path, to)
		}
		r, to := v.do(t, "GET", path, nil)
		if to != "" || r.status != http.StatusOK || !strings.Contains(r.body, "coffer") {
			t.Errorf("%s returns %d %q to a member", path, r.status, to)
		}
	}
	for path, want := range map[string]int{
		"/targets/nope": http.StatusNotFound, "/no-such-address": http.StatusNotFound,
		"/nope": http.StatusNotFound, "/transactions/nope": http.StatusNotFound, "/wp-admin.php": http.StatusNotFound,
		"/api/v1/nope": http.StatusNotFound, "/auth/login": http.StatusMethodNotAllowed,
		"/assets/gone-1.js": http.StatusNotFound, "/docs": http.StatusOK,
	} {
		if r, _ := v.do(t, "GET", path, nil); r.status != want {
			t.Errorf("%s: %d, not %d", path, r.status, want)
		}
	}
}

package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/auth"
	"coffer/internal/pg"
)

// A visitor is a browser: it keeps the session's cookie, says where its requests come from, and follows no redirect.
type visitor struct {
	*world
	cookie string
}

func (v *visitor) do(t testing.TB, method, path string, form url.Values, header ...string) (reply, string) {
	t.Helper()
	x := exchange{method: method, path: path, header: map[string]string{"Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}}
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

// settled is a household that Robin has set up, with Robin's browser.
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
	r, to := v.do(t, "POST", "/setup/"+ticket, url.Values{"name": {"Robin"}, "email": {"robin@example.com"}, "password": {password}})
	if r.status != http.StatusSeeOther || to != "/account?done=welcome" || v.cookie == "" {
		t.Fatalf("set up: %d %s %s", r.status, to, r.body)
	}
	return v
}

func TestSetupHappensOnce(t *testing.T) {
	t.Parallel()
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
	if r, _ := v.do(t, "POST", "/setup/"+ticket, url.Values{"name": {"Robin"}, "email": {"robin@example.com"}, "password": {"short"}}); r.status != 400 || !strings.Contains(r.body, "at least 12") || !strings.Contains(r.body, "robin@example.com") {
		t.Errorf("a short password: %d %s", r.status, r.body)
	}
	var all sync.WaitGroup
	var made atomic.Int64
	for n := range 6 {
		all.Go(func() {
			one := &visitor{world: w}
			if r, _ := one.do(t, "POST", "/setup/"+ticket, url.Values{"name": {"Robin"}, "email": {fmt.Sprintf("robin%d@example.com", n)}, "password": {password}}); r.status == http.StatusSeeOther {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("%d of 6 set the household up", made.Load())
	}
	if n, err := pg.Value[string](t.Context(), w.DB, `select string_agg(name, ',') from member where deleted_at is null`); err != nil || n != "Robin" {
		t.Errorf("the members are %s, %v", n, err)
	}
	again, err := w.Auth.Issue(t.Context(), auth.SetupTicket, auth.Ticket{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := v.do(t, "POST", "/setup/"+again, url.Values{"name": {"Eve"}, "email": {"eve@example.com"}, "password": {password}}); r.status != http.StatusConflict {
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
		x := exchange{method: "POST", path: "/auth/login", body: fmt.Sprintf(`{"email":"ROBIN@example.com","password":%q}`, password), header: map[string]string{"Sec-Fetch-Site": site, "Cookie": auth.SessionCookie + "=" + v.cookie}}
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
	if r.status != 200 || !regexp.MustCompile(`^__Host-coffer=[0-9A-Za-z]{43}; Path=/; Max-Age=1209600; HttpOnly; Secure; SameSite=Lax$`).MatchString(set) {
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
	validateResponse(t, exchange{method: "GET", path: "/auth/session"}, r)
	// A session works in place of a key; what changes something must come from a page of ours.
	post := func(header ...string) reply {
		x := exchange{method: "POST", path: "/api/v1/tags", body: `{"slug":"by-hand"}`, header: map[string]string{"Cookie": auth.SessionCookie + "=" + v.cookie}}
		for i := 0; i < len(header); i += 2 {
			x.header[header[i]] = header[i+1]
		}
		return v.send(t, x)
	}
	for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		if r := post(foreign...); r.code() != "FORBIDDEN" {
			t.Errorf("%v: %d %s", foreign, r.status, r.body)
		}
	}
	if r := post("Sec-Fetch-Site", "same-origin"); r.status != 201 {
		t.Errorf("from a page of ours: %d %s", r.status, r.body)
	}
	if r := v.send(t, exchange{method: "POST", path: "/api/v1/tags", key: v.key, body: `{"slug":"by-key"}`, header: map[string]string{"Sec-Fetch-Site": "cross-site"}}); r.status != 201 {
		t.Errorf("a key needs no page: %d %s", r.status, r.body)
	}
	by, err := pg.Value[string](t.Context(), v.DB, `select actor_type || ' ' || actor_name || ' ' || (actor_id = (select id from member where name = 'Robin')) from change order by id limit 1`)
	if err != nil || by != "user Robin true" {
		t.Errorf("the change was made by %s, %v", by, err)
	}
	// The same Idempotency-Key in another session is another call.
	if a, b := post("Idempotency-Key", "k"), post("Idempotency-Key", "k"); a.status != 409 || b.header.Get("Idempotency-Replayed") != "true" {
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
		"/device?user_code=A": "/device?user_code=A", "": "/account", "https://evil.example": "/account", "//evil.example": "/account", "/\\evil.example": "/account",
		"javascript:alert(1)": "/account", "///evil.example": "/account", "/%09/evil.example": "/%09/evil.example", "http:evil": "/account", "evil": "/account",
	} {
		_, to := v.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}, "next": {next}})
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
	for _, path := range []string{"/login", "/login?next=/device", "/account", "/account?done=%3Cscript%3E", "/setup/" + ticket, "/setup/wrong", "/device", "/device?user_code=" + asking.UserCode, "/device?user_code=%3Cb%3E"} {
		r, _ := v.do(t, "GET", path, nil)
		policy := r.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "form-action 'self'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if found := inline.FindString(r.body); found != "" || r.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %q in the page, %v", path, found, r.header)
		}
	}
	if r, _ := v.do(t, "POST", "/login", url.Values{"email": {`"><script>`}, "password": {"x"}}); r.status != http.StatusUnauthorized || inline.MatchString(r.body) || !strings.Contains(r.body, "wrong.") {
		t.Errorf("a wrong login: %d %s", r.status, r.body)
	}
	// The password is changed by who knows it; other sessions end.
	other := &visitor{world: v.world}
	other.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}})
	if r, _ := v.do(t, "POST", "/account/password", url.Values{"old": {"not it, surely"}, "new": {"another long password"}}); r.status != http.StatusUnauthorized {
		t.Errorf("with a wrong password: %d %s", r.status, r.body)
	}
	if r, to := v.do(t, "POST", "/account/password", url.Values{"old": {password}, "new": {"another long password"}}); to != "/account?done=password" {
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
	if _, to := v.do(t, "POST", "/account/sessions/end", url.Values{"session": {session[1]}}); to != "/account?done=session" {
		t.Errorf("end the other: %q", to)
	}
	if _, to := other.do(t, "GET", "/account", nil); to == "" {
		t.Error("the other session goes on")
	}
}

func (v *visitor) ask(t testing.TB, scope string) (device, user string) {
	t.Helper()
	r, _ := v.do(t, "POST", "/oauth/device_authorization", url.Values{"client_id": {"laptop"}, "scope": {scope}})
	var a struct {
		Device string `json:"device_code"`
		User   string `json:"user_code"`
	}
	if err := json.Unmarshal([]byte(r.body), &a); err != nil || a.Device == "" {
		t.Fatalf("ask: %d %s", r.status, r.body)
	}
	return a.Device, a.User
}

func (v *visitor) poll(t testing.TB, device string) (reply, string) {
	t.Helper()
	r, _ := v.do(t, "POST", "/oauth/token", url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device}})
	var e struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal([]byte(r.body), &e)
	return r, e.Error
}

func TestDeviceGrant(t *testing.T) {
	t.Parallel()
	v := settled(t)
	program := &visitor{world: v.world}
	device, user := program.ask(t, "full_access")
	for i, want := range []string{"authorization_pending", "slow_down", "slow_down"} {
		if r, fault := program.poll(t, device); r.status != 400 || fault != want {
			t.Errorf("poll %d: %d %s, want %s", i, r.status, fault, want)
		}
	}
	if r, to := program.do(t, "GET", "/device?user_code="+user, nil); r.status != http.StatusSeeOther || !strings.HasPrefix(to, "/login?next=") {
		t.Errorf("nobody is signed in: %d %s", r.status, to)
	}
	for _, role := range []string{"member", "viewer"} {
		_, cookie := v.session(t, role)
		other := &visitor{world: v.world, cookie: cookie}
		if r, _ := other.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"grant"}, "scope": {"full_access"}}); r.status != http.StatusForbidden {
			t.Errorf("a %s granted: %d", role, r.status)
		}
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"grant"}, "scope": {"full_access"}}, "Sec-Fetch-Site", "cross-site"); r.status != http.StatusForbidden {
		t.Errorf("granted from another site: %d", r.status)
	}
	page, _ := v.do(t, "GET", "/device?user_code="+strings.ToLower(strings.ReplaceAll(user, "-", "")), nil)
	if !strings.Contains(page.body, "laptop") || !strings.Contains(page.body, user) || !strings.Contains(page.body, "127.0.0.1") {
		t.Errorf("the page: %s", page.body)
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"grant"}, "scope": {"read_only"}}); r.status != 200 {
		t.Fatalf("grant: %d %s", r.status, r.body)
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"grant"}}); r.status != http.StatusNotFound {
		t.Errorf("granted twice: %d", r.status)
	}
	r, _ := program.poll(t, device)
	var got struct {
		Key   string `json:"access_token"`
		Type  string `json:"token_type"`
		Scope string `json:"scope"`
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 || got.Scope != "read_only" || got.Type != "Bearer" {
		t.Fatalf("the key: %d %s", r.status, r.body)
	}
	me := v.send(t, exchange{method: "GET", path: "/api/v1/keys/me", key: got.Key})
	if !strings.Contains(me.body, `"laptop"`) || !strings.Contains(me.body, `"read_only"`) {
		t.Errorf("who it is: %s", me.body)
	}
	if _, fault := program.poll(t, device); fault != "invalid_grant" {
		t.Errorf("fetched twice: %s", fault)
	}
	// A key is of the member who granted it: it goes with the member.
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token t join member m on m.id = t.member_id where t.name = 'laptop' and m.name = 'Robin'`); err != nil || n != 1 {
		t.Errorf("whose is the key: %d, %v", n, err)
	}
	if r, _ := program.do(t, "POST", "/oauth/revoke", url.Values{"token": {got.Key}}); r.status != 200 {
		t.Errorf("give it back: %d", r.status)
	}
	if r := v.send(t, exchange{method: "GET", path: "/api/v1/keys/me", key: got.Key}); r.code() != "REVOKED_API_KEY" {
		t.Errorf("after that: %d %s", r.status, r.body)
	}
	device, user = program.ask(t, "")
	v.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"refuse"}})
	if _, fault := program.poll(t, device); fault != "access_denied" {
		t.Errorf("refused: %s", fault)
	}
	device, user = program.ask(t, "read_only")
	if _, err := v.DB.Exec(t.Context(), `update device set expires_at = now() where user_code = $1`, user); err != nil {
		t.Fatal(err)
	}
	if _, fault := program.poll(t, device); fault != "expired_token" {
		t.Errorf("too late: %s", fault)
	}
	for body, want := range map[string]string{
		"": "invalid_request", "grant_type=password": "unsupported_grant_type", "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code": "invalid_grant",
	} {
		values, _ := url.ParseQuery(body)
		r, _ := program.do(t, "POST", "/oauth/token", values)
		if !strings.Contains(r.body, `"error":"`+want+`"`) || r.status != 400 {
			t.Errorf("%q: %d %s", body, r.status, r.body)
		}
	}
}

// After the grant a thousand polls at once fetch exactly one key.
func TestDeviceKeyIsFetchedOnce(t *testing.T) {
	t.Parallel()
	v := settled(t)
	device, user := v.ask(t, "full_access")
	if r, _ := v.do(t, "POST", "/device", url.Values{"user_code": {user}, "decision": {"grant"}, "scope": {"full_access"}}); r.status != 200 {
		t.Fatal(r.body)
	}
	handler, err := v.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	body := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device}}.Encode()
	var all sync.WaitGroup
	var fetched, refused, other atomic.Int64
	begin := make(chan struct{})
	for range 1000 {
		all.Go(func() {
			<-begin
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/oauth/token", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, req)
			switch {
			case w.Code == 200 && strings.Contains(w.Body.String(), "coffer_"):
				fetched.Add(1)
			case w.Code == 400 && strings.Contains(w.Body.String(), "invalid_grant"):
				refused.Add(1)
			default:
				other.Add(1)
			}
		})
	}
	close(begin)
	all.Wait()
	if fetched.Load() != 1 || other.Load() != 0 {
		t.Errorf("%d fetched the key, %d were refused, %d got something else", fetched.Load(), refused.Load(), other.Load())
	}
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token where name = 'laptop'`); err != nil || n != 1 {
		t.Errorf("%d keys were made, %v", n, err)
	}
}

// The command line logs in to two servers, switches between them and leaves one.
func TestLoginCommand(t *testing.T) { //nolint:paralleltest // it sets the environment
	dir := t.TempDir()
	for name, value := range map[string]string{"XDG_CONFIG_HOME": dir, "COFFER_SERVER": "", "COFFER_API_KEY": "", "COFFER_DATABASE_URL": ""} {
		t.Setenv(name, value)
	}
	run := func(args ...string) string {
		var out bytes.Buffer
		code := app.Main(args, strings.NewReader(""), &out, &out)
		return fmt.Sprintf("%s(exit %d)", out.String(), code)
	}
	homes := []*visitor{settled(t), settled(t)}
	for _, v := range homes {
		var all sync.WaitGroup
		all.Go(func() {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				code, err := pg.Value[string](t.Context(), v.DB, `select user_code from device where state = 'pending'`)
				if err == nil {
					v.do(t, "POST", "/device", url.Values{"user_code": {code}, "decision": {"grant"}, "scope": {"full_access"}})
					return
				}
			}
		})
		if out := run("login", "--server", v.url, "--scope", "full_access", "--name", "test"); !strings.Contains(out, "You are logged in to "+v.url+" (full_access)") {
			t.Fatal(out)
		}
		all.Wait()
	}
	file := filepath.Join(dir, "coffer", "hosts.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
	if out := run("tag", "create", "--slug", "second"); !strings.Contains(out, `"slug":"second"`) {
		t.Errorf("a command on the last one: %s", out)
	}
	if out := run("login", "switch", strings.TrimPrefix(homes[0].url, "http://")); !strings.Contains(out, "run on "+homes[0].url) {
		t.Error(out)
	}
	if out := run("tag", "get", "second"); !strings.Contains(out, "NOT_FOUND") && !strings.Contains(out, "exit 4") {
		t.Errorf("a command on the first one: %s", out)
	}
	if out := run("tag", "get", "second", "--server", homes[1].url); !strings.Contains(out, `"slug":"second"`) {
		t.Errorf("a command on the other one: %s", out)
	}
	if out := run("tag", "list", "--server", "http://127.0.0.1:1"); strings.Contains(out, "exit 0") {
		t.Errorf("a server that there is no key for: %s", out)
	}
	if out := run("login", "status"); !strings.Contains(out, "* "+homes[0].url+"  full_access  good") || !strings.Contains(out, "  "+homes[1].url+"  full_access  good") {
		t.Error(out)
	}
	if out := run("login", "logout"); !strings.Contains(out, "its key is revoked") {
		t.Error(out)
	}
	if out := run("login", "status"); strings.Contains(out, homes[0].url) || !strings.Contains(out, "* "+homes[1].url) {
		t.Error(out)
	}
	raw, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(raw), homes[0].url) {
		t.Errorf("%s %v", raw, err)
	}
}

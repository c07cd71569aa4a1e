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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
)

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
	r, _ := v.do(t, "POST", "/oauth/token", url.Values{
		"grant_type":  {"urn:ietf:params:oauth:grant-type:device_code"},
		"device_code": {device},
	})
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
	if r, to := program.do(t, "GET", "/device?user_code="+user, nil); r.status != http.StatusSeeOther ||
		!strings.HasPrefix(to, "/login?next=") {
		t.Errorf("nobody is signed in: %d %s", r.status, to)
	}
	for _, role := range []string{"member", "viewer"} {
		_, cookie := v.session(t, role)
		other := &visitor{world: v.world, cookie: cookie}
		if r, _ := other.do(t, "POST", "/device", url.Values{
			"user_code": {user}, "decision": {"grant"},
			"scope": {"full_access"},
		}); r.status != http.StatusForbidden {
			t.Errorf("a %s granted: %d", role, r.status)
		}
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{
		"user_code": {user}, "decision": {"grant"},
		"scope": {"full_access"},
	}, "Sec-Fetch-Site", "cross-site"); r.status != http.StatusForbidden {
		t.Errorf("granted from another site: %d", r.status)
	}
	page, _ := v.do(t, "GET", "/device?user_code="+strings.ToLower(strings.ReplaceAll(user, "-", "")), nil)
	if !strings.Contains(page.body, "laptop") || !strings.Contains(page.body, user) ||
		!strings.Contains(page.body, "127.0.0.1") {
		t.Errorf("the page: %s", page.body)
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{
		"user_code": {user}, "decision": {"grant"},
		"scope": {"read_only"},
	}); r.status != 200 {
		t.Fatalf("grant: %d %s", r.status, r.body)
	}
	if r, _ := v.do(t, "POST", "/device", url.Values{
		"user_code": {user},
		"decision":  {"grant"},
	}); r.status != http.StatusNotFound {
		t.Errorf("granted twice: %d", r.status)
	}
	r, _ := program.poll(t, device)
	var got struct {
		Key   string `json:"access_token"`
		Type  string `json:"token_type"`
		Scope string `json:"scope"`
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil || r.status != 200 || got.Scope != "read_only" ||
		got.Type != "Bearer" {
		t.Fatalf("the key: %d %s", r.status, r.body)
	}
	me := v.send(t, exchange{method: "GET", path: "/api/v1/keys/me", key: got.Key})
	if !strings.Contains(me.body, `"laptop"`) || !strings.Contains(me.body, `"read_only"`) {
		t.Errorf("who it is: %s", me.body)
	}
	if _, fault := program.poll(t, device); fault != "invalid_grant" {
		t.Errorf("fetched twice: %s", fault)
	}
	// The key belongs to the member who granted it, and ends when the member leaves.
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token t
		join member m on m.id = t.member_id where t.name = 'laptop' and m.name = 'Robin'`); err != nil || n != 1 {
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
		"": "invalid_request", "grant_type=password": "unsupported_grant_type",
		"grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code": "invalid_grant",
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
	racetest.Concurrent(t)
	v := settled(t)
	device, user := v.ask(t, "full_access")
	if r, _ := v.do(t, "POST", "/device", url.Values{
		"user_code": {user}, "decision": {"grant"},
		"scope": {"full_access"},
	}); r.status != 200 {
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
		t.Errorf("%d fetched the key, %d were refused, %d got something else", fetched.Load(), refused.Load(),
			other.Load())
	}
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token
		where name = 'laptop'`); err != nil || n != 1 {
		t.Errorf("%d keys were made, %v", n, err)
	}
}

// The command line logs in to two servers, switches between them and leaves one.
func TestLoginCommand(t *testing.T) { //nolint:paralleltest // it sets the environment
	dir := t.TempDir()
	for name, value := range map[string]string{
		"XDG_CONFIG_HOME": dir, "COFFER_SERVER": "", "COFFER_API_KEY": "",
		"COFFER_DATABASE_URL": "",
	} {
		t.Setenv(name, value)
	}
	run := func(args ...string) string {
		var out bytes.Buffer
		code := app.Main(args, strings.NewReader(""), &out, &out)
		return fmt.Sprintf("%s(exit %d)", out.String(), code)
	}
	file := filepath.Join(dir, "coffer", "hosts.json")
	homes := []*visitor{settled(t), settled(t)}
	for _, v := range homes {
		var all sync.WaitGroup
		all.Go(func() {
			for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(
				20 * time.Millisecond) {
				code, err := pg.Value[string](t.Context(), v.DB, `select user_code from device where state = 'pending'`)
				if err == nil {
					meanwhile(t, file)
					v.do(t, "POST", "/device", url.Values{
						"user_code": {code}, "decision": {"grant"},
						"scope": {"full_access"},
					})
					return
				}
			}
		})
		if out := run("login", "--server", v.url, "--scope", "full_access", "--name", "test"); !strings.Contains(out,
			"Logged in to "+v.url+" (full_access)") {
			t.Fatal(out)
		}
		all.Wait()
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info.Mode(), err)
	}
	if out := run("tag", "create", "--slug", "second"); !strings.Contains(out, `"slug":"second"`) {
		t.Errorf("a command on the last one: %s", out)
	}
	if out := run("login", "switch", strings.TrimPrefix(homes[0].url, "http://")); !strings.Contains(out,
		"now use "+homes[0].url) {
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
	if out := run("login", "status"); !strings.Contains(out, "* "+homes[0].url+"  full_access  good") ||
		!strings.Contains(out, "  "+homes[1].url+"  full_access  good") {
		t.Error(out)
	}
	if raw, err := os.ReadFile(file); err != nil || !strings.Contains(string(raw), "http://localhost:1/meanwhile") {
		t.Errorf("what was stored while the program waited is lost: %s %v", raw, err)
	}
	if out := run("login", "logout"); !strings.Contains(out, "Key revoked") {
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

// meanwhile writes the login of another server to the file, as another terminal would.
func meanwhile(t *testing.T, file string) {
	t.Helper()
	hosts := map[string]any{"hosts": map[string]any{}}
	if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &hosts) != nil {
		t.Errorf("%s is not what it should be", raw)
	}
	hosts["hosts"].(map[string]any)["http://localhost:1/meanwhile"] = map[string]string{
		"key":   "coffer_0",
		"scope": "read_only",
	}
	raw, _ := json.Marshal(hosts)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Error(err)
	}
}

// TestKeysFollowNoRedirect: a key belongs to the server that issued it. The client does not send it
// to the target of a redirect.
func TestKeysFollowNoRedirect(t *testing.T) { //nolint:paralleltest // it sets the environment
	var reached atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		_, _ = w.Write([]byte("[]"))
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request,
		) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		t.Cleanup(first.Close)
		for name, value := range map[string]string{
			"XDG_CONFIG_HOME": t.TempDir(), "COFFER_SERVER": first.URL,
			"COFFER_API_KEY": "coffer_" + strings.Repeat("0", 43), "COFFER_DATABASE_URL": "",
		} {
			t.Setenv(name, value)
		}
		for _, args := range [][]string{{"tag", "list"}, {"tag", "create", "--slug", "x"}, {"login"}, {"mcp"}} {
			var out bytes.Buffer
			if code := app.Main(args, strings.NewReader(""), &out, &out); code == 0 || args[0] != "mcp" &&
				!strings.Contains(out.String(), "redirects to "+other.URL) {
				t.Errorf("%d, %v: exit %d, %s", status, args, code, out.String())
			}
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests went to the other server", reached.Load())
	}
}

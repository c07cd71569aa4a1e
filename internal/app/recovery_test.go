package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

var shownCode = regexp.MustCompile(`<code class="code">([0-9A-Z-]+)</code>`)

// codes creates recovery codes on the page of the signed-in member.
func (v *visitor) codes(t testing.TB) []string {
	t.Helper()
	r, _ := v.do(t, "POST", "/account/recovery", url.Values{})
	var out []string
	for _, m := range shownCode.FindAllStringSubmatch(r.body, -1) {
		out = append(out, m[1])
	}
	if r.status != 200 || len(out) != 10 || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("make codes: %d, %d codes: %s", r.status, len(out), r.body)
	}
	return out
}

func (v *visitor) recover(t testing.TB, code string) (reply, string) {
	t.Helper()
	return v.do(t, "POST", "/login/recovery", url.Values{"code": {code}, "next": {"/account"}})
}

// TestRecoveryCodes: a member who has lost everything else signs in with a code, once, and chooses
// a new password.
func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	v := settled(t)
	v.leave(t)
	if _, to := v.do(t, "POST", "/account/recovery", url.Values{}); !strings.HasPrefix(to, "/login?again=1") {
		t.Errorf("codes for a browser that was left open: %s", to)
	}
	v.do(t, "POST", "/login", url.Values{"email": {"robin@example.com"}, "password": {password}})
	old := v.codes(t)
	codes := v.codes(t)
	shape, seen := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$`), map[string]bool{}
	for _, c := range append(codes, old...) {
		if seen[c] || !shape.MatchString(c) {
			t.Errorf("a code is %s", c)
		}
		seen[c] = true
		if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token x
			where x::text like '%' || $1 || '%'
			or x::text like '%' || replace($1, '-', '') || '%'`, c); err != nil || n != 0 {
			t.Errorf("a code is in the database in clear text: %d %v", n, err)
		}
	}
	for _, wrong := range []string{old[0], "-", "0000-0000-0000-0000", codes[0][:18], codes[0] + "0", password, v.key} {
		one := &visitor{world: v.world}
		if r, _ := one.recover(t, wrong); r.status != http.StatusUnauthorized || one.cookie != "" {
			t.Errorf("%q: %d %s", wrong, r.status, r.body)
		}
	}
	// A code works in any spelling. If several clients send it at once, only one succeeds.
	var got, refused atomic.Int64
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			one := &visitor{world: v.world}
			switch r, _ := one.recover(t, []string{
				codes[0], strings.ToLower(codes[0]),
				strings.ReplaceAll(codes[0], "-", " "),
			}[n%3]); {
			case r.status == http.StatusSeeOther && one.cookie != "":
				got.Add(1)
			case r.status == http.StatusUnauthorized && one.cookie == "":
				refused.Add(1)
			default:
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	all.Wait()
	if got.Load() != 1 || refused.Load() != 19 {
		t.Errorf("of 20 who had one code %d got in", got.Load())
	}
	one := &visitor{world: v.world}
	if _, to := one.recover(t, codes[1]); to != "/account?done=recovery" {
		t.Fatalf("with the next: %s", to)
	}
	page, _ := one.do(t, "GET", "/account?done=recovery", nil)
	if !strings.Contains(page.body, "8 left") || strings.Contains(page.body, `name="old"`) ||
		!strings.Contains(page.body, "Add a passkey") || !strings.Contains(page.body, "You used a recovery code") {
		t.Errorf("the account: %s", page.body)
	}
	if _, to := one.do(t, "POST", "/account/password",
		url.Values{"new": {"another long password"}}); to != "/account?done=password" {
		t.Errorf("another password: %s", to)
	}
	if _, to := v.do(t, "GET", "/account", nil); to == "" {
		t.Error("the other session goes on")
	}
	// After some minutes, signing in with a code no longer counts as a recent sign-in.
	one.leave(t)
	if r, _ := one.do(t, "POST", "/account/password",
		url.Values{"new": {"yet another password"}}); r.status != http.StatusUnauthorized {
		t.Errorf("a while later: %d %s", r.status, r.body)
	}
	// Codes end when their member leaves.
	if _, err := v.DB.Exec(t.Context(), `update member set deleted_at = now() where name = 'Robin'`); err != nil {
		t.Fatal(err)
	}
	if r, _ := (&visitor{world: v.world}).recover(t, codes[2]); r.status != http.StatusUnauthorized {
		t.Errorf("who left: %d", r.status)
	}
}

// TestRecoveryIsBounded: guesses of codes have the same limit as sign-ins, and the sweep deletes
// used codes.
func TestRecoveryIsBounded(t *testing.T) {
	t.Parallel()
	v := settled(t)
	v.Auth.LoginsPerMinute = 10
	codes := v.codes(t)
	v.recover(t, codes[0])
	limited := 0
	for n := range 15 {
		r, _ := (&visitor{world: v.world}).recover(t, fmt.Sprintf("0000-0000-0000-%04d", n))
		if r.status == http.StatusTooManyRequests && r.header.Get("Retry-After") != "" {
			limited++
		}
	}
	if limited != 6 {
		t.Errorf("%d of 15 guesses after one sign-in had to wait, want 6", limited)
	}
	if _, err := v.DB.Exec(t.Context(), `update token set revoked_at = $1
		where kind = 'recovery' and revoked_at is not null`, time.Now().Add(-25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := v.Auth.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from token
		where kind = 'recovery'`); err != nil || n != 9 {
		t.Errorf("%d codes are left, %v", n, err)
	}
}

// TestRecoveryCodesEnd: codes end when another person sets the password, when the last sign-in
// method is removed, and when somebody deletes them. Any of these may happen to stop an attacker.
// Admins see the number of codes.
func TestRecoveryCodesEnd(t *testing.T) {
	t.Parallel()
	v := settled(t)
	kim := made(t, v, "/api/v1/users", `{"name":"Kim","email":"kim@example.com","role":"admin"}`)
	path := "/api/v1/users/" + kim + "/login"
	login := made(t, v, path, `{"kind":"password","password":"the first password"}`)
	signIn := func(password string) *visitor {
		if _, err := pg.Exec(t.Context(), v.DB, `update login set must_replace = false`); err != nil {
			t.Fatal(err) // as if Kim had replaced the admin's password
		}
		one := &visitor{world: v.world}
		if _, to := one.do(t, "POST", "/login", url.Values{
			"email":    {"kim@example.com"},
			"password": {password},
		}); to == "" || one.cookie == "" {
			t.Fatal("cannot sign in")
		}
		return one
	}
	left := func(want int) {
		t.Helper()
		if r := v.send(t, exchange{method: "GET", path: path, key: v.key}); !strings.Contains(r.body,
			fmt.Sprintf(`"recovery_codes":%d,`, want)) {
			t.Errorf("%d codes should be left: %s", want, r.body)
		}
	}
	works := func(code string, want bool) {
		t.Helper()
		one := &visitor{world: v.world}
		if r, _ := one.recover(t, code); (one.cookie != "") != want {
			t.Errorf("a code lets in: %v, should be %v: %d", one.cookie != "", want, r.status)
		}
	}
	change := func(method, path, body string, want int) {
		t.Helper()
		if r := v.send(t, exchange{method: method, path: path, key: v.key, body: body}); r.status != want {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
	}
	left(0)
	member := signIn("the first password")
	codes := member.codes(t)
	left(10)
	// A member's own change of the password does not end the codes.
	if _, to := member.do(t, "POST", "/account/password",
		url.Values{"old": {"the first password"}, "new": {"the second password"}}); to != "/account?done=password" {
		t.Fatalf("own password: %s", to)
	}
	works(codes[0], true)
	left(9)
	// An admin's change does. A sign-in with a code that is under way at that moment fails.
	coming, err := v.Auth.Recover(t.Context(), codes[1], "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	change("PATCH", path+"/"+login, `{"password":"what an admin chose"}`, 200)
	if _, _, err := v.Auth.OpenSession(t.Context(), coming, "test"); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("a session by a code that ended meanwhile: %v", err)
	}
	works(codes[2], false)
	left(0)
	// Admins and the member can delete the codes.
	codes = signIn("what an admin chose").codes(t)
	change("DELETE", "/api/v1/users/"+kim+"/recovery-codes", "", 204)
	works(codes[0], false)
	member = signIn("what an admin chose")
	codes = member.codes(t)
	if r, _ := member.do(t, "GET", "/account", nil); !strings.Contains(r.body, "Delete recovery codes") {
		t.Errorf("the account: %s", r.body)
	}
	if _, to := member.do(t, "POST", "/account/recovery/end", url.Values{}); to != "/account?done=codes" {
		t.Errorf("own codes: %s", to)
	}
	works(codes[0], false)
	left(0)
	// Codes end with the last sign-in method, no matter who removes it. Without a sign-in method
	// nobody can create any.
	codes = member.codes(t)
	if r := (credential{session: member.cookie}).send(t, v.world, "DELETE", path+"/"+login, ""); r.status != 204 {
		t.Fatalf("the last method: %d %s", r.status, r.body)
	}
	works(codes[0], false)
	if r, _ := member.do(t, "POST", "/account/recovery", url.Values{}); r.status != http.StatusConflict {
		t.Errorf("codes without another way: %d", r.status)
	}
	left(0)
}

// made creates a record with the person's key and returns its id.
func made(t *testing.T, v *visitor, path, body string) string {
	t.Helper()
	r := v.send(t, exchange{method: "POST", path: path, key: v.key, body: body})
	var record struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.body), &record); err != nil || r.status != 201 {
		t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	return record.ID
}

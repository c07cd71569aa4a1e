package app_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A credential is one kind of caller.
type credential struct {
	kind    string
	key     string
	session string // in place of the key
	token   string // in place of both
	address string // that the token was made for
	scope   op.Scope
	role    string    // of a member
	left    bool      // the session was left open for a while
	agent   bool      // what is declared for people is not for it
	refusal errs.Code // of an unknown caller, whatever it asks for
}

// send sends a request with the credential.
func (c credential) send(t *testing.T, w *world, method, path, body string) reply {
	t.Helper()
	x := exchange{method: method, path: path, key: c.key, body: body, header: map[string]string{}}
	if c.session != "" {
		x.header["Cookie"] = auth.SessionCookie + "=" + c.session
	}
	if c.token != "" {
		x.header["Authorization"] = "Bearer " + c.token
	}
	return w.send(t, x)
}

// session is a session of a new member with that role.
func (w *world) session(t testing.TB, role string) (auth.User, string) {
	t.Helper()
	var u auth.User
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		u, err = w.Auth.CreateUser(t.Context(), tx, auth.CreateUser{Name: "A " + role, Role: role})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := w.Auth.OpenSession(t.Context(), auth.SignIn{User: u}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return u, secret
}

// tokens are the kinds of programs that members let in, at both addresses.
func (w *world) tokens(t *testing.T) []credential {
	t.Helper()
	change := func(token, statement string) string {
		if n, err := w.DB.Exec(t.Context(), statement, []byte(token)); err != nil || n.RowsAffected() == 0 {
			t.Fatal(statement, err)
		}
		return token
	}
	var out []credential
	for _, address := range []string{w.OAuth.Resource(), w.OAuth.API()} {
		fresh := func(role string, scope op.Scope) auth.Tokens {
			_, session := w.session(t, role)
			tokens, _ := w.letIn(t, session, scope, address)
			return tokens
		}
		get := func(role string, scope op.Scope) string { return fresh(role, scope).Access }
		list := []credential{
			{kind: "token to read", token: get("admin", op.Read), scope: op.Read, role: "admin"},
			{kind: "token to write", token: get("admin", op.Full), scope: op.Full, role: "admin"},
			{kind: "member's token", token: get("member", op.Full), scope: op.Full, role: "member"},
			{kind: "viewer's token", token: get("viewer", op.Read), scope: op.Read, role: "viewer"},
			{
				kind: "token of someone who became a viewer",
				token: change(get("admin", op.Full),
					`update member set role = 'viewer' where id = (select member_id from token where hash = sha256($1))`),
				scope: op.Read, role: "viewer",
			},
			{
				kind: "expired token", token: change(get("admin", op.Full),
					`update token set expires_at = now() - interval '1 second' where hash = sha256($1)`),
				refusal: errs.ExpiredAPIKey,
			},
			{kind: "revoked token", token: change(get("admin", op.Full), `update token set revoked_at = now()
				where hash = sha256($1)`), refusal: errs.RevokedAPIKey},
			{kind: "token of a revoked consent", token: change(get("admin", op.Full),
				`update consent set revoked_at = now() where id = (select consent_id from token where hash = sha256($1))`), refusal: errs.RevokedAPIKey},
			{kind: "token of someone who left", token: change(get("admin", op.Full),
				`update member set deleted_at = now() where id = (select member_id from token where hash = sha256($1))`), refusal: errs.RevokedAPIKey},
			{kind: "token for another address", token: change(get("admin", op.Full),
				`update consent set resource = 'https://other.example/mcp' where id = (select consent_id from token where hash = sha256($1))`), refusal: errs.InvalidAPIKey},
			{kind: "refresh token", token: fresh("admin", op.Full).Refresh, refusal: errs.InvalidAPIKey},
			{kind: "unknown token", token: "coffer_at_" + id.Base62(43), refusal: errs.InvalidAPIKey},
		}
		for _, c := range list {
			c.address, c.agent = address, true
			c.kind += " for " + address
			out = append(out, c)
		}
	}
	return append(out, credential{
		kind: "bad token with a good session", token: "coffer_at_" + id.Base62(43),
		session: func() string { _, s := w.session(t, "admin"); return s }(), refusal: errs.InvalidAPIKey,
	})
}

func (w *world) credentials(t *testing.T) []credential {
	t.Helper()
	key := func(scope, actor string) string {
		return w.newKey(t, auth.CreateKey{Name: scope + " " + actor, Scope: scope, ActorType: actor}).Secret
	}
	spoil := func(statement string) string {
		k := w.newKey(t, auth.CreateKey{Name: "spoilt", Scope: "full_access", ActorType: "user"})
		if _, err := w.DB.Exec(t.Context(), statement, k.ID); err != nil {
			t.Fatal(err)
		}
		return k.Secret
	}
	administrator := w.newKey(t, auth.CreateKey{
		Name: "administrator", Scope: "full_access", ActorType: "agent",
		May: []string{auth.Administer},
	}).Secret
	session := func(role string) string {
		_, secret := w.session(t, role)
		return secret
	}
	ended := func(statement string) string {
		u, secret := w.session(t, "admin")
		if _, err := w.DB.Exec(t.Context(), statement, u.ID); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	owned := func(role string) string { // a key that was granted to a member
		u, _ := w.session(t, role)
		k := w.newKey(t, auth.CreateKey{Name: "granted", Scope: "full_access", ActorType: "user"})
		if _, err := w.DB.Exec(t.Context(), `update token set member_id = $2 where id = $1`, k.ID, u.ID); err != nil {
			t.Fatal(err)
		}
		return k.Secret
	}
	gone := func(secret string) string {
		_, err := w.DB.Exec(t.Context(), `update member set deleted_at = now()
			where id = (select member_id from token where hash = sha256($1))`, []byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	return append(w.tokens(t), []credential{
		{kind: "viewer", session: session("viewer"), scope: op.Read, role: "viewer"},
		{kind: "member", session: session("member"), scope: op.Full, role: "member"},
		{kind: "admin", session: session("admin"), scope: op.Full, role: "admin"},
		{
			kind:    "admin who left the browser open",
			session: ended(`update token set proved_at = now() - interval '5 minutes 1 second' where member_id = $1`),
			scope:   op.Full, role: "admin", left: true,
		},
		{kind: "admin whose proof is of unknown age", session: ended(`update token set proved_at = null
			where member_id = $1`), scope: op.Full, role: "admin", left: true},
		{kind: "garbage session", session: "let-me-in", refusal: errs.InvalidLogin},
		{kind: "unknown session", session: id.Base62(43), refusal: errs.InvalidLogin},
		{kind: "session too old", session: ended(`update token set expires_at = now() - interval '1 second'
			where member_id = $1`), refusal: errs.InvalidLogin},
		{kind: "session too long idle", session: ended(`update token set created_at = now() - interval '13 hours',
			last_used_at = now() - interval '12 hours 1 second' where member_id = $1`), refusal: errs.InvalidLogin},
		{kind: "session that was ended", session: ended(`update token set revoked_at = now()
			where member_id = $1`), refusal: errs.InvalidLogin},
		{kind: "session of someone who left", session: gone(session("admin")), refusal: errs.InvalidLogin},
		{
			kind: "bad key with a good session", key: "coffer_" + id.Base62(43), session: session("admin"),
			refusal: errs.InvalidAPIKey,
		},
		{kind: "good key with a bad session", key: key("full_access", "user"), session: id.Base62(43), scope: op.Full},
		{kind: "session in place of a key", key: session("admin"), refusal: errs.InvalidAPIKey},
		{kind: "key in place of a session", session: key("full_access", "user"), refusal: errs.InvalidLogin},
		{kind: "viewer's key", key: owned("viewer"), scope: op.Read, role: "viewer"},
		{kind: "member's key", key: owned("member"), scope: op.Full, role: "member"},
		{kind: "admin's key", key: owned("admin"), scope: op.Full, role: "admin"},
		{kind: "key of someone who left", key: gone(owned("admin")), refusal: errs.RevokedAPIKey},
		{kind: "none", refusal: errs.MissingAPIKey},
		{kind: "garbage", key: "let me in", refusal: errs.InvalidAPIKey},
		{kind: "unknown", key: "coffer_" + id.Base62(43), refusal: errs.InvalidAPIKey},
		{kind: "expired", key: spoil(`update token set expires_at = now() - interval '1 second'
			where id = $1`), refusal: errs.ExpiredAPIKey},
		{kind: "revoked", key: spoil(`update token set revoked_at = now() where id = $1`), refusal: errs.RevokedAPIKey},
		{kind: "read_only", key: key("read_only", "user"), scope: op.Read},
		{kind: "full_access", key: key("full_access", "user"), scope: op.Full},
		{kind: "agent read_only", key: key("read_only", "agent"), scope: op.Read, agent: true},
		{kind: "agent full_access", key: key("full_access", "agent"), scope: op.Full, agent: true},
		{kind: administering, key: administrator, scope: op.Full},
	}...)
}

// administering is the kind of an agent whose key a person gave the right.
const administering = "agent that may administer"

// at is the caller as that path sees it.
func (c credential) at(w *world, path string) credential {
	address := w.OAuth.API()
	if path == "/mcp" {
		address = w.OAuth.Resource()
	}
	switch {
	case path == "/mcp" && c.token == "": // keys and sessions are no way in
		c.refusal = errs.MissingAPIKey
	case path == "/mcp/key" && c.key == "" && c.token != "": // there a bearer token is a key
		c.refusal = errs.InvalidAPIKey
	case path == "/mcp/key" && c.key == "" && c.session != "": // agents have no sessions
		c.refusal = errs.MissingAPIKey
	case c.token != "" && c.address != address: // whatever else is wrong with it
		c.refusal = errs.InvalidAPIKey
	}
	return c
}

// forAdmins repeats the contract: the routes that a plain member cannot use.
var forAdmins = regexp.MustCompile(`^/api/v1/(users|api-keys|settings|exports|notifications)(/|$)`)

// wayOut matches the routes that send data out of the household. Only people can change those,
// whatever a key may do.
var wayOut = regexp.MustCompile(`^/api/v1/notifications(/|$)`)

// forMe is what every signed-in member may do with their own records.
const forMe = "/api/v1/users/me/"

// verdict is what a caller of that kind must get where that scope is needed: a refusal, or "" for
// entry.
func (c credential) verdict(need op.Scope, path string) errs.Code {
	switch {
	case need == op.Open:
		return ""
	case c.refusal != "":
		return c.refusal
	case need > c.scope:
		return errs.InsufficientScope
	case strings.HasPrefix(path, forMe) && (c.key != "" || c.session == ""):
		return errs.NotFound
	case need == op.Full && c.role == "member" && forAdmins.MatchString(path):
		return errs.Forbidden
	}
	return ""
}

// needsProof is what an admin must have signed in for a moment ago: all that is for admins and
// changes something, but ending what someone was let in with.
func needsProof(method, path string) bool {
	if strings.HasPrefix(path, forMe) {
		return method == "DELETE" && strings.HasPrefix(path, forMe+"login/")
	}
	ends := method == "DELETE" && regexp.MustCompile(`/api-keys/|/sessions/|/assistants/|/invitation`).MatchString(path)
	return method != "GET" && forAdmins.MatchString(path) && !ends || path == "/account/passkeys/begin"
}

var variable = regexp.MustCompile(`\{\w+\}`)

// Every route × every kind of credential, from the list of ops: routes outside the list are not
// served, and every route in it is tried.
func TestAuthorisationOfRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type route struct {
		method, path string
		scope        op.Scope
		people       bool // the whole of it
	}
	var routes []route
	for _, o := range w.Ops() {
		if o.Route != "" {
			routes = append(routes, route{o.Method, "/api/v1" + o.Path, o.Scope, o.People.String() == "always"})
		}
	}
	for _, r := range w.Raw() {
		method, path, ok := strings.Cut(r.Route, " ")
		if !ok {
			method, path = "POST", r.Route
		}
		routes = append(routes, route{method, path, r.Scope, false})
	}
	slices.SortStableFunc(routes, func(a, b route) int { // what ends a session comes last
		return cmp.Compare(strings.Count(a.path, "logout"), strings.Count(b.path, "logout"))
	})
	tried, deviations := 0, 0
	for _, c := range w.credentials(t) {
		for _, r := range routes {
			want := c.at(w, r.path).verdict(r.scope, r.path)
			if strings.HasPrefix(r.path, "/account/passkeys/") &&
				(c.session == "" || c.refusal == errs.InvalidLogin || c.kind == "good key with a bad session") {
				want = errs.InvalidLogin // of a member who is signed in, and asked for nothing else
			}
			if r.path == "/device" && c.session != "" && (c.role == "member" || c.role == "viewer") {
				want = errs.Forbidden // a page for admins
			}
			if want == "" && c.kind == administering && r.method != "GET" && wayOut.MatchString(r.path) {
				want = errs.Forbidden
			}
			if want == "" && c.agent && r.people {
				want = errs.Forbidden
			}
			if want == "" && c.left && needsProof(r.method, r.path) {
				want = errs.ProofRequired
			}
			got := c.send(t, w, r.method, variable.ReplaceAllString(r.path, "nothing0"), "")
			tried++
			if refused := got.status == 401 || got.status == 403 || want == errs.NotFound; refused != (want != "") || refused &&
				r.path != "/device" && got.code() != string(want) {
				deviations++
				t.Errorf("%s %s with %s: %d %s, want %q", r.method, r.path, c.kind, got.status, got.code(), want)
			}
		}
	}
	t.Logf("%d routes, %d requests, %d deviations", len(routes), tried, deviations)
}

// Every tool × every kind of credential: a key does not see tools that it may not call, and calling
// one anyway is rejected.
func TestAuthorisationOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := 0
	for _, c := range w.credentials(t) {
		path := "/mcp/key"
		if c.token != "" {
			path = "/mcp"
		}
		c = c.at(w, path)
		if c.refusal != "" {
			if r := c.send(t, w, "POST", path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); r.code() != string(
				c.refusal) {
				t.Errorf("tools with %s: %d %s, want %s", c.kind, r.status, r.code(), c.refusal)
			}
			continue
		}
		session := w.agentAt(t, path, c.key, c.token)
		seen := map[string]bool{}
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			seen[tool.Name] = true
		}
		for _, o := range w.Ops() {
			if o.Tool == "" {
				continue
			}
			tried++
			allowed := c.verdict(o.Scope, "") == ""
			// A program that a member let in sees what it could be let in for.
			if visible := allowed || c.token != "" && c.role != "viewer"; seen[o.Tool] != visible {
				t.Errorf("%s with %s: seen is %v, should be %v", o.Tool, c.kind, seen[o.Tool], visible)
			}
			delete(seen, o.Tool)
			// The arguments are nonsense, so nothing changes: it only matters whether the call gets
			// as far as validation.
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
				Name:      o.Tool,
				Arguments: map[string]any{"no such argument": 1},
			})
			if allowed && (err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text,
				string(errs.ValidationError))) {
				t.Errorf("%s with %s was not let through: %v", o.Tool, c.kind, err)
			}
			if !allowed && err == nil && !refusedTool(res) {
				t.Errorf("%s with %s was not refused", o.Tool, c.kind)
			}
			if !allowed && c.token != "" && c.role != "viewer" { // a refusal by status ends the client's session
				if !strings.Contains(fmt.Sprint(err), "Forbidden") {
					t.Errorf("%s with %s: %v", o.Tool, c.kind, err)
				}
				session = w.agentAt(t, path, c.key, c.token)
			}
		}
		for name := range seen {
			t.Errorf("%s is offered to %s and is not an op", name, c.kind)
		}
	}
	t.Logf("%d tool calls", tried)
}

// The list of who may do what, for people to read; a changed scope is a diff.
func TestAccessGolden(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, o := range app.Menu() {
		if o.Route != "" {
			line := fmt.Sprintf("%-12s %-6s /api/v1%s", o.Scope, o.Method, o.Path)
			if p := o.People.String(); p != "" {
				line += " people: " + p
				if o.People.Strict() {
					line += ", whatever the key may"
				}
			}
			lines = append(lines, line)
		}
		if o.Tool != "" {
			lines = append(lines, fmt.Sprintf("%-12s tool   %s", o.Scope, o.Tool))
		}
	}
	for _, r := range app.RawMenu() {
		method, path, _ := strings.Cut(r.Route, " ")
		lines = append(lines, fmt.Sprintf("%-12s %-6s %s", r.Scope, method, path))
	}
	slices.Sort(lines)
	golden(t, "../../api/access.txt", strings.Join(lines, "\n")+"\n")
}

func TestRevocationHoldsFromTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := w.newKey(t, auth.CreateKey{Name: "short-lived", Scope: "full_access", ActorType: "user"})
	me := exchange{method: "GET", path: "/api/v1/keys/me", key: k.Secret}
	if r := w.send(t, me); r.status != 200 {
		t.Fatalf("before: %d", r.status)
	}
	if r := w.send(t, exchange{method: "DELETE", path: "/api/v1/api-keys/" + k.ShortID, key: w.key}); r.status != 204 {
		t.Fatalf("revoke: %d %s", r.status, r.body)
	}
	if r := w.send(t, me); r.code() != string(errs.RevokedAPIKey) {
		t.Fatalf("after: %d %s", r.status, r.body)
	}
}

// Text that cannot be a key costs no query, and no text that was not made here is accepted.
func TestStrangersNeverGetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(7, 7))
	before := w.DB.Stat().AcquireCount()
	for i := range 1_000_000 {
		b := make([]byte, rng.IntN(60))
		for j := range b {
			b[j] = byte(rng.IntN(256))
		}
		text := string(b)
		if i%3 == 0 {
			text = "coffer_" + text
		}
		if text == "" || len(text) == 50 && id.IsBase62(strings.TrimPrefix(text, "coffer_")) {
			continue
		}
		if _, err := w.Auth.Key(t.Context(), text); !errs.Is(err, errs.InvalidAPIKey) {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if asked := w.DB.Stat().AcquireCount() - before; asked != 0 {
		t.Errorf("a million malformed keys cost %d queries", asked)
	}
	for range 2000 {
		near := []byte(w.key)
		near[len("coffer_")+rng.IntN(43)] ^= 1
		if _, err := w.Auth.Key(t.Context(), string(near)); err == nil && string(near) != w.key {
			t.Fatalf("a key with one changed character was accepted")
		}
	}
}

func TestLastUseIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	used := func() *pg.Time {
		at, err := pg.Value[*pg.Time](t.Context(), w.DB, `select last_used_at from token where name = 'me'`)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key})
	if used() != nil {
		t.Fatal("a request wrote on its own path")
	}
	if err := w.Auth.Flush(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	first := used()
	if first == nil {
		t.Fatal("the last use was not written")
	}
	w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key})
	if err := w.Auth.Flush(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if again := used(); again.String() != first.String() {
		t.Errorf("written twice within a minute: %s and %s", first, again)
	}
}

// A key that a member makes is the member's: it goes with them, and does no more than their role.
func TestKeysBelongToWhoMadeThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, session := w.session(t, "admin")
	r := credential{session: session}.send(t, w, "POST", "/api/v1/api-keys", `{"name":"mine","scope":"full_access"}`)
	var k auth.NewKey
	if err := json.Unmarshal([]byte(r.body), &k); err != nil || r.status != 201 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	write := func() reply {
		return w.send(t, exchange{method: "POST", path: "/api/v1/users", key: k.Secret, body: `{"name":"Kim"}`})
	}
	if r := write(); r.status != 201 {
		t.Errorf("an admin's key: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{
		method: "PATCH", path: "/api/v1/users/" + u.ShortID, key: w.key,
		body: `{"role":"member"}`,
	}); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := write(); r.code() != string(errs.Forbidden) {
		t.Errorf("the key of someone who is no longer an admin: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{method: "DELETE", path: "/api/v1/users/" + u.ShortID, key: w.key}); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := write(); r.code() != string(errs.RevokedAPIKey) {
		t.Errorf("the key of someone who left: %d %s", r.status, r.body)
	}
}

// refusedTool reports whether a tool's answer says that the caller may not use it, in words that a
// model can act on.
func refusedTool(res *mcp.CallToolResult) bool {
	said, ok := res.Content[0].(*mcp.TextContent)
	return res.IsError && ok && strings.Contains(said.Text, string(errs.InsufficientScope))
}

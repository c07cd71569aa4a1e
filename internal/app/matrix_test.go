package app_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

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
	session string // used instead of the key
	token   string // an access token, used instead of the key and the session
	address string // the address for which the token was issued
	scope   op.Scope
	role    string    // of a member
	left    bool      // the sign-in is not recent
	agent   bool      // cannot call ops that only people may call
	refusal errs.Code // the error for an unknown caller, for every request
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

// session creates a member with that role, and returns the member with a session.
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

// tokens returns credentials of programs that members let in, for both addresses.
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

// administering is the kind of an agent whose key has the right to administer.
const administering = "agent that may administer"

// at returns the caller as the handler of that path treats it.
func (c credential) at(w *world, path string) credential {
	address := w.OAuth.API()
	if path == "/mcp" {
		address = w.OAuth.Resource()
	}
	switch {
	case path == "/mcp" && c.token == "": // /mcp accepts access tokens only
		c.refusal = errs.MissingAPIKey
	case path == "/mcp/key" && c.key == "" && c.token != "": // /mcp/key treats a bearer token as an API key
		c.refusal = errs.InvalidAPIKey
	case path == "/mcp/key" && c.key == "" && c.session != "": // agents have no sessions
		c.refusal = errs.MissingAPIKey
	case c.token != "" && c.address != address: // the address is checked before everything else
		c.refusal = errs.InvalidAPIKey
	}
	return c
}

// forAdmins repeats the contract: the routes that a plain member cannot use.
var forAdmins = regexp.MustCompile(`^/api/v1/(users|api-keys|settings|exports|notifications)(/|$)`)

// wayOut matches the routes that send data out of the household. Only people can change those,
// whatever a key may do.
var wayOut = regexp.MustCompile(`^/api/v1/notifications(/|$)`)

// forMe is the path of the records that every signed-in member can change: the member's own.
const forMe = "/api/v1/users/me/"

// verdict returns the error that the caller must get where that scope is needed, or "" if the call
// is allowed.
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

// needsProof reports whether an admin must have signed in recently for this request. This is the
// case for all changes that only admins can make, except those that end somebody's access.
func needsProof(method, path string) bool {
	if strings.HasPrefix(path, forMe) {
		return method == "DELETE" && strings.HasPrefix(path, forMe+"login/")
	}
	ends := method == "DELETE" && regexp.MustCompile(`/api-keys/|/sessions/|/assistants/|/invitation`).MatchString(path)
	return method != "GET" && forAdmins.MatchString(path) && !ends || path == "/account/passkeys/begin"
}

var variable = regexp.MustCompile(`\{\w+\}`)

// TestAuthorisationOfRoutes tries every route with every kind of credential. The routes come from
// the list of ops, and routes outside the list are not served.
func TestAuthorisationOfRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type route struct {
		method, path string
		scope        op.Scope
		people       bool // only people may call it, in every case
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
	slices.SortStableFunc(routes, func(a, b route) int { // ending a session comes last
		return cmp.Compare(strings.Count(a.path, "logout"), strings.Count(b.path, "logout"))
	})
	tried, deviations := 0, 0
	for _, c := range w.credentials(t) {
		for _, r := range routes {
			want := c.at(w, r.path).verdict(r.scope, r.path)
			if strings.HasPrefix(r.path, "/account/passkeys/") &&
				(c.session == "" || c.refusal == errs.InvalidLogin || c.kind == "good key with a bad session") {
				want = errs.InvalidLogin // needs a signed-in member and nothing else
			}
			if r.path == "/device" && c.session != "" && (c.role == "member" || c.role == "viewer") {
				want = errs.Forbidden // only admins can open this page
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

// TestAuthorisationOfTools tries every tool with every kind of credential. A key does not see tools
// that it may not call, and a call to one is rejected.
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
			// A member's program also sees the tools that the member could still allow it.
			if visible := allowed || c.token != "" && c.role != "viewer"; seen[o.Tool] != visible {
				t.Errorf("%s with %s: seen is %v, should be %v", o.Tool, c.kind, seen[o.Tool], visible)
			}
			delete(seen, o.Tool)
			// The arguments are invalid, so nothing changes. The test only checks whether the call
			// reaches the validation.
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
			// An HTTP error ends the client's session, so open another.
			if !allowed && c.token != "" && c.role != "viewer" {
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

// TestAccessGolden writes the list of who may call what, for people to read. A changed scope is a
// diff.
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

// refusedTool reports whether a tool's result says that the caller may not use the tool, with a
// code that a model can react to.
func refusedTool(res *mcp.CallToolResult) bool {
	said, ok := res.Content[0].(*mcp.TextContent)
	return res.IsError && ok && strings.Contains(said.Text, string(errs.InsufficientScope))
}

package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/auth"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A credential is one kind of caller.
type credential struct {
	kind    string
	key     string
	scope   op.Scope
	refusal errs.Code // of an unknown caller, whatever it asks for
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
	return []credential{
		{kind: "none", refusal: errs.MissingAPIKey},
		{kind: "garbage", key: "let me in", refusal: errs.InvalidAPIKey},
		{kind: "unknown", key: "coffer_" + id.Base62(43), refusal: errs.InvalidAPIKey},
		{kind: "expired", key: spoil(`update token set expires_at = now() - interval '1 second' where id = $1`), refusal: errs.ExpiredAPIKey},
		{kind: "revoked", key: spoil(`update token set revoked_at = now() where id = $1`), refusal: errs.RevokedAPIKey},
		{kind: "read_only", key: key("read_only", "user"), scope: op.Read},
		{kind: "full_access", key: key("full_access", "user"), scope: op.Full},
		{kind: "agent read_only", key: key("read_only", "agent"), scope: op.Read},
		{kind: "agent full_access", key: key("full_access", "agent"), scope: op.Full},
	}
}

// verdict is what a caller of that kind must get where that scope is needed: a refusal, or "" for entry.
func (c credential) verdict(need op.Scope) errs.Code {
	switch {
	case need == op.Open:
		return ""
	case c.refusal != "":
		return c.refusal
	case need > c.scope:
		return errs.InsufficientScope
	}
	return ""
}

var variable = regexp.MustCompile(`\{\w+\}`)

// Every route × every kind of credential, made from the list of ops: what is not in the list is not served, and what is in it is tried.
func TestAuthorisationOfRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	type route struct {
		method, path string
		scope        op.Scope
	}
	var routes []route
	for _, o := range w.Ops() {
		if o.Route != "" {
			routes = append(routes, route{o.Method, "/api/v1" + o.Path, o.Scope})
		}
	}
	for _, r := range w.Raw() {
		method, path, ok := strings.Cut(r.Route, " ")
		if !ok {
			method, path = "POST", r.Route
		}
		routes = append(routes, route{method, path, r.Scope})
	}
	tried, deviations := 0, 0
	for _, c := range w.credentials(t) {
		for _, r := range routes {
			want := c.verdict(r.scope)
			got := w.send(t, exchange{method: r.method, path: variable.ReplaceAllString(r.path, "nothing0"), key: c.key})
			tried++
			if refused := got.status == 401 || got.status == 403; refused != (want != "") || refused && got.code() != string(want) {
				deviations++
				t.Errorf("%s %s with %s: %d %s, want %q", r.method, r.path, c.kind, got.status, got.code(), want)
			}
		}
	}
	t.Logf("%d routes, %d requests, %d deviations", len(routes), tried, deviations)
}

// Every tool × every kind of credential: what a key may not call it does not see, and calling it anyway is refused.
func TestAuthorisationOfTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tried := 0
	for _, c := range w.credentials(t) {
		if c.refusal != "" {
			r := w.send(t, exchange{method: "POST", path: "/mcp/key", key: c.key, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`})
			if r.code() != string(c.refusal) {
				t.Errorf("tools with %s: %d %s, want %s", c.kind, r.status, r.code(), c.refusal)
			}
			continue
		}
		session := w.agent(t, c.key)
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
			allowed := c.verdict(o.Scope) == ""
			if seen[o.Tool] != allowed {
				t.Errorf("%s with %s: seen is %v, allowed is %v", o.Tool, c.kind, seen[o.Tool], allowed)
			}
			delete(seen, o.Tool)
			// Nonsense, so that nothing changes: what counts is whether the call gets as far as being validated.
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: o.Tool, Arguments: map[string]any{"no such argument": 1}})
			if allowed && (err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, string(errs.ValidationError))) {
				t.Errorf("%s with %s was not let through: %v", o.Tool, c.kind, err)
			}
			if !allowed && err == nil {
				t.Errorf("%s with %s was not refused", o.Tool, c.kind)
			}
		}
		for name := range seen {
			t.Errorf("%s is offered to %s and is no op", name, c.kind)
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
			lines = append(lines, fmt.Sprintf("%-12s %-6s /api/v1%s", o.Scope, o.Method, o.Path))
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

// An agent's key may not make a key that counts as a person's: what a person sets is held against agents.
func TestAgentsMakeNoPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: "agent"}).Secret
	body, _ := json.Marshal(map[string]string{"name": "disguise", "scope": "full_access"})
	if r := w.send(t, exchange{method: "POST", path: "/api/v1/api-keys", key: agent, body: string(body)}); r.code() != string(errs.Forbidden) {
		t.Errorf("an agent made a person's key: %d %s", r.status, r.body)
	}
}

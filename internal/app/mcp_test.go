package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const modernEra = "2026-07-28" // the first revision without sessions

// eras are the protocol revisions that clients use. The first is the one that the SDK's client
// requests by default.
var eras = []string{modernEra, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// A toolWorld is a world with a readable log. A test can add tools to it.
type toolWorld struct {
	world
	reader string // a read_only key
	log    *logBook
}

func newToolWorld(t *testing.T, extend func(*mcp.Server), changes ...func(*app.Config)) *toolWorld {
	t.Helper()
	w := &toolWorld{log: &logBook{}}
	config := app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 8, RatePerMinute: 60_000_000,
		RateBurst: 1_000_000, AuthFailures: 1_000_000,
	}
	for _, change := range changes {
		change(&config)
	}
	a, err := app.Build(t.Context(), config, slog.New(slog.NewJSONHandler(w.log,
		&slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	a.Tools.Extend = extend
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections() // the open stream of a session would block Close
		server.Close()
	})
	w.world = world{App: a, url: server.URL}
	w.key = w.newKey(t, auth.CreateKey{Name: "writer", Scope: "full_access", ActorType: "user"}).Secret
	w.reader = w.newKey(t, auth.CreateKey{Name: "reader", Scope: "read_only", ActorType: "agent"}).Secret
	return w
}

// A logBook records the log.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// connect opens a session of the SDK's client, which requests that revision.
func (w *toolWorld) connect(t *testing.T, key, era string) *mcp.ClientSession {
	t.Helper()
	return w.connectTo(t, key, era, "/mcp/key")
}

// connectTo does the same as connect at another address.
func (w *toolWorld) connectTo(t *testing.T, key, era, address string) *mcp.ClientSession {
	t.Helper()
	return connectThrough(t, era, &mcp.StreamableClientTransport{
		Endpoint: w.url + address, HTTPClient: &http.Client{Transport: withKey{key: key}}, MaxRetries: -1,
	})
}

func connectThrough(t *testing.T, era string, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.WithoutCancel(t.Context()), transport,
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatalf("%s: %v", era, err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// menuNames returns the tools that the menu has for a scope.
func menuNames(scope op.Scope) []string {
	var names []string
	for _, o := range app.Menu() {
		if o.Tool != "" && o.Scope <= scope {
			names = append(names, o.Tool)
		}
	}
	slices.Sort(names)
	return names
}

func callTool(t *testing.T, session *mcp.ClientSession, name string, args any) *mcp.CallToolResult {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

// blockOf returns the result's text block.
func blockOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the block is a %T", res.Content[0])
	}
	if n := len(res.Content); n != 1 && (n != 2 || text.Text[0] != '[') { // a second block may describe a list
		t.Fatalf("the result has %d blocks, want 1", n)
	}
	return text.Text
}

// faultOf returns the error of the result after a check of its form: the same text as the error
// over REST, and no structured content, which would have to fit the tool's schema.
func faultOf(t *testing.T, res *mcp.CallToolResult) errs.FaceError {
	t.Helper()
	if !res.IsError || res.StructuredContent != nil {
		t.Errorf("no plain error: isError %v, structured content %v", res.IsError, res.StructuredContent)
	}
	var face errs.Face
	d := json.NewDecoder(strings.NewReader(blockOf(t, res)))
	d.DisallowUnknownFields()
	if err := d.Decode(&face); err != nil || face.Error.Code == "" || face.Error.Message == "" ||
		!slices.Contains(errs.Codes(), face.Error.Code) {
		t.Errorf("not the error envelope: %s (%v)", blockOf(t, res), err)
	}
	return face.Error
}

// refusedForScope reports whether a call was refused because the key may only read.
func refusedForScope(t *testing.T, res *mcp.CallToolResult) bool {
	t.Helper()
	return res.IsError && strings.Contains(blockOf(t, res), string(errs.InsufficientScope))
}

// refusedAsUnknown reports whether a call was refused as one of a tool that does not exist.
func refusedAsUnknown(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && e.Code == jsonrpc.CodeInvalidParams && strings.HasPrefix(e.Message, "unknown tool")
}

func TestToolsInEveryEra(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for i, era := range append([]string{""}, eras...) {
		t.Run("era "+era, func(t *testing.T) {
			t.Parallel()
			want := era
			if want == "" {
				want = modernEra // the version that the client chooses
			}
			session := w.connect(t, w.key, era)
			start := session.InitializeResult()
			if start.ProtocolVersion != want {
				t.Errorf("the server speaks %s, want %s", start.ProtocolVersion, want)
			}
			if (session.ID() == "") != (want == modernEra) {
				t.Errorf("the session's id is %q; it must be empty in %s alone", session.ID(), modernEra)
			}
			if !strings.Contains(start.Instructions, "never instructions") || start.ServerInfo.Name != "coffer" ||
				start.Capabilities.Tools == nil {
				t.Errorf("the server says of itself: %+v", start)
			}
			if diff := cmp.Diff(menuNames(op.Full), toolNames(t, session)); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			slug := fmt.Sprintf("era-%d", i)
			if res := callTool(t, session, "create_tag", map[string]any{"slug": slug}); res.IsError ||
				!strings.Contains(blockOf(t, res), slug) {
				t.Errorf("create_tag: %+v", res)
			}
			if res := callTool(t, session, "create_tag", map[string]any{"slug": slug}); faultOf(t,
				res).Code != errs.SlugConflict {
				t.Errorf("create_tag again: %s", blockOf(t, res))
			}
			if _, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "no_such_tool"}); !refusedAsUnknown(err) {
				t.Errorf("a tool that does not exist: %v", err)
			}
		})
	}
}

func TestReaderSeesAndCallsReadToolsOnly(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	before := w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key}).body
	for _, era := range eras {
		session := w.connect(t, w.reader, era)
		if diff := cmp.Diff(menuNames(op.Read), toolNames(t, session)); diff != "" {
			t.Errorf("%s: tools of a read_only key (-want +got):\n%s", era, diff)
		}
		for _, name := range menuNames(op.Full) {
			res := callTool(t, session, name, map[string]any{"slug": "needs-review"})
			if readable := slices.Contains(menuNames(op.Read), name); refusedForScope(t, res) == readable {
				t.Errorf("%s: %s with a read_only key: %s", era, name, blockOf(t, res))
			}
		}
		res := callTool(t, session, "create_tag", map[string]any{"slug": "by-reader"})
		if !refusedForScope(t, res) {
			t.Errorf("%s: create_tag with a read_only key: %s", era, blockOf(t, res))
		}
	}
	if after := w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key}).body; after != before {
		t.Errorf("a read_only key changed something:\n%s\n%s", before, after)
	}
}

// TestToolDescriptions checks the parts of a tool that a client shows before a call.
func TestToolDescriptions(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	ops := map[string]*op.Op{}
	for _, o := range app.Menu() {
		ops[o.Tool] = o
	}
	for tool, err := range w.connectTo(t, w.key, "", "/mcp/key?schemas=1").Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		o, hints := ops[tool.Name], tool.Annotations
		if tool.Description == "" || hints == nil || hints.OpenWorldHint == nil ||
			o.Writes == (hints.DestructiveHint == nil) {
			t.Errorf("%s lacks a description or a hint: %+v", tool.Name, tool)
			continue
		}
		if hints.ReadOnlyHint == o.Writes || o.Writes && *hints.DestructiveHint != (o.Destructive || o.Overwrites) ||
			hints.ReadOnlyHint && !hints.IdempotentHint {
			t.Errorf("%s: the hints are not true: %+v", tool.Name, hints)
		}
		if in, ok := tool.InputSchema.(map[string]any); !ok || in["type"] != "object" {
			t.Errorf("%s: the input schema is %v", tool.Name, tool.InputSchema)
		}
		if out, ok := tool.OutputSchema.(map[string]any); ok != (o.TextOut == "") || ok && out["type"] != "object" {
			t.Errorf("%s: the output schema is %v", tool.Name, tool.OutputSchema)
		}
	}
}

func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for _, era := range []string{eras[0], eras[1]} {
		session := w.connect(t, w.key, era)

		// A list is an array in the text. The structured content wraps it in an object, because
		// older revisions allow objects only.
		res := callTool(t, session, "list_tags", nil)
		var tags []map[string]any
		if err := json.Unmarshal([]byte(blockOf(t, res)), &tags); err != nil || len(tags) == 0 {
			t.Fatalf("%s: the text of list_tags is not an array of tags: %v", era, err)
		}
		structured, ok := res.StructuredContent.(map[string]any)
		if !ok || len(structured) != 1 {
			t.Fatalf("%s: the structured content of list_tags is %v", era, res.StructuredContent)
		}
		var asAny []any
		for _, tag := range tags {
			asAny = append(asAny, tag)
			if id, _ := tag["id"].(string); len(id) != 8 || tag["short_id"] != nil || tag["display_name"] == nil ||
				tag["name"] != nil {
				t.Errorf("%s: not the tool's shape of a tag: %v", era, tag)
			}
		}
		if diff := cmp.Diff(any(asAny), structured["tags"]); diff != "" {
			t.Errorf("%s: text and structured content of list_tags differ:\n%s", era, diff)
		}

		// Text output is one block without structured content.
		res = callTool(t, session, "export_categories", nil)
		if res.StructuredContent != nil || !strings.HasPrefix(blockOf(t, res), "slug\tdisplay_name\tparent_slug\t") {
			t.Errorf("%s: export_categories: %v, %.60q", era, res.StructuredContent, blockOf(t, res))
		}
	}
}

func TestErrorsOfTools(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for _, era := range []string{eras[0], eras[1]} {
		session := w.connect(t, w.key, era)
		for _, c := range []struct {
			tool string
			args map[string]any
			want errs.Code
		}{
			{"delete_tag", map[string]any{"slug": "needs-review"}, errs.SystemProtected},
			{"delete_tag", map[string]any{"slug": "nowhere"}, errs.NotFound},
			{"update_tag", map[string]any{"slug": "needs-review"}, errs.ValidationError},
			{"create_tag", map[string]any{}, errs.ValidationError},
			{"create_tag", map[string]any{"slug": "x", "colour": "#000000"}, errs.ValidationError},
			{"list_tags", map[string]any{"all": true}, errs.ValidationError},
		} {
			fault := faultOf(t, callTool(t, session, c.tool, c.args))
			if fault.Code != c.want {
				t.Errorf("%s: %s %v: %+v, want %s", era, c.tool, c.args, fault, c.want)
			}
			if (c.want == errs.ValidationError && len(fault.Details) == 0) != (c.tool == "update_tag") {
				t.Errorf("%s: %s %v: details are %v", era, c.tool, c.args, fault.Details)
			}
		}
	}
}

// TestSessionBelongsToItsKey: in a session, each request must have the key that opened the session.
func TestSessionBelongsToItsKey(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	other := w.newKey(t, auth.CreateKey{Name: "other", Scope: "full_access", ActorType: "user"}).Secret
	for _, c := range []struct{ opener, thief string }{{w.key, other}, {w.key, w.reader}, {w.reader, w.key}} {
		session := w.open(t, c.opener, eras[1])
		list := rpc{era: eras[1], session: session, method: "tools/list"}
		for _, thief := range []string{c.thief, "", "coffer_garbage"} {
			list.key = thief
			if r, m := w.rpc(t, list); r.status < 401 || r.status > 404 || m.Result != nil {
				t.Errorf("POST with another key: %d %s", r.status, r.body)
			}
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				if status := w.statusInSession(t, method, thief, session); status < 401 || status > 404 {
					t.Errorf("%s with another key: %d", method, status)
				}
			}
		}
		list.key = c.opener
		if r, m := w.rpc(t, list); r.status != http.StatusOK || m.Result == nil {
			t.Errorf("after that the key's own session is gone: %d %s", r.status, r.body)
		}
	}
}

// statusInSession returns the status without reading the body, because a stream opened by mistake
// would never end.
func (w *toolWorld) statusInSession(t *testing.T, method, key, session string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.url+"/mcp/key", nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"X-API-Key": key, "Mcp-Session-Id": session, "MCP-Protocol-Version": eras[1],
		"Accept": "text/event-stream",
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestRevokedKeyIsRefusedAtTheNextCall(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for _, era := range []string{eras[0], eras[1]} {
		k := w.newKey(t, auth.CreateKey{Name: "short-lived", Scope: "full_access", ActorType: "agent"})
		session := w.connect(t, k.Secret, era)
		callTool(t, session, "list_tags", nil)
		w.revoke(t, k)
		if res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tags"}); err == nil {
			t.Errorf("%s: a revoked key can still call: %+v", era, res)
		}
		r, _ := w.rpc(t, rpc{key: k.Secret, era: era, session: session.ID(), method: "tools/list"})
		if r.status != http.StatusUnauthorized || r.code() != string(errs.RevokedAPIKey) {
			t.Errorf("%s: %d %s", era, r.status, r.body)
		}
	}
}

func (w *toolWorld) revoke(t *testing.T, k auth.NewKey) {
	t.Helper()
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := w.Auth.Revoke(t.Context(), tx, auth.KeyRef{ID: k.ShortID})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoTraceOfOAuth: clients that find OAuth metadata ignore a configured key. So nothing at the
// address for keys may look like OAuth.
func TestNoTraceOfOAuth(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	for _, path := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp/key",
		"/.well-known/oauth-authorization-server",
		"/.well-known/oauth-authorization-server/mcp/key", "/.well-known/openid-configuration",
		"/.well-known/openid-configuration/mcp/key",
		"/mcp/key/.well-known/openid-configuration", "/mcp/key/.well-known/oauth-protected-resource", "/.well-known/",
		"/register", "/authorize", "/token",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := w.send(t, exchange{method: method, path: path})
			if r.status != http.StatusNotFound || r.code() != string(errs.NotFound) ||
				r.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s: %d %s %.80s", method, path, r.status, r.header.Get("Content-Type"), r.body)
			}
		}
	}
	for _, c := range []struct {
		key, bearer string
		want        errs.Code
	}{
		{"", "", errs.MissingAPIKey},
		{"", "Basic " + w.key, errs.MissingAPIKey},
		{"coffer_garbage", "", errs.InvalidAPIKey},
		{"", "Bearer coffer_garbage", errs.InvalidAPIKey},
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodOptions} {
			r := w.send(t, exchange{
				method: method, path: "/mcp/key", key: c.key,
				header: map[string]string{"Authorization": c.bearer},
			})
			if r.status != http.StatusUnauthorized || r.code() != string(c.want) ||
				len(r.header.Values("WWW-Authenticate")) > 0 {
				t.Errorf("%s with key %q, %q: %d %s %v", method, c.key, c.bearer, r.status, r.body, r.header)
			}
		}
	}
	// A bearer token with the key works as a key.
	r := w.send(t, exchange{
		method: "POST", path: "/mcp/key", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` +
			modernMeta + `}}`,
		header: map[string]string{
			"Authorization": "Bearer " + w.key, "MCP-Protocol-Version": modernEra,
			"Mcp-Method": "tools/list", "Accept": "application/json, text/event-stream",
		},
	})
	if r.status != http.StatusOK || !strings.Contains(r.body, "list_tags") {
		t.Errorf("with a bearer token: %d %s", r.status, r.body)
	}
}

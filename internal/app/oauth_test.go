package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// published is a household that Robin has set up on a server that knows its own address, with
// Robin's browser.
func published(t *testing.T) *visitor {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	return settledIn(t, newWorldAt(t, pgtest.URL(t), app.Config{PublicURL: "http://" + server.Listener.Addr().String()},
		server))
}

// letIn is what a program gets that the member of a session lets in at an address, without the
// pages; and the consent.
func (w *world) letIn(t testing.TB, session string, scope op.Scope, address string) (auth.Tokens, id.ID) {
	t.Helper()
	actor, err := w.Auth.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Auth.Register(t.Context(), "Abacus", []string{callback}, id.Base62(8))
	if err != nil {
		t.Fatal(err)
	}
	verifier := id.Base62(43)
	sum := sha256.Sum256([]byte(verifier))
	code, err := w.Auth.Consent(t.Context(), actor, auth.Wish{
		Client: c, Scope: scope, Resource: address,
		RedirectURI: callback, Challenge: base64.RawURLEncoding.EncodeToString(sum[:]),
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := w.Auth.Exchange(t.Context(), auth.Redemption{Client: c.Name, Code: code, Verifier: verifier})
	if err != nil {
		t.Fatal(err)
	}
	consent, err := pg.Value[id.ID](t.Context(), w.DB, `select id from consent where client_id = $1`, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return tokens, consent
}

const callback = "http://127.0.0.1:9/callback"

// register registers a client and returns its client_id.
func (v *visitor) register(t testing.TB, redirects ...string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{
		"client_name": "Abacus", "redirect_uris": redirects,
		"token_endpoint_auth_method": "client_secret_basic", "logo_uri": "https://example.com/x.png",
	})
	r := v.send(t, exchange{method: "POST", path: "/oauth/register", body: string(body)})
	var c struct {
		ID     string `json:"client_id"`
		Method string `json:"token_endpoint_auth_method"`
		Secret string `json:"client_secret"`
	}
	if err := json.Unmarshal([]byte(r.body), &c); r.status != http.StatusCreated || err != nil || c.ID == "" ||
		c.Method != "none" || c.Secret != "" {
		t.Fatalf("register: %d %s", r.status, r.body)
	}
	return c.ID
}

// A client is a program that asks.
type client struct{ id, verifier, redirect string }

func newClient(t testing.TB, v *visitor) client {
	t.Helper()
	return client{id: v.register(t, callback), verifier: id.Base62(50), redirect: callback}
}

// asks is what the program sends the browser with.
func (c client) asks(v *visitor, scope string) url.Values {
	sum := sha256.Sum256([]byte(c.verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {c.redirect}, "scope": {scope},
		"state": {"a b&c"}, "resource": {v.url + "/mcp"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// consents looks at the page and lets the program in as a person would: with the fields that the
// page has.
func (v *visitor) consents(t testing.TB, ask url.Values, decision, grant string) url.Values {
	t.Helper()
	r, to := v.do(t, "GET", "/oauth/authorize?"+ask.Encode(), nil)
	if r.status != http.StatusOK {
		t.Fatalf("the page: %d %s %s", r.status, to, r.body)
	}
	form := url.Values{"decision": {decision}, "grant": {grant}}
	for _, m := range hidden.FindAllStringSubmatch(r.body, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	r, to = v.do(t, "POST", "/oauth/authorize", form)
	if r.status != http.StatusSeeOther {
		t.Fatalf("the decision: %d %s", r.status, r.body)
	}
	return answerOf(t, to)
}

// answerOf returns the parameters that a program gets when the browser comes back.
func answerOf(t testing.TB, to string) url.Values {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, "http://127.0.0.1:9/callback?") {
		t.Fatalf("sent to %s", to)
	}
	return u.Query()
}

// A grant is the response of the token endpoint.
type grant struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Scope   string `json:"scope"`
	Error   string `json:"error"`
}

func (v *visitor) fetch(t testing.TB, form url.Values) (reply, grant) {
	t.Helper()
	r := v.send(t, exchange{
		method: "POST", path: "/oauth/token", body: form.Encode(),
		kind: "application/x-www-form-urlencoded",
	})
	var g grant
	if err := json.Unmarshal([]byte(r.body), &g); err != nil {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return r, g
}

func (c client) redemption(code string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "client_id": {c.id}, "code": {code},
		"code_verifier": {c.verifier}, "redirect_uri": {c.redirect},
	}
}

func (c client) renewal(refresh string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {c.id}, "refresh_token": {refresh}}
}

// letIn goes through the whole of it.
func (c client) letIn(t testing.TB, v *visitor, scope string) grant {
	t.Helper()
	choice := "read"
	if strings.Contains(scope, "write") {
		choice = "write"
	}
	_, g := v.fetch(t, c.redemption(v.consents(t, c.asks(v, scope), "allow", choice).Get("code")))
	if g.Access == "" || g.Refresh == "" || g.Type != "Bearer" || g.Scope != scope || g.Expires < 60 ||
		g.Expires > 3600 {
		t.Fatalf("let in: %+v", g)
	}
	return g
}

// tool sends a message to /mcp with a token.
func (v *visitor) tool(t testing.TB, token, message string) reply {
	t.Helper()
	header := map[string]string{
		"Authorization": "Bearer " + token, "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": modernEra, "Mcp-Method": "tools/list",
	}
	if strings.Contains(message, "tools/call") {
		header["Mcp-Method"], header["Mcp-Name"] = "tools/call", "create_tag"
	}
	return v.send(t, exchange{method: "POST", path: "/mcp", body: message, header: header})
}

const (
	listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	createTag = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_tag","arguments":{"slug":"unasked"},` + modernMeta + `}}`
)

func TestAssistantsAreToldWhereToAsk(t *testing.T) {
	t.Parallel()
	v := published(t)
	r := v.tool(t, "", listTools)
	if want := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="read write"`,
		v.url); r.status != 401 || r.header.Get("WWW-Authenticate") != want {
		t.Errorf("without a token: %d %q, want %q", r.status, r.header.Get("WWW-Authenticate"), want)
	}
	if r := v.tool(t, "coffer_at_"+id.Base62(43), listTools); r.status != 401 ||
		!strings.HasSuffix(r.header.Get("WWW-Authenticate"), `, error="invalid_token"`) {
		t.Errorf("with a made-up token: %d %q", r.status, r.header.Get("WWW-Authenticate"))
	}
	if r := v.send(t, exchange{method: "POST", path: "/mcp/key", body: listTools}); r.status != 401 ||
		r.header.Get("WWW-Authenticate") != "" {
		t.Errorf("/mcp/key speaks of OAuth: %d %q", r.status, r.header.Get("WWW-Authenticate"))
	}
	get := func(path string) (reply, map[string]any) {
		r := v.send(t, exchange{
			method: "GET", path: path,
			header: map[string]string{"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
		})
		var m map[string]any
		if err := json.Unmarshal([]byte(r.body), &m); err != nil ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
			t.Errorf("%s is no JSON: %d %s", path, r.status, r.body)
		}
		return r, m
	}
	r, about := get("/.well-known/oauth-protected-resource/mcp")
	if r.status != 200 || about["resource"] != v.url+"/mcp" ||
		fmt.Sprint(about["authorization_servers"]) != "["+v.url+"/oauth]" ||
		fmt.Sprint(about["scopes_supported"]) != "[read write]" {
		t.Errorf("the resource: %d %s", r.status, r.body)
	}
	r, server := get("/.well-known/oauth-authorization-server/oauth")
	if r.status != 200 || server["issuer"] != v.url+"/oauth" ||
		fmt.Sprint(server["code_challenge_methods_supported"]) != "[S256]" ||
		server["authorization_response_iss_parameter_supported"] != true {
		t.Errorf("the server: %d %s", r.status, r.body)
	}
	for _, path := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server",
		"/.well-known/openid-configuration", "/.well-known/openid-configuration/oauth",
		"/oauth/.well-known/openid-configuration", "/.well-known/oauth-protected-resource/mcp/key",
		"/.well-known/oauth-authorization-server/mcp", "/register", "/authorize", "/token",
	} {
		if r, _ := get(path); r.status != 404 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}

// The SDK's own client goes through all of it: it finds the server, registers, sends the browser,
// fetches tokens, and asks again when a tool needs more.
func TestSDKClientIsLetIn(t *testing.T) {
	t.Parallel()
	v := published(t)
	var mu sync.Mutex
	var asked []string
	handler, err := sdkauth.NewAuthorizationCodeHandler(&sdkauth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &sdkauth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "the SDK", RedirectURIs: []string{callback}, TokenEndpointAuthMethod: "none",
				GrantTypes: []string{"authorization_code", "refresh_token"},
			},
		},
		RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(_ context.Context,
			args *sdkauth.AuthorizationArgs,
		) (*sdkauth.AuthorizationResult, error) {
			mu.Lock()
			defer mu.Unlock()
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			asked = append(asked, u.Query().Get("scope"))
			stranger := &visitor{world: v.world}                // whose browser is not signed in yet
			_, to := stranger.do(t, "GET", u.RequestURI(), nil) //nolint:contextcheck // the test's own
			if !strings.HasPrefix(to, "/login?next=") {
				return nil, errors.New("not sent to sign in: " + to)
			}
			next, err := url.Parse(to)
			if err != nil {
				return nil, err
			}
			_, to = stranger.do(t, "POST", "/login", url.Values{ //nolint:contextcheck // the test's own
				"email": {"robin@example.com"}, "password": {password},
				"next": {next.Query().Get("next")},
			})
			if to != u.RequestURI() {
				return nil, errors.New("sign-in leads to " + to)
			}
			choice := []string{"read", "write"}[min(len(asked)-1, 1)] // the member thinks again
			got := stranger.consents(t, u.Query(), "allow", choice)   //nolint:contextcheck // the test's own
			return &sdkauth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")},
				nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "abacus", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: v.url + "/mcp", OAuthHandler: handler, DisableStandaloneSSE: true},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close() //nolint:errcheck // nothing is left to be lost
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_tags"})
	if err != nil || res.IsError {
		t.Fatalf("reading: %v %v", err, res)
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "write") {
		t.Fatalf("asked for %q", asked)
	}
	res, err = session.CallTool(t.Context(), &mcp.CallToolParams{
		Name:      "create_tag",
		Arguments: map[string]any{"slug": "let-in"},
	})
	if err != nil || res.IsError {
		t.Fatalf("writing: %v %+v", err, res)
	}
	if len(asked) != 2 || !strings.Contains(asked[1], "write") {
		t.Errorf("asked for %q", asked)
	}
	type act struct {
		Type string `db:"actor_type"`
		Name string `db:"actor_name"`
	}
	if got, err := pg.One[act](t.Context(), v.DB, `select actor_type, actor_name from change
		order by id desc limit 1`); err != nil || got != (act{"agent", "the SDK"}) {
		t.Errorf("the change is of %+v, %v", got, err)
	}
}

// Of a thousand who send one code at once one gets tokens, and these end with the second.
func TestOneCodeIsGoodOnce(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	v := published(t)
	c := newClient(t, v)
	code := v.consents(t, c.asks(v, "read"), "allow", "read").Get("code")
	const many = 1000
	var all sync.WaitGroup
	var good, bad atomic.Int64
	var won atomic.Value
	gate := make(chan struct{}, 64) // as many connections as a machine has to give
	for range many {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			switch r, g := v.fetch(t, c.redemption(code)); {
			case r.status == 200:
				good.Add(1)
				won.Store(g)
			case r.status == 400 && g.Error == "invalid_grant":
				bad.Add(1)
			default:
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	all.Wait()
	if good.Load() != 1 || bad.Load() != many-1 {
		t.Fatalf("%d of %d got tokens, %d were refused", good.Load(), many, bad.Load())
	}
	g, _ := won.Load().(grant)
	if r := v.tool(t, g.Access, listTools); r.code() != "REVOKED_API_KEY" {
		t.Errorf("the tokens of a code that came twice: %d %s", r.status, r.body)
	}
	if _, again := v.fetch(t, c.renewal(g.Refresh)); again.Error != "invalid_grant" {
		t.Errorf("and the refresh token: %+v", again)
	}
	t.Logf("%d redemptions: %d success, %d refused", many, good.Load(), bad.Load())
}

func TestRefreshTokensRotate(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	first := c.letIn(t, v, "read write")
	other := c.letIn(t, v, "read") // of another machine, with a family of its own
	_, second := v.fetch(t, c.renewal(first.Refresh))
	if second.Refresh == "" || second.Refresh == first.Refresh || second.Access == first.Access ||
		second.Scope != "read write" {
		t.Fatalf("the next: %+v", second)
	}
	narrow := c.renewal(second.Refresh)
	narrow.Set("scope", "read")
	_, third := v.fetch(t, narrow)
	if third.Scope != "read" {
		t.Fatalf("narrower: %+v", third)
	}
	wide := c.renewal(other.Refresh)
	wide.Set("scope", "read write")
	_, other = v.fetch(t, wide)
	if other.Scope != "read" || v.tool(t, other.Access, createTag).status != 403 {
		t.Errorf("wider than granted: %+v", other)
	}
	elsewhere := c.renewal(other.Refresh)
	elsewhere.Set("resource", v.url+"/other")
	if _, g := v.fetch(t, elsewhere); g.Error != "invalid_target" {
		t.Errorf("for another address: %+v", g)
	}
	stranger := newClient(t, v).renewal(other.Refresh)
	if _, g := v.fetch(t, stranger); g.Error != "invalid_grant" {
		t.Errorf("of another client: %+v", g)
	}
	_, fourth := v.fetch(t, c.renewal(third.Refresh))
	if fourth.Scope != "read write" {
		t.Fatalf("the family kept less than it was granted: %+v", fourth)
	}
	if r := v.tool(t, fourth.Access, listTools); r.status != 200 {
		t.Fatalf("before: %d %s", r.status, r.body)
	}
	if _, g := v.fetch(t, c.renewal(first.Refresh)); g.Error != "invalid_grant" {
		t.Errorf("a used one: %+v", g)
	}
	for name, g := range map[string]grant{"first": first, "second": second, "third": third, "fourth": fourth} {
		if r := v.tool(t, g.Access, listTools); r.code() != "REVOKED_API_KEY" {
			t.Errorf("%s access token after the theft: %d %s", name, r.status, r.body)
		}
		if _, g := v.fetch(t, c.renewal(g.Refresh)); g.Error != "invalid_grant" {
			t.Errorf("%s refresh token after the theft: %+v", name, g)
		}
	}
	if r := v.tool(t, other.Access, listTools); r.status != 200 {
		t.Errorf("the other family: %d %s", r.status, r.body)
	}
	if r := v.send(t, exchange{
		method: "POST", path: "/oauth/revoke",
		body: url.Values{"token": {other.Refresh}}.Encode(),
		kind: "application/x-www-form-urlencoded",
	}); r.status != 200 {
		t.Errorf("give back: %d %s", r.status, r.body)
	}
	if r := v.tool(t, other.Access, listTools); r.code() != "REVOKED_API_KEY" {
		t.Errorf("after it was given back: %d %s", r.status, r.body)
	}
}

// Of many who send one refresh token at once one at most gets the next, and the family ends with
// the second.
func TestOneRefreshTokenIsGoodOnce(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	v := published(t)
	c := newClient(t, v)
	g := c.letIn(t, v, "read")
	var all sync.WaitGroup
	var good atomic.Int64
	var won atomic.Value
	for range 100 {
		all.Go(func() {
			r, next := v.fetch(t, c.renewal(g.Refresh))
			if r.status == 200 {
				good.Add(1)
				won.Store(next)
			} else if next.Error != "invalid_grant" {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	all.Wait()
	if good.Load() != 1 {
		t.Fatalf("%d of 100 got the next tokens", good.Load())
	}
	next, _ := won.Load().(grant)
	for _, token := range []string{g.Access, next.Access} {
		if r := v.tool(t, token, listTools); r.code() != "REVOKED_API_KEY" {
			t.Errorf("the family lives: %d %s", r.status, r.body)
		}
	}
}

// A code is valid only for the client that requested it, and a try with anything else uses it up.
func TestCodesAreBound(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	spoil := map[string]func(url.Values){
		"another verifier":       func(f url.Values) { f.Set("code_verifier", id.Base62(50)) },
		"another client":         func(f url.Values) { f.Set("client_id", newClient(t, v).id) },
		"another redirect":       func(f url.Values) { f.Set("redirect_uri", "http://127.0.0.1:10/callback") },
		"invalid_target: target": func(f url.Values) { f.Set("resource", "https://other.example/mcp") },
	}
	for name, change := range spoil {
		code := v.consents(t, c.asks(v, "read"), "allow", "read").Get("code")
		form := c.redemption(code)
		change(form)
		want := "invalid_grant"
		if before, _, ok := strings.Cut(name, ": "); ok {
			want = before
		}
		if r, g := v.fetch(t, form); r.status != 400 || g.Error != want {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
		if _, g := v.fetch(t, c.redemption(code)); g.Error != "invalid_grant" {
			t.Errorf("%s left the code good: %+v", name, g)
		}
	}
	late := v.consents(t, c.asks(v, "read"), "allow", "read").Get("code")
	if _, err := v.DB.Exec(t.Context(), `update consent set code_expires_at = now() - interval '1 second'
		where redeemed_at is null`); err != nil {
		t.Fatal(err)
	}
	if _, g := v.fetch(t, c.redemption(late)); g.Error != "invalid_grant" {
		t.Errorf("too late: %+v", g)
	}
	form := c.redemption(id.Base62(43))
	for name, change := range map[string]func(url.Values){
		"invalid_request: no verifier": func(f url.Values) { f.Del("code_verifier") },
		"invalid_request: two codes":   func(f url.Values) { f.Add("code", "x") },
		"invalid_client: unknown":      func(f url.Values) { f.Set("client_id", "nobody") },
		"invalid_request: no client":   func(f url.Values) { f.Del("client_id") },
		"unsupported_grant_type: ":     func(f url.Values) { f.Set("grant_type", "password") },
		"invalid_request: no type":     func(f url.Values) { f.Del("grant_type") },
		"invalid_grant: unknown code":  func(url.Values) {},
	} {
		f := url.Values{}
		for k, values := range form {
			f[k] = append([]string(nil), values...)
		}
		change(f)
		want, _, _ := strings.Cut(name, ": ")
		r, g := v.fetch(t, f)
		if g.Error != want || r.header.Get("Cache-Control") != "no-store" ||
			(r.status == 401) != (want == "invalid_client") {
			t.Errorf("%s: %d %s %s", name, r.status, r.body, r.header.Get("Cache-Control"))
		}
	}
	stored, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from consent g
		where g::text like '%' || $1 || '%'`, late)
	if err != nil || stored != 0 {
		t.Errorf("a code is stored as it is: %d %v", stored, err)
	}
}

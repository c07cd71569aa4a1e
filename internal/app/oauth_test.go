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
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// published returns the browser of Robin, who has set up a household on a server that knows its own
// address.
func published(t *testing.T) *visitor {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	return settledIn(t, newWorldAt(t, pgtest.URL(t), app.Config{PublicURL: "http://" + server.Listener.Addr().String()},
		server))
}

// letIn lets a program in as the member of a session, without the pages. It returns the program's
// tokens and the consent.
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

// A client is a program that asks a member for access.
type client struct{ id, verifier, redirect string }

func newClient(t testing.TB, v *visitor) client {
	t.Helper()
	return client{id: v.register(t, callback), verifier: id.Base62(50), redirect: callback}
}

// asks returns the parameters with which the program opens the browser.
func (c client) asks(v *visitor, scope string) url.Values {
	sum := sha256.Sum256([]byte(c.verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {c.redirect}, "scope": {scope},
		"state": {"a b&c"}, "resource": {v.url + "/mcp"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// consents opens the consent page and lets the program in as a person would, with the page's own
// fields.
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

// answerOf returns the parameters that the program gets when the browser returns to it.
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

// letIn goes through the whole flow and returns the tokens.
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

// TestSDKClientIsLetIn uses the SDK's own client for the whole flow: it finds the server,
// registers, opens the browser, fetches tokens, and asks for more access when a tool needs it.
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
			stranger := &visitor{world: v.world}                // a browser that is not signed in yet
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
			choice := []string{"read", "write"}[min(len(asked)-1, 1)] // the member chooses more the second time
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

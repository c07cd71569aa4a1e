package app_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// If the client or its redirect URI is wrong, the member sees the error. Any other error in an
// authorization request is sent to the client.
func TestQuestionsAreChecked(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := client{id: v.register(t, callback, "http://localhost/callback", "https://abacus.example/back?a=1",
		"cursor://anysphere.cursor-mcp/oauth/callback"), verifier: id.Base62(50), redirect: callback}
	with := func(name, value string) url.Values {
		ask := c.asks(v, "read")
		if value == "" {
			ask.Del(name)
		} else {
			ask.Set(name, value)
		}
		return ask
	}
	get := func(ask url.Values) (reply, string) { return v.do(t, "GET", "/oauth/authorize?"+ask.Encode(), nil) }
	for _, redirect := range []string{
		callback, "http://127.0.0.1:4711/callback", "http://127.0.0.1/callback",
		"http://localhost:5/callback", "https://abacus.example/back?a=1",
		"cursor://anysphere.cursor-mcp/oauth/callback",
	} {
		if r, to := get(with("redirect_uri", redirect)); r.status != 200 {
			t.Errorf("%s: %d %s", redirect, r.status, to)
		}
	}
	for _, redirect := range []string{
		"", "http://127.0.0.1:9/other", "http://127.0.0.1:9/callback?x=1", "http://127.0.0.1:9/callback#x",
		"http://127.0.0.2:9/callback", "http://[::1]:9/callback", "https://127.0.0.1:9/callback",
		"https://abacus.example/back", "https://abacus.example/back?a=1&b=2",
		"https://abacus.example.evil.example/back?a=1", "http://abacus.example/back?a=1",
		"https://u@abacus.example/back?a=1", "https://abacus.example:444/back?a=1",
		"http://localhost.evil.example:5/callback", "javascript:alert(1)", "https://abacus.example/back?a=1\n",
	} {
		if r, to := get(with("redirect_uri", redirect)); r.status != 400 || to != "" {
			t.Errorf("redirect URI %q was accepted: %d %s", redirect, r.status, to)
		}
	}
	if r, to := get(with("client_id", "client_nobody")); r.status != 400 || to != "" {
		t.Errorf("an unknown client: %d %s", r.status, to)
	}
	twice := c.asks(v, "read")
	twice.Add("redirect_uri", "https://evil.example/")
	if r, to := get(twice); r.status != 400 || to != "" {
		t.Errorf("two redirect URIs: %d %s", r.status, to)
	}
	for want, ask := range map[string]url.Values{
		"unsupported_response_type": with("response_type", "token"), "invalid_request": with("code_challenge", ""),
		"invalid_request ":   with("code_challenge_method", "plain"),
		"invalid_request  ":  with("code_challenge_method", ""),
		"invalid_request   ": with("code_challenge", "short"), "invalid_scope": with("scope", "admin"),
		"invalid_target":  with("resource", "https://other.example/mcp"),
		"invalid_target ": with("resource", v.url+"/mcp/"),
	} {
		r, to := get(ask)
		if r.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", want, r.status, r.body)
			continue
		}
		if got := answerOf(t, to); got.Get("error") != strings.TrimSpace(want) || got.Get("state") != "a b&c" ||
			got.Get("iss") != v.url+"/oauth" || got.Get("code") != "" {
			t.Errorf("%s: %s", want, to)
		}
	}
	if got := v.consents(t, c.asks(v, "read"), "refuse", ""); got.Get("error") != "access_denied" ||
		got.Get("state") != "a b&c" || got.Get("iss") != v.url+"/oauth" {
		t.Errorf("refused: %v", got)
	}
	if got := v.consents(t, with("resource", ""), "allow", "read"); got.Get("code") == "" || len(got["iss"]) != 1 ||
		got.Get("state") != "a b&c" {
		t.Errorf("without a resource: %v", got)
	}
	form := c.asks(v, "read")
	form.Set("decision", "allow")
	if r, to := v.do(t, "POST", "/oauth/authorize", form, "Sec-Fetch-Site", "cross-site"); r.status != 403 || to != "" {
		t.Errorf("a decision posted by another site: %d %s", r.status, to)
	}
	form.Set("redirect_uri", "https://evil.example/")
	if r, to := v.do(t, "POST", "/oauth/authorize", form); r.status != 400 || to != "" {
		t.Errorf("a form with another redirect URI: %d %s", r.status, to)
	}
}

// The consent page says who is asking, where the answer goes and what is asked for. Its form cannot
// send the answer anywhere else.
func TestConsentPage(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	r, _ := v.do(t, "GET", "/oauth/authorize?"+c.asks(v, "read write").Encode(), nil)
	for _, want := range []string{
		"Abacus", "this computer (127.0.0.1:9)", "View and edit", "Robin",
		"Continue only if you just started this yourself", "This name isn't verified",
		`value="write" data-choice="edit"> View and edit`,
	} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page does not say %q: %s", want, r.body)
		}
	}
	policy := r.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "form-action 'self' http://127.0.0.1:9;") ||
		!strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the content security policy: %s", policy)
	}
	if got := r.header.Get("Cross-Origin-Opener-Policy"); got != "unsafe-none" {
		t.Errorf("the page is cut off from the assistant's site that opened it: %q", got)
	}
	c.letIn(t, v, "read")
	if r, _ := v.do(t, "GET", "/oauth/authorize?"+c.asks(v, "read write").Encode(), nil); !strings.Contains(r.body,
		`value="read" checked`) || strings.Contains(r.body, `value="write" checked`) {
		t.Errorf("a client that was let in before asks again, and reading is not preselected: %s", r.body)
	}
	// The warning depends on the redirect URI of this request, not on the client's others. Here it
	// leads to this computer, or to any program there that claimed the scheme.
	for _, redirect := range []string{callback, "abacus://back"} {
		both := client{
			id:       v.register(t, "https://abacus.example/back", callback, "abacus://back"),
			verifier: id.Base62(50), redirect: redirect,
		}
		if r, _ := v.do(t, "GET", "/oauth/authorize?"+both.asks(v, "read").Encode(), nil); !strings.Contains(r.body,
			"an app on this computer") {
			t.Errorf("%s: no warning: %s", redirect, r.body)
		}
	}
	hosted := client{
		id: v.register(t, "https://abacus.example/back"), verifier: id.Base62(50),
		redirect: "https://abacus.example/back",
	}
	if r, _ := v.do(t, "GET", "/oauth/authorize?"+hosted.asks(v, "read").Encode(), nil); strings.Contains(r.body,
		"an app on this computer") || !strings.Contains(r.body, "<strong>abacus.example</strong>") {
		t.Errorf("a hosted program: %s", r.body)
	}
	_, viewer := v.session(t, "viewer")
	watching := &visitor{world: v.world, cookie: viewer}
	if r, _ := watching.do(t, "GET", "/oauth/authorize?"+c.asks(v, "read write").Encode(),
		nil); strings.Contains(r.body, "radio") {
		t.Errorf("a viewer is offered to grant write access: %s", r.body)
	}
	if _, g := v.fetch(t, c.redemption(watching.consents(t, c.asks(v, "read write"), "allow",
		"write").Get("code"))); g.Scope != "read" {
		t.Errorf("a viewer granted write access: %+v", g)
	}
}

// If a program with read access calls a writing tool, the error names the scope to request, and
// nothing is changed. A viewer's program does not see tools that it could never call.
func TestWritingNeedsMore(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	g := c.letIn(t, v, "read")
	for _, body := range []string{createTag, "[" + createTag + "]", `[` + listTools + `,` + createTag + `]`} {
		r := v.tool(t, g.Access, body)
		if got := r.header.Get("WWW-Authenticate"); r.status != 403 ||
			!strings.Contains(got, `error="insufficient_scope"`) || !strings.Contains(got, `scope="read write"`) ||
			!strings.Contains(got, "resource_metadata=") {
			t.Errorf("%s: %d %q %s", body, r.status, got, r.body)
		}
	}
	made := func() int {
		n, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from tag where slug = 'unasked'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if made() != 0 {
		t.Error("the tag was created with read access")
	}
	if r := v.tool(t, c.letIn(t, v, "read write").Access, createTag); r.status != 200 || made() != 1 {
		t.Errorf("with write access: %d %s", r.status, r.body)
	}
	if r := v.tool(t, g.Access, listTools); !strings.Contains(r.body, "create_tag") {
		t.Errorf("the list hides a tool that the program could request access to: %s", r.body)
	}
	// Once the member becomes a viewer, write access granted earlier ends with the next request.
	wide := c.letIn(t, v, "read write")
	if _, err := v.DB.Exec(t.Context(), `update member set role = 'viewer' where name = 'Robin'`); err != nil {
		t.Fatal(err)
	}
	if r := v.tool(t, wide.Access, listTools); strings.Contains(r.body, "create_tag") ||
		!strings.Contains(r.body, "list_tags") {
		t.Errorf("a viewer's program sees: %s", r.body)
	}
	if _, err := v.DB.Exec(t.Context(), `update tag set slug = 'asked' where slug = 'unasked'`); err != nil {
		t.Fatal(err)
	}
	if r := v.tool(t, wide.Access, createTag); made() != 0 {
		t.Errorf("a viewer's program wrote: %d %s", r.status, r.body)
	}
}

// Members can see and revoke the assistants that they let in. An admin can do so for everyone.
func TestAssistantsAreEnded(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	one, two := c.letIn(t, v, "read"), c.letIn(t, v, "read write")
	r, _ := v.do(t, "GET", "/account/assistants", nil)
	if strings.Count(r.body, "Abacus") != 2 {
		t.Fatalf("the page does not list both assistants: %s", r.body)
	}
	at := regexp.MustCompile(`name="assistant" value="(\w+)"`).FindAllStringSubmatch(r.body, -1) // newest first
	if r, to := v.do(t, "POST", "/account/assistants/end",
		url.Values{"assistant": {at[0][1]}}); r.status != http.StatusSeeOther || to != "/account/assistants" {
		t.Fatalf("revoke an assistant: %d %s", r.status, r.body)
	}
	if r := v.tool(t, two.Access, listTools); r.code() != "REVOKED_API_KEY" {
		t.Errorf("a call by the revoked assistant: %d", r.status)
	}
	if r := v.tool(t, one.Access, listTools); r.status != 200 {
		t.Errorf("a call by the other assistant: %d", r.status)
	}
	_, other := v.session(t, "member")
	if r, _ := (&visitor{world: v.world, cookie: other}).do(t, "POST", "/account/assistants/end",
		url.Values{"assistant": {at[1][1]}}); r.status != 404 {
		t.Errorf("another member revokes it: %d", r.status)
	}
	robin, err := pg.Value[string](t.Context(), v.DB, `select short_id from member where name = 'Robin'`)
	if err != nil {
		t.Fatal(err)
	}
	if r := v.send(t, exchange{
		method: "DELETE", path: "/api/v1/users/" + robin + "/assistants/" + at[1][1],
		key: v.key,
	}); r.status != 204 {
		t.Errorf("an admin revokes it: %d %s", r.status, r.body)
	}
	if r := v.tool(t, one.Access, listTools); r.code() != "REVOKED_API_KEY" {
		t.Errorf("a call by the assistant that an admin revoked: %d", r.status)
	}
}

// A token is valid only at its own address: a token for /mcp does not work for the REST API, and a
// token for the REST API does not work for /mcp.
func TestTokensHaveAnAddress(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	rest := func(token string) reply {
		return v.send(t, exchange{
			method: "GET", path: "/api/v1/tags",
			header: map[string]string{"Authorization": "Bearer " + token},
		})
	}
	forTools := c.letIn(t, v, "read")
	if r := rest(forTools.Access); r.code() != "INVALID_API_KEY" {
		t.Errorf("a token for /mcp at /api/v1: %d %s", r.status, r.body)
	}
	ask := c.asks(v, "read")
	ask.Set("resource", v.url+"/api/v1")
	_, forREST := v.fetch(t, c.redemption(v.consents(t, ask, "allow", "read").Get("code")))
	if r := rest(forREST.Access); r.status != 200 {
		t.Errorf("a token for /api/v1 at /api/v1: %d %s", r.status, r.body)
	}
	if r := v.tool(t, forREST.Access, listTools); r.code() != "INVALID_API_KEY" {
		t.Errorf("a token for /api/v1 at /mcp: %d %s", r.status, r.body)
	}
	for _, text := range []string{v.key, v.cookie, forTools.Refresh} {
		if r := v.tool(t, text, listTools); r.code() != "INVALID_API_KEY" {
			t.Errorf("another credential in place of an access token: %d %s", r.status, r.body)
		}
	}
	if r := v.send(t, exchange{
		method: "POST", path: "/mcp", key: v.key,
		body: listTools,
	}); r.code() != "MISSING_API_KEY" {
		t.Errorf("an API key at /mcp: %d %s", r.status, r.body)
	}
}

// The sweep deletes clients, consents and tokens that are of no further use, and keeps the rest.
func TestGrantsAreSwept(t *testing.T) {
	t.Parallel()
	v := published(t)
	used, unused := newClient(t, v), newClient(t, v)
	g := used.letIn(t, v, "read")
	v.consents(t, used.asks(v, "read"), "allow", "read") // a code that nobody redeems
	age := func(statement string) {
		if _, err := v.DB.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := v.Auth.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	count := func(what string) int {
		n, err := pg.Value[int](t.Context(), v.DB, `select case $1 when 'client' then (select count(*) from client)
			when 'consent' then (select count(*) from consent)
			else (select count(*) from token where kind in ('access', 'refresh')) end::integer`, what)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	age(`update client set created_at = now() - interval '25 hours'`)
	if count("client") != 1 || count("consent") != 2 || count("token") != 2 {
		t.Errorf("after a day: %d clients, %d consents, %d tokens", count("client"), count("consent"), count("token"))
	}
	if _, err := v.Auth.Client(t.Context(), unused.id); !errors.Is(err, auth.ErrNoClient) {
		t.Errorf("a client that nobody let in is kept: %v", err)
	}
	age(`update consent set code_expires_at = now() - interval '25 hours'`)
	if count("consent") != 1 {
		t.Errorf("%d consents after the code expired, want 1", count("consent"))
	}
	if r := v.tool(t, g.Access, listTools); r.status != 200 {
		t.Errorf("the sweep deleted a valid token: %d", r.status)
	}
	age(`update token set expires_at = now() - interval '25 hours' where consent_id is not null`)
	age(`select 1`)
	if count("client")+count("consent")+count("token") != 0 {
		t.Errorf("after the tokens expired: %d clients, %d consents, %d tokens", count("client"), count("consent"),
			count("token"))
	}
}

// Anyone can register a client, so registrations are checked and limited.
func TestRegistrationIsBounded(t *testing.T) {
	t.Parallel()
	v := published(t)
	for _, body := range []string{
		``, `[]`, `{}`, `{"redirect_uris":[]}`, `{"redirect_uris":["http://abacus.example/"]}`,
		`{"redirect_uris":["javascript:alert(1)"]}`, `{"redirect_uris":["https://a.example/#x"]}`,
		`{"redirect_uris":["https://u:p@a.example/"]}`, `{"redirect_uris":["data:text/html,x"]}`,
		`{"redirect_uris":["//a.example/"]}`, `{"redirect_uris":["https://a.example/;script-src"]}`,
		`{"redirect_uris":["/back"]}`,
		`{"redirect_uris":["https://a.example/` + strings.Repeat("x", 2000) + `"]}`,
		`{"redirect_uris":["https://a.example/","file:///etc/passwd"]}`,
		`{"redirect_uris":[` + strings.Repeat(`"https://a.example/",`, 10) + `"https://b.example/"]}`,
	} {
		if r := v.send(t, exchange{method: "POST", path: "/oauth/register", body: body}); r.status != 400 ||
			!strings.Contains(r.body, `"error":"invalid_`) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	var limited atomic.Bool
	for range 30 {
		if r := v.send(t, exchange{
			method: "POST", path: "/oauth/register",
			body: `{"redirect_uris":["https://a.example/"],"client_name":"\u202eevil\n"}`,
		}); r.status == http.StatusTooManyRequests {
			limited.Store(true)
			if after, err := time.ParseDuration(r.header.Get("Retry-After") + "s"); err != nil || after <= 0 {
				t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
			}
		}
	}
	if !limited.Load() {
		t.Error("30 registrations in a row were not limited")
	}
	if bad, err := pg.Value[int](t.Context(), v.DB, `select count(*)::integer from client
		where title ~ '[[:cntrl:]]' or title like '%' || chr(8238) || '%'`); err != nil || bad != 0 {
		t.Errorf("%d client names contain control characters, %v", bad, err)
	}
}

// Some clients first send their client_id by HTTP Basic authentication, with an empty secret, and
// only then in the form.
func TestClientsMayNameThemselvesInAHeader(t *testing.T) {
	t.Parallel()
	v := published(t)
	c := newClient(t, v)
	form := c.redemption(v.consents(t, c.asks(v, "read"), "allow", "read").Get("code"))
	form.Del("client_id")
	send := func(name string) reply {
		return v.send(t, exchange{
			method: "POST", path: "/oauth/token", body: form.Encode(),
			kind: "application/x-www-form-urlencoded", header: map[string]string{
				"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(name)+":")),
			},
		})
	}
	if r := send("https://nobody.example/client"); r.status != 401 || !strings.Contains(r.body, "invalid_client") ||
		!strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Basic ") {
		t.Errorf("an unknown client: %d %s", r.status, r.body)
	}
	if r := send(c.id); r.status != 200 || !strings.Contains(r.body, "coffer_at_") {
		t.Errorf("the client that the code was issued to: %d %s", r.status, r.body)
	}
}

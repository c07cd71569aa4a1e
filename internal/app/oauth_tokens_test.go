package app_test

import (
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
)

// TestOneCodeIsGoodOnce: if a thousand clients send one code at once, one gets tokens. The second
// use of the code ends these tokens.
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
	gate := make(chan struct{}, 64) // stay below the number of connections that a machine can open
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
	other := c.letIn(t, v, "read") // a login on another machine, with its own token family
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

// TestOneRefreshTokenIsGoodOnce: if many clients send one refresh token at once, at most one gets
// the next. The second use ends the whole family.
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

// TestCodesAreBound: a code is valid only for the client that requested it. A try with anything
// else uses it up.
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

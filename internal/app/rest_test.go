package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// TestHTTP lists the requirements of HTTP itself: request, status, code.
func TestHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	json := map[string]string{"Content-Type": "application/json"}
	for name, c := range map[string]struct {
		x      exchange
		status int
		code   string
	}{
		"unknown path": {exchange{method: "GET", path: "/api/v1/nothing"}, 404, "NOT_FOUND"},
		// Leads to the account page, or to the sign-in page.
		"root": {exchange{method: "GET", path: "/"}, 200, ""},
		"oauth discovery": {
			exchange{method: "GET", path: "/.well-known/oauth-protected-resource"},
			404,
			"NOT_FOUND",
		},
		"wrong method":      {exchange{method: "PUT", path: "/api/v1/tags"}, 405, "METHOD_NOT_ALLOWED"},
		"unknown parameter": {exchange{method: "GET", path: "/api/v1/tags?page=1"}, 400, "VALIDATION_ERROR"},
		"parameter twice": {
			exchange{method: "GET", path: "/api/v1/api-keys?limit=1&limit=2"},
			400,
			"VALIDATION_ERROR",
		},
		"limit too large": {
			exchange{method: "GET", path: "/api/v1/api-keys?limit=501"},
			400,
			"VALIDATION_ERROR",
		},
		"limit no number": {
			exchange{method: "GET", path: "/api/v1/api-keys?limit=ten"},
			400,
			"VALIDATION_ERROR",
		},
		"body field in query": {
			exchange{method: "POST", path: "/api/v1/tags?slug=a", body: `{}`},
			400,
			"VALIDATION_ERROR",
		},
		"path variable in body": {
			exchange{method: "PATCH", path: "/api/v1/tags/a", body: `{"slug":"b"}`},
			400,
			"VALIDATION_ERROR",
		},
		"not JSON": {
			exchange{method: "POST", path: "/api/v1/tags", body: `{"slug":`},
			400,
			"INVALID_BODY",
		},
		"no object": {
			exchange{method: "POST", path: "/api/v1/tags", body: `["slug"]`},
			400,
			"INVALID_BODY",
		},
		"two objects": {
			exchange{method: "POST", path: "/api/v1/tags", body: `{"slug":"a"}{"slug":"b"}`},
			400, "INVALID_BODY",
		},
		"name twice": {
			exchange{method: "POST", path: "/api/v1/tags", body: `{"slug":"a","slug":"b"}`},
			400,
			"INVALID_BODY",
		},
		"other case": {
			exchange{method: "POST", path: "/api/v1/tags", body: `{"Slug":"a"}`},
			400,
			"VALIDATION_ERROR",
		},
		"too deep": {exchange{
			method: "POST", path: "/api/v1/tags",
			body: strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40),
		}, 400, "INVALID_BODY"},
		"NUL": {exchange{
			method: "POST", path: "/api/v1/tags",
			body: `{"slug":"a","description":"\u0000"}`,
		}, 400, "VALIDATION_ERROR"},
		"form instead of JSON": {exchange{
			method: "POST", path: "/api/v1/tags", body: "slug=a",
			kind: "application/x-www-form-urlencoded",
		}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		"JSON instead of TSV": {
			exchange{method: "POST", path: "/api/v1/categories/import", body: `{}`},
			415,
			"UNSUPPORTED_MEDIA_TYPE",
		},
		"wants XML": {exchange{
			method: "GET", path: "/api/v1/tags",
			header: map[string]string{"Accept": "application/xml"},
		}, 406, "NOT_ACCEPTABLE"},
		"too large": {exchange{
			method: "POST", path: "/api/v1/tags",
			body: `{"slug":"` + strings.Repeat("a", 1<<20) + `"}`, header: json,
		}, 413, "PAYLOAD_TOO_LARGE"},
		"body with GET": {exchange{method: "GET", path: "/api/v1/tags", body: `{"a":1}`}, 400, "INVALID_BODY"},
		"strange key": {exchange{
			method: "GET", path: "/api/v1/tags",
			header: map[string]string{"X-API-Key": "x"},
		}, 401, "INVALID_API_KEY"},
		"wildcard accept": {exchange{
			method: "GET", path: "/api/v1/tags",
			header: map[string]string{"Accept": "text/html, */*;q=0.1"},
		}, 200, ""},
		"health without key": {exchange{
			method: "GET", path: "/api/v1/health/ready",
			header: map[string]string{"X-API-Key": ""},
		}, 200, ""},
		"HEAD": {exchange{method: "HEAD", path: "/api/v1/tags"}, 200, ""},
		"foreign page and agent": {exchange{
			method: "POST", path: "/mcp/key", body: `{}`,
			header: map[string]string{"Origin": "https://evil.example"},
		}, 403, "FORBIDDEN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.x.key == "" {
				c.x.key = w.key
			}
			r := w.send(t, c.x)
			if r.status != c.status || r.code() != c.code {
				t.Errorf("%d %s, want %d %s: %s", r.status, r.code(), c.status, c.code, r.body)
			}
			if r.header.Get("X-Request-Id") == "" {
				t.Error("no X-Request-Id")
			}
		})
	}
}

func TestETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := exchange{method: "GET", path: "/api/v1/tags/needs-review", key: w.key}
	first := w.send(t, get)
	tag := first.header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	get.header = map[string]string{"If-None-Match": tag}
	if r := w.send(t, get); r.status != http.StatusNotModified || r.body != "" {
		t.Errorf("If-None-Match: %d %q", r.status, r.body)
	}
	patch := exchange{
		method: "PATCH", path: get.path, key: w.key, body: `{"icon":"eye-off"}`,
		header: map[string]string{"If-Match": tag},
	}
	changed := w.send(t, patch)
	if changed.status != 200 || changed.header.Get("ETag") == tag {
		t.Errorf("If-Match: %d %s", changed.status, changed.header.Get("ETag"))
	}
	if r := w.send(t, patch); r.code() != "PRECONDITION_FAILED" {
		t.Errorf("the same ETag again: %d %s", r.status, r.body)
	}
	get.header = nil
	if r := w.send(t, get); r.header.Get("ETag") != changed.header.Get("ETag") {
		t.Error("PATCH and GET name the same state differently")
	}
}

// TestEveryPatchHonoursIfMatch: a caller can make sure that nobody else changed a record first.
// Every PATCH and PUT checks If-Match, including ones added later.
func TestEveryPatchHonoursIfMatch(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	w.fillBooks(t)
	w.fillLinks(t)
	k := w.newKey(t, auth.CreateKey{Name: "subject", Scope: "read_only", ActorType: "user"})
	name := func(query string) string {
		v, err := pg.Value[string](t.Context(), w.DB, query)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	transaction := name(`select short_id from transaction order by id limit 1`)
	w.send(t, exchange{method: "POST", path: "/api/v1/counterparties", key: w.key, body: `{"name":"Acme"}`})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/transactions/" + transaction + "/comments", key: w.key,
		body: `{"content":"hm"}`,
	})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/transactions", key: w.key, body: `{"account_id":"` + name(`select short_id
			from account limit 1`) + `","date":"2026-01-31","amount":5,"name":"Market"}`,
	})
	byHand := name(`select short_id from transaction where origin = 'manual'`)
	ada := name(`select short_id from member where name = 'Ada'`)
	w.send(t, exchange{
		method: "POST", path: "/api/v1/users/" + ada + "/login", key: w.key,
		body: `{"kind":"password","identifier":"ada@example.org","password":"correct horse battery"}`,
	})
	w.send(t, exchange{method: "POST", path: "/api/v1/reports", key: w.key, body: `{"title":"Hm","body":"hm"}`})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/views", key: w.key, body: `{"name":"All","filters":{},"shared":true}`,
	})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/recurring", key: w.key, body: `{"transaction_id":"` +
			name(`select short_id from transaction where amount > 0 and deleted_at is null and not pending order by id limit 1`) +
			`","cadence":"monthly"}`,
	})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/targets", key: w.key, body: `{"category":"home","amount":900}`,
	})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/workflows", key: w.key,
		body: `{"slug":"toys","name":"Toys","prompt":"Say hello.","scope":"read_only"}`,
	})
	w.send(t, exchange{
		method: "POST", path: "/api/v1/prompt-blocks", key: w.key, body: `{"slug":"ours","title":"Ours","body":"hm"}`,
	})
	subjects := map[string][2]string{ // a record that exists, and a valid change of it
		"tag.update":      {"/api/v1/tags/needs-review", `{"icon":"eye"}`},
		"category.update": {"/api/v1/categories/home", `{"icon":"house"}`},
		"key.update":      {"/api/v1/api-keys/" + k.ShortID, `{"name":"renamed"}`},
		"user.update":     {"/api/v1/users/" + ada, `{"name":"Ada L."}`},
		"login-method.update": {"/api/v1/users/" + ada + "/login/" + name(`select short_id from login
			limit 1`), `{"identifier":"ada@example.com"}`},
		"account.update": {"/api/v1/accounts/" + name(`select short_id from account limit 1`), `{"hidden":true}`},
		"counterparty.update": {"/api/v1/counterparties/" + name(`select short_id from counterparty
			limit 1`), `{"mcc":"5411"}`},
		"transaction.split": {
			"/api/v1/transactions/" + transaction + "/split", `{"parts":[{"amount":0.01},{"category":"home_rent"}]}`,
		},
		"transaction.update": {"/api/v1/transactions/" + transaction, `{"category":"home_rent"}`},
		"connection.update": {"/api/v1/connections/" + name(`select short_id from connection
			limit 1`), `{"paused":true}`},
		"rule.update": {"/api/v1/rules/" + name(`select short_id from rule limit 1`), `{"enabled":false}`},
		"account-link.update": {"/api/v1/account-links/" + name(`select short_id from account_link
			order by kind limit 1`), `{"confidence":"confirmed"}`},
		"account-link.match": {"/api/v1/account-links/" + name(`select l.short_id || '/matches/' || m.short_id
			from link_match m join account_link l on l.id = m.account_link_id
			order by l.kind desc limit 1`), `{"confidence":"confirmed"}`},
		"setting.update": {"/api/v1/settings", `{"household_name":"Ours"}`},
		"agent.update":   {"/api/v1/settings/agents", `{"writes_per_day":100}`},
		"model.set": {
			"/api/v1/settings/models",
			`{"provider":"anthropic","base_url":"https://models.example.com"}`,
		},
		"rate.set": {
			"/api/v1/rates",
			`{"iso_currency_code":"USD","in":"EUR","date":"2026-01-01","rate":0.92}`,
		},
		"provider.set": {
			"/api/v1/settings/providers/plaid",
			`{"client_id":"client-0001","secret":"secret-0001"}`,
		},
		"recurring.update": {"/api/v1/recurring/" + name(`select short_id from recurring limit 1`), `{"name":"Ours"}`},
		"finding.dismiss": {"/api/v1/findings/" + name(`insert into finding (id, short_id, account_id, kind, state)
			select gen_random_uuid(), 'found000', id, 'gap', 'open' from account limit 1
			returning short_id`), `{"state":"dismissed"}`},
		"endpoint.update": {"/api/v1/notifications/endpoints/" + name(`insert into endpoint (id, short_id, url, secret)
			values (gen_random_uuid(), 'kitchen0', 'https://home.example', '') returning short_id`), `{"content":"full"}`},
		"target.update":       {"/api/v1/targets/" + name(`select short_id from target limit 1`), `{"amount":950}`},
		"view.update":         {"/api/v1/views/" + name(`select short_id from saved_view limit 1`), `{"name":"Ours"}`},
		"workflow.update":     {"/api/v1/workflows/toys", `{"max_turns":3}`},
		"prompt-block.update": {"/api/v1/prompt-blocks/ours", `{"title":"Theirs"}`},
		"report.read":         {"/api/v1/reports/" + name(`select short_id from report limit 1`) + "/read", ""},
		"balance.set": {
			"/api/v1/accounts/" + name(`select short_id from account limit 1`) + "/balances/2026-01-31", `{"current":5}`,
		},
		"transaction.match": {"/api/v1/transactions/" + byHand + "/match", `{"transaction_id":null}`},
		"comment.update": {"/api/v1/transactions/" + transaction + "/comments/" +
			name(`select short_id from comment limit 1`), `{"content":"well"}`},
	}
	for _, o := range app.Menu() {
		// TestPreferences covers a member's own records.
		if o.Method != http.MethodPatch && o.Method != http.MethodPut || o.Own {
			continue
		}
		s, ok := subjects[o.Name]
		if !ok {
			t.Errorf("%s has no subject in this test", o.Name)
			continue
		}
		x := exchange{
			method: o.Method, path: s[0], key: w.key, body: s[1],
			header: map[string]string{"If-Match": `"stale"`},
		}
		if r := w.send(t, x); r.code() != "PRECONDITION_FAILED" {
			t.Errorf("%s with a stale If-Match: %d %s", o.Name, r.status, r.body)
		}
		x.header["If-Match"] = w.send(t, exchange{
			method: "GET", path: strings.TrimSuffix(s[0], "/read"),
			key: w.key,
		}).header.Get("ETag")
		// These records have no address from which to read an ETag. A stale one must still be
		// refused.
		if o.Name == "comment.update" || o.Name == "transaction.match" || o.Name == "login-method.update" || o.Name == "account-link.match" ||
			o.Name == "finding.dismiss" {
			continue
		}
		if r := w.send(t, x); r.status != 200 {
			t.Errorf("%s with the right If-Match: %d %s", o.Name, r.status, r.body)
		}
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{RatePerMinute: 60, RateBurst: 5, AuthFailures: 3})
	limited := 0
	for range 8 {
		r := w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: w.key})
		if r.code() == "RATE_LIMITED" {
			limited++
			if r.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		}
		if !strings.Contains(r.header.Get("RateLimit-Policy"), "q=60") {
			t.Errorf("RateLimit-Policy is %q", r.header.Get("RateLimit-Policy"))
		}
	}
	if limited < 2 || limited > 3 {
		t.Errorf("%d of 8 were limited with a burst of 5", limited)
	}
	codes := ""
	for range 5 {
		codes += w.send(t, exchange{method: "GET", path: "/api/v1/tags", key: "wrong"}).code() + " "
	}
	if codes != "INVALID_API_KEY INVALID_API_KEY INVALID_API_KEY RATE_LIMITED RATE_LIMITED " {
		t.Errorf("failed authentications: %s", codes)
	}
	if other := w.newKey(t, auth.CreateKey{Name: "other", Scope: "read_only", ActorType: "user"}); w.send(t,
		exchange{method: "GET", path: "/api/v1/tags", key: other.Secret}).status != 200 {
		t.Error("a good key is locked out by the failures of others at its address")
	}
}

func TestDocsNeedNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{Listen: "127.0.0.1:18080"})
	for path, kind := range map[string]string{
		"/docs": "text/html", "/docs/style.css": "text/css",
		"/openapi.json": "application/json", "/openapi.yaml": "application/yaml",
	} {
		r := w.send(t, exchange{method: "GET", path: path})
		if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, r.status, r.header.Get("Content-Type"))
		}
		if policy := r.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if kind == "text/html" && (strings.Contains(r.body, "http-equiv") || strings.Contains(r.body, "<script") ||
			strings.Contains(r.body, `src="http`) || strings.Contains(r.body, `href="http`)) {
			t.Errorf("%s loads something from elsewhere", path)
		}
	}
	page := w.send(t, exchange{method: "GET", path: "/docs"}).body
	if strings.Count(page, "COFFER_SERVER="+w.url+" ") != 1 {
		t.Error("the reference does not show the address at which it was opened")
	}
	for _, o := range app.Menu() {
		if o.Route != "" && !strings.Contains(page, fmt.Sprintf(`id="%s"`, o.Name)) {
			t.Errorf("%s is not on the page", o.Name)
		}
	}
}

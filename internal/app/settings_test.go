package app_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// put sends a body and returns the response.
func (w *world) put(t *testing.T, path, body string) reply {
	t.Helper()
	return w.send(t, exchange{method: http.MethodPut, path: "/api/v1" + path, key: w.key, body: body})
}

func (w *world) post(t *testing.T, path string) reply {
	t.Helper()
	return w.send(t, exchange{method: http.MethodPost, path: "/api/v1" + path, key: w.key})
}

func has(t *testing.T, r reply, status int, parts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("%d, want %d: %s", r.status, status, r.body)
	}
	for _, part := range parts {
		if !strings.Contains(r.body, part) {
			t.Errorf("%s is not in %s", part, r.body)
		}
	}
}

// TestProvidersAreConfiguredForAllServers: after a provider is configured on one server, all
// servers use its latest configuration at once. Nobody can read its secret.
func TestProvidersAreConfiguredForAllServers(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	p, err := banks.NewPlaid(banks.PlaidOptions{
		Household: household.Options{Seed: 3, Transactions: 200, Years: 1},
		ClientID:  "client-of-the-household", Secret: "canary-of-the-household",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	database := pgtest.URL(t)
	config := app.Config{EncryptionKey: seal.NewSecret(testRing), Providers: app.Providers{"plaid": {"url": p.URL()}}}
	one, two := newWorldOn(t, database, config), newWorldOn(t, database, config)
	two.work(t)
	token, book := p.NewItem("")
	body := fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token)
	if r := two.send(t, exchange{
		method: http.MethodPost, path: "/api/v1/connections", key: two.key,
		body: body,
	}); r.code() != "PROVIDER_NOT_CONFIGURED" {
		t.Errorf("before: %d %s", r.status, r.body)
	}
	has(t, one.put(t, "/settings/providers/plaid",
		`{"client_id":"client-of-the-household","secret":"not-the-right-secret"}`), 200, `"source":"stored"`)
	has(t, two.post(t, "/settings/providers/plaid/test"), 200, `"ok":false`, `"code":"INVALID_API_KEYS"`)
	has(t, one.put(t, "/settings/providers/plaid", `{"secret":"canary-of-the-household"}`), 200, `"masked":"****hold"`,
		`"last_test":null`)
	has(t, two.post(t, "/settings/providers/plaid/test"), 200, `"ok":true`)
	has(t, one.send(t, exchange{method: http.MethodGet, path: "/api/v1/settings/providers", key: one.key}), 200,
		`"last_test":{"ok":true`)
	connection := two.link(t, body)
	two.holdsBook(t, book)

	has(t, one.send(t, exchange{method: http.MethodDelete, path: "/api/v1/settings/providers/plaid", key: one.key}),
		204)
	has(t, two.post(t, "/settings/providers/plaid/test"), 422, "PROVIDER_NOT_CONFIGURED")
	if got := two.sync(t, connection); !strings.Contains(got, `"state":"failed"`) {
		t.Errorf("a sync without its provider: %s", got)
	}
	has(t, two.send(t, exchange{
		method: http.MethodGet, path: "/api/v1/connections/" + connection + "/status",
		key: two.key,
	}), 200, `"status":"error"`, `"status_reason":"PROVIDER_NOT_CONFIGURED"`,
		`"status":"error","added"`)

	has(t, one.put(t, "/settings/providers/plaid",
		`{"client_id":"client-of-the-household","secret":"canary-of-the-household"}`), 200)
	sealed, err := pg.Value[[]byte](t.Context(), two.DB, `select credentials from connection
		where $1 in (id::text, short_id)`, connection)
	if err != nil {
		t.Fatal(err)
	}
	store := func(credentials []byte) {
		if _, err := two.DB.Exec(t.Context(), `update connection set credentials = $2
			where $1 in (id::text, short_id)`, connection, credentials); err != nil {
			t.Fatal(err)
		}
	}
	store(append(sealed[:len(sealed)-1:len(sealed)-1], ^sealed[len(sealed)-1]))
	if got := two.sync(t, connection); !strings.Contains(got, `"state":"failed"`) {
		t.Errorf("a sync with credentials that do not open: %s", got)
	}
	has(t, two.send(t, exchange{
		method: http.MethodGet, path: "/api/v1/connections/" + connection + "/status",
		key: two.key,
	}), 200, `"status":"error"`, `"status_reason":"ENCRYPTION_KEY_REQUIRED"`)
	store(sealed)
	if got := two.sync(t, connection); !strings.Contains(got, `"state":"succeeded"`) {
		t.Errorf("a sync with its provider again: %s", got)
	}
	two.holdsBook(t, book)

	leaks, err := pg.Values[string](t.Context(), one.DB, `
		select 'provider_setting' from provider_setting p where position('canary' in p::text) > 0
			or position('canary' in encode(p.fields, 'escape')) > 0
		union all select 'idempotency' from idempotency i where position('canary' in i::text) > 0
			union all select 'job' from job j where position('canary' in j::text) > 0`)
	if err != nil || len(leaks) > 0 {
		t.Errorf("the secret can be read in %v, %v", leaks, err)
	}
	moved, err := pg.Value[string](t.Context(), one.DB, `insert into provider_setting (provider, fields, version)
		select 'teller', fields, 9 from provider_setting where provider = 'plaid' returning provider`)
	if err != nil {
		t.Fatal(err)
	}
	if r := two.post(t, "/settings/providers/"+moved+"/test"); r.status != 500 {
		t.Errorf("a sealed value that was moved opened: %d %s", r.status, r.body)
	}
}

// Settings from the environment win, are marked, and cannot be changed through the API. A test of
// Teller uses the certificate.
func TestTheEnvironmentWins(t *testing.T) {
	t.Parallel()
	tl, err := banks.NewTeller(banks.TellerOptions{Household: household.Options{
		Seed: 7, Transactions: 50,
		Years: 1,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	dir := t.TempDir()
	file := func(name string, pem []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := app.Config{
		EncryptionKey: seal.NewSecret(testRing), Providers: app.Providers{
			"teller": {
				"application_id": "app_of_the_server", "environment": "development", "url": tl.URL(),
				"certificate": file("cert.pem", tl.Certificate()), "private_key": file("key.pem", tl.Key()),
				"ca": file("ca.pem", tl.CA()),
			},
		},
	}
	w := newWorldOn(t, pgtest.URL(t), c)
	has(t, w.send(t, exchange{method: http.MethodGet, path: "/api/v1/settings/providers/teller", key: w.key}), 200,
		`"source":"env"`, `"configured":true`, `"application_id":{"set":true,"masked":"****rver"}`,
		`"private_key":{"set":true,"masked":"****"}`)
	has(t, w.put(t, "/settings/providers/teller", `{"application_id":"app_2"}`), 409, "COFFER_TELLER_")
	has(t, w.post(t, "/settings/providers/teller/test"), 200, `"ok":true`)

	for _, field := range []string{"application_id", "certificate", "private_key"} {
		delete(c.Providers["teller"], field)
	}
	w = newWorldOn(t, pgtest.URL(t), c)
	has(t, w.put(t, "/settings/providers/teller", `{"application_id":"app_2","environment":"production"}`), 400,
		"certificate")
	has(t, w.put(t, "/settings/providers/teller", `{"application_id":"app_2"}`), 200, `"environment":"sandbox"`)
	has(t, w.post(t, "/settings/providers/teller/test"), 200, `"ok":false`, `"code":"bad_request"`)
}

// TestAgentsChangeNoSettings: an agent cannot change settings, because it could give itself more
// than a person gave it.
func TestAgentsChangeNoSettings(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	agent := w.newKey(t, auth.CreateKey{Name: "agent", Scope: "full_access", ActorType: op.Agent})
	for path, x := range map[string][2]string{
		"/settings": {"PATCH", `{"household_name":"Mine"}`}, "/settings/agents": {"PATCH", `{"writes_per_day":null}`},
		"/settings/models":           {"PUT", `{"provider":"anthropic","key":"sk-1234567890"}`},
		"/settings/providers/plaid":  {"PUT", `{"client_id":"c","secret":"s"}`},
		"/api-keys/" + agent.ShortID: {"PATCH", `{"max_writes_per_day":null}`},
	} {
		if r := w.send(t, exchange{
			method: x[0], path: "/api/v1" + path, key: agent.Secret,
			body: x[1],
		}); r.code() != "FORBIDDEN" {
			t.Errorf("%s %s by an agent: %d %s", x[0], path, r.status, r.body)
		}
		if x[1] != "" && !strings.HasPrefix(path, "/api-keys") {
			if r := w.send(t, exchange{method: x[0], path: "/api/v1" + path, key: w.key, body: x[1]}); r.status != 200 {
				t.Errorf("%s %s by a person: %d %s", x[0], path, r.status, r.body)
			}
		}
	}
	if r := w.send(t, exchange{
		method: "PATCH", path: "/api/v1/settings/agents", key: w.key,
		body: `{"monthly_ceiling_usd":-1}`,
	}); r.code() != "VALIDATION_ERROR" {
		t.Errorf("a ceiling below zero: %d %s", r.status, r.body)
	}
}

// TestRotationKnowsEverySealedColumn: key rotation covers every column that holds a sealed value.
func TestRotationKnowsEverySealedColumn(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	has(t, w.put(t, "/settings/providers/plaid", `{"client_id":"client","secret":"secret"}`), 200)
	has(t, w.put(t, "/settings/models", `{"provider":"anthropic","key":"sk-ant-0123456789"}`), 200)
	ring, err := seal.NewRing("ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=", testRing)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range app.Sealed {
		if _, err := w.DB.Reseal(t.Context(), ring, c); err != nil {
			t.Error(err)
		}
	}
	for _, query := range []string{`select fields from provider_setting`, `select key from model_setting`} {
		stored, err := pg.Value[[]byte](t.Context(), w.DB, query)
		if err != nil || ring.Stale(stored) {
			t.Errorf("%s: not wrapped again, %v", query, err)
		}
	}
}

// TestWriteBudgets: a key changes no more transactions in a day than its limit allows, even if
// other keys write on any server at the same time. Changes by people do not count.
func TestWriteBudgets(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	database := pgtest.URL(t)
	one := newWorldOn(t, database, app.Config{})
	one.fillBooks(t)
	two := newWorldOn(t, database, app.Config{})
	ids, err := pg.Values[string](t.Context(), one.DB, `select short_id from transaction order by date`)
	if err != nil {
		t.Fatal(err)
	}
	few := one.newKey(t, auth.CreateKey{
		Name: "few", Scope: "full_access", ActorType: op.Agent,
		MaxWritesPerDay: new(3),
	}).Secret
	free := one.newKey(t, auth.CreateKey{Name: "free", Scope: "full_access", ActorType: op.Agent}).Secret
	tag := func(w *world, key string, tag string, transactions ...string) reply {
		var ops []string
		for _, x := range transactions {
			ops = append(ops, fmt.Sprintf(`{"transaction_id":%q,"tags_to_add":[%q]}`, x, tag))
		}
		return w.send(t, exchange{
			method: "POST", path: "/api/v1/transactions/update", key: key,
			body: `{"operations":[` + strings.Join(ops, ",") + `]}`,
		})
	}
	for _, slug := range []string{"too-many", "racing", "more", "mine", "tomorrow"} { // creating a tag is a write too
		if r := one.send(t, exchange{
			method: "POST", path: "/api/v1/tags", key: one.key, body: `{"slug":"` + slug + `"}`,
		}); r.status != 201 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	if r := tag(one, few, "too-many", ids[:4]...); r.code() != "RATE_LIMITED" || r.header.Get("Retry-After") == "" {
		t.Errorf("four at once: %d %s %v", r.status, r.body, r.header)
	}
	replies := make(chan reply, 6)
	for i := range 6 {
		go func() { replies <- tag([]*world{one, two}[i%2], few, "racing", ids[i]) }()
	}
	done := 0
	for range 6 {
		switch r := <-replies; {
		case r.status == 200:
			done++
		case r.code() != "RATE_LIMITED":
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	tagged, err := pg.Value[int](t.Context(), one.DB, `select count(*) from transaction_tag tt
		join tag g on g.id = tt.tag_id where g.slug in ('racing', 'too-many') and tt.present`)
	if err != nil || done != 3 || tagged != 3 {
		t.Errorf("%d calls went through and %d transactions were changed, of 3 that may be: %v", done, tagged, err)
	}
	if r := tag(two, few, "racing", ids[0]); r.status != 200 && r.code() != "RATE_LIMITED" {
		t.Errorf("%d %s", r.status, r.body)
	}
	// A call that changes nothing costs nothing. Another key has its own budget, within the
	// household's limit for agents.
	if r := one.send(t, exchange{
		method: "PATCH", path: "/api/v1/settings/agents", key: one.key,
		body: `{"writes_per_day":5}`,
	}); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := tag(two, free, "more", ids[:2]...); r.status != 200 {
		t.Errorf("within the household's limit: %d %s", r.status, r.body)
	}
	if r := tag(one, free, "more", ids[3]); r.code() != "RATE_LIMITED" || !strings.Contains(r.body, "together") {
		t.Errorf("beyond the household's limit: %d %s", r.status, r.body)
	}
	if r := tag(one, one.key, "mine", ids...); r.status != 200 {
		t.Errorf("a person: %d %s", r.status, r.body)
	}
	if _, err := one.DB.Exec(t.Context(), `update write_budget set day = day - 1`); err != nil {
		t.Fatal(err)
	}
	if r := tag(one, few, "tomorrow", ids[:3]...); r.status != 200 {
		t.Errorf("the next day: %d %s", r.status, r.body)
	}
}

// TestAssistantsHaveABudget: an assistant that a member let in has its own budget, whichever of its
// tokens it uses. Another assistant has another budget.
func TestAssistantsHaveABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	ids, err := pg.Values[string](t.Context(), w.DB, `select short_id from transaction order by date`)
	if err != nil {
		t.Fatal(err)
	}
	_, session := w.session(t, "admin")
	first, consent := w.letIn(t, session, op.Full, w.OAuth.API())
	other, _ := w.letIn(t, session, op.Full, w.OAuth.API())
	if most, err := pg.Value[int](t.Context(), w.DB, `select max_writes_per_day from consent
		where id = $1`, consent); err != nil || most != 2000 {
		t.Errorf("it may change %d a day, %v", most, err)
	}
	if _, err := w.DB.Exec(t.Context(), `insert into write_budget (key_id, day, used)
		select c.id, (now() at time zone s.time_zone)::date, 1998 from consent c, setting s
		where c.id = $1`, consent); err != nil {
		t.Fatal(err)
	}
	tag := func(token string, transactions ...string) reply {
		var ops []string
		for _, x := range transactions {
			ops = append(ops, fmt.Sprintf(`{"transaction_id":%q,"tags_to_add":["by-assistant"]}`, x))
		}
		return w.send(t, exchange{
			method: "POST", path: "/api/v1/transactions/update",
			body:   `{"operations":[` + strings.Join(ops, ",") + `]}`,
			header: map[string]string{"Authorization": "Bearer " + token},
		})
	}
	if r := w.send(t, exchange{
		method: "POST", path: "/api/v1/tags", key: w.key, body: `{"slug":"by-assistant"}`,
	}); r.status != 201 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := tag(first.Access, ids[:3]...); r.code() != "RATE_LIMITED" ||
		!strings.Contains(r.body, "this assistant may make 2000 writes a day (one per transaction and record); 2 are left") ||
		r.header.Get("Retry-After") == "" {
		t.Errorf("three of two that are left: %d %s", r.status, r.body)
	}
	if r := tag(first.Access, ids[0]); r.status != 200 {
		t.Errorf("the first of two: %d %s", r.status, r.body)
	}
	client, err := pg.Value[string](t.Context(), w.DB, `select c.name from client c
		join consent g on g.client_id = c.id where g.id = $1`, consent)
	if err != nil {
		t.Fatal(err)
	}
	next, err := w.Auth.Refresh(t.Context(), auth.Renewal{Client: client, Refresh: first.Refresh})
	if err != nil {
		t.Fatal(err)
	}
	if r := tag(next.Access, ids[1]); r.status != 200 {
		t.Errorf("the second, with the next token: %d %s", r.status, r.body)
	}
	if r := tag(next.Access, ids[2]); r.code() != "RATE_LIMITED" {
		t.Errorf("the next token brought a new budget: %d %s", r.status, r.body)
	}
	if r := tag(other.Access, ids[2]); r.status != 200 {
		t.Errorf("another assistant: %d %s", r.status, r.body)
	}
}

// TestModelKeysStayWithTheirAddress: a model's key is sent only to the address for which it was
// set.
func TestModelKeysStayWithTheirAddress(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	set := func(body string) reply { return w.put(t, "/settings/models", `{"provider":"anthropic",`+body+`}`) }
	has(t, set(`"key":"canary-of-the-household"`), 200, `"masked":"****hold"`)
	has(t, set(`"base_url":"https://elsewhere.example.com"`), 400, `"field":"key"`)
	// Null means the default address, which the key already has.
	has(t, set(`"base_url":null,"prices":[]`), 200, `"set":true`)
	has(t, set(`"base_url":"https://elsewhere.example.com","key":"another-long-key"`), 200, `"masked":"****-key"`,
		`"base_url":"https://elsewhere.example.com"`)
	has(t, set(`"base_url":"https://third.example.com","key":null`), 200, `"set":false`)
	has(t, set(`"base_url":"https://fourth.example.com"`), 200)
}

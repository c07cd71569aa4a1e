package app_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"coffer/internal/surface/rest"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// canaryBanks are the providers of a canaryWorld.
type canaryBanks struct {
	plaid         *banks.Plaid
	teller        *banks.Teller
	simplefin     *banks.SimpleFIN
	enablebanking *banks.EnableBanking
	visited       int // banks behind enablebanking
}

// script makes all of them answer like this.
func (b *canaryBanks) script(f banks.Fault) {
	b.plaid.Script(f)
	b.teller.Script(f)
	b.simplefin.Script(f)
	b.enablebanking.Script(f)
}

func (b *canaryBanks) calm() {
	b.plaid.Calm()
	b.teller.Calm()
	b.simplefin.Calm()
	b.enablebanking.Calm()
}

// canaryWorld is a world at debug level whose own secrets are canaries, with the providers as they
// stand.
func canaryWorld(t *testing.T) (*toolWorld, *canaryBanks) {
	t.Helper()
	size := household.Options{Seed: 5, Transactions: 60, Years: 1}
	secret := mark + "0123456789abcdef01"
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: size, ClientID: "client", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	sf, err := banks.NewSimpleFIN(banks.SimpleFINOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sf.Close)
	eb, err := banks.NewEnableBanking(banks.EnableBankingOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(eb.Close)
	file := func(name string, pem []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	w := &toolWorld{log: &logBook{}}
	a, err := app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 8, RatePerMinute: 60_000_000,
		RateBurst: 1_000_000, AuthFailures: 1_000_000,
		EncryptionKey: seal.NewSecret(mark + strings.Repeat("A", 31) + "="), PublicURL: "http://127.0.0.1:1",
		Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": secret, "environment": "sandbox", "url": p.URL()},
			"teller": {
				"application_id": "app_1", "environment": "development", "url": tl.URL(),
				"certificate": file("cert.pem", tl.Certificate()), "private_key": file("key.pem", tl.Key()),
				"ca": file("ca.pem", tl.CA()),
			},
			"simplefin": {"url": sf.URL()},
			"enablebanking": {
				"application": eb.Application(), "key": file("eb.pem", []byte(eb.Key())), "url": eb.URL(),
			},
		},
	}, slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	handler, err := a.Rest().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.world = world{App: a, url: server.URL}
	w.key = w.newKey(t, auth.CreateKey{Name: "me", Scope: "full_access", ActorType: "user"}).Secret
	w.work(t)
	return w, &canaryBanks{plaid: p, teller: tl, simplefin: sf, enablebanking: eb}
}

// echoes returns responses of a provider, or of a proxy in front of it, that repeat the request.
func echoes(secret string) []banks.Fault {
	s, _ := json.Marshal(secret)
	q := string(s)
	plaid := func(kind, code, request string) string {
		return `{"error_type":` + kind + `,"error_code":` + code + `,"error_message":"no ` + q[1:] +
			`,"display_message":` + q + `,"request_id":` + request + `}`
	}
	header := http.Header{
		"Retry-After": {secret}, "Location": {"https://elsewhere.example/" + secret},
		"Set-Cookie": {"token=" + secret}, "Request-Id": {secret}, "Content-Type": {"text/html"},
	}
	return []banks.Fault{
		{Status: 400, Body: plaid(`"INVALID_INPUT"`, q, q)},
		{Status: 400, Body: plaid(q, `"INVALID_ACCESS_TOKEN"`, q)},
		{Status: 400, Body: plaid(`"ITEM_ERROR"`, `"ITEM_LOGIN_REQUIRED"`, q)},
		{Status: 401, Body: `{"error":{"code":` + q + `,"message":` + q + `}}`},
		{Status: 404, Body: `{"error":{"code":"enrollment.disconnected.` + q[1:] + `,"message":` + q + `}}`},
		{Status: 429, Body: secret, Header: header},
		{Status: 302, Header: header},
		{Status: 500, Body: "<html><body>" + secret + "</body></html>"},
		{Status: 200, Body: `{"access_token":` + q},
		{Status: 200, Body: `[` + q + `,{"id":"t1","description":` + q + `}]`},
		{Status: 200, Body: `{"access_token":{"a":` + q + `},"item_id":` + q + `,"accounts":` + q +
			`,"added":[{"transaction_id":"t1","amount":` + q + `,"name":` + q + `}],"next_cursor":7}`},
	}
}

// Providers repeat secrets in all their responses. Linking, signing in again, syncing and ending a
// connection neither store nor show any of them.
func TestCanariesFromProviders(t *testing.T) {
	t.Parallel()
	w, all := canaryWorld(t)
	p, tl := all.plaid, all.teller
	watch := &canaryWatch{exact: []string{w.key, string(tl.Key()[40:90]), all.enablebanking.Key()[40:90]}}
	post := func(what, path, body string) reply {
		r := w.send(t, exchange{method: http.MethodPost, path: "/api/v1" + path, key: w.key, body: body})
		watch.answer(t, what, r)
		return r
	}
	token, _ := p.NewItem("")
	linked := w.link(t, fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token))
	e := tl.Enroll()
	enrolled := w.link(t, fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
		e.AccessToken, e.ID))
	watch.exact = append(watch.exact, e.AccessToken, token)
	claimed := w.link(t, all.setup(watch))
	consented := w.link(t, w.consent(t, all, watch))
	watch.exact = slices.Concat(watch.exact, all.simplefin.Secrets(), all.enablebanking.Secrets())
	calls, faults, list := 0, 0, canaries()
	for i, c := range list {
		if strings.ContainsAny(c.value, "\n\"\\") && i%2 == 0 {
			continue // a header cannot hold it
		}
		value, _ := json.Marshal(c.value)
		fault := echoes(strings.NewReplacer("\n", "", "\r", "").Replace(c.value))[i%11]
		fault.Times = -1
		unclaimed := all.setup(watch)
		all.script(fault)
		faults++
		for what, x := range map[string][2]string{
			"linking through Plaid": {
				"/connections",
				`{"provider":"plaid","credentials":{"public_token":` + string(value) + `}}`,
			},
			"linking through Teller": {
				"/connections",
				`{"provider":"teller","credentials":{"access_token":` + string(value) + `,"enrollment_id":"enr_1"}}`,
			},
			"a wrong credential": {
				"/connections",
				`{"provider":"teller","credentials":{"public_token":` + string(value) + `,"nonsense":` + string(value) +
					`}}`,
			},
			"linking through SimpleFIN": {
				"/connections",
				`{"provider":"simplefin","credentials":{"setup_token":` + string(value) + `}}`,
			},
			"claiming a setup token": {"/connections", unclaimed},
			"linking through Enable Banking": {
				"/connections",
				`{"provider":"enablebanking","credentials":{"code":` + string(value) + `}}`,
			},
			"a session at a bank": {
				"/connections/link-session",
				`{"provider":"enablebanking","institution_id":"DE-1"}`,
			},
			"consenting again":       {"/connections/" + consented + "/reauth-session", ``},
			"a claim that is over":   {"/connections/" + claimed + "/reauth-complete", ``},
			"a link session":         {"/connections/link-session", `{"provider":"plaid"}`},
			"signing in again":       {"/connections/" + linked + "/reauth-session", ``},
			"having signed in again": {"/connections/" + enrolled + "/reauth-complete", ``},
		} {
			post(what+" with "+c.kind, x[0], x[1])
			calls++
		}
		watch.answer(t, "a list of banks with "+c.kind, w.send(t, exchange{
			method: http.MethodGet, path: "/api/v1/providers/enablebanking/institutions?country=FR", key: w.key,
		}))
		all.calm()
	}
	syncs := w.canarySyncs(t, all, watch)
	for _, path := range []string{"/connections", "/sync/logs", "/jobs", "/changes"} {
		watch.answer(t, path, w.send(t, exchange{method: http.MethodGet, path: "/api/v1" + path, key: w.key}))
	}
	for i, c := range []string{linked, enrolled, claimed, consented} {
		all.script(echoes(list[0].value)[3*(i%2)])
		watch.answer(t, "ending", w.send(t, exchange{
			method: http.MethodDelete, path: "/api/v1/connections/" + c,
			key: w.key,
		}))
	}
	watch.everything(t, w)
	// the tokens that the simulator made
	watch.clean(t, "the log", strings.ReplaceAll(w.log.String(), "access-sandbox-", mark))
	t.Logf("%d responses that repeat a secret, %d calls, %d syncs", faults, calls, syncs)
}

// setup is what links a bank through SimpleFIN.
func (b *canaryBanks) setup(watch *canaryWatch) string {
	token := b.simplefin.SetupToken()
	plain, _ := base64.StdEncoding.DecodeString(token) // the simulator encoded it
	watch.exact = append(watch.exact, string(plain[len(plain)-20:]))
	return fmt.Sprintf(`{"provider":"simplefin","credentials":{"setup_token":%q}}`, token)
}

// consent lets a member sign in at another bank, and is what links it.
func (w *toolWorld) consent(t *testing.T, b *canaryBanks, watch *canaryWatch) string {
	t.Helper()
	ask := func(method, path, body string, into any) {
		t.Helper()
		r := w.send(t, exchange{method: method, path: "/api/v1" + path, key: w.key, body: body})
		if r.status >= http.StatusBadRequest || json.Unmarshal([]byte(r.body), into) != nil {
			t.Fatalf("%s: %d %s", path, r.status, r.body)
		}
	}
	var listed listedBanks
	ask(http.MethodGet, "/providers/enablebanking/institutions?country=DE&search=volksbank", "", &listed)
	var s linkSession
	ask(http.MethodPost, "/connections/link-session",
		fmt.Sprintf(`{"provider":"enablebanking","institution_id":%q}`, listed.Institutions[b.visited].ID), &s)
	b.visited++
	to, err := b.enablebanking.Visit(t.Context(), fmt.Sprint(s.ProviderConfig["hosted_url"]), false)
	if err != nil {
		t.Fatal(err)
	}
	query := mustQuery(t, to)
	watch.exact = append(watch.exact, query.Get("code"), query.Get("state"))
	return fmt.Sprintf(`{"provider":"enablebanking","credentials":{"code":%q}}`, query.Get("code"))
}

// canarySyncs links banks whose every sync fails with a secret in the answer.
func (w *toolWorld) canarySyncs(t *testing.T, b *canaryBanks, watch *canaryWatch) (n int) {
	t.Helper()
	failed := func() int { return strings.Count(w.log.String(), `"kind":"feed.sync"`) }
	try := func(what, body string) {
		t.Helper()
		before := failed()
		watch.answer(t, "linking", w.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/connections", key: w.key, body: body,
		}))
		for deadline := time.Now().Add(5 * time.Minute); failed() == before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no sync of %s ends", what)
			}
		}
		b.calm()
		n++
	}
	for i, fault := range echoes(canaries()[19].value) {
		fault.Times = -1
		what := fmt.Sprint("answer ", i)
		if i%2 == 0 {
			fault.Path = "/transactions/sync"
			b.plaid.Script(fault)
			token, _ := b.plaid.NewItem("")
			try(what, fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token))
			fault.Path = "/accounts/"
			body := w.consent(t, b, watch)
			b.enablebanking.Script(fault)
			try(what, body)
			watch.exact = append(watch.exact, b.enablebanking.Secrets()...)
			continue
		}
		e := b.teller.Enroll()
		watch.exact = append(watch.exact, e.AccessToken)
		fault.Path = "/accounts/" // what is read of an account; linking lists them
		b.teller.Script(fault)
		try(what, fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
			e.AccessToken, e.ID))
		fault.Path, fault.Skip = "/simplefin/accounts", 1 // linking lists the accounts
		body := b.setup(watch)
		b.simplefin.Script(fault)
		try(what, body)
		watch.exact = append(watch.exact, b.simplefin.Secrets()...)
	}
	return n
}

type canaryInput struct {
	What   string `json:"what" query:"what"`
	Secret string `json:"secret" query:"secret"`
}

// canaryTrouble is every way in which work can go wrong with a secret in its hands.
func canaryTrouble(ctx context.Context, q pg.Querier, in canaryInput) error {
	switch in.What {
	case "panic":
		panic("no such token " + in.Secret)
	case "panic with an error":
		panic(errors.New("no such token " + in.Secret))
	case "panic with a struct":
		panic(in)
	case "uuid":
		_, err := pg.Value[string](ctx, q, `select $1::uuid::text`, in.Secret)
		return err
	case "number":
		_, err := pg.Values[int](ctx, q, `select $1::text::int`, in.Secret)
		return err
	case "argument":
		_, err := pg.Exec(ctx, q, `select $1::int`, in.Secret)
		return err
	case "enum":
		_, err := pg.All[canaryInput](ctx, q, `select $1::text::date as what, '' as secret`, in.Secret)
		return err
	case "json":
		_, err := pg.One[canaryInput](ctx, q, `select $1::text::jsonb as what, '' as secret`, `{"a":`+in.Secret)
		return err
	case "unique":
		_, err := pg.Exec(ctx, q, `insert into attempt (bucket, tries, free_at, expires_at)
			select $1, 1, now(), now() from generate_series(1, 2)`, in.Secret)
		return err
	}
	_, err := pg.Exec(ctx, q, `insert into token (id, short_id, hash, kind, scope, name, prefix, actor_type)
		values (gen_random_uuid(), $1, $1::text::bytea, $1, $1, $1, $1, $1)`, in.Secret)
	return err
}

var canaryTroubles = []string{
	"panic", "panic with an error", "panic with a struct", "uuid", "number", "argument",
	"enum", "json", "unique", "check",
}

// Panics and errors of the database whose text has a secret: in an op by route and by tool, in a
// raw route, in a job, in the protocol of the tools.
func TestCanariesInFailures(t *testing.T) {
	t.Parallel()
	secret := canaries()[0].value
	w := newToolWorld(t, func(s *mcp.Server) {
		s.AddTool(&mcp.Tool{Name: "trouble", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				panic("no such token " + secret)
			})
	})
	watch := &canaryWatch{exact: []string{w.key}}
	read := op.Reading(op.Spec{
		Name: "tag.trouble", Route: "GET /trouble", Tool: "get_trouble", Scope: op.Read,
		Summary: "Goes wrong.",
	}, func(ctx context.Context, q pg.Querier, in canaryInput) (op.None, error) {
		return op.None{}, canaryTrouble(ctx, q, in)
	})
	write := op.Writing(op.Spec{
		Name: "tag.worse", Route: "POST /trouble", Tool: "make_trouble", Scope: op.Full,
		Summary: "Goes wrong.",
	}, func(ctx context.Context, tx pg.Tx, in canaryInput) (op.None, error) {
		return op.None{}, canaryTrouble(ctx, tx, in)
	})
	w.Tools.Ops = append(w.Tools.Ops, read, write)
	surface := w.Rest()
	surface.Ops = append(surface.Ops, read, write)
	surface.Raw = append(surface.Raw, rest.Raw{
		Route: "GET /trouble", Scope: op.Open,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			panic("no such token " + r.URL.Query().Get("secret"))
		}),
	})
	handler, err := surface.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = slog.NewLogLogger(w.Log.Handler(), slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	w.Jobs.Add(job.Kind{Name: "trouble", Unit: "secrets", Work: func(ctx context.Context, run *job.Run) (any, error) {
		var in canaryInput
		if err := run.Args(&in); err != nil {
			return nil, err
		}
		return nil, canaryTrouble(ctx, w.DB, canaryInput{What: in.What, Secret: secret})
	}})
	w.work(t)
	session := w.agent(t, w.key)
	for _, what := range canaryTroubles {
		args := map[string]any{"what": what, "secret": secret}
		body, _ := json.Marshal(args)
		r := w.send(t, exchange{
			method: http.MethodGet,
			path:   "/api/v1/trouble?what=" + strings.ReplaceAll(what, " ", "+") + "&secret=" + secret, key: w.key,
		})
		watch.answer(t, what, r)
		if r.status != http.StatusInternalServerError {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
		watch.answer(t, what, w.send(t, exchange{
			method: http.MethodPost, path: "/api/v1/trouble", key: w.key,
			body: string(body), header: map[string]string{"Idempotency-Key": id.Base62(20)},
		}))
		for _, tool := range []string{"get_trouble", "make_trouble", "trouble"} {
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
			said, _ := json.Marshal(res)
			watch.clean(t, "the tool's answer to "+what, string(said)+fmt.Sprint(err))
		}
		w.canaryJob(t, what)
	}
	r := w.send(t, exchange{method: http.MethodGet, path: "/trouble?secret=" + secret})
	watch.answer(t, "a raw route", r)
	if r.code() != "INTERNAL_ERROR" {
		t.Errorf("a raw route that panics returns %d %s", r.status, r.body)
	}
	for _, said := range []string{
		"panic in tag.trouble", "panic in job trouble", "SQLSTATE 22P02",
		"canary_fault_test.go",
	} {
		if !strings.Contains(w.log.String(), said) {
			t.Errorf("the log does not say %q", said)
		}
	}
	watch.everything(t, w)
}

func (w *toolWorld) canaryJob(t *testing.T, what string) {
	t.Helper()
	var made job.Job
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) (err error) {
		made, err = w.Jobs.Enqueue(t.Context(), tx, "trouble", canaryInput{What: what}, job.Options{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := w.Jobs.Wait(t.Context(), made.ID, time.Minute); err != nil || got.State != job.Failed {
		t.Errorf("%s: %+v, %v", what, got, err)
	}
}

// A wrong configuration contains secrets. The program's error output has none of them.
func TestCanariesInConfiguration(t *testing.T) {
	t.Parallel()
	watch, tried := &canaryWatch{}, 0
	good := pgtest.AdminURL()
	for _, c := range canaries() {
		for name, config := range map[string]app.Config{
			"database URL": {DatabaseURL: seal.NewSecret(c.value)},
			"database password": {DatabaseURL: seal.NewSecret(
				"postgres://coffer:" + c.value + "@127.0.0.1:notaport/coffer")},
			"database settings": {DatabaseURL: seal.NewSecret("host=127.0.0.1 port=x password='" + c.value + "'")},
			"database option": {DatabaseURL: seal.NewSecret(
				"postgres://coffer@127.0.0.1/coffer?sslmode=none&password=" + c.value)},
			"encryption key": {DatabaseURL: seal.NewSecret(good), EncryptionKey: seal.NewSecret(c.value + "!")},
			"old encryption key": {
				DatabaseURL: seal.NewSecret(good), EncryptionKey: seal.NewSecret(testRing),
				EncryptionKeysOld: []string{c.value + "!"},
			},
			"Plaid environment": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"plaid": {"client_id": "client", "secret": c.value, "environment": "none"}},
			},
			"Plaid without client": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"plaid": {"secret": c.value, "environment": "sandbox"}},
			},
			"Plaid address": {
				DatabaseURL: seal.NewSecret(good),
				Providers: app.Providers{"plaid": {
					"client_id": "client", "secret": "s", "environment": "sandbox",
					"url": "https://me:" + c.value + "@plaid.example",
				}},
			},
			"SimpleFIN address": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"simplefin": {"url": "https://me:" + c.value + "@simplefin.example"}},
			},
			"Enable Banking without application": {
				DatabaseURL: seal.NewSecret(good), Providers: app.Providers{"enablebanking": {"key": c.value}},
			},
			"Enable Banking key in place of file": {
				DatabaseURL: seal.NewSecret(good),
				Providers:   app.Providers{"enablebanking": {"application": "a", "key": c.value}},
			},
			"key in place of file": {
				DatabaseURL: seal.NewSecret(good),
				Providers: app.Providers{"teller": {
					"application_id": "a", "environment": "production",
					"private_key": c.value,
				}},
			},
		} {
			tried++
			a, err := app.Build(t.Context(), config, slog.New(slog.DiscardHandler))
			if err == nil {
				a.DB.Close()
				if name != "database URL" { // some texts are one
					t.Errorf("%s with %s is taken", name, c.kind)
				}
				continue
			}
			watch.clean(t, name+" with "+c.kind, fmt.Sprintf("%v %+v %#v", err, config.Providers, config.EncryptionKey))
		}
	}
	t.Logf("%d wrong configurations", tried)
}

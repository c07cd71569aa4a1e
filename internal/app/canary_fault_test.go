package app_test

import (
	"encoding/base64"
	"encoding/json"
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
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// canaryBanks are the providers of a canaryWorld.
type canaryBanks struct {
	plaid         *banks.Plaid
	teller        *banks.Teller
	simplefin     *banks.SimpleFIN
	enablebanking *banks.EnableBanking
	visited       int // how many Enable Banking banks the test has visited
}

// script makes all providers respond with the fault f.
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

// canaryWorld returns a world with a debug log, whose own secrets are canaries, and the simulators
// of its providers.
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

// TestCanariesFromProviders: providers repeat secrets in all their responses. Linking, signing in
// again, syncing and ending a connection neither store nor show any of them.
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
			continue // an HTTP header cannot contain this secret
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
	// The simulator begins all its access tokens with this prefix. None of them may be in the log.
	watch.clean(t, "the log", strings.ReplaceAll(w.log.String(), "access-sandbox-", mark))
	t.Logf("%d responses that repeat a secret, %d calls, %d syncs", faults, calls, syncs)
}

// setup returns the request that links a bank through SimpleFIN.
func (b *canaryBanks) setup(watch *canaryWatch) string {
	token := b.simplefin.SetupToken()
	plain, _ := base64.StdEncoding.DecodeString(token) // valid, because the simulator encoded it
	watch.exact = append(watch.exact, string(plain[len(plain)-20:]))
	return fmt.Sprintf(`{"provider":"simplefin","credentials":{"setup_token":%q}}`, token)
}

// consent lets a member sign in at another bank, and returns the request that links the bank.
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

// canarySyncs links banks whose syncs all fail with a secret in the provider's response. It returns
// the number of syncs.
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
		// Fail only the requests for the data of one account: linking must still list the accounts.
		fault.Path = "/accounts/"
		b.teller.Script(fault)
		try(what, fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
			e.AccessToken, e.ID))
		// Let the first request succeed, with which linking lists the accounts.
		fault.Path, fault.Skip = "/simplefin/accounts", 1
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

package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"coffer/internal/surface/signin/signintest"
	"coffer/internal/surface/web"
)

// A house is the whole service with two banks and an identity provider, as `coffer serve` runs it,
// and which of its pages were seen.
type house struct {
	*app.App
	config app.Config
	stop   func() error // ends the server, and waits for its end
	url    string
	name   string // of its pictures, where there are several houses
	key    string
	plaid  *banks.Plaid
	teller *banks.Teller
	issuer *signintest.Issuer
	pages  *http.ServeMux
	seen   map[string]bool // by route
	log    io.Writer       // the server's errors, shown if the test fails
}

func newHouse(t *testing.T) *house {
	t.Helper()
	size := household.Options{Seed: 11, Transactions: 300, Years: 1, End: time.Now()}
	h := &house{log: t.Output(), issuer: signintest.New(t), pages: http.NewServeMux(), seen: make(map[string]bool)}
	var err error
	if h.plaid, err = banks.NewPlaid(banks.PlaidOptions{Household: size}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.plaid.Close)
	if h.teller, err = banks.NewTeller(banks.TellerOptions{Household: size, Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.teller.Close)
	port := free(t)
	h.url = fmt.Sprintf("http://localhost:%d", port) // passkeys want a name
	h.config = app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"), DatabaseMaxConns: 6,
		RatePerMinute: 1_000_000, RateBurst: 1_000_000, AuthFailures: 1_000_000, LoginsPerMinute: 1_000,
		Listen: fmt.Sprintf("127.0.0.1:%d", port), PublicURL: h.url,
		EncryptionKey: seal.NewSecret("dGhlIHJpbmcgb2YgdGhlIGJyb3dzZXIncyB0ZXN0cyE="),
		Providers: app.Providers{
			"plaid":  {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": h.plaid.URL()},
			"teller": {"application_id": "app_1", "environment": "sandbox", "url": h.teller.URL()},
		},
		OIDCIssuer: h.issuer.URL, OIDCClientID: "coffer", OIDCName: "Example ID",
	}
	h.build(t)
	screens := web.Screens() // the app's are looked at by a test of their own
	for was := range web.Moved() {
		screens = append(screens, was)
	}
	for _, r := range h.Raw() {
		if method, path, _ := strings.Cut(r.Route, " "); method == http.MethodGet && r.Name == "" &&
			!slices.Contains(screens, path) && !strings.HasPrefix(path, "/assets/") && path != "/icon.svg" &&
			!strings.HasPrefix(path, "/static/") && !strings.HasPrefix(path, "/.well-known/") {
			h.seen[r.Route] = false
			h.pages.Handle(r.Route, http.NotFoundHandler())
		}
	}
	h.serve(t)
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	h.keyed(t)
	return h
}

// keyed gives the house a key with which programs do what a person may.
func (h *house) keyed(t *testing.T) {
	t.Helper()
	err := h.DB.InTx(t.Context(), func(tx pg.Tx) error {
		k, err := h.Auth.Create(t.Context(), tx, auth.CreateKey{
			Name: "person", Scope: "full_access",
			ActorType: "user",
		})
		h.key = k.Secret
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) build(t *testing.T) {
	t.Helper()
	var err error
	h.App, err = app.Build(context.WithoutCancel(t.Context()), h.config, slog.New(slog.NewTextHandler(h.log,
		&slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts the server, and returns once it listens.
func (h *house) serve(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	serving, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, func(string) { close(serving) }) }()
	h.stop = sync.OnceValue(func() error {
		stop()
		return <-ended
	})
	select {
	case <-serving:
	case <-time.After(5 * time.Minute):
		t.Fatal("the server does not start")
	}
}

func free(t *testing.T) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the server that follows would say so
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%v is not a port", l.Addr())
	}
	return at.Port
}

// saw notes which page stands at an address.
func (h *house) saw(address string) {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, h.url) {
		return
	}
	if _, route := h.pages.Handler(&http.Request{Method: http.MethodGet, URL: u, Host: u.Host}); route != "" {
		h.seen[route] = true
	}
}

// post calls the API as a program does, and reads the answer.
func post[T any](t *testing.T, h *house, path, kind, body string) T {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", h.key)
	r.Header.Set("Content-Type", kind)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing is left of it
	var out T
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode >= http.StatusBadRequest {
		t.Fatalf("POST %s: %d %v", path, res.StatusCode, err)
	}
	return out
}

// link begins to link a bank, and returns the path of the page.
func (h *house) link(t *testing.T, body string) string {
	t.Helper()
	return h.begin(t, "/api/v1/connections/link-session", body)
}

func (h *house) begin(t *testing.T, at, body string) string {
	t.Helper()
	s := post[struct {
		URL string `json:"url"`
	}](t, h, at, "application/json", body)
	return strings.TrimPrefix(s.URL, h.url)
}

// settle waits until what was linked has been read.
func (h *house) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); h.count(t, `select count(*) from job
		where state in ('queued', 'running')`) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the jobs do not end")
		}
	}
}

func (h *house) count(t *testing.T, sql string, args ...any) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), h.DB, sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leave leaves every browser open for a while.
func (h *house) leave(t *testing.T) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), h.DB, `update token set proved_at = now() - interval '6 minutes'
		where kind = 'session'`); err != nil {
		t.Fatal(err)
	}
}

// Package storm lets many callers load one server at once, and checks what other callers notice. It
// knows the service by its routes. It reads the database only to see who holds locks and who waits.
package storm_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// unguarded are options without reserved connections and without a lock timeout.
var unguarded = pg.Options{MaxConns: 10, LockTimeout: -1}

// unshared is a build in which one caller can take all connections of the pool.
var unshared = apptest.Mutant{
	File: "internal/platform/pg/pg.go",
	Old:  `shares: newShares(int(cfg.MaxConns))`,
	New:  `shares: newShares(1 << 20)`,
}

const isMutant = "COFFER_TEST_UNSHARED"

// onlyUnshared skips a control unless the program is built with unshared.
func onlyUnshared(t *testing.T) {
	t.Helper()
	if os.Getenv(isMutant) == "" {
		t.Skip("TestControls runs this where connections are not shared out")
	}
}

// TestControls runs the controls in a build whose connections are not shared among callers.
func TestControls(t *testing.T) { //nolint:paralleltest // they measure
	cmd := exec.CommandContext(t.Context(), apptest.TestProgram(t, "coffer/test/storm", unshared), "-test.v",
		"-test.run=^(TestStormWouldBeNoticed|TestBlockedWritersWouldStopAll)$")
	cmd.Env = append(os.Environ(), isMutant+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("--- PASS: ")) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

var guarded = pg.Options{MaxConns: 10, Reserve: true}

// A house is the whole service with a bank, served over HTTP.
type house struct {
	*app.App
	url   string
	other *pg.DB // the test's own connections
	log   *logBook
}

// newHouse serves a household whose bank has that many transactions, and adds the test's kinds of
// jobs.
func newHouse(t *testing.T, o pg.Options, rows int, kinds ...job.Kind) *house {
	t.Helper()
	bank, err := banks.NewPlaid(banks.PlaidOptions{
		ClientID: "client", Secret: "secret",
		Household: household.Options{Seed: 5, Transactions: rows, Years: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bank.Close)
	database := pgtest.URL(t)
	h := &house{log: &logBook{}}
	if h.other, err = pg.Open(t.Context(), database, pg.Options{MaxConns: 3, LockTimeout: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.other.Close)
	h.App, err = app.BuildWith(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(database), Listen: "127.0.0.1:0", RatePerMinute: 60_000_000, RateBurst: 1_000_000,
		AuthFailures:  1_000_000,
		EncryptionKey: seal.NewSecret("c2VjcmV0LWNhbmFyeS1vZi1lbmNyeXB0aW9uLWtleSE="), Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": bank.URL()},
		},
	}, o, slog.New(slog.NewTextHandler(h.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	h.Jobs.Add(kinds...)
	h.url = apptest.Serve(t, h.Serve)
	if rows > 0 {
		token, _ := bank.NewItem("")
		key := h.key(t, "linker")
		if r := h.call(t.Context(), http.MethodPost, "/connections", key,
			fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`,
				token)); r.status != http.StatusCreated {
			t.Fatalf("the bank is not linked: %d %s", r.status, r.body)
		}
		h.eventually(t, "jobs end", `select not exists (select from job where state in ('queued', 'running'))
			and exists (select from transaction)`)
	}
	return h
}

// key creates a person's key.
func (h *house) key(t *testing.T, name string) string {
	t.Helper()
	var k auth.NewKey
	err := h.other.InTx(t.Context(), func(tx pg.Tx) (err error) {
		k, err = h.Auth.Create(t.Context(), tx, auth.CreateKey{Name: name, Scope: "full_access", ActorType: "user"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return k.Secret
}

// eventually waits until the query returns true.
func (h *house) eventually(t *testing.T, what, question string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		yes, err := pg.Value[bool](t.Context(), h.other, question, args...)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("in two minutes not: %s", what)
		}
	}
}

// An answer is the result of a call. Without a response the status is 0.
type answer struct {
	status int
	again  string // Retry-After
	body   string
	took   time.Duration
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// call makes a request below /api/v1. A body that is not JSON is sent as a file.
func (h *house) call(ctx context.Context, method, path, key, body string) answer {
	start := time.Now()
	r, err := http.NewRequestWithContext(ctx, method, h.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		panic(err) // a mistake in the test
	}
	r.Header.Set("X-API-Key", key)
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		r.Header.Set("Content-Type", "text/csv")
	}
	res, err := client.Do(r)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(start)}
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(start)}
	}
	return answer{res.StatusCode, res.Header.Get("Retry-After"), string(b), time.Since(start)}
}

// A logBook is the server's log.
type logBook struct{ apptest.Log }

// lines returns the lines that contain the words.
func (l *logBook) lines(words string) []string {
	var out []string
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, words) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

const sealingKey = "COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// killed kills the servers of three households ten times each with -9 while they sync and their
// banks go on, and then compares what is left with the banks. Link gives a household its connection.
func killed(t *testing.T, link func(h *house, n int), settings ...string) {
	t.Helper()
	const houses, rounds = 3, 10
	program := apptest.Program(t)
	var mu sync.Mutex
	kills, hits, rows := 0, 0, 0
	var all sync.WaitGroup
	for n := range houses {
		h := open(t, program, pgtest.URL(t), append(settings, sealingKey, "COFFER_DATABASE_MAX_CONNS=5")...)
		link(h, n)
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(n), 7))
			stop := h.liveOn(rand.New(rand.NewPCG(uint64(n), 5)))
			for range rounds {
				h.nextDay(t)
				got, err := h.strike(t.Context(), func() error {
					time.Sleep(time.Duration(dice.IntN(400)) * time.Millisecond)
					return nil
				})
				if err != nil {
					t.Error(err)
					break
				}
				mu.Lock()
				if kills++; len(got) > 0 {
					hits++
				}
				mu.Unlock()
			}
			stop()
			if t.Failed() {
				return
			}
			h.settle(t)
			n, wrong := h.check(t)
			for _, text := range wrong {
				t.Error(text)
			}
			mu.Lock()
			rows += n
			mu.Unlock()
		})
	}
	all.Wait()
	if hits < kills/3 {
		t.Errorf("%d kills, of which %d hit a sync", kills, hits)
	}
	t.Logf("%d kills, %d in the middle of a sync; %d rows as the banks know them", kills, hits, rows)
}

// One token opens two banks, and an answer has all rows of its days. Servers are killed with -9
// while they read such answers, at which a posted row always has another id than its pending one.
// Nothing is lost and nothing is there twice.
func TestKilledBehindOneToken(t *testing.T) {
	t.Parallel()
	sim, err := banks.NewSimpleFIN(banks.SimpleFINOptions{
		Household: household.Options{Seed: 12, Transactions: 1500, Years: 1, End: time.Now()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	sim.Script(banks.Fault{Delay: 50 * time.Millisecond, Times: -1})
	killed(t, func(h *house, _ int) {
		h.link(t, nil, fmt.Sprintf(`{"provider":"simplefin","credentials":{"setup_token":%q}}`, sim.SetupToken()))
		h.doors[0].book, h.doors[0].others = sim.Books()[0], sim.Books()[1:]
	}, "COFFER_SIMPLEFIN_URL="+sim.URL())
}

// A bank behind a consent gives its rows no ids, lists them in pages, account by account, and lists
// some of them twice. Servers are killed with -9 while they read them. Nothing is lost and nothing
// is there twice.
func TestKilledBehindConsent(t *testing.T) {
	t.Parallel()
	sim, err := banks.NewEnableBanking(banks.EnableBankingOptions{
		Household: household.Options{Seed: 13, Transactions: 1500, Years: 1, End: time.Now()}, PageSize: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	key := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(key, []byte(sim.Key()), 0o600); err != nil {
		t.Fatal(err)
	}
	sim.Script(banks.Fault{Delay: 30 * time.Millisecond, Times: -1})
	killed(t, func(h *house, n int) {
		given, err := json.Marshal(map[string]string{"code": h.consent(t, sim, n)})
		if err != nil {
			t.Fatal(err)
		}
		h.link(t, nil, `{"provider":"enablebanking","credentials":`+string(given)+`}`)
		h.doors[0].book, h.doors[0].hash = sim.Book(), sim.HashOf
	}, "COFFER_ENABLEBANKING_APPLICATION="+sim.Application(), "COFFER_ENABLEBANKING_KEY="+key,
		"COFFER_ENABLEBANKING_URL="+sim.URL(), "COFFER_PUBLIC_URL=http://127.0.0.1:1")
}

// consent lets the member sign in at the nth bank of a country, and returns the code with which its
// page leads back.
func (h *house) consent(t *testing.T, sim *banks.EnableBanking, n int) string {
	t.Helper()
	ask := func(method, path, body string, into any) {
		t.Helper()
		status, answer, err := h.send(t.Context(), method, path, body)
		if err != nil || status >= http.StatusBadRequest || json.Unmarshal(answer, into) != nil {
			t.Fatalf("%s %s: %d %s %v", method, path, status, answer, err)
		}
	}
	var listed struct{ Institutions []struct{ ID string } }
	ask(http.MethodGet, "/providers/enablebanking/institutions?country=DE", "", &listed)
	var session struct {
		Config struct {
			URL string `json:"hosted_url"`
		} `json:"provider_config"`
	}
	ask(http.MethodPost, "/connections/link-session",
		fmt.Sprintf(`{"provider":"enablebanking","institution_id":%q}`, listed.Institutions[n].ID), &session)
	to, err := sim.Visit(t.Context(), session.Config.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("code")
}

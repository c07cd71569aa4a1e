package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"coffer/bench/measure"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A house is the server, its bank and its household, and counts of what happened.
type house struct {
	remove     func() // removes the binary
	server     *measure.Child
	metrics    string // host and port
	sim        *banks.Plaid
	connection string
	key        string
	client     http.Client

	people, agents, syncs, turns, broken, refused atomic.Int64
	last                                          atomic.Pointer[string] // the last call that failed
}

// open starts the server on an empty household and links its bank.
func open(ctx context.Context, scratch *measure.Scratch, db *pg.DB) (*house, error) {
	h := &house{client: http.Client{Timeout: time.Minute}}
	err := db.InTx(ctx, func(tx pg.Tx) error {
		k, err := auth.New(db).Create(ctx, tx, auth.CreateKey{Name: "soak", Scope: "full_access", ActorType: "user"})
		h.key = k.Secret
		return err
	})
	if err != nil {
		return nil, err
	}
	binary, remove, err := measure.Coffer(ctx, "")
	if err != nil {
		return nil, err
	}
	h.remove = remove
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.metrics = l.Addr().String()
	_ = l.Close() // frees the port for the server
	if h.sim, err = banks.NewPlaid(banks.PlaidOptions{Household: household.Options{
		Seed: 7, Transactions: 4000,
		Years: 2, End: time.Now(),
	}}); err != nil {
		return nil, err
	}
	h.server, err = measure.Start(ctx, binary, []string{"serve"}, func(address string) []string {
		return []string{
			"COFFER_DATABASE_URL=" + scratch.URL, "COFFER_LISTEN=" + address, "COFFER_METRICS_LISTEN=" + h.metrics,
			"COFFER_LOG_LEVEL=WARN",
			"COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "COFFER_RATE_PER_MINUTE=10000000",
			"COFFER_RATE_BURST=1000000",
			"COFFER_PLAID_CLIENT_ID=client", "COFFER_PLAID_SECRET=secret", "COFFER_PLAID_URL=" + h.sim.URL(),
		}
	})
	if err != nil {
		return nil, err
	}
	if _, err := h.server.Ready(ctx, "/api/v1/health/ready"); err != nil {
		h.close()
		return nil, err
	}
	if err := h.link(ctx); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *house) close() {
	h.server.Stop()
	h.sim.Close()
	h.remove()
}

// link connects the bank and waits for its first sync.
func (h *house) link(ctx context.Context) error {
	token, _ := h.sim.NewItem("")
	status, b, err := h.send(ctx, http.MethodPost, "/connections",
		fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token))
	var made struct {
		ID string `json:"id"`
	}
	if err != nil || status != http.StatusCreated || json.Unmarshal(b, &made) != nil {
		return fmt.Errorf("link: %d %s %w", status, b, err)
	}
	h.connection = made.ID
	h.sync(ctx)
	if h.syncs.Load() == 0 {
		return fmt.Errorf("the first sync did not end well: %s", *h.last.Load())
	}
	return nil
}

func (h *house) send(ctx context.Context, method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+h.server.Address+"/api/v1"+path,
		bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-Api-Key", h.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := h.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or the error says why not
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// refuse records a call that failed. A call that the end of the run cut off does not count.
func (h *house) refuse(ctx context.Context, status int, what string) {
	if ctx.Err() != nil {
		return
	}
	if status == 0 || status >= http.StatusInternalServerError {
		h.broken.Add(1)
	} else {
		h.refused.Add(1)
	}
	h.last.Store(&what)
}

// ask makes a request as a person.
func (h *house) ask(ctx context.Context, method, path, body string) []byte {
	status, b, err := h.send(ctx, method, path, body)
	h.people.Add(1)
	if err != nil || status >= http.StatusBadRequest {
		h.refuse(ctx, status, fmt.Sprintf("%s %s: %d %.300s %v", method, path, status, b, err))
	}
	return b
}

// person does a random thing that people do.
func (h *house) person(ctx context.Context, dice *rand.Rand) {
	reads := []string{
		"/transactions?limit=50", "/transactions?search=coffee&limit=20", "/transactions/summary",
		"/transactions/count", "/accounts", "/categories", "/tags", "/overview",
		"/connections", "/changes?limit=20", "/sync/logs?limit=20", "/sync/health", "/jobs?limit=20", "/rules",
		"/counterparties", "/reports", "/settings",
	}
	if n := dice.IntN(len(reads) + 3); n < len(reads) {
		h.ask(ctx, http.MethodGet, reads[n], "")
		return
	}
	var list struct {
		Transactions []struct {
			ID string `json:"id"`
		} `json:"transactions"`
	}
	if json.Unmarshal(h.ask(ctx, http.MethodGet, "/transactions?limit=1&pending=false&fields=id", ""), &list) != nil ||
		len(list.Transactions) == 0 {
		return
	}
	at := "/transactions/" + list.Transactions[0].ID
	h.ask(ctx, http.MethodPost, at+"/comments", `{"content":"Looked at it."}`)
	h.ask(ctx, http.MethodGet, at+"/annotations", "")
}

// sync asks for a sync and waits for it.
func (h *house) sync(ctx context.Context) {
	status, b, err := h.send(ctx, http.MethodPost, "/connections/"+h.connection+"/sync?wait=30s", "")
	if err != nil || status != http.StatusOK || !bytes.Contains(b, []byte(`"state":"succeeded"`)) {
		h.refuse(ctx, status, fmt.Sprintf("sync: %d %.300s %v", status, b, err))
		return
	}
	h.syncs.Add(1)
}

type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Api-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// agent does a random thing that agents do. Sometimes it opens a new session first.
func (h *house) agent(ctx context.Context, dice *rand.Rand) {
	s, err := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{
			Endpoint:   "http://" + h.server.Address + "/mcp/key",
			HTTPClient: &http.Client{Transport: withKey(h.key), Timeout: time.Minute}, DisableStandaloneSSE: true,
			MaxRetries: -1,
		}, nil)
	if err != nil {
		h.refuse(ctx, 0, "connect as an agent: "+err.Error())
		return
	}
	defer s.Close() //nolint:errcheck // nothing is left to be lost
	tools := []string{
		"get_overview", "query_transactions", "transaction_summary", "list_tags", "list_categories",
		"list_accounts", "list_changes", "list_transaction_rules",
	}
	for range 10 {
		name := tools[dice.IntN(len(tools))]
		res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
		h.agents.Add(1)
		if err != nil {
			h.refuse(ctx, 0, name+": "+err.Error())
		} else if res.IsError {
			h.refuse(ctx, http.StatusBadRequest, fmt.Sprintf("%s: %+v", name, res.Content[0]))
		}
	}
}

// live lets everybody work for that time. It takes 200 samples, but at most one per second.
func (h *house) live(ctx context.Context, length, pause time.Duration) ([]sample, error) {
	during, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	began := time.Now()
	for i, do := range []struct {
		every time.Duration
		once  func(context.Context, *rand.Rand)
	}{
		{pause, h.person},
		{pause, h.person},
		{10 * pause, h.agent},
		{time.Second, func(ctx context.Context, _ *rand.Rand) { h.sync(ctx) }},
		{time.Second, func(_ context.Context, dice *rand.Rand) {
			if _, moved := h.sim.Live(dice); moved {
				h.turns.Add(1)
			}
		}},
	} {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(7, uint64(i))) //nolint:gosec // a made-up household's days
			for during.Err() == nil {
				do.once(during, dice)
				select {
				case <-during.Done():
				case <-time.After(do.every):
				}
			}
		})
	}
	tick := time.NewTicker(max(time.Second, length/200))
	defer tick.Stop()
	var samples []sample
	for {
		select {
		case <-during.Done():
			return samples, ctx.Err()
		case <-tick.C:
		}
		s, err := h.look(ctx, began)
		if err != nil {
			cancel()
			return nil, fmt.Errorf("the server cannot be looked at: %w", err)
		}
		samples = append(samples, s)
	}
}

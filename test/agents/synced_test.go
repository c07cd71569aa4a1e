package agents_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"coffer/internal/agents/workflow"
	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"coffer/internal/sim/models"
)

// newSynced builds a house in the way a household sets it up: a bank is linked and synced, and a
// model is configured, both over their protocols.
func newSynced(t *testing.T, transactions int) *house {
	t.Helper()
	bank, err := banks.NewPlaid(banks.PlaidOptions{
		Household: household.Options{Seed: 7, Transactions: transactions, Years: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bank.Close)
	h := &house{t: t, models: &modelServer{}}
	h.replace(models.Options{Key: "a-key"})
	h.App, err = app.Build(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t)), DatabaseMaxConns: 8, Listen: "127.0.0.1:0",
		EncryptionKey: seal.NewSecret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
		Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": bank.URL()},
		},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	up, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, func(address string) { up <- address }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	select {
	case <-up:
	case <-time.After(5 * time.Minute):
		t.Fatal("the server does not start")
	}
	token, _ := bank.NewItem("")
	var made struct {
		ID string `json:"id"`
	}
	h.must("connection.create", map[string]any{
		"provider": "plaid", "credentials": map[string]any{"public_token": token},
	}, &made)
	// The sync's job goes on after the log ends: it matches transfers and decides about account links.
	for deadline := time.Now().Add(5 * time.Minute); h.value(`select count(*) from sync_log
		where status = 'success' and not exists (select from job
			where state in ('queued', 'running') and run_at < now() + interval '1 hour')`) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the bank is not synced")
		}
		time.Sleep(50 * time.Millisecond)
	}
	h.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI), "key": "a-key",
		"prices": []any{map[string]any{"model": "sim", "input_usd": "1", "output_usd": "5"}},
	}, nil)
	h.must("agent.update", map[string]any{"monthly_ceiling_usd": json.Number("5")}, nil)
	for _, slug := range []string{"review-queue", "counterparty-curator"} {
		h.must("workflow.update", map[string]any{"slug": slug, "provider": "openai_compatible", "model": "sim"}, nil)
	}
	return h
}

// preset runs a workflow that coffer includes.
func (h *house) preset(slug string) (told, id.ID) {
	h.t.Helper()
	var made struct {
		ID id.ID `json:"id"`
	}
	h.must("workflow.run", map[string]any{"slug": slug}, &made)
	got, lines := h.wait(made.ID)
	if got.Status != workflow.Succeeded {
		h.t.Fatalf("%s: %+v %s %v", slug, got, deref(got.Error), kinds(lines))
	}
	return got, made.ID
}

// TestSyncedHousehold: a workflow categorizes the review queue of a synced household, 200
// transactions with at most 12 model calls. A person then applies the curator's plan. Reverting
// both runs restores the books.
func TestSyncedHousehold(t *testing.T) {
	t.Parallel()
	h := newSynced(t, 900)
	h.tag(200)
	h.must("workflow.update", map[string]any{"slug": "review-queue", "dry_run": false}, nil)
	before := h.books()
	got, review := h.preset("review-queue")
	calls, left := h.sim.Count(), h.value(waiting)
	t.Logf("review-queue: %d calls, %d filed, %d left, $%.6f", calls, 200-left, left, float64(*got.Cost)/1e6)
	if calls > 12 || left == 0 || left > 150 || got.Report == nil {
		t.Errorf("%d calls, %d left", calls, left)
	}
	largest := 0
	for _, r := range h.sim.Requests() {
		largest = max(largest, len(r.Body))
		if strings.Contains(string(r.Body), "a-key") || len(r.Tools) != 1 || r.Tools[0].Name != "decide" {
			t.Errorf("a request has %d tools", len(r.Tools))
		}
	}
	t.Logf("the largest request has %d bytes", largest)
	if largest > 16_000 {
		t.Errorf("a request of %d bytes", largest)
	}
	if n := h.value(`select count(distinct transaction_id) from comment where author_id = $1`, review); n != left {
		t.Errorf("%d reasons for %d that were left", n, left)
	}
	if h.preset("review-queue"); h.sim.Count() != calls {
		t.Errorf("asked %d times more about what has not changed", h.sim.Count()-calls)
	}
	between := h.books()
	got, curator := h.preset("counterparty-curator")
	if got.PlanState != "waiting" || h.value(`select count(*) from counterparty where deleted_at is null`) != 0 {
		t.Fatalf("%+v", got)
	}
	h.must("workflow-run.apply", map[string]any{"id": curator.String()}, nil)
	if n := h.value(`select count(*) from transaction where counterparty_source = 'agent'`); n < 20 {
		t.Errorf("%d transactions have a counterparty", n)
	}
	h.revert(curator)
	if after := h.books(); after != between {
		t.Errorf("the curator is not undone: %s", difference(between, after))
	}
	h.revert(review)
	if after := h.books(); after != before {
		t.Errorf("the review is not undone: %s", difference(before, after))
	}
}

// Package machine searches for sequences of ordinary steps after which totals or undo are wrong. It
// knows the service by its routes. Into the database it looks to check laws, and to choose what a
// step is about.
package machine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A house is the household with which every sequence begins, served: its keys, its bank and its
// sources of payments.
type house struct {
	*app.App
	frozen   *frozen
	url      string
	log      *apptest.Log
	keys     map[string]string // by name of who acts
	bank     *banks.Plaid
	book     *banks.Book
	bankConn string
	sources  []*source
	made     int // sequences, which number the bank's rows
}

const (
	ada   = "Ada"
	bob   = "Bob"
	agent = "agent"
)

// newHouse makes the household: three accounts for imported files, two of a bank that syncs and one
// manual account.
func newHouse(t *testing.T) *house {
	t.Helper()
	bank, err := banks.NewPlaid(banks.PlaidOptions{
		ClientID: "client", Secret: "secret", Household: household.Options{Seed: 5, Transactions: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bank.Close)
	h := &house{keys: map[string]string{}, bank: bank, sources: newSources(), log: &apptest.Log{}}
	h.serve(t)
	for name, actor := range map[string]string{ada: "user", bob: "user", agent: "agent"} {
		if err := h.DB.InTx(t.Context(), func(tx pg.Tx) error {
			k, err := h.Auth.Create(t.Context(), tx, auth.CreateKey{
				Name: name, Scope: "full_access", ActorType: actor, MaxWritesPerDay: new(1_000_000),
			})
			h.keys[name] = k.Secret
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	must := func(r answer) answer {
		t.Helper()
		if r.status >= http.StatusBadRequest || r.State == "failed" {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return r
	}
	token, book := bank.NewItem("")
	h.book = book
	h.clearBank()
	h.chooseBankAccounts(t)
	h.bankConn = must(h.call(ada, "POST", "/connections", map[string]any{
		"provider": "plaid", "credentials": map[string]any{"public_token": token},
	})).ID
	must(h.call(ada, "POST", "/connections/"+h.bankConn+"/sync?wait=30s", nil))
	for _, src := range h.sources {
		if src.bank != "" {
			continue
		}
		src.connection = must(h.call(ada, "POST", "/connections", map[string]any{
			"provider": "csv", "institution_name": "Bank of " + src.name,
		})).ID
		must(h.send(src, ada, src.rows[:atFirst]))
	}
	must(h.call(ada, "POST", "/accounts", map[string]any{"name": "Cash", "kind": "cash", "iso_currency_code": "EUR"}))
	h.settle(t)
	h.frozen = freeze(t, h.DB)
	return h
}

// clearBank removes what former sequences left at the bank.
func (h *house) clearBank() {
	for _, r := range h.book.Rows() {
		h.book.Remove(r.ID)
	}
}

// chooseBankAccounts gives the bank's sources the first accounts of the book, and makes all of them
// alike.
func (h *house) chooseBankAccounts(t *testing.T) {
	t.Helper()
	accounts := h.book.Accounts()
	at := 0
	for _, src := range h.sources {
		if src.bank == "" {
			continue
		}
		if at >= len(accounts) {
			t.Fatalf("the bank has %d accounts", len(accounts))
		}
		src.bank = accounts[at].ID
		at++
	}
	for i, a := range accounts {
		name := fmt.Sprintf("Spare %d", i)
		for _, src := range h.sources {
			if src.bank == a.ID {
				name = src.name
			}
		}
		h.book.SetAccount(a.ID, func(a *banks.Account) {
			a.Name, a.OfficialName, a.Currency, a.Type, a.Subtype = nameOf(name), "", "EUR", "depository", "checking"
		})
	}
}

// serve runs the service until the test ends.
func (h *house) serve(t *testing.T) {
	t.Helper()
	var err error
	h.App, err = app.BuildWith(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"), Listen: "127.0.0.1:0",
		RatePerMinute: 60_000_000, RateBurst: 1_000_000, AuthFailures: 1_000_000,
		EncryptionKey: seal.NewSecret("c2VjcmV0LWNhbmFyeS1vZi1lbmNyeXB0aW9uLWtleSE="), Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": h.bank.URL()},
		},
	}, pg.Options{MaxConns: 10, Reserve: true}, slog.New(slog.NewTextHandler(h.log,
		&slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	h.url = apptest.Serve(t, h.Serve)
	t.Cleanup(client.CloseIdleConnections)
}

// An answer is what came of a call: its status, and what of its body steps need.
type answer struct {
	status int
	body   string

	ID    string `json:"id"`
	State string `json:"state"` // of a job
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result struct {
		Account string  `json:"account_id"`
		Change  *string `json:"change_id"`
		URL     *string `json:"url"`
	} `json:"result"`
	Matched int `json:"matched"` // of a bulk call
	Change  *struct {
		ID string `json:"id"`
	} `json:"change"` // of a revert
	RevertedBy *string          `json:"reverted_by"` // of a change
	Reverted   int              `json:"reverted"`
	Skipped    []map[string]any `json:"skipped"`
	Results    []struct {
		Change string  `json:"change_id"`
		Revert *string `json:"revert_id"`
	} `json:"results"` // of the revert of several
	ByReason map[string]int `json:"skipped_by_reason"`
	Totals   []struct {
		Net   json.Number `json:"net"`
		Count int64       `json:"count"`
	} `json:"totals"` // of a summary
}

func (a answer) ok() bool {
	return a.status < http.StatusBadRequest && (a.State == "" || a.State == "succeeded")
}

// outcome is how a call ended, in a word or two.
func (a answer) outcome() string {
	switch {
	case a.Error != nil:
		return fmt.Sprintf("%d %s", a.status, a.Error.Code)
	case a.State != "":
		return a.State
	}
	return fmt.Sprint(a.status)
}

var client = &http.Client{Timeout: 2 * time.Minute}

// call makes a request below /api/v1.
func (h *house) call(who, method, path string, body any) answer {
	var sent io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err) // a test's own mistake
		}
		sent = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, h.url+"/api/v1"+path, sent)
	if err != nil {
		panic(err) // a test's own mistake
	}
	r.Header.Set("X-API-Key", h.keys[who])
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(r)
	if err != nil {
		return answer{status: 599, body: err.Error()}
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{status: 599, body: err.Error()}
	}
	out := answer{}
	_ = json.Unmarshal(b, &out) // a body that is not JSON has a status that says enough
	out.status, out.body = res.StatusCode, string(b)
	return out
}

// settle waits until no job is left.
func (h *house) settle(t interface {
	Helper()
	Fatalf(format string, args ...any)
},
) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(3 * time.Millisecond) {
		open, err := pg.Value[int](context.Background(), h.DB, `select count(*)::int from job
			where state in ('queued', 'running')`)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%d jobs do not end: %v", open, err)
		}
		if open == 0 {
			return
		}
	}
}

// send imports rows of a source.
func (h *house) send(src *source, who string, rows []*payment) answer {
	return h.call(who, "POST", "/connections/"+src.connection+"/csv/import?wait=30s", src.file(rows, ""))
}

// file is the call that imports rows; late is added to each text.
func (s *source) file(rows []*payment, late string) map[string]any {
	var file strings.Builder
	file.WriteString("Date,Description,Amount")
	if s.refs {
		file.WriteString(",Transaction ID")
	}
	for _, r := range rows {
		fmt.Fprintf(&file, "\n%s,%s%s,%s", r.date, r.name, late, cents(-r.cents))
		if s.refs {
			fmt.Fprintf(&file, ",%X-REF", sha256.Sum256([]byte(r.name)))
		}
	}
	file.WriteString("\n")
	return map[string]any{
		"csv": file.String(), "account": map[string]any{"name": s.name, "type": "depository", "iso_currency_code": "EUR"},
	}
}

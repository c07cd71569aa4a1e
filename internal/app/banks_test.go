package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/books/account"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"github.com/google/go-cmp/cmp"
)

const testRing = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// holdsBook checks that the stored data equals what the bank has.
func (w *world) holdsBook(t *testing.T, book *banks.Book) {
	t.Helper()
	stored, err := pg.Values[string](t.Context(), w.DB, `
		select t.provider_id || ' ' || t.date || ' ' || t.amount || ' ' || t.currency || ' ' || t.pending
			from transaction t where t.deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range book.Rows() {
		want = append(want, fmt.Sprintf("%s %s %s %s %t", r.ID, r.Date.Format("2006-01-02"), r.Amount, r.Currency,
			r.Pending))
	}
	slices.Sort(stored)
	slices.Sort(want)
	if !slices.Equal(stored, want) {
		t.Errorf("stored and at the bank:\n%s", cmp.Diff(stored, want))
	}
}

// link creates a connection over REST, waits for its first sync, and returns its id.
func (w *world) link(t *testing.T, body string) string {
	t.Helper()
	r := w.send(t, exchange{method: http.MethodPost, path: "/api/v1/connections", key: w.key, body: body})
	var c struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.body), &c); err != nil || r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.body)
	}
	w.sync(t, c.ID)
	return c.ID
}

// sync starts a sync and waits until it ends.
func (w *world) sync(t *testing.T, connection string) string {
	t.Helper()
	r := w.send(t, exchange{
		method: http.MethodPost, path: "/api/v1/connections/" + connection + "/sync?wait=30s",
		key: w.key,
	})
	if r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return r.body
}

// standsToday checks the balances of today. The balance, its day and its source are either all
// known or all unknown. With all, every account of the bank with a current balance must have one
// today, as at Plaid. At Teller only some rows state a balance.
func (w *world) standsToday(t *testing.T, book *banks.Book, all bool) {
	t.Helper()
	accounts, err := w.Accounts.Accounts(t.Context(), w.DB, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, a := range accounts {
		if (a.BalanceToday == nil) != (a.BalanceDate == nil) || (a.BalanceToday == nil) != (a.BalanceSource == nil) {
			t.Errorf("%+v", a)
		}
		if a.BalanceToday != nil {
			known++
		}
	}
	want := 0
	for _, a := range book.Accounts() {
		if a.Current != nil {
			want++
		}
	}
	if known == 0 || all && known < want {
		t.Errorf("%d of %d accounts stand at something today, %d state a balance", known, len(accounts), want)
	}
}

// provedByRows checks that the last balance stated by a row equals the account's balance, sign
// included, and that these balances prove the books.
func (w *world) provedByRows(t *testing.T, book *banks.Book) {
	t.Helper()
	proofs, err := w.Accounts.Proofs(t.Context(), w.DB, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, a := range book.Accounts() {
		type stated struct {
			Account id.ID        `db:"account_id"`
			Current money.Amount `db:"current"`
		}
		last, err := pg.All[stated](t.Context(), w.DB, `select b.account_id, b.current from account_balance b
			join account a on a.id = b.account_id where a.provider_id = $1 and b.exact and b.source = 'provider'
			order by b.day desc limit 1`, a.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(last) == 0 || a.Current == nil {
			continue
		}
		at := slices.IndexFunc(proofs, func(p account.AccountProof) bool { return p.AccountID == last[0].Account })
		if last[0].Current != *a.Current || proofs[at].Status != "proved" {
			t.Errorf("%s account: stands at %s, want %s; %+v", a.Type, last[0].Current, *a.Current, proofs[at])
		}
		checked++
	}
	if checked == 0 {
		t.Error("no account had a balance that its rows state")
	}
}

// TestBanksOverTheirProtocols links and syncs a bank through each provider, over real connections
// to its simulator. The books equal what the bank has, also after new transactions at the bank.
func TestBanksOverTheirProtocols(t *testing.T) {
	t.Parallel()
	size := household.Options{Seed: 7, Transactions: 1200, Years: 1}
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: size, MaxCount: 100})
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
	config := app.Config{
		EncryptionKey: seal.NewSecret(testRing), Providers: app.Providers{
			"plaid": {"client_id": "client", "secret": "secret", "environment": "sandbox", "url": p.URL()},
			"teller": {
				"application_id": "app_1", "environment": "development", "url": tl.URL(),
				"certificate": file("cert.pem", tl.Certificate()), "private_key": file("key.pem", tl.Key()),
				"ca": file("ca.pem", tl.CA()),
			},
		},
	}
	for name, start := range map[string]func() (string, *banks.Book){
		"plaid": func() (string, *banks.Book) {
			token, book := p.NewItem("")
			return fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token), book
		},
		"teller": func() (string, *banks.Book) {
			e := tl.Enroll()
			return fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
				e.AccessToken, e.ID), e.Book
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, pgtest.URL(t), config)
			w.work(t)
			body, book := start()
			connection := w.link(t, body)
			w.holdsBook(t, book)
			w.standsToday(t, book, name == "plaid")
			if name == "teller" {
				w.provedByRows(t, book)
			}
			rows := book.Rows()
			book.Change(rows[len(rows)-1].ID, func(r *banks.Row) { r.Name = "CHANGED" })
			ids := func() map[string]bool {
				found, err := pg.Values[string](t.Context(), w.DB, `select id::text from transaction
					where deleted_at is null`)
				if err != nil {
					t.Fatal(err)
				}
				out := map[string]bool{}
				for _, u := range found {
					out[u] = true
				}
				return out
			}
			before := ids()
			for _, pending := range book.Pending() {
				book.Post(pending.ID, nil)
			}
			if !strings.Contains(w.sync(t, connection), `"state":"succeeded"`) {
				t.Error("the second sync did not succeed")
			}
			w.holdsBook(t, book)
			if !maps.Equal(before, ids()) {
				t.Error("what posted under another id became another transaction")
			}
			leak, err := pg.Value[bool](t.Context(), w.DB, `select position('token' in encode(credentials,
				'escape')) > 0 from connection`)
			if err != nil || leak {
				t.Errorf("credentials can be read, %v", err)
			}
			if r := w.send(t, exchange{
				method: http.MethodDelete, path: "/api/v1/connections/" + connection,
				key: w.key,
			}); r.status != http.StatusNoContent {
				t.Errorf("%d %s", r.status, r.body)
			}
			kept, err := pg.Value[bool](t.Context(), w.DB, `select credentials is not null
				or status <> 'disconnected' from connection`)
			if err != nil || kept {
				t.Errorf("a connection that was removed keeps its credentials, %v", err)
			}
		})
	}
}

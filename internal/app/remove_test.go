package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/books/ledger/ledgertest"
)

// TestRemoveAccount: removing an account with all its transactions is one change, and reverting the
// change restores them. A dry run says what would be removed. An account whose connection syncs
// cannot be removed, and agents cannot remove any.
func TestRemoveAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(t)
	ask := func(want int, method, path, body string, into any) {
		t.Helper()
		r := w.send(t, exchange{method: method, path: "/api/v1" + path, key: w.key, body: body})
		if r.status != want || into != nil && json.Unmarshal([]byte(r.body), into) != nil {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
	}
	var connection struct {
		ID string `json:"id"`
	}
	ask(http.StatusCreated, http.MethodPost, "/connections", `{"provider":"csv"}`, &connection)
	const rows = 5_100 // more than one batch
	csv := strings.Builder{}
	csv.WriteString("Date,Description,Amount\n")
	for n := range rows {
		fmt.Fprintf(&csv, "2026-%02d-%02d,SHOP %d,-%d.50\n", n%9+1, n%28+1, n, n%90+1)
	}
	body, err := json.Marshal(map[string]any{"csv": csv.String(), "account": map[string]any{"name": "Old bank"}})
	if err != nil {
		t.Fatal(err)
	}
	type ended struct {
		State  string `json:"state"`
		Result struct {
			Account      string  `json:"account_id"`
			Transactions int     `json:"transactions"`
			Change       *string `json:"change_id"`
		} `json:"result"`
	}
	var imported ended
	ask(http.StatusOK, http.MethodPost, "/connections/"+connection.ID+"/csv/import?wait=30s", string(body), &imported)
	account := imported.Result.Account
	ask(http.StatusOK, http.MethodPut, "/accounts/"+account+"/balances/2026-10-01", `{"current": 12}`, nil)
	hash := func() string {
		t.Helper()
		h, err := ledgertest.Canonical(t.Context(), w.DB, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := hash()
	var dry, gone ended
	ask(http.StatusOK, http.MethodPost, "/accounts/"+account+"/remove?wait=30s", `{"dry_run": true}`, &dry)
	if dry.State != "succeeded" || dry.Result.Transactions != rows || dry.Result.Change != nil || hash() != before {
		t.Fatalf("dry run: %+v", dry)
	}
	ask(http.StatusOK, http.MethodPost, "/accounts/"+account+"/remove?wait=30s", `{}`, &gone)
	if gone.State != "succeeded" || gone.Result.Transactions != rows || gone.Result.Change == nil {
		t.Fatalf("%+v", gone)
	}
	ask(http.StatusNotFound, http.MethodGet, "/accounts/"+account, "", nil)
	ask(http.StatusNotFound, http.MethodPost, "/accounts/"+account+"/remove", `{}`, nil)
	var count struct {
		Count int `json:"count"`
	}
	ask(http.StatusOK, http.MethodGet, "/transactions/count", "", &count)
	if count.Count != 0 {
		t.Errorf("%d transactions are left", count.Count)
	}
	var reverted struct {
		Reverted int `json:"reverted"`
		Skipped  []any
	}
	ask(http.StatusOK, http.MethodPost, "/changes/"+*gone.Result.Change+"/revert", `{}`, &reverted)
	if reverted.Reverted != rows+1 || len(reverted.Skipped) > 0 || hash() != before {
		t.Errorf("%+v, the books are as before: %t", reverted, hash() == before)
	}
	if _, err := w.DB.Exec(t.Context(), `update connection set provider = 'plaid'`); err != nil {
		t.Fatal(err)
	}
	ask(http.StatusConflict, http.MethodPost, "/accounts/"+account+"/remove", `{}`, nil)
}

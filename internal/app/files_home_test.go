package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestHomeOfFiles: a household uses statement files only. Importing the same file three times under
// the same account name creates one account and nine rows. A search finds the rows by their
// purposes, and the account's balance is the one in the file. Without a balance in the file, the
// balance stays unknown.
func TestHomeOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(t)
	ask := func(method, path, body string, into any) {
		t.Helper()
		r := w.send(t, exchange{method: method, path: "/api/v1" + path, key: w.key, body: body})
		if err := json.Unmarshal([]byte(r.body), into); r.status >= http.StatusBadRequest || err != nil {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
	}
	var connection struct {
		ID string `json:"id"`
	}
	ask(http.MethodPost, "/connections", `{"provider":"csv","institution_name":"Sparkasse"}`, &connection)
	var rows strings.Builder
	rows.WriteString("Buchungstag;Name;Verwendungszweck;Betrag;Saldo;Währung\n")
	balance := 100000
	for n := range 9 {
		balance -= 1000 + n
		fmt.Fprintf(&rows, "%02d.10.2026;Sparkasse;GA NR0001%d BLZ37040044;-%d,%02d;%d,%02d;EUR\n", n+1, n, (1000+n)/100,
			(1000+n)%100, balance/100, balance%100)
	}
	type imported struct {
		State  string `json:"state"`
		Result struct {
			Added      int    `json:"added"`
			Duplicates int    `json:"duplicates"`
			Reused     bool   `json:"account_reused"`
			Account    string `json:"account_id"`
		} `json:"result"`
	}
	file := func(csv, name string) (out imported) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"csv": csv, "account": map[string]any{"name": name, "iso_currency_code": "EUR"}})
		if err != nil {
			t.Fatal(err)
		}
		ask(http.MethodPost, "/connections/"+connection.ID+"/csv/import?wait=30s", string(body), &out)
		if out.State != "succeeded" {
			t.Fatalf("%+v", out)
		}
		return out
	}
	first := file(rows.String(), "Girokonto")
	for range 2 {
		again := file(rows.String(), "girokonto")
		if first.Result.Added != 9 || first.Result.Reused || again.Result.Added != 0 || again.Result.Duplicates != 9 ||
			!again.Result.Reused || again.Result.Account != first.Result.Account {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
	file("Date,Description,Amount\n2026-10-01,COFFEE,-4.80\n", "Cash book")
	var accounts []struct {
		Name   string   `json:"name"`
		Today  *float64 `json:"balance_today"`
		Source *string  `json:"balance_source"`
	}
	ask(http.MethodGet, "/accounts", "", &accounts)
	if len(accounts) != 2 || accounts[0].Name != "Cash book" || accounts[0].Today != nil || accounts[0].Source != nil ||
		accounts[1].Today == nil || *accounts[1].Today != float64(balance)/100 || *accounts[1].Source != "statement" {
		t.Errorf("%+v", accounts)
	}
	var count struct {
		Count int `json:"count"`
	}
	ask(http.MethodGet, "/transactions/count?search="+url.QueryEscape("GA NR0001"), "", &count)
	if count.Count != 9 {
		t.Errorf("%d found by what they were for", count.Count)
	}
	ask(http.MethodGet, "/transactions/count?account_id="+first.Result.Account, "", &count)
	if count.Count != 9 {
		t.Errorf("%d rows", count.Count)
	}
}

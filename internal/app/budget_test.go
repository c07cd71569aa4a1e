package app_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A thrifty is an agent whose writes the test counts.
type thrifty struct {
	*world
	key string
	id  string
}

func (w *world) thrifty(t *testing.T, name string, most int) thrifty {
	t.Helper()
	k := w.newKey(t, auth.CreateKey{
		Name: name, Scope: "full_access", ActorType: op.Agent, MaxWritesPerDay: new(most),
	})
	return thrifty{w, k.Secret, k.ID.String()}
}

// used returns how many writes the agent has used today.
func (a thrifty) used(t *testing.T) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), a.DB, `select coalesce(sum(used), 0)::int from write_budget where key_id = $1`,
		a.id)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// does makes a call, which must succeed and cost the given number of writes.
func (a thrifty) does(t *testing.T, cost int, method, path, body string) reply {
	t.Helper()
	before := a.used(t)
	r := a.send(t, exchange{method: method, path: "/api/v1" + path, key: a.key, body: body})
	if r.status >= 300 {
		t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
	}
	if got := a.used(t) - before; got != cost {
		t.Errorf("%s %s cost %d writes, not %d", method, path, got, cost)
	}
	return r
}

// newestChange returns the id of the newest change.
func (w *world) newestChange(t *testing.T) string {
	t.Helper()
	s, err := pg.Value[string](t.Context(), w.DB, `select id::text from change order by seq desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every change by an agent costs one write for each transaction and each record that it touches.
// Deleting a tag or a category also costs one for each transaction that had it. A decision about a
// link costs one, regardless of its effects. Reverting and redoing one's own change is free once.
func TestEveryChangeCostsWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	ids, err := pg.Values[string](t.Context(), w.DB, `select short_id from transaction where deleted_at is null
		order by date limit 6`)
	if err != nil || len(ids) < 6 {
		t.Fatal(ids, err)
	}
	a := w.thrifty(t, "thrifty", 1_000)
	purse := `{"name":"Purse","kind":"cash","iso_currency_code":"EUR"}`
	var account struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(a.does(t, 1, "POST", "/accounts", purse).body), &account); err != nil {
		t.Fatal(err)
	}
	for day := range 3 {
		a.does(t, 1, "PUT", fmt.Sprintf("/accounts/%s/balances/2026-01-%02d", account.ID, day+1), `{"current":1000000}`)
	}
	a.does(t, 1, "POST", "/counterparties", `{"name":"Nobody"}`)
	a.does(t, 1, "POST", "/tags", `{"slug":"trip"}`)
	a.does(t, 1, "PATCH", "/tags/trip", `{"name":"A trip"}`)
	a.does(t, 0, "PATCH", "/tags/trip", `{"name":"A trip"}`) // changes nothing
	a.does(t, 1, "POST", "/categories", `{"slug":"sweets","name":"Sweets"}`)
	a.does(t, 1, "POST", "/targets", `{"category":"sweets","amount":10,"iso_currency_code":"EUR"}`)
	a.does(t, 1, "POST", "/rules", `{"rules":[{"name":"Sweet","conditions":{"field":"name","op":"contains",`+
		`"value":"candy"},"actions":[{"type":"set_category","category_slug":"sweets"}]}]}`)
	a.does(t, 1, "POST", "/reports", `{"title":"What I did","body":"Little."}`)
	a.does(t, 6, "POST", "/transactions/bulk",
		`{"transaction_ids":["`+strings.Join(ids, `","`)+`"],"set":{"tags_to_add":["trip"],"category":"sweets"}}`)
	a.does(t, 1, "POST", "/transactions/"+ids[0]+"/comments", `{"content":"a word"}`)

	w.fillLinks(t)
	a.does(t, 1, "PUT", "/account-links/"+busiestLink(t, w), `{"confidence":"confirmed"}`)

	a.does(t, 7, "DELETE", "/tags/trip", "")
	deletion := w.newestChange(t)
	a.does(t, 0, "POST", "/changes/"+deletion+"/revert", "{}") // one's own, the first time
	undo := w.newestChange(t)
	a.does(t, 0, "POST", "/changes/"+undo+"/revert", "{}") // the redo of one's own undo, the first time
	redo := w.newestChange(t)
	a.does(t, 7, "POST", "/changes/"+redo+"/revert", "{}")
	a.does(t, 0, "POST", "/changes/"+w.newestChange(t)+"/revert", "{}")
	other := w.thrifty(t, "other", 1_000)
	other.does(t, 7, "POST", "/changes/"+w.newestChange(t)+"/revert", "{}")
	// The cost is six transactions, the rule, the target and the deleted category.
	a.does(t, 9, "DELETE", "/categories/sweets?move_to="+url.QueryEscape("food_and_drink"), "")

	// A key with fewer writes left than a tag's deletion needs gets an error, and the tag stays.
	poor := w.thrifty(t, "poor", 6)
	r := w.send(t, exchange{method: "DELETE", path: "/api/v1/tags/trip", key: poor.key})
	if r.code() != "RATE_LIMITED" || !strings.Contains(r.body, "6 are left today and this call needs 7") {
		t.Errorf("a tag of six transactions, with six writes left: %d %s", r.status, r.body)
	}
	if r := w.send(t, exchange{method: "GET", path: "/api/v1/tags/trip", key: w.key}); r.status != 200 {
		t.Errorf("the tag went: %d %s", r.status, r.body)
	}
}

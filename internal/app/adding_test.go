package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mayAdd repeats the contract: the ops that an add-only key may call, and the fields that it may
// read.
var mayAdd = map[string][]string{
	"account.list": {
		"id", "short_id", "name", "display_name", "mask", "type", "iso_currency_code", "institution_name", "user_id",
		"closed_on", "hidden",
	},
	"payee.list": {"payee", "payee_name"},
	"transaction.create": {
		"id", "short_id", "date", "amount", "iso_currency_code", "name", "payee_name", "account_id", "account_name",
		"category", "category_display_name",
	},
}

// TestKeysThatMayOnlyAdd: an add-only key can call three routes. Every other route of the API
// responds with 403.
func TestKeysThatMayOnlyAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	key := credential{key: w.newKey(t, auth.CreateKey{
		Name: "shortcut", Scope: "full_access", ActorType: op.User, Only: []string{"add"},
	}).Secret}
	tried := 0
	for _, o := range w.Ops() {
		if o.Route == "" || o.Scope == op.Open {
			continue
		}
		fields, may := mayAdd[o.ID()]
		if may != (o.Adds != nil) || may && !slices.Equal(o.Adds.Fields, fields) {
			t.Errorf("%s is declared as %+v, which the contract does not say", o.ID(), o.Adds)
		}
		body := "{}"
		if o.Method == http.MethodDelete || o.Method == http.MethodGet {
			body = ""
		}
		r := key.send(t, w, o.Method, "/api/v1"+variable.ReplaceAllString(o.Path, "nothing0"), body)
		if tried++; (r.status == 403) == may || !may && r.code() != string(errs.Forbidden) {
			t.Errorf("%s: %d %s", o.Route, r.status, r.body)
		}
	}
	if tried < 150 {
		t.Errorf("only %d routes were tried", tried)
	}
	for _, raw := range []string{"/mcp/key", "/metrics", "/api/v1/jobs/nothing0/events", "/api/v1/export"} {
		method := "GET"
		if strings.HasPrefix(raw, "/mcp") {
			method = "POST"
		}
		if r := key.send(t, w, method, raw, "{}"); r.status != 403 && r.status != 404 && r.status != 405 {
			t.Errorf("%s: %d %s", raw, r.status, r.body)
		}
	}
	// The key can read names only, and cannot find out more with filters.
	only := func(what string, record map[string]any, fields []string) {
		t.Helper()
		for name := range record {
			if !slices.Contains(fields, name) {
				t.Errorf("%s shows %s", what, name)
			}
		}
		if len(record) < 2 {
			t.Errorf("%s shows %v", what, slices.Collect(maps.Keys(record)))
		}
	}
	var accounts []map[string]any
	r := key.send(t, w, "GET", "/api/v1/accounts", "")
	if err := json.Unmarshal([]byte(r.body), &accounts); err != nil || len(accounts) == 0 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	for _, a := range accounts {
		only("an account", a, mayAdd["account.list"])
	}
	var page map[string]any
	r = key.send(t, w, "GET", "/api/v1/payees?limit=2&sort_by=name", "")
	if err := json.Unmarshal([]byte(r.body), &page); err != nil {
		t.Fatalf("%d %s", r.status, r.body)
	}
	only("the page of payees", page, []string{"payees", "next_cursor", "has_more"})
	payees, _ := page["payees"].([]any)
	if len(payees) != 2 {
		t.Fatalf("%s", r.body)
	}
	for _, p := range payees {
		only("a payee", p.(map[string]any), mayAdd["payee.list"])
	}
	for _, query := range []string{"min_amount=5", "start_date=2026-01-01", "search=rent", "similar=true", "category=x"} {
		if r := key.send(t, w, "GET", "/api/v1/payees?"+query, ""); r.status != 403 {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	// The transaction that the key added is in the books, but the key cannot read it.
	r = key.send(t, w, "POST", "/api/v1/transactions", fmt.Sprintf(
		`{"account_id":%q,"amount_text":"€12,50","payee":"Wochenmarkt"}`, accounts[0]["id"]))
	var made map[string]any
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != 201 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	only("the transaction", made, mayAdd["transaction.create"])
	if !strings.Contains(r.body, `"amount":12.50`) || r.header.Get("ETag") != "" {
		t.Errorf("%v %s", r.header, r.body)
	}
	if n, err := pg.Value[int](t.Context(), w.DB, `select count(*)::int from transaction
		where amount = 12.50 and origin = 'manual' and date = (select (now() at time zone time_zone)::date from setting)`,
	); err != nil || n != 1 {
		t.Errorf("%d are in the books (%v)", n, err)
	}
	// The error about a wrong category does not name the existing ones.
	if r := key.send(t, w, "POST", "/api/v1/transactions", fmt.Sprintf(
		`{"account_id":%q,"amount_text":"5","payee":"x","category":"food_and_drink_grocerie"}`, accounts[0]["id"]),
	); r.status != 400 || strings.Contains(r.body, "food_and_drink_groceries") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestAddingForAMember: two members share a phone. The server accepts an entry only in the session
// of the member who entered it, even if the other member has signed in since. The page sends the
// member's id, and the server compares it with the session's.
func TestAddingForAMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	anna, annas := w.session(t, op.RoleMember)
	ben, bens := w.session(t, op.RoleAdmin)
	account, err := pg.Value[string](t.Context(), w.DB, `select short_id from account order by id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	add := func(reference, session, key, member string) reply {
		return w.send(t, exchange{
			method: "POST", path: "/api/v1/transactions", key: key,
			body: fmt.Sprintf(`{"account_id":%q,"amount":5,"date":"2026-01-02","payee":"Kiosk","reference":%q}`,
				account, reference),
			header: map[string]string{
				"Cookie": auth.SessionCookie + "=" + session, "Idempotency-Key": reference, "Coffer-Member": member,
			},
		})
	}
	count := func() int {
		t.Helper()
		n, err := pg.Value[int](t.Context(), w.DB, `select count(*)::int from transaction where origin = 'manual'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	if r := add("reference-one", bens, "", anna.ID.String()); r.status != 409 || r.code() != string(errs.Conflict) {
		t.Errorf("one member for another: %d %s", r.status, r.body)
	}
	if r := add("reference-two", "", w.key, anna.ID.String()); r.status != 409 {
		t.Errorf("a key for a member: %d %s", r.status, r.body)
	}
	if n := count(); n != before {
		t.Errorf("%d were added for the wrong member", n-before)
	}
	for _, r := range []reply{
		// The server stored no response for the first attempt, which it refused.
		add("reference-one", annas, "", anna.ID.String()),
		add("reference-three", bens, "", ben.ID.String()),
		add("reference-four", bens, "", ""),
	} {
		if r.status != 201 {
			t.Errorf("a member for themselves: %d %s", r.status, r.body)
		}
	}
	if n := count(); n != before+3 {
		t.Errorf("%d of 3 are in the books", n-before)
	}
}

// TestCreatingKeysThatMayOnlyAdd: an add-only key is shown as such, only full_access allows
// creating it, and it gives no other right.
func TestCreatingKeysThatMayOnlyAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, want := range map[string]int{
		`{"name":"a","scope":"full_access","only":["add"]}`:                                              201,
		`{"name":"b","scope":"full_access","only":[]}`:                                                   201,
		`{"name":"c","scope":"read_only","only":["add"]}`:                                                400,
		`{"name":"d","scope":"full_access","only":["delete"]}`:                                           400,
		`{"name":"e","scope":"full_access","only":["add","add"]}`:                                        400,
		`{"name":"f","scope":"full_access","actor_type":"agent","only":["add"],"max_writes_per_day":50}`: 201,
	} {
		r := credential{key: w.key}.send(t, w, "POST", "/api/v1/api-keys", body)
		if r.status != want || want == 201 && strings.Contains(r.body, `"only":["add"]`) != strings.Contains(body, "add") {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if r := (credential{key: w.key}).send(t, w, "GET", "/api/v1/api-keys", ""); !strings.Contains(r.body, `"only":["add"]`) {
		t.Errorf("the list: %s", r.body)
	}
}

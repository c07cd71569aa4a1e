package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"github.com/google/go-cmp/cmp"
)

// cursorHousehold returns a separate installation: its database was migrated, not copied.
func cursorHousehold(t *testing.T) *world {
	t.Helper()
	at := pgtest.EmptyURL(t)
	db, err := pg.Open(t.Context(), at, pg.Options{MaxConns: 2})
	if err == nil {
		_, err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	w := newWorldOn(t, at, app.Config{})
	cursorSeed(t, w)
	return w
}

// TestCursorsOfAnotherHousehold: a household refuses the cursor of another, even if both have the
// same rows.
func TestCursorsOfAnotherHousehold(t *testing.T) {
	t.Parallel()
	ours, theirs := cursorHousehold(t), cursorHousehold(t)
	for name, path := range cursorPaths(t, ours) {
		there := cursorPaths(t, theirs)[name]
		for _, query := range []string{"", "start_date=" + cursorStart(name, "2020-01-01")} {
			if query != "" && opNamed(t, ours.Ops(), name).In.Prop("start_date") == nil {
				continue
			}
			cursor := cursorFirst(t, ours, path, cursorWith(query, ""))
			if p := cursorGet(t, theirs, there, cursorWith(query, cursor)); p.code != string(errs.InvalidCursor) {
				t.Errorf("%s %s: %d %s", name, query, p.status, p.code)
			}
		}
	}
}

// TestCursorsAcrossServers: two servers on one database give the same results. A caller can read
// alternate pages from both, and what one writes, the other shows with the next request.
func TestCursorsAcrossServers(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	at := pgtest.URL(t)
	servers := []*world{newWorldOn(t, at, app.Config{}), newWorldOn(t, at, app.Config{})}
	cursorSeed(t, servers[0])
	for _, query := range []string{
		"", "sort_order=asc", "search=a", "uncategorized=true", "tags=shared",
		"start_date=2020-01-01&direction=out", "deleted=include&search=e&search_mode=words",
	} {
		whole, _ := url.ParseQuery(query)
		whole.Set("limit", "500")
		want := cursorGet(t, servers[0], "/api/v1/transactions", whole).ids
		var got []string
		for n, cursor := 0, ""; n == 0 || cursor != ""; n++ {
			part := cursorWith(query, cursor)
			part.Set("limit", "17")
			p := cursorGet(t, servers[n%2], "/api/v1/transactions", part)
			if p.status != http.StatusOK {
				t.Fatalf("%s, page %d: %+v", query, n+1, p)
			}
			got, cursor = append(got, p.ids...), p.next
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 20 {
			t.Errorf("%q: %d rows; the walk across servers (-one +two):\n%s", query, len(want), diff)
		}
	}
	for round := range 20 {
		cursorRound(t, round, servers[round%2], servers[(round+1)%2])
	}
}

// cursorRound writes on one server and reads on the other.
func cursorRound(t *testing.T, round int, here, there *world) {
	t.Helper()
	get := func(path string) reply {
		return there.send(t, exchange{method: "GET", path: "/api/v1" + path, key: there.key})
	}
	put := func(method, path, body string) reply {
		t.Helper()
		r := here.send(t, exchange{method: method, path: "/api/v1" + path, key: here.key, body: body})
		if r.status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, r.status, r.body)
		}
		return r
	}
	shows := func(what string, r reply, want string) {
		t.Helper()
		if !strings.Contains(r.body, want) {
			t.Errorf("round %d: %s is not seen: %d %.300s", round, what, r.status, r.body)
		}
	}
	var page struct{ Transactions []map[string]any }
	_ = json.Unmarshal([]byte(get("/transactions?uncategorized=false&limit=1").body), &page)
	row := page.Transactions[0]
	transaction, account, category := fmt.Sprint("/transactions/", row["id"]), fmt.Sprint("/accounts/",
		row["account_id"]), fmt.Sprint("/categories/", row["category"])
	name, slug := fmt.Sprintf("round %d", round), fmt.Sprintf("round-%d", round)

	before := get(category).header.Get("ETag")
	put("PATCH", category, `{"name":"`+name+`"}`)
	shows("a renamed category", get(transaction), `"category_display_name":"`+name+`"`)
	shows("a renamed category", get("/categories/export"), "\t"+name+"\t")
	if r := there.send(t, exchange{
		method: "PATCH", path: "/api/v1" + category, key: there.key, body: `{"name":"late"}`,
		header: map[string]string{"If-Match": before},
	}); r.code() != string(errs.PreconditionFailed) {
		t.Errorf("round %d: a stale ETag passes at the other server: %d", round, r.status)
	}
	put("PATCH", account, `{"display_name":"`+name+`"}`)
	shows("a renamed account", get(transaction), `"account_name":"`+name+`"`)
	put("POST", transaction+"/tags", `{"tag_slug":"`+slug+`"}`)
	shows("a new tag", get("/transactions?tags="+slug), fmt.Sprint(row["id"]))
	put("DELETE", "/tags/"+slug, "")
	shows("a deleted tag", get("/transactions?tags="+slug), string(errs.InvalidReference))
	if r := get(transaction); strings.Contains(r.body, slug) {
		t.Errorf("round %d: the deleted tag is still on the transaction", round)
	}
	shows("the change", get("/changes?limit=1"), "Deleted tag "+slug)

	var key struct{ ID, Key string }
	_ = json.Unmarshal([]byte(put("POST", "/api-keys", `{"name":"`+name+`","scope":"read_only"}`).body), &key)
	me := exchange{method: "GET", path: "/api/v1/keys/me", key: key.Key}
	shows("a new key", there.send(t, me), `"name":"`+name+`"`)
	shows("tools for it", reply{body: fmt.Sprint(toolNames(t, there.agent(t, key.Key)))}, "query_transactions")
	put("DELETE", "/api-keys/"+key.ID, "")
	shows("a revoked key", there.send(t, me), string(errs.RevokedAPIKey))
}

package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/people/auth"
)

// A reviewRoom is a small household with a person and an agent in it.
type reviewRoom struct {
	*world
	t     *testing.T
	agent auth.NewKey
	rows  []string // the ids of its six transactions, oldest first
}

func newReviewRoom(t *testing.T) *reviewRoom {
	t.Helper()
	r := &reviewRoom{world: newWorld(t), t: t}
	r.fillBooks(t)
	r.agent = r.newKey(t, auth.CreateKey{Name: "helper", Scope: "full_access", ActorType: "agent"})
	var list struct {
		Transactions []struct {
			ID string `json:"id"`
		} `json:"transactions"`
	}
	r.do(r.key, "GET", "/transactions?fields=minimal&sort_order=asc", "", &list)
	for _, x := range list.Transactions {
		r.rows = append(r.rows, x.ID)
	}
	return r
}

// do sends a request that must succeed.
func (r *reviewRoom) do(key, method, path, body string, into any) {
	r.t.Helper()
	got := r.send(r.t, exchange{method: method, path: "/api/v1" + path, key: key, body: body})
	if got.status >= 300 {
		r.t.Fatalf("%s %s %s: %d %s", method, path, body, got.status, got.body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(got.body), into); err != nil {
			r.t.Fatalf("%s %s: %v in %s", method, path, err, got.body)
		}
	}
}

// filed returns the category of a transaction and its source, such as "income_salary by user".
func (r *reviewRoom) filed(row string) string {
	r.t.Helper()
	var x struct {
		Category *string `json:"category"`
		Source   *string `json:"category_source"`
	}
	r.do(r.key, "GET", "/transactions/"+row, "", &x)
	if x.Category == nil || x.Source == nil {
		return ""
	}
	return *x.Category + " by " + *x.Source
}

// waits tags all transactions for review, as the agent.
func (r *reviewRoom) waits() {
	r.t.Helper()
	r.do(r.agent.Secret, "POST", "/transactions/update",
		`{"transaction_ids": ["`+strings.Join(r.rows, `","`)+`"], "set": {"tags_to_add": ["needs-review"]}}`, nil)
}

// TestAgreeingHolds: closing a review keeps the category. If a person closes it, in any way, rules
// and agents cannot change the category from then on. An undo makes it changeable again.
func TestAgreeingHolds(t *testing.T) {
	t.Parallel()
	r := newReviewRoom(t)
	const off = `"tags_to_remove": ["needs-review"]`
	const provider, person = "home_rent by provider", "home_rent by user"
	rent := r.rows[3]
	for name, way := range map[string][3]string{
		"one by its tag":      {"DELETE", "/transactions/" + rent + "/tags/needs-review", ""},
		"by an operation":     {"POST", "/transactions/update", `{"operations": [{"transaction_id": "` + rent + `", ` + off + `}]}`},
		"by a choice":         {"POST", "/transactions/update", `{"transaction_ids": ["` + rent + `"], "set": {` + off + `}}`},
		"by a filter":         {"POST", "/transactions/bulk", `{"filter": {"tags": ["needs-review"], "search": "rent april"}, "set": {` + off + `}, "expect": 1}`},
		"all that is waiting": {"POST", "/transactions/bulk", `{"filter": {"tags": ["needs-review"]}, "set": {` + off + `}, "expect": 6}`},
	} {
		r.waits()
		if got := r.filed(rent); got != provider {
			t.Fatalf("%s: before: %s", name, got)
		}
		r.do(r.key, way[0], way[1], way[2], nil)
		if got := r.filed(rent); got != person {
			t.Errorf("%s: a person agreed, and it is %s", name, got)
		}
		var last struct {
			Changes []struct {
				ID string `json:"id"`
			} `json:"changes"`
		}
		r.do(r.key, "GET", "/changes?limit=1", "", &last)
		r.do(r.key, "POST", "/changes/"+last.Changes[0].ID+"/revert", "", nil)
		if got := r.filed(rent); got != provider {
			t.Errorf("%s: undone, and it is %s", name, got)
		}
	}
	r.do(r.agent.Secret, "POST", "/transactions/update", `{"transaction_ids": ["`+rent+`"], "set": {`+off+`}}`, nil)
	if got := r.filed(rent); got != provider {
		t.Errorf("an agent closed the review, and it is %s", got)
	}
}

// TestWhatIsAgreedToStays: rules and agents do not change a category that a person confirmed, and
// its explanation names the person.
func TestWhatIsAgreedToStays(t *testing.T) {
	t.Parallel()
	r := newReviewRoom(t)
	r.waits()
	refund, rent := r.rows[5], r.rows[3] // the refund has no category, so there is nothing to confirm
	r.do(r.key, "POST", "/transactions/bulk",
		`{"filter": {"tags": ["needs-review"]}, "set": {"tags_to_remove": ["needs-review"]}, "expect": 6}`, nil)
	if got := r.filed(refund); got != "" {
		t.Errorf("the refund had no category, and it is %s", got)
	}
	var made struct {
		Rules []struct {
			ID string `json:"id"`
		} `json:"rules"`
	}
	r.do(r.key, "POST", "/rules", `{"rules": [{"name": "All to hobbies", "conditions": {}, "trigger": "always",
		"actions": [{"type": "set_category", "category_slug": "entertainment_hobbies"}]}]}`, &made)
	r.work(t)
	r.do(r.key, "POST", "/rules/"+made.Rules[0].ID+"/apply?wait=30s", `{}`, nil)
	if got := r.filed(rent); got != "home_rent by user" {
		t.Errorf("a rule ran, and it is %s", got)
	}
	if got := r.filed(refund); got != "entertainment_hobbies by rule" {
		t.Errorf("a rule ran, and what nobody agreed to is %s", got)
	}
	var done struct{ Held, Changed int }
	r.do(r.agent.Secret, "POST", "/transactions/update",
		`{"transaction_ids": ["`+rent+`"], "set": {"category": "entertainment_hobbies"}}`, &done)
	if done.Held != 1 || done.Changed != 0 {
		t.Errorf("an agent filed it: %+v", done)
	}
	var why struct {
		Fields []struct {
			Field, Source string
			ActorName     string `json:"actor_name"`
			Held          bool
		}
	}
	r.do(r.key, "GET", "/transactions/"+rent+"/explain", "", &why)
	if f := why.Fields[0]; f.Field != "category" || !f.Held || f.Source != "user" || f.ActorName != "me" {
		t.Errorf("explained: %+v", f)
	}
	var past struct {
		Annotations []struct{ Kind, Action string }
	}
	r.do(r.key, "GET", "/transactions/"+rent+"/annotations?kind=category", "", &past)
	if n := len(past.Annotations); n != 1 || past.Annotations[0].Action != "agreed" {
		t.Errorf("timeline: %+v", past.Annotations)
	}
}

// TestReviewsOfManyPayeesAreOneChange: closing the reviews of several payees is one change, which
// one undo reverts. If one of them no longer has the number of transactions that the caller saw,
// nothing is closed.
func TestReviewsOfManyPayeesAreOneChange(t *testing.T) {
	t.Parallel()
	r := newReviewRoom(t)
	r.waits()
	type listed struct {
		Groups []struct {
			Payee string `json:"payee"`
			Count int    `json:"count"`
		} `json:"groups"`
		Total int `json:"total"`
	}
	var list listed
	r.do(r.key, "GET", "/review/groups", "", &list)
	if len(list.Groups) < 4 {
		t.Fatalf("too few payees wait: %+v", list)
	}
	type group struct {
		Payee    string `json:"payee"`
		Category string `json:"category,omitempty"`
		Expect   int    `json:"expect"`
	}
	var all []group
	for i, g := range list.Groups {
		all = append(all, group{Payee: g.Payee, Expect: g.Count})
		if i == 0 {
			all[i].Category = "entertainment_hobbies"
		}
	}
	body := func() string {
		b, err := json.Marshal(map[string]any{"groups": all})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	all[1].Expect++
	refused := r.send(t, exchange{method: "POST", path: "/api/v1/review/close", key: r.key, body: body()})
	if r.do(r.key, "GET", "/review/groups", "", &list); refused.code() != "CONFLICT" || list.Total != len(r.rows) {
		t.Errorf("refused with %d %s, and %d wait", refused.status, refused.body, list.Total)
	}
	all[1].Expect--
	var done struct {
		Matched  int    `json:"matched"`
		ChangeID string `json:"change_id"`
	}
	r.do(r.key, "POST", "/review/close", body(), &done)
	if r.do(r.key, "GET", "/review/groups", "", &list); done.Matched != len(r.rows) || list.Total != 0 {
		t.Errorf("%d closed, %d wait", done.Matched, list.Total)
	}
	if got := r.filed(r.rows[3]); got != "home_rent by user" {
		t.Errorf("what was agreed to is %s", got)
	}
	r.do(r.key, "POST", "/changes/"+done.ChangeID+"/revert", "", nil)
	if r.do(r.key, "GET", "/review/groups", "", &list); list.Total != len(r.rows) {
		t.Errorf("undone, %d wait", list.Total)
	}
	if got := r.filed(r.rows[3]); got != "home_rent by provider" {
		t.Errorf("undone, it is %s", got)
	}
}

// TestUndoingAgentsKeepsWhatIsReviewed: a person who undoes an agent's work keeps what people have
// reviewed since, unless the request says otherwise. This also holds for a later undo when only
// reviewed entries are left.
func TestUndoingAgentsKeepsWhatIsReviewed(t *testing.T) {
	t.Parallel()
	r := newReviewRoom(t)
	since := `"since": "2020-01-01"`
	rent, coffee := r.rows[3], r.rows[2]
	file := func(to string) {
		t.Helper()
		r.do(r.agent.Secret, "POST", "/transactions/update", `{"transaction_ids": ["`+rent+`", "`+coffee+`"],
			"set": {"category": "`+to+`", "tags_to_add": ["needs-review"]}}`, nil)
	}
	file("entertainment_hobbies")
	r.do(r.key, "DELETE", "/transactions/"+rent+"/tags/needs-review", "", nil)
	type undone struct {
		Reverted     int            `json:"reverted"`
		Transactions int            `json:"transactions"`
		ByReason     map[string]int `json:"skipped_by_reason"`
	}
	undo := func(body string) undone {
		t.Helper()
		var out undone
		r.do(r.key, "POST", "/changes/revert", body, &out)
		return out
	}
	whose := `"actor_id": "` + r.agent.ID.String() + `"`
	if got := undo(`{` + whose + `, ` + since + `, "dry_run": true}`); got.ByReason["reviewed_since"] != 1 ||
		got.ByReason["changed_since"] != 1 || got.Reverted != 2 || got.Transactions != 1 {
		t.Errorf("tried: %+v", got)
	}
	if got := undo(`{` + whose + `, ` + since + `, "keep": "none", "dry_run": true}`); got.Reverted != 3 ||
		got.Transactions != 2 {
		t.Errorf("tried, keeping nothing: %+v", got)
	}
	undo(`{` + whose + `, ` + since + `}`)
	if a, b := r.filed(rent), r.filed(coffee); a != "entertainment_hobbies by user" || b != "food_and_drink_cafes by provider" {
		t.Errorf("undone: %s, %s", a, b)
	}
	if got := undo(`{` + whose + `, ` + since + `, "keep": "none"}`); got.Reverted != 1 || got.Transactions != 1 {
		t.Errorf("undone once more, keeping nothing: %+v", got)
	}
	if a, b := r.filed(rent), r.filed(coffee); a != "home_rent by provider" || b != "food_and_drink_cafes by provider" {
		t.Errorf("undone once more: %s, %s", a, b)
	}
}

// TestActorsAreNamedInEveryForm: an actor can be named by a UUID, a short id, or a name that only
// one actor has. Anything else is an error, not an empty list.
func TestActorsAreNamedInEveryForm(t *testing.T) {
	t.Parallel()
	r := newReviewRoom(t)
	r.waits()
	r.newKey(t, auth.CreateKey{Name: "idle", Scope: "read_only", ActorType: "agent"})
	for range 2 {
		r.newKey(t, auth.CreateKey{Name: "twin", Scope: "full_access", ActorType: "agent"})
	}
	for ref, want := range map[string]int{
		r.agent.ID.String(): 1, r.agent.ID.Short(): 1, "helper": 1, "Helper": 1, "idle": 0,
		"twin": -1, "zzzzzzzz": -1, "nobody": -1, "00000000-0000-7000-8000-000000000000": -1,
	} {
		got := r.send(t, exchange{method: "GET", path: "/api/v1/changes?actor_id=" + ref, key: r.key})
		if want < 0 {
			if got.status != http.StatusBadRequest || got.code() != "INVALID_REFERENCE" {
				t.Errorf("changes of %s: %d %s", ref, got.status, got.body)
			}
		} else if n := strings.Count(got.body, `"reverted_by"`); got.status != http.StatusOK || n != want {
			t.Errorf("changes of %s: %d, %d of %d: %s", ref, got.status, n, want, got.body)
		}
		undo := r.send(t, exchange{
			method: "POST", path: "/api/v1/changes/revert", key: r.key,
			body: `{"actor_id": "` + ref + `", "since": "2020-01-01", "dry_run": true}`,
		})
		if (undo.code() == "INVALID_REFERENCE") != (want < 0) {
			t.Errorf("undo of %s: %d %s", ref, undo.status, undo.body)
		}
	}
}

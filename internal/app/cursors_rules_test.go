package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/errs"
)

// systemRule is the short id of the rule that comes with the service.
const systemRule = "00000049"

// cursorRules creates rules of several priorities, and makes the service's own rule match in the
// same number of syncs.
func cursorRules(t *testing.T, w *world, n int) (ids []string) {
	t.Helper()
	for i := range n {
		ids = append(ids, cursorRule(t, w, fmt.Sprint("rule ", i), i%3))
	}
	if _, err := w.DB.Exec(t.Context(), `
		insert into rule_hit (rule_id, run_id, hits, hit_at)
		select r.id, gen_random_uuid(), n,
			timestamptz '2026-01-01 00:00:00.000001Z' + n / 2 * interval '1 microsecond'
			from rule r, generate_series(1, $2::int) n where r.short_id = $1`, systemRule, n); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		credential{key: w.key}.send(t, w, "POST", "/api/v1/calendar-links", "{}")
	}
	// Also add some notifications, which need no file of their own.
	if _, err := w.DB.Exec(t.Context(), `
		insert into notification (id, short_id, type, subject, data)
		select gen_random_uuid(), 'told000' || n, 'sync.failed', n, '{}' from generate_series(1, 3) n`); err != nil {
		t.Fatal(err)
	}
	return ids
}

func cursorRule(t *testing.T, w *world, name string, priority int) string {
	t.Helper()
	body := fmt.Sprintf(
		`{"rules":[{"name":%q,"priority":%d,"category_slug":"home","conditions":{"field":"name","op":"eq","value":"nothing"}}]}`, name, priority)
	r := w.send(t, exchange{method: "POST", path: "/api/v1/rules", key: w.key, body: body})
	var made struct{ Rules []struct{ ID string } }
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || len(made.Rules) != 1 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return made.Rules[0].ID
}

// TestCursorsOfRules reads rules and hits page by page while others create and delete rules. A rule
// that exists the whole time appears exactly once, in order. A cursor at a deleted rule is refused.
func TestCursorsOfRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stay := cursorRules(t, w, 30)
	for _, order := range []string{"asc", "desc"} {
		var met []string
		var extra []string
		for n, cursor := 0, ""; n == 0 || cursor != ""; n++ {
			p := cursorGet(t, w, "/api/v1/rules", url.Values{"limit": {"4"}, "cursor": {cursor}, "sort_order": {order}})
			if n == 0 {
				p = cursorGet(t, w, "/api/v1/rules", url.Values{"limit": {"4"}, "sort_order": {order}})
			}
			if p.status != http.StatusOK {
				t.Fatalf("page %d: %+v", n+1, p)
			}
			met, cursor = append(met, p.ids...), p.next
			extra = append(extra, cursorRule(t, w, fmt.Sprint("extra ", n), n%3))
			if len(extra) > 3 && !slices.ContainsFunc(p.ids,
				func(s string) bool { return strings.HasPrefix(s, extra[0]) }) {
				w.send(t, exchange{method: "DELETE", path: "/api/v1/rules/" + extra[0], key: w.key})
				extra = extra[1:]
			}
		}
		for _, u := range stay {
			if n := len(slices.DeleteFunc(slices.Clone(met),
				func(s string) bool { return !strings.HasPrefix(s, u) })); n != 1 {
				t.Errorf("%s: a rule was met %d times", order, n)
			}
		}
		for _, u := range extra {
			w.send(t, exchange{method: "DELETE", path: "/api/v1/rules/" + u, key: w.key})
		}
	}
	first := cursorGet(t, w, "/api/v1/rules", url.Values{"limit": {"2"}})
	last, _, _ := strings.Cut(first.ids[1], "<")
	w.send(t, exchange{method: "DELETE", path: "/api/v1/rules/" + last[:36], key: w.key})
	if p := cursorGet(t, w, "/api/v1/rules", url.Values{"cursor": {first.next}}); p.status != http.StatusBadRequest ||
		p.code != string(errs.InvalidCursor) {
		t.Errorf("the cursor of a deleted rule: %d %s", p.status, p.code)
	}
	var hits []string
	for n, cursor := 0, ""; n == 0 || cursor != ""; n++ {
		query := url.Values{"limit": {"7"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		p := cursorGet(t, w, "/api/v1/rules/"+systemRule+"/history", query)
		hits, cursor = append(hits, p.ids...), p.next
	}
	if slices.Sort(hits); len(hits) != 30 || len(slices.Compact(hits)) != 30 {
		t.Errorf("%d hits of 30", len(hits))
	}
	other := cursorFirst(t, w, "/api/v1/rules/"+systemRule+"/history", url.Values{})
	if p := cursorGet(t, w, "/api/v1/rules/"+stay[4]+"/history",
		url.Values{"cursor": {other}}); p.code != string(errs.InvalidCursor) {
		t.Errorf("the history of another rule: %d %s", p.status, p.code)
	}
}

// cursorStart returns a start date that the list accepts and that differs from its default.
// Findings do not go back far.
func cursorStart(list, day string) string {
	if list == "finding.list" {
		return time.Now().AddDate(0, 0, -100).Format(time.DateOnly)
	}
	return day
}

func cursorWith(query, cursor string) url.Values {
	q, _ := url.ParseQuery(query)
	q.Set("cursor", cursor)
	return q
}

package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/seal"
)

// TestNamesAreNotActions checks that names which read like sentences change neither the action nor
// the subjects of a change. The names are those of payees, tags and rules. They are tried over
// REST, as a tool and as a command, and also where the program derives actions from stored entries.
func TestNamesAreNotActions(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	b := newFormBook(t, 3)
	if _, err := b.DB.Exec(t.Context(), `update descriptor set name = 'REVERTED: x', merchant_name = '', payee = 1`); err != nil {
		t.Fatal(err)
	}
	const sentence, rule = "Tagged 3 transactions vacation", "Deleted rule Records Ltd"
	row := b.rows[0].String()
	b.do(t, "tag.create", map[string]any{"slug": "trip", "name": sentence})
	b.do(t, "transaction.tag", map[string]any{"transaction_id": row, "tag_slug": "trip"})
	b.do(t, "rule.create", map[string]any{"rules": []any{map[string]any{
		"name": rule, "conditions": map[string]any{"field": "name", "op": "contains", "value": "zzz"},
		"actions": []any{map[string]any{"type": "add_tag", "tag_slug": "trip"}},
	}}})
	b.do(t, "transaction.update", map[string]any{"transaction_id": row, "category": "food_and_drink_groceries"})
	type said struct {
		ID     string `json:"id"`
		Action string `json:"action"`
		Of     string `json:"of_action"`
		Count  int    `json:"count"`
		Payee  string `json:"payee"`
		Subj   struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"subject"`
		With map[string]struct {
			Name string `json:"name"`
			Slug string `json:"slug"`
		} `json:"with"`
	}
	newest := b.do(t, "change.list", map[string]any{"limit": json.Number("1")})["changes"].([]any)[0].(map[string]any)
	b.do(t, "change.revert", map[string]any{"change_id": newest["id"]})
	check := func(where string, text []byte) {
		t.Helper()
		var page struct {
			Changes []said `json:"changes"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			t.Fatalf("%s: %v: %.300s", where, err, text)
		}
		got := ""
		for i, c := range page.Changes {
			if i < 5 {
				got += fmt.Sprintf("%s/%s %d %s %q %q %q\n", c.Action, c.Of, c.Count, c.Subj.Kind, c.Subj.Name, c.Payee,
					c.With["tag"].Name)
			}
		}
		want := `reverted/categorized 1 transaction "REVERTED: x" "REVERTED: x" ""
categorized/ 1 transaction "REVERTED: x" "REVERTED: x" ""
created/ 1 rule "Deleted rule Records Ltd" "" ""
tagged/ 1 transaction "REVERTED: x" "REVERTED: x" "Tagged 3 transactions vacation"
created/ 1 tag "Tagged 3 transactions vacation" "" ""
`
		if got != want {
			t.Errorf("%s:\n%swant\n%s", where, got, want)
		}
	}
	here := instance{config: app.Config{
		DatabaseURL: b.Config.DatabaseURL, DatabaseMaxConns: 4, EncryptionKey: seal.NewSecret(testRing),
	}}
	all := func(when string) {
		t.Helper()
		check(when+" over REST", []byte(b.serve(t, exchange{method: "GET", path: "/api/v1/changes"}).body))
		check(when+" as a tool", []byte(b.callTool(t, b.toolNamed(t, "list_changes"), map[string]any{}).block))
		out, fail, code := here.run(t.Context(), 0, "change", "list", "--json")
		if code != 0 {
			t.Fatalf("coffer change list: exit %d, %s", code, fail)
		}
		check(when+" as a command", []byte(out))
	}
	all("stored")
	if _, err := b.DB.Exec(t.Context(), `update change set action = null, of_action = null, subject_kind = null,
		subject_id = null, subject_count = null, refs = null`); err != nil {
		t.Fatal(err)
	}
	check("derived over REST", []byte(b.serve(t, exchange{method: "GET", path: "/api/v1/changes"}).body))
	if n, err := b.Journal.FillFacts(t.Context()); err != nil || n == 0 {
		t.Fatalf("filled %d, %v", n, err)
	}
	all("filled")
	list := b.do(t, "change.list", map[string]any{"action": "tagged"})["changes"].([]any)
	if len(list) == 0 {
		t.Error("no change is found by its action")
	}
	for _, c := range list {
		if c.(map[string]any)["action"] != "tagged" {
			t.Errorf("the filter finds %v", c)
		}
	}
}

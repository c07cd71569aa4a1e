package app_test

import (
	"strings"
	"testing"
)

// TestToolsPrintNoUUID: in a tool's result every id is short. This includes ids in conditions, in
// actions, in the effects of a rule, and in a dry run.
func TestToolsPrintNoUUID(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 3)
	w := &b.world
	w.work(t)
	subject, other := b.rows[0].String(), b.do(t, "counterparty.create",
		map[string]any{"name": "Somebody"})["id"].(string)
	member := b.do(t, "user.create", map[string]any{"name": "Member"})["id"].(string)
	leaf := func(field string, value any) any {
		return map[string]any{"field": field, "op": map[bool]string{
			true:  "in",
			false: "eq",
		}[strings.HasPrefix(field, "user")], "value": value}
	}
	amount := map[string]any{"field": "amount", "op": "lt", "value": 9999999999.99}
	made := b.do(t, "rule.create", map[string]any{"rules": []any{map[string]any{
		"name": "By ids",
		"conditions": map[string]any{"and": []any{
			leaf("account_id", b.account.String()),
			map[string]any{"not": leaf("user_id", []any{member})},
			amount,
		}},
		"actions": []any{
			map[string]any{"type": "assign_counterparty", "counterparty_id": other},
			map[string]any{"type": "add_tag", "tag_slug": "by-ids"},
		},
	}}})
	rule := made["rules"].([]any)[0].(map[string]any)["id"].(string)
	for _, call := range []struct {
		tool, has string
		args      map[string]any
	}{
		{"list_transaction_rules", `"value":"` + b.account.Short(), map[string]any{"search": "ids"}},
		{"query_transaction_rules", `9999999999.99`, map[string]any{"fields": "all"}},
		{"explain_transaction", `"counterparty"`, map[string]any{"transaction_id": subject}},
		{"find_matching_rules", `By ids`, map[string]any{"transaction_id": subject}},
		{"apply_rules", `"after":"`, map[string]any{"rule_ids": []any{rule}, "dry_run": true}},
		{"update_transaction_rule", `By ids`, map[string]any{"id": rule, "priority": 11}},
		{"list_annotations", `"annotations"`, map[string]any{"transaction_id": subject}},
	} {
		o := b.toolNamed(t, call.tool)
		if o.IsLong() {
			call.args["wait_seconds"] = 20
		}
		a := b.callTool(t, o, call.args)
		if a.fault.Code != "" || !strings.Contains(a.block, call.has) || formUUID.MatchString(a.block) {
			t.Errorf("%s: %s", call.tool, a.block)
		}
	}
}

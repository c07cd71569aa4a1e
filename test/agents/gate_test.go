package agents_test

import (
	"context"
	"testing"

	"coffer/internal/agents/run"
	"coffer/internal/agents/workflow"
	"coffer/internal/app"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// TestGateOfEveryTool: the gate has a rule for every tool. It plans calls of a writing tool that is
// not listed here. So a new tool's calls are planned until somebody decides otherwise.
func TestGateOfEveryTool(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"trigger_sync": "refused", "revert_change": "refused",
		"add_transaction": "refused", "split_transaction": "refused", // a plan cannot hold new rows
		"import_statement":    "refused",
		"update_transactions": "done", "add_transaction_tag": "done", "remove_transaction_tag": "done",
		"add_transaction_comment": "done", "assign_counterparty": "done", "create_tag": "done",
		"submit_report": "done",
	}
	seen := 0
	for _, o := range app.Menu() {
		if o.Tool == "" {
			continue
		}
		expect, listed := want[o.Tool]
		switch {
		case !o.Writes:
			expect = "done"
		case listed:
			seen++
		default:
			expect = "planned"
		}
		if got := run.Route(o, map[string]any{}, workflow.Definition{}); got != expect {
			t.Errorf("%s is %s, want %s", o.Tool, got, expect)
		}
		if expect == "done" && o.Writes && o.Tool != "submit_report" {
			expect = "planned"
		}
		if got := run.Route(o, map[string]any{}, workflow.Definition{DryRun: true}); got != expect {
			t.Errorf("%s in a dry run is %s, want %s", o.Tool, got, expect)
		}
		if o.Destructive && run.Route(o, map[string]any{}, workflow.Definition{MakesRules: true}) != "planned" {
			t.Errorf("%s destroys and is not planned", o.Tool)
		}
	}
	if seen != len(want) {
		t.Errorf("%d tools of the table exist, %d are listed", seen, len(want))
	}
	fresh := op.Writing(op.Spec{Tool: "transmogrify", Summary: "Does something new."},
		func(context.Context, pg.Tx, op.None) (op.None, error) { return op.None{}, nil })
	if got := run.Route(fresh, nil, workflow.Definition{MakesRules: true}); got != "planned" {
		t.Errorf("a tool that nobody knows is %s", got)
	}
}

// TestGateOfArguments: the gate plans a call if its arguments override people, reach stored
// transactions or contain an address, wherever in the arguments they are.
func TestGateOfArguments(t *testing.T) {
	t.Parallel()
	tools := map[string]*op.Op{}
	for _, o := range app.Menu() {
		tools[o.Tool] = o
	}
	rule := func(more map[string]any) map[string]any { return map[string]any{"rules": []any{more}} }
	for _, c := range []struct {
		tool  string
		args  map[string]any
		rules bool
		want  string
	}{
		{"update_transactions", map[string]any{"force": true}, false, "planned"},
		{"update_transactions", map[string]any{"force": false}, false, "done"},
		{"update_transactions", map[string]any{"filter": map[string]any{}}, false, "planned"},
		{"update_transactions", map[string]any{"filter": map[string]any{}, "dry_run": true}, false, "done"},
		{"update_transactions", map[string]any{"force": true, "dry_run": "true"}, false, "planned"},
		{"assign_counterparty", map[string]any{"name": "x", "force": true}, false, "planned"},
		{"assign_counterparty", map[string]any{"name": "x", "website_url": "http://x"}, false, "planned"},
		{"update_counterparty", map[string]any{"name": "x"}, true, "planned"},
		{"create_transaction_rule", rule(nil), false, "planned"},
		{"create_transaction_rule", rule(nil), true, "done"},
		{"create_transaction_rule", rule(map[string]any{"apply_retroactively": true}), true, "planned"},
		{"apply_rules", nil, true, "planned"},
		{"apply_rules", map[string]any{"dry_run": true}, false, "done"},
		{"revert_change", map[string]any{"dry_run": true}, true, "refused"},
	} {
		d := workflow.Definition{MakesRules: c.rules}
		if got := run.Route(tools[c.tool], c.args, d); got != c.want {
			t.Errorf("%s %v is %s, want %s", c.tool, c.args, got, c.want)
		}
	}
}

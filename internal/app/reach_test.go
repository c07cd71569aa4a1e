package app_test

import (
	"slices"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/op"
)

// TestReachOfTools fixes the reach of every tool, so that nobody widens it by accident. The reach
// decides which calls a run makes without a person. Calls of all other writing tools become part of
// a plan.
func TestReachOfTools(t *testing.T) {
	t.Parallel()
	want := map[string]op.Reach{
		"trigger_sync": op.ReachNever, "revert_change": op.ReachNever, "split_transaction": op.ReachNever,
		"add_transaction": op.ReachNever, "import_statement": op.ReachNever, "update_transactions": op.ReachNamed, "add_transaction_tag": op.ReachNamed,
		"remove_transaction_tag": op.ReachNamed, "add_transaction_comment": op.ReachNamed,
		"assign_counterparty": op.ReachNamed, "create_tag": op.ReachTag, "create_transaction_rule": op.ReachRules,
		"update_transaction_rule": op.ReachRules, "submit_report": op.ReachReport,
	}
	for _, o := range app.Menu() {
		if o.Runs.Reach != want[o.Tool] {
			t.Errorf("%s %s: reach %d, want %d", o.Name, o.Tool, o.Runs.Reach, want[o.Tool])
		}
		if (o.Runs.Instead != "") != (o.Runs.Reach == op.ReachNever) || o.Runs.Reach != op.ReachBeyond && !o.Writes {
			t.Errorf("%s: %+v", o.Tool, o.Runs)
		}
		if plans := o.Tool == "update_transactions"; plans != slices.Equal(o.Runs.Plans, []string{"filter"}) ||
			!plans && len(o.Runs.Plans) > 0 {
			t.Errorf("%s: plans with %q", o.Tool, o.Runs.Plans)
		}
		delete(want, o.Tool)
	}
	if len(want) > 0 {
		t.Errorf("there are no tools %v", want)
	}
}

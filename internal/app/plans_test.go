package app_test

import (
	"context"
	"encoding/json"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// plannedRuns are the ids of the runs that fillPlans creates.
var plannedRuns = []id.ID{
	id.Must("01980000-0000-7000-8000-000000000001"), id.Must("01980000-0000-7000-8000-000000000002"),
}

// fillPlans adds two runs of an agent whose plans wait for a person. The plans move the coffee
// transactions to another category and add a tag that does not exist yet.
func (w *world) fillPlans(t testing.TB) {
	t.Helper()
	ctx := t.Context()
	store := &workflow.Store{Journal: w.Journal, Reports: w.Reports}
	for _, run := range plannedRuns {
		d := workflow.Definition{Slug: "review-queue", Name: "Auto-categorize", Scope: "full_access", DryRun: true}
		printed, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		err = w.DB.InTx(ctx, func(tx pg.Tx) error {
			_, err := pg.Exec(ctx, tx, `insert into workflow_run (id, short_id, workflow_slug, trigger, mode, status,
				definition, definition_hash, asked_type, asked_name, finished_at) values ($1, $2, $3, 'manual', 'planning',
				'succeeded', $4, 'hash', 'user', 'Ada', now())`, run, run.Short(), d.Slug, string(printed))
			if err != nil {
				return err
			}
			coffees, err := pg.Values[string](ctx, tx, `select t.short_id from transaction t join descriptor d
				on d.id = t.descriptor_id where d.name like 'STARBUCKS%' order by t.date`)
			if err != nil {
				return err
			}
			operations := []any{}
			for _, u := range coffees {
				operations = append(operations, map[string]any{
					"transaction_id": u, "category": "food_and_drink_groceries", "tags_to_add": []any{"odd"},
					"note": "as last month",
				})
			}
			made, err := w.Journal.RehearseIn(ctx, tx, journal.Rehearsal{}, func(ctx context.Context, tx pg.Tx) error {
				_, _, err := w.Runner.CallIn(ctx, tx, opNamed(t, w.Ops(), "transaction.change"), op.Call{
					Actor: workflow.Live{ID: run}.Actor(d), Surface: op.Tool, Args: map[string]any{"operations": operations},
				})
				return err
			})
			if err != nil {
				return err
			}
			return store.AddPlan(ctx, tx, run, "update_transactions", made, []workflow.PlannedCall{{
				Tool: "apply_rules", Arguments: map[string]any{}, Found: new(int64(4)),
			}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

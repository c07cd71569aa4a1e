package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// notTried are the ops whose dry_run does not count writes, with the reason.
var notTried = map[string]string{
	"workflow.create": "it says what the runs do",
	"workflow.update": "it says what the runs do",
	"user.erase":      "erasing is not in the journal, and only people do it",
}

// TestDryRunsCostNothing: a dry run writes nothing, so it costs an agent nothing, and the limit of
// writes never refuses it. It reports how many writes the call would need and how many are left.
func TestDryRunsCostNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	w.fillLinks(t)
	w.work(t)
	value := func(sql string, args ...any) string {
		t.Helper()
		s, err := pg.Value[string](t.Context(), w.DB, sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rows, err := pg.Values[string](t.Context(), w.DB, `select short_id from transaction where deleted_at is null
		and not pending order by date limit 5`)
	if err != nil || len(rows) < 5 {
		t.Fatal(rows, err)
	}
	ids := make([]any, len(rows))
	operations := make([]any, len(rows))
	for i, r := range rows {
		ids[i], operations[i] = r, map[string]any{"transaction_id": r, "tags_to_add": []any{"later"}}
	}
	other := w.thrifty(t, "other", 1_000)
	printed, _ := json.Marshal(rows)
	other.does(t, 6, "POST", "/transactions/bulk",
		fmt.Sprintf(`{"transaction_ids":%s,"set":{"tags_to_add":["trip"]}}`, printed))
	change := w.newestChange(t)
	run := id.New()
	if _, err := w.DB.Exec(t.Context(), `insert into workflow_run (id, short_id, workflow_slug, trigger, status,
		definition, definition_hash, asked_type, asked_name, finished_at)
		values ($1, $2, 'w', 'manual', 'succeeded', '{"name": "W"}', '', 'user', 'Ada', now())`, run, run.Short()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(t.Context(), `update change set actor_id = $1 where id = $2`, run, change); err != nil {
		t.Fatal(err)
	}
	made := w.send(t, exchange{method: "POST", path: "/api/v1/rules", key: w.key, body: `{"rules":[{"name":"All",` +
		`"conditions":{},"actions":[{"type":"add_tag","tag_slug":"trip"}]}]}`})
	if made.status >= 300 {
		t.Fatal(made.body)
	}
	rule := value(`select short_id from rule where name = 'All'`)
	from := value(`select short_id from account where name = 'Card of Bo'`)
	into := value(`select short_id from account where name = 'Card'`)
	many := map[string]any{"transaction_ids": ids, "set": map[string]any{"tags_to_add": []any{"later"}}}
	filter := map[string]any{"filter": map[string]any{"tags": []any{"trip"}}, "set": many["set"]}
	one, several := map[string]any{"change_id": change}, map[string]any{"change_ids": []any{change}}
	tsv := map[string]any{"tsv": "slug\tdisplay_name\nsweets\tSweets\nsours\tSours\n"}
	type play struct {
		needs int64 // 0 means any number above 0
		args  map[string]any
	}
	// Costs include the five transactions, and the tag that the call creates or deletes.
	plays := map[string][]play{
		"transaction.bulk": {{6, many}, {6, filter}},
		"transaction.change": {
			{6, map[string]any{"operations": operations}}, {6, many}, {6, filter},
		},
		"change.revert":       {{6, one}},
		"change.undo":         {{6, one}, {6, several}},
		"category.import":     {{2, tsv}},
		"rule.apply":          {{0, map[string]any{}}},
		"apply_rules":         {{0, map[string]any{}}},
		"rule.applyone":       {{0, map[string]any{"id": rule}}},
		"account.remove":      {{0, map[string]any{"id": from}}},
		"account.merge":       {{0, map[string]any{"id": from, "into": into}}},
		"workflow-run.revert": {{6, map[string]any{"id": run.String()}}},
	}
	poor := w.newKey(t, auth.CreateKey{
		Name: "poor", Scope: "full_access", ActorType: op.Agent, MaxWritesPerDay: new(1),
	})
	for _, o := range w.Ops() {
		if o.In.Prop("dry_run") == nil || notTried[o.Name] != "" {
			continue
		}
		if plays[o.ID()] == nil {
			t.Errorf("%s has dry_run and is not tried", o.ID())
		}
		for _, p := range plays[o.ID()] {
			for _, key := range []string{poor.Secret, w.key} {
				needed, left, said := w.tries(t, o, key, p.args)
				switch {
				case key == w.key && said:
					t.Errorf("%s says what a person's key has left", o.ID())
				case key == w.key:
				case !said || left != 1 || needed < 2 || p.needs != 0 && needed != p.needs:
					t.Errorf("%s %v: needs %d of %d writes, not %d of 1 (said: %t)", o.ID(), p.args, needed, left, p.needs,
						said)
				}
			}
		}
	}
	if n := value(`select count(*)::text from write_budget where key_id = $1 and used > 0`, poor.ID); n != "0" {
		t.Error("dry runs were counted")
	}
}

// tries makes a dry run and returns what it reports about writes.
func (w *world) tries(t *testing.T, o *op.Op, key string, args map[string]any) (needed, left int64, said bool) {
	t.Helper()
	actor, err := w.Auth.Key(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	surface := op.REST
	if o.Method == "" {
		surface = op.Tool
	}
	given := map[string]any{"dry_run": true}
	maps.Copy(given, args)
	if o.IsLong() && surface == op.REST { // a tool waits anyway
		given["wait"] = "30s"
	}
	a, err := w.Runner.Call(t.Context(), o, op.Call{Actor: actor, Surface: surface, Args: given, RequestID: "test"})
	if err != nil {
		t.Errorf("%s %v: %v", o.ID(), args, err)
		return 0, 0, false
	}
	if a.Change != nil {
		t.Errorf("%s returns the change of a dry run", o.ID())
	}
	type answer struct {
		DryRun bool `json:"dry_run"`
		Writes *struct{ Needed, Left int64 }
	}
	var out struct {
		answer
		Result *answer
	}
	if err := json.Unmarshal(a.Body, &out); err != nil {
		t.Fatal(err)
	}
	if out.Result != nil {
		out.answer = *out.Result
	}
	if !out.DryRun {
		t.Errorf("%s was no dry run: %s", o.ID(), a.Body)
	}
	if out.Writes == nil {
		return 0, 0, false
	}
	return out.Writes.Needed, out.Writes.Left, true
}

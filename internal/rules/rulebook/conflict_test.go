package rulebook_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

// TestConflicts compares the conflicts with the engine's results for each transaction.
func TestConflicts(t *testing.T) {
	t.Parallel()
	w := lawWorld(t, 51, 200)
	sum := map[string]int64{}
	for n := range uint64(6) {
		w.exec(`update rule set deleted_at = now() where not is_system and deleted_at is null`)
		w.exec(newVersion)
		specs := w.genSpecs(seeded(300+n), 8, false)
		ids := w.create(specs...)
		rules := make([]engine.Rule, len(ids))
		for i, u := range ids {
			r := w.get(u)
			rules[i] = engine.Rule{
				ID: u, Priority: r.Priority, CreatedAt: r.CreatedAt.Time(), Trigger: engine.Trigger(r.Trigger),
				Conditions: w.tree(specs[i].Conditions), Actions: specs[i].Actions,
			}
		}
		set := engine.Compile(rules)
		matched, both := map[string]int64{}, map[[2]string]int64{}
		for _, row := range w.rows {
			if row.deleted {
				continue
			}
			d := row.draft
			d.Tags = slices.Clone(d.Tags)
			hits := set.Run(&d, engine.Pass{Event: engine.Retroactive}).Hits
			for _, a := range hits {
				matched[set.Rules()[a].ID.String()]++
				for _, b := range hits {
					both[[2]string{set.Rules()[a].ID.String(), set.Rules()[b].ID.String()}]++
				}
			}
		}
		for _, u := range ids {
			got, err := w.rules.Conflicts(w.ctx, w.db, rulebook.Ref{ID: u.String()})
			if err != nil {
				t.Fatal(err)
			}
			want, have := map[string]int64{}, map[string]int64{}
			for pair, n := range both {
				if pair[0] == u.String() && pair[1] != u.String() {
					want[pair[1]] = n
				}
			}
			place := func(s string) int {
				return slices.IndexFunc(set.Rules(), func(r engine.Rule) bool { return r.ID.String() == s })
			}
			for _, c := range got.Conflicts {
				have[c.RuleID.String()] = c.Matched
				sum[c.Prevails] += c.Matched
				later := place(c.RuleID.String()) > place(u.String())
				if (c.Prevails == "none") != (c.Contested == 0) || c.Prevails == "other" && !later ||
					c.Prevails == "this" && later || len(c.Sample) == 0 || c.Contested > c.Matched ||
					(len(c.Fields) == 0) != (c.Contested == 0) {
					t.Errorf("%+v, later %v", c, later)
				}
			}
			if d := cmp.Diff(want, have); d != "" || got.Matched != matched[u.String()] || got.Total != len(have) {
				t.Errorf("%d matched, want %d: %s", got.Matched, matched[u.String()], d)
			}
		}
	}
	t.Log(sum)
	if len(sum) != 3 {
		t.Error("too few conflicts for a test")
	}
}

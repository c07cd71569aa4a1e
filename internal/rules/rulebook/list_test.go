package rulebook_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

// names returns the names of the rules that a query finds, in order, and their number.
func (w *world) names(in rulebook.QueryRules) ([]string, int64) {
	w.Helper()
	if in.Limit == 0 {
		in.Limit = 50
	}
	if in.SearchMode == "" {
		in.SearchMode = "contains"
	}
	page, err := w.rules.Find(w.ctx, w.db, in)
	if err != nil {
		w.Fatal(err)
	}
	out := []string{}
	for _, r := range page.Rules {
		out = append(out, r.Name)
	}
	return out, page.Total
}

// filed returns a rule that sets the category home on every transaction.
func filed(name string) ruleSpec {
	return ruleSpec{
		Name: name, Conditions: map[string]any{},
		Actions: []engine.Action{{Type: engine.SetCategory, CategorySlug: "home"}},
	}
}

func (w *world) patch(in rulebook.PatchRule) (r rulebook.Rule, err error) {
	err = w.db.InTx(w.ctx, func(tx pg.Tx) error {
		r, err = w.rules.Patch(w.ctx, tx, in)
		return err
	})
	return r, err
}

const systemName = "New transactions → Review"

func TestListsOfRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{
		"Corner Bakery → groceries", "bakery, night → snacks",
		"Coffee at the corner → cafés",
	} {
		at := fmt.Sprintf("2026-01-0%dT00:00:00Z", i+1)
		w.exec(`insert into rule (id, short_id, name, conditions, actions, trigger, priority, created_by_type,
			created_by_name, created_at)
			values (gen_random_uuid(), $1, $2, '{}', '[{"type": "set_category", "category_slug": "home"}]', 'always',
				$3, 'agent', 'a', $4::text::timestamptz)`, fmt.Sprint("rule000", i), name, 20-i, at)
		w.exec(`insert into rule_hit (rule_id, run_id, hits, hit_at)
			select id, gen_random_uuid(), $2, $3::text::timestamptz from rule
			where short_id = $1`, fmt.Sprint("rule000", i), (i*2)%3+1, at)
	}
	bakery, snacks, coffee := "Corner Bakery → groceries", "bakery, night → snacks", "Coffee at the corner → cafés"
	for name, c := range map[string]struct {
		in   rulebook.QueryRules
		want []string
	}{
		"the order in which they run": {rulebook.QueryRules{}, []string{systemName, coffee, snacks, bakery}},
		"backwards": {
			rulebook.QueryRules{SortOrder: new("desc")},
			[]string{bakery, snacks, coffee, systemName},
		},
		"contains": {
			rulebook.QueryRules{Filter: rulebook.Filter{Search: new("BAKERY")}},
			[]string{snacks, bakery},
		},
		"contains, or": {
			rulebook.QueryRules{Filter: rulebook.Filter{Search: new("night, coffee,")}},
			[]string{coffee, snacks},
		},
		"words in any order": {rulebook.QueryRules{Filter: rulebook.Filter{
			Search:     new("corner coffee"),
			SearchMode: "words",
		}}, []string{coffee}},
		"words, or": {
			rulebook.QueryRules{
				Filter: rulebook.Filter{Search: new("corner coffee, snacks night"), SearchMode: "words"},
			},
			[]string{coffee, snacks},
		},
		"fuzzy": {rulebook.QueryRules{Filter: rulebook.Filter{
			Search:     new("cofee"),
			SearchMode: "fuzzy",
		}}, []string{coffee}},
		"fuzzy, or": {rulebook.QueryRules{Filter: rulebook.Filter{
			Search:     new("cofee,snaks"),
			SearchMode: "fuzzy",
		}}, []string{coffee, snacks}},
		"an underscore is itself": {
			rulebook.QueryRules{Filter: rulebook.Filter{Search: new("c_ffee")}},
			[]string{},
		},
		"most hits first": {
			rulebook.QueryRules{SortBy: new("hit_count")},
			[]string{snacks, coffee, bakery, systemName},
		},
		"latest hit first": {
			rulebook.QueryRules{SortBy: new("last_hit_at")},
			[]string{coffee, snacks, bakery, systemName},
		},
		"earliest hit, never last": {
			rulebook.QueryRules{SortBy: new("last_hit_at"), SortOrder: new("asc")},
			[]string{bakery, snacks, coffee, systemName},
		},
		"by name": {
			rulebook.QueryRules{SortBy: new("name")},
			[]string{snacks, coffee, bakery, systemName},
		},
		"unused": {
			rulebook.QueryRules{OnlyUnused: true, MinHitCount: new(3)},
			[]string{systemName},
		},
		"hits":    {rulebook.QueryRules{MinHitCount: new(2)}, []string{coffee, snacks}},
		"system":  {rulebook.QueryRules{CreatorType: new("system")}, []string{systemName}},
		"trigger": {rulebook.QueryRules{Trigger: new("on_update")}, []string{}},
		"category": {
			rulebook.QueryRules{Filter: rulebook.Filter{CategorySlug: new("HOME")}},
			[]string{coffee, snacks, bakery},
		},
	} {
		if got, total := w.names(c.in); !slices.Equal(got, c.want) || total != int64(len(c.want)) {
			t.Errorf("%s: %q of %d, want %q", name, got, total, c.want)
		}
	}
	page, err := w.rules.Find(w.ctx, w.db, rulebook.QueryRules{SortBy: new("name"), Limit: 2})
	if err != nil || !page.HasMore || page.NextCursor != "" || page.Total != 4 {
		t.Errorf("a sorted page: %+v %v", page, err)
	}
}

// A rule is disabled from the moment of its expiry. Enabling it clears an expiry in the past. It
// cannot be enabled with an expiry in the past.
func TestExpiryAndEnabling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := w.create(filed("r"))[0].String()
	past, later := time.Now().Add(-time.Second).UTC().Format(time.RFC3339Nano), time.Now().Add(time.Hour).UTC().Format(
		time.RFC3339Nano)
	if r, err := w.patch(rulebook.PatchRule{ID: u, ExpiresAt: &past}); err != nil || r.Enabled || r.ExpiresAt == nil {
		t.Errorf("expired: %+v %v", r, err)
	}
	if _, err := w.patch(rulebook.PatchRule{ID: u, ExpiresAt: &past, Enabled: new(true)}); !isCode(err,
		errs.ValidationError) {
		t.Errorf("enabled until yesterday: %v", err)
	}
	if r, err := w.patch(rulebook.PatchRule{ID: u, ExpiresAt: &later, Enabled: new(true)}); err != nil || !r.Enabled ||
		r.ExpiresAt == nil {
		t.Errorf("with a later one: %+v %v", r, err)
	}
	_, _ = w.patch(rulebook.PatchRule{ID: u, ExpiresAt: &past})
	if r, err := w.patch(rulebook.PatchRule{ID: u, Enabled: new(true)}); err != nil || !r.Enabled ||
		r.ExpiresAt != nil {
		t.Errorf("enabled: %+v %v", r, err)
	}
	if r, err := w.patch(rulebook.PatchRule{ID: "00000049", Enabled: new(false)}); err != nil || r.Enabled {
		t.Errorf("the built-in rule: %+v %v", r, err)
	}
	if _, err := w.patch(rulebook.PatchRule{ID: "00000049", Priority: new(3)}); !isCode(err, errs.SystemProtected) {
		t.Errorf("the built-in rule, moved: %v", err)
	}
}

func isCode(err error, code errs.Code) bool {
	e, ok := errors.AsType[*errs.Error](err)
	return ok && e.Code == code
}

// A household has at most 10,000 rules, and a call that would exceed that creates none.
func TestRulesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.exec(`insert into rule (id, short_id, name, conditions, actions, trigger, priority, created_by_type,
		created_by_name)
		select gen_random_uuid(), lpad(n::text, 8, 'x'), 'r', '{}', '[{"type": "add_tag", "tag_slug": "a"}]',
			'always', 10, 'user', 'a' from generate_series(1, 9998) n`)
	in := w.specs(filed("a"), filed("b"))
	try := func(in rulebook.CreateRules) (made rulebook.Made, err error) {
		err = w.db.InTx(op.WithActor(t.Context(), ada), func(tx pg.Tx) error {
			made, err = w.rules.Create(w.ctx, tx, in)
			return err
		})
		return made, err
	}
	if made, err := try(in); !isCode(err, errs.Conflict) || made.Created != 0 {
		t.Errorf("two more: %+v %v", made, err)
	}
	in.Rules = in.Rules[:1]
	if made, err := try(in); err != nil || made.Created != 1 {
		t.Errorf("one more: %+v %v", made, err)
	}
	if _, total := w.names(rulebook.QueryRules{}); total != 10_000 {
		t.Errorf("%d rules", total)
	}
}

// Rules that only one database transaction sees are compiled for it, but not cached for others. The
// control: committed rules that a transaction reads are cached.
func TestRulesOfATransactionAreNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, err := w.rules.Kept(w.ctx, w.db)
	if err != nil {
		t.Fatal(err)
	}
	undone := errors.New("undone")
	err = w.db.InTx(w.ctx, func(tx pg.Tx) error {
		if _, err := tx.Exec(w.ctx, `update rulebook set version = gen_random_uuid()`); err != nil {
			return err
		}
		if now, err := w.rules.Kept(w.ctx, tx); err != nil || now != kept {
			t.Errorf("the uncommitted rules of a transaction are kept: %v", err)
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if _, err := w.db.Exec(w.ctx, `update rulebook set version = gen_random_uuid()`); err != nil {
		t.Fatal(err)
	}
	err = w.db.InTx(w.ctx, func(tx pg.Tx) error {
		now, err := w.rules.Kept(w.ctx, tx)
		if now == kept {
			t.Error("new rules are not kept")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

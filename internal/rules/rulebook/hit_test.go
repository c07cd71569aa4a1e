package rulebook_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
)

const patience = 3 * time.Minute

// await waits until the condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// all matches every transaction.
var all = map[string]any{}

func tagging(slug string) []engine.Action {
	return []engine.Action{{Type: engine.AddTag, TagSlug: slug}}
}

// small returns a world of n transactions without the built-in rule.
func small(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t)
	w.quiet()
	w.fill(seeded(3), n)
	return w
}

func (w *world) ids(from, to int) []id.ID {
	out := make([]id.ID, 0, to-from)
	for _, s := range w.rows[from:to] {
		out = append(out, s.id)
	}
	return out
}

// pass stores a page as a sync does: it runs the rules and records their changes.
func (w *world) pass(tx pg.Tx, page rulebook.Page) (int64, error) {
	entries, hits, err := w.rules.Pass(w.ctx, tx, page)
	if err != nil {
		return 0, err
	}
	_, err = journal.Record(w.ctx, tx, journal.Note{Cause: journal.Sync, Summary: "page"}, entries)
	return hits, err
}

func (w *world) get(u id.ID) rulebook.Rule {
	w.Helper()
	r, err := w.rules.Get(w.ctx, w.db, rulebook.Ref{ID: u.String()})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// matching returns the rules that match a transaction now.
func (w *world) matching(n int) []id.ID {
	w.Helper()
	found, err := w.rules.Match(w.ctx, w.db, rulebook.MatchRules{TransactionID: new(w.rows[n].id.String())})
	if err != nil {
		w.Fatal(err)
	}
	var out []id.ID
	for _, r := range found.Rules {
		out = append(out, r.ID)
	}
	return out
}

// tagged returns how many transactions have the tag.
func (w *world) tagged(slug string) int {
	w.Helper()
	return value[int](w, `select count(*)::int from transaction_tag tt join tag g on g.id = tt.tag_id
		where g.slug = $1 and tt.present`, slug)
}

func TestHitsAreCountedWithThePage(t *testing.T) {
	t.Parallel()
	w := small(t, 20)
	u := w.create(ruleSpec{Name: "all", Conditions: all, Actions: tagging("seen"), Trigger: "always"})[0]
	w.tried(func(tx pg.Tx) error {
		hits, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(0, 20)})
		if hits != 20 {
			t.Errorf("%d hits", hits)
		}
		return err
	})
	if r := w.get(u); r.HitCount != 0 || r.LastHitAt != nil || w.tagged("seen") != 0 {
		t.Errorf("a page that was rolled back counts: %+v", r)
	}
	if len(w.matching(0)) != 1 {
		t.Error("the rule does not match")
	}
	if _, err := w.rules.Explain(w.ctx, w.db, ledger.TransactionRef{TransactionID: w.rows[0].id.String()}); err != nil {
		t.Error(err)
	}
	if _, err := w.rules.Preview(w.ctx, w.db, rulebook.PreviewRule{
		Conditions: rulebook.Conditions{},
		SampleSize: 1,
	}); err != nil {
		t.Error(err)
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	if r := w.get(u); r.HitCount != 0 || w.tagged("seen") != 20 {
		t.Errorf("a run other than a sync counts: %+v", r)
	}
}

// TestRunsSideBySide runs the rules on pages of two sync runs at the same time. Neither waits for
// the other, and all hits are counted.
func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	w := small(t, 20)
	u := w.create(ruleSpec{Name: "all", Conditions: all, Actions: tagging("seen"), Trigger: "always"})[0]
	first, second := id.New(), id.New()
	w.in(func(open pg.Tx) error {
		if _, err := w.pass(open, rulebook.Page{Run: first, Created: w.ids(0, 8)}); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		for _, page := range []rulebook.Page{
			{Run: second, Created: w.ids(8, 12)},
			{Run: second, Changed: w.ids(8, 13)},
		} {
			err := w.db.InTx(ctx, func(tx pg.Tx) error {
				_, err := w.pass(tx, page)
				return err
			})
			if err != nil {
				t.Fatalf("a run waits for another: %v", err)
			}
		}
		return nil
	})
	r := w.get(u)
	history, err := w.rules.History(w.ctx, w.db, rulebook.RuleHistory{ID: r.ShortID, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := w.rules.History(w.ctx, w.db, rulebook.RuleHistory{ID: r.ShortID, Limit: 1, Cursor: history.NextCursor})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(history.Hits, rest.Hits)
	if r.HitCount != 17 || !history.HasMore || rest.HasMore || len(all) != 2 || all[0].RunID != second ||
		all[0].Hits != 9 || all[1].RunID != first || all[1].Hits != 8 || *r.LastHitAt != all[0].HitAt {
		t.Errorf("%d hits, %+v", r.HitCount, all)
	}
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	w := small(t, 9)
	var specs []ruleSpec
	for _, trigger := range []string{"on_create", "on_change", "always"} {
		specs = append(specs, ruleSpec{
			Name: trigger, Conditions: all,
			Actions: tagging(strings.ReplaceAll(trigger, "_", "-")), Trigger: trigger,
		})
	}
	ids := w.create(specs...)
	w.in(func(tx pg.Tx) error {
		hits, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(0, 4), Changed: w.ids(4, 9)})
		if hits != 4+5+9 {
			t.Errorf("%d hits", hits)
		}
		return err
	})
	for i, want := range []int{4, 5, 9} {
		if got, r := w.tagged(strings.ReplaceAll(specs[i].Trigger, "_", "-")), w.get(ids[i]); got != want ||
			int(r.HitCount) != want {
			t.Errorf("%s: %d tagged, %d hits, want %d", specs[i].Trigger, got, r.HitCount, want)
		}
	}
}

// TestExpiryIsExact calls the rules repeatedly while one of them expires. The rule takes part until
// that moment and not later, although no job disables it.
func TestExpiryIsExact(t *testing.T) {
	t.Parallel()
	w := small(t, 3)
	ids := w.create(ruleSpec{
		Name: "short", Conditions: all, Actions: tagging("short"), Trigger: "always",
		ExpiresIn: "1m",
	}, ruleSpec{Name: "stays", Conditions: all, Actions: tagging("stays"), Trigger: "always"})
	w.exec(newVersion)
	w.exec(`update rule set expires_at = clock_timestamp() + interval '400 milliseconds' where id = $1`, ids[0])
	expires := value[time.Time](w, `select expires_at from rule where id = $1`, ids[0])
	clock := func() time.Time { return value[time.Time](w, `select clock_timestamp()`) }
	before, after := 0, 0
	for after < 5 {
		began := clock()
		found := w.matching(0)
		listed := w.get(ids[0]).Enabled
		ended := clock()
		switch {
		case ended.Before(expires):
			before++
			if len(found) != 2 || !listed {
				t.Fatalf("%v before it expires: %v, enabled %v", expires.Sub(ended), found, listed)
			}
		case !began.Before(expires):
			after++
			if len(found) != 1 || found[0] != ids[1] || listed {
				t.Fatalf("%v after it expired: %v, enabled %v", began.Sub(expires), found, listed)
			}
		}
	}
	if before == 0 {
		t.Error("the rule never took part")
	}
	w.takesNoPart(ids[0], "short")
}

// takesNoPart checks that no operation uses this rule.
func (w *world) takesNoPart(u id.ID, tag string) {
	w.Helper()
	w.in(func(tx pg.Tx) error {
		_, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(0, len(w.rows))})
		return err
	})
	w.in(func(tx pg.Tx) error {
		_, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	w.tried(func(tx pg.Tx) error {
		if _, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{RuleIDs: []string{u.String()}}); !errs.Is(err,
			errs.Conflict) {
			w.Errorf("applying it by its id: %v", err)
		}
		return nil
	})
	why, err := w.rules.Explain(w.ctx, w.db, ledger.TransactionRef{TransactionID: w.rows[0].id.String()})
	if err != nil || slices.ContainsFunc(why.Rules, func(r rulebook.ExplainedRule) bool { return r.ID == u }) {
		w.Errorf("the rule is in an explanation: %+v %v", why.Rules, err)
	}
	merchant, err := w.rules.Match(w.ctx, w.db, rulebook.MatchRules{Merchant: new("REWE")})
	if err != nil || slices.ContainsFunc(merchant.Rules, func(r rulebook.MatchedRule) bool { return r.ID == u }) {
		w.Errorf("the rule matches a merchant: %+v %v", merchant, err)
	}
	if slices.Contains(w.matching(0), u) || w.tagged(tag) != 0 || w.get(u).HitCount != 0 {
		w.Errorf("the rule took part: %d tagged, %d hits", w.tagged(tag), w.get(u).HitCount)
	}
}

func TestDisabledRulesTakeNoPart(t *testing.T) {
	t.Parallel()
	w := small(t, 5)
	ids := w.create(ruleSpec{Name: "off", Conditions: all, Actions: tagging("off"), Trigger: "always"},
		ruleSpec{Name: "on", Conditions: all, Actions: tagging("on"), Trigger: "always"})
	if len(w.matching(0)) != 2 {
		t.Fatal("the rules do not match")
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.rules.Patch(w.ctx, tx, rulebook.PatchRule{ID: ids[0].String(), Enabled: new(false)})
		return err
	})
	w.takesNoPart(ids[0], "off")
	if w.tagged("on") != 5 {
		t.Error("the other rule does nothing")
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.rules.Patch(w.ctx, tx, rulebook.PatchRule{ID: ids[0].String(), Enabled: new(true)})
		return err
	})
	if len(w.matching(0)) != 2 {
		t.Error("the rule does not take part again")
	}
}

func TestCommentsAreAddedAtSyncOncePerMatch(t *testing.T) {
	t.Parallel()
	w := small(t, 4)
	say := func(name, trigger string) ruleSpec {
		return ruleSpec{Name: name, Conditions: all, Actions: []engine.Action{
			{Type: engine.AddComment, Content: name},
			{Type: engine.AddTag, TagSlug: "said"},
		}, Trigger: trigger}
	}
	w.create(say("new", "on_create"), say("changed", "on_change"), say("both", "always"))
	comments := func() int { return value[int](w, `select count(*)::int from comment where author_type = 'system'`) }
	w.in(func(tx pg.Tx) error {
		_, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{})
		return err
	})
	if comments() != 0 {
		t.Errorf("applying added %d comments", comments())
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(0, 3)})
		return err
	})
	if comments() != 6 {
		t.Errorf("%d comments on three new transactions, want 6", comments())
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.pass(tx, rulebook.Page{Run: id.New(), Changed: w.ids(0, 1)})
		return err
	})
	entries := value[int](w, `select count(*)::int from entry where field = 'comment' and rule_id is not null`)
	if comments() != 8 || entries != 8 {
		t.Errorf("%d comments and %d entries after a change, want 8", comments(), entries)
	}
}

// TestCounterpartyIsMadeOnce runs rules on eight pages at the same time. The rules name a
// counterparty that does not exist yet, in two spellings.
func TestCounterpartyIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := small(t, 80)
	w.exec(`update transaction set counterparty_id = null, counterparty_source = null`)
	assign := func(name, condition string, a engine.Action) ruleSpec {
		return ruleSpec{Name: name, Conditions: map[string]any{
			"field": "account_name", "op": condition,
			"value": "EDEKA 100%",
		}, Actions: []engine.Action{a}, Trigger: "always"}
	}
	w.create(
		assign("one", "eq", engine.Action{Type: engine.AssignCounterparty, CounterpartyName: "New Shop"}),
		assign("other", "neq", engine.Action{Type: engine.AssignCounterparty, CounterpartyName: "NEW shop"}))
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			err := w.db.InTx(w.ctx, func(tx pg.Tx) error {
				_, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(n*10, n*10+10)})
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	bound := func() int {
		return value[int](w, `select count(*)::int from transaction t join counterparty c on c.id = t.counterparty_id
			where lower(c.name) = 'new shop' and t.counterparty_source = 'rule'`)
	}
	made := value[int](w, `select count(*)::int from counterparty where lower(name) = 'new shop'`)
	entries := value[int](w, `select count(*)::int from entry where subject = 'counterparty'
		and after::jsonb ->> 'name' ilike 'new shop'`)
	if made != 1 || entries != 1 || bound() != 80 {
		t.Errorf("%d created, %d entries, %d bound", made, entries, bound())
	}
}

// TestMergedCounterpartyIsFollowed merges a counterparty that rules name. New transactions get the
// counterparty that replaced it. Transactions that have a counterparty keep it.
func TestMergedCounterpartyIsFollowed(t *testing.T) {
	t.Parallel()
	w := small(t, 9)
	w.exec(`update transaction set counterparty_id = null, counterparty_source = null`)
	var gone, stays counterparty.Counterparty
	w.in(func(tx pg.Tx) (err error) {
		if gone, err = w.others.Create(w.ctx, tx, counterparty.CreateCounterparty{Name: "Old Shop"}); err != nil {
			return err
		}
		stays, err = w.others.Create(w.ctx, tx, counterparty.CreateCounterparty{Name: "Shop"})
		return err
	})
	pending := func(is bool, a engine.Action) ruleSpec {
		return ruleSpec{
			Name: "pending", Conditions: map[string]any{"field": "pending", "op": "eq", "value": is},
			Actions: []engine.Action{a}, Trigger: "always",
		}
	}
	w.create(
		pending(true, engine.Action{Type: engine.AssignCounterparty, CounterpartyName: "old shop"}),
		pending(false, engine.Action{Type: engine.AssignCounterparty, CounterpartyID: gone.ID.String()}))
	page := func(from, to int) {
		w.in(func(tx pg.Tx) error {
			_, err := w.pass(tx, rulebook.Page{Run: id.New(), Created: w.ids(from, to)})
			return err
		})
	}
	bound := func(to id.ID) int {
		return value[int](w, `select count(*)::int from transaction where counterparty_id = $1`, to)
	}
	page(0, 3)
	if bound(gone.ID) != 3 {
		t.Fatalf("%d bound", bound(gone.ID))
	}
	w.in(func(tx pg.Tx) error {
		_, err := w.others.Merge(w.ctx, tx, counterparty.MergeCounterparty{
			ID:   gone.ID.String(),
			Into: stays.ID.String(),
		})
		return err
	})
	page(3, 6)
	if bound(gone.ID) != 0 || bound(stays.ID) != 6 {
		t.Errorf("%d and %d bound, want 0 and 6", bound(gone.ID), bound(stays.ID))
	}
	w.create(ruleSpec{
		Name: "late", Conditions: all,
		Actions: []engine.Action{{Type: engine.AssignCounterparty, CounterpartyName: "Another"}}, Trigger: "always",
		Priority: new(900),
	})
	page(0, 9)
	w.tried(func(tx pg.Tx) error {
		done, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{OverwriteManual: true})
		if done.Changed != 0 {
			t.Errorf("an application changed the counterparty of %d transactions", done.Changed)
		}
		return err
	})
	if another := value[int](w, `select count(*)::int from transaction t
		join counterparty c on c.id = t.counterparty_id
		where c.name = 'Another'`); bound(stays.ID) != 6 || another != 3 {
		t.Errorf("%d stay bound, %d are bound by the later rule, want 6 and 3", bound(stays.ID), another)
	}
}

package rulebook_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/engine/enginetest"
	"coffer/internal/rules/rulebook"
	"github.com/google/go-cmp/cmp"
)

// errBack rolls back a savepoint.
var errBack = errors.New("taken back")

// back runs f and rolls it back.
func (w *world) back(tx pg.Tx, f func(tx pg.Tx) error) {
	w.Helper()
	err := pg.Savepoint(w.ctx, tx, func(tx pg.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return errBack
	})
	if !errors.Is(err, errBack) {
		w.Fatal(err)
	}
}

// stored reads the transactions without the code under test.
func (w *world) stored(q pg.Querier) []*seenRow {
	w.Helper()
	type row struct {
		Category     string   `db:"category"`
		Held         bool     `db:"held"`
		Other        string   `db:"other"`
		OtherHeld    bool     `db:"other_held"`
		Tags         []string `db:"tags"`
		HeldTags     []string `db:"held_tags"`
		Comments     int      `db:"comments"`
		Counterparty bool     `db:"bound"`
	}
	rows, err := pg.All[row](w.ctx, q, `
		select coalesce(c.slug, '') as category, t.category_source is not distinct
			from 'user' as held, coalesce(p.name, '') as other, t.counterparty_source is not distinct
			from 'user' as other_held,
			t.counterparty_id is not null as bound,
			array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
				where tt.transaction_id = t.id and tt.present order by g.slug collate "C") as tags,
			array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
				where tt.transaction_id = t.id and tt.source = 'user' order by g.slug collate "C") as held_tags,
			(select count(*)::int from comment o where o.transaction_id = t.id and o.deleted_at is null) as comments
		from transaction t left join category c on c.id = t.category_id left
			join counterparty p on p.id = t.counterparty_id order by t.provider_id`)
	if err != nil || len(rows) != len(w.rows) {
		w.Fatalf("%d rows: %v", len(rows), err)
	}
	out := make([]*seenRow, len(rows))
	for i, r := range rows {
		out[i] = w.rows[i].clone()
		d := &out[i].draft
		d.Category, d.HeldCategory, d.Tags, d.HeldTags, d.Counterparty, d.HeldCounterparty = r.Category, r.Held, r.Tags, r.HeldTags, r.Counterparty, r.OtherHeld
		out[i].bound, out[i].comments = r.Other, r.Comments
	}
	return out
}

func (s *seenRow) clone() *seenRow {
	c := *s
	c.draft.Tags, c.draft.HeldTags = slices.Clone(s.draft.Tags), slices.Clone(s.draft.HeldTags)
	return &c
}

func cloned(rows []*seenRow) []*seenRow {
	out := make([]*seenRow, len(rows))
	for i, s := range rows {
		out[i] = s.clone()
	}
	return out
}

// line returns the fields of a transaction that rules can change.
func (s *seenRow) line() string {
	d := s.draft
	return fmt.Sprintf("category %q held %v, tags %q held %q, counterparty %q held %v, comments %d", d.Category,
		d.HeldCategory, d.Tags, d.HeldTags, s.bound, d.HeldCounterparty, s.comments)
}

func lines(rows []*seenRow) []string {
	out := make([]string, len(rows))
	for i, s := range rows {
		out[i] = fmt.Sprintf("%d: %s", i, s.line())
	}
	return out
}

// simulate applies the pass to the rows according to the specification. It returns how many rows
// the pass changes and how many it matches.
func simulate(set *engine.Set, p engine.Pass, rows []*seenRow, only func(i int) bool) (changed, matched int) {
	for i, s := range rows {
		if s.deleted || only != nil && !only(i) {
			continue
		}
		before := s.line()
		out := set.Run(&s.draft, p)
		d := &s.draft
		d.Tags = slices.Sorted(slices.Values(d.Tags))
		if out.Category != nil {
			d.HeldCategory = false
		}
		for _, e := range out.Tags {
			d.HeldTags = slices.DeleteFunc(d.HeldTags, func(tag string) bool { return tag == e.Tag })
		}
		if e := out.Counterparty; e != nil {
			s.bound, d.Counterparty, d.HeldCounterparty = e.CounterpartyName, true, false
		}
		s.comments += len(out.Comments)
		if len(out.Hits) > 0 {
			matched++
		}
		if s.line() != before {
			changed++
		}
	}
	return changed, matched
}

// genSpecs generates rules. If immutable is set, they read no field that a rule writes.
func (w *world) genSpecs(r *rand.Rand, n int, immutable bool) []ruleSpec {
	w.Helper()
	specs := make([]ruleSpec, n)
	for i := range specs {
		for {
			specs[i] = ruleSpec{
				Name: fmt.Sprint(i), Conditions: w.words.Tree(r, 3), Actions: w.words.Actions(r),
				Priority: new(i / 3 * 10), Trigger: enginetest.Pick(r, []string{"on_create", "on_change", "always"}),
			}
			if !immutable || w.tree(specs[i].Conditions).Reads()&engine.LiveFields == 0 {
				break
			}
		}
	}
	return specs
}

// compiled compiles the specs with the engine.
func (w *world) compiled(specs []ruleSpec) *engine.Set {
	w.Helper()
	rules := make([]engine.Rule, len(specs))
	for i, s := range specs {
		rules[i] = engine.Rule{
			ID: id.New(), Priority: *s.Priority, CreatedAt: time.Unix(int64(i), 0), Trigger: engine.Trigger(s.Trigger),
			Conditions: w.tree(s.Conditions), Actions: s.Actions,
		}
	}
	return engine.Compile(rules)
}

// lawWorld returns a world in which every tenth transaction is deleted.
func lawWorld(t *testing.T, seed uint64, n int) *world {
	t.Helper()
	w := newWorld(t)
	w.quiet()
	w.fill(seeded(seed), n)
	for i := 0; i < n; i += 10 {
		w.rows[i].deleted = true
	}
	w.exec(`update transaction set deleted_at = now(), deleted_source = 'user' where provider_id like '%0'`)
	if d := cmp.Diff(lines(w.rows), lines(w.stored(w.db))); d != "" {
		t.Fatalf("the test's copy of the transactions is wrong: %s", d)
	}
	return w
}

// TestPrefilterLosesNothing compares the matches of previews and applications with the evaluation
// of every transaction. Previews and applications first narrow the transactions by wordings and by
// a query.
func TestPrefilterLosesNothing(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	trees := 150
	if long() {
		trees = 3000
	}
	w := lawWorld(t, 21, 600)
	live, narrowed, found := 0, 0, 0
	for _, s := range w.rows {
		if !s.deleted {
			live++
		}
	}
	for n := range trees {
		r := seeded(uint64(1000 + n))
		specs := w.genSpecs(r, 1+n%2*(1+n%3), false)
		if n%2 == 0 {
			specs[0].Conditions = w.words.Leaf(r, enginetest.Pick(r, []string{"name", "merchant_name"}),
				enginetest.Pick(r, []string{"eq", "contains", "matches", "in"}))
		}
		set, tree := w.compiled(specs), w.tree(specs[0].Conditions)
		want, alone := map[int]bool{}, map[int]bool{}
		for i, s := range w.rows {
			if d := s.clone().draft; !s.deleted && tree.Eval(&d, engine.AllFields) == engine.True {
				alone[i] = true
			}
			if d := s.clone().draft; !s.deleted && len(set.Run(&d, engine.Pass{Event: engine.Retroactive}).Hits) > 0 {
				want[i] = true
			}
		}
		w.tried(func(tx pg.Tx) error {
			made := w.within(tx, specs...)
			p, err := w.rules.Preview(w.ctx, tx, rulebook.PreviewRule{
				Conditions: w.conditions(specs[0].Conditions),
				SampleSize: len(w.rows),
			})
			if err != nil {
				return err
			}
			previewed := map[int]bool{}
			for _, m := range p.SampleMatches {
				previewed[w.byID[m.TransactionID]] = true
			}
			hits, looked, err := w.rules.Reach(w.ctx, tx, refs(made)...)
			if err != nil {
				return err
			}
			reached := map[int]bool{}
			for _, u := range hits {
				reached[w.byID[u]] = true
			}
			if d := cmp.Diff(alone, previewed); d != "" || int(p.MatchCount) != len(alone) ||
				int(p.TotalScanned) != live {
				t.Errorf("preview of %v: %s", specs[0].Conditions, d)
			}
			if d := cmp.Diff(want, reached); d != "" {
				t.Errorf("application of %+v: %s", specs, d)
			}
			if looked < live {
				narrowed++
				found += len(reached)
			}
			return nil
		})
	}
	t.Logf("%d of %d sets read fewer than all transactions, and found %d", narrowed, trees, found)
	if narrowed < trees/4 || found < trees {
		t.Errorf("%d of %d sets read fewer than all transactions, and found %d: too few for a test", narrowed, trees, found)
	}
}

func refs(ids []id.ID) []string {
	out := make([]string, len(ids))
	for i, u := range ids {
		out[i] = u.String()
	}
	return out
}

// TestApplyTwiceAndBack applies each of many random sets of rules twice. The results must be those
// of one and of two evaluations according to the specification. Fields that a person holds stay,
// unless the application overwrites them. If no condition reads a field that an action writes, the
// second application writes nothing. Reverting both applications restores the canonical hash.
func TestApplyTwiceAndBack(t *testing.T) {
	t.Parallel()
	sets := 40
	if long() {
		sets = 1000
	}
	w := lawWorld(t, 22, 120)
	tally := map[string]int{}
	for n := range sets {
		r := seeded(uint64(n))
		immutable := n%2 == 0
		specs := w.genSpecs(r, 1+r.IntN(12), immutable)
		w.rules.Batches([]int{17, 50, 5000, 5000}[n%4])
		w.tried(func(tx pg.Tx) error {
			w.within(tx, specs...)
			in := rulebook.ApplyRules{OverwriteManual: n%3 == 0}
			w.twice(tx, w.compiled(specs), in, immutable, tally)
			return nil
		})
	}
	t.Log(tally)
	for _, what := range []string{
		"changed", "held", "gave way", "second wrote nothing", "second wrote more",
		"hash returned",
	} {
		if tally[what] == 0 {
			t.Errorf("the test never had: %s", what)
		}
	}
}

func (w *world) twice(tx pg.Tx, set *engine.Set, in rulebook.ApplyRules, immutable bool, tally map[string]int) {
	w.Helper()
	start, want := w.canonical(tx), cloned(w.rows)
	var changes []id.ID
	for round := range 2 {
		changed, matched := simulate(set, engine.Pass{Event: engine.Retroactive, OverwriteManual: in.OverwriteManual}, want,
			nil)
		done, err := w.rules.ApplyWithin(w.ctx, tx, in)
		if err != nil {
			w.Fatal(err)
		}
		if d := cmp.Diff(lines(want), lines(w.stored(tx))); d != "" {
			w.Fatalf("round %d: %s", round, d)
		}
		if int(done.Changed) != changed || int(done.Matched) != matched || (done.ChangeID != nil) != (changed > 0) {
			w.Fatalf("round %d: %+v, want %d changed of %d", round, done, changed, matched)
		}
		tally["changed"] += changed
		switch {
		case round == 1 && changed == 0:
			tally["second wrote nothing"]++
		case round == 1 && immutable:
			w.Fatalf("a second application changed %d", changed)
		case round == 1:
			tally["second wrote more"]++
		}
		if done.ChangeID != nil {
			changes = append(changes, *done.ChangeID)
		}
	}
	w.checkHolds(want, in.OverwriteManual, tally)
	for _, c := range slices.Backward(changes) {
		out, err := w.journal.Revert(w.ctx, tx, journal.RevertChange{ChangeID: c.String()})
		if err != nil || len(out.Skipped) > 0 {
			w.Fatalf("revert: %+v %v", out, err)
		}
	}
	if len(changes) > 0 {
		tally["hash returned"]++
	}
	if d := cmp.Diff(strings.Split(start, "\n"), strings.Split(w.canonical(tx), "\n")); d != "" {
		w.Fatalf("the canonical hash did not return: %s", d)
	}
}

// revert reverts a whole change.
func (w *world) revert(change string) {
	w.Helper()
	w.in(func(tx pg.Tx) error {
		out, err := w.journal.Revert(w.ctx, tx, journal.RevertChange{ChangeID: change})
		if len(out.Skipped) > 0 {
			w.Errorf("%d fields were not reverted: %+v", len(out.Skipped), out.Skipped[0])
		}
		return err
	})
}

// checkHolds compares the fields that people held before with their values now.
func (w *world) checkHolds(now []*seenRow, overwrite bool, tally map[string]int) {
	w.Helper()
	for i, s := range w.rows {
		a, b := s.draft, now[i].draft
		moved := a.HeldCategory && a.Category != b.Category || a.HeldCounterparty && s.bound != now[i].bound
		for _, tag := range a.HeldTags {
			moved = moved || slices.Contains(a.Tags, tag) != slices.Contains(b.Tags, tag)
		}
		switch {
		case moved && !overwrite:
			w.Fatalf("transaction %d was held: %s, now %s", i, s.line(), now[i].line())
		case moved:
			tally["gave way"]++
		case a.HeldCategory:
			tally["held"]++
		}
	}
}

// within creates rules in tx.
func (w *world) within(tx pg.Tx, specs ...ruleSpec) []id.ID {
	w.Helper()
	made, err := w.rules.Create(w.ctx, tx, w.specs(specs...))
	if err != nil || made.Failed > 0 {
		w.Fatalf("%v %+v", err, made.Errors)
	}
	ids := make([]id.ID, len(made.Rules))
	for i, m := range made.Rules {
		ids[i] = m.ID
	}
	return ids
}

package rulebook_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/engine/enginetest"
	"coffer/internal/rules/rulebook"
)

// long reports whether long tests are enabled.
func long() bool { return os.Getenv("COFFER_TEST_LONG") != "" }

// matches holds, for each rule, the indexes of the transactions that it matches.
type matches []map[int]bool

// differ lists the first few pairs that only one of the two has.
func (m matches) differ(other matches, conditions []map[string]any) []string {
	var out []string
	for i := range m {
		for n := range both(m[i], other[i]) {
			if m[i][n] != other[i][n] && len(out) < 5 {
				out = append(out, fmt.Sprintf("rule %d %v, transaction %d: want %v, got %v", i, conditions[i], n,
					m[i][n], other[i][n]))
			}
		}
	}
	return out
}

func both(a, b map[int]bool) map[int]bool {
	all := maps.Clone(a)
	if all == nil {
		all = map[int]bool{}
	}
	maps.Copy(all, b)
	return all
}

func noMatches(n int) matches {
	m := make(matches, n)
	for i := range m {
		m[i] = map[int]bool{}
	}
	return m
}

// everyLeaf returns a condition for every field and operator, and then random trees until there are
// n conditions.
func everyLeaf(r *rand.Rand, v enginetest.Vocabulary, n int) []map[string]any {
	var out []map[string]any
	for _, field := range engine.AllFields.Names() {
		for _, op := range enginetest.Operators(field) {
			out = append(out, v.Leaf(r, field, op))
		}
	}
	for len(out) < n {
		out = append(out, v.Tree(r, 3))
	}
	return out
}

// TestFiveWaysAgree compares sync, preview, match, apply and explain with the evaluation of each
// rule on the test's own copy of the transactions. It uses 100 rules and 1,000 transactions. Each
// rule adds its own tag, which no condition reads. So all rules can run together without affecting
// each other.
func TestFiveWaysAgree(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	sets := 1
	if long() {
		sets = 10
	}
	for set := range sets {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			w, r := newWorld(t), seeded(uint64(set))
			w.quiet()
			w.fill(r, 1000)
			conditions := everyLeaf(r, w.words, 100)
			specs := make([]ruleSpec, len(conditions))
			for i, c := range conditions {
				specs[i] = ruleSpec{
					Name: fmt.Sprint(i), Conditions: c,
					Actions: []engine.Action{{Type: engine.AddTag, TagSlug: fmt.Sprintf("hit-%d", i)}}, Trigger: "always",
				}
			}
			a := &agreement{
				world: w, ids: w.create(specs...), conditions: conditions, place: map[id.ID]int{},
				want: noMatches(len(specs)),
			}
			for i, u := range a.ids {
				a.place[u] = i
				tree := w.tree(conditions[i])
				for n, row := range w.rows {
					if d := row.draft; tree.Eval(&d, engine.AllFields) == engine.True {
						a.want[i][n] = true
						a.sum++
					}
				}
			}
			for _, way := range []struct {
				name string
				find func() matches
			}{
				{"sync", a.sync},
				{"preview", a.preview},
				{"match", a.match},
				{"explain", a.explain},
				{"apply", a.apply},
				{"apply one", a.applyEach},
			} {
				began := time.Now()
				got := way.find()
				for _, d := range a.want.differ(got, conditions) {
					t.Errorf("%s: %s", way.name, d)
				}
				t.Logf("%s: %d matches of %d pairs in %v", way.name, a.sum, len(a.ids)*len(w.rows),
					time.Since(began).Round(time.Millisecond))
			}
			if a.sum < len(a.ids)*len(w.rows)/20 || a.sum > len(a.ids)*len(w.rows)*19/20 {
				t.Errorf("%d matches: the results are one-sided", a.sum)
			}
			wrong := slices.Clone(a.want) // the control: one wrong pair is detected
			wrong[3] = maps.Clone(wrong[3])
			wrong[3][5] = !wrong[3][5]
			if len(wrong.differ(a.want, conditions)) != 1 {
				t.Error("control: a wrong pair is not detected")
			}
			t.Logf("in all %v", time.Since(start).Round(time.Millisecond))
		})
	}
}

// An agreement holds rules whose matches are known.
type agreement struct {
	*world
	ids        []id.ID
	place      map[id.ID]int // index of each rule
	conditions []map[string]any
	want       matches
	sum        int
}

// noted adds the matches that the entries of a change show: the tags that rules added.
func (a *agreement) noted(q pg.Querier, change *id.ID, into matches) {
	a.Helper()
	type entry struct {
		Subject id.ID `db:"subject_id"`
		Rule    id.ID `db:"rule_id"`
	}
	if change == nil {
		return
	}
	rows, err := pg.All[entry](a.ctx, q, `select subject_id, rule_id from entry
		where change_id = $1 and field = 'tag' and after is not null`, change)
	if err != nil {
		a.Fatal(err)
	}
	for _, e := range rows {
		into[a.place[e.Rule]][a.byID[e.Subject]] = true
	}
}

// sync runs the rules on the transactions as one page, half of them new and half changed, and
// compares the counted hits with the matches.
func (a *agreement) sync() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	a.tried(func(tx pg.Tx) error {
		page := rulebook.Page{Run: id.New()}
		for i, row := range a.rows {
			if i%2 == 0 {
				page.Created = append(page.Created, row.id)
			} else {
				page.Changed = append(page.Changed, row.id)
			}
		}
		entries, hits, err := a.rules.Pass(a.ctx, tx, page)
		if err != nil {
			return err
		}
		for _, e := range entries {
			out[a.place[*e.RuleID]][a.byID[e.SubjectID]] = true
		}
		counts := map[id.ID]int{}
		rows, err := tx.Query(a.ctx, `select rule_id, hits from rule_hit where run_id = $1`, page.Run)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var u id.ID
			var n int
			if err := rows.Scan(&u, &n); err != nil {
				return err
			}
			counts[u] = n
		}
		for i, u := range a.ids {
			if counts[u] != len(a.want[i]) {
				a.Errorf("rule %d counted %d hits, matched %d", i, counts[u], len(a.want[i]))
			}
		}
		if hits != int64(a.sum) {
			a.Errorf("%d hits, want %d", hits, a.sum)
		}
		return rows.Err()
	})
	return out
}

func (a *agreement) preview() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	for i, c := range a.conditions {
		p, err := a.rules.Preview(a.ctx, a.db, rulebook.PreviewRule{
			Conditions: a.world.conditions(c),
			SampleSize: len(a.rows),
		})
		if err != nil {
			a.Fatal(err)
		}
		for _, m := range p.SampleMatches {
			out[i][a.byID[m.TransactionID]] = true
		}
		if p.MatchCount != int64(len(out[i])) || p.TotalScanned != int64(len(a.rows)) {
			a.Errorf("rule %d: a sample of %d, and a count of %d of %d", i, len(out[i]), p.MatchCount, p.TotalScanned)
		}
	}
	return out
}

func (a *agreement) match() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	for n, row := range a.rows {
		found, err := a.rules.Match(a.ctx, a.db, rulebook.MatchRules{TransactionID: new(row.id.String())})
		if err != nil {
			a.Fatal(err)
		}
		for _, r := range found.Rules {
			out[a.place[r.ID]][n] = true
		}
	}
	return out
}

func (a *agreement) explain() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	for n, row := range a.rows {
		why, err := a.rules.Explain(a.ctx, a.db, ledger.TransactionRef{TransactionID: row.id.String()})
		if err != nil {
			a.Fatal(err)
		}
		for _, r := range why.Rules {
			out[a.place[r.ID]][n] = true
			if len(r.Effects) != 1 || r.Effects[0].Outcome != "applied" {
				a.Errorf("rule %s on transaction %d: %+v", r.Name, n, r.Effects)
			}
		}
	}
	return out
}

// apply applies all rules at once.
func (a *agreement) apply() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	a.tried(func(tx pg.Tx) error {
		done, err := a.rules.ApplyWithin(a.ctx, tx, rulebook.ApplyRules{})
		if err == nil {
			a.noted(tx, done.ChangeID, out)
		}
		return err
	})
	return out
}

// applyEach applies each rule alone, so that only its own needs decide which transactions are read.
// Only every fifth application also writes, because an earlier step has already tested the writes
// of all rules together.
func (a *agreement) applyEach() matches {
	a.Helper()
	out := noMatches(len(a.ids))
	for i, u := range a.ids {
		if i%5 > 0 {
			hits, _, err := a.rules.Reach(a.ctx, a.db, u.String())
			if err != nil {
				a.Fatal(err)
			}
			for _, h := range hits {
				out[i][a.byID[h]] = true
			}
			continue
		}
		a.tried(func(tx pg.Tx) error {
			done, err := a.rules.ApplyWithin(a.ctx, tx, rulebook.ApplyRules{RuleIDs: []string{u.String()}})
			if err != nil {
				return err
			}
			a.noted(tx, done.ChangeID, out)
			if int(done.Matched) != len(a.want[i]) || done.Changed != done.Matched || int(done.Scanned) != len(a.rows) {
				a.Errorf("rule %d: %+v, want %d matches", i, done, len(a.want[i]))
			}
			return nil
		})
	}
	return out
}

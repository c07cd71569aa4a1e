package rulebook_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/rulebook"
	"github.com/google/go-cmp/cmp"
)

// TestPagesDoNotMatter runs the rules on the same transactions in one page and in other divisions,
// and applies the same rules in batches of any size. The result must always be the same, and the
// one that the specification defines.
func TestPagesDoNotMatter(t *testing.T) {
	t.Parallel()
	sets := 8
	if long() {
		sets = 300
	}
	w := lawWorld(t, 23, 120)
	changes, hitSum := 0, int64(0)
	for n := range sets {
		r := seeded(uint64(500 + n))
		specs := w.genSpecs(r, 1+r.IntN(15), false)
		set := w.compiled(specs)
		created := func(i int) bool { return i%2 == 0 }
		want := cloned(w.rows)
		a, _ := simulate(set, engine.Pass{Event: engine.Created}, want, created)
		b, _ := simulate(set, engine.Pass{Event: engine.Changed}, want, func(i int) bool { return !created(i) })
		changes += a + b
		w.tried(func(tx pg.Tx) error {
			w.within(tx, specs...)
			var first string
			var hits int64
			for split := range 3 {
				w.back(tx, func(tx pg.Tx) error {
					sum := w.pages(tx, w.split(r, split), created)
					now := w.canonical(tx)
					if split == 0 {
						first, hits = now, sum
						if d := cmp.Diff(lines(want), lines(w.stored(tx))); d != "" {
							t.Fatalf("one page: %s", d)
						}
					}
					if now != first || sum != hits {
						t.Fatalf("split %d: %d hits, in one page %d; %s", split, sum, hits,
							cmp.Diff(strings.Split(first, "\n"), strings.Split(now, "\n")))
					}
					return nil
				})
			}
			hitSum += hits
			for _, size := range []int{5000, 9, 40} {
				w.rules.Batches(size)
				w.back(tx, func(tx pg.Tx) error {
					if _, err := w.rules.ApplyWithin(w.ctx, tx, rulebook.ApplyRules{}); err != nil {
						return err
					}
					if size == 5000 {
						first = w.canonical(tx)
					} else if now := w.canonical(tx); now != first {
						t.Fatalf("batches of %d: %s", size,
							cmp.Diff(strings.Split(first, "\n"), strings.Split(now, "\n")))
					}
					return nil
				})
			}
			return nil
		})
	}
	t.Logf("%d changes, %d hits", changes, hitSum)
	if changes < sets*30 || hitSum < int64(sets)*60 {
		t.Error("too few changes for a test")
	}
}

// split divides the indexes of all transactions into pages: one page, a page for each, or random
// pages.
func (w *world) split(r *rand.Rand, kind int) [][]int {
	order := r.Perm(len(w.rows))
	switch kind {
	case 0:
		return [][]int{order}
	case 1:
		return slices.Collect(slices.Chunk(order, 10))
	}
	var out [][]int
	for len(order) > 0 {
		n := 1 + r.IntN(min(len(order), 50))
		out, order = append(out, order[:n]), order[n:]
	}
	return out
}

// pages passes pages of one run and returns the counted hits.
func (w *world) pages(tx pg.Tx, pages [][]int, created func(i int) bool) int64 {
	w.Helper()
	run := id.New()
	var sum int64
	for _, places := range pages {
		page := rulebook.Page{Run: run}
		for _, i := range places {
			if created(i) {
				page.Created = append(page.Created, w.rows[i].id)
			} else {
				page.Changed = append(page.Changed, w.rows[i].id)
			}
		}
		entries, hits, err := w.rules.Pass(w.ctx, tx, page)
		if err != nil {
			w.Fatal(err)
		}
		sum += hits
		if _, err := journal.Record(w.ctx, tx, journal.Note{Cause: journal.Sync, Summary: "page"},
			entries); err != nil {
			w.Fatal(err)
		}
	}
	counted, err := pg.Value[int64](w.ctx, tx, `select coalesce(sum(hits), 0)::bigint from rule_hit
		where run_id = $1`, run)
	if err != nil || counted != sum {
		w.Fatalf("%d hits counted (%v), %d returned", counted, err, sum)
	}
	return sum
}

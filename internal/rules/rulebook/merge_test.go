package rulebook_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/rulebook"
	"github.com/google/go-cmp/cmp"
)

// told describes entries without ids, because new records have a different id in each run.
func (w *world) told(q pg.Querier, entries []journal.Entry) []string {
	w.Helper()
	type name struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}
	rows, err := pg.All[name](w.ctx, q, `
		select id, account_id::text || provider_id as name from transaction union all select id, slug from tag
			union all select id, name from counterparty union all select id, slug from category`)
	if err != nil {
		w.Fatal(err)
	}
	names := map[string]string{}
	for _, r := range rows {
		names[r.ID.String()] = r.Name
	}
	word := func(s *string) string {
		if s == nil {
			return "-"
		}
		if n, ok := names[*s]; ok {
			return n
		}
		return *s
	}
	var out []string
	for _, e := range entries {
		about := names[e.SubjectID.String()]
		if e.Field == journal.FieldRecord {
			out = append(out, e.Subject+" "+about)
			continue
		}
		var ref, rule string
		if e.Ref != nil && e.Field == journal.FieldTag {
			ref = names[e.Ref.String()]
		}
		if e.RuleID != nil {
			rule = e.RuleID.String()
		}
		out = append(out, strings.Join([]string{
			about, e.Field, ref, word(e.Before), word(e.After),
			word(e.BeforeSource), word(e.AfterSource), rule,
		}, " "))
	}
	slices.Sort(out)
	return out
}

// The rules run on new transactions before they are written. The result is the same as if they had
// been written first: the same books, the same journal, the same hits.
func TestMergeIsAsIfStoredFirst(t *testing.T) {
	t.Parallel()
	sets := 12
	if long() {
		sets = 300
	}
	w := lawWorld(t, 41, 60)
	var changes, hitSum int
	for n := range sets {
		r := seeded(uint64(900 + n))
		page := slices.Clone(w.incoming)
		for i := range page {
			switch r.IntN(4) {
			case 0: // already stored, and the same
			case 1:
				page[i].Amount = money.MustParse(fmt.Sprintf("%d.07", 1+r.IntN(300)))
			default:
				page[i].ProviderID = fmt.Sprintf("n%05d", i)
			}
		}
		w.tried(func(tx pg.Tx) error {
			w.within(tx, w.genSpecs(r, 1+r.IntN(15), false)...)
			type end struct {
				Books, Entries           []string
				Hits, Counted, Unchanged int64
				Inserted, Changed        int
			}
			played := func(merge func(tx pg.Tx, run id.ID) (ledger.Merged, []journal.Entry, int64, error)) (out end) {
				w.back(tx, func(tx pg.Tx) error {
					run := id.New()
					m, entries, hits, err := merge(tx, run)
					if err != nil {
						return err
					}
					if out.Counted, err = pg.Value[int64](w.ctx, tx, `select coalesce(sum(hits), 0)::bigint
						from rule_hit where run_id = $1`, run); err != nil {
						return err
					}
					out.Books, out.Entries, out.Hits, out.Unchanged = strings.Split(w.canonical(tx), "\n"), w.told(tx,
						entries), hits, m.Unchanged
					out.Inserted, out.Changed = len(m.Inserted), len(m.Changed)
					return nil
				})
				return out
			}
			want := played(func(tx pg.Tx, run id.ID) (ledger.Merged, []journal.Entry, int64, error) {
				m, err := w.books.Merge(w.ctx, tx, slices.Values(page))
				if err != nil {
					return m, nil, 0, err
				}
				entries, hits, err := w.rules.Pass(w.ctx, tx,
					rulebook.Page{Run: run, Created: m.Inserted, Changed: m.Changed})
				return m, slices.Concat(m.Entries, entries), hits, err
			})
			got := played(func(tx pg.Tx, run id.ID) (ledger.Merged, []journal.Entry, int64, error) {
				m, hits, err := w.rules.Merge(w.ctx, tx, run, page)
				return m, m.Entries, hits, err
			})
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("set %d: stored first (-), rules first (+)\n%s", n, d)
			}
			changes, hitSum = changes+len(got.Entries), hitSum+int(got.Hits)
			return nil
		})
	}
	t.Logf("%d entries, %d hits", changes, hitSum)
	if changes < sets*20 || hitSum < sets*30 {
		t.Error("too few changes for a test")
	}
}

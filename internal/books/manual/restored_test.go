package manual_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// load adds rows as an imported file does, so a revert removes them.
func (w *world) load(rows ...ledger.Incoming) *id.ID {
	w.Helper()
	return as(w, ada, func(ctx context.Context, tx pg.Tx, rows []ledger.Incoming) (*id.ID, error) {
		m, _, err := w.rules.Merge(ctx, tx, id.New(), rows)
		if err != nil {
			return nil, err
		}
		away, source := pg.At(time.Now()).String(), "provider"
		var entries []journal.Entry
		for _, u := range m.Inserted {
			entries = append(entries, journal.Entry{
				Subject: journal.Transaction, SubjectID: u, Field: journal.FieldDeleted, Before: &away,
				BeforeSource: &source,
			})
		}
		return journal.Record(ctx, tx, journal.Note{Cause: journal.Import, Summary: "Imported"},
			append(entries, m.Entries...))
	}, rows)
}

// uneven returns the entered transactions whose payment does not count exactly once: matched ones
// that count beside the bank's, and unmatched ones that do not count.
func (w *world) uneven() []string {
	w.Helper()
	out, err := pg.Values[string](w.Context(), w.db, `
		select concat_ws(' ', m.date, m.amount, m.excluded) from transaction m
		where m.origin = 'manual' and m.deleted_at is null and m.excluded <> exists (
			select from manual_match x join transaction b on b.id = x.bank_id
			where x.manual_id = m.id and x.state = 'matched' and b.deleted_at is null) order by 1`)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// An import is reverted, and the revert is reverted. The payment that was also entered by hand
// counts once each time, either as the bank's row or as the entered one.
func TestRestoredRowCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rows := []ledger.Incoming{w.bank("b1", 12, "12.50"), w.bank("b2", 13, "3.00")}
	file := w.load(rows...)
	one := as(w, ada, w.hand.Add, w.cash(11, "12.50"))
	if !w.get(one.ID).Excluded {
		t.Fatal("the two are not matched")
	}
	w.undo(ada, *file)
	if w.get(one.ID).Excluded {
		t.Error("the bank's is gone, and the one by hand does not count")
	}
	w.load(rows...)
	if m := w.get(one.ID); !m.Excluded || m.LinkedTransactionID == nil {
		t.Errorf("both are there, and both count: %+v", m)
	}
}

// Transactions are imported, entered, deleted and reverted in any order. A matched pair always
// counts once.
func TestEveryPairCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dice := rand.New(rand.NewPCG(22, 1))
	var files []id.ID
	keep := func(change *id.ID) {
		if change != nil {
			files = append(files, *change)
		}
	}
	for step := range 120 {
		switch dice.IntN(5) {
		case 0:
			as(w, ada, w.hand.Add, w.cash(dice.IntN(40), fmt.Sprintf("%d.00", 1+dice.IntN(4))))
		case 1, 2:
			var rows []ledger.Incoming
			for n := range 8 {
				if dice.IntN(2) == 0 {
					rows = append(rows, w.bank(fmt.Sprintf("b%d", n), 5*n, fmt.Sprintf("%d.00", 1+n%4)))
				}
			}
			if len(rows) > 0 {
				keep(w.load(rows...))
			}
		case 3:
			if len(files) > 0 {
				r, err := try(w, ada, w.journal.Revert, journal.RevertChange{
					ChangeID: files[dice.IntN(len(files))].String(),
				})
				if err == nil && r.Change != nil {
					files = append(files, r.Change.ID)
				}
			}
		case 4:
			rows, err := pg.Values[id.ID](t.Context(), w.db, `select id from transaction where deleted_at is null
				order by date, id`)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) > 12 {
				as(w, ada, w.books.DeleteTransaction, ledger.TransactionRef{
					TransactionID: rows[dice.IntN(len(rows))].String(),
				})
				files = append(files, w.lastChange())
			}
		}
		if bad := w.uneven(); len(bad) > 0 {
			t.Fatalf("after step %d: %s", step, slices.Compact(bad))
		}
	}
}

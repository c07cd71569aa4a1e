package statement

import (
	"fmt"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// redo undoes an undo, and expects so many rows to stay away because the bank has reported them.
func (l *late) redo(t *testing.T, undone journal.Reverted, left int) journal.Reverted {
	t.Helper()
	out := l.undo(t, &undone.Change.ID)
	rows := map[id.ID]bool{}
	for _, s := range out.Skipped {
		if s.Reason != "conflict" {
			t.Errorf("left for another reason: %+v", s)
		}
		rows[s.SubjectID] = true
	}
	if len(rows) != left {
		t.Errorf("redone: %d, %d rows are left and not %d: %v", out.Reverted, len(rows), left, out.ByReason)
	}
	return out
}

// takesBack makes the bank remove a row that it reported.
func (l *late) takesBack(key string) {
	l.bank.mu.Lock()
	defer l.bank.mu.Unlock()
	l.bank.events = append(l.bank.events, bank.Page{Removed: []bank.Removal{{ProviderID: key, AccountID: "acc"}}})
}

// After the import of a file was undone, the bank reports its payments. When the undo is undone,
// the file's rows of these payments stay away, because each payment counts once. They also stay
// away when that is repeated, and the file adds nothing when it is imported again.
func TestRedoImportAfterFeed(t *testing.T) {
	t.Parallel()
	for _, shape := range []bank.Shape{bank.Delta, bank.Window} {
		t.Run(fmt.Sprint("shape ", shape), func(t *testing.T) {
			t.Parallel()
			l := newLate(t, shape)
			undone := l.undo(t, l.brings(t, lateFile).ChangeID)
			l.holds(t, "undone")
			l.bank.reports(lateRows()...)
			l.sync(t)
			l.holds(t, "reported", lateBooks...)
			for range 2 {
				if out := l.redo(t, undone, 6); out.Change != nil {
					t.Errorf("a change was made: %+v", out.Change)
				}
				l.holds(t, "redone", lateBooks...)
			}
			if out := l.brings(t, lateFile); out.changed() {
				t.Errorf("the file again: %+v", out.Counts)
			}
			l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
			l.sync(t)
			l.holds(t, "the sync again", lateBooks...)
		})
	}
}

// The bank reports only some of the payments after the undo: the others come back. What it reports
// of them later takes their place, also after the undo was repeated.
func TestRedoImportPartlyReported(t *testing.T) {
	t.Parallel()
	for name, repeat := range map[string]bool{"once": false, "again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			imported := l.brings(t, lateFile).ChangeID
			undone := l.undo(t, imported)
			all := lateRows()
			// The rent, one of two equal rows of a day, the book, and what only the bank has.
			l.bank.reports(all[0], all[1], all[4], all[6])
			l.sync(t)
			redone := l.redo(t, undone, 3)
			want := []string{
				lateBooks[0], lateBooks[1], lateBooks[4], lateBooks[6], "2026-01-09 3.50 Bäcker", "2026-02-03 60.00 Strom",
				"2026-03-02 22.00 Kino",
			}
			l.holds(t, "redone", want...)
			if repeat {
				undone = l.undo(t, &redone.Change.ID)
				l.holds(t, "undone again", lateBooks[0], lateBooks[1], lateBooks[4], lateBooks[6])
				l.redo(t, undone, 0)
				l.holds(t, "redone again", want...)
				l.undo(t, imported)
				l.holds(t, "the import undone again", lateBooks[0], lateBooks[1], lateBooks[4], lateBooks[6])
				out := l.brings(t, lateFile)
				if out.Restored != 3 || out.Likely != 3 || out.Added != 0 {
					t.Errorf("the file: %+v", out.Counts)
				}
				imported = out.ChangeID
				l.holds(t, "the file again", want...)
			}
			l.bank.reports(all[2], all[3], all[5])
			l.sync(t)
			l.holds(t, "reported", lateBooks...)
			if out := l.brings(t, lateFile); out.changed() {
				t.Errorf("the file again: %+v", out.Counts)
			}
			l.undo(t, imported)
			l.holds(t, "the import undone in the end", lateBooks...)
		})
	}
}

// What the bank reported before the import is not the file's row, which filled a hole beside it:
// that row comes back. So does one of another day or amount, and one whose payment the bank has
// taken back.
func TestRedoImportBesideOtherRows(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	l.bank.reports(fed("a", "2026-04-01", "3.50", "CAFE"), fed("b", "2026-04-30", "9.00", "KIOSK"))
	l.sync(t)
	const coffee = "2026-04-01,Kaffee,-3.50\n"
	out := l.brings(t, "Date,Description,Amount\n"+coffee+coffee+"2026-04-10,Taxi,-20.00\n2026-04-15,Obst,-6.00\n")
	if out.Added != 3 {
		t.Fatalf("%+v", out.Counts)
	}
	undone := l.undo(t, out.ChangeID)
	l.bank.reports(fed("c", "2026-04-06", "20.00", "TAXI"), fed("d", "2026-04-10", "20.01", "TAXI"),
		fed("e", "2026-04-15", "6.00", "MARKET"))
	l.sync(t)
	l.takesBack("e")
	l.sync(t)
	l.redo(t, undone, 0)
	l.holds(t, "redone", "2026-04-01 3.50 CAFE", "2026-04-01 3.50 Kaffee", "2026-04-06 20.00 TAXI",
		"2026-04-10 20.01 TAXI", "2026-04-10 20.00 Taxi", "2026-04-15 6.00 Obst", "2026-04-30 9.00 KIOSK")
}

// A row that the bank took over from a file belongs to no other row of the file.
func TestRedoImportBesideTakenRow(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	const coffee = "2026-04-01,Kaffee,-3.50\n"
	l.brings(t, "Date,Description,Amount\n"+coffee)
	second := l.brings(t, "Date,Description,Amount\n"+coffee+coffee)
	if second.Added != 1 {
		t.Fatalf("%+v", second.Counts)
	}
	undone := l.undo(t, second.ChangeID)
	l.bank.reports(fed("a", "2026-04-01", "3.50", "CAFE"))
	l.sync(t)
	l.holds(t, "reported", "2026-04-01 3.50 CAFE")
	l.redo(t, undone, 0)
	l.holds(t, "redone", "2026-04-01 3.50 CAFE", "2026-04-01 3.50 Kaffee")
}

// A sync took over a file's rows, is undone, and done again: each payment counts once, whatever
// comes between.
func TestRedoTakeOver(t *testing.T) {
	t.Parallel()
	file := strings.Split(strings.TrimSuffix(lateFile, "\n"), "\n")[1:]
	of := make([]string, 0, len(file)+1) // the rows as the file has them, and the one that only the bank has
	for _, line := range file {
		f := strings.Split(line, ",")
		of = append(of, f[0]+" "+strings.TrimPrefix(f[2], "-")+" "+f[1])
	}
	of = append(of, lateBooks[6])
	for name, between := range map[string]func(t *testing.T, l *late, imported *id.ID){
		"nothing":        func(*testing.T, *late, *id.ID) {},
		"the file again": func(t *testing.T, l *late, _ *id.ID) { t.Helper(); l.brings(t, lateFile) },
		"the sync again": func(t *testing.T, l *late, _ *id.ID) {
			t.Helper()
			l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
			l.sync(t)
			l.holds(t, "between", lateBooks...)
		},
		"the import undone": func(t *testing.T, l *late, imported *id.ID) {
			t.Helper()
			l.undo(t, imported)
			l.holds(t, "between", lateBooks[6])
		},
		"the import undone and redone": func(t *testing.T, l *late, imported *id.ID) {
			t.Helper()
			l.redo(t, l.undo(t, imported), 0)
			l.holds(t, "between", of...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			imported := l.brings(t, lateFile).ChangeID
			l.bank.reports(lateRows()...)
			undone := l.undo(t, l.sync(t))
			l.holds(t, "the sync undone", of...)
			between(t, l, imported)
			out := l.undo(t, &undone.Change.ID)
			if name == "the import undone" {
				l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
				l.sync(t)
			}
			l.holds(t, fmt.Sprintf("redone, left %v", out.ByReason), lateBooks...)
			if out := l.brings(t, lateFile); out.changed() {
				t.Errorf("the file again: %+v", out.Counts)
			}
			l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
			l.sync(t)
			if name != "the import undone" {
				l.undo(t, imported)
			}
			l.holds(t, "in the end", lateBooks...)
		})
	}
}

// The bank takes a payment back, a file brings it, and the bank reports it again: it counts once,
// as the bank's row, and the undo of the sync brings the file's row back.
func TestBankReportsAgainAfterFile(t *testing.T) {
	t.Parallel()
	const file = "Date,Description,Amount\n2026-04-15,Obst,-6.00\n"
	l := newLate(t, bank.Delta)
	const kiosk = "2026-04-30 9.00 KIOSK"
	l.bank.reports(fed("a", "2026-04-16", "6.00", "MARKET"), fed("b", "2026-04-30", "9.00", "KIOSK"))
	l.sync(t)
	l.holds(t, "reported", "2026-04-16 6.00 MARKET", kiosk)
	l.takesBack("a")
	l.sync(t)
	l.holds(t, "taken back", kiosk)
	imported := l.brings(t, file).ChangeID
	l.holds(t, "the file", "2026-04-15 6.00 Obst", kiosk)
	l.bank.reports(fed("a", "2026-04-16", "6.00", "MARKET"))
	change := l.sync(t)
	l.holds(t, "reported again", "2026-04-16 6.00 MARKET", kiosk)
	if out := l.brings(t, file); out.changed() {
		t.Errorf("the file again: %+v", out.Counts)
	}
	if change == nil {
		t.Fatal("the sync made no change")
	}
	undone := l.undo(t, change)
	l.holds(t, "the sync undone", "2026-04-15 6.00 Obst", kiosk)
	l.redo(t, undone, 0)
	l.holds(t, "redone", "2026-04-16 6.00 MARKET", kiosk)
	l.undo(t, imported)
	l.holds(t, "the import undone", "2026-04-16 6.00 MARKET", kiosk)
}

// Two equal payments came from two imports. Both imports were undone, the bank reports one of them,
// some or all of the payments, and the imports are redone alone: the payments count as often as the
// one that has more of them says, in whatever order.
func TestRedoImportsOneByOne(t *testing.T) {
	t.Parallel()
	const coffee, later = "2026-04-01,Kaffee,-3.50\n", "2026-04-02,Kaffee,-3.50\n"
	for _, second := range []string{coffee, later} {
		for reports := range 4 {
			for _, first := range []bool{true, false} {
				t.Run(fmt.Sprint(second[:10], " reports ", reports, " first ", first), func(t *testing.T) {
					t.Parallel()
					l := newLate(t, bank.Delta)
					one := l.brings(t, "Date,Description,Amount\n"+coffee)
					two := l.brings(t, "Date,Description,Amount\n"+coffee+second)
					if one.Added != 1 || two.Added != 1 {
						t.Fatalf("%+v %+v", one.Counts, two.Counts)
					}
					undone := []*journal.Reverted{}
					for _, c := range []Imported{two, one} {
						out := l.undo(t, c.ChangeID)
						undone = append(undone, &out)
					}
					for n := range reports {
						l.bank.reports(fed(fmt.Sprint("k", n), "2026-04-01", "3.50", "CAFE"))
						l.sync(t)
					}
					if first {
						undone[0], undone[1] = undone[1], undone[0]
					}
					for i, u := range undone {
						l.undo(t, &u.Change.ID)
						if i == 1 {
							break
						}
						// the other import is still undone
						if got := len(l.rowsOf(t, l.of)); got < max(reports, 1) || got > max(reports, 2) {
							t.Errorf("one redone: %d live", got)
						}
					}
					if got := l.rowsOf(t, l.of); len(got) != max(reports, 2) {
						t.Errorf("%d live: %q", len(got), got)
					}
					if out := l.brings(t, "Date,Description,Amount\n"+coffee+second); out.changed() {
						t.Errorf("again: %+v", out.Counts)
					}
				})
			}
		}
	}
}

// The import was undone after the bank had taken over one of its rows, and the bank has reported
// the others since, so the undo cannot be undone. The undo of the first sync gives its row back to
// the file: the import can be undone again and takes it away.
func TestImportUndoneTwice(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	imported := l.brings(t, lateFile).ChangeID
	all := lateRows()
	l.bank.reports(all[0])
	change := l.sync(t)
	undone := l.undo(t, imported)
	l.holds(t, "the import undone", lateBooks[0])
	l.bank.reports(all[1:]...)
	l.sync(t)
	l.holds(t, "reported", lateBooks...)
	if out := l.redo(t, undone, 5); out.Change != nil {
		t.Errorf("a change was made: %+v", out.Change)
	}
	l.undo(t, change)
	l.holds(t, "the first sync undone", append([]string{"2026-01-05 900.00 Miete"}, lateBooks[1:]...)...)
	out := l.undo(t, imported)
	l.holds(t, fmt.Sprintf("the import undone again: %v", out.ByReason), lateBooks[1:]...)
}

// The bank takes a payment back, and a file brings it. The undo of that sync leaves the bank's row
// away, because the payment counts once. Once the import is undone, the undo brings the row back.
func TestUndoOfWhatTheBankTookBack(t *testing.T) {
	t.Parallel()
	const file, fruit, market = "Date,Description,Amount\n2026-04-15,Obst,-6.00\n", "2026-04-15 6.00 Obst",
		"2026-04-16 6.00 MARKET"
	l := newLate(t, bank.Delta)
	l.bank.reports(fed("a", "2026-04-16", "6.00", "MARKET"))
	l.sync(t)
	l.takesBack("a")
	back := l.sync(t)
	if back == nil {
		t.Fatal("the sync made no change")
	}
	imported := l.brings(t, file).ChangeID
	l.holds(t, "the file", fruit)
	if out := l.undo(t, back); out.ByReason["conflict"] == 0 {
		t.Errorf("undone beside the file's row: %+v", out)
	}
	l.holds(t, "refused", fruit)
	l.undo(t, imported)
	l.undo(t, back)
	l.holds(t, "undone", market)
}

// Somebody deletes a row of the bank, and a file brings its payment: the deletion cannot be undone
// beside the file's row. Once the import is undone, it can.
func TestDeletedRowOfTheBankAndItsFile(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	const file, fruit, market = "Date,Description,Amount\n2026-04-15,Obst,-6.00\n", "2026-04-15 6.00 Obst",
		"2026-04-16 6.00 MARKET"
	l.bank.reports(fed("a", "2026-04-16", "6.00", "MARKET"))
	l.sync(t)
	deleted := l.deletes(t, "6.00")
	imported := l.brings(t, file).ChangeID
	l.holds(t, "the file", fruit)
	if out := l.undo(t, deleted); len(out.Skipped) != 1 || out.Skipped[0].Reason != "conflict" {
		t.Errorf("undone beside the file's row: %+v", out)
	}
	l.holds(t, "refused", fruit)
	l.undo(t, imported)
	l.undo(t, deleted)
	l.holds(t, "undone", market)
}

// deletes lets a person delete the row of that amount, and returns the change.
func (l *late) deletes(t *testing.T, amount string) *id.ID {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	err := l.db.InTx(ctx, func(tx pg.Tx) error {
		ref, err := pg.Value[string](ctx, tx, `select id::text from transaction where account_id = $1 and amount = $2
			and deleted_at is null`, l.of, amount)
		if err == nil {
			_, err = l.books.DeleteTransaction(ctx, tx, ledger.TransactionRef{TransactionID: ref})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	change, err := pg.Value[*id.ID](t.Context(), l.db, `select id from change order by seq desc limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

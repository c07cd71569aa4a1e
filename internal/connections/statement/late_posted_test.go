package statement

import (
	"testing"

	"coffer/internal/bank"
)

// postings are the ways in which a pending row of the bank becomes a posted one.
var postings = map[string]func(wait, posts *bank.Transaction) (gone []bank.Removal){
	"another id": func(wait, posts *bank.Transaction) []bank.Removal {
		posts.PendingID = wait.ProviderID
		return []bank.Removal{{ProviderID: wait.ProviderID, AccountID: "acc"}}
	},
	"another id, nothing removed": func(wait, posts *bank.Transaction) []bank.Removal {
		posts.PendingID = wait.ProviderID
		return nil
	},
	"unnamed": func(wait, _ *bank.Transaction) []bank.Removal {
		return []bank.Removal{{ProviderID: wait.ProviderID, AccountID: "acc"}}
	},
	"the same id": func(wait, posts *bank.Transaction) []bank.Removal {
		posts.ProviderID = wait.ProviderID
		return nil
	},
}

// A pending row posts with the amount or on the day of a row that a file brought: only then does it
// show that they are one payment. It counts once, whatever is undone or read again.
func TestPendingRowPostsAsTheFileSays(t *testing.T) {
	t.Parallel()
	const file, want = "Date,Description,Amount\n2026-06-10,Tanken,-62.30\n", "2026-06-11 62.30 FUEL GMBH"
	for how, post := range postings {
		for name, wait := range map[string]bank.Transaction{
			"amount": fed("w", "2026-06-09", "100.00", "FUEL"), "day": fed("w", "2026-06-02", "62.30", "FUEL"),
		} {
			t.Run(how+" "+name, func(t *testing.T) {
				t.Parallel()
				l := newLate(t, bank.Delta)
				imported := l.brings(t, file).ChangeID
				wait.Pending = true
				posts := fed("q", "2026-06-11", "62.30", "FUEL GMBH")
				gone := post(&wait, &posts)
				l.bank.reports(wait)
				l.sync(t)
				l.bank.reports(posts)
				l.bank.mu.Lock()
				l.bank.events[len(l.bank.events)-1].Removed = gone
				l.bank.mu.Unlock()
				change := l.sync(t)
				l.holds(t, "posted", want)
				if out := l.brings(t, file); out.changed() {
					t.Errorf("the file again: %+v", out.Counts)
				}
				if change != nil {
					l.undo(t, change)
				}
				if how != "unnamed" { // that sync took the file's row over, and an undo gives it back
					l.holds(t, "the sync undone", want)
				}
				l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
				l.sync(t)
				l.holds(t, "the sync from the beginning", want)
				l.undo(t, imported)
				l.holds(t, "the import undone", want)
			})
		}
	}
}

// A row of a file that stood beside the pending row is another payment, also once that row posts on
// another day.
func TestPendingRowPostsBesideTheFilesRow(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	const line = "2026-06-03,Bus,-3.50\n"
	l.brings(t, "Date,Description,Amount\n"+line+line)
	wait := fed("w", "2026-06-03", "3.50", "BUS")
	wait.Pending = true
	l.bank.reports(wait)
	l.sync(t)
	l.holds(t, "pending", "2026-06-03 3.50 BUS", "2026-06-03 3.50 Bus")
	posts := fed("q", "2026-06-05", "3.50", "BUS")
	posts.PendingID = "w"
	l.bank.reports(posts)
	l.sync(t)
	l.holds(t, "posted", "2026-06-05 3.50 BUS", "2026-06-03 3.50 Bus")
}

// A page posts a row and brings another one of that day and amount. The file's row that stood beside
// the pending one is the other one, whichever of the two the page names first.
func TestPendingRowPostsBeforeTheFilesRowComes(t *testing.T) {
	t.Parallel()
	const line = "2026-06-03,Bus,-3.50\n"
	for name, order := range map[string][2]int{"first": {0, 1}, "last": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			l.brings(t, "Date,Description,Amount\n"+line+line)
			wait := fed("w", "2026-06-03", "3.50", "BUS")
			wait.Pending = true
			l.bank.reports(wait)
			l.sync(t)
			page := []bank.Transaction{fed("q", "2026-06-05", "3.50", "BUS"), fed("r", "2026-06-05", "3.50", "BUS")}
			page[0].PendingID = "w"
			l.bank.reports(page[order[0]], page[order[1]])
			l.sync(t)
			l.holds(t, "posted", "2026-06-05 3.50 BUS", "2026-06-05 3.50 BUS")
		})
	}
}

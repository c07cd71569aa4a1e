package ledger

import (
	"testing"

	"coffer/internal/books/ledger/ledgertest"
)

// After random imports, edits, splits and reverts, the ledger has recorded everything that depends
// on the written rows, in the same database transaction. The control ignores the records about
// forms.
func TestLedgerNotesWhatFollowsFromItsWrites(t *testing.T) {
	t.Parallel()
	for name, control := range map[string]bool{"noted": false, "control": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSplitWorld(t, 7)
			witness := ledgertest.Watch(t, w.db)
			if control {
				witness.Ignore("form_due")
			}
			steps := w.steps()
			for i := range 120 {
				if err := w.step(t, steps[i%len(steps)], w.dice); err != nil {
					t.Fatal(err)
				}
				if n := witness.Missed(); !control && n > 0 {
					t.Fatalf("step %d: %d things followed and were not noted", i, n)
				}
			}
			if n := witness.Expected(); n < 100 {
				t.Errorf("only %d things followed", n)
			}
			if control && witness.Missed() == 0 {
				t.Error("the witness did not notice")
			}
		})
	}
}

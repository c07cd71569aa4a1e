package finding

import (
	"context"
	"maps"
	"testing"

	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The overview counts the findings that the list shows: new transactions after a recount, and
// decisions at once.
func TestOpenFindingsAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.shop()
	listed := func() map[FindingKind]int64 {
		out := map[FindingKind]int64{}
		list, err := h.Findings(t.Context(), h.db, ListFindings{State: open, Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list.Findings {
			out[f.Kind]++
		}
		return out
	}
	counted := func() map[FindingKind]int64 {
		out, err := OpenFindings(t.Context(), h.db, h.accounts)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	h.sweep()
	want := listed()
	if want[duplicate] == 0 || want[refund] == 0 || want[unusual] == 0 {
		t.Fatalf("the shop has only %v", want)
	}
	// The control: before the recount these findings are not counted.
	if got := counted(); got[duplicate]+got[refund]+got[unusual] > 0 {
		t.Fatalf("%v without a recount", got)
	}
	h.do(h.Recount)
	if got := counted(); !maps.Equal(got, want) {
		t.Fatalf("%v are counted, %v listed", got, want)
	}
	list, err := h.Findings(t.Context(), h.db, ListFindings{Kind: []FindingKind{unusual}, State: open, Limit: 1})
	if err != nil || len(list.Findings) == 0 {
		t.Fatal(err)
	}
	hash := func() string {
		c, err := ledgertest.Canonical(t.Context(), h.db, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := hash()
	person := op.WithActor(context.WithoutCancel(t.Context()), op.Actor{Type: op.User, Name: "Kim"})
	if err := h.db.InTx(person, func(tx pg.Tx) error {
		_, err := h.SetFinding(person, tx, SetFinding{ID: list.Findings[0].ID.String(), State: dismissed})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got := counted(); !maps.Equal(got, listed()) || got[unusual] != want[unusual]-1 {
		t.Errorf("%v after a dismissal, %v before", got, want)
	}
	// The canonical hash covers categories, but not dismissals.
	if hash() != before {
		t.Error("a dismissal changed the canonical form of the books")
	}
	h.exec(`update transaction set category_id = (select id from category where category.id is distinct from
		transaction.category_id order by id limit 1)`)
	if hash() == before {
		t.Error("a category did not change the canonical form of the books")
	}
	// Without a change there is no recount.
	h.exec(`delete from sighting`)
	h.do(h.Recount)
	if got := counted(); got[duplicate] != 0 {
		t.Error("counted again without a reason")
	}
}

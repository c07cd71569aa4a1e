package counterparty

import (
	"slices"
	"sync"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

func TestLinkFillsOnlyWhatIsEmpty(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, other := s.made("Bakery"), s.made("Other")
	ts := s.transactions(3)
	must(s.person, s, s.Link, LinkTransactions{ID: other.ShortID, TransactionIDs: ts[:1]})
	before := len(s.changes())
	out := must(s.agent, s, s.Link, LinkTransactions{
		ID: p.ID.String(), TransactionIDs: append(slices.Clone(ts), ts[1]),
		Force: true,
	})
	if out.Linked != 2 || out.AlreadyBound != 1 || out.Held != 0 || out.ChangeID == nil || out.ID != p.ID {
		t.Errorf("linked: %+v", out)
	}
	if s.bound(ts[0]) != other.ShortID+" user" || s.bound(ts[1]) != p.ShortID+" agent" {
		t.Errorf("bound: %s, %s", s.bound(ts[0]), s.bound(ts[1]))
	}
	if changes := s.changes(); len(changes) != before+1 || changes[0].Transactions != 2 ||
		changes[0].ActorName != "Clerk" {
		t.Errorf("changes: %+v", changes[0])
	}
	if out := must(s.person, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts}); out.Linked != 0 ||
		out.AlreadyBound != 3 || out.ChangeID != nil {
		t.Errorf("again: %+v", out)
	}
	fresh := s.transactions(1)
	refused(s.person, s, errs.NotFound, s.Link, LinkTransactions{
		ID:             p.ShortID,
		TransactionIDs: []string{fresh[0], "nothing0"},
	})
	refused(s.person, s, errs.NotFound, s.Link, LinkTransactions{ID: "nothing0", TransactionIDs: fresh})
	if s.bound(fresh[0]) != "- -" {
		t.Errorf("a refused call linked %s", s.bound(fresh[0]))
	}
	must(s.person, s, s.journal.Revert, journal.RevertChange{ChangeID: out.ChangeID.String()})
	if s.bound(ts[0]) != other.ShortID+" user" || s.bound(ts[1]) != "- -" || s.bound(ts[2]) != "- -" {
		t.Errorf("reverted: %s, %s", s.bound(ts[0]), s.bound(ts[1]))
	}
}

func TestUnlinkHonoursThePerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p, other := s.made("Bakery"), s.made("Other")
	ts := s.transactions(3)
	must(s.person, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts[:2]})
	must(s.agent, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts[2:]})

	refused(s.agent, s, errs.Conflict, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[0]})
	refused(s.person, s, errs.NotFound, s.Unlink, UnlinkTransaction{ID: other.ShortID, TransactionID: ts[0]})
	refused(s.person, s, errs.NotFound, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: "nothing0"})
	refused(s.person, s, errs.NotFound, s.Unlink, UnlinkTransaction{ID: "nothing0", TransactionID: ts[0]})
	must(s.agent, s, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[2]})
	refused(s.person, s, errs.NotFound, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[2]})
	must(s.agent, s, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[0], Force: true})
	if s.bound(ts[0]) != "- agent" || s.bound(ts[1]) != p.ShortID+" user" {
		t.Errorf("bound: %s, %s", s.bound(ts[0]), s.bound(ts[1]))
	}

	must(s.person, s, s.Unlink, UnlinkTransaction{ID: p.ShortID, TransactionID: ts[1]})
	if out := must(s.agent, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts[1:2]}); out.Held != 1 ||
		out.Linked != 0 {
		t.Errorf("an agent linked a transaction that a person unlinked: %+v", out)
	}
	if out := must(s.agent, s, s.Link, LinkTransactions{
		ID: p.ShortID, TransactionIDs: ts[1:2],
		Force: true,
	}); out.Linked != 1 {
		t.Errorf("with force: %+v", out)
	}
	s.revert()
	if s.bound(ts[1]) != "- user" {
		t.Errorf("reverted: %s", s.bound(ts[1]))
	}
}

func TestUnlinkMany(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	p := s.made("Bakery")
	ts := s.transactions(4)
	must(s.person, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts[:1]})
	must(s.agent, s, s.Link, LinkTransactions{ID: p.ShortID, TransactionIDs: ts[1:3]})
	refused(s.agent, s, errs.NotFound, s.UnlinkMany, UnlinkTransactions{
		ID:             p.ShortID,
		TransactionIDs: []string{ts[1], "nothing0"},
	})
	refused(s.agent, s, errs.NotFound, s.UnlinkMany, UnlinkTransactions{ID: "nothing0", TransactionIDs: ts})
	out := must(s.agent, s, s.UnlinkMany, UnlinkTransactions{ID: p.ShortID, TransactionIDs: ts})
	if out.Unlinked != 2 || out.Held != 1 || out.NotBound != 1 || out.ChangeID == nil {
		t.Errorf("unlinked: %+v", out)
	}
	if out := must(s.agent, s, s.UnlinkMany, UnlinkTransactions{
		ID: p.ShortID, TransactionIDs: ts,
		Force: true,
	}); out.Unlinked != 1 || out.NotBound != 3 {
		t.Errorf("with force: %+v", out)
	}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ts := s.transactions(3)
	refused(s.agent, s, errs.ValidationError, s.Assign, AssignCounterparty{TransactionIDs: ts})
	refused(s.agent, s, errs.ValidationError, s.Assign,
		AssignCounterparty{ID: new("x"), Name: new("x"), TransactionIDs: ts})
	refused(s.agent, s, errs.NotFound, s.Assign, AssignCounterparty{
		Name:           new("Bakery"),
		TransactionIDs: []string{"nothing0"},
	})
	refused(s.agent, s, errs.NotFound, s.Assign, AssignCounterparty{ID: new("nothing0"), TransactionIDs: ts})
	if got := s.names(); got != "" {
		t.Fatalf("a refused call created %s", got)
	}
	made := must(s.agent, s, s.Assign, AssignCounterparty{Name: new("Bakery"), TransactionIDs: ts[:1]})
	if !made.Created || made.Linked != 1 || len(s.changes()) != 1 || s.changes()[0].Entries != 2 {
		t.Errorf("made: %+v, %d changes", made, len(s.changes()))
	}
	again := must(s.agent, s, s.Assign, AssignCounterparty{Name: new("BAKERY"), TransactionIDs: ts[:2]})
	if again.Created || again.ID != made.ID || again.Linked != 1 || again.AlreadyBound != 1 {
		t.Errorf("again: %+v", again)
	}
	byID := must(s.agent, s, s.Assign, AssignCounterparty{ID: &made.ShortID, TransactionIDs: ts})
	if byID.Created || byID.Linked != 1 {
		t.Errorf("by id: %+v", byID)
	}
	// The revert removes the links of that change. The counterparty stays, because later changes
	// linked other transactions to it.
	must(s.person, s, s.journal.Revert, journal.RevertChange{ChangeID: made.ChangeID.String()})
	if s.names() != "Bakery" || s.bound(ts[0]) != "- -" {
		t.Errorf("reverted: %q, %s", s.names(), s.bound(ts[0]))
	}
}

func TestAssignFollowsAMerge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	old, kept := s.made("Old"), s.made("Kept")
	must(s.person, s, s.Merge, MergeCounterparty{ID: old.ShortID, Into: kept.ShortID})
	ts := s.transactions(1)
	if out := must(s.agent, s, s.Assign, AssignCounterparty{
		Name:           new("old"),
		TransactionIDs: ts,
	}); out.ID != kept.ID || out.Created {
		t.Errorf("by the old name: %+v", out)
	}
	refused(s.agent, s, errs.Conflict, s.Assign, AssignCounterparty{ID: &old.ShortID, TransactionIDs: ts})
	refused(s.agent, s, errs.Conflict, s.Link, LinkTransactions{ID: old.ShortID, TransactionIDs: ts})
}

// Concurrent callers with the same new name create one counterparty.
func TestAssignMakesANameOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	ts := s.transactions(8)
	made := make([]bool, len(ts))
	var group sync.WaitGroup
	for i, ref := range ts {
		group.Go(func() {
			err := s.db.InTx(s.agent, func(tx pg.Tx) error {
				out, err := s.Assign(s.agent, tx, AssignCounterparty{
					Name:           new("Bakery"),
					TransactionIDs: []string{ref},
				})
				made[i] = out.Created
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	all := s.all()
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	n := 0
	for i, ref := range ts {
		if made[i] {
			n++
		}
		if s.bound(ref) != all[0].ShortID+" agent" {
			t.Errorf("bound: %s", s.bound(ref))
		}
	}
	if n != 1 {
		t.Errorf("%d callers report that they created it", n)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b, c := s.made("A"), s.made("B"), s.made("C")
	ts := s.transactions(3)
	must(s.person, s, s.Link, LinkTransactions{ID: a.ShortID, TransactionIDs: ts[:1]})
	must(s.agent, s, s.Link, LinkTransactions{ID: a.ShortID, TransactionIDs: ts[1:2]})
	must(s.person, s, s.Link, LinkTransactions{ID: b.ShortID, TransactionIDs: ts[2:]})
	s.exec(`update transaction set deleted_at = now() where short_id = $1`, ts[1])

	refused(s.person, s, errs.Conflict, s.Merge, MergeCounterparty{ID: a.ShortID, Into: a.ID.String()})
	refused(s.person, s, errs.NotFound, s.Merge, MergeCounterparty{ID: "nothing0", Into: a.ShortID})
	refused(s.person, s, errs.InvalidReference, s.Merge, MergeCounterparty{ID: a.ShortID, Into: "nothing0"})

	before := len(s.changes())
	if out := must(s.agent, s, s.Merge, MergeCounterparty{ID: a.ShortID, Into: b.ShortID}); out.ID != b.ID {
		t.Errorf("returned %+v", out)
	}
	if changes := s.changes(); len(changes) != before+1 || changes[0].Transactions != 2 || changes[0].Entries != 3 {
		t.Errorf("changes: %+v", changes[0])
	}
	if s.bound(ts[0]) != b.ShortID+" user" || s.bound(ts[1]) != b.ShortID+" agent" || s.names() != "B,C" {
		t.Errorf("moved: %s, %s; %s", s.bound(ts[0]), s.bound(ts[1]), s.names())
	}
	refused(s.person, s, errs.Conflict, s.Merge, MergeCounterparty{ID: a.ShortID, Into: c.ShortID})
	refused(s.person, s, errs.Conflict, s.Merge, MergeCounterparty{ID: c.ShortID, Into: a.ShortID})
	refused(s.person, s, errs.Conflict, s.Create, CreateCounterparty{Name: "a"}) // its name leads to B

	must(s.person, s, s.Merge, MergeCounterparty{ID: b.ShortID, Into: c.ShortID})
	for _, ref := range []string{a.ShortID, b.ShortID} {
		if got, err := s.Get(t.Context(), s.db, Ref{ref}); err != nil || got.CanonicalID == nil ||
			*got.CanonicalID != c.ID {
			t.Errorf("leads to %+v, %v", got, err)
		}
	}
	s.revert()
	if out := must(s.person, s, s.journal.Revert,
		journal.RevertChange{ChangeID: s.changes()[2].ID.String()}); out.Reverted != 3 {
		t.Errorf("the later merge is reverted, so this one can be reverted too: %+v", out)
	}
	if s.names() != "A,B,C" || s.bound(ts[0]) != a.ShortID+" user" {
		t.Errorf("reverted: %s, %s", s.names(), s.bound(ts[0]))
	}
}

// If a merge were restored after the opposite merge, both counterparties would be hidden.
func TestMergesNeverLeadInACircle(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a, b := s.made("A"), s.made("B")
	must(s.person, s, s.Merge, MergeCounterparty{ID: a.ShortID, Into: b.ShortID})
	undone := s.revert()
	must(s.person, s, s.Merge, MergeCounterparty{ID: b.ShortID, Into: a.ShortID})
	out := must(s.person, s, s.journal.Revert, journal.RevertChange{ChangeID: undone.Change.ID.String()})
	if out.Reverted != 0 || len(out.Skipped) != 1 || out.Skipped[0].Reason != "conflict" || s.names() != "A" {
		t.Errorf("%+v, %s", out, s.names())
	}
}

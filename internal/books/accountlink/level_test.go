package accountlink_test

import (
	"fmt"
	"testing"

	"coffer/internal/books/accountlink"
	"coffer/internal/platform/id"
)

// shared creates two people's accounts, each with a confirmed transfer link to a joint account, and
// a fourth account without a link.
func shared(t *testing.T) (*world, []id.ID) {
	t.Helper()
	w := newWorld(t)
	a := w.accounts(t, "ada", "bob", "joint", "fund")
	for _, own := range a[:2] {
		do(t, w, w.links.Create, accountlink.CreateLink{
			PrimaryAccountID: own.String(), MirrorAccountID: a[2].String(), Kind: accountlink.Transfer,
			Confidence: accountlink.Confirmed,
		})
	}
	w.merge(t, incoming(a[0], "ada1", 10, "500.00"), incoming(a[1], "bob1", 10, "500.00"),
		incoming(a[2], "in1", 10, "-500.00"), incoming(a[2], "in2", 10, "-500.00"),
		incoming(a[0], "shop", 11, "40.00"))
	w.sweep(t)
	return w, a
}

func (w *world) allHidden(t *testing.T) int {
	t.Helper()
	return w.count(t, `select count(*)::int from transaction where transfer`)
}

// Two people pay the same amount into their joint account on the same day. Whichever payments
// belong together, totals count none of the four.
func TestEqualTransfersOfOneDay(t *testing.T) {
	t.Parallel()
	w, _ := shared(t)
	if got := w.totals(t); got != "EUR 0.00 40.00 1; " {
		t.Errorf("totals count transfers: %s", got)
	}
	if n := w.count(t, `select count(distinct account_link_id)::int from link_match`); n != 2 {
		t.Errorf("%d of two links have a pair", n)
	}
	before := w.state(t)
	if r := w.sweep(t); r.Added+r.Removed != 0 || len(before) != 2 {
		t.Errorf("not the same again: %+v %v", r, before)
	}
}

// If a third transaction could belong to one of them, all of them count.
func TestEqualTransfersThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		account int
		day     int
		cents   string
		unsure  int
	}{
		"a third payment":               {account: 0, day: 10, cents: "500.00"},
		"a third payment, days later":   {account: 1, day: 14, cents: "500.00"},
		"a refund, days before":         {account: 2, day: 8, cents: "-500.00"},
		"one in an account of no link":  {account: 3, day: 10, cents: "500.00", unsure: 2},
		"and one that came in from one": {account: 3, day: 10, cents: "-500.00", unsure: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, a := shared(t)
			w.merge(t, incoming(a[test.account], "third", test.day, test.cents))
			w.sweep(t)
			if n := w.allHidden(t); n != 0 {
				t.Errorf("%d are hidden", n)
			}
			if n := w.count(t, `select count(*)::int from link_match where not broken and doubtful`); n != test.unsure {
				t.Errorf("people are asked about %d pairs, not %d", n, test.unsure)
			}
		})
	}
}

// If somebody rejects one pair, people are asked about the only other way to form pairs. Until then
// all of them count.
func TestEqualTransfersOfWhichOneIsRejected(t *testing.T) {
	t.Parallel()
	w, a := shared(t)
	list, err := w.links.List(w.ctx, w.db, accountlink.ListLinks{Limit: 5})
	if err != nil || len(list.AccountLinks) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	l := list.AccountLinks[0].ShortID
	page, err := w.links.Matches(w.ctx, w.db, accountlink.ListMatches{ID: l, Limit: 5})
	if err != nil || len(page.Matches) != 1 {
		t.Fatalf("%+v %v", page, err)
	}
	do(t, w, w.links.PutMatch, accountlink.PutMatch{
		ID: l, MatchID: page.Matches[0].ShortID, Confidence: accountlink.Rejected,
	})
	if n := w.allHidden(t); n != 2 {
		t.Fatalf("%d are hidden", n)
	}
	w.merge(t, incoming(a[0], "later", 12, "7.00"))
	w.sweep(t)
	if n := w.count(t, `select count(*)::int from link_match where not broken and doubtful`); n != 2 || w.allHidden(t) != 0 {
		t.Errorf("people are asked about %d pairs, and %d are hidden", n, w.allHidden(t))
	}
}

// Equal transfers alone lead to a suggested link. coffer does not confirm it by itself.
func TestEqualTransfersAreSuggested(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.accounts(t, "ada", "bob", "joint")
	for i := range 12 {
		key := func(name string) string { return fmt.Sprint(name, i) }
		w.merge(t, incoming(a[0], key("ada"), 30*i, "500.00"), incoming(a[1], key("bob"), 30*i, "500.00"),
			incoming(a[2], key("in"), 30*i, "-500.00"), incoming(a[2], key("too"), 30*i, "-500.00"),
			incoming(a[0], key("books"), 30*i+9, "12.00"), incoming(a[1], key("shoes"), 30*i+9, "80.00"))
	}
	if r := w.sweep(t); r.Proposed != 2 || r.Decided != 0 || w.allHidden(t) != 0 {
		t.Errorf("%+v, %d hidden", r, w.allHidden(t))
	}
}

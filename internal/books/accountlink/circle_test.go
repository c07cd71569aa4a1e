package accountlink_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"coffer/internal/books/accountlink"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// mirror returns the request for a mirror link.
func mirror(primary, copied id.ID, confidence string) accountlink.CreateLink {
	return accountlink.CreateLink{
		PrimaryAccountID: primary.String(), MirrorAccountID: copied.String(), Kind: accountlink.Mirror,
		Confidence: confidence,
	}
}

// repeated creates three accounts with the same payments.
func (w *world) repeated(t *testing.T) []id.ID {
	t.Helper()
	a := w.accounts(t, "a", "b", "c")
	var rows []ledger.Incoming
	for i, u := range a {
		for n := range 6 {
			rows = append(rows, incoming(u, fmt.Sprintf("%d-%d", i, n), n, fmt.Sprintf("%d.00", 10+n)))
		}
	}
	w.merge(t, rows...)
	return a
}

// spent returns the sum of the three accounts as totals count it.
func (w *world) spent(t *testing.T) string {
	t.Helper()
	w.sweep(t)
	sum, err := pg.Value[string](w.ctx, w.db, `select coalesce(sum(amount), 0)::text from transaction
		where not excluded and deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

const once = "75.00" // the sum of one account

// If mirror links formed a circle, totals would leave out all the money. So every way to confirm
// the link that closes a circle is rejected.
func TestMirrorsFormNoCircle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.repeated(t)
	do(t, w, w.links.Create, mirror(a[0], a[1], accountlink.Confirmed))
	do(t, w, w.links.Create, mirror(a[1], a[2], accountlink.Confirmed))
	refused := func(what string, err error) {
		t.Helper()
		if !errs.Is(err, errs.Conflict) || !strings.Contains(err.Error(), "circle") {
			t.Errorf("%s: %v", what, err)
		}
		if got := w.spent(t); got != once {
			t.Errorf("%s: %s is counted", what, got)
		}
	}
	_, err := try(w, w.links.Create, mirror(a[2], a[0], accountlink.Confirmed))
	refused("a third", err)
	third := do(t, w, w.links.Create, mirror(a[2], a[0], accountlink.Auto))
	_, err = try(w, w.links.Put, accountlink.PutLink{ID: third.ShortID, Confidence: accountlink.Confirmed})
	refused("a proposal confirmed", err)
	w.sweep(t)
	pair, err := pg.Value[string](w.ctx, w.db, `select short_id from link_match where account_link_id = $1 limit 1`,
		third.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = try(w, w.links.PutMatch, accountlink.PutMatch{
		ID: third.ShortID, MatchID: pair, Confidence: accountlink.Confirmed,
	})
	refused("one pair confirmed", err)
	// In the other direction there is no circle.
	do(t, w, w.links.Delete, accountlink.DeleteLink{ID: third.ShortID})
	do(t, w, w.links.Create, mirror(a[0], a[2], accountlink.Confirmed))
	if got := w.spent(t); got != once {
		t.Errorf("%s is counted", got)
	}
}

// A revert does not restore a link that was rejected or deleted and would now close a circle.
func TestRevertsCloseNoCircle(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, w *world, l accountlink.Link){
		"rejected": func(t *testing.T, w *world, l accountlink.Link) {
			t.Helper()
			w.put(t, l, accountlink.Rejected)
		},
		"deleted": func(t *testing.T, w *world, l accountlink.Link) {
			t.Helper()
			do(t, w, w.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.repeated(t)
			l := do(t, w, w.links.Create, mirror(a[0], a[1], accountlink.Confirmed))
			do(t, w, w.links.Create, mirror(a[1], a[2], accountlink.Confirmed))
			end(t, w, l)
			ended := w.newest(t).ID
			do(t, w, w.links.Create, mirror(a[2], a[0], accountlink.Confirmed))
			closing := w.newest(t).ID
			if r := w.revert(t, ended); r.Reverted != 0 || r.ByReason["conflict"] != 1 || w.spent(t) != once {
				t.Errorf("%+v, %s is counted", r, w.spent(t))
			}
			w.revert(t, closing)
			if r := w.revert(t, ended); r.Reverted != 1 || w.spent(t) != once {
				t.Errorf("newest first: %+v, %s is counted", r, w.spent(t))
			}
		})
	}
}

// Two callers cannot close a circle together by creating half of it each.
func TestCallersCloseNoCircleTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range 8 {
		var names []string
		for i := range 4 {
			names = append(names, fmt.Sprintf("r%d-%d", round, i))
		}
		a := w.accounts(t, names...)
		do(t, w, w.links.Create, mirror(a[0], a[1], accountlink.Confirmed))
		do(t, w, w.links.Create, mirror(a[2], a[3], accountlink.Confirmed))
		var wg sync.WaitGroup
		var err [2]error
		for n := range 2 {
			wg.Go(func() {
				_, err[n] = try(w, w.links.Create, mirror(a[1+2*n], a[(2+2*n)%4], accountlink.Confirmed))
			})
		}
		wg.Wait()
		if (err[0] == nil) == (err[1] == nil) {
			t.Fatalf("round %d: %v and %v", round, err[0], err[1])
		}
	}
}

package accountlink_test

import (
	"context"
	"testing"
	"time"

	"coffer/internal/books/accountlink"
	"coffer/internal/platform/pg"
)

// working runs the world's jobs, and returns a function that waits until none is left.
func (w *world) working(t *testing.T) (settled func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.jobs.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return func() {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			left, err := pg.Values[string](t.Context(), w.db,
				`select kind || ' ' || state || ' ' || coalesce(error_message, '') from job where state <> 'succeeded'`)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%v %v", left, err)
			}
			if len(left) == 0 {
				return
			}
		}
	}
}

// If a link has very many matches, a job updates the transactions. The result is the same as if the
// call itself had done it.
func TestVeryManyMatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.links.SettleAtMost(2)
	w.seed(t)
	settled := w.working(t)
	const all, shop = "EUR 303.00 343.00 7; ", "EUR 0.00 40.00 1; "
	w.sweep(t)
	settled()
	if w.totals(t) != all {
		t.Fatalf("a proposal: %s", w.totals(t))
	}
	l := w.only(t, accountlink.Transfer)
	jobs := func() int64 {
		n, err := pg.Value[int64](t.Context(), w.db, `select count(*) from job where kind = $1`, accountlink.SettleKind)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, step := range []struct{ confidence, want string }{
		{accountlink.Confirmed, shop},
		{accountlink.Rejected, all},
		{accountlink.Confirmed, shop},
	} {
		w.put(t, l, step.confidence)
		if settled(); w.totals(t) != step.want || jobs() <= int64(i) {
			t.Fatalf("%s: %s, %d jobs", step.confidence, w.totals(t), jobs())
		}
	}
	// A link that gets another kind starts again, and nothing of the old kind is left.
	mirror := accountlink.Mirror
	do(t, w, w.links.Put, accountlink.PutLink{ID: l.ShortID, Kind: &mirror, Confidence: accountlink.Confirmed})
	if settled(); w.totals(t) != all {
		t.Errorf("turned: %s", w.totals(t))
	}
	transfer := accountlink.Transfer
	do(t, w, w.links.Put, accountlink.PutLink{ID: l.ShortID, Kind: &transfer, Confidence: accountlink.Confirmed})
	if settled(); w.totals(t) != shop {
		t.Errorf("turned back: %s", w.totals(t)) // the sweep finds the pairs again, and a job must update them
	}
	// The bank changes all of them.
	if _, err := w.db.Exec(t.Context(), `update transaction set amount = amount + 50 where amount >= 100`); err != nil {
		t.Fatal(err)
	}
	do(t, w, w.links.Reconcile, accountlink.Ref{ID: l.ShortID})
	if settled(); w.totals(t) != "EUR 303.00 493.00 7; " {
		t.Errorf("changed: %s", w.totals(t))
	}
	if _, err := w.db.Exec(t.Context(), `update transaction set amount = amount - 50 where amount >= 100`); err != nil {
		t.Fatal(err)
	}
	do(t, w, w.links.Reconcile, accountlink.Ref{ID: l.ShortID})
	if settled(); w.totals(t) != shop {
		t.Errorf("changed back: %s", w.totals(t))
	}
	do(t, w, w.links.Delete, accountlink.DeleteLink{ID: l.ShortID})
	if settled(); w.totals(t) != all {
		t.Errorf("deleted: %s", w.totals(t))
	}
}

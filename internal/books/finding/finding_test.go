package finding

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// findings returns the findings of an account, and a short text for each.
func (h *house) findings(account id.ID, state string) (found []Finding, words []string) {
	h.t.Helper()
	list, err := h.Findings(h.t.Context(), h.db, ListFindings{State: state, AccountID: new(account.String()), Limit: 500})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, f := range list.Findings {
		words = append(words, fmt.Sprint(f.Kind, " ", f.Reason, " ", f.Amount, " ", len(f.TransactionIDs)))
	}
	slices.Sort(words)
	return list.Findings, words
}

// shop creates a double charge, a partial refund, and a charge that is much larger than usual.
func (h *house) shop() id.ID {
	a := h.account()
	now := dayOf(time.Now()) - 19723
	rows := []ledger.Incoming{
		payment(a, "t1", "GARAGE", "", now-20, 250_00), payment(a, "t2", "GARAGE", "", now-18, 250_00),
		payment(a, "p", "SHOES", "", now-40, 120_00), payment(a, "r", "SHOES", "", now-30, -20_00),
		payment(a, "big", "MARKET", "", now-5, 300_00),
		payment(a, "c1", "COFFEE", "", now-5, 4_50), payment(a, "c2", "COFFEE", "", now-5, 4_50),
		payment(a, "old", "START", "", now-300, 1_00),
	}
	for i := range 8 {
		rows = append(rows, payment(a, fmt.Sprint("m", i), "MARKET", "", now-80+i*9+i%3, 30_00+int64(i)))
	}
	h.merge(rows...)
	h.sweep()
	return a
}

func TestFindings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.shop()
	_, words := h.findings(account, open)
	want := []string{
		"duplicate same_amount_twice 250.00 2", "refund in_part -20.00 2", "unusual much_more_than_usual 300.00 1",
	}
	if !slices.Equal(words, want) {
		t.Errorf("found %q, want %q", words, want)
	}
}

// The reason of a price change is an increase or decrease for money out. For wages, it is that they
// went up or down.
func TestNewPriceInWords(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	now := dayOf(time.Now()) - 19723
	for _, c := range []struct {
		before, after int64
		want          string
	}{
		{30_00, 33_00, "price_change price_increased 33.00 1"},
		{30_00, 27_00, "price_change price_decreased 27.00 1"},
		{-3000_00, -3100_00, "price_change went_up -3100.00 1"},
		{-3000_00, -2900_00, "price_change went_down -2900.00 1"},
	} {
		account := h.account()
		var rows []ledger.Incoming
		for k := range 8 {
			cents := c.before
			if k > 5 {
				cents = c.after
			}
			rows = append(rows, payment(account, fmt.Sprint("p", k), "MONTHLY", "", now-5-30*(7-k), cents))
		}
		h.merge(rows...)
		h.sweep()
		if _, words := h.findings(account, open); !slices.Contains(words, c.want) {
			t.Errorf("found %q, want %q", words, c.want)
		}
	}
}

// A dismissed finding is no longer listed, a revert restores it, and agents cannot change it.
func TestDismissFinding(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.shop()
	before, words := h.findings(account, open)
	as := func(kind string, in SetFinding) error {
		ctx := op.WithActor(t.Context(), op.Actor{Type: kind, Name: "A", Scope: op.Full})
		return h.db.InTx(ctx, func(tx pg.Tx) error { _, err := h.SetFinding(ctx, tx, in); return err })
	}
	for _, f := range before {
		if err := as("user", SetFinding{ID: f.ShortID, State: dismissed}); err != nil {
			t.Fatal(err)
		}
	}
	if _, left := h.findings(account, open); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if _, gone := h.findings(account, dismissed); !slices.Equal(gone, words) {
		t.Errorf("dismissed %q, want %q", gone, words)
	}
	if err := as("agent", SetFinding{ID: before[0].ID.String(), State: open}); err == nil {
		t.Error("an agent opened what a person dismissed")
	}
	if err := as("user", SetFinding{ID: "nothing1", State: dismissed}); err == nil {
		t.Error("dismissed nothing")
	}
	changes, err := pg.Values[id.ID](t.Context(), h.db, `select id from change order by id desc`)
	if err != nil || len(changes) != len(before) {
		t.Fatal(len(changes), "changes", err)
	}
	j := journal.New(journal.Config{DB: h.db, Subjects: h.subjects()})
	for _, u := range changes {
		ctx := op.WithActor(t.Context(), op.Actor{Type: "user", Name: "A", Scope: op.Full})
		if err := h.db.InTx(ctx, func(tx pg.Tx) error {
			_, err := j.Revert(ctx, tx, journal.RevertChange{ChangeID: u.String()})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, again := h.findings(account, open); !slices.Equal(again, words) {
		t.Errorf("after the reverts %q, want %q", again, words)
	}
	if err := as("agent", SetFinding{ID: before[0].ID.String(), State: dismissed}); err != nil {
		t.Error("after the reverts an agent may decide:", err)
	}
}

// TestFindingsAtScale measures each kind in a database that COFFER_TEST_SCALE names.
func TestFindingsAtScale(t *testing.T) { //nolint:paralleltest // it measures
	url := os.Getenv("COFFER_TEST_SCALE")
	if url == "" {
		t.Skip("COFFER_TEST_SCALE names no database")
	}
	db, err := pg.Open(t.Context(), url, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	h := newHouse(t)
	h.db = db
	for _, kind := range append(slices.Clone(findingKinds), "") {
		in := ListFindings{State: open, Limit: 100}
		if kind != "" {
			in.Kind = []FindingKind{kind}
		}
		for range 3 {
			began := time.Now()
			list, err := h.Findings(context.Background(), db, in)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(kind, list.Total, time.Since(began).Round(time.Millisecond))
		}
	}
}

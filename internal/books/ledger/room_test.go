package ledger

import (
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// With amounts as large as possible, corrections by the bank, splits and reverts never fail in any
// order, and the parts of split transactions still add up.
func TestPartsOfExtremeAmountsAddUp(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 4)
	w.extreme = true
	steps := w.steps()
	for i := range 400 {
		s := steps[w.dice.IntN(len(steps))]
		if err := w.step(t, s, w.dice); err != nil {
			t.Fatalf("step %d, %s: %v", i, s.name, err)
		}
		if bad := w.faults(t); len(bad) > 0 {
			t.Fatalf("step %d, %s: %v do not add up", i, s.name, bad)
		}
	}
	joined, err := pg.Value[int64](t.Context(), w.db, `select count(*) from entry
		where field = 'split' and after is null and note is not null`)
	if err != nil || joined == 0 {
		t.Errorf("control: no correction by the bank joined a split, %v", err)
	}
}

// A split with a part larger than any payment is rejected with an explanation. If the remainder of
// a stored split becomes too large after the bank corrects the amount, the split is removed and the
// transaction waits for review. A revert does not restore the split while the remainder is too
// large.
func TestSplitsThatDoNotFitAreJoined(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 5)
	ctx := as(t.Context(), op.User)
	split := func(parts ...SplitPart) error {
		return w.db.InTx(ctx, func(tx pg.Tx) error {
			_, err := w.SplitTransaction(ctx, tx, SplitTransaction{TransactionID: w.some(ctx, "provider_id = 'r0'", 0), Parts: parts})
			return err
		})
	}
	for _, amount := range []string{"9999999999.99", "-9999999999.99", "5000000000.01"} {
		if err := split(SplitPart{Amount: new(money.MustParse(amount))}, SplitPart{}); !errs.Is(err, errs.ValidationError) {
			t.Errorf("a part of %s: %v", amount, err)
		}
	}
	if err := split(SplitPart{Amount: new(money.MustParse("5000000000.00"))}, SplitPart{}); err != nil {
		t.Fatal(err)
	}
	w.sync(t, "-9999999999.99")
	type row struct {
		Split  bool   `db:"is_split"`
		Amount string `db:"amount"`
		Parts  int    `db:"parts"`
		Review bool   `db:"review"`
	}
	now, err := pg.One[row](ctx, w.db, `select is_split, amount::text as amount,
		(select count(*)::int from transaction p where p.parent_id = t.id) as parts,
		exists (select from transaction_tag tt join tag g on g.id = tt.tag_id and g.slug = 'needs-review'
			where tt.transaction_id = t.id and tt.present) as review
		from transaction t where provider_id = 'r0'`)
	if err != nil || now != (row{Amount: "-9999999999.99", Review: true}) {
		t.Errorf("%+v, %v", now, err)
	}
	revert := func() journal.Reverted {
		var out journal.Reverted
		err := w.db.InTx(ctx, func(tx pg.Tx) error {
			change, err := pg.Value[string](ctx, tx, `select c.id::text from change c join entry e on e.change_id = c.id
				where e.field = 'split' and e.note is not null`)
			if err == nil {
				out, err = w.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := revert(); out.ByReason["conflict"] != 1 {
		t.Errorf("reverting it while it does not fit: %+v", out)
	}
	w.sync(t, "30.00")
	if out := revert(); len(out.Skipped) > 0 {
		t.Errorf("reverting it when it fits again: %+v", out)
	}
	if bad := w.faults(t); len(bad) > 0 {
		t.Errorf("%v do not add up", bad)
	}
}

// sync makes the bank send another amount for its first payment.
func (w *splitWorld) sync(t *testing.T, amount string) {
	t.Helper()
	ctx := as(t.Context(), op.System)
	err := w.db.InTx(ctx, func(tx pg.Tx) error {
		m, err := w.MergeJudged(ctx, tx, []Incoming{told(w.account, "r0", "2026-05-01", amount, "SHOP 0")}, nil)
		if err == nil {
			_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, m.Entries)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An amount entered by hand is rejected if the remainder of the split would become too large.
func TestAmountsByHandLeaveRoom(t *testing.T) {
	t.Parallel()
	in := PatchTransaction{Amount: new(money.MustParse("-9999999999.99"))}
	whole := TransactionDetail{Transaction: Transaction{Origin: Manual}}
	if _, err := in.facts(whole); err != nil {
		t.Errorf("without parts: %v", err)
	}
	whole.Parts = []TransactionPart{{Amount: money.MustParse("5000000000.00")}, {IsRemainder: true}}
	if _, err := in.facts(whole); !errs.Is(err, errs.ValidationError) {
		t.Errorf("with parts: %v", err)
	}
	in.Amount = new(money.MustParse("-20.00"))
	if _, err := in.facts(whole); err != nil {
		t.Errorf("an amount that fits: %v", err)
	}
}

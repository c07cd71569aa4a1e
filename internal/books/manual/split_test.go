package manual_test

import (
	"testing"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// parts returns the amounts of a transaction's parts, the remainder last, and whether they add up
// to the transaction.
func (w *world) parts(of id.ID) (amounts []string, sum bool) {
	w.Helper()
	amounts, err := pg.Values[string](w.Context(), w.db, `select amount::text from transaction
		where parent_id = $1 order by remainder, id`, of)
	if err == nil {
		sum, err = pg.Value[bool](w.Context(), w.db, `select t.amount = (select sum(p.amount) from transaction p
			where p.parent_id = t.id) from transaction t where t.id = $1`, of)
	}
	if err != nil {
		w.Fatal(err)
	}
	return amounts, sum
}

// The amount of a split transaction that was entered by hand can be corrected. The remainder takes
// the difference. If the remainder changes its sign, a person is asked to check it. Undoing
// restores everything. In the control, a trigger keeps parts from changing, and they do not add up.
func TestAmountUnderASplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := as(w, ada, w.hand.Add, w.cash(0, "50.00"))
	food, zero := money.MustParse("30.00"), w.hash()
	as(w, ada, w.books.SplitTransaction, ledger.SplitTransaction{
		TransactionID: made.ID.String(), Parts: []ledger.SplitPart{{Amount: &food}, {}},
	})
	split := w.hash()
	correct := func(who op.Actor, amount string) error {
		_, err := try(w, who, w.books.PatchTransaction, ledger.PatchTransaction{
			TransactionID: made.ID.String(), Amount: new(money.MustParse(amount)),
		})
		return err
	}
	holds := func(when, rest string, asked bool) {
		t.Helper()
		amounts, sum := w.parts(made.ID)
		waits, err := pg.Value[bool](t.Context(), w.db, `select exists (select from transaction_tag x join tag g on g.id = x.tag_id
			join transaction p on p.id = x.transaction_id where p.parent_id = $1 and g.slug = 'needs-review' and x.present)`,
			made.ID)
		if err != nil || !sum || len(amounts) != 2 || amounts[0] != "30.00" || amounts[1] != rest || waits != asked {
			t.Errorf("%s: parts %v, they add up: %t, somebody is asked: %t, %v", when, amounts, sum, waits, err)
		}
	}
	holds("split", "20.00", false)
	if err := correct(ada, "64.50"); err != nil {
		t.Fatal(err)
	}
	holds("more", "34.50", false)
	w.undo(ada, w.lastChange())
	w.returns(split)
	if err := correct(robot, "12.00"); err == nil {
		t.Error("an agent changed the amount that a person entered")
	}
	if err := correct(ada, "12.00"); err != nil {
		t.Fatal(err)
	}
	holds("less than a part", "-18.00", true)
	w.sync(w.bank("other", 40, "99.00"))
	holds("after a sync", "-18.00", true)
	if zero == split {
		t.Error("control: splitting changed nothing")
	}
	for _, s := range []string{
		`create function unmoved() returns trigger language plpgsql as 'begin return null; end'`,
		`create trigger unmoved before update on transaction for each row when (old.origin = 'part')
			execute function unmoved()`,
	} {
		if _, err := w.db.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := correct(ada, "70.00"); err != nil {
		t.Fatal(err)
	}
	if _, sum := w.parts(made.ID); sum {
		t.Error("control: parts that do not follow add up")
	}
}

package finding

import (
	"slices"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A confirmed refund counts in the category of its purchase, also if the purchase later gets
// another category. A confirmed double charge can leave one of the two charges out of totals. One
// undo reverts all of that.
func TestConfirmFinding(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.shop()
	all, words := h.findings(account, open)
	of := func(kind FindingKind) Finding {
		return all[slices.IndexFunc(all, func(f Finding) bool { return f.Kind == kind })]
	}
	back, twice := of(refund), of(duplicate)
	h.exec(`update transaction set category_id = (select id from category
		where slug = 'shopping_clothing'), category_source = 'rule' where id = $1`, back.TransactionIDs[1])
	state := func() (out string) {
		t.Helper()
		out, err := pg.Value[string](t.Context(), h.db, `select concat_ws(' ', c.slug, r.category_source,
				case r.refund_of when $2 then 'refund' end, d.excluded_reason, d.excluded_source)
			from transaction r left join category c on c.id = r.category_id, transaction d
			where r.id = $1 and d.id = $3`,
			back.TransactionIDs[0], back.TransactionIDs[1], twice.TransactionIDs[0])
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	set := func(in SetFinding) error {
		ctx := op.WithActor(t.Context(), op.Actor{Type: "user", Name: "A", Scope: op.Full})
		return h.db.InTx(ctx, func(tx pg.Tx) error { _, err := h.SetFinding(ctx, tx, in); return err })
	}
	for name, in := range map[string]SetFinding{
		"an unusual charge":   {ID: of(unusual).ShortID, State: confirmed},
		"a refund left out":   {ID: back.ShortID, State: confirmed, Exclude: true},
		"dismissed, left out": {ID: twice.ShortID, State: dismissed, Exclude: true},
	} {
		if err := set(in); err == nil {
			t.Errorf("confirmed %s", name)
		}
	}
	for _, in := range []SetFinding{
		{ID: back.ShortID, State: confirmed}, {ID: twice.ShortID, State: confirmed, Exclude: true},
	} {
		if err := set(in); err != nil {
			t.Fatal(err)
		}
	}
	filed, err := pg.Value[string](t.Context(), h.db, `
		select c.slug from transaction t join category c on c.id = t.category_id where t.id = $1`, back.TransactionIDs[1])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := state(), filed+" user refund duplicate user"; got != want {
		t.Errorf("confirmed: %q, want %q", got, want)
	}
	if _, sure := h.findings(account, confirmed); len(sure) != 2 {
		t.Errorf("confirmed: %q", sure)
	}
	if _, left := h.findings(account, open); len(left) != len(words)-2 {
		t.Errorf("left: %q", left)
	}
	// A rule changes the category of the purchase. The refund follows, although a person holds its
	// category.
	home, err := pg.Value[id.ID](t.Context(), h.db, `select id from category where slug = 'home'`)
	if err != nil {
		t.Fatal(err)
	}
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.Agent, Name: "R", Scope: op.Full})
	if err := h.db.InTx(ctx, func(tx pg.Tx) error {
		outcomes, entries, err := h.books.Apply(ctx, tx, []ledger.Edit{{
			Transaction: back.TransactionIDs[1], Field: journal.FieldCategory, Value: new(home.String()),
		}}, false)
		if err != nil || len(outcomes) != 1 || len(entries) != 2 {
			t.Error(outcomes, entries, err)
		}
		_, err = journal.Record(ctx, tx, journal.Note{Summary: "moved"}, entries)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := state(), "home user refund duplicate user"; got != want {
		t.Errorf("after the purchase moved: %q, want %q", got, want)
	}
	// Everything goes back, newest first.
	changes, err := pg.Values[id.ID](t.Context(), h.db, `select id from change order by seq desc`)
	if err != nil || len(changes) != 3 {
		t.Fatal(len(changes), "changes", err)
	}
	j := journal.New(journal.Config{DB: h.db, Subjects: append(h.Subjects(), h.books.Subjects()...)})
	for _, u := range changes {
		ctx := op.WithActor(t.Context(), op.Actor{Type: "user", Name: "A", Scope: op.Full})
		if err := h.db.InTx(ctx, func(tx pg.Tx) error {
			_, err := j.Revert(ctx, tx, journal.RevertChange{ChangeID: u.String()})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if got := state(); got != "" {
		t.Errorf("after the reverts: %q", got)
	}
	if _, again := h.findings(account, open); !slices.Equal(again, words) {
		t.Errorf("after the reverts %q, want %q", again, words)
	}
	// A reopened finding makes the transaction an ordinary one again, which keeps its category.
	for _, s := range []string{confirmed, open} {
		if err := set(SetFinding{ID: back.ShortID, State: s}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := state(), filed+" user"; got != want {
		t.Errorf("reopened: %q, want %q", got, want)
	}
	// A confirmed double charge can be left out later. When the finding is reopened, the charge
	// counts again, unless it was left out for another reason.
	for _, in := range []struct {
		set  SetFinding
		left string
	}{
		{SetFinding{State: confirmed}, ""},
		{SetFinding{State: confirmed, Exclude: true}, " duplicate user"},
		{SetFinding{State: confirmed}, " duplicate user"},
		{SetFinding{State: dismissed}, ""},
		{SetFinding{State: confirmed, Exclude: true}, " duplicate user"},
	} {
		in.set.ID = twice.ShortID
		if err := set(in.set); err != nil {
			t.Fatal(err)
		}
		if got, want := state(), filed+" user"+in.left; got != want {
			t.Errorf("after %+v: %q, want %q", in.set, got, want)
		}
	}
	h.exec(`update transaction set excluded_reason = 'reimbursed' where id = $1`, twice.TransactionIDs[0])
	if err := set(SetFinding{ID: twice.ShortID, State: open}); err != nil {
		t.Fatal(err)
	}
	if got, want := state(), filed+" user reimbursed user"; got != want {
		t.Errorf("reopened: %q, want %q", got, want)
	}
}

// If one call sets the categories of a refund and its purchase, each gets its own.
func TestRefundFiledWithItsPurchase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	all, _ := h.findings(h.shop(), open)
	back := all[slices.IndexFunc(all, func(f Finding) bool { return f.Kind == refund })]
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, Name: "A", Scope: op.Full})
	ids, err := pg.Values[string](ctx, h.db, `select id::text from category where slug in ('home', 'travel')
		order by slug`)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.db.InTx(ctx, func(tx pg.Tx) error {
		if _, err := h.SetFinding(ctx, tx, SetFinding{ID: back.ShortID, State: confirmed}); err != nil {
			return err
		}
		_, _, err := h.books.Apply(ctx, tx, []ledger.Edit{
			{Transaction: back.TransactionIDs[1], Field: journal.FieldCategory, Value: &ids[0]},
			{Transaction: back.TransactionIDs[0], Field: journal.FieldCategory, Value: &ids[1]},
		}, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got, err := pg.Values[string](ctx, h.db, `select c.slug from transaction t join category c on c.id = t.category_id
		where t.id = any($1) order by t.amount`, back.TransactionIDs)
	if want := []string{"travel", "home"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}

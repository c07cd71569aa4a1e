package manual_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/accountlink"
	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/books/manual"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
	"github.com/google/go-cmp/cmp"
)

var (
	ada   = op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full}
	robot = op.Actor{Type: op.Agent, ID: id.New(), Name: "Robot", Scope: op.Full}
)

// A world is a household with one account, assembled like the service.
type world struct {
	testing.TB
	db      *pg.DB
	books   *ledger.Books
	rules   *rulebook.Rulebook
	hand    *manual.Manual
	journal *journal.Journal
	account id.ID
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, db: pgtest.New(t)}
	files := category.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{})
	jobs := job.New(w.db, slog.New(slog.DiscardHandler))
	w.books = ledger.New(w.db, files)
	w.rules = rulebook.New(w.db, files, w.books, jobs)
	links := accountlink.New(w.db, w.books, jobs)
	w.books.Tell(links)
	w.hand = manual.New(w.books, w.rules, links)
	w.books.Pair(w.hand)
	w.journal = journal.New(journal.Config{DB: w.db, Subjects: slices.Concat(files.Subjects(), w.books.Subjects(),
		w.hand.Subjects(), links.Subjects())})
	jobs.Add(w.rules.Kinds()...)
	w.account = as(w, ada, account.New(w.db).AddAccounts, []account.Incoming{{
		Provider: "csv", ProviderID: "giro", Name: "Giro", Type: "depository", Currency: "EUR",
	}})[0]
	return w
}

// as runs one use case in its own database transaction, as that actor.
func as[In, Out any](w *world, who op.Actor, f func(context.Context, pg.Tx, In) (Out, error), in In) Out {
	w.Helper()
	out, err := try(w, who, f, in)
	if err != nil {
		w.Fatalf("%T: %v", in, err)
	}
	return out
}

func try[In, Out any](w *world, who op.Actor, f func(context.Context, pg.Tx, In) (Out, error), in In) (out Out,
	err error,
) {
	ctx := op.WithActor(w.Context(), who)
	err = w.db.InTx(ctx, func(tx pg.Tx) error {
		out, err = f(ctx, tx, in)
		return err
	})
	return out, err
}

func day(n int) pg.Date {
	d, _ := pg.ParseDate("2026-03-01")
	return pg.Day(d.Time().AddDate(0, 0, n))
}

// cash returns a payment that a person enters.
func (w *world) cash(n int, amount string) manual.AddTransaction {
	return manual.AddTransaction{
		AccountID: new(w.account.String()), Date: new(day(n)), Amount: new(money.MustParse(amount)), Name: new("Market"),
	}
}

// sync stores rows as a bank's sync does, and records the resulting change.
func (w *world) sync(rows ...ledger.Incoming) *id.ID {
	w.Helper()
	return as(w, op.Actor{Type: op.System, Name: "coffer"}, func(ctx context.Context, tx pg.Tx,
		rows []ledger.Incoming,
	) (*id.ID, error) {
		m, _, err := w.rules.Merge(ctx, tx, id.New(), rows)
		if err != nil {
			return nil, err
		}
		return journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, m.Entries)
	}, rows)
}

func (w *world) bank(key string, n int, amount string) ledger.Incoming {
	return ledger.Incoming{
		AccountID: w.account, ProviderID: key, Date: day(n), Amount: money.MustParse(amount), Currency: "EUR",
		Name: text.Name("POS " + key),
	}
}

func (w *world) hash() string {
	w.Helper()
	c, err := ledgertest.Canonical(w.Context(), w.db, nil, "")
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// returns checks that the hash is the same as before.
func (w *world) returns(before string) {
	w.Helper()
	if now := w.hash(); now != before {
		w.Errorf("the hash did not return:\n%s", cmp.Diff(strings.Split(before, "\n"), strings.Split(now, "\n")))
	}
}

func (w *world) undo(who op.Actor, change id.ID) journal.Reverted {
	w.Helper()
	return as(w, who, w.journal.Revert, journal.RevertChange{ChangeID: change.String()})
}

func (w *world) lastChange() id.ID {
	w.Helper()
	u, err := pg.Value[id.ID](w.Context(), w.db, `select id from change order by seq desc limit 1`)
	if err != nil {
		w.Fatal(err)
	}
	return u
}

func (w *world) get(u id.ID) ledger.TransactionDetail {
	w.Helper()
	t, err := w.books.Transaction(w.Context(), w.db, ledger.TransactionRef{TransactionID: u.String()})
	if err != nil {
		w.Fatal(err)
	}
	return t
}

// matches returns the matches in use, with the day, the amount and the bank's id.
func (w *world) matches() []string {
	w.Helper()
	out, err := pg.Values[string](w.Context(), w.db, `
		select concat_ws(' ', m.date, m.amount, b.provider_id, m.excluded, m.linked_id = b.id)
		from manual_match x join transaction m on m.id = x.manual_id join transaction b on b.id = x.bank_id
		where x.state = 'matched' and m.deleted_at is null and b.deleted_at is null order by 1`)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// A person's entry is held at once; an agent's waits for review. Rules run over both and keep the
// given values. A revert removes the transaction.
func TestAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var rules rulebook.CreateRules
	if err := json.Unmarshal([]byte(`{"rules": [{"name": "by hand", "conditions": {"field": "provider", "op": "eq",
		"value": "manual"}, "actions": [{"type": "set_category", "category_slug": "food_and_drink_groceries"},
		{"type": "add_tag", "tag_slug": "cash"}]}]}`), &rules); err != nil {
		t.Fatal(err)
	}
	if made := as(w, ada, w.rules.Create, rules); len(made.Rules) != 1 {
		t.Fatalf("%+v", made)
	}
	before := w.hash()
	one := as(w, ada, w.hand.Add, w.cash(0, "12.50"))
	if one.Origin != "manual" || one.Provider != "manual" || one.Currency != "EUR" || one.Category == nil ||
		*one.Category != "food_and_drink_groceries" || *one.CategorySource != "rule" || !slices.Equal(one.Tags, []string{"cash"}) {
		t.Errorf("a person's: %+v", one)
	}
	if key, err := pg.Value[string](t.Context(), w.db, `select provider_id from transaction where id = $1`,
		one.ID); err != nil || key != "manual:"+one.ID.String() {
		t.Error(key, err)
	}
	added := w.lastChange()
	in := w.cash(0, "3.00")
	in.Category, in.Tags, in.Comment, in.Detail = new("food_and_drink_restaurants"), []string{"trip"}, new("with Bob"), new("two of them")
	two := as(w, robot, w.hand.Add, in)
	if *two.Category != "food_and_drink_restaurants" || *two.CategorySource != "agent" || two.CommentCount != 1 ||
		!slices.Equal(two.Tags, []string{"cash", "needs-review", "trip"}) || two.Detail.Plain() != "two of them" {
		t.Errorf("an agent's: %+v", two)
	}
	w.undo(robot, w.lastChange())
	if w.get(two.ID).DeletedAt == nil {
		t.Error("the revert left it")
	}
	r := w.undo(ada, added)
	if w.get(one.ID).DeletedAt == nil || len(r.Skipped) > 0 {
		t.Errorf("the revert left it: %+v", r)
	}
	w.returns(before)
	w.undo(ada, r.Change.ID)
	if w.get(one.ID).DeletedAt != nil {
		t.Error("the revert of the revert did not bring it back")
	}
	bad := w.cash(0, "1")
	bad.Tags = []string{"Not a slug!"}
	if _, err := try(w, ada, w.hand.Add, bad); err == nil || !strings.Contains(err.Error(), " tags: ") {
		t.Error(err)
	}
}

// The facts of a transaction entered by hand can be changed, are held if a person set them, and are
// restored by a revert.
func TestPatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := as(w, ada, w.hand.Add, w.cash(0, "12.50"))
	before := w.hash()
	patch := ledger.PatchTransaction{
		TransactionID: one.ShortID, Amount: new(money.MustParse("-7.00")), Date: new(day(4)), Name: new("Flea  market"),
		MerchantName: op.Null[string]{Set: true, Value: new("Town")}, Category: op.Null[string]{Set: true, Value: new("income")},
	}
	agents := ledger.PatchTransaction{TransactionID: one.ShortID, Amount: patch.Amount, Name: patch.Name}
	if _, err := try(w, robot, w.books.PatchTransaction, agents); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent changed what a person holds: %v", err)
	}
	now := as(w, ada, w.books.PatchTransaction, patch)
	if now.Amount.String() != "-7.00" || now.Date != day(4) || now.Name.Plain() != "Flea market" ||
		now.MerchantName.Plain() != "Town" || now.Category == nil {
		t.Errorf("%+v", now)
	}
	summary, err := w.journal.Get(t.Context(), w.db, journal.ChangeRef{ChangeID: w.lastChange().String()})
	if err != nil || !strings.Contains(string(summary.Summary), "date of 1 transaction") {
		t.Error(summary.Summary.Plain(), err)
	}
	w.undo(ada, w.lastChange())
	w.returns(before)
	w.sync(w.bank("b1", 40, "99.00"))
	theirs, err := pg.Value[string](t.Context(), w.db, `select short_id from transaction where provider_id = 'b1'`)
	if err != nil {
		t.Fatal(err)
	}
	patch.TransactionID = theirs
	if _, err := try(w, ada, w.books.PatchTransaction, patch); !errs.Is(err, errs.Conflict) ||
		!strings.Contains(err.Error(), "the bank sets") {
		t.Errorf("the bank's own: %v", err)
	}
}

// A payment that the bank reports later counts once and gets the decisions about the entered one. A
// revert separates the two, and they stay separate.
func TestMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.cash(10, "12.50")
	in.Category, in.Tags, in.Comment = new("food_and_drink_groceries"), []string{"trip"}, new("with Bob")
	one := as(w, ada, w.hand.Add, in)
	before := w.hash()
	change := w.sync(w.bank("b1", 12, "12.50"), w.bank("b2", 12, "12.51"), w.bank("b3", 21, "12.50"), w.bank("b4", 6, "12.50"))
	if got, want := w.matches(), []string{day(10).String() + " 12.50 b1 t t"}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
	bank, err := pg.Value[id.ID](t.Context(), w.db, `select id from transaction where provider_id = 'b1'`)
	if err != nil {
		t.Fatal(err)
	}
	b := w.get(bank)
	if *b.Category != "food_and_drink_groceries" || *b.CategorySource != "user" || b.CommentCount != 1 ||
		!slices.Contains(b.Tags, "trip") || b.Excluded {
		t.Errorf("%+v", b)
	}
	w.undo(ada, *change)
	if m := w.get(one.ID); m.Excluded || m.LinkedTransactionID != nil || w.get(bank).CommentCount != 0 {
		t.Errorf("%+v", m)
	}
	if now := w.hash(); !strings.Contains(now, strings.Split(before, "\n")[0]) {
		t.Errorf("%s\n%s", before, now)
	}
	w.sync(w.bank("b5", 11, "1.00"), w.bank("b1", 13, "12.50"))
	if got := w.matches(); len(got) > 0 {
		t.Errorf("what was reverted is matched again: %s", got)
	}
}

// People can match and unmatch transactions, and unmatched pairs are not matched again.
func TestSetMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := as(w, ada, w.hand.Add, w.cash(10, "12.50"))
	two := as(w, ada, w.hand.Add, w.cash(11, "12.50"))
	w.sync(w.bank("b1", 12, "12.50"))
	for _, u := range []id.ID{one.ID, two.ID} {
		if m := w.get(u); m.Excluded || !slices.Contains(m.Tags, "needs-review") {
			t.Errorf("two candidates: %+v", m)
		}
	}
	bank, err := pg.Value[string](t.Context(), w.db, `select short_id from transaction where provider_id = 'b1'`)
	if err != nil {
		t.Fatal(err)
	}
	to := func(u id.ID, ref *string) manual.SetMatch {
		return manual.SetMatch{ID: u.String(), TransactionID: op.Null[string]{Set: true, Value: ref}}
	}
	before := w.hash()
	if m := as(w, ada, w.hand.SetMatch, to(two.ID, &bank)); !m.Excluded || m.LinkedTransactionID == nil {
		t.Errorf("%+v", m)
	}
	matched := w.lastChange()
	if _, err := try(w, ada, w.hand.SetMatch, to(one.ID, &bank)); !errs.Is(err, errs.Conflict) {
		t.Errorf("one of the bank's for two: %v", err)
	}
	if _, err := try(w, robot, w.hand.SetMatch, to(two.ID, nil)); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent parted what a person matched: %v", err)
	}
	w.undo(ada, matched)
	w.returns(before)
	as(w, ada, w.hand.SetMatch, to(two.ID, &bank))
	if m := as(w, ada, w.hand.SetMatch, to(two.ID, nil)); m.Excluded || m.LinkedTransactionID != nil {
		t.Errorf("%+v", m)
	}
	// The other transaction is now the only candidate.
	if got := w.matches(); len(got) != 1 || !w.get(one.ID).Excluded {
		t.Error(got)
	}
	as(w, ada, w.books.DeleteTransaction, ledger.TransactionRef{TransactionID: one.ID.String()})
	if got := w.matches(); len(got) > 0 {
		t.Errorf("a parted pair was matched: %s", got)
	}
	if _, err := try(w, ada, w.hand.SetMatch, to(b(w, bank), &bank)); !errs.Is(err, errs.Conflict) {
		t.Error(err)
	}
}

func b(w *world, short string) id.ID {
	u, err := pg.Value[id.ID](w.Context(), w.db, `select id from transaction where short_id = $1`, short)
	if err != nil {
		w.Fatal(err)
	}
	return u
}

// When the bank's row is removed, the entry by hand counts again. When it comes back, the payment
// counts once.
func TestMatchedRowGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := as(w, ada, w.hand.Add, w.cash(10, "12.50"))
	w.sync(w.bank("b1", 12, "12.50"))
	remove := func(ctx context.Context, tx pg.Tx, keys []string) (op.None, error) {
		entries, err := w.books.Remove(ctx, tx, w.account, keys)
		if err != nil {
			return op.None{}, err
		}
		_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, entries)
		return op.None{}, err
	}
	as(w, op.Actor{Type: op.System}, remove, []string{"b1", "manual:" + one.ID.String()})
	if m := w.get(one.ID); m.Excluded || m.DeletedAt != nil {
		t.Errorf("%+v", m)
	}
	w.sync(w.bank("b9", 13, "12.50"))
	if got := w.matches(); len(got) != 1 || !w.get(one.ID).Excluded {
		t.Error(got)
	}
	bank, err := pg.Value[string](t.Context(), w.db, `select short_id from transaction where provider_id = 'b9'`)
	if err != nil {
		t.Fatal(err)
	}
	as(w, ada, w.books.DeleteTransaction, ledger.TransactionRef{TransactionID: bank})
	if m := w.get(one.ID); m.Excluded {
		t.Errorf("%+v", m)
	}
	w.undo(ada, w.lastChange())
	if m := w.get(one.ID); !m.Excluded {
		t.Errorf("%+v", m)
	}
}

// TestArrivalOrder stores the same transactions in different orders, and the matches must be the
// same. The control takes the first candidate, so its matches depend on the order.
func TestArrivalOrder(t *testing.T) {
	t.Parallel()
	if differs := orders(newWorld(t), 6); differs != "" {
		t.Error(differs)
	}
	control := newWorld(t)
	control.hand.Greedy()
	if orders(control, 6) == "" {
		t.Error("the control without the one-candidate rule gave the same matches in every order")
	}
}

// orders runs rounds with some payments, each in three orders, and returns a difference if there is
// one.
func orders(w *world, rounds int) string {
	dice := rand.New(rand.NewPCG(4, 7))
	for round := range rounds {
		var steps []func(base int, key string)
		for n := range 14 {
			at, amount := dice.IntN(30), []string{"5.00", "7.00"}[dice.IntN(2)]
			if n%2 == 0 {
				steps = append(steps, func(base int, _ string) { as(w, ada, w.hand.Add, w.cash(base+at, amount)) })
			} else {
				steps = append(steps, func(base int, key string) {
					w.sync(w.bank(fmt.Sprintf("%s-%d", key, n), base+at, amount))
				})
			}
		}
		var first []string
		for try := range 3 {
			base := (3*round + try) * 100 // separate days for each order
			for _, n := range dice.Perm(len(steps)) {
				steps[n](base, fmt.Sprintf("r%dt%d", round, try))
			}
			got, err := pg.Values[string](w.Context(), w.db, `
				select concat_ws(' ', m.date - $1::date, m.amount, b.date - $1::date, split_part(b.provider_id, '-', 2))
				from manual_match x join transaction m on m.id = x.manual_id join transaction b on b.id = x.bank_id
				where x.state = 'matched' and m.date between $1 and $1::date + 50 and m.excluded order by 1`, day(base))
			if err != nil {
				w.Fatal(err)
			}
			if try == 0 {
				first = got
			} else if !slices.Equal(first, got) {
				return fmt.Sprintf("round %d: %s and %s", round, first, got)
			}
		}
	}
	return ""
}

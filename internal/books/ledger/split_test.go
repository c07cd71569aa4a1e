package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A splitWorld holds books that a bank, people and agents change at random.
type splitWorld struct {
	*testBooks
	journal  *journal.Journal
	accounts *account.Register
	dice     *rand.Rand
	done     map[string]int
	extreme  bool // amounts are as large as possible
}

// extremes are amounts that hardly fit, alone or together.
var extremes = []string{
	"9999999999.99", "-9999999999.99", "5000000000.00", "-5000000000.00", "4999999999.99", "-4999999999.98", "10.00",
	"-20.00",
}

// amount returns a random amount of a payment.
func (w *splitWorld) amount(dice *rand.Rand) string {
	if w.extreme {
		return extremes[dice.IntN(len(extremes))]
	}
	return fmt.Sprintf("%d.%02d", dice.IntN(90)-10, dice.IntN(100))
}

func newSplitWorld(t *testing.T, seed uint64) *splitWorld {
	t.Helper()
	b := newTestBooks(t)
	w := &splitWorld{
		testBooks: b, accounts: account.New(b.db), dice: rand.New(rand.NewPCG(seed, 1)), done: map[string]int{},
		journal: journal.New(journal.Config{DB: b.db, Subjects: b.Subjects()}),
	}
	var rows []Incoming
	for i := range 40 {
		rows = append(rows, told(b.account, fmt.Sprint("r", i), fmt.Sprintf("2026-05-%02d", 1+i%28),
			fmt.Sprintf("%d.%02d", 20+i, i), fmt.Sprint("SHOP ", i%7)))
	}
	w.merge(t, rows...)
	ctx := as(t.Context(), op.User)
	if err := b.db.InTx(ctx, func(tx pg.Tx) error {
		if _, err := b.categories.Register(ctx, tx, []string{"gift"}); err != nil {
			return err
		}
		_, err := w.accounts.SetBalance(ctx, tx, account.SetBalance{
			BalanceDay: account.BalanceDay{ID: b.account.String(), Day: rows[27].Date}, Current: money.MustParse("1000.00"),
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// standing returns everything that splitting must not change: the balances of all days, the proof,
// and the totals of the bank's rows.
func (w *splitWorld) standing(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	balances, err := w.accounts.Balances(ctx, w.db, account.ListBalances{
		ID: w.account.String(), Derive: true, Limit: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := w.accounts.Proof(ctx, w.db, account.ProveAccount{ID: w.account.String()})
	if err != nil {
		t.Fatal(err)
	}
	totals, err := pg.Values[string](ctx, w.db, `select currency || ' ' || sum(amount) || ' ' || count(*)
		from transaction t where deleted_at is null and origin <> 'part' group by currency order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal([]any{balances, proof, totals})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// some returns the id of a random transaction that fulfills a condition, or "" if there is none.
func (w *splitWorld) some(ctx context.Context, condition string, n int) string {
	found, err := pg.Values[string](ctx, w.db, `select short_id from transaction t where `+condition+` order by id`)
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[n%len(found)]
}

// division returns a random split of an amount.
func (w *splitWorld) division(dice *rand.Rand, keep []TransactionPart) []SplitPart {
	parts := make([]SplitPart, 2+dice.IntN(4))
	for i := range parts {
		cents, _ := money.FromCents(1 + dice.Int64N(4000) - dice.Int64N(300)*2)
		if cents.IsZero() {
			cents = money.MustParse("1.00")
		}
		if w.extreme {
			cents = money.MustParse(extremes[dice.IntN(len(extremes))])
		}
		parts[i].Amount = &cents
		if i < len(keep) && dice.IntN(3) > 0 {
			parts[i].ID = new(keep[i].ShortID)
		}
		if dice.IntN(2) == 0 {
			parts[i].Category = op.Null[string]{Set: true, Value: new([]string{"home_rent", "food_and_drink_groceries"}[dice.IntN(2)])}
		}
		if dice.IntN(4) == 0 {
			parts[i].Tags = []string{"gift"}
		}
	}
	parts[dice.IntN(len(parts))].Amount = nil
	return parts
}

// A splitStep is a random event, and whether it may change the account's balance.
type splitStep struct {
	name  string
	moves bool
	do    func(ctx context.Context, tx pg.Tx, n int, dice *rand.Rand) error
}

func (w *splitWorld) steps() []splitStep {
	bank := "t.origin = 'bank' and t.deleted_at is null"
	return []splitStep{
		{"sync", true, func(ctx context.Context, tx pg.Tx, _ int, dice *rand.Rand) error {
			var rows []Incoming
			seen := map[int]bool{}
			for range 1 + dice.IntN(6) {
				n := dice.IntN(50)
				if seen[n] {
					continue
				}
				seen[n] = true
				r := told(w.account, fmt.Sprint("r", n), fmt.Sprintf("2026-05-%02d", 1+dice.IntN(28)),
					w.amount(dice), fmt.Sprint("SHOP ", dice.IntN(7)))
				r.Pending = dice.IntN(5) == 0
				rows = append(rows, r)
			}
			m, err := w.MergeJudged(ctx, tx, rows, nil)
			if err == nil {
				_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, m.Entries)
			}
			return err
		}},
		{"gone", true, func(ctx context.Context, tx pg.Tx, n int, _ *rand.Rand) error {
			entries, err := w.Remove(ctx, tx, w.account, []string{fmt.Sprint("r", n%50)})
			if err == nil {
				_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, entries)
			}
			return err
		}},
		{"split", false, func(ctx context.Context, tx pg.Tx, n int, dice *rand.Rand) error {
			t := w.some(ctx, bank, n)
			if t == "" {
				return nil
			}
			was, err := w.Transaction(ctx, tx, TransactionRef{t})
			if err == nil {
				_, err = w.SplitTransaction(ctx, tx, SplitTransaction{
					TransactionID: t, Parts: w.division(dice, was.Parts), Force: dice.IntN(2) == 0,
				})
			}
			return err
		}},
		{"split the split", false, func(ctx context.Context, tx pg.Tx, n int, dice *rand.Rand) error {
			t := w.some(ctx, "t.is_split and t.deleted_at is null", n)
			if t == "" {
				return nil
			}
			was, err := w.Transaction(ctx, tx, TransactionRef{t})
			if err == nil {
				_, err = w.SplitTransaction(ctx, tx, SplitTransaction{TransactionID: t, Parts: w.division(dice, was.Parts)})
			}
			return err
		}},
		{"join", false, func(ctx context.Context, tx pg.Tx, n int, _ *rand.Rand) error {
			t := w.some(ctx, "t.is_split", n)
			if t == "" {
				return nil
			}
			_, err := w.JoinTransaction(ctx, tx, JoinTransaction{TransactionID: t})
			return err
		}},
		{"edit", false, func(ctx context.Context, tx pg.Tx, n int, dice *rand.Rand) error {
			t := w.some(ctx, "true", n)
			_, _, err := w.operate(ctx, tx, []Operation{{
				TransactionID: t, Category: op.Null[string]{Set: true, Value: new("home_rent")}, TagsToAdd: []string{"gift"},
			}}, dice.IntN(2) == 0)
			return err
		}},
		{"delete", true, func(ctx context.Context, tx pg.Tx, n int, _ *rand.Rand) error {
			_, err := w.DeleteTransaction(ctx, tx, TransactionRef{w.some(ctx, "t.is_split", n)})
			return err
		}},
		{"restore", true, func(ctx context.Context, tx pg.Tx, n int, _ *rand.Rand) error {
			_, err := w.RestoreTransaction(ctx, tx, TransactionRef{w.some(ctx, "t.deleted_at is not null and t.origin = 'bank'", n)})
			return err
		}},
		{"mark", true, func(ctx context.Context, tx pg.Tx, n int, dice *rand.Rand) error {
			t, err := w.lockTransaction(ctx, tx, w.some(ctx, "t.is_split", n))
			if err == nil {
				err = w.Mark(ctx, tx, []Mark{{Transaction: t.ID, Excluded: dice.IntN(2) == 0, Transfer: dice.IntN(2) == 0}})
			}
			return err
		}},
		{"revert", true, func(ctx context.Context, tx pg.Tx, n int, _ *rand.Rand) error {
			changes, err := pg.Values[id.ID](ctx, tx, `select id from change order by seq desc limit 40`)
			if err != nil || len(changes) == 0 {
				return err
			}
			_, err = w.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: changes[n%len(changes)].String()})
			return err
		}},
	}
}

var errKilled = errors.New("killed")

// step runs one step. In about one of 50 cases it cuts the connection before the commit.
func (w *splitWorld) step(t *testing.T, s splitStep, dice *rand.Rand) error {
	t.Helper()
	ctx := as(t.Context(), []string{op.User, op.User, op.Agent}[dice.IntN(3)])
	n, killed := dice.IntN(1<<20), dice.IntN(50) == 0
	err := w.db.InTx(ctx, func(tx pg.Tx) error {
		if err := s.do(ctx, tx, n, dice); err != nil {
			return err
		}
		if killed {
			_, _ = tx.Exec(ctx, `select pg_terminate_backend(pg_backend_pid())`)
			return errKilled
		}
		return nil
	})
	if e, ok := errors.AsType[*errs.Error](err); ok && e.Code.Status() < 500 || errors.Is(err, errKilled) {
		return nil // rejected, and nothing was written
	}
	return err
}

func (w *splitWorld) faults(t *testing.T) []*id.ID {
	t.Helper()
	found, err := pg.Values[*id.ID](t.Context(), w.db, ledgertest.Unsound)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// At every commit the parts of a transaction add up to it, whatever the bank, people and agents do.
// Neither splitting nor edits of parts change an account's balance.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()
	n := 1000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		n = 10_000
	}
	w := newSplitWorld(t, 1)
	steps := w.steps()
	for i := range n {
		s := steps[w.dice.IntN(len(steps))]
		before := ""
		if !s.moves && i%5 == 0 {
			before = w.standing(t)
		}
		if err := w.step(t, s, w.dice); err != nil {
			t.Fatalf("step %d, %s: %v", i, s.name, err)
		}
		if bad := w.faults(t); len(bad) > 0 {
			t.Fatalf("step %d, %s: %v do not add up", i, s.name, bad)
		}
		if before != "" && before != w.standing(t) {
			t.Fatalf("step %d, %s: the balances, the proof or the totals changed", i, s.name)
		}
		w.done[s.name]++
	}
	split, err := pg.One[struct {
		Now    int `db:"now"`
		Parts  int `db:"parts"`
		Review int `db:"review"`
	}](t.Context(), w.db, `select count(*) filter (where is_split)::int as now, count(*) filter (where origin = 'part')::int as parts,
		(select count(*)::int from transaction_tag tt join tag g on g.id = tt.tag_id and g.slug = 'needs-review'
			join transaction p on p.id = tt.transaction_id and p.origin = 'part') as review from transaction`)
	if err != nil || split.Now < 3 || split.Parts < n/10 || split.Review == 0 {
		t.Errorf("control: too little was split: %+v, %v (%v)", split, w.done, err)
	}
}

// The same with four writers at once while a reader checks every committed state.
func TestPartsAddUpForManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 2)
	steps := w.steps()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(worker), 7))
			for range 60 {
				if err := w.step(t, steps[dice.IntN(len(steps))], dice); err != nil && !strings.Contains(err.Error(), "deadlock") {
					t.Error(err)
				}
				if bad := w.faults(t); len(bad) > 0 {
					t.Errorf("%v do not add up", bad)
				}
			}
		})
	}
	all.Wait()
}

// The control: without the update of the remainder, the sum is wrong after a bank changes an
// amount, and the check finds that.
func TestPartsDoNotAddUpWithoutTheRemainder(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 3)
	split := w.steps()[2]
	for range 40 {
		if err := w.step(t, split, w.dice); err != nil {
			t.Fatal(err)
		}
	}
	if bad := w.faults(t); len(bad) > 0 {
		t.Fatalf("%v do not add up yet", bad)
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
	for range 20 {
		if err := w.step(t, w.steps()[0], w.dice); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.faults(t)) == 0 {
		t.Error("no sum broke")
	}
}

// hash returns a text that represents the whole books.
func (w *splitWorld) hash(t *testing.T) string {
	t.Helper()
	s, err := ledgertest.Canonical(t.Context(), w.db, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Splits can be reverted in any order: a revert that a later change depends on waits for that
// change's revert.
func TestSplitsAreUndoneInAnyOrder(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 5)
	ctx := as(t.Context(), op.User)
	hash := func() string { return w.hash(t) }
	last, err := pg.Value[int64](ctx, w.db, `select max(seq) from change`)
	if err != nil {
		t.Fatal(err)
	}
	before := hash()
	for i := range 120 {
		if err := w.step(t, w.steps()[2+w.dice.IntN(4)], w.dice); err != nil {
			t.Fatal(i, err)
		}
	}
	if hash() == before {
		t.Error("control: nothing was split")
	}
	left, err := pg.Values[id.ID](ctx, w.db, `select id from change where seq > $1`, last)
	if err != nil {
		t.Fatal(err)
	}
	for was := 0; len(left) != was; {
		was = len(left)
		w.dice.Shuffle(was, func(i, j int) { left[i], left[j] = left[j], left[i] })
		left = slices.DeleteFunc(left, func(c id.ID) (whole bool) {
			err := w.db.InTx(ctx, func(tx pg.Tx) error {
				out, err := w.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: c.String()})
				whole = err == nil && len(out.Skipped) == 0
				return err
			})
			if err != nil && !errs.Is(err, errs.Conflict) {
				t.Fatal(err)
			}
			return whole
		})
	}
	if got := hash(); len(left) > 0 || got != before {
		t.Errorf("%d changes are not reverted, and the books differ from before: %s\n%s", len(left), before, got)
	}
}

// Every split, join and edit of a part can be reverted: reverting newest first restores the books,
// and reverting those reverts brings everything back.
func TestSplitsAreUndone(t *testing.T) {
	t.Parallel()
	w := newSplitWorld(t, 4)
	ctx := as(t.Context(), op.User)
	hash := func() string { return w.hash(t) }
	last, err := pg.Value[int64](ctx, w.db, `select max(seq) from change`)
	if err != nil {
		t.Fatal(err)
	}
	before := hash()
	for i := range 80 {
		if err := w.step(t, w.steps()[2+w.dice.IntN(4)], w.dice); err != nil {
			t.Fatal(i, err)
		}
	}
	after := hash()
	undo := func(from int64) int64 {
		changes, err := pg.Values[id.ID](ctx, w.db, `select id from change where seq > $1 order by seq desc`, from)
		if err != nil || len(changes) < 20 {
			t.Fatalf("%d changes, %v", len(changes), err)
		}
		top, err := pg.Value[int64](ctx, w.db, `select max(seq) from change`)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if err := w.db.InTx(ctx, func(tx pg.Tx) error {
				out, err := w.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: c.String()})
				if err == nil && len(out.Skipped) > 0 {
					err = fmt.Errorf("skipped: %+v", out.Skipped)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if bad := w.faults(t); len(bad) > 0 { //nolint:contextcheck // as long as the test
			t.Errorf("%v do not add up", bad)
		}
		return top
	}
	last = undo(last)
	if got := hash(); got != before {
		t.Errorf("after the reverts the books differ from before: %s\n%s", before, got)
	}
	undo(last)
	if got := hash(); got != after {
		t.Errorf("after reverting the reverts the books differ: %s\n%s", after, got)
	}
}

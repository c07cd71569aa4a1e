package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
	"github.com/google/go-cmp/cmp"
)

// told returns a transaction as a bank would send it.
func told(account id.ID, provider, date, amount, name string) Incoming {
	d, err := pg.ParseDate(date)
	if err != nil {
		panic(err)
	}
	return Incoming{
		AccountID: account, ProviderID: provider, Date: d, Amount: money.MustParse(amount), Currency: "EUR",
		Name:            text.Name(name),
		CategoryPrimary: text.Name("FOOD_AND_DRINK"), CategoryDetailed: text.Name("FOOD_AND_DRINK_COFFEE"),
	}
}

// testBooks are books with one account.
type testBooks struct {
	*Books
	db      *pg.DB
	account id.ID
}

func newTestBooks(t *testing.T) *testBooks {
	t.Helper()
	db := pgtest.New(t)
	b := &testBooks{Books: New(db, category.New(CategoryUser{})), db: db}
	err := db.InTx(t.Context(), func(tx pg.Tx) error {
		ids, err := account.New(b.db).AddAccounts(t.Context(), tx,
			[]account.Incoming{{
				Provider: "plaid", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository",
				Currency: "EUR",
			}})
		if err == nil {
			b.account = ids[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *testBooks) merge(t *testing.T, rows ...Incoming) Merged {
	t.Helper()
	var out Merged
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		out, err = b.Merge(t.Context(), tx, slices.Values(rows))
		if err != nil {
			return err
		}
		_, err = journal.Record(t.Context(), tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, out.Entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (b *testBooks) one(t *testing.T, provider string) Transaction {
	t.Helper()
	u, err := pg.Value[id.ID](t.Context(), b.db, `select id from transaction where provider_id = $1`, provider)
	if err != nil {
		t.Fatalf("%s: %v", provider, err)
	}
	found, err := b.single(t.Context(), b.db, TransactionRef{u.String()})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestMergeTellsNewChangedAndUnchangedApart(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	a := b.account
	first, second := told(a, "m1", "2026-05-01", "4.80", "CAFE"), told(a, "m2", "2026-05-02", "5.00", "CAFE")
	if m := b.merge(t, first, second); len(m.Inserted) != 2 || len(m.Changed)+int(m.Unchanged)+int(m.Touched) != 0 {
		t.Fatalf("the first page: %+v", m)
	}
	if m := b.merge(t, first, second); m.Unchanged != 2 || len(m.Inserted)+len(m.Changed)+len(m.Entries) != 0 {
		t.Errorf("the same page again: %+v", m)
	}
	second.Amount = money.MustParse("5.50")
	if m := b.merge(t, first, second); m.Unchanged != 1 || len(m.Changed) != 1 {
		t.Errorf("a changed amount: %+v", m)
	}
	second.PaymentChannel = "online"
	if m := b.merge(t, second); m.Touched != 1 || len(m.Changed) != 0 {
		t.Errorf("a change in a field that no rule reads: %+v", m)
	}
	if got := b.one(t, "m2"); got.Amount.String() != "5.50" || got.PaymentChannel == nil ||
		*got.PaymentChannel != "online" {
		t.Errorf("stored: %+v", got)
	}
}

// A page without changes writes nothing: no row gets a new version and no row is locked.
func TestMergeOfTheSameWritesNothing(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	rows := make([]Incoming, 500)
	for i := range rows {
		rows[i] = told(b.account, fmt.Sprintf("w%d", i), "2026-05-01", "1.00", fmt.Sprintf("SHOP %d", i%7))
	}
	b.merge(t, rows...)
	state := `select md5(string_agg(ctid::text || xmin::text || xmax::text, ',' order by ctid)) from transaction`
	before, err := pg.Value[string](t.Context(), b.db, state)
	if err != nil {
		t.Fatal(err)
	}
	b.merge(t, rows...)
	if after, err := pg.Value[string](t.Context(), b.db, state); err != nil || after != before {
		t.Errorf("rows were written or locked, %v", err)
	}
	rows[3].Pending = true
	b.merge(t, rows...)
	if after, err := pg.Value[string](t.Context(), b.db, state); err != nil || after == before {
		t.Errorf("control: a change is not detected, %v", err)
	}
}

// A pending transaction that posts stays the same transaction and keeps everything that was set on
// it, in whatever order and however often the rows come.
func TestMergeKeepsWhatPosts(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	a := b.account
	pending := told(a, "p1", "2026-05-01", "40.00", "RESTAURANT HOLD")
	pending.Pending = true
	b.merge(t, pending)
	before := b.one(t, "p1")
	person := as(t.Context(), op.User)
	if err := b.db.InTx(person, func(tx pg.Tx) error {
		_, _, err := b.operate(person, tx, []Operation{{
			TransactionID: before.ID.String(), Category: op.Null[string]{Set: true, Value: new("food_and_drink_bars")},
			TagsToAdd: []string{"trip"}, Comment: new("with Ben"),
		}}, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	posted := told(a, "p2", "2026-05-03", "46.00", "RESTAURANT")
	posted.PendingID = "p1"
	m := b.merge(t, posted)
	if m.Posted != 1 || len(m.Changed) != 1 || len(m.Inserted) != 0 {
		t.Fatalf("posting: %+v", m)
	}
	wanted := journal.Event{
		Transaction: before.ID, Action: journal.Posted,
		Before: new("amount 40.00; date 2026-05-01; name RESTAURANT HOLD"),
		After:  new("amount 46.00; date 2026-05-03; name RESTAURANT"),
	}
	if diff := cmp.Diff([]journal.Event{wanted}, m.Events); diff != "" {
		t.Errorf("events for the timeline:\n%s", diff)
	}
	after := b.one(t, "p2")
	if after.ID != before.ID || after.Pending || after.Amount.String() != "46.00" ||
		*after.Category != "food_and_drink_bars" || !slices.Equal(after.Tags, []string{"trip"}) ||
		after.CommentCount != 1 {
		t.Errorf("after posting: %+v", after)
	}
	// An interrupted sync starts again: the pending row comes once more, then its successor, then
	// its removal.
	if m := b.merge(t, pending); m.Unchanged != 1 || len(m.Inserted)+len(m.Changed) != 0 {
		t.Errorf("the old id again: %+v", m)
	}
	if m := b.merge(t, posted); m.Unchanged != 1 {
		t.Errorf("the new id again: %+v", m)
	}
	if gone := b.remove(t, "p1"); gone != 0 {
		t.Errorf("removing the old id removed %d transactions", gone)
	}
}

func (b *testBooks) remove(t *testing.T, providers ...string) int {
	t.Helper()
	var entries []journal.Entry
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		if entries, err = b.Remove(t.Context(), tx, b.account, providers); err != nil {
			return err
		}
		_, err = journal.Record(t.Context(), tx, journal.Note{Cause: journal.Sync, Summary: "Synced"}, entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestTombstonesOfBanksAndPeople(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	mine, theirs := told(b.account, "t1", "2026-05-01", "1.00", "A"), told(b.account, "t2", "2026-05-01", "2.00", "B")
	b.merge(t, mine, theirs)
	person, first := as(t.Context(), op.User), b.one(t, "t1").ID.String()
	if err := b.db.InTx(person, func(tx pg.Tx) error {
		_, err := b.DeleteTransaction(person, tx, TransactionRef{first})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if n := b.remove(t, "t1", "t2", "unknown"); n != 1 {
		t.Errorf("%d transactions were removed", n)
	}
	m := b.merge(t, mine, theirs)
	if len(m.Changed) != 1 || m.Unchanged != 1 || len(m.Entries) != 1 {
		t.Errorf("both rows again: %+v", m)
	}
	if b.one(t, "t1").DeletedAt == nil {
		t.Error("the bank lifted a person's tombstone")
	}
	if b.one(t, "t2").DeletedAt != nil {
		t.Error("the bank did not lift its own tombstone")
	}
}

// A category that came from the bank's own follows it again; a category that someone set stays.
func TestMergeRemapsOnlyWhatNobodySet(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	free, held := told(b.account, "c1", "2026-05-01", "1.00", "A"), told(b.account, "c2", "2026-05-01", "2.00", "B")
	b.merge(t, free, held)
	agent, second := as(t.Context(), op.Agent), b.one(t, "c2").ID.String()
	if err := b.db.InTx(agent, func(tx pg.Tx) error {
		_, _, err := b.operate(agent, tx, []Operation{{
			TransactionID: second,
			Category:      op.Null[string]{Set: true, Value: new("food_and_drink_bars")},
		}}, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	free.CategoryDetailed, held.CategoryDetailed = text.Name("FOOD_AND_DRINK_GROCERIES"), text.Name(
		"FOOD_AND_DRINK_GROCERIES")
	m := b.merge(t, free, held)
	if len(m.Changed) != 2 || len(m.Entries) != 1 {
		t.Errorf("%+v", m)
	}
	if got := b.one(t, "c1"); *got.Category != "food_and_drink_groceries" || *got.CategorySource != "provider" {
		t.Errorf("category from the bank: %s by %s", *got.Category, *got.CategorySource)
	}
	if got := b.one(t, "c2"); *got.Category != "food_and_drink_bars" || *got.CategorySource != "agent" {
		t.Errorf("category set by a person: %s by %s", *got.Category, *got.CategorySource)
	}
}

// The books end the same as a small model of the bank, however the bank's history is cut into pages
// and however often pages come again.
func TestMergeInAnyPages(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		dice := rand.New(rand.NewPCG(seed, 5))
		b := newTestBooks(t)
		truth := map[string]Incoming{}
		var feed []Incoming
		for i := range 60 {
			r := told(b.account, fmt.Sprintf("r%d", dice.IntN(25)), fmt.Sprintf("2026-05-%02d", 1+dice.IntN(28)),
				fmt.Sprintf("%d.%02d", dice.IntN(90), i), fmt.Sprintf("SHOP %d", dice.IntN(5)))
			truth[r.ProviderID], feed = r, append(feed, r)
		}
		for at := 0; at < len(feed); {
			end := min(len(feed), at+1+dice.IntN(12))
			page := map[string]Incoming{}
			for _, r := range feed[at:end] {
				page[r.ProviderID] = r // a page has each identity once
			}
			rows := make([]Incoming, 0, len(page))
			for _, r := range page {
				rows = append(rows, r)
			}
			for range 1 + dice.IntN(2) {
				b.merge(t, rows...)
			}
			at = end
		}
		type stored struct {
			Provider string `db:"provider_id"`
			Amount   string `db:"amount"`
			Date     string `db:"date"`
			Name     string `db:"name"`
		}
		got, err := pg.All[stored](t.Context(), b.db, `
			select t.provider_id, t.amount::text, t.date::text, d.name from transaction t
				join descriptor d on d.id = t.descriptor_id where t.provider_id like 'r%' and t.deleted_at is null`)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(truth) {
			t.Errorf("seed %d: %d rows, the bank has %d", seed, len(got), len(truth))
		}
		for _, g := range got {
			if w := truth[g.Provider]; g.Amount != w.Amount.String() || g.Date != w.Date.String() ||
				g.Name != w.Name.Plain() {
				t.Errorf("seed %d: %+v, the bank has %s %s %s", seed, g, w.Amount, w.Date, w.Name.Plain())
			}
		}
	}
}

// A merge waits for a concurrent merge of the same rows, and then finds them stored.
func TestMergeOfTheSameAtOnce(t *testing.T) {
	t.Parallel()
	b := newTestBooks(t)
	rows := make([]Incoming, 200)
	for i := range rows {
		rows[i] = told(b.account, fmt.Sprintf("s%d", i), "2026-05-01", "1.00", "SHOP")
	}
	var group sync.WaitGroup
	var inserted atomic.Int64
	for range 6 {
		group.Go(func() {
			err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
				m, err := b.Merge(t.Context(), tx, slices.Values(rows))
				if err == nil {
					inserted.Add(int64(len(m.Inserted)))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := inserted.Load(); n != 200 {
		t.Errorf("%d rows were new", n)
	}
}

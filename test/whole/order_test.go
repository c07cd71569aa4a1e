package whole_test

import (
	"context"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// in runs f in a transaction, as Ada.
func (h *house) in(t *testing.T, f func(ctx context.Context, tx pg.Tx) error) {
	t.Helper()
	ctx := op.WithActor(t.Context(), ada)
	if err := h.db.InTx(ctx, func(tx pg.Tx) error { return f(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// file categorizes a transaction and returns the change.
func (h *house) file(t *testing.T, transaction id.ID, category string) (change id.ID) {
	t.Helper()
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		done, err := h.books.BatchCategorize(ctx, tx,
			ledger.BatchCategorize{TransactionIDs: []string{transaction.String()}, CategoryID: category})
		if err == nil {
			change = *done.ChangeID
		}
		return err
	})
	return change
}

// back reverts a change and returns the change that the revert made.
func (h *house) back(t *testing.T, change id.ID) (by id.ID) {
	t.Helper()
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		done, err := h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
		if err != nil {
			return err
		}
		if done.Change == nil || len(done.Skipped) > 0 {
			t.Fatalf("the revert left something: %+v", done)
		}
		by = done.Change.ID
		return nil
	})
	return by
}

func (h *house) slug(t *testing.T, transaction id.ID) string {
	t.Helper()
	s, err := pg.Value[string](t.Context(), h.db, `select coalesce(c.slug, '') from transaction t left
		join category c on c.id = t.category_id where t.id = $1`, transaction)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRedoInTurn: changes that were undone one by one can be redone one by one, and undone again,
// any number of times.
func TestRedoInTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	it := h.txs[5]
	first, second := h.file(t, it, "qa"), h.file(t, it, "qb")
	for range 3 {
		second = h.back(t, second)
		first = h.back(t, first)
		if got := h.slug(t, it); got != "" {
			t.Fatalf("after the undo its category is %q", got)
		}
		first = h.back(t, first)
		if got := h.slug(t, it); got != "qa" {
			t.Fatalf("the first one brought back leads to %q", got)
		}
		second = h.back(t, second)
		if got := h.slug(t, it); got != "qb" {
			t.Fatalf("both brought back lead to %q", got)
		}
	}
}

// TestRevertsInPartsStayApart: a change is reverted in two parts, because a field was written in
// between. Redoing one part does not make the other part count as reverted.
func TestRevertsInPartsStayApart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.meaning(t)
	revert := func(change id.ID) (done journal.Reverted) {
		t.Helper()
		h.in(t, func(ctx context.Context, tx pg.Tx) (err error) {
			done, err = h.journal.Revert(ctx, tx, journal.RevertChange{ChangeID: change.String()})
			return err
		})
		return done
	}
	var both, between id.ID
	newest := func() id.ID { return h.list(t)[0] }
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		_, err := h.categories.ImportCategories(ctx, tx,
			category.ImportCategories{TSV: "slug\tdisplay_name\nqc\tnew\nqa\trenamed\n"})
		return err
	})
	both = newest()
	h.file(t, h.txs[5], "qc") // a revert to this value needs the category
	h.file(t, h.txs[5], "qb")
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		_, err := h.categories.PatchCategory(ctx, tx, category.PatchCategory{ID: "qa", Name: new("renamed again")})
		return err
	})
	between = newest()
	first := revert(both)
	h.back(t, between)
	second := revert(both)
	if first.Reverted != 1 || len(first.Skipped) != 1 || second.Reverted != 1 || len(second.Skipped) != 0 {
		t.Fatalf("the parts are %+v and %+v", first, second)
	}
	list := h.list(t)
	if left := h.undo(t, list); len(left) > 0 || len(list) != 7 {
		t.Errorf("of %d changes these left something: %s", len(list), left)
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
}

// TestLongChangesStayInOrder: two changes have several parts, and each writes some records after
// the other did. Neither change hides the other's later parts. In the order of the list, each can
// be reverted once.
func TestLongChangesStayInOrder(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.meaning(t)
	extend := func(change *id.ID, category string, ids ...id.ID) (extended, beside *id.ID) {
		t.Helper()
		h.in(t, func(ctx context.Context, tx pg.Tx) error {
			at, err := journal.Continue(ctx, tx, change)
			if err != nil {
				return err
			}
			where, err := h.categories.Keep(ctx, tx, "category", category)
			if err != nil {
				return err
			}
			var edits []ledger.Edit
			for _, u := range ids {
				edits = append(edits, ledger.Edit{
					Transaction: u, Field: journal.FieldCategory,
					Value: new(where.ID.String()),
				})
			}
			_, entries, err := h.books.Apply(ctx, tx, edits, true)
			if err != nil {
				return err
			}
			extended, beside, err = journal.Extend(ctx, tx, at, journal.Note{Cause: journal.Rule, Summary: "Long work"},
				entries)
			return err
		})
		return extended, beside
	}
	one, _ := extend(nil, "qa", h.txs[5])
	two, _ := extend(nil, "qb", h.txs[6])
	h.file(t, h.txs[7], "qaa")
	same, beside := extend(one, "qa", h.txs[6], h.txs[7], h.txs[8]) // two of them have been changed since
	if same == nil || *same != *one || beside == nil {
		t.Fatalf("the first change went on as %v, beside %v", same, beside)
	}
	if _, beside := extend(two, "qb", h.txs[5]); beside != nil {
		t.Fatal("what came before the second change does not keep it from going on")
	}
	if _, beside := extend(two, "qb", h.txs[8]); beside != nil {
		t.Fatal("a part of an earlier change does not keep the second one from going on")
	}
	list := h.list(t)
	if left := h.undo(t, list); len(left) > 0 || len(list) != 4 {
		t.Errorf("of %d changes these left something: %s", len(list), left)
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
}

// while starts f, which must wait for the uncommitted edit of a record. While f waits, it calls
// meanwhile. It then commits the edit and returns the result of f.
func (h *house) while(t *testing.T, edit string, arg any, f func(ctx context.Context, tx pg.Tx) error,
	meanwhile ...func(),
) error {
	t.Helper()
	tx, err := h.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), edit, arg); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	ctx := op.WithActor(t.Context(), ada)
	go func() { done <- h.db.InTx(ctx, func(tx pg.Tx) error { return f(ctx, tx) }) }()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		waits, err := pg.Value[bool](t.Context(), h.db, `select exists (select from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock')`)
		if err != nil || time.Now().After(deadline) {
			t.Fatal("nobody waits", err)
		}
		if waits {
			break
		}
	}
	for _, call := range meanwhile {
		call()
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return <-done
}

// TestMergesTakeAlongWhatIsBeingEdited: somebody edits a transaction while its counterparty or
// category is merged. The transaction moves with the merge like all others.
func TestMergesTakeAlongWhatIsBeingEdited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids, err := pg.Values[string](t.Context(), h.db, `select id::text from counterparty order by name`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.db.Exec(t.Context(), `update transaction set counterparty_id = $1,
		counterparty_source = 'rule'`, ids[0]); err != nil {
		t.Fatal(err)
	}
	const edit = `update transaction set updated_at = now() where id <> $1`
	// Force the query plan that PostgreSQL chooses for many transactions.
	const many = `set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_hashjoin = off;
		set local enable_mergejoin = off`
	err = h.while(t, edit, h.txs[0], func(ctx context.Context, tx pg.Tx) error {
		if _, err := tx.Exec(ctx, many); err != nil {
			return err
		}
		_, err := h.others.Merge(ctx, tx, counterparty.MergeCounterparty{ID: ids[0], Into: ids[1]})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = h.while(t, edit, h.txs[0], func(ctx context.Context, tx pg.Tx) error {
		if _, err := tx.Exec(ctx, many); err != nil {
			return err
		}
		_, err := h.categories.MergeCategory(ctx, tx, category.MergeCategory{ID: "qaa", Into: "qab"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if broken := h.contradictions(t); len(broken) > 0 {
		t.Error(broken)
	}
}

// TestMergesRecordWhatIsFiledMeanwhile: while a merge of a category waits for one counterparty,
// another one gets the category. The merge moves and records that one too, so that undoing the merge
// gives the category back to both.
func TestMergesRecordWhatIsFiledMeanwhile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.meaning(t)
	ids, err := pg.Values[string](t.Context(), h.db, `select id::text from counterparty order by name`)
	if err != nil {
		t.Fatal(err)
	}
	file := func(counterpartyID string) {
		h.in(t, func(ctx context.Context, tx pg.Tx) error {
			_, err := h.others.Patch(ctx, tx, counterparty.PatchCounterparty{
				ID: counterpartyID, CategoryID: op.Null[string]{Set: true, Value: new("qaa")},
			})
			return err
		})
	}
	file(ids[0])
	err = h.while(t, `update counterparty set updated_at = now() where id = $1::text::uuid`, ids[0],
		func(ctx context.Context, tx pg.Tx) error {
			_, err := h.categories.MergeCategory(ctx, tx, category.MergeCategory{ID: "qaa", Into: "qab"})
			return err
		}, func() { file(ids[1]) })
	if err != nil {
		t.Fatal(err)
	}
	if broken := h.contradictions(t); len(broken) > 0 {
		t.Error(broken)
	}
	list := h.list(t)
	if left := h.undo(t, list[:1]); len(left) > 0 {
		t.Error(left)
	}
	filed, err := pg.Value[int](t.Context(), h.db, `select count(*)::int from counterparty p
		join category c on c.id = p.category_id where c.slug = 'qaa'`)
	if err != nil || filed != 2 {
		t.Errorf("%d of 2 counterparties have their category again: %v", filed, err)
	}
	if left := h.undo(t, list[1:]); len(left) > 0 {
		t.Error(left)
	}
	if after := h.meaning(t); after != before {
		t.Errorf("the books are not what they were:\n%s", apptest.Difference(before, after))
	}
}

// TestFiledUnderWhatIsBeingMoved: a category can be chosen while somebody moves it to another
// parent.
func TestFiledUnderWhatIsBeingMoved(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	err := h.while(t, `update category set parent_id = (select id from category where slug = 'qb')
		where slug = $1`, "qab", func(ctx context.Context, tx pg.Tx) error {
		_, err := h.books.BatchCategorize(ctx, tx, ledger.BatchCategorize{
			TransactionIDs: []string{h.txs[5].String()},
			CategoryID:     "qab",
		})
		return err
	})
	if err != nil || h.slug(t, h.txs[5]) != "qab" {
		t.Errorf("its category is %q: %v", h.slug(t, h.txs[5]), err)
	}
}

// TestDeletedCategoriesAreInNobodysWay: a primary category whose subcategories are all deleted can
// become a subcategory, by an edit and by a revert.
func TestDeletedCategoriesAreInNobodysWay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	before := h.meaning(t)
	h.in(t, func(ctx context.Context, tx pg.Tx) error {
		if _, err := h.categories.CreateCategory(ctx, tx, category.CreateCategory{
			Slug: "qd", Name: new("d"),
			ParentID: new("qa"),
		}); err != nil {
			return err
		}
		if _, err := h.categories.PatchCategory(ctx, tx, category.PatchCategory{
			ID:       "qd",
			ParentID: op.Null[string]{Set: true},
		}); err != nil {
			return err
		}
		for range 2 {
			if _, err := h.categories.CreateCategory(ctx, tx,
				category.CreateCategory{Slug: "qda", Name: new("da"), ParentID: new("qd")}); err != nil {
				return err
			}
			if _, err := h.categories.DeleteCategory(ctx, tx, category.DeleteCategory{ID: "qda"}); err != nil {
				return err
			}
			if _, err := h.categories.PatchCategory(ctx, tx,
				category.PatchCategory{ID: "qd", ParentID: op.Null[string]{Set: true, Value: new("qb")}}); err != nil {
				return err
			}
			if _, err := h.categories.PatchCategory(ctx, tx,
				category.PatchCategory{ID: "qd", ParentID: op.Null[string]{Set: true}}); err != nil {
				return err
			}
		}
		return nil
	})
	list := h.list(t)
	if left := h.undo(t, list); len(left) > 0 {
		t.Error(left)
	}
	if after := h.meaning(t); after != before || len(list) != 10 {
		t.Errorf("after %d changes the books are not what they were:\n%s", len(list), apptest.Difference(before, after))
	}
}

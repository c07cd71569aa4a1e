package whole_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/app/apptest"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// bulk categorizes all transactions with a tag and removes the tag, as a person does who works
// through an inbox.
func bulk(category string, expect *int) ledger.BulkTransactions {
	return ledger.BulkTransactions{
		Filter: &ledger.Filter{Tags: []string{"qx"}}, Expect: expect, DryRun: expect == nil,
		Set: ledger.BulkSet{
			Category: op.Null[string]{Set: true, Value: &category}, TagsToRemove: []string{"qx"},
		},
	}
}

// TestBulkIsOperations: categorizing all matching transactions at once has the same effect as
// categorizing each of them. One revert undoes it.
func TestBulkIsOperations(t *testing.T) {
	t.Parallel()
	each, all := newHouse(t), newHouse(t)
	before := all.meaning(t)
	each.in(t, func(ctx context.Context, tx pg.Tx) error {
		in := ledger.UpdateTransactions{OnError: "abort"}
		for _, i := range []int{1, 4} { // the seed tagged these
			in.Operations = append(in.Operations, ledger.Operation{
				TransactionID: each.txs[i].String(), Category: op.Null[string]{Set: true, Value: new("qba")},
				TagsToRemove: []string{"qx"},
			})
		}
		_, err := each.books.UpdateTransactions(ctx, tx, in)
		return err
	})
	var would, did ledger.Bulk
	all.in(t, func(ctx context.Context, tx pg.Tx) (err error) {
		would, err = all.books.BulkTransactions(ctx, tx, bulk("qba", nil))
		return err
	})
	if all.meaning(t) != before || would.Matched != 2 || would.Changed != 2 || len(would.Sample) != 2 {
		t.Errorf("the dry run is %+v", would)
	}
	all.in(t, func(ctx context.Context, tx pg.Tx) (err error) {
		did, err = all.books.BulkTransactions(ctx, tx, bulk("qba", &would.Matched))
		return err
	})
	if did.Changed != 2 || did.ChangeID == nil || all.meaning(t) != each.meaning(t) {
		t.Errorf("all at once is not each of them:\n%s", apptest.Difference(each.meaning(t), all.meaning(t)))
	}
	all.back(t, *did.ChangeID)
	if after := all.meaning(t); after != before {
		t.Errorf("the revert left something:\n%s", apptest.Difference(before, after))
	}
}

// TestBulkExpects: of many callers who have seen the same inbox, one writes. The others get a
// conflict, and nothing is written twice.
func TestBulkExpects(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var wrote, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "p", Scope: op.Full})
			err := h.db.InTx(ctx, func(tx pg.Tx) error {
				_, err := h.books.BulkTransactions(ctx, tx, bulk([]string{"qa", "qb"}[i%2], new(2)))
				return err
			})
			switch {
			case err == nil:
				wrote.Add(1)
			case errs.Is(err, errs.Conflict):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	entries, err := pg.Value[int](t.Context(), h.db, `select count(*)::int from entry where field = 'category'`)
	if err != nil || wrote.Load() != 1 || refused.Load() != 99 || entries != 2 {
		t.Errorf("%d wrote %d entries and %d were refused: %v", wrote.Load(), entries, refused.Load(), err)
	}
}

package overview

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// Posted transactions in totals without a category are counted, whether or not they wait for
// review.
func TestOverviewCountsWhatHasNoCategory(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	books := ledger.New(db, category.New(ledger.CategoryUser{}))
	r := New(analytics.New(books, account.New(db)), account.New(db))
	ctx := op.WithActor(context.WithoutCancel(t.Context()), op.Actor{Type: op.System, Name: "test"})
	err := db.InTx(ctx, func(tx pg.Tx) error {
		made, err := account.New(db).AddAccounts(ctx, tx, []account.Incoming{
			{Provider: "csv", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository", Currency: "EUR"},
		})
		if err != nil {
			return err
		}
		var rows []ledger.Incoming
		for key := range strings.FieldsSeq("1 2 3 4 5 6") {
			rows = append(rows, ledger.Incoming{
				AccountID: made[0], ProviderID: key, Date: pg.Day(time.Now()),
				Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name("SHOP"),
			})
		}
		_, err = books.Load(ctx, tx, slices.Values(rows))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, sql := range []string{
		`update setting set household_name = 'Home'`,
		`update transaction set category_id = (select id from category limit 1) where provider_id = '1'`,
		`update transaction set deleted_at = now() where provider_id = '2'`,
		`update transaction set pending = true where provider_id = '3'`,
		`update transaction set excluded = true where provider_id = '4'`,
	} {
		if _, err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
		o, err := r.Overview(ctx, db, op.None{})
		if want := int64(6 - i); err != nil || o.Uncategorized != want || o.Review.Count != 0 {
			t.Errorf("after %q %+v have no category, not %d: %v", sql, o.Uncategorized, want, err)
		}
	}
}

package ledger

import (
	"context"
	"iter"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/household"
)

// filledBooks returns books with a household's transactions in them.
func filledBooks(t testing.TB, transactions int) (*Books, *pg.DB) {
	t.Helper()
	db := pgtest.New(t)
	b := New(db, category.New(CategoryUser{}))
	h := household.New(household.Options{Seed: 1, Transactions: transactions, Years: 1})
	err := db.InTx(t.Context(), func(tx pg.Tx) error { return fill(t.Context(), tx, b, h) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `analyze`); err != nil {
		t.Fatal(err)
	}
	return b, db
}

func fill(ctx context.Context, tx pg.Tx, b *Books, h *household.Household) error {
	accounts := make([]account.Incoming, len(h.Accounts))
	for i, a := range h.Accounts {
		accounts[i] = account.Incoming{
			Provider: h.Provider(i), ProviderID: a.ProviderID, Name: a.Name, Type: a.Type,
			Currency: a.Currency,
		}
	}
	ids, err := account.New(b.db).AddAccounts(ctx, tx, accounts)
	if err != nil {
		return err
	}
	_, err = b.Load(ctx, tx, incoming(h, ids))
	return err
}

func incoming(h *household.Household, accounts []id.ID) iter.Seq[Incoming] {
	return func(yield func(Incoming) bool) {
		for r := range h.Transactions() {
			i := Incoming{
				AccountID: accounts[r.AccountIndex], ProviderID: r.ProviderID, Date: pg.Day(r.Date), Amount: r.Amount,
				Currency: r.Currency, Name: r.Name, MerchantName: r.MerchantName, Detail: r.Detail,
				CategoryPrimary: r.RawPrimary, CategoryDetailed: r.RawDetailed, Extra: bank.Extra{PaymentChannel: r.PaymentChannel},
				Pending: r.Pending,
			}
			if !yield(i) {
				return
			}
		}
	}
}

// as returns ctx with an actor of that kind.
func as(ctx context.Context, kind string) context.Context {
	return op.WithActor(ctx, op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
}

func currency(code string) money.Currency { return money.Currency(code) }

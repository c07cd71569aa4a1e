package app_test

import (
	"fmt"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// fillLinks adds a card that two connections see, a current account that pays the card's bills, and
// a refund without a counterpart. It then adds the proposed links.
func (w *world) fillLinks(t testing.TB) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.System, Name: "test"})
	err := w.DB.InTx(ctx, func(tx pg.Tx) error {
		accounts, err := w.Accounts.AddAccounts(ctx, tx, []account.Incoming{
			{Provider: "plaid", ProviderID: "card", Name: text.Name("Card"), Type: "credit", Currency: "EUR"},
			{Provider: "teller", ProviderID: "copy", Name: text.Name("Card of Bo"), Type: "credit", Currency: "EUR"},
			{Provider: "plaid", ProviderID: "current", Name: text.Name("Current"), Type: "depository", Currency: "EUR"},
		})
		if err != nil {
			return err
		}
		_, err = w.Books.Load(ctx, tx, func(yield func(ledger.Incoming) bool) {
			n := 0
			put := func(account int, month, day int, amount, name string) {
				n++
				d, err := pg.ParseDate(fmt.Sprintf("2026-%02d-%02d", month, day))
				if err != nil {
					t.Fatal(err)
				}
				yield(ledger.Incoming{
					AccountID: accounts[account], ProviderID: itoa(n), Date: d,
					Amount: money.MustParse(amount), Currency: "EUR", Name: text.Name(name),
				})
			}
			for i := range 5 {
				put(0, 1, 3+3*i, fmt.Sprintf("1%d.50", i), "BAKERY")
				put(1, 1, 4+3*i, fmt.Sprintf("1%d.50", i), "BAKERY")
			}
			put(0, 1, 20, "80.00", "SHOES")
			put(0, 2, 20, "-80.00", "SHOES RETURNED")
			for month := 1; month <= 3; month++ {
				put(2, month, 25, fmt.Sprintf("7%d.00", month), "CARD PAYMENT")
				put(0, month, 26, fmt.Sprintf("-7%d.00", month), "THANK YOU")
			}
			put(2, 3, 28, "-2000.00", "SALARY")
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.sweep(t)
}

// sweep searches for pairs, as the end of a sync does.
func (w *world) sweep(t testing.TB) {
	t.Helper()
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := w.Links.Sweep(t.Context(), tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// busiestLink returns the link with the most matches.
func busiestLink(t testing.TB, w *world) string {
	t.Helper()
	u, err := pg.Value[id.ID](t.Context(), w.DB, `select account_link_id from link_match group by account_link_id
		order by count(*) desc, account_link_id limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// anotherAccount creates an account.
func (b *formBook) anotherAccount(t *testing.T) (made id.ID) {
	t.Helper()
	err := b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		ids, err := b.Accounts.AddAccounts(t.Context(), tx,
			[]account.Incoming{{
				Provider: "csv", ProviderID: id.Base62(12), Name: text.Name("Another"),
				Type: "depository", Currency: "EUR",
			}})
		if err == nil {
			made = ids[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// linked creates a proposed link between two new accounts.
func (b *formBook) linked(t *testing.T) id.ID {
	t.Helper()
	made := id.New()
	_, err := b.DB.Exec(t.Context(), `insert into account_link (id, short_id, primary_id, mirror_id, kind,
		confidence) values ($1, $2, $3, $4, 'transfer',
		'auto')`, made, made.Short(), b.anotherAccount(t), b.anotherAccount(t))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// matched creates a match in that link between two random transactions.
func (b *formBook) matched(t *testing.T, link id.ID) id.ID {
	t.Helper()
	made := id.New()
	_, err := b.DB.Exec(t.Context(), `
		insert into link_match (id, short_id, account_link_id, primary_id, mirror_id, day_difference)
		select $1, $2, $3, (array_agg(id))[1], (array_agg(id))[2], 0
			from (select id from transaction order by random() limit 2) t`, made, made.Short(), link)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

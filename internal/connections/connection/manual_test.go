package connection

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/accountlink"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/books/manual"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
	"coffer/internal/sim/banks"
)

// byHand returns the transactions that were entered by hand, with everything attached to them, as
// stored.
func (o *office) byHand(t *testing.T) string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), o.db, `
		select concat_ws(' ', t, d, (select string_agg(x::text, ',' order by x.tag_id) from transaction_tag x
				where x.transaction_id = t.id),
			(select string_agg(c::text, ',' order by c.id) from comment c where c.transaction_id = t.id))
		from transaction t join descriptor d on d.id = t.descriptor_id left join transaction p on p.id = t.parent_id
		where t.provider_id like 'manual:%' or p.provider_id like 'manual:%' order by t.id`)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, "\n")
}

// enter adds transactions by hand to all accounts of the bank. Some of them are split, tagged or
// commented on. Their amounts end in 13 cents, which the bank's amounts never do.
func (o *office) enter(t *testing.T, hand *manual.Manual, n int) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	files := category.New(ledger.CategoryUser{}, rulebook.CategoryUser{})
	accounts, err := pg.Values[string](ctx, o.db, `select id::text from account order by id`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		err := o.db.InTx(ctx, func(tx pg.Tx) error {
			if _, err := files.Register(ctx, tx, []string{"cash"}); err != nil {
				return err
			}
			made, err := hand.Add(ctx, tx, manual.AddTransaction{
				AccountID: new(accounts[i%len(accounts)]), Date: new(pg.Day(time.Now().AddDate(0, 0, -i*3))),
				Amount: new(money.MustParse(fmt.Sprintf("%d.13", 5+i))), Name: new(fmt.Sprint("Market ", i%4)),
				Tags: [][]string{nil, {"cash"}}[i%2],
			})
			if err != nil || i%3 > 0 {
				return err
			}
			half := money.MustParse("2.00")
			_, err = o.books.SplitTransaction(ctx, tx, ledger.SplitTransaction{
				TransactionID: made.ID.String(), Parts: []ledger.SplitPart{{Amount: &half}, {}},
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// meddle makes a random change at the bank.
func (o *office) meddle(dice *rand.Rand) {
	accounts, rows := o.book.Accounts(), o.book.Rows()
	amount := func() money.Amount {
		return money.MustParse(fmt.Sprintf("%d.%02d", dice.IntN(60)-10, 20+dice.IntN(70)))
	}
	day := func() time.Time { return time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -dice.IntN(60)) }
	for range 1 + dice.IntN(4) {
		some := rows[dice.IntN(len(rows))]
		switch dice.IntN(6) {
		case 0, 1:
			o.book.Add(banks.Row{
				AccountID: accounts[dice.IntN(len(accounts))].ID, Date: day(), Amount: amount(),
				Name: text.Name(fmt.Sprint("Market ", dice.IntN(4))), Channel: "other", Pending: dice.IntN(3) == 0,
			})
		case 2:
			o.book.Change(some.ID, func(r *banks.Row) { r.Amount, r.Date = amount(), day() })
		case 3:
			if len(rows) > 10 {
				o.book.Remove(some.ID)
				rows = o.book.Rows()
			}
		case 4:
			if waiting := o.book.Pending(); len(waiting) > 0 {
				o.book.Post(waiting[0].ID, func(r *banks.Row) { r.Amount = amount() })
				rows = o.book.Rows()
			}
		case 5: // the loop is interrupted after some pages
			o.sim.Script(banks.Fault{Path: map[string]string{"plaid": "/transactions/sync"}[o.provider], Skip: 1, Status: 500, Body: "{}"})
		}
	}
}

// In 200 syncs, banks add, change, post and remove rows at random, and fail now and then.
// Transactions entered by hand must stay the same, byte for byte. There are two controls: a row
// that the bank no longer returns is removed, and a row that equals an entered one is matched with
// it.
func TestSyncsLeaveWhatWasEnteredByHand(t *testing.T) {
	t.Parallel()
	syncs := 100
	if os.Getenv("COFFER_TEST_LONG") != "" {
		syncs = 500
	}
	for n, provider := range sellers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 40)
			jobs := job.New(o.db, slog.New(slog.DiscardHandler))
			hand := manual.New(o.books, o.rules, accountlink.New(o.db, o.books, jobs))
			o.books.Pair(hand)
			o.enter(t, hand, 24)
			before, failed := o.byHand(t), 0
			dice := rand.New(rand.NewPCG(uint64(n), 3))
			for i := range syncs {
				o.meddle(dice)
				if j := o.sync1(t); j.State != job.Succeeded {
					failed++
					o.exec(t, `update connection set status = 'active', consecutive_failures = 0`)
				}
				if after := o.byHand(t); after != before {
					t.Fatalf("sync %d: before\n%s\nafter\n%s", i, before, after)
				}
			}
			o.sim.Calm()
			o.sync1(t)
			if failed == 0 || failed > syncs/2 {
				t.Errorf("%d of %d syncs failed", failed, syncs)
			}
			o.controls(t, before)
		})
	}
}

func (o *office) controls(t *testing.T, before string) {
	t.Helper()
	type entered struct {
		ID      id.ID        `db:"id"`
		Account string       `db:"account"`
		Date    pg.Date      `db:"date"`
		Amount  money.Amount `db:"amount"`
	}
	rows, err := pg.All[entered](t.Context(), o.db, `select t.id, a.provider_id as account, t.date, t.amount
		from transaction t join account a on a.id = t.account_id where t.origin = 'manual' and not t.is_split
		order by t.date desc limit 2`)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	o.book.Add(banks.Row{
		AccountID: rows[0].Account, Date: rows[0].Date.Time(), Amount: rows[0].Amount, Name: "MARKET", Channel: "other",
	})
	o.sync1(t)
	matched := o.byHand(t)
	if matched == before {
		t.Error("control: the bank brought what was entered, and nothing was matched")
	}
	if o.provider != "teller" { // a bank that reports only changes says nothing about unknown rows
		return
	}
	o.exec(t, `update transaction set origin = 'bank', created_at = now() - interval '1 day' where id = $1`, rows[1].ID)
	o.sync1(t)
	if gone, err := pg.Value[bool](context.WithoutCancel(t.Context()), o.db, `select deleted_at is not null from transaction
		where id = $1`, rows[1].ID); err != nil || !gone {
		t.Errorf("control: a row that the bank does not have stays: %v", err)
	}
}

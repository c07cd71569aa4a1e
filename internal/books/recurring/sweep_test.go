package recurring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
)

// A house is a database with books and recurring payments.
type house struct {
	*Payments
	t      *testing.T
	silent bool // changes are not recorded
}

func newHouse(t *testing.T) *house {
	t.Helper()
	db := pgtest.New(t)
	return &house{Payments: New(db, ledger.New(db, category.New(ledger.CategoryUser{}))), t: t}
}

// do runs f in a transaction.
func (h *house) do(f func(ctx context.Context, tx pg.Tx) error) {
	h.t.Helper()
	if err := h.db.InTx(h.t.Context(), func(tx pg.Tx) error { return f(h.t.Context(), tx) }); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	h.do(func(ctx context.Context, tx pg.Tx) error { _, err := pg.Exec(ctx, tx, sql, args...); return err })
}

func (h *house) sweep() {
	h.t.Helper()
	h.do(h.Sweep)
}

func (h *house) account() id.ID {
	h.t.Helper()
	u := id.New()
	h.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', $2, 'Checking', 'depository', 'EUR')`, u, u.Short())
	return u
}

func (h *house) merge(rows ...ledger.Incoming) {
	h.t.Helper()
	h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.books.Merge(ctx, tx, slices.Values(rows))
		return err
	})
}

// payment returns a row of an account. Days count from the beginning of 2024.
func payment(account id.ID, key, name, merchant string, day int, cents int64) ledger.Incoming {
	amount, err := money.FromCents(cents)
	if err != nil {
		panic(err)
	}
	return ledger.Incoming{
		AccountID: account, ProviderID: key, Date: date(19723 + day), Amount: amount, Currency: "EUR",
		Name: text.Name(name), MerchantName: text.Name(merchant),
	}
}

// series returns the stored series of an account as text, without the ids of records.
func (h *house) series(account id.ID) []string {
	h.t.Helper()
	out, err := pg.Values[string](h.t.Context(), h.db, `
		select concat_ws(' ', r.cadence, r.direction, r.party, r.forms, r.fixed, r.amount, r.first_date, r.last_date,
			r.next_date, r.occurrences, r.sure, r.price_changes, r.found, r.transfer, l.provider_id,
			array(select t.provider_id from recurring_row w join transaction t on t.id = w.transaction_id
				where w.recurring_id = r.id order by t.date, t.amount, 1))
		from recurring r left join transaction l on l.id = r.last_id
		where r.account_id = $1 and r.deleted_at is null order by 1`, account)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// everything records all forms of an account, so that the next sweep checks them.
func (h *house) everything(account id.ID) {
	h.t.Helper()
	h.exec(`insert into form_due (account_id, form) select distinct t.account_id, d.form from transaction t
		join descriptor d on d.id = t.descriptor_id where t.account_id = $1`, account)
}

// history writes random payments of contracts and changes them at random, with sweeps in between.
func (h *house) history(dice *rand.Rand, account, shop id.ID) {
	type contract struct {
		name, merchant   string
		cents            int64
		from, days, last int
	}
	var all []contract
	for i := range 4 + dice.IntN(4) {
		merchant := fmt.Sprintf("Shop %c", 'A'+rune(dice.IntN(4)))
		if dice.IntN(3) == 0 {
			merchant = ""
		}
		days := []int{7, 14, 30, 30, 30, 91}[dice.IntN(6)]
		c := contract{fmt.Sprintf("WORDING %c", 'A'+rune(i)), merchant, int64(500 + 100*dice.IntN(5)), dice.IntN(60), days, 0}
		c.last = c.from + days*(3+dice.IntN(8))
		all = append(all, c)
		if dice.IntN(2) == 0 { // the contract continues with another wording
			c.name, c.from = c.name+" NEU", c.last+days
			c.last = c.from + days*(3+dice.IntN(5))
			all = append(all, c)
		}
	}
	var rows []ledger.Incoming
	for i, c := range all {
		for day := c.from; day <= c.last; day += c.days {
			cents := c.cents
			if dice.IntN(6) == 0 {
				cents += int64(dice.IntN(3)) * 50
			}
			rows = append(rows, payment(account, fmt.Sprintf("%d-%d", i, day), c.name, c.merchant, day, cents))
		}
	}
	dice.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for len(rows) > 0 {
		n := min(len(rows), 1+dice.IntN(40))
		h.merge(rows[:n]...)
		rows = rows[n:]
		some := `id in (select id from transaction where account_id = $1 order by md5(provider_id || $2) limit 3)`
		salt := fmt.Sprint(dice.Uint64())
		// As in the ledger, the same database transaction records the forms before and after a
		// change. A sweep in between would take the old forms too early.
		change := func(set string, more ...any) {
			h.do(func(ctx context.Context, tx pg.Tx) error {
				note := func() error {
					if h.silent {
						return nil
					}
					_, err := pg.Exec(ctx, tx, `insert into form_due (account_id, form) select distinct t.account_id, d.form
						from transaction t join descriptor d on d.id = t.descriptor_id where t.`+some, account, salt)
					return err
				}
				if err := note(); err != nil {
					return err
				}
				if _, err := pg.Exec(ctx, tx, `update transaction set `+set+` where `+some,
					append([]any{account, salt}, more...)...); err != nil {
					return err
				}
				return note()
			})
		}
		switch dice.IntN(8) {
		case 0:
			change(`deleted_at = now()`)
		case 1:
			change(`deleted_at = null`)
		case 2:
			change(`excluded = not excluded`)
		case 3:
			change(`transfer = not transfer`)
		case 4:
			change(`counterparty_id = case when counterparty_id is null then $3::uuid end`, shop)
		case 5:
			change(`descriptor_id = (select x.descriptor_id from transaction x where x.account_id = $1
				order by md5(x.provider_id || $2) limit 1)`)
		case 6:
			change(`amount = amount + 0.50, date = date + 1`)
		case 7:
			change(`pending = not pending`)
		}
		if dice.IntN(2) == 0 {
			h.sweep()
		}
	}
	h.sweep()
}

// The stored series are the same as those that one sweep over all transactions finds. This must
// hold for any changes in any order, with any number of sweeps by any server.
func TestSweepsFindWhatOneFinds(t *testing.T) {
	t.Parallel()
	histories := uint64(100)
	if long() {
		histories = 1000
	}
	const servers = 4
	h := newHouse(t)
	shop := id.New()
	h.exec(`insert into counterparty (id, short_id, name) values ($1, $2, 'Shop')`, shop, shop.Short())
	for server := range uint64(servers) {
		t.Run("server", func(t *testing.T) {
			t.Parallel()
			h := &house{Payments: New(h.db, h.books), t: t}
			if server == 0 { // this server always reads whole accounts
				h.many = 0
			}
			found, joined := 0, 0
			for seed := server; seed < histories; seed += servers {
				account := h.account()
				h.history(rand.New(rand.NewPCG(seed, 24)), account, shop)
				got := h.series(account)
				if whole := h.whole(account); !slices.Equal(got, whole) {
					t.Fatalf("history %d: step by step\n%q\nat once\n%q", seed, got, whole)
				}
				n, err := pg.Value[int](t.Context(), h.db, `select count(*) from recurring where account_id = $1
					and cardinality(forms) > 1`, account)
				if err != nil {
					t.Fatal(err)
				}
				found, joined = found+len(got), joined+n
				h.exec(`delete from recurring where account_id = $1`, account) // a household can only have 2,000 series
			}
			if found < int(histories)/servers || joined == 0 {
				t.Errorf("there is hardly anything to find: %d series, %d of several wordings", found, joined)
			}
		})
	}
}

// whole deletes the series of an account and finds them again with one sweep.
func (h *house) whole(account id.ID) []string {
	h.exec(`delete from recurring where account_id = $1`, account)
	h.everything(account)
	h.sweep()
	return h.series(account)
}

// The control: if changes are not recorded, sweeps miss them.
func TestSweepsNeedNotes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.silent = true
	shop := id.New()
	h.exec(`insert into counterparty (id, short_id, name) values ($1, $2, 'Shop')`, shop, shop.Short())
	for seed := range uint64(20) {
		account := h.account()
		h.history(rand.New(rand.NewPCG(seed, 24)), account, shop)
		if got := h.series(account); !slices.Equal(got, h.whole(account)) {
			return
		}
	}
	t.Error("20 histories went well without notes")
}

// only returns the only series of an account.
func (h *house) only(account id.ID) Recurring {
	h.t.Helper()
	list, err := h.List(h.t.Context(), h.db, ListRecurring{
		AccountID: new(account.String()), State: []string{Auto, Confirmed, Dismissed}, Limit: 10,
	})
	if err != nil || len(list.Recurring) != 1 {
		h.t.Fatalf("%+v %v", list, err)
	}
	return list.Recurring[0]
}

func (h *house) say(one Recurring, state string) {
	h.t.Helper()
	h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.Patch(ctx, tx, PatchRecurring{ID: one.ShortID, State: &state})
		return err
	})
}

// monthly returns payments of a contract from one month to another.
func monthly(account id.ID, name string, from, to int, cents int64) []ledger.Incoming {
	var rows []ledger.Incoming
	for k := from; k < to; k++ {
		rows = append(rows, payment(account, fmt.Sprint(name, k), name, "", 30*k, cents))
	}
	return rows
}

// A series keeps its record while it continues. Without transactions, only a decision keeps the
// record. A dismissed series is not proposed again.
func TestRecordsStay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.account()
	h.merge(monthly(account, "GYM", 0, 4, 3000)...)
	h.sweep()
	first := h.only(account)
	if first.State != Auto || first.Confidence != "medium" || first.Occurrences != 4 || first.Status != Active {
		t.Errorf("%+v", first)
	}
	h.merge(monthly(account, "GYM", 4, 9, 3300)...)
	h.sweep()
	second := h.only(account)
	if second.ID != first.ID || second.Occurrences != 9 || second.Confidence != "high" || len(second.PriceChanges) != 1 ||
		second.PriceChanges[0].Percent != 10 || second.Amount.String() != "33.00" || second.YearlyAmount.String() != "396.00" {
		t.Errorf("%+v", second)
	}
	h.exec(`update transaction set deleted_at = now() where account_id = $1`, account)
	h.everything(account)
	h.sweep()
	if left := h.series(account); len(left) != 0 {
		t.Errorf("nothing supports %q", left)
	}
	h.exec(`update transaction set deleted_at = null where account_id = $1`, account)
	h.everything(account)
	h.sweep()
	h.say(h.only(account), Dismissed)
	h.exec(`update transaction set deleted_at = now() where account_id = $1`, account)
	h.everything(account)
	h.sweep()
	third := h.only(account)
	if third.Status != Ended || third.State != Dismissed || third.NextDate != nil {
		t.Errorf("%+v", third)
	}
	// Other transactions of the same form, account and cadence.
	var again []ledger.Incoming
	for _, r := range monthly(account, "GYM", 20, 28, 2500) {
		r.ProviderID += "again"
		again = append(again, r)
	}
	h.merge(again...)
	h.sweep()
	if got := h.only(account); got.ID != third.ID || got.Status != Ended {
		t.Errorf("it was proposed again: %+v", got)
	}
	h.say(third, Auto)
	h.sweep()
	if got := h.only(account); got.ID == third.ID || got.Occurrences != 8 {
		t.Errorf("it is not proposed: %+v", got)
	}
	// A decision about the removed series can be undone, even long after its transactions were
	// deleted.
	said, err := pg.Values[string](t.Context(), h.db, `select id::text from change order by seq desc limit 1`)
	if err != nil || len(said) != 1 {
		t.Fatal(said, err)
	}
	h.do(func(ctx context.Context, tx pg.Tx) error {
		undone, err := journal.New(journal.Config{DB: h.db, Subjects: h.Subjects()}).Revert(ctx, tx,
			journal.RevertChange{ChangeID: said[0]})
		if len(undone.Skipped) != 0 || undone.Reverted != 1 {
			t.Errorf("%+v", undone)
		}
		return err
	})
	h.sweep()
	if got, err := h.Get(t.Context(), h.db, RecurringRef{third.ShortID}); err != nil || got.State != Dismissed {
		t.Errorf("undone, it is not dismissed: %+v %v", got, err)
	}
}

// A person can teach a series with irregular amounts and days. One transaction is enough.
func TestTeach(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.account()
	for year := range 3 { // three policies of one insurer, each a year apart and more expensive every year
		for policy, cents := range []int64{10000, 10400, 21000} {
			h.merge(payment(account, fmt.Sprint(year, policy), "INSURANCE PREMIUM", "Insurer", 365*year+policy,
				cents+int64(year)*100))
		}
	}
	h.sweep()
	if found := h.series(account); len(found) != 0 {
		t.Fatalf("%q", found)
	}
	seed, err := pg.Value[string](t.Context(), h.db, `select short_id from transaction where provider_id = '1 1'`)
	if err != nil {
		t.Fatal(err)
	}
	h.do(func(ctx context.Context, tx pg.Tx) error {
		_, err := h.Create(ctx, tx, CreateRecurring{TransactionID: seed, Cadence: "yearly", Name: new("Household insurance")})
		return err
	})
	one := h.only(account)
	if one.Occurrences != 3 || one.State != Confirmed || *one.Name != "Household insurance" || one.Confidence != "high" ||
		one.FirstDate.String() != "2024-01-02" || one.NextDate.String() != "2027-01-01" {
		t.Errorf("%+v", one)
	}
	n, err := h.books.Count(t.Context(), h.db, ledger.Filter{RecurringID: &one.ShortID})
	if err != nil || n.Count != 3 {
		t.Errorf("%+v %v", n, err)
	}
	h.everything(account)
	h.sweep()
	if again := h.only(account); again.ID != one.ID || again.Occurrences != 3 {
		t.Errorf("%+v", again)
	}
}

package account

import (
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

func date(t *testing.T, s string) pg.Date {
	t.Helper()
	d, err := pg.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// post adds a posted transaction to an account.
func (d *desk) post(account id.ID, day, amount string) id.ID {
	d.Helper()
	u := id.New()
	exec(d.T, d.db, `insert into descriptor (name, merchant_name, folded) values ('x', '', 'x') on conflict do nothing`)
	exec(d.T, d.db, `insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
		select $1, $2, $3, $2, $4, $5, 'EUR', (select min(id) from descriptor)`, u, u.Short(), account, day, amount)
	return u
}

func (d *desk) set(kind string, account id.ID, day, current string) (DailyBalance, error) {
	var out DailyBalance
	err := d.db.InTx(d.Context(), func(tx pg.Tx) (err error) {
		out, err = d.reg.SetBalance(d.as(kind), tx, SetBalance{
			BalanceDay: BalanceDay{ID: account.Short(), Day: date(d.T, day)}, Current: money.MustParse(current),
		})
		return err
	})
	return out, err
}

func (d *desk) unset(kind string, account id.ID, day string) error {
	return d.db.InTx(d.Context(), func(tx pg.Tx) error {
		_, err := d.reg.DeleteBalance(d.as(kind), tx, BalanceDay{ID: account.Short(), Day: date(d.T, day)})
		return err
	})
}

// on returns a day's balance and its source.
func (d *desk) on(account id.ID, day string) string {
	d.Helper()
	at := date(d.T, day)
	page, err := d.reg.Balances(d.Context(), d.db, ListBalances{
		ID: account.Short(), StartDate: &at, EndDate: &at, Limit: 5, Derive: true,
	})
	if err != nil {
		d.Fatal(err)
	}
	if len(page.Balances) != 1 {
		return "none"
	}
	b := page.Balances[0]
	out := b.Current.String() + " " + b.Source
	if b.Gap {
		out += " gap"
	}
	return out
}

func (d *desk) last() id.ID {
	d.Helper()
	u, err := pg.Value[id.ID](d.Context(), d.db, `select id from change order by id desc limit 1`)
	if err != nil {
		d.Fatal(err)
	}
	return u
}

// A person's balance overrides a statement's, and a statement's overrides the bank's. Removing a
// balance makes the one below it count again. A revert restores the previous state. An agent cannot
// change a person's balance.
func TestStatedBalances(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := newAccount(t, d.db, "a")
	exec(t, d.db, `insert into account_balance (account_id, day, current) values ($1, '2026-05-02', 10)`, a)
	closing := []bank.Closing{{Day: time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC), Asset: money.MustParse("20.00")}}
	if err := d.db.InTx(t.Context(), func(tx pg.Tx) error {
		return d.reg.State(t.Context(), tx, a, ByStatement, closing)
	}); err != nil {
		t.Fatal(err)
	}
	want := func(what, balance string) {
		t.Helper()
		if got := d.on(a, "2026-05-02"); got != balance {
			t.Errorf("%s: %s, want %s", what, got, balance)
		}
	}
	want("a statement", "20.00 statement")
	if _, err := d.set("agent", a, "2026-05-02", "30"); err != nil {
		t.Fatal(err)
	}
	byAgent := d.last()
	want("an agent", "30.00 manual")
	if b, err := d.set("user", a, "2026-05-02", "31.50"); err != nil || b.Current.String() != "31.50" || b.Source != byHand {
		t.Fatalf("%+v, %v", b, err)
	}
	byPerson := d.last()
	if _, err := d.set("agent", a, "2026-05-02", "1"); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent changed a person's balance: %v", err)
	}
	if err := d.unset("agent", a, "2026-05-02"); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent removed a person's balance: %v", err)
	}
	want("a person", "31.50 manual")
	if r := d.revert("user", byPerson); r.Reverted != 1 {
		t.Errorf("%+v", r)
	}
	want("the agent's again", "30.00 manual")
	if r := d.revert("user", byAgent); r.Reverted != 1 {
		t.Errorf("%+v", r)
	}
	want("nobody's", "20.00 statement")
	before := d.last()
	if err := d.unset("user", a, "2026-05-02"); err != nil || d.last() != before {
		t.Errorf("removing an absent balance recorded a change: %v", err)
	}
	if _, err := d.set("user", a, "2026-05-02", "5"); err != nil {
		t.Fatal(err)
	}
	if err := d.unset("user", a, "2026-05-02"); err != nil {
		t.Fatal(err)
	}
	want("removed", "20.00 statement")
	if r := d.revert("user", d.last()); r.Reverted != 1 {
		t.Errorf("%+v", r)
	}
	want("restored", "5.00 manual")
	if _, err := d.set("user", a, "2999-01-01", "5"); !errs.Is(err, errs.ValidationError) {
		t.Errorf("a day in the future: %v", err)
	}
	exec(t, d.db, `update account set deleted_at = now() where id = $1`, a)
	if r := d.revert("user", d.last()); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "missing" {
		t.Errorf("%+v", r)
	}
}

// An agent's revert leaves a balance that a person set, even if the agent had set it before.
func TestRevertLeavesHeldBalances(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := newAccount(t, d.db, "a")
	if _, err := d.set("user", a, "2026-05-02", "30"); err != nil {
		t.Fatal(err)
	}
	var r journal.Reverted
	if r = d.revert("agent", d.last()); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "held" {
		t.Errorf("%+v", r)
	}
	if got := d.on(a, "2026-05-02"); got != "30.00 manual" {
		t.Error(got)
	}
}

// A charge increases what a card owes, so its days are derived with the opposite sign. The
// account's balance today equals the derived balance of today.
func TestDerivedBalances(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a, card := newAccount(t, d.db, "a"), newAccount(t, d.db, "c")
	exec(t, d.db, `update account set type = 'credit' where id = $1`, card)
	for _, account := range []id.ID{a, card} {
		d.post(account, "2026-05-03", "12.50")
		d.post(account, "2026-05-05", "-2.00")
		pending := d.post(account, "2026-05-06", "99.00")
		exec(t, d.db, `update transaction set pending = true where id = $1`, pending)
		deleted := d.post(account, "2026-05-06", "98.00")
		exec(t, d.db, `update transaction set deleted_at = now(), deleted_source = 'user' where id = $1`, deleted)
		foreign := d.post(account, "2026-05-06", "97.00")
		exec(t, d.db, `update transaction set currency = 'USD' where id = $1`, foreign)
		if _, err := d.set("user", account, "2026-05-04", "100"); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		account   id.ID
		day, want string
	}{
		{a, "2026-05-02", "none"},
		{a, "2026-05-03", "100.00 derived"},
		{a, "2026-05-04", "100.00 manual"},
		{a, "2026-05-05", "102.00 derived"},
		{a, "2026-05-20", "102.00 derived"},
		{card, "2026-05-05", "98.00 derived"},
	} {
		if got := d.on(c.account, c.day); got != c.want {
			t.Errorf("%s: %s, want %s", c.day, got, c.want)
		}
	}
	exec(t, d.db, `update transaction set date = '2026-05-04' where date = '2026-05-03'`)
	d.post(a, "2026-05-03", "1.00")
	if got := d.on(a, "2026-05-03"); got != "112.50 derived" {
		t.Errorf("before the charge: %s", got)
	}
	for _, account := range []id.ID{a, card} {
		got, err := d.reg.Account(t.Context(), d.db, Ref{account.String()})
		today := d.on(account, time.Now().UTC().Format(time.DateOnly))
		if err != nil || got.BalanceToday == nil || got.BalanceToday.String()+" derived" != today || !got.BalanceDerived ||
			*got.BalanceSource != byHand || got.BalanceDate.String() != "2026-05-04" || got.BalanceMethod != byTransactions {
			t.Errorf("%+v, %v; the derived balance of the day is %s", got, err, today)
		}
	}
}

// The proof names a charge that is in the books twice and one that was deleted as candidates.
func TestProofNamesCandidates(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := newAccount(t, d.db, "a")
	stated := func(day, current string) {
		exec(t, d.db, `insert into account_balance (account_id, day, current, exact, source)
			values ($1, $2, $3, true, 'statement')`, a, day, current)
	}
	stated("2026-05-01", "100")
	first, second := d.post(a, "2026-05-03", "12.50"), d.post(a, "2026-05-04", "12.50")
	stated("2026-05-10", "87.50")
	d.post(a, "2026-05-12", "7.00")
	stated("2026-05-15", "80.50")
	deleted := d.post(a, "2026-06-20", "30.00")
	exec(t, d.db, `update transaction set deleted_at = now(), deleted_source = 'user' where id = $1`, deleted)
	stated("2026-06-25", "50.50")

	p, err := d.reg.Proof(t.Context(), d.db, ProveAccount{ID: a.Short()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Status != gap || p.OpeningBalance.String() != "100.00" || p.ProvedUntil.String() != "2026-05-15" ||
		p.Statements != 4 || len(p.Intervals) != 3 {
		t.Fatalf("%+v", p)
	}
	doubled, fine, lost := p.Intervals[0], p.Intervals[1], p.Intervals[2]
	if doubled.Status != gap || doubled.Difference.String() != "12.50" || doubled.Transactions != 2 ||
		doubled.Moved.String() != "25.00" || len(doubled.Candidates) != 2 ||
		*doubled.Candidates[0].TransactionID != first || *doubled.Candidates[1].TransactionID != second ||
		doubled.Candidates[0].Why != "same_amount_twice" {
		t.Errorf("%+v", doubled)
	}
	if fine.Status != proved || fine.Difference != nil || fine.StatedFrom.String() != "87.50" || fine.StatedTo.String() != "80.50" {
		t.Errorf("%+v", fine)
	}
	if lost.Status != gap || lost.Difference.String() != "-30.00" || len(lost.Candidates) != 1 ||
		*lost.Candidates[0].TransactionID != deleted || lost.Candidates[0].Why != "same_amount_deleted" {
		t.Errorf("%+v", lost)
	}
	if got := d.on(a, "2026-05-05"); got != "87.50 derived gap" {
		t.Error(got)
	}
	if got := d.on(a, "2026-05-12"); got != "80.50 derived" {
		t.Error(got)
	}
	june := date(t, "2026-06-01")
	if p, err := d.reg.Proof(t.Context(), d.db, ProveAccount{ID: a.Short(), StartDate: &june}); err != nil ||
		len(p.Intervals) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	all, err := d.reg.Proofs(t.Context(), d.db, struct{}{})
	if err != nil || len(all) != 1 || all[0].Gaps != 2 || all[0].LargestDifference.String() != "-30.00" ||
		all[0].ProvedFrom.String() != "2026-05-10" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := d.reg.Proof(t.Context(), d.db, ProveAccount{ID: a.Short(), StartDate: &june, EndDate: new(date(t,
		"2026-05-01"))}); !errs.Is(err, errs.ValidationError) {
		t.Errorf("%v", err)
	}
}

package account

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

func (d *desk) create(kind string, in CreateAccount) (out Account, err error) {
	err = d.db.InTx(d.Context(), func(tx pg.Tx) (err error) {
		out, err = d.reg.CreateAccount(d.as(kind), tx, in)
		return err
	})
	return out, err
}

func (d *desk) made(kind string, in CreateAccount) Account {
	d.Helper()
	a, err := d.create(kind, in)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

func (d *desk) delete(kind string, in DeleteAccount) error {
	return d.db.InTx(d.Context(), func(tx pg.Tx) error {
		_, err := d.reg.DeleteAccount(d.as(kind), tx, in)
		return err
	})
}

func (d *desk) hash() string {
	d.Helper()
	h, err := ledgertest.Canonical(d.Context(), d.db, nil, "")
	if err != nil {
		d.Fatal(err)
	}
	return h
}

// Each kind creates an account with the type and sign that filters and exports expect, and with the
// given balance.
func TestKinds(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, k := range kinds {
		a := d.made(op.User, CreateAccount{Name: "My " + string(k.kind), Kind: k.kind, Balance: new(money.MustParse("10.00"))})
		if string(a.Provider) != "manual" || a.ConnectionID != nil || a.Type != k.typ || a.Subtype.Plain() != k.subtype ||
			a.BalanceMethod != k.balance || a.Currency != "EUR" || a.BalanceToday.String() != "10.00" ||
			*a.BalanceSource != byHand || a.BalanceDerived {
			t.Errorf("%s: %+v", k.kind, a)
		}
	}
	day, tomorrow := date(t, "2026-01-31"), date(t, "2999-01-01")
	a := d.made(op.Agent, CreateAccount{
		Name: "Wallet", Kind: "cash", Currency: new(money.Currency("CHF")), InstitutionName: new("None"),
		Balance: new(money.MustParse("-3.50")), BalanceDate: &day,
	})
	if a.Currency != "CHF" || a.InstitutionName.Plain() != "None" || *a.BalanceDate != day || len(a.Held) > 0 {
		t.Errorf("%+v", a)
	}
	for name, bad := range map[string]struct {
		in   CreateAccount
		code errs.Code
	}{
		"a day without a balance": {CreateAccount{Name: "x", Kind: "cash", BalanceDate: &day}, errs.ValidationError},
		"a day to come": {CreateAccount{
			Name: "x", Kind: "cash", Balance: new(money.MustParse("1.00")), BalanceDate: &tomorrow,
		}, errs.ValidationError},
		"nobody's": {CreateAccount{Name: "x", Kind: "cash", OwnerUserID: new("nobody00")}, errs.InvalidReference},
	} {
		if _, err := d.create(op.User, bad.in); !errs.Is(err, bad.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	exec(t, d.db, `insert into account (id, short_id, provider, provider_id, name, type, currency)
		select gen_random_uuid(), 'm' || n, 'manual', n::text, n::text, 'other', 'EUR'
		from generate_series(1, $1::int) n`, mostManual-len(kinds)-2)
	d.made(op.User, CreateAccount{Name: "The last", Kind: "cash"})
	if _, err := d.create(op.User, CreateAccount{Name: "x", Kind: "cash"}); !errs.Is(err, errs.Conflict) {
		t.Errorf("one too many: %v", err)
	}
}

// A low-balance threshold on an account without a balance is stored with a note, because it cannot
// be checked.
func TestLowBalanceWithoutABalance(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	limit, err := money.FromCents(50_00)
	if err != nil {
		t.Fatal(err)
	}
	low := op.Null[money.Amount]{Set: true, Value: &limit}
	jar := d.made(op.User, CreateAccount{Name: "Jar", Kind: "cash"})
	a := d.must(op.User, PatchAccount{ID: jar.ShortID, LowBalance: low})
	if a.LowBalance == nil || len(a.Notes) != 1 || a.Notes[0].Code != "no_balance" {
		t.Errorf("without a balance: %v, %+v", a.LowBalance, a.Notes)
	}
	if _, err := d.set(op.User, jar.ID, "2026-03-01", "75"); err != nil {
		t.Fatal(err)
	}
	if a := d.must(op.User, PatchAccount{ID: jar.ShortID, LowBalance: low}); len(a.Notes) > 0 {
		t.Errorf("with a balance: %v, %+v", a.BalanceToday, a.Notes)
	}
}

// Fields that only some accounts can change are refused on the others.
func TestPatchRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file, mine := newAccount(t, d.db, "File"), d.made(op.User, CreateAccount{Name: "Wallet", Kind: "cash"})
	linked := newAccount(t, d.db, "Bank")
	exec(t, d.db, `update account set provider = 'plaid' where id = $1`, linked)
	d.must(op.User, PatchAccount{ID: file.String(), InstitutionName: given("My bank")})
	for name, bad := range map[string]PatchAccount{
		"a bank's name":        {ID: file.String(), Name: new("Other")},
		"a bank's currency":    {ID: file.String(), Currency: new(money.Currency("USD"))},
		"a bank's institution": {ID: linked.String(), InstitutionName: given("My bank")},
	} {
		if _, err := d.patch(op.User, bad); !errs.Is(err, errs.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := d.must(op.User, PatchAccount{
		ID: mine.ShortID, Name: new("Purse"), Currency: new(money.Currency("USD")), Type: new("loan"),
		Subtype: given("other"), BalanceMethod: new(byValuations),
	})
	if a.Name.Plain() != "Purse" || a.Currency != "USD" || a.Type != "loan" || a.BalanceMethod != byValuations {
		t.Errorf("%+v", a)
	}
	if c := d.newest(); c.Summary.Plain() != "Renamed, changed the currency of, changed the type of an account" {
		t.Errorf("%+v", c)
	}
	d.post(mine.ID, "2026-03-01", "5")
	if _, err := d.patch(op.User, PatchAccount{ID: mine.ShortID, Currency: new(money.Currency("EUR"))}); !errs.Is(err,
		errs.InUse) {
		t.Errorf("the currency of an account with transactions: %v", err)
	}
	// An agent can neither change these values without force nor undo the change.
	if _, err := d.patch(op.Agent, PatchAccount{ID: mine.ShortID, Name: new("X")}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent renamed a person's account: %v", err)
	}
	d.must(op.User, PatchAccount{ID: mine.ShortID, Name: new("Bag")})
	if r := d.revert(op.Agent, d.newest().ID); r.Reverted != 0 || r.Skipped[0].Reason != "held" {
		t.Errorf("an agent reverted a person's name: %+v", r)
	}
}

// Changing an account's type flips the sign of balances from statements, and changing it back flips
// them again. Balances entered by a person stay.
func TestTypesTurnBalances(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	u := newAccount(t, d.db, "Card")
	exec(t, d.db, `insert into account_balance (account_id, day, source, exact, current)
		values ($1, '2026-01-01', 'statement', true, -40), ($1, '2026-01-02', 'manual', true, -50),
			($1, '2026-01-03', 'provider', false, -60)`, u)
	said := func() []string {
		out, err := pg.Values[string](t.Context(), d.db, `select current::text from account_balance
			where account_id = $1 order by day`, u)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	d.must(op.User, PatchAccount{ID: u.String(), Type: new("credit")})
	if got := said(); !slices.Equal(got, []string{"40.00", "-50.00", "-60.00"}) {
		t.Errorf("as a card: %q", got)
	}
	d.revert(op.User, d.newest().ID)
	if got := said(); !slices.Equal(got, []string{"-40.00", "-50.00", "-60.00"}) {
		t.Errorf("after the revert: %q", got)
	}
}

func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.made(op.User, CreateAccount{Name: "House", Kind: "property", Balance: new(money.MustParse("100.00"))})
	before := d.hash()
	if err := d.delete(op.Agent, DeleteAccount{ID: a.ShortID}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent deleted a person's account: %v", err)
	}
	if err := d.delete(op.User, DeleteAccount{ID: a.ShortID}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.reg.Account(t.Context(), d.db, Ref{a.ShortID}); !errs.Is(err, errs.NotFound) {
		t.Errorf("the account was not deleted: %v", err)
	}
	if r := d.revert(op.User, d.newest().ID); r.Reverted != 1 || d.hash() != before {
		t.Errorf("%+v", r)
	}
	d.post(a.ID, "2026-03-01", "5")
	if err := d.delete(op.User, DeleteAccount{ID: a.ShortID}); !errs.Is(err, errs.InUse) {
		t.Errorf("with a transaction: %v", err)
	}
	connection := id.New()
	exec(t, d.db, `insert into connection (id, short_id, member_id, provider)
		values ($1, $2, '019a3c5e-4000-7000-8000-000000000001', 'plaid')`, connection, connection.Short())
	u := newAccount(t, d.db, "Bank")
	exec(t, d.db, `update account set connection_id = $1 where id = $2`, connection, u)
	if err := d.delete(op.User, DeleteAccount{ID: u.String()}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an account whose connection syncs: %v", err)
	}
}

// Random changes to manual accounts, reverted newest first, restore the earlier state. Reverted in
// any order by anyone, each revert does what it reports.
func TestAccountsUndo(t *testing.T) {
	t.Parallel()
	rounds := 10
	if os.Getenv("COFFER_TEST_LONG") != "" {
		rounds = 50
	}
	d := newDesk(t)
	d.made(op.User, CreateAccount{Name: "Old", Kind: "savings", Balance: new(money.MustParse("5.00"))})
	rng := rand.New(rand.NewPCG(1, 2))
	undone := 0
	for round := range rounds {
		before := d.hash()
		var changes []id.ID
		for range 20 {
			last := d.newest().ID
			d.randomStep(rng)
			if c := d.newest().ID; c != last {
				changes = append(changes, c)
			}
		}
		undone += len(changes)
		if round%2 == 0 {
			slices.Reverse(changes)
		} else { // skipped reverts are retried once the change in their way is reverted
			rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		}
		for range changes {
			for _, c := range changes {
				if now, err := d.j.Get(t.Context(), d.db, journal.ChangeRef{ChangeID: c.String()}); err != nil {
					t.Fatal(err)
				} else if now.RevertedBy == nil || round%2 == 1 {
					_ = d.tryRevert(c)
				}
			}
			if d.hash() == before {
				break
			}
		}
		if d.hash() != before {
			t.Fatalf("round %d: the books were not restored\n%s\n%s", round, before, d.hash())
		}
	}
	if undone < rounds*12 {
		t.Errorf("only %d changes were reverted", undone)
	}
}

func (d *desk) tryRevert(change id.ID) error {
	return d.db.InTx(d.Context(), func(tx pg.Tx) error {
		_, err := d.j.Revert(d.as(op.User), tx, journal.RevertChange{ChangeID: change.String()})
		return err
	})
}

// randomStep makes a random change to a random manual account. Some changes are refused; that is fine.
func (d *desk) randomStep(rng *rand.Rand) {
	d.Helper()
	all, err := d.reg.Accounts(d.Context(), d.db, op.None{})
	if err != nil {
		d.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(a Account) bool { return string(a.Provider) != bank.Manual })
	a := Account{}
	if len(all) > 0 {
		a = all[rng.IntN(len(all))]
	}
	day := pg.Day(pg.Date{}.Time().AddDate(2023, rng.IntN(12), rng.IntN(28)))
	amount := new(money.MustParse(fmt.Sprintf("%d.25", rng.IntN(1000))))
	word := string(rune('A' + rng.IntN(26)))
	switch rng.IntN(7) {
	case 0:
		_, err = d.create(op.User, CreateAccount{Name: word, Kind: kinds[rng.IntN(len(kinds))].kind, Balance: amount})
	case 1:
		err = d.delete(op.User, DeleteAccount{ID: a.ID.String()})
	case 2:
		_, err = d.patch(op.User, PatchAccount{ID: a.ID.String(), Name: new(word), ClosedOn: op.Null[pg.Date]{Set: true, Value: &day}})
	case 3:
		_, err = d.patch(op.User, PatchAccount{ID: a.ID.String(), Type: new("credit"), Currency: new(money.Currency("USD"))})
	case 4:
		_, err = d.patch(op.User, PatchAccount{
			ID: a.ID.String(), BalanceMethod: new(byValuations), Subtype: given(word), InstitutionName: given(word),
		})
	default:
		err = d.db.InTx(d.Context(), func(tx pg.Tx) (err error) {
			at := BalanceDay{ID: a.ID.String(), Day: day}
			if rng.IntN(3) == 0 {
				_, err = d.reg.DeleteBalance(d.as(op.User), tx, at)
			} else {
				_, err = d.reg.SetBalance(d.as(op.User), tx, SetBalance{BalanceDay: at, Current: *amount})
			}
			return err
		})
	}
	if err != nil && !errs.Is(err, errs.NotFound) {
		d.Fatal(err)
	}
}

package account

import (
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

func exec(t *testing.T, db *pg.DB, sql string, args ...any) {
	t.Helper()
	if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
		t.Fatal(err)
	}
}

// newAccount stores an account without a connection.
func newAccount(t *testing.T, db *pg.DB, name string) id.ID {
	t.Helper()
	u := id.New()
	exec(t, db, `insert into account (id, short_id, provider, provider_id, name, type, currency, balance_current)
		values ($1, $2, 'csv', $3, $3, 'depository', 'EUR', 12.5)`, u, u.Short(), name)
	return u
}

func given(s string) op.Null[string] { return op.Null[string]{Set: true, Value: &s} }

func TestAccounts(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	b := New(db)
	if none, err := b.Accounts(t.Context(), db, op.None{}); err != nil || none == nil || len(none) != 0 {
		t.Fatalf("no accounts: %v, %v", none, err)
	}
	savings, checking := newAccount(t, db, "savings"), newAccount(t, db, "Checking")
	household := id.Must("019a3c5e-4000-7000-8000-000000000001")
	connection, robin := id.New(), id.New()
	exec(t, db, `insert into member (id, short_id, name, role)
		values ($1, $2, 'Robin', 'member')`, robin, robin.Short())
	exec(t, db, `insert into connection (id, short_id, member_id, provider)
		values ($1, $2, $3, 'csv')`, connection, connection.Short(), household)
	exec(t, db, `update account set connection_id = $1 where id = $2`, connection, checking)

	all, err := b.Accounts(t.Context(), db, op.None{})
	if err != nil || len(all) != 2 || all[0].ID != checking || *all[0].UserName != "Household" ||
		all[1].UserID != nil || all[1].BalanceCurrent.String() != "12.50" {
		t.Fatalf("list: %+v, %v", all, err)
	}
	if got, err := b.Account(t.Context(), db, Ref{savings.Short()}); err != nil || got.ID != savings {
		t.Errorf("get: %+v, %v", got, err)
	}
	if _, err := b.Account(t.Context(), db, Ref{"nothing0"}); !errs.Is(err, errs.NotFound) {
		t.Errorf("get an unknown account: %v", err)
	}

	patch := func(in PatchAccount) (Account, error) {
		var out Account
		err := db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			out, err = b.PatchAccount(t.Context(), tx, in)
			return err
		})
		return out, err
	}
	a, err := patch(PatchAccount{
		ID: checking.Short(), DisplayName: given("Daily"), OwnerUserID: given(robin.Short()),
		Hidden: new(true),
	})
	if err != nil || *a.DisplayName != "Daily" || *a.UserID != robin || *a.OwnerUserID != robin ||
		*a.UserName != "Robin" || !a.Hidden {
		t.Errorf("patch: %+v, %v", a, err)
	}
	if lean := toolAccounts([]Account{a}); lean[0].Name.Plain() != "Daily" {
		t.Errorf("the tool's name is %q", lean[0].Name.Plain())
	}
	a, err = patch(PatchAccount{
		ID: checking.Short(), DisplayName: op.Null[string]{Set: true},
		OwnerUserID: op.Null[string]{Set: true},
	})
	if err != nil || a.DisplayName != nil || a.OwnerUserID != nil || *a.UserID != household || !a.Hidden {
		t.Errorf("cleared: %+v, %v", a, err)
	}
	if _, err := patch(PatchAccount{ID: checking.Short(), OwnerUserID: given("nobody00")}); !errs.Is(err,
		errs.InvalidReference) {
		t.Errorf("an unknown owner: %v", err)
	}
	if _, err := patch(PatchAccount{ID: "nothing0", Hidden: new(true)}); !errs.Is(err, errs.NotFound) {
		t.Errorf("patch an unknown account: %v", err)
	}
}

func TestBalances(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	b := New(db)
	account, other := newAccount(t, db, "a"), newAccount(t, db, "b")
	exec(t, db, `insert into account_balance (account_id, day, current, available)
		select $1, date '2026-01-01' + n, n + 0.25, nullif(n, 3) from generate_series(0, 9) n`, account)
	exec(t, db, `insert into account_balance (account_id, day, current) values ($1, '2026-01-05', 1)`, other)

	var days []string
	in := ListBalances{ID: account.Short(), Limit: 3}
	for {
		page, err := b.Balances(t.Context(), db, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Balances {
			days = append(days, d.Day.String())
		}
		if page.HasMore != (page.NextCursor != "") {
			t.Fatalf("has_more %v with cursor %q", page.HasMore, page.NextCursor)
		}
		if !page.HasMore {
			break
		}
		in.Cursor, in.ID = page.NextCursor, account.String() // the UUID and the short id name the same list
	}
	if len(days) != 10 || days[0] != "2026-01-10" || days[9] != "2026-01-01" {
		t.Errorf("walked %v", days)
	}
	day := func(s string) *pg.Date {
		d, err := pg.ParseDate(s)
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	part, err := b.Balances(t.Context(), db, ListBalances{
		ID: account.Short(), StartDate: day("2026-01-03"),
		EndDate: day("2026-01-04"), Limit: 50,
	})
	if err != nil || len(part.Balances) != 2 || part.Balances[0].Current.String() != "3.25" ||
		part.Balances[0].Available != nil || part.Balances[1].Available.String() != "2.00" {
		t.Errorf("range: %+v, %v", part, err)
	}
	for name, bad := range map[string]struct {
		in   ListBalances
		code errs.Code
	}{
		"no account": {ListBalances{ID: "nothing0", Limit: 50}, errs.NotFound},
		"end before start": {ListBalances{
			ID: account.Short(), StartDate: day("2026-01-04"),
			EndDate: day("2026-01-03"), Limit: 50,
		}, errs.ValidationError},
		"no cursor":        {ListBalances{ID: account.Short(), Cursor: "AAAA", Limit: 50}, errs.InvalidCursor},
		"another's cursor": {ListBalances{ID: other.Short(), Cursor: in.Cursor, Limit: 50}, errs.InvalidCursor},
		"cursor, other dates": {ListBalances{
			ID: account.Short(), StartDate: day("2026-01-04"), Cursor: in.Cursor,
			Limit: 50,
		}, errs.InvalidCursor},
	} {
		if _, err := b.Balances(t.Context(), db, bad.in); !errs.Is(err, bad.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package archive

import (
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

func TestDeleteUser(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	a := auth.New(db)
	books := ledger.New(db, category.New(ledger.CategoryUser{}))
	accounts := account.New(db)
	m := NewMembers(a, connection.New(connection.Config{DB: db, Auth: a, Accounts: accounts, Books: books}), accounts)
	make1 := func(name, role string) auth.User {
		var u auth.User
		if err := db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			u, err = a.CreateUser(t.Context(), tx, auth.CreateUser{Name: name, Role: role})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return u
	}
	remove := func(ref string, reassign *string) (op.Deleted, error) {
		var out op.Deleted
		err := db.InTx(t.Context(), func(tx pg.Tx) (err error) {
			out, err = m.DeleteUser(t.Context(), tx, DeleteUser{ID: ref, ReassignTo: reassign})
			return err
		})
		return out, err
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pg.Exec(t.Context(), db, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	robin, kim, idle := make1("Robin", "member"), make1("Kim", "viewer"), make1("Idle", "member")

	if out, err := remove(idle.ShortID, nil); err != nil || !out.Deleted || out.ID != idle.ID {
		t.Errorf("a member who owns nothing: %+v, %v", out, err)
	}
	if _, err := remove(idle.ShortID, nil); !errs.Is(err, errs.NotFound) {
		t.Errorf("a member who is gone: %v", err)
	}
	connection, account := id.New(), id.New()
	exec(`insert into connection (id, short_id, member_id, provider)
		values ($1, $2, $3, 'csv')`, connection, connection.Short(), robin.ID)
	exec(`insert into account (id, short_id, connection_id, provider, provider_id, owner_id, name, type, currency)
		values ($1, $2, $3, 'csv', 'a', $4, 'Checking', 'depository', 'EUR')`,
		account, account.Short(), connection, kim.ID)

	for _, u := range []auth.User{robin, kim} {
		if _, err := remove(u.ShortID, nil); !errs.Is(err, errs.InUse) {
			t.Errorf("%s owns something: %v", u.Name, err)
		}
		for _, to := range []string{"nobody00", u.ShortID, idle.ShortID} {
			if _, err := remove(u.ShortID, &to); !errs.Is(err, errs.InvalidReference) {
				t.Errorf("%s, reassigned to %s: %v", u.Name, to, err)
			}
		}
	}
	if _, err := remove(robin.ShortID, &kim.ShortID); err != nil {
		t.Fatal(err)
	}
	first, err := a.Users(t.Context(), db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	household := first[0]
	if _, err := remove(household.ShortID, &kim.ShortID); !errs.Is(err, errs.LastAdmin) {
		t.Errorf("the last admin: %v", err)
	}
	if _, err := remove(kim.ID.String(), new(household.ID.String())); err != nil {
		t.Fatal(err)
	}
	owners, err := pg.Values[id.ID](t.Context(), db, `select member_id from connection union all select owner_id
		from account`)
	if err != nil || len(owners) != 2 || owners[0] != household.ID || owners[1] != household.ID {
		t.Errorf("what they owned went to %v, %v", owners, err)
	}
	if left, err := a.Users(t.Context(), db, op.None{}); err != nil || len(left) != 1 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

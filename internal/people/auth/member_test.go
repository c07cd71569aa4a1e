package auth

import (
	"context"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// in runs a writing use case in its own transaction.
func in[In, Out any](t *testing.T, db *pg.DB, f func(context.Context, pg.Tx, In) (Out, error), input In) (Out, error) {
	t.Helper()
	var out Out
	err := db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		out, err = f(t.Context(), tx, input)
		return err
	})
	return out, err
}

func TestUsers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	a := New(db)
	seeded, err := a.Users(t.Context(), db, op.None{})
	if err != nil || len(seeded) != 1 || seeded[0].Name != "Household" || seeded[0].Role != "admin" ||
		seeded[0].Email != nil {
		t.Fatalf("first start: %+v, %v", seeded, err)
	}
	robin, err := in(t, db, a.CreateUser, CreateUser{Name: "Robin", Email: new("Robin@example.com"), Role: "member"})
	if err != nil || robin.ShortID != robin.ID.Short() || *robin.Email != "Robin@example.com" {
		t.Fatalf("create: %+v, %v", robin, err)
	}
	if _, err := in(t, db, a.CreateUser, CreateUser{
		Name: "Other", Email: new("robin@EXAMPLE.com"),
		Role: "viewer",
	}); !errs.Is(err, errs.Conflict) {
		t.Errorf("the same address twice: %v", err)
	}
	kim, err := in(t, db, a.CreateUser, CreateUser{Name: "Kim", Role: "viewer"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{robin.ID.String(), robin.ShortID} {
		if got, err := a.User(t.Context(), db, UserRef{ref}); err != nil || got.ID != robin.ID {
			t.Errorf("get %s: %+v, %v", ref, got, err)
		}
	}
	if _, err := a.User(t.Context(), db, UserRef{"nobody00"}); !errs.Is(err, errs.NotFound) {
		t.Errorf("get nobody: %v", err)
	}
	renamed, err := in(t, db, a.PatchUser, PatchUser{
		ID: robin.ShortID, Name: new("Robin K"),
		Email: op.Null[string]{Set: true},
	})
	if err != nil || renamed.Name != "Robin K" || renamed.Email != nil || renamed.Role != "member" {
		t.Errorf("patch: %+v, %v", renamed, err)
	}
	if _, err := in(t, db, a.PatchUser, PatchUser{ID: "nobody00", Name: new("x")}); !errs.Is(err, errs.NotFound) {
		t.Errorf("patch nobody: %v", err)
	}
	if _, err := in(t, db, a.PatchUser, PatchUser{
		ID:    robin.ShortID,
		Email: op.Null[string]{Set: true, Value: new("kim@example.com")},
	}); err != nil {
		t.Error(err)
	}
	if _, err := in(t, db, a.PatchUser, PatchUser{
		ID:    kim.ShortID,
		Email: op.Null[string]{Set: true, Value: new("KIM@example.com")},
	}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an address that another has: %v", err)
	}
	all, err := a.Users(t.Context(), db, op.None{})
	if err != nil || len(all) != 3 || all[1].Name != "Robin K" || all[2].Name != "Kim" {
		t.Errorf("list: %+v, %v", all, err)
	}
}

func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	a := New(db)
	first, err := a.Users(t.Context(), db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	seed := first[0].ID.String()
	if _, err := in(t, db, a.PatchUser, PatchUser{ID: seed, Role: new("viewer")}); !errs.Is(err, errs.LastAdmin) {
		t.Errorf("demoting the last admin: %v", err)
	}
	if u, err := in(t, db, a.PatchUser, PatchUser{ID: seed, Role: new("admin"), Name: new("Home")}); err != nil ||
		u.Name != "Home" {
		t.Errorf("an admin who stays admin: %+v, %v", u, err)
	}
	if _, err := in(t, db, a.RemoveUser, seed); !errs.Is(err, errs.LastAdmin) {
		t.Errorf("removing the last admin: %v", err)
	}
	second, err := in(t, db, a.CreateUser, CreateUser{Name: "Second", Role: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	// Both admins step down at once, the second before the first has committed. One admin must
	// stay.
	other := make(chan error, 1)
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		if _, err := a.PatchUser(t.Context(), tx, PatchUser{ID: seed, Role: new("member")}); err != nil {
			return err
		}
		go func() {
			other <- db.InTx(t.Context(), func(tx pg.Tx) error {
				_, err := a.PatchUser(t.Context(), tx, PatchUser{ID: second.ShortID, Role: new("member")})
				return err
			})
		}()
		for waits := false; !waits && len(other) == 0; {
			var err error
			waits, err = pg.Value[bool](t.Context(), db, `select exists (select from pg_stat_activity
				where datname = current_database() and wait_event_type = 'Lock')`)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-other; !errs.Is(err, errs.LastAdmin) {
		t.Errorf("two admins stepped down at once: %v", err)
	}
	n, err := pg.Value[int](t.Context(), db, `select count(*) from member where role = 'admin' and deleted_at is null`)
	if err != nil || n != 1 {
		t.Errorf("%d admins are left, %v", n, err)
	}
}

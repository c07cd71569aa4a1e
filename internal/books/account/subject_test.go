package account

import (
	"context"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A desk calls the register and the journal as a given actor.
type desk struct {
	*testing.T
	db  *pg.DB
	reg *Register
	j   *journal.Journal
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	db := pgtest.New(t)
	d := &desk{t, db, New(db), nil}
	d.j = journal.New(journal.Config{DB: db, Subjects: d.reg.Subjects()})
	return d
}

func (d *desk) as(kind string) context.Context {
	return op.WithActor(d.Context(), op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
}

func (d *desk) patch(kind string, in PatchAccount) (Account, error) {
	var out Account
	err := d.db.InTx(d.Context(), func(tx pg.Tx) (err error) {
		out, err = d.reg.PatchAccount(d.as(kind), tx, in)
		return err
	})
	return out, err
}

func (d *desk) must(kind string, in PatchAccount) Account {
	d.Helper()
	a, err := d.patch(kind, in)
	if err != nil {
		d.Fatal(err)
	}
	return a
}

func (d *desk) revert(kind string, change id.ID) journal.Reverted {
	d.Helper()
	var out journal.Reverted
	err := d.db.InTx(d.Context(), func(tx pg.Tx) (err error) {
		out, err = d.j.Revert(d.as(kind), tx, journal.RevertChange{ChangeID: change.String()})
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// newest returns the latest change.
func (d *desk) newest() journal.Change {
	d.Helper()
	list, err := d.j.List(d.Context(), d.db, journal.ListChanges{Limit: 1})
	if err != nil || len(list.Changes) != 1 {
		d.Fatalf("%+v, %v", list, err)
	}
	return list.Changes[0]
}

func (d *desk) account(u id.ID) Account {
	d.Helper()
	a, err := d.reg.Account(d.Context(), d.db, Ref{u.String()})
	if err != nil {
		d.Fatal(err)
	}
	return a
}

// An agent's edit of an account is a change like any other: it is listed, and reverted as a whole.
func TestAccountsAreJournaled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	u := newAccount(t, d.db, "Checking")
	was := d.account(u)
	d.must(op.Agent, PatchAccount{ID: was.ShortID, DisplayName: given("Daily"), Hidden: new(true)})
	c := d.newest()
	if c.Summary != "Renamed, hid an account" || c.ActorType != op.Agent || c.Entries != 1 {
		t.Errorf("%+v", c)
	}
	if r := d.revert(op.Agent, c.ID); r.Reverted != 1 || len(r.Skipped) > 0 {
		t.Errorf("%+v", r)
	}
	if now := d.account(u); now.DisplayName != nil || now.Hidden || len(now.Held) > 0 {
		t.Errorf("after the revert: %+v", now)
	}
	// A patch that changes nothing records nothing.
	last := d.newest().ID
	d.must(op.Agent, PatchAccount{ID: was.ShortID, Hidden: new(false)})
	if d.newest().ID != last {
		t.Errorf("an empty patch was recorded: %+v", d.newest())
	}
}

// Each field that a person set is protected from agents separately: an agent's write is refused
// without force, and an agent's revert leaves the field.
func TestAccountsAreHeld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	u := newAccount(t, d.db, "Checking")
	d.must(op.User, PatchAccount{ID: u.String(), Hidden: new(true)})
	hid := d.newest()
	if _, err := d.patch(op.Agent, PatchAccount{ID: u.String(), Hidden: new(false)}); !errs.Is(err, errs.Conflict) {
		t.Errorf("an agent unhid an account that a person hid: %v", err)
	}
	if a := d.must(op.Agent, PatchAccount{
		ID: u.String(), Hidden: new(true),
		DisplayName: given("Daily"),
	}); len(a.Held) != 1 || a.Held[0] != "hidden" {
		t.Errorf("an agent named an account that a person hid: %+v", a)
	}
	d.revert(op.Agent, d.newest().ID)
	if r := d.revert(op.Agent, hid.ID); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "held" {
		t.Errorf("an agent reverted a person's change: %+v", r)
	}
	forced := d.must(op.Agent, PatchAccount{ID: u.String(), Hidden: new(false), Force: true})
	if forced.Hidden || len(forced.Held) > 0 {
		t.Errorf("forced: %+v", forced)
	}
	d.revert(op.User, d.newest().ID)
	if a := d.account(u); !a.Hidden || len(a.Held) != 1 {
		t.Errorf("the hold was not restored: %+v", a)
	}
	// A person who repeats an agent's value becomes the one who holds it.
	d.must(op.Agent, PatchAccount{ID: u.String(), DisplayName: given("Daily")})
	if a := d.must(op.User, PatchAccount{ID: u.String(), DisplayName: given("Daily")}); len(a.Held) != 2 {
		t.Errorf("repeated: %+v", a)
	}
	if a := d.must(op.User, PatchAccount{ID: u.String(), DisplayName: op.Null[string]{Set: true}}); len(a.Held) != 1 {
		t.Errorf("cleared: %+v", a)
	}
}

// A revert does not restore an owner who has left in the meantime.
func TestRevertWithoutItsOwner(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	u, robin := newAccount(t, d.db, "Checking"), id.New()
	exec(t, d.db, `insert into member (id, short_id, name, role)
		values ($1, $2, 'Robin', 'member')`, robin, robin.Short())
	d.must(op.User, PatchAccount{ID: u.String(), OwnerUserID: given(robin.Short())})
	d.must(op.User, PatchAccount{ID: u.String(), OwnerUserID: op.Null[string]{Set: true}})
	exec(t, d.db, `update member set deleted_at = now() where id = $1`, robin)
	if r := d.revert(op.User, d.newest().ID); r.Reverted != 0 || len(r.Skipped) != 1 ||
		r.Skipped[0].Reason != "conflict" {
		t.Errorf("%+v", r)
	}
}

// A deleted account is not restored by reverting an earlier change to it.
func TestRevertOfWhatIsGone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	u := newAccount(t, d.db, "Imported")
	d.must(op.Agent, PatchAccount{ID: u.String(), Hidden: new(true)})
	hid := d.newest()
	err := d.db.InTx(t.Context(), func(tx pg.Tx) error {
		entries, err := d.reg.Made(d.as(op.Agent), tx, []id.ID{u})
		if err != nil {
			return err
		}
		_, err = journal.Record(d.as(op.Agent), tx, journal.Note{Cause: journal.Import, Summary: "Imported"}, entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := d.revert(op.User, d.newest().ID); r.Reverted != 1 {
		t.Fatalf("%+v", r)
	}
	if r := d.revert(op.User, hid.ID); r.Reverted != 0 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "missing" {
		t.Errorf("%+v", r)
	}
	if all, err := d.reg.Accounts(t.Context(), d.db, op.None{}); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

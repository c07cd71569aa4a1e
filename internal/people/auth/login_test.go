package auth

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

const secret = "correct horse battery staple"

// withLogin creates a household with a member whose password is cheap to check.
func withLogin(t *testing.T) (*Auth, User) {
	t.Helper()
	db := pgtest.New(t)
	a := New(db)
	a.passwords = newHasher() // not the hasher that all households of the process share
	a.passwords.cost = cost{memory: 64, passes: 1}
	u, err := in(t, db, a.CreateUser, CreateUser{Name: "Robin", Email: new("robin@example.com"), Role: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := a.NewPassword(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := a.CreateLogin(t.Context(), tx, CreateLogin{UserID: u.ShortID, Kind: Password}, proof)
		return err
	})
	if err == nil { // as if the member had chosen it
		_, err = pg.Exec(t.Context(), db, `update login set must_replace = false`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, u
}

// A known and an unknown member cost one hash each, and get the same error.
func TestOneHashForKnownAndUnknown(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	hashes := func(email, password, address string) (int64, error) {
		before := a.passwords.count.Load()
		_, err := a.SignIn(t.Context(), email, password, address)
		return a.passwords.count.Load() - before, err
	}
	known, wrong := hashes("Robin@Example.com", "not the password", "192.0.2.1")
	unknown, nobody := hashes("nobody@example.com", "not the password", "192.0.2.2")
	if known != 1 || unknown != 1 {
		t.Errorf("a known member cost %d hashes, an unknown one %d", known, unknown)
	}
	if !errs.Is(wrong, errs.InvalidLogin) || !errs.Is(nobody, errs.InvalidLogin) || wrong.Error() != nobody.Error() {
		t.Errorf("refusals differ: %v and %v", wrong, nobody)
	}
	if n, err := hashes("robin@example.com", secret, "192.0.2.3"); n != 1 || err != nil {
		t.Errorf("the right password: %d hashes, %v", n, err)
	}
	// If the cost was raised, the password is hashed again at the next sign-in.
	a.passwords.cost.passes = 2
	if n, err := hashes("robin@example.com", secret, "192.0.2.3"); n != 2 || err != nil {
		t.Errorf("the first time after the setting changed: %d hashes, %v", n, err)
	}
	if n, err := hashes("robin@example.com", secret, "192.0.2.3"); n != 1 || err != nil {
		t.Errorf("the second time: %d hashes, %v", n, err)
	}
	stored, err := pg.Value[string](t.Context(), a.db, `select proof from login where member_id = $1`, u.ID)
	if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=64,t=2,p=1$") {
		t.Errorf("stored is %q, %v", stored, err)
	}
}

func TestUsualCost(t *testing.T) {
	t.Parallel()
	h := newHasher()
	stored, err := h.hash(t.Context(), secret)
	if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=47104,t=2,p=1$") {
		t.Fatalf("%s, %v", stored, err)
	}
	start := time.Now()
	if ok, stale, err := h.check(t.Context(), stored, secret, 0); !ok || stale || err != nil {
		t.Errorf("%v %v %v", ok, stale, err)
	}
	t.Logf("one hash takes %s", time.Since(start).Round(time.Millisecond))
	if ok, _, err := h.check(t.Context(), h.nobody(), secret, 0); ok || err != nil {
		t.Errorf("a password fits nobody: %v %v", ok, err)
	}
	for _, bad := range []string{
		"", "$argon2id$v=19$m=0,t=0,p=1$$", "$2b$12$abc",
		strings.Replace(stored, "m=47104", "m=99999999", 1), stored[:len(stored)-3],
	} {
		if _, _, err := h.check(t.Context(), bad, secret, 0); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// A guesser is slowed down, but the member at another address is not. The test also checks that the
// guesser really waits.
func TestThrottlingLocksNobodyOut(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	a.LoginsPerMinute = 1000
	guess := func(address string) error {
		_, err := a.SignIn(t.Context(), "robin@example.com", "wrong "+id.Base62(8), address)
		return err
	}
	waits := 0
	for range 30 {
		err := guess("198.51.100.7")
		if e, ok := errors.AsType[*errs.Error](err); ok && e.Code == errs.RateLimited && e.After > 0 {
			waits++
		} else if !errs.Is(err, errs.InvalidLogin) {
			t.Fatal(err)
		}
	}
	if waits < 20 {
		t.Errorf("of 30 guesses only %d had to wait", waits)
	}
	for n := range 200 { // one guess each from many addresses
		if err := guess(fmt.Sprintf("203.0.113.%d", n)); !errs.Is(err, errs.InvalidLogin) {
			t.Fatal(err)
		}
	}
	got, err := a.SignIn(t.Context(), "robin@example.com", secret, "192.0.2.1")
	if err != nil || got.User.ID != u.ID {
		t.Errorf("the member cannot get in: %v", err)
	}
	// The wait doubles, up to a quarter of an hour.
	bucket := pair("robin@example.com", "198.51.100.7")
	for range 40 {
		if err := a.failed(t.Context(), bucket); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.SignIn(t.Context(), "robin@example.com", secret, "198.51.100.7"); !errs.Is(err, errs.RateLimited) {
		t.Errorf("the guesser got through while waiting: %v", err)
	}
	wait, err := pg.Value[int](t.Context(), a.db, `select extract(epoch from free_at - now())::integer from attempt
		where bucket = $1`, bucket)
	if err != nil || wait < 800 || wait > 900 {
		t.Errorf("the longest wait is %d s, %v", wait, err)
	}
}

func TestSignInsPerAddress(t *testing.T) {
	t.Parallel()
	a, _ := withLogin(t)
	other := New(a.db) // another server on the same database
	other.passwords = a.passwords
	limited := 0
	for n := range 24 {
		server := []*Auth{a, other}[n%2]
		// The network of one customer.
		_, err := server.SignIn(t.Context(), fmt.Sprint(n, "@example.com"), "whatever it is",
			fmt.Sprintf("2001:db8:0:1::%x", n))
		if errs.Is(err, errs.RateLimited) {
			limited++
		}
	}
	if limited != 14 {
		t.Errorf("%d of 24 were limited, want 14", limited)
	}
	if _, err := a.SignIn(t.Context(), "robin@example.com", secret, "2001:db8:0:2::1"); err != nil {
		t.Errorf("the neighbor: %v", err)
	}
	if _, err := pg.Exec(t.Context(), a.db, `update attempt set expires_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if _, err := a.SignIn(t.Context(), "robin@example.com", secret, "2001:db8:0:1::1"); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// No more hashes run at once than allowed, and the caller with the fewest tries goes first.
func TestQueueOfHashes(t *testing.T) {
	t.Parallel()
	h := &hasher{cost: cost{memory: 64, passes: 1}, free: 1}
	if err := h.enter(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var order []int
	var all sync.WaitGroup
	for n, tries := range []int{9, 3, 7, 1} {
		all.Go(func() {
			if err := h.enter(t.Context(), tries); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, tries)
			mu.Unlock()
			h.leave()
		})
		for waiting := 0; waiting <= n; time.Sleep(time.Millisecond) {
			h.mu.Lock()
			waiting = len(h.waiting)
			h.mu.Unlock()
		}
	}
	h.leave()
	all.Wait()
	if fmt.Sprint(order) != "[1 3 7 9]" || h.free != 1 {
		t.Errorf("order %v, %d free", order, h.free)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	s, text, err := a.OpenSession(t.Context(), SignIn{User: u}, "Firefox on Linux")
	if err != nil {
		t.Fatal(err)
	}
	actor, err := a.Session(t.Context(), text)
	if err != nil || actor.ID != u.ID || actor.Name != "Robin" || actor.Type != op.User ||
		actor.Scope != op.Full || actor.Role != "admin" || actor.Key != nil || *actor.Session != s.ID {
		t.Fatalf("%+v, %v", actor, err)
	}
	if _, err := a.Key(t.Context(), text); !errs.Is(err, errs.InvalidAPIKey) {
		t.Errorf("a session passes as a key: %v", err)
	}
	// A changed role applies from the next request on.
	if _, err := in(t, a.db, a.PatchUser, PatchUser{ID: "00000001", Name: new("House")}); err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Exec(t.Context(), a.db, `update member set role = 'viewer' where id = $1`, u.ID); err != nil {
		t.Fatal(err)
	}
	if actor, err := a.Session(t.Context(), text); err != nil || actor.Scope != op.Read {
		t.Errorf("a viewer's session: %+v, %v", actor, err)
	}
	if err := a.CloseSession(t.Context(), actor); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Session(t.Context(), text); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("a session that was ended: %v", err)
	}
	dump, err := pg.Value[int](t.Context(), a.db, `select count(*)::integer from token t
		where t::text like '%' || $1 || '%'`, text)
	if err != nil || dump != 0 {
		t.Errorf("the session's text is in the database: %d, %v", dump, err)
	}
}

// A new password ends the sessions that the old one opened, except the session that changed it.
func TestNewPasswordEndsSessions(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	_, old, err := a.OpenSession(t.Context(), SignIn{User: u}, "old")
	if err != nil {
		t.Fatal(err)
	}
	_, mine, err := a.OpenSession(t.Context(), SignIn{User: u}, "mine")
	if err != nil {
		t.Fatal(err)
	}
	actor, err := a.Session(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	login, err := pg.Value[string](t.Context(), a.db, `select short_id from login where member_id = $1`, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx := op.WithActor(t.Context(), actor)
	change := PatchLogin{UserID: u.ShortID, LoginID: login, Password: new("another long password")}
	proof, err := a.changed(ctx, a.db, change)
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.PatchLogin(ctx, tx, change, proof)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Session(t.Context(), old); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("another session goes on: %v", err)
	}
	if _, err := a.Session(t.Context(), mine); err != nil {
		t.Errorf("the session that changed it has ended: %v", err)
	}
	if _, err := a.SignIn(t.Context(), "robin@example.com", secret, "192.0.2.1"); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := a.SignIn(t.Context(), "robin@example.com", "another long password", "192.0.2.1"); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

// changePassword changes a member's password, as an admin does.
func changePassword(t *testing.T, a *Auth, u User, proof string) {
	t.Helper()
	login, err := pg.Value[string](t.Context(), a.db, `select short_id from login
		where member_id = $1 and kind = 'password'`, u.ID)
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := a.PatchLogin(t.Context(), tx, PatchLogin{
			UserID: u.ShortID, LoginID: login,
			Password: new("another long password"),
		}, proof)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A sign-in with the old password while it is being changed neither succeeds nor restores it.
func TestPasswordChangedMeanwhile(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	proof, err := a.NewPassword(t.Context(), "another long password")
	if err != nil {
		t.Fatal(err)
	}
	early, err := a.SignIn(t.Context(), "robin@example.com", secret, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	a.passwords.free = 1
	if err := a.passwords.enter(t.Context(), 0); err != nil { // the sign-in has read the current password, and waits
		t.Fatal(err)
	}
	late := make(chan error, 1)
	go func() {
		_, err := a.SignIn(t.Context(), "robin@example.com", secret, "192.0.2.2")
		late <- err
	}()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		a.passwords.mu.Lock()
		waiting = len(a.passwords.waiting)
		a.passwords.mu.Unlock()
	}
	changePassword(t, a, u, proof)
	a.passwords.leave()
	if err := <-late; !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("the old password was taken: %v", err)
	}
	if _, _, err := a.OpenSession(t.Context(), early, "Firefox"); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("the old password opened a session after it was changed: %v", err)
	}
	e, err := a.SignIn(t.Context(), "robin@example.com", "another long password", "192.0.2.3")
	if err != nil || !e.MustReplace {
		t.Fatalf("the new password was lost: %v", err)
	}
	e.MustReplace = false // as if Robin had set it
	if _, _, err := a.OpenSession(t.Context(), e, "Firefox"); err != nil {
		t.Errorf("and opens nothing: %v", err)
	}
}

// A value that cannot be an address is rejected like any other, whatever characters it has.
func TestStrangeAddresses(t *testing.T) {
	t.Parallel()
	a, _ := withLogin(t)
	a.LoginsPerMinute = 1000
	for _, strange := range []string{
		"\x00", "robin@example.com\x00", "\xff\xfe@example.com",
		strings.Repeat("x", 60_000), "robin@example.com\u202e",
	} {
		if _, err := a.SignIn(t.Context(), strange, secret, "192.0.2.1"); !errs.Is(err, errs.InvalidLogin) {
			t.Errorf("%.20q: %v", strange, err)
		}
	}
}

// The record of used tokens does not grow with every token that ever existed.
func TestUsesAreForgotten(t *testing.T) {
	t.Parallel()
	a := New(pgtest.New(t))
	for range 100 {
		a.touch(id.New())
		if err := a.Flush(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.used)+len(a.written) > 1 {
		t.Errorf("%d used and %d written are remembered", len(a.used), len(a.written))
	}
}

// A member who was removed gets no new sign-in method, not even one that was started before.
// Otherwise the method would stay reserved.
func TestNobodyJoinsAfterLeaving(t *testing.T) {
	t.Parallel()
	a, u := withLogin(t)
	if _, err := pg.Exec(t.Context(), a.db, `update member set deleted_at = now() where id = $1`, u.ID); err != nil {
		t.Fatal(err)
	}
	if err := a.Join(t.Context(), u.ID, "https://id.example", "1"); !errs.Is(err, errs.NotFound) {
		t.Errorf("an account elsewhere: %v", err)
	}
	if err := a.AddPasskey(t.Context(), op.Actor{Member: &u.ID}, "a phone", []byte("credential"), "{}"); !errs.Is(err,
		errs.NotFound) {
		t.Errorf("a passkey: %v", err)
	}
	if n, err := pg.Value[int](t.Context(), a.db, `select count(*)::integer from login
		where kind <> 'password'`); err != nil || n != 0 {
		t.Errorf("%d were made, %v", n, err)
	}
}

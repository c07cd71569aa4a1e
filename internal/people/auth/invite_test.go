package auth

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// invited creates a household with an invited member, and returns the secret of the link.
func invited(t *testing.T) (*Auth, User, string) {
	t.Helper()
	a, _ := withLogin(t)
	a.Base, a.LoginsPerMinute = "https://coffer.example", 1_000_000
	u, err := in(t, a.db, a.AddUser, CreateUser{Name: "Kim", Email: new("kim@example.com"), Role: "member", Invite: true})
	if err != nil || u.Invitation == nil || u.InvitedUntil == nil || u.HasLogin {
		t.Fatalf("%+v, %v", u, err)
	}
	secret, ok := strings.CutPrefix(u.Invitation.URL, "https://coffer.example/join/")
	if !ok || len(secret) != ticketRandom || len(u.Invitation.QR) < 21*21 || time.Until(u.Invitation.ExpiresAt.Time()) > inviteLife {
		t.Fatalf("%+v", u.Invitation)
	}
	return a, u.User, secret
}

// Of a thousand callers that use one invitation at once, one sets the password. In the comparison,
// a check before the write lets many callers through.
func TestOneRedemption(t *testing.T) {
	t.Parallel()
	a, u, link := invited(t)
	const many = 1000
	var looked, won, refused atomic.Int64
	at := func(f func(n int)) {
		var all sync.WaitGroup
		start := make(chan struct{})
		for n := range many {
			all.Go(func() {
				<-start
				f(n)
			})
		}
		close(start)
		all.Wait()
	}
	at(func(int) {
		if _, err := a.joining(t.Context(), a.db, link); err == nil {
			looked.Add(1)
		}
	})
	if looked.Load() < 2 {
		t.Errorf("the control lets %d through, so this shows nothing", looked.Load())
	}
	// Use passkeys, so that no caller waits for a hash and all of them meet at the database.
	at(func(n int) {
		switch e, err := a.JoinWithPasskey(t.Context(), link, "phone", fmt.Append(nil, "credential ", n), "{}", "192.0.2.1"); {
		case err == nil && e.User.ID == u.ID:
			won.Add(1)
		case errs.Is(err, errs.NotFound):
			refused.Add(1)
		}
	})
	n, err := pg.Value[int](t.Context(), a.db, `select count(*)::integer from login where member_id = $1`, u.ID)
	if won.Load() != 1 || refused.Load() != many-1 || n != 1 || err != nil {
		t.Fatalf("%d redeemed it, %d were refused, and the member has %d sign-in methods, %v", won.Load(), refused.Load(),
			n, err)
	}
}

// Unknown, expired, void and used links, and links of removed members, give the same error.
func TestLinksThatOpenNothing(t *testing.T) {
	t.Parallel()
	const chosen = "a sentence of my own"
	cases := map[string]func(t *testing.T, a *Auth, u User, link string) string{
		"unknown":   func(*testing.T, *Auth, User, string) string { return strings.Repeat("A", ticketRandom) },
		"malformed": func(*testing.T, *Auth, User, string) string { return "no link at all\x00" },
		"expired": func(t *testing.T, a *Auth, _ User, link string) string {
			t.Helper()
			if _, err := pg.Exec(t.Context(), a.db, `update ticket set expires_at = now() - interval '1 second'`); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"void": func(t *testing.T, a *Auth, u User, link string) string {
			t.Helper()
			if _, err := in(t, a.db, a.Uninvite, UserRef{u.ShortID}); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"void by a new one": func(t *testing.T, a *Auth, u User, link string) string {
			t.Helper()
			if _, err := in(t, a.db, a.Invite, UserRef{u.ShortID}); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"used up": func(t *testing.T, a *Auth, _ User, link string) string {
			t.Helper()
			if _, err := a.JoinWithPassword(t.Context(), link, "", "somebody else's sentence", "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
			return link
		},
		"of another kind": func(t *testing.T, a *Auth, _ User, _ string) string {
			t.Helper()
			other, err := a.Issue(t.Context(), SetupTicket, Ticket{}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return other
		},
		"of a member who left": func(t *testing.T, a *Auth, u User, link string) string {
			t.Helper()
			err := a.db.InTx(t.Context(), func(tx pg.Tx) error {
				_, err := a.RemoveUser(t.Context(), tx, u.ShortID)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return link
		},
		"after a password was set": func(t *testing.T, a *Auth, u User, link string) string {
			t.Helper()
			err := a.db.InTx(t.Context(), func(tx pg.Tx) error {
				l, err := a.CreateLogin(t.Context(), tx, CreateLogin{UserID: u.ShortID, Kind: Password}, a.passwords.nobody())
				if err != nil {
					return err
				}
				_, err = a.PatchLogin(t.Context(), tx, PatchLogin{UserID: u.ShortID, LoginID: l.ShortID}, a.passwords.nobody())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return link
		},
	}
	want := usedUp(InviteTicket).Error()
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, u, link := invited(t)
			link = spoil(t, a, u, link)
			if _, err := a.Joining(t.Context(), link, "192.0.2.1"); !errs.Is(err, errs.NotFound) || err.Error() != want {
				t.Errorf("looked at: %v", err)
			}
			if _, err := a.JoinWithPassword(t.Context(), link, "", chosen, "192.0.2.1"); !errs.Is(err, errs.NotFound) ||
				err.Error() != want {
				t.Errorf("redeemed: %v", err)
			}
			if _, err := a.JoinWithPasskey(t.Context(), link, "phone", []byte("x"), "{}", "192.0.2.1"); !errs.Is(err,
				errs.NotFound) || err.Error() != want {
				t.Errorf("redeemed with a passkey: %v", err)
			}
		})
	}
	a, u, link := invited(t) // the unchanged link works
	if e, err := a.JoinWithPassword(t.Context(), link, "", chosen, "192.0.2.1"); err != nil || e.User.ID != u.ID {
		t.Errorf("a good link: %v", err)
	}
}

// A password that somebody else set can only be replaced, by another password.
func TestForeignPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	a, _ := withLogin(t)
	u, err := in(t, a.db, a.CreateUser, CreateUser{Name: "Kim", Email: new("kim@example.com"), Role: "member"})
	if err != nil {
		t.Fatal(err)
	}
	const given, mine = "given by an admin", "chosen by myself"
	proof, err := a.NewPassword(t.Context(), given)
	if err == nil {
		err = a.db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := a.CreateLogin(t.Context(), tx, CreateLogin{UserID: u.ShortID, Kind: Password}, proof)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.SignIn(t.Context(), "kim@example.com", given, "192.0.2.1")
	if err != nil || !e.MustReplace {
		t.Fatalf("%+v, %v", e, err)
	}
	if _, _, err := a.OpenSession(t.Context(), e, "browser"); !errs.Is(err, errs.Forbidden) {
		t.Errorf("it opens a session: %v", err)
	}
	link, err := a.Replacing(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.JoinWithPassword(t.Context(), link, "", given, "192.0.2.1"); !errs.Is(err, errs.ValidationError) {
		t.Errorf("the same again: %v", err)
	}
	if e, err = a.JoinWithPassword(t.Context(), link, "", mine, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.OpenSession(t.Context(), e, "browser"); err != nil {
		t.Errorf("after it was replaced: %v", err)
	}
	if _, err := a.SignIn(t.Context(), "kim@example.com", given, "192.0.2.1"); !errs.Is(err, errs.InvalidLogin) {
		t.Errorf("the given one still works: %v", err)
	}
	if e, err := a.SignIn(t.Context(), "kim@example.com", mine, "192.0.2.1"); err != nil || e.MustReplace {
		t.Errorf("the chosen one: %v", err)
	}
}

// Guessing links is slowed down like guessing passwords.
func TestTryingLinksIsBounded(t *testing.T) {
	t.Parallel()
	a, _, link := invited(t)
	a.LoginsPerMinute = 10
	limited := 0
	for range 30 {
		if _, err := a.Joining(t.Context(), strings.Repeat("B", ticketRandom), "198.51.100.7"); errs.Is(err, errs.RateLimited) {
			limited++
		}
	}
	if limited != 20 {
		t.Errorf("%d of 30 had to wait", limited)
	}
	if _, err := a.Joining(t.Context(), link, "192.0.2.9"); err != nil {
		t.Errorf("the member, from another address: %v", err)
	}
}

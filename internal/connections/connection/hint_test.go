package connection

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/pg"
)

func (b *branch) hear(t *testing.T, e bank.Event) (Heard, error) {
	t.Helper()
	var out Heard
	err := b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		out, err = b.Hear(t.Context(), tx, Hint{"plaid", "webhook", e})
		return err
	})
	return out, err
}

// settled waits until no sync is waiting or running.
func (b *branch) settled(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		live, err := pg.Value[bool](t.Context(), b.db, `select exists (select from job where finished_at is null)`)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("a sync does not end (%v)", err)
		}
		if !live {
			return
		}
	}
}

// TestHints tests every effect in every state, as in the contract's table.
func TestHints(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.exec(t, `update connection set provider_id = 'item'`)
	consent := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	none, was, code, expires := "", "WAS", "CODE", consentExpiring
	for _, c := range []struct {
		from   string
		paused bool
		effect bank.Effect
		to     string
		reason *string
		synced bool
	}{
		{"active", false, bank.Nothing, "active", &was, false},
		{"active", false, bank.Sync, "active", nil, true},
		{"active", true, bank.Sync, "active", &was, false},
		{"error", false, bank.Sync, "active", nil, true},
		{"pending_reauth", false, bank.Sync, "pending_reauth", &was, false},
		{"active", false, bank.NeedsReauth, "pending_reauth", &code, false},
		{"active", true, bank.NeedsReauth, "pending_reauth", &code, false},
		{"error", false, bank.NeedsReauth, "pending_reauth", &code, false},
		{"pending_reauth", false, bank.NeedsReauth, "pending_reauth", &was, false},
		{"active", false, bank.Expiring, "active", &expires, false},
		{"error", false, bank.Expiring, "error", &was, false},
		{"pending_reauth", false, bank.Expiring, "pending_reauth", &was, false},
		{"active", false, bank.Repaired, "active", nil, true},
		{"error", false, bank.Repaired, "active", nil, true},
		{"pending_reauth", false, bank.Repaired, "active", nil, true},
		{"pending_reauth", true, bank.Repaired, "active", nil, false},
		{"active", false, bank.Revoked, "disconnected", &code, false},
		{"error", false, bank.Revoked, "disconnected", &code, false},
		{"pending_reauth", true, bank.Revoked, "disconnected", &code, false},
		{"active", false, bank.NewAccounts, "active", &was, false},
		{"active", false, bank.AccountGone, "active", nil, true},
		{"disconnected", false, bank.Sync, "disconnected", &was, false},
		{"disconnected", false, bank.Repaired, "disconnected", &was, false},
		{"disconnected", false, bank.NeedsReauth, "disconnected", &was, false},
		{"disconnected", false, bank.Expiring, "disconnected", &was, false},
		{"disconnected", false, bank.NewAccounts, "disconnected", &was, false},
	} {
		sealed, err := b.ring.Seal(credentialsPlace(b.connection), []byte(`{"token":"t"}`))
		if err != nil {
			t.Fatal(err)
		}
		b.exec(t, `update connection set status = $1, paused = $2, status_reason = 'WAS', consent_expires_at = null,
			new_accounts_available = false,
			credentials = case when $1 <> 'disconnected' then $3::bytea end,
				next_sync_at = now() + interval '1 hour'`, c.from, c.paused, sealed)
		heard, err := b.hear(t, bank.Event{
			Effect: c.effect, ConnectionID: "item", Code: code, Advice: "do this",
			ExpiresAt: consent,
		})
		if err != nil || heard.Synced != c.synced || heard.Connection == nil || heard.Message == "" {
			t.Errorf("%s, paused %t, %s: heard %+v, %v", c.from, c.paused, c.effect, heard, err)
		}
		b.settled(t)
		got := b.health(t)
		reason := c.reason
		if reason == nil {
			reason = &none
		}
		at := none
		if got.Reason != nil {
			at = *got.Reason
		}
		final := c.from == "disconnected"
		if got.Status != c.to || at != *reason || (got.Consent != nil) != (c.effect == bank.Expiring && !final) ||
			got.Accounts != (c.effect == bank.NewAccounts && !final) || got.Sealed != (c.to != "disconnected") {
			t.Errorf("%s, paused %t, %s: now %+v, reason %q, want %s %q", c.from, c.paused, c.effect, got, at, c.to,
				*reason)
		}
		told, err := pg.Value[int](t.Context(), b.db, `with told as (delete from notification returning id)
			select count(*) from told`)
		news := c.effect == bank.NeedsReauth && c.from != "pending_reauth" && !final
		if err != nil || (told == 1) != news {
			t.Errorf("%s, %s: notified %d times; %v", c.from, c.effect, told, err)
		}
		if news && got.Due != nil {
			t.Errorf("%s: syncs go on after %s", c.from, c.effect)
		}
	}
	if _, err := b.hear(t, bank.Event{Effect: bank.Sync, ConnectionID: "stranger"}); !errors.Is(err, ErrStranger) {
		t.Errorf("a stranger's: %v", err)
	}
	if heard, err := b.hear(t, bank.Event{Effect: bank.Sync}); err != nil || heard.Connection != nil || heard.Synced {
		t.Errorf("about nothing: %+v, %v", heard, err)
	}
}

// The warning that consent will end stays after successful syncs, and after a failed sync in
// between.
func TestConsentWarningStays(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.exec(t, `update connection set provider_id = 'item'`)
	if _, err := b.hear(t, bank.Event{
		Effect: bank.Expiring, ConnectionID: "item",
		ExpiresAt: time.Now().Add(time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []error{nil, &bank.Error{Class: bank.Permanent, Code: "NO"}, nil} {
		if b.bank.errs = nil; e != nil {
			b.bank.errs = []error{e}
		}
		b.once(t, "manual")
	}
	if s := b.health(t); s.Status != "active" || s.Reason == nil || *s.Reason != consentExpiring || s.Consent == nil {
		t.Errorf("%+v", s)
	}
}

// A connection shows an account that the bank no longer shares, until it is shared again or
// somebody hides it. The warning about consent takes precedence.
func TestAccountGone(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.exec(t, `update connection set provider_id = 'item'`)
	b.bank.put(charge("a", "1.00", "ONE"))
	b.once(t, "initial")
	says := func(want string) {
		t.Helper()
		h, got := b.health(t), ""
		if h.Reason != nil {
			got = *h.Reason
		}
		if got != want || h.Status != "active" || (h.Message == nil) != (want == "") {
			t.Errorf("it says %q, want %q: %+v", got, want, h)
		}
	}
	says("")
	b.bank.gone = "acc-2"
	if heard, err := b.hear(t, bank.Event{
		Effect: bank.AccountGone, ConnectionID: "item",
		AccountID: "acc-2",
	}); err != nil || !heard.Synced {
		t.Errorf("%+v, %v", heard, err)
	}
	b.settled(t)
	says(accountGone)
	short, err := pg.Value[string](t.Context(), b.db, `select short_id from account where provider_id = 'acc-2'`)
	if h := b.health(t); err != nil || !strings.Contains(*h.Message, short) {
		t.Errorf("%s is not named: %+v, %v", short, h, err)
	}
	b.exec(t, `update connection set consent_expires_at = now() + interval '1 hour'`)
	b.once(t, "manual")
	says(consentExpiring)
	b.exec(t, `update connection set consent_expires_at = null, status_reason = null`)
	b.once(t, "manual")
	says(accountGone)
	b.exec(t, `update account set hidden = true where provider_id = 'acc-2'`)
	b.once(t, "manual")
	says("")
	b.exec(t, `update account set hidden = false`)
	b.bank.gone = ""
	b.once(t, "manual")
	says("")
	b.holds(t)
}

// If the provider reports that a login works again, the consent stays the same. If the member has
// signed in, it is a new consent.
func TestLoginWorksAgain(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	for _, anew := range []bool{false, true} {
		b.exec(t, `update connection set provider_id = 'item', status = 'pending_reauth', status_reason = 'CODE',
			consecutive_failures = 2, next_sync_at = null,
			consent_expires_at = now() + interval '1 day', new_accounts_available = true`)
		err := b.db.InTx(t.Context(), func(tx pg.Tx) error { return works(t.Context(), tx, b.connection, anew) })
		if err != nil {
			t.Fatal(err)
		}
		h := b.health(t)
		if h.Status != "active" || h.Failures != 0 || h.Due == nil || *h.Due || h.Accounts == anew ||
			(h.Consent == nil) != anew || (h.Reason == nil) != anew || (h.Message == nil) != anew {
			t.Errorf("again %t: %+v", anew, h)
		}
	}
	b.exec(t, `update connection set status = 'disconnected'`)
	if err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		return works(t.Context(), tx, b.connection,
			true)
	}); err != nil {
		t.Fatal(err)
	}
	if h := b.health(t); h.Status != "disconnected" {
		t.Errorf("what is disconnected came back: %+v", h)
	}
}

// A state that is set while a sync runs remains when it ends: the sync must not revive a connection
// that is disconnected or waits for the member.
func TestHintsDuringASync(t *testing.T) {
	t.Parallel()
	for effect, want := range map[bank.Effect]string{bank.Revoked: "disconnected", bank.NeedsReauth: "pending_reauth"} {
		for name, fails := range map[string]error{
			"succeeds": nil,
			"fails":    &bank.Error{Class: bank.Permanent, Code: "NO"},
		} {
			t.Run(effect.String()+" and it "+name, func(t *testing.T) {
				t.Parallel()
				b := newBranch(t, 1)
				b.exec(t, `update connection set provider_id = 'item'`)
				b.bank.put(charge("a", "1.00", "ONE"), charge("b", "2.00", "TWO"))
				b.bank.during = make(chan chan struct{})
				done := make(chan struct{})
				go func() { defer close(done); b.once(t, "manual") }()
				release := <-b.bank.during
				if _, err := b.hear(t, bank.Event{Effect: effect, ConnectionID: "item", Code: "CODE"}); err != nil {
					t.Error(err)
				}
				b.bank.mu.Lock()
				b.bank.during = nil
				if fails != nil {
					b.bank.errs = []error{fails}
				}
				b.bank.mu.Unlock()
				close(release)
				<-done
				if s := b.health(t); s.Status != want || s.Reason == nil || *s.Reason != "CODE" ||
					want == "disconnected" && (s.Sealed || s.Due != nil) {
					t.Errorf("%+v", s)
				}
				if n := len(b.stored(t)); n > 0 && want == "disconnected" {
					t.Errorf("%d rows were stored after access was revoked", n)
				}
			})
		}
	}
}

// A webhook event during a sync causes exactly one further run, and that run sees the new data. A
// request by hand joins the running sync.
func TestNewsDuringASync(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.exec(t, `update connection set provider_id = 'item'`)
	b.bank.put(charge("a", "1.00", "ONE"))
	b.bank.during = make(chan chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); b.once(t, "manual") }()
	release := <-b.bank.during
	b.bank.mu.Lock()
	b.bank.during = nil
	b.bank.mu.Unlock()
	for range 5 {
		if heard, err := b.hear(t, bank.Event{Effect: bank.Sync, ConnectionID: "item"}); err != nil || !heard.Synced {
			t.Errorf("%+v, %v", heard, err)
		}
	}
	close(release)
	<-done
	b.settled(t)
	logs, err := pg.Values[string](t.Context(), b.db, `select trigger || ' ' || status from sync_log order by id`)
	if err != nil || len(logs) != 2 || logs[0] != "manual success" || logs[1] != "webhook success" {
		t.Errorf("%v, %v", logs, err)
	}
}

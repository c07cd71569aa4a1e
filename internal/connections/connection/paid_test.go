package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
)

// first returns the stored account that the bank lists first.
func (o *office) first(t *testing.T) account.Ref {
	t.Helper()
	ref, err := pg.Value[string](t.Context(), o.db, `select id::text from account
		where provider_id = $1`, o.book.Accounts()[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return account.Ref{ID: ref}
}

// refresh requests an account's balance from the bank, as the operation does.
func (o *office) refresh(ctx context.Context, of account.Ref) (out account.Account, err error) {
	stated, err := o.askBalance(ctx, o.db, of)
	if err != nil {
		return out, err
	}
	err = o.db.InTx(ctx, func(tx pg.Tx) error {
		out, err = o.RefreshBalance(ctx, tx, of, stated)
		return err
	})
	return out, err
}

// ago makes the last paid call older.
func (o *office) ago(t *testing.T, d time.Duration) {
	t.Helper()
	o.exec(t, `update connection set balances_asked_at = balances_asked_at - $1 * interval '1 second'`, d.Seconds())
}

func (o *office) set(t *testing.T, when string) {
	t.Helper()
	o.exec(t, `update setting set paid_balances = $1`, when)
}

// paid returns the number of requests of one call of Balances. Teller needs one for each account.
func (o *office) paid(accounts int) int {
	if o.provider == "teller" {
		return accounts
	}
	return 1
}

// A balance that costs money is requested only if a person asks for it, and at most every 15
// minutes for each connection, no matter who asks.
func TestPaidBalances(t *testing.T) {
	t.Parallel()
	for _, provider := range sellers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 30)
			for range 3 {
				o.news(1)
				o.sync1(t)
			}
			if n := o.sim.Paid(); n != 0 {
				t.Fatalf("four syncs made %d paid calls", n)
			}
			of := o.first(t)
			now := money.MustParse("4321.09")
			o.book.SetAccount(o.book.Accounts()[0].ID, func(a *banks.Account) { a.Current = &now })
			a, err := o.refresh(t.Context(), of)
			if err != nil || a.BalanceCurrent == nil || *a.BalanceCurrent != now || o.sim.Paid() != 1 {
				t.Fatalf("%+v after %d paid calls: %v", a.BalanceCurrent, o.sim.Paid(), err)
			}
			_, err = o.refresh(t.Context(), of)
			limited, _ := errors.AsType[*errs.Error](err)
			if !errs.Is(err, errs.RateLimited) || limited.After < 14*time.Minute || limited.After > 15*time.Minute+time.Second {
				t.Errorf("at once again: %v", err)
			}
			o.set(t, "never")
			o.ago(t, time.Hour)
			if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.Conflict) {
				t.Errorf("never: %v", err)
			}
			o.set(t, "manual")
			o.sim.Script(banks.Fault{Path: "/accounts/", Status: 500, Body: "{}"})
			if _, err := o.refresh(t.Context(), of); err == nil {
				t.Error("a call that failed succeeded")
			}
			if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.RateLimited) {
				t.Errorf("after a call that the provider may bill: %v", err)
			}
			o.sim.Calm()
			o.ago(t, 14*time.Minute)
			if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.RateLimited) || o.sim.Paid() != 2 {
				t.Errorf("after 14 minutes: %v, %d paid calls", err, o.sim.Paid())
			}
			o.ago(t, time.Minute)
			if _, err := o.refresh(t.Context(), of); err != nil || o.sim.Paid() != 3 {
				t.Errorf("after 15 minutes: %v, %d paid calls", err, o.sim.Paid())
			}
		})
	}
}

// For an account without a bank, no balance is requested.
func TestPaidBalancesRefused(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "plaid", 20)
	of := o.first(t)
	o.exec(t, `update connection set status = 'pending_reauth'`)
	if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.ConnNotSyncable) {
		t.Errorf("a connection that waits for a sign-in: %v", err)
	}
	o.exec(t, `update connection set status = 'active', provider = 'csv'`)
	if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.Conflict) {
		t.Errorf("files: %v", err)
	}
	o.exec(t, `update connection set provider = 'plaid'`)
	o.exec(t, `update account set connection_id = null where id = $1::uuid`, of.ID)
	if _, err := o.refresh(t.Context(), of); !errs.Is(err, errs.Conflict) {
		t.Errorf("kept by hand: %v", err)
	}
	c, err := o.Connection(t.Context(), o.db, ConnectionRef{o.connection.String()})
	if err != nil || !c.CanRefreshBalances || c.BalancesAskedAt != nil || o.sim.Paid() != 0 {
		t.Errorf("%+v, %d paid calls: %v", c, o.sim.Paid(), err)
	}
	o.set(t, "never")
	if c, err = o.Connection(t.Context(), o.db, ConnectionRef{o.connection.String()}); err != nil || c.CanRefreshBalances {
		t.Errorf("%+v: %v", c, err)
	}
}

// Several callers on two servers ask at the same moment, among them the daily sync. Only one asks
// the bank. The control: without the claim in the database, all of them ask.
func TestPaidBalancesAreClaimedOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "plaid", 20)
	o.set(t, "daily")
	of, twin := o.first(t), feedOn(o.db, o.ring, o.providers.(only).p)
	var group sync.WaitGroup
	var n atomic.Int64
	for i := range 16 {
		f := []*Connections{o.Connections, twin}[i%2]
		group.Go(func() {
			if _, err := f.askBalance(t.Context(), o.db, of); err == nil {
				n.Add(1)
			} else if !errs.Is(err, errs.RateLimited) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n.Load() != 1 || o.sim.Paid() != 1 {
		t.Errorf("%d of 16 callers got a result, and %d paid calls made", n.Load(), o.sim.Paid())
	}
	o.sync1(t)
	if n := o.sim.Paid(); n != 1 {
		t.Errorf("the sync of the same day made a call of its own: %d", n)
	}
	for range 4 {
		o.exec(t, `update connection set balances_asked_at = null`)
		if _, err := o.askBalance(t.Context(), o.db, of); err != nil {
			t.Error(err)
		}
	}
	if n := o.sim.Paid(); n != 5 {
		t.Errorf("four callers after claims that were forgotten made %d calls", n-1)
	}
}

// With paid_balances = daily, each connection has one paid call on each day of the household. It
// comes with the day's first sync, however many syncs two servers make. Hidden and closed accounts
// are not paid for.
func TestPaidBalancesDaily(t *testing.T) {
	t.Parallel()
	for _, provider := range sellers {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 30)
			twin := feedOn(o.db, o.ring, o.providers.(only).p)
			ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			var working sync.WaitGroup
			working.Go(func() { _ = twin.jobs.Run(ctx) })
			t.Cleanup(func() { stop(); working.Wait() })
			o.set(t, "daily")
			o.exec(t, `update account set hidden = true where id in (select id from account order by id limit 1)`)
			each := o.paid(len(o.book.Accounts()) - 1)
			days := 4
			for day := range days {
				for _, trigger := range []string{"schedule", "webhook", "manual", "schedule"} {
					o.news(1)
					if j, _ := o.once(t, trigger); j.State != job.Succeeded {
						t.Fatalf("%+v", j.Error)
					}
				}
				if n := o.sim.Paid(); n != (day+1)*each {
					t.Fatalf("on day %d there were %d paid calls, not %d", day, n, (day+1)*each)
				}
				o.ago(t, 24*time.Hour)
			}
			o.set(t, "manual")
			o.sync1(t)
			if n := o.sim.Paid(); n != days*each {
				t.Errorf("no longer daily, and %d paid calls instead of %d", n, days*each)
			}
		})
	}
}

// The day begins at midnight in the household's time zone. A failed call for balances does not fail
// the sync, and is not repeated that day.
func TestPaidBalancesDay(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "plaid", 20)
	o.set(t, "daily")
	// Choose a time zone where it is about noon, so that the test does not run over midnight.
	offset := time.Now().UTC().Hour() - 12
	o.exec(t, `update setting set time_zone = $1`, fmt.Sprintf("Etc/GMT%+d", offset))
	const midnight = `date_trunc('day', clock_timestamp() at time zone time_zone) at time zone time_zone`
	for _, c := range []struct {
		asked string
		calls int
	}{
		{midnight + ` - interval '1 second'`, 1},
		{midnight + ` + interval '1 second'`, 0},
		{`clock_timestamp() - interval '14 minutes'`, 0},
		{`null`, 1},
	} {
		at := o.sim.Paid()
		o.exec(t, `update connection set balances_asked_at = `+c.asked+` from setting`)
		o.sync1(t)
		if n := o.sim.Paid() - at; n != c.calls {
			t.Errorf("asked at %s: %d calls, not %d", c.asked, n, c.calls)
		}
	}
	at := o.sim.Paid()
	o.exec(t, `update connection set balances_asked_at = null`)
	o.sim.Script(banks.Fault{Path: "/accounts/balance/get", Status: 500, Body: "{}"})
	for range 2 {
		o.news(1)
		if j, out := o.once(t, "schedule"); j.State != job.Succeeded || out.Added != 1 {
			t.Errorf("a sync whose paid call failed: %+v %+v", j.Error, out)
		}
	}
	if n := o.sim.Paid() - at; n != 1 {
		t.Errorf("%d paid calls", n)
	}
}

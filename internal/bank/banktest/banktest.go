package banktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
)

// A Subject is a provider connected to a simulated bank, with one connection.
type Subject struct {
	Provider    bank.Provider
	Credentials bank.Credentials
	Bank        Bank
	Secrets     []string // text that no error may contain
}

// A Bank controls the simulated bank behind the provider.
type Bank interface {
	// Truth returns every row and every account that the bank has now.
	Truth() ([]bank.Transaction, []bank.Account)
	// Add adds n new rows, some of them pending.
	Add(n int)
	// Churn changes some rows, removes some, and posts some pending ones.
	Churn()
	// Spoil adds an unreadable row and returns its id.
	Spoil() string
	// Break makes the member's login fail. Repair makes it work again.
	Break()
	Repair()
	// Fault makes the next call fail in the given way.
	Fault(kind Fault)
	// Webhook returns a delivery that reports new data of the connection, signed the given time
	// ago.
	Webhook(age time.Duration) (http.Header, []byte)
}

// A Fault is a way in which a call fails.
type Fault string

// The faults. Each affects only one call.
const (
	Reset      Fault = "reset"       // the network connection breaks
	Cut        Fault = "cut"         // the response is cut off
	Garbage    Fault = "garbage"     // 200 with a body that is not JSON
	WrongShape Fault = "wrong shape" // 200 with JSON of another shape
	Limited    Fault = "limited"     // 429 with Retry-After: 7
	Failing    Fault = "failing"     // 500 with a page of HTML
	Redirect   Fault = "redirect"    // 302 to somewhere else
)

// Faults lists all faults.
func Faults() []Fault { return []Fault{Reset, Cut, Garbage, WrongShape, Limited, Failing, Redirect} }

// A Check tests one promise of the contract. It returns an error if the promise is broken.
type Check struct {
	Name string
	Run  func(ctx context.Context, s Subject) error
}

// Checks lists the promises.
func Checks() []Check {
	return []Check{
		{"traits", traits},
		{"accounts", accounts},
		{"history", history},
		{"changes", changes},
		{"changes between pages", midway},
		{"several at once", together},
		{"faults", faults},
		{"signing in again", reauth},
		{"bad rows", badRows},
		{"revoking", revoking},
		{"balances", balances},
		{"an end to waiting", canceled},
		{"webhooks", webhooks},
		{"choosing a bank", choosing},
		{"linking by redirect", redirecting},
		{"a person present", attended},
	}
}

// Run checks a provider against every promise, each with its own connection.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(strings.ReplaceAll(c.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if err := c.Run(t.Context(), subject(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

func traits(_ context.Context, s Subject) error {
	tr := s.Provider.Traits()
	if s.Provider.Name() == "" || tr.Title == "" || tr.PageSize < 0 || tr.MinInterval <= 0 ||
		tr.PageSize == 0 && tr.Shape != bank.Window || (tr.Shape == bank.Window) != (tr.WindowDays > 0) {
		return fmt.Errorf("%s has traits %+v", s.Provider.Name(), tr)
	}
	return nil
}

func accounts(ctx context.Context, s Subject) error {
	got, err := s.Provider.Accounts(ctx, s.Credentials)
	if err != nil {
		return err
	}
	_, want := s.Bank.Truth()
	if len(got) != len(want) || len(got) == 0 {
		return fmt.Errorf("%d accounts, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.ProviderID != w.ProviderID || g.Name != w.Name || g.Type != w.Type || g.Subtype != w.Subtype ||
			g.Mask != w.Mask || g.Currency != w.Currency {
			return fmt.Errorf("account %d is %+v, want %+v", i, g, w)
		}
		if g.Current != nil && *g.Current != *w.Current {
			return fmt.Errorf("account %d has %s, want %s", i, g.Current, w.Current)
		}
	}
	if _, err := s.Provider.Accounts(ctx, bank.Credentials(`{"nothing":1}`)); err == nil ||
		bank.Classify(err).Class != bank.Ours {
		return fmt.Errorf("invalid credentials: %w", err)
	}
	return nil
}

// history reads everything twice. The second time nothing may change.
func history(ctx context.Context, s Subject) error {
	l := newLedger(s)
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	if err := l.compare(); err != nil {
		return err
	}
	before := l.changed
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	if l.changed != before {
		return fmt.Errorf("%d rows changed though nothing happened", l.changed-before)
	}
	return l.compare()
}

func changes(ctx context.Context, s Subject) error {
	l := newLedger(s)
	for round := range 6 {
		if err := l.sync(ctx, nil); err != nil {
			return err
		}
		if err := l.compare(); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		s.Bank.Add(20)
		s.Bank.Churn()
	}
	if s.Provider.Traits().HasPendingLink && l.linked == 0 {
		return errors.New("no posted row names the pending one that it replaces")
	}
	return nil
}

// midway changes the bank between the pages of a loop.
func midway(ctx context.Context, s Subject) error {
	l := newLedger(s)
	// If a page has all rows of its days, only the first loop has several pages.
	if size := s.Provider.Traits().PageSize; size > 0 {
		if err := l.sync(ctx, nil); err != nil {
			return err
		}
		s.Bank.Add(2*size + 10)
	}
	turned := false
	err := l.sync(ctx, func(page int) {
		if page == 1 && !turned {
			turned = true
			s.Bank.Churn()
			s.Bank.Add(5)
		}
	})
	if err != nil {
		return err
	}
	if !turned {
		return errors.New("the loop had one page")
	}
	// Rows that were added after the last page must be present after the next loop at the latest.
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	return l.compare()
}

// together runs several loops at the same time.
func together(ctx context.Context, s Subject) error {
	var wg sync.WaitGroup
	failed := make([]error, 6)
	for i := range failed {
		wg.Go(func() {
			l := newLedger(s)
			if failed[i] = l.sync(ctx, nil); failed[i] == nil {
				failed[i] = l.compare()
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

// faults breaks each page in each way. The error must be of class Later, the same page must succeed
// afterwards, and no row may be lost.
func faults(ctx context.Context, s Subject) error {
	for _, kind := range Faults() {
		l := newLedger(s)
		hits := 0
		l.retry = func(err error) bool {
			hits++
			return bank.Classify(err).Class == bank.Later
		}
		s.Bank.Fault(kind)
		err := l.sync(ctx, func(int) { s.Bank.Fault(kind) })
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		// On a broken connection, the HTTP client itself repeats reading calls.
		if hits == 0 && kind != Reset {
			return fmt.Errorf("%s: not detected", kind)
		}
		for _, e := range l.errors {
			if err := s.discreet(e); err != nil {
				return err
			}
			if kind == Limited && bank.Classify(e).RetryAfter.Seconds() != 7 {
				return fmt.Errorf("asks to wait %s, want 7s", bank.Classify(e).RetryAfter)
			}
		}
		if err := l.compare(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// discreet returns an error if an error contains a secret.
func (s Subject) discreet(err error) error {
	for _, secret := range s.Secrets {
		if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			return errors.New("an error shows a secret")
		}
	}
	return nil
}

func reauth(ctx context.Context, s Subject) error {
	l := newLedger(s)
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	s.Bank.Break()
	s.Bank.Add(3)
	err := l.sync(ctx, nil)
	if e := bank.Classify(err); err == nil || e.Class != bank.Reauth || e.Advice == "" || e.Code == bank.CodeUnknown {
		return fmt.Errorf("a broken login returns %w", err)
	}
	if err := s.discreet(err); err != nil {
		return err
	}
	if r, ok := s.Provider.(bank.Relinker); ok {
		session, err := r.Relink(ctx, s.Credentials, bank.LinkRequest{User: "member", Redirect: back})
		if err != nil {
			return err
		}
		shown, err := json.Marshal(session)
		if err != nil || session.Token == "" {
			return fmt.Errorf("a session without a token: %w", err)
		}
		for _, secret := range s.Secrets {
			if strings.Contains(string(shown), secret) {
				return errors.New("a session shows a secret")
			}
		}
	}
	s.Bank.Repair()
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	return l.compare()
}

func badRows(ctx context.Context, s Subject) error {
	l := newLedger(s)
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	s.Bank.Add(5)
	id := s.Bank.Spoil()
	if err := l.sync(ctx, nil); err != nil {
		return fmt.Errorf("one bad row ends the loop: %w", err)
	}
	at := slices.IndexFunc(l.bad, func(b bank.Bad) bool { return b.ProviderID == id })
	if at < 0 {
		return fmt.Errorf("the bad row is not among %v", l.bad)
	}
	b := l.bad[at]
	if b.Reason == "" || b.AccountID == "" || len(b.Raw) == 0 {
		return fmt.Errorf("the bad row says too little: %+v", b)
	}
	if r, ok := s.Provider.(bank.Rereader); ok {
		_, accounts := s.Bank.Truth()
		i := slices.IndexFunc(accounts, func(a bank.Account) bool { return a.ProviderID == b.AccountID })
		if _, reason := r.Reread(b.Raw, accounts[i]); reason != b.Reason {
			return fmt.Errorf("reread for %q, first for %q", reason, b.Reason)
		}
	}
	return l.compare()
}

func revoking(ctx context.Context, s Subject) error {
	r, ok := s.Provider.(bank.Revoker)
	if !ok {
		return nil
	}
	for range 2 {
		if err := r.Revoke(ctx, s.Credentials); err != nil {
			return err
		}
	}
	_, err := s.Provider.Pull(ctx, s.Credentials, bank.Position{})
	if err == nil || bank.Classify(err).Class != bank.Permanent {
		return fmt.Errorf("a revoked connection returns %w", err)
	}
	return s.discreet(err)
}

func balances(ctx context.Context, s Subject) error {
	b, ok := s.Provider.(bank.Balancer)
	if !ok {
		return nil
	}
	_, want := s.Bank.Truth()
	got, err := b.Balances(ctx, s.Credentials, []string{want[0].ProviderID})
	if err != nil {
		return err
	}
	if len(got) != 1 || got[0].ProviderID != want[0].ProviderID || got[0].Current == nil ||
		*got[0].Current != *want[0].Current {
		return fmt.Errorf("balances %+v, want those of %+v", got, want[0])
	}
	got, err = b.Balances(ctx, s.Credentials, nil)
	if err != nil || len(got) < 2 {
		return fmt.Errorf("all balances: %d, %w", len(got), err)
	}
	return nil
}

func canceled(ctx context.Context, s Subject) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Provider.Pull(ctx, s.Credentials, bank.Position{}); !errors.Is(err, context.Canceled) ||
		bank.Classify(err).Class != bank.Later {
		return fmt.Errorf("a canceled call returns %w", err)
	}
	return nil
}

package banktest_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/money"
)

// A toy is a provider and its bank in one, which keeps every promise unless it is configured to
// break it.
type toy struct {
	rows   []bank.Transaction
	broken bool
	defect string
}

func (p *toy) Name() string { return "toy" }

func (p *toy) Traits() bank.Traits {
	return bank.Traits{Title: "Toy", Shape: bank.Window, PageSize: 1000, WindowDays: 400, MinInterval: time.Minute}
}

func (p *toy) Accounts(_ context.Context, c bank.Credentials) ([]bank.Account, error) {
	if string(c) != "toy" {
		return nil, &bank.Error{Class: bank.Ours}
	}
	_, out := p.Truth()
	if p.defect == "accounts" {
		out[0].Type = bank.Loan
	}
	return out, nil
}

func (p *toy) Pull(context.Context, bank.Credentials, bank.Position) (bank.Page, error) {
	if p.broken && p.defect != "reauth" {
		return bank.Page{}, &bank.Error{Class: bank.Reauth, Code: "LOGIN", Advice: "sign in"}
	}
	if p.broken {
		return bank.Page{}, &bank.Error{Class: bank.Later, Code: "LOGIN", Advice: "canary"}
	}
	rows := slices.Clone(p.rows)
	switch p.defect {
	case "loss":
		rows = rows[1:]
	case "sign":
		rows[0].Amount = rows[0].Amount.Neg()
	case "ghost":
		rows = append(rows, bank.Transaction{ProviderID: "ghost", AccountID: "a"})
	case "twice":
		rows = append(rows, rows[0])
	case "no end":
		return bank.Page{Transactions: rows, Next: "n"}, nil
	}
	page := bank.Page{Transactions: rows, Last: true, Complete: &bank.Extent{AccountID: "a"}}
	if p.defect == "removal" {
		page.Complete = nil
	}
	return page, nil
}

func (p *toy) Truth() ([]bank.Transaction, []bank.Account) {
	return p.rows, []bank.Account{{ProviderID: "a", Type: bank.Depository, Currency: "EUR"}}
}

func (p *toy) Add(n int) {
	for range n {
		p.rows = append(p.rows, bank.Transaction{
			ProviderID: "r" + time.Duration(len(p.rows)).String(), AccountID: "a",
			Amount: money.MustParse("1.00"), Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		})
	}
}
func (p *toy) Churn()               { p.rows = p.rows[1:] }
func (p *toy) Spoil() string        { return "" }
func (p *toy) Break()               { p.broken = true }
func (p *toy) Repair()              { p.broken = false }
func (p *toy) Fault(banktest.Fault) {}
func (p *toy) Webhook(time.Duration) (http.Header, []byte) {
	return http.Header{"Sig": {"good-signature"}}, []byte(`{"a":1}`)
}

// gullible is a toy that believes every webhook.
type gullible struct{ *toy }

func (gullible) Verify(context.Context, http.Header, []byte) (bank.Event, error) {
	return bank.Event{ID: "1", ConnectionID: "c", Effect: bank.Sync}, nil
}

// TestSuiteFindsDefects is the control: each defect must be found, by the check that is there for
// it.
func TestSuiteFindsDefects(t *testing.T) {
	t.Parallel()
	for defect, check := range map[string]string{
		"": "history", "loss": "history", "sign": "history", "ghost": "history", "twice": "history",
		"no end": "history", "removal": "changes",
		"accounts": "accounts", "reauth": "signing in again", "faults": "faults", "cancelled": "an end to waiting",
	} {
		p := &toy{defect: defect}
		p.Add(9)
		err := run(t, check, banktest.Subject{
			Provider: p, Credentials: bank.Credentials("toy"), Bank: p,
			Secrets: []string{"canary"},
		})
		if (err == nil) != (defect == "") {
			t.Errorf("defect %q: %s returns %v", defect, check, err)
		}
	}
	p := &toy{}
	if run(t, "webhooks", banktest.Subject{Provider: gullible{p}, Bank: p}) == nil {
		t.Error("a provider that believes every webhook passes")
	}
}

func run(t *testing.T, name string, s banktest.Subject) error {
	t.Helper()
	for _, c := range banktest.Checks() {
		if c.Name == name {
			return c.Run(t.Context(), s)
		}
	}
	return errors.New("no such check")
}

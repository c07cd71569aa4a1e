package teller_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/bank/teller"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

const secret = "canary-of-the-webhooks"

var lastDay = time.Date(2026, 6, 30, 0, 0, 0, 0, time.UTC)

// start runs a simulator, and a client that is configured for it.
func start(t *testing.T, o banks.TellerOptions) (*banks.Teller, *teller.Teller) {
	t.Helper()
	o.Secrets = []string{secret}
	o.Household = household.Options{Transactions: 1000, Years: 1, End: lastDay}
	sim, err := banks.NewTeller(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	c := teller.Config{
		Environment: "development", BaseURL: sim.URL(), ApplicationID: "app_1", Certificate: sim.Certificate(),
		Key: sim.Key(), RootCA: sim.CA(),
		WebhookSecrets: []string{"an older one", secret}, Now: sim.Now,
	}
	if o.Sandbox {
		c.Environment = "sandbox"
	}
	p, err := teller.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return sim, p
}

// connect links a bank.
func connect(t *testing.T, sim *banks.Teller, p *teller.Teller) (bank.Linked, banks.Enrolment) {
	t.Helper()
	e := sim.Enroll()
	given, err := json.Marshal(map[string]any{"access_token": e.AccessToken, "enrollment_id": e.ID})
	if err != nil {
		t.Fatal(err)
	}
	linked, err := p.Exchange(t.Context(), "", given)
	if err != nil {
		t.Fatal(err)
	}
	if linked.ConnectionID != e.ID || linked.InstitutionName == "" || linked.InstitutionID != "harbour_cu" {
		t.Fatalf("linked %+v", linked)
	}
	return linked, e
}

func TestConformance(t *testing.T) {
	t.Parallel()
	banktest.Run(t, subject(banks.TellerOptions{}))
}

// TestConformanceWithSmallPages uses a server that returns fewer rows than requested.
func TestConformanceWithSmallPages(t *testing.T) {
	t.Parallel()
	banktest.Run(t, subject(banks.TellerOptions{Sandbox: true, MaxCount: 100}))
}

func subject(o banks.TellerOptions) func(t *testing.T) banktest.Subject {
	return func(t *testing.T) banktest.Subject {
		t.Helper()
		sim, p := start(t, o)
		linked, e := connect(t, sim, p)
		return banktest.Subject{
			Provider: p, Credentials: linked.Credentials,
			Bank: &theBank{t: t, sim: sim, book: e.Book}, Secrets: []string{secret, e.AccessToken},
		}
	}
}

// theBank adapts the simulator to the conformance suite.
type theBank struct {
	t    *testing.T
	sim  *banks.Teller
	book *banks.Book
	n    int
}

func (b *theBank) Truth() ([]bank.Transaction, []bank.Account) {
	var rows []bank.Transaction
	for _, r := range b.book.Rows() {
		if r.Raw != nil {
			continue
		}
		rows = append(rows, bank.Transaction{
			ProviderID: r.ID, AccountID: r.AccountID, Date: r.Date, Amount: r.Amount, Currency: r.Currency,
			Name: r.Name, MerchantName: r.Merchant,
			CategoryPrimary: r.Primary, Pending: r.Pending,
		})
	}
	var accounts []bank.Account
	for _, a := range b.book.Accounts() {
		accounts = append(accounts, bank.Account{
			ProviderID: a.ID, Name: a.Name, Type: a.Type, Subtype: a.Subtype, Mask: a.Mask, Currency: a.Currency,
			Current: a.Current, Available: a.Available,
		})
	}
	return rows, accounts
}

func (b *theBank) Add(n int) {
	accounts := b.book.Accounts()
	for range n {
		b.n++
		amount, err := money.FromCents(int64(b.n*37%20000 - 5000))
		if err != nil {
			b.t.Fatal(err)
		}
		b.book.Add(banks.Row{
			AccountID: accounts[b.n%3].ID, Date: lastDay.AddDate(0, 0, -b.n%9), Amount: amount,
			Name: text.Name(fmt.Sprint("Row ", b.n)), Pending: b.n%3 == 0,
		})
	}
}

// Churn changes only days within the window.
func (b *theBank) Churn() {
	for i, r := range b.book.Pending() {
		switch i % 4 {
		case 0:
			b.book.Post(r.ID, func(r *banks.Row) { r.PendingID, r.Name = "", "Posted" })
		case 1:
			b.book.Remove(r.ID)
		case 2: // posted under the same id, on a day before the window
			b.book.Change(r.ID, func(r *banks.Row) {
				r.Pending, r.Merchant, r.Primary, r.Date = false, "SHOP", "shopping", lastDay.AddDate(0, 0, -12)
			})
		}
	}
	for i, r := range b.book.Rows() {
		if i%7 == 0 && r.Raw == nil && r.Date.After(lastDay.AddDate(0, 0, -9)) {
			b.book.Change(r.ID, func(r *banks.Row) { r.Merchant += "+" })
		}
	}
}

func (b *theBank) Spoil() string {
	account := b.book.Accounts()[0].ID
	b.book.Add(banks.Row{
		ID: "txn_spoilt", AccountID: account, Date: lastDay,
		Raw: json.RawMessage(`{"id":"txn_spoilt","account_id":"` + account +
			`","amount":"12.345","date":"2026-06-30","status":"posted"}`),
	})
	return "txn_spoilt"
}

func (b *theBank) Break()  { b.book.Break("enrollment.disconnected.user_action.mfa_required") }
func (b *theBank) Repair() { b.book.Repair() }

func (b *theBank) Fault(kind banktest.Fault) {
	b.sim.Script(map[banktest.Fault]banks.Fault{
		banktest.Reset:      {Reset: true},
		banktest.Cut:        {Cut: true},
		banktest.Garbage:    {Status: 200, Body: `<html>`},
		banktest.WrongShape: {Status: 200, Body: `{"accounts":7,"added":{"a":1}}`},
		banktest.Limited:    {Status: 429, Code: "too_many_requests", Header: http.Header{"Retry-After": {"7"}}},
		banktest.Failing:    {Status: 500, Body: `<html>`},
		banktest.Redirect:   {Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}},
	}[kind])
}

func (b *theBank) Webhook(age time.Duration) (http.Header, []byte) {
	b.sim.Advance(-age)
	defer b.sim.Advance(age)
	d, err := b.sim.Webhook("wh_1", "transactions.processed",
		map[string]any{"enrollment_id": b.book.ID(), "transactions": []any{}})
	if err != nil {
		b.t.Fatal(err)
	}
	return d.Header, d.Body
}

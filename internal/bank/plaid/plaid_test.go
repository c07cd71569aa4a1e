package plaid_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/bank/plaid"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

const secret = "canary-of-the-installation"

// start runs a simulator, and a client that is configured for it.
func start(t *testing.T, o banks.PlaidOptions) (*banks.Plaid, *plaid.Plaid) {
	t.Helper()
	o.ClientID, o.Secret = "client", secret
	if o.Household.Transactions == 0 {
		o.Household = household.Options{Transactions: 1300, Years: 1}
	}
	sim, err := banks.NewPlaid(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := plaid.New(plaid.Config{
		Environment: "sandbox", BaseURL: sim.URL(), ClientID: "client", Secret: secret,
		Now: sim.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sim, p
}

// connect links a bank.
func connect(t *testing.T, sim *banks.Plaid, p *plaid.Plaid) (bank.Linked, *banks.Book) {
	t.Helper()
	public, book := sim.NewItem("")
	linked, err := p.Exchange(t.Context(), "", json.RawMessage(`{"public_token":"`+public+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	if linked.ConnectionID != book.ID() || linked.InstitutionName == "" || linked.InstitutionID != "ins_109508" {
		t.Fatalf("linked %+v", linked)
	}
	return linked, book
}

// Rows contain the bank's own text, because the client requests it.
func TestAsksForTheBanksText(t *testing.T) {
	t.Parallel()
	sim, p := start(t, banks.PlaidOptions{Household: household.Options{Transactions: 300, Years: 1, Purposes: true}})
	linked, _ := connect(t, sim, p)
	rows, told := 0, 0
	var at bank.Position
	for last := false; !last; {
		page, err := p.Pull(t.Context(), linked.Credentials, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Transactions {
			rows++
			if r.Detail != "" {
				told++
			}
		}
		at.Next, last = page.Next, page.Last
	}
	if told*2 < rows || rows == 0 {
		t.Errorf("%d of %d rows have a purpose", told, rows)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	banktest.Run(t, subject)
}

func subject(t *testing.T) banktest.Subject {
	t.Helper()
	sim, p := start(t, banks.PlaidOptions{})
	linked, book := connect(t, sim, p)
	var stored struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(linked.Credentials, &stored); err != nil {
		t.Fatal(err)
	}
	return banktest.Subject{
		Provider: p, Credentials: linked.Credentials, Bank: &theBank{t: t, sim: sim, book: book},
		Secrets: []string{secret, stored.AccessToken},
	}
}

// theBank adapts the simulator to the conformance suite.
type theBank struct {
	t    *testing.T
	sim  *banks.Plaid
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
			ProviderID: r.ID, AccountID: r.AccountID, PendingID: r.PendingID, Date: r.Date,
			AuthorizedDate: r.Authorized, Datetime: r.Time, Amount: r.Amount,
			Currency: r.Currency, Name: r.Name, MerchantName: r.Merchant, CategoryPrimary: r.Primary,
			CategoryDetailed: r.Detailed, Extra: bank.Extra{PaymentChannel: r.Channel}, Pending: r.Pending,
		})
	}
	var accounts []bank.Account
	for _, a := range b.book.Accounts() {
		accounts = append(accounts, bank.Account{
			ProviderID: a.ID, Name: a.Name, OfficialName: a.OfficialName, Type: a.Type, Subtype: a.Subtype,
			Mask: a.Mask, Currency: a.Currency,
			Current: a.Current, Available: a.Available, Limit: a.Limit,
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
			AccountID: accounts[b.n%3].ID, Date: time.Date(2026, 6, 20+b.n%11, 0, 0, 0, 0, time.UTC), Amount: amount,
			Name:    text.Name(fmt.Sprint("Row ", b.n)),
			Channel: "online", Pending: b.n%3 == 0,
		})
	}
}

func (b *theBank) Churn() {
	for i, r := range b.book.Pending() {
		switch i % 3 {
		case 0:
			b.book.Post(r.ID, func(r *banks.Row) { r.Name, r.Date = "Posted", r.Date.AddDate(0, 0, 1) })
		case 1:
			b.book.Remove(r.ID)
		}
	}
	for i, r := range b.book.Rows() {
		if i%97 == 0 && r.Raw == nil {
			b.book.Change(r.ID, func(r *banks.Row) { r.Merchant += "+" })
		}
	}
}

func (b *theBank) Spoil() string {
	account := b.book.Accounts()[0].ID
	b.book.Add(banks.Row{
		ID: "spoilt-row", AccountID: account,
		Raw: json.RawMessage(`{"transaction_id":"spoilt-row","account_id":"` + account +
			`","amount":0.30000000000000004,"date":"2026-06-28","iso_currency_code":"EUR","name":"x"}`),
	})
	return "spoilt-row"
}

func (b *theBank) Break()  { b.book.Break("ITEM_LOGIN_REQUIRED") }
func (b *theBank) Repair() { b.book.Repair() }

func (b *theBank) Fault(kind banktest.Fault) {
	b.sim.Script(map[banktest.Fault]banks.Fault{
		banktest.Reset:      {Reset: true},
		banktest.Cut:        {Cut: true},
		banktest.Garbage:    {Status: 200, Body: `<html>`},
		banktest.WrongShape: {Status: 200, Body: `{"accounts":7,"added":{"a":1}}`},
		banktest.Limited:    {Status: 429, Code: "TRANSACTIONS_SYNC_LIMIT", Header: http.Header{"Retry-After": {"7"}}},
		banktest.Failing:    {Status: 500, Body: `<html>`},
		banktest.Redirect:   {Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}},
	}[kind])
}

func (b *theBank) Webhook(age time.Duration) (http.Header, []byte) {
	b.sim.Advance(-age)
	defer b.sim.Advance(age)
	d, err := b.sim.Webhook(b.book.ID(), "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE",
		map[string]any{"initial_update_complete": true})
	if err != nil {
		b.t.Fatal(err)
	}
	return d.Header, d.Body
}

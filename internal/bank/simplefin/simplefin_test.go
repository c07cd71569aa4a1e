package simplefin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/bank/simplefin"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

var lastDay = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)

// start runs a simulator, and a client that is configured for it.
func start(t *testing.T, o banks.SimpleFINOptions) (*banks.SimpleFIN, *simplefin.SimpleFIN) {
	t.Helper()
	o.Household = household.Options{Transactions: 1000, Years: 1, End: lastDay}
	sim, err := banks.NewSimpleFIN(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := simplefin.New(simplefin.Config{Home: sim.URL(), Now: sim.Now})
	if err != nil {
		t.Fatal(err)
	}
	return sim, p
}

func given(token string) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"setup_token": token})
	return b
}

// connect claims a setup token.
func connect(t *testing.T, sim *banks.SimpleFIN, p *simplefin.SimpleFIN) bank.Linked {
	t.Helper()
	linked, err := p.Exchange(t.Context(), "", given(sim.SetupToken()))
	if err != nil {
		t.Fatal(err)
	}
	return linked
}

func TestConformance(t *testing.T) {
	t.Parallel()
	banktest.Run(t, subject(banks.SimpleFINOptions{}))
}

// TestConformanceOfTheFirstVersion uses a server that knows only the protocol's first version.
func TestConformanceOfTheFirstVersion(t *testing.T) {
	t.Parallel()
	banktest.Run(t, subject(banks.SimpleFINOptions{First: true}))
}

func subject(o banks.SimpleFINOptions) func(t *testing.T) banktest.Subject {
	return func(t *testing.T) banktest.Subject {
		t.Helper()
		sim, p := start(t, o)
		linked := connect(t, sim, p)
		return banktest.Subject{
			Provider: p, Credentials: linked.Credentials,
			Bank: &theBank{t: t, sim: sim, first: o.First}, Secrets: sim.Secrets(),
		}
	}
}

// theBank adapts the simulator to the conformance suite.
type theBank struct {
	t     *testing.T
	sim   *banks.SimpleFIN
	first bool
	n     int
}

// kinds are the types that can be guessed from a name.
var kinds = map[string][2]string{
	"Blue Cash Card":              {bank.Credit, "credit card"},
	"Visa Gold (additional card)": {bank.Credit, "credit card"},
	"Visa Gold":                   {bank.Credit, "credit card"},
	"US Dollar Checking":          {bank.Depository, "checking"},
}

var codes = map[string]string{
	"groceries": "5411", "dining": "5812", "fuel": "5541", "transport": "4111", "transportation": "4111",
	"clothing": "5651", "health": "5912", "entertainment": "7832", "phone": "4814", "utilities": "4900",
}

func (b *theBank) Truth() ([]bank.Transaction, []bank.Account) {
	var rows []bank.Transaction
	var accounts []bank.Account
	for i, book := range b.sim.Books() {
		for _, r := range book.Rows() {
			if r.Raw != nil {
				continue
			}
			row := bank.Transaction{
				ProviderID: r.ID, AccountID: r.AccountID, Date: r.Date, AuthorizedDate: r.Date, Amount: r.Amount,
				Currency: r.Currency, Name: r.Name, MerchantName: r.Merchant, Detail: r.Detail, Pending: r.Pending,
			}
			if !r.Pending {
				row.CategoryPrimary = text.Name(codes[r.Primary.Plain()])
			}
			rows = append(rows, row)
		}
		for _, a := range book.Accounts() {
			kind, known := kinds[a.Name.Plain()]
			if !known {
				kind[0] = bank.Other
			}
			current := a.Current
			if a.Type == bank.Credit || a.Type == bank.Loan {
				if current == nil {
					current = new(money.Amount)
				}
				current = new(current.Neg())
			}
			accounts = append(accounts, bank.Account{
				ProviderID: a.ID, Name: a.Name, Type: kind[0], Subtype: kind[1], Currency: a.Currency,
				Current: current, BankID: fmt.Sprint("CON-", i+1), Guessed: true,
			})
		}
	}
	return rows, accounts
}

func (b *theBank) Add(n int) {
	for range n {
		b.n++
		book := b.sim.Books()[b.n%2]
		amount, err := money.FromCents(int64(b.n*37%20000 - 5000))
		if err != nil {
			b.t.Fatal(err)
		}
		book.Add(banks.Row{
			AccountID: book.Accounts()[b.n%3].ID, Date: lastDay.AddDate(0, 0, -b.n%30), Amount: amount,
			Name: text.Name(fmt.Sprint("Row ", b.n)), Pending: b.n%3 == 0,
		})
	}
}

// Churn changes only days that are read again. Some rows are booked weeks late, and the posted rows
// of an account get new ids.
func (b *theBank) Churn() {
	for _, book := range b.sim.Books() {
		for i, r := range book.Pending() {
			switch i % 3 {
			case 0:
				book.Post(r.ID, func(r *banks.Row) { r.PendingID, r.Name = "", "Posted" })
			case 1:
				book.Remove(r.ID)
			}
		}
		for i, r := range book.Rows() {
			if i%7 == 0 && r.Raw == nil && r.Date.After(lastDay.AddDate(0, 0, -30)) {
				book.Change(r.ID, func(r *banks.Row) { r.Merchant += "+" })
			}
		}
		account := book.Accounts()[0].ID
		book.Reissue(account, lastDay.AddDate(0, 0, -30))
		book.Add(banks.Row{
			AccountID: account, Date: lastDay.AddDate(0, 0, -32), Amount: money.MustParse("3.21"), Name: "Late",
		})
	}
}

func (b *theBank) Spoil() string {
	book := b.sim.Books()[0]
	book.Add(banks.Row{
		ID: "TRN-spoilt", AccountID: book.Accounts()[0].ID, Date: lastDay,
		Raw: json.RawMessage(`{"id":"TRN-spoilt","posted":1767323045,"amount":"12.345","description":"x"}`),
	})
	return "TRN-spoilt"
}

func (b *theBank) Break() {
	if b.first { // a sentence cannot express this
		b.sim.Refuse(http.StatusForbidden)
		return
	}
	b.sim.Trouble("gen.auth")
}

func (b *theBank) Repair() {
	b.sim.Refuse(0)
	b.sim.Trouble("")
}

func (b *theBank) Fault(kind banktest.Fault) {
	b.sim.Script(map[banktest.Fault]banks.Fault{
		banktest.Reset:      {Reset: true},
		banktest.Cut:        {Cut: true},
		banktest.Garbage:    {Status: 200, Body: `<html>`},
		banktest.WrongShape: {Status: 200, Body: `{"accounts":7,"errlist":{"a":1}}`},
		banktest.Limited:    {Status: 429, Body: "slow down", Header: http.Header{"Retry-After": {"7"}}},
		banktest.Failing:    {Status: 500, Body: `<html>`},
		banktest.Redirect:   {Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}},
	}[kind])
}

func (b *theBank) Webhook(time.Duration) (http.Header, []byte) { return nil, nil }

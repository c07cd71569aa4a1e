package enablebanking_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/bank/enablebanking"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

var lastDay = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)

const redirect = "https://coffer.example/link/return"

// start runs a simulator, and a client that is configured for it.
func start(t *testing.T, o banks.EnableBankingOptions) (*banks.EnableBanking, *enablebanking.EnableBanking) {
	t.Helper()
	o.Household = household.Options{Transactions: 1000, Years: 1, End: lastDay}
	sim, err := banks.NewEnableBanking(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := enablebanking.New(enablebanking.Config{
		Application: sim.Application(), Key: []byte(sim.Key()), BaseURL: sim.URL(), Now: sim.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return sim, p
}

// connect links the first bank of Germany.
func connect(t *testing.T, sim *banks.EnableBanking, p *enablebanking.EnableBanking) bank.Linked {
	t.Helper()
	listed, err := p.Institutions(t.Context(), "DE")
	if err != nil {
		t.Fatal(err)
	}
	session, err := p.Session(t.Context(), bank.LinkRequest{Redirect: redirect, Institution: listed[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	to, err := sim.Visit(t.Context(), session.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	given, _ := json.Marshal(map[string]string{"code": u.Query().Get("code")})
	linked, err := p.Exchange(t.Context(), session.Token, given)
	if err != nil {
		t.Fatal(err)
	}
	return linked
}

func TestConformance(t *testing.T) {
	t.Parallel()
	banktest.Run(t, func(t *testing.T) banktest.Subject {
		t.Helper()
		sim, p := start(t, banks.EnableBankingOptions{})
		linked := connect(t, sim, p)
		return banktest.Subject{
			Provider: p, Credentials: linked.Credentials, Bank: &theBank{t: t, sim: sim}, Secrets: sim.Secrets(),
		}
	})
}

// theBank adapts the simulator to the conformance suite.
type theBank struct {
	t   *testing.T
	sim *banks.EnableBanking
	n   int
}

var codes = map[string]string{
	"groceries": "5411", "dining": "5812", "fuel": "5541", "transport": "4111", "transportation": "4111",
	"clothing": "5651", "health": "5912", "entertainment": "7832", "phone": "4814", "utilities": "4900",
}

// id returns the expected id of a row: a hash of its day, its amount, its balance or words, and its
// count. The code is repeated here because a change of the ids would duplicate every household's
// rows.
func id(t bank.Transaction, count map[string]int) string {
	kind, last := "posted", fmt.Sprintf("%q %q", t.Name.Plain(), t.Detail.Plain())
	if t.Pending {
		kind = "pending"
	}
	if t.Balance != nil {
		last = "after " + t.Balance.String()
	}
	key := fmt.Sprintf("%s %s %s %s %s", kind, t.Date.Format(time.DateOnly), t.Amount, t.Currency, last)
	count[t.AccountID+key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, count[t.AccountID+key]))
	return "EB-" + hex.EncodeToString(sum[:12])
}

func (b *theBank) Truth() ([]bank.Transaction, []bank.Account) {
	var rows []bank.Transaction
	var accounts []bank.Account
	count := map[string]int{}
	for _, r := range b.sim.Book().Rows() {
		if r.Raw != nil {
			continue
		}
		row := bank.Transaction{
			AccountID: b.sim.HashOf(r.AccountID), Date: r.Date, AuthorizedDate: r.Authorized, Amount: r.Amount,
			Currency: r.Currency, Name: r.Name, Detail: r.Detail, Pending: r.Pending,
			CategoryPrimary: text.Name(codes[r.Primary.Plain()]),
		}
		if after, ok := b.sim.After(r); ok {
			row.Balance = &after
		}
		row.ProviderID = id(row, count)
		row.Balance = nil // the suite does not compare balances
		rows = append(rows, row)
	}
	for _, a := range b.sim.Book().Accounts() {
		held := b.sim.Balance(a.ID)
		out := bank.Account{
			ProviderID: b.sim.HashOf(a.ID), Name: a.Name, OfficialName: "Robin Example", Type: bank.Other, Mask: a.Mask,
			Currency: a.Currency, Current: &held,
		}
		switch {
		case a.Type == bank.Credit:
			out.Type, out.Subtype, out.Current = bank.Credit, "credit card", new(held.Neg())
		case a.Type == bank.Loan:
			out.Type, out.Current = bank.Loan, new(held.Neg())
		case a.Type == bank.Depository && a.Subtype == "savings":
			out.Type, out.Subtype = bank.Depository, "savings"
		case a.Type == bank.Depository:
			out.Type, out.Subtype = bank.Depository, "checking"
		}
		accounts = append(accounts, out)
	}
	return rows, accounts
}

func (b *theBank) Add(n int) {
	book := b.sim.Book()
	for range n {
		b.n++
		amount, err := money.FromCents(int64(b.n*37%20000 - 5000))
		if err != nil {
			b.t.Fatal(err)
		}
		book.Add(banks.Row{
			AccountID: book.Accounts()[b.n%len(book.Accounts())].ID, Date: lastDay.AddDate(0, 0, -b.n%25), Amount: amount,
			Name: text.Name(fmt.Sprint("Row ", b.n)), Pending: b.n%3 == 0,
		})
	}
}

// Churn changes only days that are read again. All references are new afterwards, and some payments
// are booked late.
func (b *theBank) Churn() {
	book := b.sim.Book()
	for i, r := range book.Pending() {
		switch i % 3 {
		case 0:
			book.Post(r.ID, func(r *banks.Row) { r.PendingID, r.Name = "", "Posted" })
		case 1:
			book.Remove(r.ID)
		}
	}
	for i, r := range book.Rows() {
		if i%7 == 0 && r.Raw == nil && r.Date.After(lastDay.AddDate(0, 0, -25)) {
			book.Change(r.ID, func(r *banks.Row) { r.Name += "+" })
		}
	}
	b.sim.Renumber()
	book.Add(banks.Row{
		AccountID: book.Accounts()[0].ID, Date: lastDay.AddDate(0, 0, -22), Amount: money.MustParse("3.21"), Name: "Late",
	})
}

func (b *theBank) Spoil() string {
	book := b.sim.Book()
	raw := `{"transaction_amount":{"amount":"12.34","currency":"EUR"},"credit_debit_indicator":"DBIT","status":"BOOK"}`
	book.Add(banks.Row{AccountID: book.Accounts()[0].ID, Date: lastDay, Raw: json.RawMessage(raw)})
	sum := sha256.Sum256([]byte(raw))
	return "EB-" + hex.EncodeToString(sum[:12])
}

func (b *theBank) Break()  { b.sim.Status("EXPIRED") }
func (b *theBank) Repair() { b.sim.Status("AUTHORIZED") }

func (b *theBank) Fault(kind banktest.Fault) {
	f := map[banktest.Fault]banks.Fault{
		banktest.Reset:      {Reset: true},
		banktest.Cut:        {Cut: true},
		banktest.Garbage:    {Status: 200, Body: `<html>`},
		banktest.WrongShape: {Status: 200, Body: `{"balances":7,"transactions":{"a":1}}`},
		banktest.Limited: {
			Status: 429, Code: "ASPSP_RATE_LIMIT_EXCEEDED", Header: http.Header{"Retry-After": {"7"}},
		},
		banktest.Failing:  {Status: 500, Body: `<html>`},
		banktest.Redirect: {Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}},
	}[kind]
	f.Path = "/accounts/"
	b.sim.Script(f)
}

func (b *theBank) Webhook(time.Duration) (http.Header, []byte) { return nil, nil }

func (b *theBank) Country() string { return "DE" }

func (b *theBank) Visit(ctx context.Context, page string, leave bool) (string, error) {
	return b.sim.Visit(ctx, page, leave)
}

func (b *theBank) People() ([]http.Header, int) {
	_, without, last := b.sim.Reads()
	if last == nil {
		return nil, without
	}
	return []http.Header{last}, without
}

package simplefin

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An answer is a server's response about accounts, in either version of the protocol. The second
// version has connections and coded errors. The first has a bank in each account, and errors as
// sentences.
type answer struct {
	ErrList     []fault               `json:"errlist"`
	Errors      []bank.OptionalString `json:"errors"`
	Connections []struct {
		ID      bank.OptionalString `json:"conn_id"`
		Name    bank.OptionalString `json:"name"`
		OrgName bank.OptionalString `json:"org_name"`
	} `json:"connections"`
	Accounts []json.RawMessage `json:"accounts"`

	banks  map[string]text.Untrusted
	listed []listed
}

// A listed account is an account of an answer, with its rows.
type listed struct {
	account bank.Account
	wire    account
}

type account struct {
	ID        bank.OptionalString `json:"id"`
	ConnID    bank.OptionalString `json:"conn_id"`
	Name      bank.OptionalString `json:"name"`
	Currency  bank.OptionalString `json:"currency"`
	Balance   json.RawMessage     `json:"balance"`
	Available json.RawMessage     `json:"available-balance"`
	Org       struct {
		ID     bank.OptionalString `json:"id"`
		Domain bank.OptionalString `json:"domain"`
		Name   bank.OptionalString `json:"name"`
		URL    bank.OptionalString `json:"sfin-url"`
	} `json:"org"`
	Transactions []json.RawMessage `json:"transactions"`
	Holdings     []json.RawMessage `json:"holdings"`
}

// settle reads the accounts. An account's id is unique only within its bank. If two banks use the
// same id, settle puts the bank's id in front of it.
func (a *answer) settle() {
	a.banks = map[string]text.Untrusted{}
	for _, c := range a.Connections {
		name := c.Name
		if name == "" {
			name = c.OrgName
		}
		if bank.IsID(string(c.ID)) {
			a.banks[string(c.ID)] = bankName(name)
		}
	}
	used := map[string][]string{}
	var wires []account
	for _, raw := range a.Accounts {
		var w account
		if json.Unmarshal(raw, &w) != nil || !bank.IsID(string(w.ID)) {
			continue
		}
		wires = append(wires, w)
		if id := string(w.ID); !slices.Contains(used[id], w.bank()) {
			used[id] = append(used[id], w.bank())
		}
	}
	for _, w := range wires {
		at := w.ours()
		if len(used[at.ProviderID]) > 1 {
			at.ProviderID = at.BankID + ":" + at.ProviderID
		}
		if _, known := a.banks[at.BankID]; !known && at.BankID != "" {
			a.banks[at.BankID] = bankName(w.Org.Name)
			if w.Org.Name == "" {
				a.banks[at.BankID] = bankName(w.Org.Domain)
			}
		}
		at.BankName = a.banks[at.BankID]
		a.listed = append(a.listed, listed{at, w})
	}
}

// bank returns the id of the account's bank.
func (w account) bank() string {
	for _, id := range []bank.OptionalString{w.ConnID, w.Org.ID, w.Org.Domain, w.Org.URL} {
		if bank.IsID(string(id)) {
			return string(id)
		}
	}
	return ""
}

func (a answer) bank(id string) text.Untrusted { return a.banks[id] }

func (a answer) find(id string) (listed, bool) {
	i := slices.IndexFunc(a.listed, func(x listed) bool { return x.account.ProviderID == id })
	if i < 0 {
		return listed{}, false
	}
	return a.listed[i], true
}

// key returns the account's id as settle made it, or the unchanged id if the account is not listed.
func (a answer) key(conn, id string) string {
	for _, x := range a.listed {
		if string(x.wire.ID) == id && (conn == "" || conn == x.account.BankID) {
			return x.account.ProviderID
		}
	}
	if !bank.IsID(id) {
		return ""
	}
	return id
}

func (w account) ours() bank.Account {
	currency, _ := money.ParseCurrency(string(w.Currency)) // "" for units such as miles
	kind, subtype := guess(string(w.Name))
	if len(w.Holdings) > 0 {
		kind, subtype = bank.Investment, ""
	}
	return bank.Account{
		ProviderID: string(w.ID), Name: text.Name(string(w.Name)), Type: kind, Subtype: subtype,
		Mask: mask(string(w.Name)), Currency: currency, Current: amount(w.Balance), Available: amount(w.Available),
		BankID: w.bank(), Guessed: true,
	}
}

func amount(token json.RawMessage) *money.Amount {
	a, err := bank.ParseAmount(token)
	if err != nil {
		return nil
	}
	return &a
}

// hints are words in account names, and the kinds of account that they indicate. The first match
// counts.
var hints = []struct{ word, kind, subtype string }{
	{"mortgage", bank.Loan, "mortgage"},
	{"heloc", bank.Loan, "home equity"},
	{"line of credit", bank.Loan, "line of credit"},
	{"loan", bank.Loan, ""},
	{"checking", bank.Depository, "checking"},
	{"chequing", bank.Depository, "checking"},
	{"savings", bank.Depository, "savings"},
	{"saver", bank.Depository, "savings"},
	{"money market", bank.Depository, "money market"},
	{"credit card", bank.Credit, "credit card"},
	{"visa", bank.Credit, "credit card"},
	{"mastercard", bank.Credit, "credit card"},
	{"american express", bank.Credit, "credit card"},
	{"amex", bank.Credit, "credit card"},
	{"card", bank.Credit, "credit card"},
	{"brokerage", bank.Investment, "brokerage"},
	{"401k", bank.Investment, "401k"},
	{"401(k)", bank.Investment, "401k"},
	{"roth", bank.Investment, "roth"},
	{"ira", bank.Investment, "ira"},
}

// guess returns the kind of the first hint that is a separate word of the name.
func guess(name string) (kind, subtype string) {
	folded := " " + strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_/.,:", r) {
			return ' '
		}
		return r
	}, strings.ToLower(name)) + " "
	for _, h := range hints {
		if strings.Contains(folded, " "+h.word+" ") {
			return h.kind, h.subtype
		}
	}
	return bank.Other, ""
}

// mask returns the digits at the end of a name, such as 4421 of "Visa (4421)".
func mask(name string) string {
	name = strings.TrimRight(name, ") ")
	at := len(name)
	for at > 0 && name[at-1] >= '0' && name[at-1] <= '9' {
		at--
	}
	if digits := name[at:]; len(digits) >= 3 && len(digits) <= 6 && at > 0 {
		return digits
	}
	return ""
}

type transaction struct {
	ID          bank.OptionalString `json:"id"`
	Posted      json.RawMessage     `json:"posted"`
	Transacted  json.RawMessage     `json:"transacted_at"`
	Amount      json.RawMessage     `json:"amount"`
	Description bank.OptionalString `json:"description"`
	Payee       bank.OptionalString `json:"payee"`
	Memo        bank.OptionalString `json:"memo"`
	MCC         json.RawMessage     `json:"mcc"`
	Pending     json.RawMessage     `json:"pending"`
}

// readTransaction reads a row of an account, or returns the reason why it cannot. In that case the
// transaction has only the ids that could be read. In SimpleFIN a positive amount is money in, for
// every account.
func readTransaction(raw []byte, a bank.Account) (bank.Transaction, bank.Reason) {
	out := bank.Transaction{AccountID: a.ProviderID, Currency: a.Currency}
	var row transaction
	if json.Unmarshal(raw, &row) != nil {
		out.ProviderID = bank.StringField(raw, "id")
		return out, bank.BadShape
	}
	out.ProviderID = string(row.ID)
	posted, transacted := moment(row.Posted), moment(row.Transacted)
	out.Pending = string(row.Pending) == "true"
	if out.Date = day(posted); posted.IsZero() {
		out.Date = day(transacted)
	}
	if !transacted.IsZero() {
		out.AuthorizedDate = day(transacted)
	}
	out.Name, out.MerchantName = text.Name(string(row.Description)), text.Name(string(row.Payee))
	if out.Name == "" {
		out.Name = out.MerchantName
	}
	if detail := text.Name(string(row.Memo)); detail != out.Name {
		out.Detail = detail
	}
	if code := strings.Trim(string(row.MCC), `"`); len(code) == 4 && strings.Trim(code, "0123456789") == "" {
		out.CategoryPrimary = text.Line(code, 4)
	}
	var err error
	if !bank.IsID(out.ProviderID) {
		return out, bank.BadID
	}
	if out.Date.IsZero() || out.Date.Year() < 1900 || out.Date.Year() >= 2200 {
		return out, bank.BadDate
	}
	if out.Amount, err = bank.ParseAmount(row.Amount); err != nil {
		return out, bank.BadAmount
	}
	if a.Currency == "" {
		return out, bank.BadCurrency
	}
	out.Amount = out.Amount.Neg()
	return out, ""
}

// moment reads a time in seconds. 0 means no time.
func moment(token json.RawMessage) time.Time {
	var seconds json.Number
	if json.Unmarshal(token, &seconds) != nil {
		return time.Time{}
	}
	n, err := seconds.Int64()
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// day returns the day of a time, or zero if the time is zero.
func day(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Truncate(24 * time.Hour)
}

// Reread implements [bank.Rereader].
func (s *SimpleFIN) Reread(raw bank.Raw, a bank.Account) (bank.Transaction, bank.Reason) {
	return readTransaction(raw, a)
}

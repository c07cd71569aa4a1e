package notify

import (
	"cmp"
	"encoding/json"
	"strings"

	"coffer/internal/platform/money"
)

// A Type is a type of events.
type Type string

// The types of events.
const (
	NeedsSignIn  Type = "connection.needs_sign_in"
	Expiring     Type = "connection.expiring"
	SyncFailed   Type = "sync.failed"
	LargeCharge  Type = "charge.large"
	LowBalance   Type = "balance.low"
	Waiting      Type = "review.waiting"
	PriceChanged Type = "recurring.price_changed"
	Missed       Type = "recurring.missed"
	Gap          Type = "books.gap"
	Submitted    Type = "report.submitted"
	Proposed     Type = "rule.proposed"
	NoBackup     Type = "backup.overdue"

	test Type = "endpoint.test" // an admin's test message
)

// Enum lists the types that an endpoint can choose, in the order of the documentation.
func (Type) Enum() []string {
	all := []Type{
		NeedsSignIn, Expiring, SyncFailed, LargeCharge, LowBalance, Waiting, PriceChanged, Missed, Gap, Submitted,
		Proposed, NoBackup,
	}
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = string(t)
	}
	return out
}

// A Listed is a type in the list of notifications, which includes test messages.
type Listed string

// Enum lists the types by which the list can be filtered.
func (Listed) Enum() []string { return append(Type("").Enum(), string(test)) }

// facts are the parts of an event's data that a sentence needs. Some of them are only present for
// endpoints that take bank text.
type facts struct {
	Account     string          `json:"account"`
	AccountName string          `json:"account_name"`
	Amount      json.Number     `json:"amount"`
	Before      json.Number     `json:"before"`
	After       json.RawMessage `json:"after"` // an amount or, for a gap, a date
	Below       json.Number     `json:"low_balance"`
	Currency    money.Currency  `json:"iso_currency_code"`
	Date        string          `json:"date"`
	Expected    string          `json:"expected_on"`
	Expires     string          `json:"expires_at"`
	Until       string          `json:"until"`
	Count       json.Number     `json:"count"`
	Direction   string          `json:"direction"`
	Name        string          `json:"name"`
	Payee       string          `json:"payee_name"`
	Merchant    string          `json:"merchant_name"`
	Institution string          `json:"institution_name"`
	Title       string          `json:"title"`
	Last        string          `json:"last_backup_at"`
}

// words describes the event in one sentence, for receivers that display a text. The sentence uses
// only the data of the message, so it contains nothing that the endpoint must not get.
func words(what Type, data []byte) string {
	var f facts
	if err := json.Unmarshal(data, &f); err != nil {
		return string(what) // only for data that an older version stored
	}
	account := cmp.Or(f.Account, f.AccountName)
	bank := cmp.Or(f.Institution, "A bank")
	switch what {
	case NeedsSignIn:
		return bank + " needs you to reconnect."
	case Expiring:
		return "Access to " + cmp.Or(f.Institution, "a bank") + " expires on " + day(f.Expires) +
			". Reconnect before then."
	case SyncFailed:
		return bank + " has stopped syncing."
	case LargeCharge:
		return "Large transaction: " + f.money(f.Amount) + after(" to ", cmp.Or(f.Payee, f.Merchant, f.Name)) +
			" from " + cmp.Or(account, "an account") + " on " + f.Date + "."
	case LowBalance:
		return cmp.Or(account, "An account") + " is low: " + f.Amount.String() + " " + string(f.Currency) +
			" (your limit is " + f.Below.String() + " " + string(f.Currency) + ")."
	case Waiting:
		if f.Count == "1" {
			return "1 transaction to review."
		}
		return f.Count.String() + " transactions to review."
	case PriceChanged:
		return f.recurring() + " changed from " + f.money(f.Before) + " to " + f.money(json.Number(f.After)) +
			" on " + f.Date + "."
	case Missed:
		return f.recurring() + " (" + f.money(f.Amount) + ") was due on " + f.Expected + " and hasn't arrived."
	case Gap:
		return cmp.Or(account, "An account") + ": balances don't match transactions between " +
			strings.Trim(string(f.After), `"`) + " and " + f.Until + "."
	case Submitted:
		return "New report" + after(": ", f.Title) + "."
	case Proposed:
		return "Suggested rule" + after(": ", f.Name) + "."
	case NoBackup:
		if f.Last == "" {
			return "No backup has been made."
		}
		return "The last backup is from " + day(f.Last) + "."
	case test:
		return "This is a test message."
	}
	return string(what)
}

// recurring returns the name of a recurring payment.
func (f facts) recurring() string {
	if f.Direction == "in" {
		return cmp.Or(f.Name, f.Payee, "Recurring income")
	}
	return cmp.Or(f.Name, f.Payee, "Recurring payment")
}

// money returns an amount without its sign, because the sentence contains the direction.
func (f facts) money(n json.Number) string {
	return strings.TrimPrefix(n.String(), "-") + " " + string(f.Currency)
}

// day returns the day of a time.
func day(moment string) string { return moment[:min(10, len(moment))] }

// after returns a text with a prefix, or "" if there is no text.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

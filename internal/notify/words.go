package notify

import (
	"cmp"
	"encoding/json"
	"strings"

	"coffer/internal/money"
)

// facts are what the data of events say, as far as a sentence needs it. Some of them are only there
// for endpoints that take bank text.
type facts struct {
	Account     string          `json:"account"`
	AccountName string          `json:"account_name"`
	Amount      json.Number     `json:"amount"`
	Before      json.Number     `json:"before"`
	After       json.RawMessage `json:"after"` // an amount or, of a gap, a date
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
}

// words say in one sentence what happened, for receivers that show a text as it is. They use only
// the data beside them, so they tell no more than an endpoint takes.
func words(what Type, data []byte) string {
	var f facts
	if err := json.Unmarshal(data, &f); err != nil {
		return string(what) // data that is stored was printed here; this is for what an older version stored
	}
	account := cmp.Or(f.Account, f.AccountName, "an account")
	bank := cmp.Or(f.Institution, "A bank")
	switch what {
	case NeedsSignIn:
		return bank + " wants a new sign-in."
	case Expiring:
		return bank + " can be read until " + day(f.Expires) + " only. Sign in again before that."
	case SyncFailed:
		return bank + " cannot be read any more."
	case LargeCharge:
		return "A payment of " + f.money(f.Amount) + after(" to ", cmp.Or(f.Merchant, f.Name)) + " left " + account +
			" on " + f.Date + "."
	case LowBalance:
		return cmp.Or(f.Account, f.AccountName, "An account") + " has " + f.Amount.String() + " " +
			string(f.Currency) + " left, less than " + f.Below.String() + " " + string(f.Currency) + "."
	case Waiting:
		if f.Count == "1" {
			return "1 transaction waits for review."
		}
		return f.Count.String() + " transactions wait for review."
	case PriceChanged:
		return f.recurring() + " is " + f.money(json.Number(f.After)) + " instead of " + f.money(f.Before) +
			" since " + f.Date + "."
	case Missed:
		return f.recurring() + " (" + f.money(f.Amount) + ") was expected on " + f.Expected + " and has not come."
	case Gap:
		return "The transactions of " + account + " do not explain its balances between " +
			strings.Trim(string(f.After), `"`) + " and " + f.Until + "."
	case Submitted:
		return "A report was submitted" + after(": ", f.Title) + "."
	case Proposed:
		return "An agent proposed a rule" + after(": ", f.Name) + "."
	case test:
		return "This is a test message."
	}
	return string(what)
}

// recurring is what a recurring payment is called.
func (f facts) recurring() string {
	if f.Direction == "in" {
		return cmp.Or(f.Name, f.Payee, "A recurring income")
	}
	return cmp.Or(f.Name, f.Payee, "A recurring payment")
}

// money is an amount without its sign: the sentence says where it goes.
func (f facts) money(n json.Number) string {
	return strings.TrimPrefix(n.String(), "-") + " " + string(f.Currency)
}

// day is the day of a moment.
func day(moment string) string { return moment[:min(10, len(moment))] }

// after is a text with what stands before it, or nothing.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

package teller

import (
	"encoding/json"

	"coffer/internal/bank"
	"coffer/internal/money"
	"coffer/internal/text"
)

// A loose string is empty where Teller sends anything but a string: what only adorns a row must not spoil it.
type loose string

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = ""
	}
	*l = loose(s)
	return nil
}

type account struct {
	ID           loose `json:"id"`
	EnrollmentID loose `json:"enrollment_id"`
	Name         loose `json:"name"`
	Type         loose `json:"type"`
	Subtype      loose `json:"subtype"`
	LastFour     loose `json:"last_four"`
	Currency     loose `json:"currency"`
	Status       loose `json:"status"`
	Institution  struct {
		ID   loose `json:"id"`
		Name loose `json:"name"`
	} `json:"institution"`
	// A link that is missing is something that the account cannot do.
	Links struct {
		Balances     loose `json:"balances"`
		Transactions loose `json:"transactions"`
	} `json:"links"`
}

func (a account) ours() bank.Account {
	kind := bank.Other
	if a.Type == bank.Depository || a.Type == bank.Credit {
		kind = string(a.Type)
	}
	currency, err := money.ParseCurrency(string(a.Currency))
	if err != nil {
		currency = ""
	}
	return bank.Account{
		ProviderID: string(a.ID), Name: text.Name(string(a.Name)), Type: kind, Subtype: text.Line(string(a.Subtype), 64).Plain(),
		Mask: text.Line(string(a.LastFour), 8).Plain(), Currency: currency,
	}
}

type transaction struct {
	ID          loose           `json:"id"`
	AccountID   loose           `json:"account_id"`
	Amount      json.RawMessage `json:"amount"`
	Date        loose           `json:"date"`
	Description loose           `json:"description"`
	Status      loose           `json:"status"`
	Details     struct {
		Category     loose `json:"category"`
		Counterparty *struct {
			Name loose `json:"name"`
		} `json:"counterparty"`
	} `json:"details"`
}

// readTransaction reads a row of an account, or says what is wrong with it; then the answer has the ids that could be
// read. The account decides the currency and the sign: Teller's depository accounts count money in, its cards money out.
func readTransaction(raw []byte, a bank.Account) (bank.Transaction, bank.Reason) {
	out := bank.Transaction{AccountID: a.ProviderID, Currency: a.Currency}
	var row transaction
	if json.Unmarshal(raw, &row) != nil {
		var ids struct {
			ID loose `json:"id"`
		}
		_ = json.Unmarshal(raw, &ids) // what is no object has no id
		out.ProviderID = string(ids.ID)
		return out, bank.BadShape
	}
	out.ProviderID, out.Pending = string(row.ID), row.Status == "pending"
	out.Name, out.CategoryPrimary = text.Name(string(row.Description)), text.Line(string(row.Details.Category), 128)
	if row.Details.Counterparty != nil {
		out.MerchantName = text.Name(string(row.Details.Counterparty.Name))
	}
	var ok bool
	var err error
	if !bank.IsID(out.ProviderID) {
		return out, bank.BadID
	}
	if string(row.AccountID) != a.ProviderID || a.Type != bank.Depository && a.Type != bank.Credit {
		return out, bank.BadAccount
	}
	if out.Date, ok = bank.ParseDay(string(row.Date)); !ok {
		return out, bank.BadDate
	}
	if out.Amount, err = bank.ParseAmount(row.Amount); err != nil {
		return out, bank.BadAmount
	}
	if a.Currency == "" {
		return out, bank.BadCurrency
	}
	if a.Type == bank.Depository {
		out.Amount = out.Amount.Neg()
	}
	return out, ""
}

// Reread implements [bank.Rereader].
func (t *Teller) Reread(raw bank.Raw, a bank.Account) (bank.Transaction, bank.Reason) {
	return readTransaction(raw, a)
}

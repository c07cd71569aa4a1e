package teller

import (
	"encoding/json"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

type account struct {
	ID           bank.OptionalString `json:"id"`
	EnrollmentID bank.OptionalString `json:"enrollment_id"`
	Name         bank.OptionalString `json:"name"`
	Type         bank.OptionalString `json:"type"`
	Subtype      bank.OptionalString `json:"subtype"`
	LastFour     bank.OptionalString `json:"last_four"`
	Currency     bank.OptionalString `json:"currency"`
	Status       bank.OptionalString `json:"status"`
	Institution  struct {
		ID   bank.OptionalString `json:"id"`
		Name bank.OptionalString `json:"name"`
	} `json:"institution"`
	// A missing link means that Teller does not offer this for the account.
	Links struct {
		Balances     bank.OptionalString `json:"balances"`
		Transactions bank.OptionalString `json:"transactions"`
	} `json:"links"`
}

func (a account) ours() bank.Account {
	kind := bank.Other
	if a.Type == bank.Depository || a.Type == bank.Credit {
		kind = string(a.Type)
	}
	currency, _ := money.ParseCurrency(string(a.Currency)) // "" if it is not a currency
	return bank.Account{
		ProviderID: string(a.ID), Name: text.Name(string(a.Name)), Type: kind,
		Subtype: text.Line(string(a.Subtype), 64).Plain(),
		Mask:    text.Line(string(a.LastFour), 8).Plain(), Currency: currency,
	}
}

type transaction struct {
	ID          bank.OptionalString `json:"id"`
	AccountID   bank.OptionalString `json:"account_id"`
	Amount      json.RawMessage     `json:"amount"`
	Date        bank.OptionalString `json:"date"`
	Description bank.OptionalString `json:"description"`
	Status      bank.OptionalString `json:"status"`
	Balance     json.RawMessage     `json:"running_balance"`
	Details     struct {
		Category     bank.OptionalString `json:"category"`
		Counterparty *struct {
			Name bank.OptionalString `json:"name"`
		} `json:"counterparty"`
	} `json:"details"`
}

// readTransaction reads a row of an account, or returns the reason why it cannot. In that case the
// transaction has only the ids that could be read. The account determines the currency and the
// sign: for depository accounts of Teller a positive amount is money in, for cards it is money out.
func readTransaction(raw []byte, a bank.Account) (bank.Transaction, bank.Reason) {
	out := bank.Transaction{AccountID: a.ProviderID, Currency: a.Currency}
	var row transaction
	if json.Unmarshal(raw, &row) != nil {
		out.ProviderID = bank.StringField(raw, "id")
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
	if balance, err := bank.ParseAmount(row.Balance); err == nil && !out.Pending { // most banks state none
		out.Balance = &balance
	}
	return out, ""
}

// Reread implements [bank.Rereader].
func (t *Teller) Reread(raw bank.Raw, a bank.Account) (bank.Transaction, bank.Reason) {
	return readTransaction(raw, a)
}

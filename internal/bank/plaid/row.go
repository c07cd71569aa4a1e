package plaid

import (
	"bytes"
	"encoding/json"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

type account struct {
	ID           bank.OptionalString `json:"account_id"`
	PersistentID bank.OptionalString `json:"persistent_account_id"`
	Name         bank.OptionalString `json:"name"`
	OfficialName bank.OptionalString `json:"official_name"`
	Type         bank.OptionalString `json:"type"`
	Subtype      bank.OptionalString `json:"subtype"`
	Mask         bank.OptionalString `json:"mask"`
	Balances     struct {
		Available  json.RawMessage     `json:"available"`
		Current    json.RawMessage     `json:"current"`
		Limit      json.RawMessage     `json:"limit"`
		ISO        bank.OptionalString `json:"iso_currency_code"`
		Unofficial bank.OptionalString `json:"unofficial_currency_code"`
	} `json:"balances"`
}

// accountTypes maps Plaid's words; brokerage is an old name of investment.
var accountTypes = map[bank.OptionalString]string{
	"depository": bank.Depository, "credit": bank.Credit, "loan": bank.Loan, "investment": bank.Investment,
	"brokerage": bank.Investment,
}

func readAccount(raw []byte) (bank.Account, bool) {
	var a account
	if json.Unmarshal(raw, &a) != nil || !bank.IsID(string(a.ID)) {
		return bank.Account{}, false
	}
	kind, known := accountTypes[a.Type]
	if !known {
		kind = bank.Other
	}
	currency, _ := readCurrency(a.Balances.ISO, a.Balances.Unofficial)
	return bank.Account{
		ProviderID: string(a.ID), PersistentID: string(a.PersistentID), Name: text.Name(string(a.Name)),
		OfficialName: text.Name(string(a.OfficialName)),
		Type:         kind, Subtype: text.Line(string(a.Subtype), 64).Plain(),
		Mask:     text.Line(string(a.Mask), 8).Plain(),
		Currency: currency,
		Current:  balance(a.Balances.Current), Available: balance(a.Balances.Available),
		Limit: balance(a.Balances.Limit),
	}, true
}

func balance(token json.RawMessage) *money.Amount {
	a, err := bank.ParseAmount(token)
	if err != nil {
		return nil
	}
	return &a
}

// readCurrency reads the official or the unofficial code; both at once are an error. Unofficial
// codes include cryptocurrencies, some of which look like ISO codes.
func readCurrency(iso, unofficial bank.OptionalString) (money.Currency, bool) {
	code := iso
	if code == "" {
		code = unofficial
	} else if unofficial != "" {
		return "", false
	}
	c, err := money.ParseCurrency(string(code))
	return c, err == nil
}

type transaction struct {
	ID             bank.OptionalString `json:"transaction_id"`
	AccountID      bank.OptionalString `json:"account_id"`
	PendingID      bank.OptionalString `json:"pending_transaction_id"`
	Amount         json.RawMessage     `json:"amount"`
	ISO            bank.OptionalString `json:"iso_currency_code"`
	Unofficial     bank.OptionalString `json:"unofficial_currency_code"`
	Date           bank.OptionalString `json:"date"`
	AuthorizedDate bank.OptionalString `json:"authorized_date"`
	Datetime       bank.OptionalString `json:"datetime"`
	Name           bank.OptionalString `json:"name"`
	MerchantName   bank.OptionalString `json:"merchant_name"`
	Original       bank.OptionalString `json:"original_description"`
	PaymentChannel bank.OptionalString `json:"payment_channel"`
	Pending        json.RawMessage     `json:"pending"`
	Category       *struct {
		Primary  bank.OptionalString `json:"primary"`
		Detailed bank.OptionalString `json:"detailed"`
	} `json:"personal_finance_category"`
}

// readTransaction reads a row, or returns the reason why it cannot. In that case the transaction
// has only the ids that could be read.
func readTransaction(raw []byte) (bank.Transaction, bank.Reason) {
	var row transaction
	if json.Unmarshal(raw, &row) != nil {
		return bank.Transaction{
			ProviderID: bank.StringField(raw, "transaction_id"), AccountID: bank.StringField(raw, "account_id"),
		}, bank.BadShape
	}
	out := bank.Transaction{
		ProviderID: string(row.ID), AccountID: string(row.AccountID), PendingID: string(row.PendingID),
		Name: text.Name(string(row.Name)), MerchantName: text.Name(string(row.MerchantName)),
		Pending: string(row.Pending) == "true",
		Extra:   bank.Extra{PaymentChannel: text.Line(string(row.PaymentChannel), 32).Plain()},
	}
	out.Detail = text.Detail(string(row.Original), out.Name)
	if row.Category != nil {
		out.CategoryPrimary, out.CategoryDetailed = text.Line(string(row.Category.Primary),
			128), text.Line(string(row.Category.Detailed), 128)
	}
	var ok bool
	var err error
	if !bank.IsID(out.ProviderID) {
		return out, bank.BadID
	}
	if !bank.IsID(out.AccountID) {
		return out, bank.BadAccount
	}
	if out.Date, ok = bank.ParseDay(string(row.Date)); !ok {
		return out, bank.BadDate
	}
	// Plaid sends numbers; a string of digits would be a different protocol.
	if len(row.Amount) == 0 || bytes.HasPrefix(row.Amount, []byte{'"'}) {
		return out, bank.BadAmount
	}
	if out.Amount, err = bank.ParseAmount(row.Amount); err != nil {
		return out, bank.BadAmount
	}
	if out.Currency, ok = readCurrency(row.ISO, row.Unofficial); !ok {
		return out, bank.BadCurrency
	}
	if !bank.IsID(out.PendingID) || out.PendingID == out.ProviderID {
		out.PendingID = ""
	}
	if day, ok := bank.ParseDay(string(row.AuthorizedDate)); ok {
		out.AuthorizedDate = day
	}
	out.Datetime = readTime(row.Datetime)
	return out, ""
}

func readTime(s bank.OptionalString) time.Time {
	t, err := time.Parse(time.RFC3339, string(s))
	if err != nil || t.Year() < 1900 || t.Year() > 2199 {
		return time.Time{}
	}
	return t.UTC()
}

// Reread implements [bank.Rereader].
func (p *Plaid) Reread(raw bank.Raw, _ bank.Account) (bank.Transaction, bank.Reason) {
	return readTransaction(raw)
}

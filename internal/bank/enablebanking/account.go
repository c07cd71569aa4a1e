package enablebanking

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An account is one account of a session, in its stored form.
type account struct {
	UID      string         `json:"uid"` // valid for this session only
	Hash     string         `json:"hash"`
	Name     string         `json:"name"`
	Holder   string         `json:"holder"`
	Mask     string         `json:"mask"`
	Currency money.Currency `json:"currency"`
	Type     string         `json:"type"`
}

// readAccounts reads the accounts of a new session. It leaves out accounts without valid ids.
func readAccounts(raws []json.RawMessage) []account {
	var out []account
	for _, raw := range raws {
		var w struct {
			UID       bank.OptionalString `json:"uid"`
			Hash      bank.OptionalString `json:"identification_hash"`
			Name      bank.OptionalString `json:"name"`
			Details   bank.OptionalString `json:"details"`
			Product   bank.OptionalString `json:"product"`
			Currency  bank.OptionalString `json:"currency"`
			Type      bank.OptionalString `json:"cash_account_type"`
			AccountID struct {
				IBAN  bank.OptionalString `json:"iban"`
				Other struct {
					ID bank.OptionalString `json:"identification"`
				} `json:"other"`
			} `json:"account_id"`
		}
		if json.Unmarshal(raw, &w) != nil || !bank.IsID(string(w.UID)) || !bank.IsID(string(w.Hash)) {
			continue
		}
		currency, _ := money.ParseCurrency(string(w.Currency)) // "" if it is not a currency
		out = append(out, account{
			UID: string(w.UID), Hash: string(w.Hash), Holder: string(w.Name), Currency: currency, Type: string(w.Type),
			Name: string(cmp.Or(w.Details, w.Product, w.Name, w.AccountID.IBAN, "Account")),
			Mask: mask(string(cmp.Or(w.AccountID.IBAN, w.AccountID.Other.ID))),
		})
	}
	// The parts of one account in several currencies have the same hash.
	same := slices.Clone(out)
	for i, a := range same {
		if slices.ContainsFunc(same, func(b account) bool { return b.Hash == a.Hash && b.Currency != a.Currency }) {
			out[i].Hash += ":" + string(a.Currency)
		}
	}
	return out
}

// mask returns the last four characters of an account's number.
func mask(number string) string {
	number = strings.ReplaceAll(number, " ", "")
	if len(number) < 4 || strings.Trim(number, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*") != "" {
		return ""
	}
	return number[len(number)-4:]
}

// kinds maps the account types of ISO 20022.
var kinds = map[string][2]string{
	"CACC": {bank.Depository, "checking"}, "TRAN": {bank.Depository, "checking"}, "CASH": {bank.Depository, "checking"},
	"SVGS": {bank.Depository, "savings"}, "ODFT": {bank.Depository, "checking"},
	"MOMA": {bank.Depository, "money market"}, "CARD": {bank.Credit, "credit card"}, "LOAN": {bank.Loan, ""},
}

// debt reports whether the account's balance is a debt.
func (a account) debt() bool { return kinds[a.Type][0] == bank.Credit || kinds[a.Type][0] == bank.Loan }

func (a account) ours() bank.Account {
	out := bank.Account{
		ProviderID: a.Hash, Name: text.Name(a.Name), OfficialName: text.Name(a.Holder), Mask: a.Mask,
		Currency: a.Currency, Type: kinds[a.Type][0], Subtype: kinds[a.Type][1],
	}
	if out.Type == "" {
		out.Type, out.Guessed = bank.Other, true
	}
	return out
}

// A balance is one of several balances that a bank states for an account.
type balance struct {
	Type   bank.OptionalString `json:"balance_type"`
	Date   bank.OptionalString `json:"reference_date"`
	Amount struct {
		Amount   json.RawMessage     `json:"amount"`
		Currency bank.OptionalString `json:"currency"`
	} `json:"balance_amount"`
}

// Types of balances in order of preference. A booked balance is what the account contains; an
// available one may include an overdraft.
var (
	booked    = []string{"ITBD", "CLBD", "PRCD", "XPCD"}
	available = []string{"ITAV", "CLAV", "FWAV"}
)

// settle sets the best of the listed balances in an account.
func (a account) settle(out *bank.Account, listed []balance) {
	out.Current, out.Available = a.best(listed, booked), a.best(listed, available)
	if out.Current != nil && a.debt() {
		out.Current = new(out.Current.Neg())
	}
}

func (a account) best(listed []balance, kinds []string) *money.Amount {
	for _, kind := range kinds {
		var newest time.Time
		var found *money.Amount
		for _, b := range listed {
			if string(b.Type) != kind || a.Currency != "" && b.Amount.Currency != "" &&
				string(b.Amount.Currency) != string(a.Currency) {
				continue
			}
			day, _ := bank.ParseDay(string(b.Date)) // zero if it states none
			amount, err := bank.ParseAmount(b.Amount.Amount)
			if err == nil && (found == nil || day.After(newest)) {
				found, newest = &amount, day
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

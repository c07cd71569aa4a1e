package csv

import (
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A holder collects which accounts the rows of a file belong to.
type holder struct {
	account    text.Untrusted
	several    bool
	currency   money.Currency
	currencies bool // the rows have several currencies
	assumed    int
	seen       int
	accounts   statement.Tally
}

func (h *holder) see(r statement.Row) {
	if h.seen++; h.seen == 1 {
		h.account, h.currency = r.Account, r.Currency
	}
	h.accounts.Row(r)
	if a := h.accounts.Account(r.Account); a != nil && a.Rows == 1 {
		a.Currency = r.Currency
	} else if a != nil && a.Currency != r.Currency {
		a.Currency = ""
	}
	h.several = h.several || r.Account != h.account
	h.currencies = h.currencies || r.Currency != h.currency
	if r.Assumed {
		h.assumed++
	}
}

// concern adds the file's information about its account. It warns about anything that an import
// into one account would hide.
func (i *inspection) concern(h *holder) {
	i.out.Assumed = h.assumed
	i.out.Accounts = h.accounts.Held()
	if !h.currencies {
		i.out.Currency = h.currency
	}
	switch {
	case h.several:
		i.guesses++
		i.warn("several_accounts",
			"the rows belong to several accounts; an import needs a choice for each")
	case h.account != "":
		i.out.AccountNumber = h.account
	default:
		i.out.AccountNumber = text.Name(i.layout.iban)
	}
	for n := range i.out.Accounts {
		a := &i.out.Accounts[n]
		if a.Name, a.Number = a.Key, a.Key; a.Key == "" && !h.several {
			a.Number = i.out.AccountNumber
		}
	}
	if f := i.layout.known; f != nil && f.app != "" {
		i.guesses++
		i.warn("app_export", "the file is an export of "+f.app+
			": each line becomes a transaction, including the parts of a split and both sides of a transfer")
	}
}

// foreign lists programs whose exports can't be read line by line, by column names that only they
// use.
var foreign = []struct{ names, advice string }{
	{
		"full account name|account name|amount with sym|amount num.",
		"this is a GnuCash export with several lines per transaction; export the account again with “Simple Layout”, " +
			"one line per transaction",
	},
}

// isForeign reports whether a header belongs to a foreign export, and returns advice for it.
func isForeign(fields []string) (advice string, ok bool) {
	for _, f := range foreign {
		if (&format{names: f.names}).knows(normal(fields)) > 0 {
			return f.advice, true
		}
	}
	return "", false
}

// findIBAN looks for an IBAN in the lines above a table. If there are two different ones, it
// returns none.
func findIBAN(records []record) (found string) {
	for _, rec := range records {
		for _, cell := range rec.fields {
			for _, word := range append([]string{cell},
				strings.FieldsFunc(cell, func(r rune) bool { return r == ':' || r == '/' })...) {
				switch n := strings.ToUpper(strings.Join(strings.Fields(word), "")); {
				case !reading.IsIBAN(n) || n == found:
				case found != "":
					return ""
				default:
					found = n
				}
			}
		}
	}
	return found
}

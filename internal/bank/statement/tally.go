package statement

import (
	"slices"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// Limits of a [Tally].
const (
	sampleRows   = 10
	rejectedRows = 20
	// MaxAccounts is the maximum number of accounts in one file.
	MaxAccounts = 200
)

// A Tally counts the rows of a file by account while its format inspects it. The zero value is
// ready for use.
type Tally struct {
	Sample   []Sample
	Rejected []RowError

	accounts []Account
	byKey    map[text.Untrusted]int
	assumed  int
	many     bool // the file has more than MaxAccounts accounts
}

// Account returns the account with that key and adds it if necessary. The result is valid until the
// next call. It is nil if the file has more than [MaxAccounts] accounts.
func (t *Tally) Account(key text.Untrusted) *Account {
	at, ok := t.byKey[key]
	switch {
	case ok:
		return &t.accounts[at]
	case len(t.accounts) == MaxAccounts:
		t.many = true
		return nil
	}
	if t.byKey == nil {
		t.byKey = map[text.Untrusted]int{}
	}
	t.byKey[key] = len(t.accounts)
	t.accounts = append(t.accounts, Account{Key: key})
	return &t.accounts[len(t.accounts)-1]
}

// Row counts a row.
func (t *Tally) Row(r Row) {
	if r.Assumed {
		t.assumed++
	}
	if len(t.Sample) < sampleRows {
		t.Sample = append(t.Sample, Sample{Row: r, Errors: []string{}})
	}
	a := t.Account(r.Account)
	if a == nil {
		return
	}
	a.Rows++
	if a.FirstDate == "" || r.Date < a.FirstDate {
		a.FirstDate = r.Date
	}
	a.LastDate = max(a.LastDate, r.Date)
}

// Left counts a line that is not a transaction.
func (t *Tally) Left(e *RowError) {
	if !e.Skip {
		if len(t.Rejected) < rejectedRows {
			t.Rejected = append(t.Rejected, *e)
		}
		if len(t.Sample) < sampleRows {
			row := Row{Number: e.Row, Account: e.Account}
			t.Sample = append(t.Sample, Sample{Row: row, Errors: []string{e.Message}})
		}
	}
	a := t.Account(e.Account)
	switch {
	case a == nil:
	case e.Skip:
		a.skip(e.Code)
	default:
		a.RowsRejected++
		if len(a.Rejected) < rejectedRows {
			a.Rejected = append(a.Rejected, *e)
		}
	}
}

func (a *Account) skip(reason string) {
	i := slices.IndexFunc(a.Skipped, func(s Skipped) bool { return s.Reason == reason })
	if i < 0 {
		i = len(a.Skipped)
		a.Skipped = append(a.Skipped, Skipped{Reason: reason})
	}
	a.Skipped[i].Count++
}

// Held returns the accounts that have rows. Lines without an account that were left out, such as
// totals, are counted for the account if there is only one. It returns nil if the file has more
// than [MaxAccounts] accounts. Call it after the last row.
func (t *Tally) Held() []Account {
	rest := Account{}
	held := slices.DeleteFunc(t.accounts, func(a Account) bool {
		if a.Rows > 0 {
			return false
		}
		rest.RowsRejected += a.RowsRejected
		rest.Rejected = append(rest.Rejected, a.Rejected...)
		rest.Skipped = append(rest.Skipped, a.Skipped...)
		return true
	})
	switch {
	case t.many:
		return nil
	case len(held) != 1:
		return held
	}
	a := &held[0]
	a.RowsRejected += rest.RowsRejected
	a.Rejected = append(a.Rejected, rest.Rejected...)
	for _, s := range rest.Skipped {
		for range s.Count {
			a.skip(s.Reason)
		}
	}
	return held
}

// Fill copies the accounts and the counts into a preview. It reports whether the file has at most
// [MaxAccounts] accounts.
func (t *Tally) Fill(p *Preview) bool {
	p.Accounts, p.Assumed = t.accounts, t.assumed
	p.Sample, p.Rejected = append([]Sample{}, t.Sample...), t.Rejected
	var currencies []money.Currency
	for _, a := range t.accounts {
		p.RowsTotal += a.Rows + a.RowsRejected
		p.RowsRejected += a.RowsRejected
		for _, s := range a.Skipped {
			p.RowsSkipped += s.Count
		}
		if a.FirstDate != "" && (p.FirstDate == "" || a.FirstDate < p.FirstDate) {
			p.FirstDate = a.FirstDate
		}
		p.LastDate = max(p.LastDate, a.LastDate)
		if !slices.Contains(currencies, a.Currency) {
			currencies = append(currencies, a.Currency)
		}
	}
	if len(currencies) == 1 {
		p.Currency = currencies[0]
	}
	if len(t.accounts) == 1 {
		a := t.accounts[0]
		if p.AccountNumber = a.IBAN; p.AccountNumber == "" {
			p.AccountNumber = a.Number
		}
	}
	return !t.many
}

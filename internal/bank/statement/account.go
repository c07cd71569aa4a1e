package statement

import (
	"strings"
	"unicode"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An Account is one of the accounts of a file. It contains what the file states about the account,
// and counts of its rows. A file that does not name its account has one Account with an empty key.
type Account struct {
	// Key is the value of [Row.Account] and [RowError.Account] for its rows. It is the same in
	// every file of the format, as long as the bank writes the account in the same way.
	Key      text.Untrusted
	Name     text.Untrusted // as people call it
	IBAN     text.Untrusted // in capitals, without blanks
	Number   text.Untrusted // if it is not an IBAN; often masked
	Bank     text.Untrusted // the bank's code, BIC or host
	Currency money.Currency // empty if the file does not say
	Type     string         // depository, credit, investment or other; empty if the file does not say
	Subtype  string

	From, To            string // the days for which the file claims to list all rows; "" if it does not
	FirstDate, LastDate string // of the readable rows, YYYY-MM-DD
	Rows                int    // number of readable rows
	Skipped             []Skipped
	Rejected            []RowError // only the first ones
	RowsRejected        int

	Available *money.Amount    // at the end of the file, if the file states it
	Points    []Point          // in the order of the file
	Deletes   []text.Untrusted // ids of earlier rows that the bank deletes
}

// Skipped counts the lines of an account that are not transactions, such as totals, by
// [RowError.Code].
type Skipped struct {
	Reason string
	Count  int
}

// Mask returns the last four characters of the account's number, or "" if the file has none.
func (a Account) Mask() string {
	if a.IBAN != "" {
		return Mask(a.IBAN.Plain())
	}
	return Mask(a.Number.Plain())
}

// The kinds of a [Point].
const (
	Opening = "opening" // before the following rows
	Closing = "closing" // after the preceding rows
	Running = "running" // between two pages, or during a day
	Stated  = "point"   // on that day, independent of the file's rows
)

// A Point is a balance that a file states.
type Point struct {
	Kind   string
	Day    string       // as written, YYYY-MM-DD
	Amount money.Amount // the money in the account: a debt is negative, for cards too
	// Morning marks a balance at the beginning of the day, which is that of the end of the day
	// before. Other balances are of the day's end, except Stated, whose time of day is unknown.
	Morning bool
	// Covered says that the file has every row between the previous Point of the list and this one.
	// Out is the sum of those rows, with money out positive. If the previous balance minus Out
	// equals Amount, the file's balances are consistent.
	Covered bool
	Out     money.Total
	// Stands is the day on which the file states the balance. It is set if the caller says that the
	// balance belongs to another time.
	Stands string
}

// Extra contains details of a row that only some formats have.
type Extra struct {
	Value      string         // the day from which the bank counts interest, if different
	Authorized string         // the day of the purchase, if different
	Check      text.Untrusted // the number of the check
	Reference  text.Untrusted // the payer's reference
	Replaces   text.Untrusted // the id of an earlier row that this row corrects
	Transfer   text.Untrusted // the other account's name
	Tags       []text.Untrusted
	Parts      []Part // they add up to the amount; none if the row is not split
	Batch      *Batch // the batch that the row is a part of; all its rows share one value
}

// A Batch is an entry that a file lists as several rows. Other files of the bank list it as one
// row.
type Batch struct {
	ID     text.Untrusted // of the whole entry; empty if the bank has not set one
	Amount money.Amount   // of the whole entry
}

// A Part is a piece of a row that the file has split.
type Part struct {
	Amount   money.Amount // positive is money out
	Category text.Untrusted
	Transfer text.Untrusted // the other account's name
	Detail   text.Untrusted
	Tags     []text.Untrusted
}

// Accounts returns the accounts of the file. There is always at least one.
func (f File) Accounts() []Account {
	if len(f.Preview.Accounts) > 0 {
		return f.Preview.Accounts
	}
	return []Account{{
		Number: f.AccountNumber, Currency: f.Currency, FirstDate: f.FirstDate, LastDate: f.LastDate,
		Rows: f.RowsTotal - f.RowsRejected, Rejected: f.Rejected, RowsRejected: f.RowsRejected,
	}}
}

// Mask returns the last four characters of an account's number, or "" if it is a name.
func Mask(number string) string {
	var b strings.Builder
	digits := 0
	for _, r := range number {
		switch {
		case unicode.IsDigit(r):
			digits++
			b.WriteRune(r)
		case unicode.IsLetter(r) || r == '*':
			b.WriteRune(r)
		}
	}
	s := []rune(b.String())
	if digits < 4 || len(s) < 4 {
		return ""
	}
	return string(s[len(s)-4:])
}

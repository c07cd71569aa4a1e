package statement

import (
	"strings"
	"unicode"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An Account is one of the accounts of a file, with what the file says of it and what an import
// would do. A file that does not name its account has one with an empty key.
type Account struct {
	// Key is what [Row.Account] and [RowError.Account] have for its rows. It is the same in every
	// file of the format in which the bank writes the account alike.
	Key      text.Untrusted
	Name     text.Untrusted // as people call it
	IBAN     text.Untrusted // in capitals, without blanks
	Number   text.Untrusted // where it is not an IBAN; often masked
	Bank     text.Untrusted // the bank's code, BIC or host
	Currency money.Currency // empty if the file does not say
	Type     string         // depository, credit, investment or other; empty if the file does not say
	Subtype  string

	From, To            string // the days of which the file says that it lists all rows; "" if it does not
	FirstDate, LastDate string // of the rows that can be read, YYYY-MM-DD
	Rows                int    // that can be read
	Skipped             []Skipped
	Rejected            []RowError // the first ones
	RowsRejected        int

	Available *money.Amount    // at the end of the file, if it says
	Points    []Point          // in the order of the file
	Deletes   []text.Untrusted // ids of earlier rows that the bank takes back
}

// Skipped counts the rows of an account that are rightly no transactions, by [RowError.Code].
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
	Opening = "opening" // before the rows that follow
	Closing = "closing" // after the rows before it
	Running = "running" // between two pages, or during a day
	Stated  = "point"   // on that day, whatever rows the file has
)

// A Point is a balance that a file states.
type Point struct {
	Kind   string
	Day    string       // as written, YYYY-MM-DD
	Amount money.Amount // what the account holds: a debt is negative, for cards too
	// Morning marks a balance of the moment at which the day began, that is of the end of the day
	// before. The others are of the day's end, except that nobody knows when Stated was.
	Morning bool
	// Covered says that the file has every row between the point before this one in the list and
	// this one. Out is what those rows add up to, money out being positive: if the balance before
	// less Out is Amount, the file proves itself.
	Covered bool
	Out     money.Total
	// Stands is the day on which the file states the balance, if the caller says that it is of
	// another moment.
	Stands string
}

// Extra is what only some formats say of a row.
type Extra struct {
	Value      string         // the day from which the bank counts interest, if it is another one
	Authorized string         // the day of the purchase, if it is another one
	Check      text.Untrusted // the number of the check
	Reference  text.Untrusted // of the payer
	Replaces   text.Untrusted // the id of an earlier row that this one corrects
	Transfer   text.Untrusted // the other account's name
	Tags       []text.Untrusted
	Parts      []Part // that add up to the amount; none if it is in one piece
	Batch      *Batch // that the row is a piece of; all its rows have the same one
}

// A Batch is an entry that a file lists piece by piece. Other files of the bank list it as one row.
type Batch struct {
	ID     text.Untrusted // of the whole entry; empty if the bank gave none
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

// Accounts returns the accounts of the file, of which there is always one.
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

// Package csv reads statements that are tables of text: it detects how a file is written, shows
// what it detected, and yields its rows. It must not know what becomes of them.
//
// Such a file does not describe itself, so everything is inferred from all of its rows, and
// everything inferred can be overridden by [Options]. Known formats decide what the rows leave
// open. A warning reports what remains a guess.
package csv

import (
	"encoding/json"
	"errors"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
)

// The encodings.
const (
	UTF8        = reading.UTF8
	UTF8BOM     = reading.UTF8BOM
	UTF16LE     = reading.UTF16LE
	UTF16BE     = reading.UTF16BE
	Windows1252 = reading.Windows1252
	Windows1250 = reading.Windows1250
)

// How money out is distinguished from money in.
const (
	NegativeOut = "negative_out" // a minus marks money out, as at most banks
	PositiveOut = "positive_out" // a plus marks money out, as on many cards
	Split       = "split"        // a column for each direction
	Flag        = "flag"         // a column names the direction
)

var signKinds = []string{NegativeOut, PositiveOut, Split, Flag}

// Options are fixed by the caller; everything else is inferred. The zero value infers everything.
type Options struct {
	Encoding  string `json:"encoding,omitempty"`
	Delimiter string `json:"delimiter,omitempty"`
	// counted from 1 as a spreadsheet does; 0 is "there is none"
	HeaderRow *int `json:"header_row,omitempty"`
	// Such as DD/MM/YYYY; only the order of the letters matters.
	DateFormat       string         `json:"date_format,omitempty"`
	DecimalSeparator string         `json:"decimal_separator,omitempty"`
	AmountSign       string         `json:"amount_sign,omitempty"`
	Mapping          *Mapping       `json:"mapping,omitempty"`
	DefaultCurrency  money.Currency `json:"default_currency,omitempty"` // of rows that state none
	// stands in for it where the known format implies none either
	UsualCurrency money.Currency `json:"-"`
}

// A Mapping says which column holds which field; nil means none. A readable mapping has Amount, or
// at least one of Debit and Credit.
type Mapping struct {
	Date   *Column `json:"date,omitempty"`
	Amount *Column `json:"amount,omitempty"`
	// read where Amount is blank: some files have an amount column for each currency
	OtherAmount  *Column `json:"other_amount,omitempty"`
	Debit        *Column `json:"debit,omitempty"`
	Credit       *Column `json:"credit,omitempty"`
	Flag         *Column `json:"flag,omitempty"` // says in words whether money went out or came in
	Fee          *Column `json:"fee,omitempty"`  // goes out beside the amount
	Name         *Column `json:"name,omitempty"`
	Detail       *Column `json:"detail,omitempty"` // the purpose of a payment; stands in where the name is blank
	MerchantName *Column `json:"merchant_name,omitempty"`
	Category     *Column `json:"category,omitempty"`
	Account      *Column `json:"account,omitempty"`
	Currency     *Column `json:"currency,omitempty"`
	ID           *Column `json:"id,omitempty"`
	Balance      *Column `json:"balance,omitempty"`
	Status       *Column `json:"status,omitempty"` // says which rows are pending or never happened
}

// A slot is one field of a Mapping.
type slot struct {
	name   string
	column **Column
}

// slots lists the fields of m in the order in which a person would fill them.
func (m *Mapping) slots() []slot {
	return []slot{
		{"date", &m.Date},
		{"amount", &m.Amount},
		{"other_amount", &m.OtherAmount},
		{"debit", &m.Debit},
		{"credit", &m.Credit},
		{"flag", &m.Flag},
		{"fee", &m.Fee},
		{"name", &m.Name},
		{"detail", &m.Detail},
		{"merchant_name", &m.MerchantName},
		{"category", &m.Category},
		{"account", &m.Account},
		{"currency", &m.Currency},
		{"id", &m.ID},
		{"balance", &m.Balance},
		{"status", &m.Status},
	}
}

// equal compares resolved mappings.
func (m *Mapping) equal(n *Mapping) bool {
	other := n.slots()
	for i, s := range m.slots() {
		a, b := *s.column, *other[i].column
		if (a == nil) != (b == nil) || a != nil && a.Index != b.Index {
			return false
		}
	}
	return true
}

// A Column refers to a column by its index from 0, or by its name in the header, ignoring case. In
// JSON it is a number or a string.
type Column struct {
	Index int
	Name  string // if it is not empty, Index is found through it
}

// At refers to a column by its index.
func At(index int) *Column { return &Column{Index: index} }

// Named refers to a column by its name.
func Named(name string) *Column { return &Column{Name: name} }

// MarshalJSON writes the index, or the name of a reference that is not resolved yet.
func (c Column) MarshalJSON() ([]byte, error) {
	if c.Name != "" {
		return json.Marshal(c.Name)
	}
	return json.Marshal(c.Index)
}

// UnmarshalJSON reads an index or a name.
func (c *Column) UnmarshalJSON(data []byte) error {
	*c = Column{}
	if strings.HasPrefix(string(data), `"`) {
		return json.Unmarshal(data, &c.Name)
	}
	if err := json.Unmarshal(data, &c.Index); err != nil || c.Index < 0 {
		return errors.New("give a column as its index, counted from 0, or as its name")
	}
	return nil
}

// A Preview describes how a file is read, with a sample of the result. [Read] takes it unchanged.
type Preview struct {
	Encoding  string `json:"encoding"`
	Delimiter string `json:"delimiter"`
	// counted from 1 as a spreadsheet does; nil where the file has no header
	HeaderRow        *int                   `json:"header_row"`
	Columns          []statement.ColumnInfo `json:"columns"`
	Mapping          Mapping                `json:"mapping"`
	DateFormat       string                 `json:"date_format"`
	DecimalSeparator string                 `json:"decimal_separator"`
	AmountSign       string                 `json:"amount_sign"`
	statement.Preview

	plan plan
}

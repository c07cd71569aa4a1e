// Package csv reads statements that are tables of text. It detects how a file is written, reports
// what it detected, and yields the rows. It must not know what happens to the rows.
//
// Such a file does not describe itself, so everything is inferred from all of its rows. [Options]
// can override everything that is inferred. Known formats decide if the rows do not. A warning
// reports each remaining guess.
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

// How money out is marked.
const (
	NegativeOut = "negative_out" // a minus marks money out, as at most banks
	PositiveOut = "positive_out" // money out is positive, as on many cards
	Split       = "split"        // one column for each direction
	Flag        = "flag"         // a column names the direction
)

var signKinds = []string{NegativeOut, PositiveOut, Split, Flag}

// Options are the caller's choices; everything else is inferred. The zero value chooses nothing.
type Options struct {
	Encoding  string `json:"encoding,omitempty"`
	Delimiter string `json:"delimiter,omitempty"`
	// Counted from 1 as in a spreadsheet; 0 means that there is no header.
	HeaderRow *int `json:"header_row,omitempty"`
	// Such as DD/MM/YYYY; only the order of the letters matters.
	DateFormat       string         `json:"date_format,omitempty"`
	DecimalSeparator string         `json:"decimal_separator,omitempty"`
	AmountSign       string         `json:"amount_sign,omitempty"`
	Mapping          *Mapping       `json:"mapping,omitempty"`
	DefaultCurrency  money.Currency `json:"default_currency,omitempty"` // for rows that state none
	// For rows that state none, if DefaultCurrency is empty and the known format implies none.
	UsualCurrency money.Currency `json:"-"`
}

// A Mapping names the column of each field; nil means none. A complete mapping has Amount, or at
// least one of Debit and Credit.
type Mapping struct {
	Date   *Column `json:"date,omitempty"`
	Amount *Column `json:"amount,omitempty"`
	// Read if Amount is blank: some files have an amount column for each currency.
	OtherAmount  *Column `json:"other_amount,omitempty"`
	Debit        *Column `json:"debit,omitempty"`
	Credit       *Column `json:"credit,omitempty"`
	Flag         *Column `json:"flag,omitempty"` // a word that marks money out or money in
	Fee          *Column `json:"fee,omitempty"`  // paid in addition to the amount
	Name         *Column `json:"name,omitempty"`
	Detail       *Column `json:"detail,omitempty"` // the purpose of a payment; used as the name if that is blank
	MerchantName *Column `json:"merchant_name,omitempty"`
	Category     *Column `json:"category,omitempty"`
	Account      *Column `json:"account,omitempty"`
	Currency     *Column `json:"currency,omitempty"`
	ID           *Column `json:"id,omitempty"`
	Balance      *Column `json:"balance,omitempty"`
	Status       *Column `json:"status,omitempty"` // identifies rows that are pending or never happened
}

// A slot is one field of a Mapping.
type slot struct {
	name   string
	column **Column
}

// slots lists the fields of m in the order of the form on the screen.
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
	Name  string // if set, Index is found by it
}

// At refers to a column by its index.
func At(index int) *Column { return &Column{Index: index} }

// Named refers to a column by its name.
func Named(name string) *Column { return &Column{Name: name} }

// MarshalJSON writes the index, or the name if the column is not resolved yet.
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

// A Preview describes how a file is read, with a sample of the result. Pass it unchanged to [Read].
type Preview struct {
	Encoding  string `json:"encoding"`
	Delimiter string `json:"delimiter"`
	// Counted from 1 as in a spreadsheet; nil if the file has no header.
	HeaderRow        *int                   `json:"header_row"`
	Columns          []statement.ColumnInfo `json:"columns"`
	Mapping          Mapping                `json:"mapping"`
	DateFormat       string                 `json:"date_format"`
	DecimalSeparator string                 `json:"decimal_separator"`
	AmountSign       string                 `json:"amount_sign"`
	statement.Preview

	plan plan
}

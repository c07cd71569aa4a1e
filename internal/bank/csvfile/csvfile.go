// Package csvfile reads the statement files that banks let people download: it detects how a file
// is written, shows what it detected, and yields its rows. It knows neither the store nor coffer's
// accounts: the caller decides what to do with a row, and whether it was seen before.
//
// Such a file does not describe itself, so everything is inferred from all of its rows, and
// everything inferred can be overridden by [Options]. Known formats decide what the rows leave
// open. A [Warning] reports what remains a guess.
package csvfile

import (
	"encoding/json"
	"errors"
	"strings"

	"coffer/internal/money"
	"coffer/internal/text"
)

// The limits of a file. A larger file is rejected as a whole, because half a file must never be
// imported.
const (
	MaxSize = 32 << 20
	MaxRows = 500_000
)

// The encodings.
const (
	UTF8        = "utf-8"
	UTF8BOM     = "utf-8-bom"
	UTF16LE     = "utf-16le"
	UTF16BE     = "utf-16be"
	Windows1252 = "windows-1252"
	Windows1250 = "windows-1250"
)

// How money out is distinguished from money in.
const (
	NegativeOut = "negative_out" // a minus is money out, as most banks write it
	PositiveOut = "positive_out" // a plus is money out, as many cards write it
	Split       = "split"        // a column for each direction
	Flag        = "flag"         // a column says it in words
)

var signKinds = []string{NegativeOut, PositiveOut, Split, Flag}

// How certain the result is.
const (
	High   = "high"   // a known format, or every choice follows from the rows
	Medium = "medium" // something was chosen by likelihood
	Low    = "low"    // a person should look: see the warnings
)

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

// MappingFields lists the fields that a mapping can have.
func MappingFields() []string {
	var names []string
	for _, s := range (&Mapping{}).slots() {
		names = append(names, s.name)
	}
	return names
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
	HeaderRow        *int           `json:"header_row"`
	Columns          []ColumnInfo   `json:"columns"`
	Mapping          Mapping        `json:"mapping"`
	DateFormat       string         `json:"date_format"`
	DecimalSeparator string         `json:"decimal_separator"`
	AmountSign       string         `json:"amount_sign"`
	Confidence       string         `json:"confidence"`
	KnownFormat      string         `json:"known_format,omitempty"`
	FormatName       string         `json:"-"`                          // as people call it
	DefaultCurrency  money.Currency `json:"default_currency,omitempty"` // of rows that state none
	FirstDate        string         `json:"first_date,omitempty"`       // of the rows that can be read, YYYY-MM-DD
	LastDate         string         `json:"last_date,omitempty"`
	RowsTotal        int            `json:"rows_total"`    // transactions, those that are rejected among them
	RowsRejected     int            `json:"rows_rejected"` // of RowsTotal
	// other lines below the header: totals, legal text, pending charges
	RowsSkipped int       `json:"rows_skipped"`
	Sample      []Sample  `json:"sample"`
	Warnings    []Warning `json:"warnings"`

	Rejected []RowError `json:"-"` // the first of RowsRejected

	// The file's information about its account, for an account that is created for it.
	Bank           string         `json:"bank,omitempty"`            // whose the known format is
	AccountNumber  text.Untrusted `json:"account_number,omitempty"`  // that all rows name, or the lines above the table
	FormatCurrency money.Currency `json:"format_currency,omitempty"` // that the known format implies
	Currency       money.Currency `json:"-"`                         // of all rows; empty where they differ
	Assumed        int            `json:"-"`                         // rows that state no currency

	plan plan
}

// A ColumnInfo describes a column of the file.
type ColumnInfo struct {
	Index   int              `json:"index"`
	Name    text.Untrusted   `json:"name"`
	Samples []text.Untrusted `json:"samples"`
}

// A Sample is a row of the preview, with what is wrong with it.
type Sample struct {
	Row
	Errors []string `json:"errors"`
}

// A Warning is something that a person should know before importing.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// A Row is one transaction of a file.
type Row struct {
	Number       int            `json:"row"`  // counted from 1 as a spreadsheet does
	Date         string         `json:"date"` // YYYY-MM-DD
	Amount       money.Amount   `json:"amount"`
	Currency     money.Currency `json:"iso_currency_code,omitempty"`
	Name         text.Untrusted `json:"name"`
	Detail       text.Untrusted `json:"detail,omitempty"`
	MerchantName text.Untrusted `json:"merchant_name,omitempty"`
	Category     text.Untrusted `json:"category,omitempty"`
	Account      text.Untrusted `json:"account,omitempty"`
	ID           text.Untrusted `json:"id,omitempty"`
	Balance      *money.Amount  `json:"balance,omitempty"` // as the file writes it

	assumed bool           // the file states no currency
	count   text.Untrusted // what stands in the column of ids where that only counts the rows
}

// A RowError is the reason why a row is not a transaction that can be stored. It never concerns the
// file as a whole.
type RowError struct {
	Row     int    `json:"row"`
	Code    string `json:"code"`
	Message string `json:"reason"`
	// Skip marks what is rightly no transaction, such as a total or a charge that is still pending;
	// the others are rejected.
	Skip bool `json:"-"`
}

func (e *RowError) Error() string { return e.Message }

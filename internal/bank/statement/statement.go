// Package statement is the contract between coffer and the statement files that banks offer for
// download. A format decides which files it recognizes and how they are read. This package detects
// the format of a file by its content, and matches its rows with those that an account already has.
//
// Neither a format nor this package knows the database or coffer's accounts: the caller decides
// what to do with a row. A new format is a directory below this one, and a line in package all.
package statement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// The limits of a file. A larger file is rejected completely, because importing half a file would
// be worse.
const (
	MaxSize = 32 << 20
	MaxRows = 500_000
)

// A Format is a kind of file. It is a value, so that package all can list it.
type Format struct {
	// Name is the format's name in the database and the API: lower-case letters and digits.
	Name string
	// Title is its display name.
	Title string
	// Detect reports whether a file has the format, by its [Head]. The file's name and media type
	// do not count, because banks and browsers get both wrong.
	Detect func(head []byte) bool
	// Unread is a description of the file, such as "a PDF", if coffer recognizes but cannot read
	// the format. Such a format has neither Inspect nor Read.
	Unread string
	// Inspect finds out how a file is written. An error is about the file or the options as a
	// whole. If only parts of the file can be read, the preview says what is wrong. Inspect ends
	// with the context.
	Inspect func(ctx context.Context, file io.ReaderAt, o Options) (Preview, error)
	// Read yields the rows of a file in order, in the way that Inspect found. A line that is not a
	// transaction, or can't be read, is yielded as a [*RowError] with only its number and account.
	// Any other error, including the end of the context, ends the file; the caller must then
	// discard the earlier rows.
	Read func(ctx context.Context, file io.ReaderAt, p Preview) iter.Seq2[Row, error]
}

// How certain a preview is.
const (
	High   = "high"   // the file states it, or the rows leave no choice
	Medium = "medium" // something was chosen because it is likely
	Low    = "low"    // a person should check the result: see the warnings
)

// Own are options of one format, by their names in the API. Only the format knows their meaning.
type Own map[string]json.RawMessage

// Options are the caller's choices; everything else is detected. The zero value chooses nothing.
type Options struct {
	DefaultCurrency money.Currency // for rows that state none
	// For rows that state none, if DefaultCurrency is empty and the file implies none.
	UsualCurrency money.Currency
	Own           Own
}

// A Preview describes how a file is read, with a sample of the result. Pass it unchanged to
// [Format.Read].
type Preview struct {
	Confidence      string         `json:"confidence"`
	KnownFormat     string         `json:"known_format,omitempty"`     // the detected known format, such as a bank's export
	FormatName      string         `json:"-"`                          // its display name
	DefaultCurrency money.Currency `json:"default_currency,omitempty"` // such as a bank's export
	FirstDate       string         `json:"first_date,omitempty"`       // of the readable rows, YYYY-MM-DD
	LastDate        string         `json:"last_date,omitempty"`
	RowsTotal       int            `json:"rows_total"`    // transactions, including rejected ones
	RowsRejected    int            `json:"rows_rejected"` // of RowsTotal
	// Other lines: totals, legal text, pending charges.
	RowsSkipped int       `json:"rows_skipped"`
	Sample      []Sample  `json:"sample"`
	Warnings    []Warning `json:"warnings"`

	Rejected []RowError `json:"-"` // the first rejected rows

	// The file's information about its account, for an account that is created for it.
	Bank           string         `json:"bank,omitempty"`            // the bank of the file
	AccountNumber  text.Untrusted `json:"account_number,omitempty"`  // stated by the file or by all of its rows
	FormatCurrency money.Currency `json:"format_currency,omitempty"` // implied by the file but not stated
	Currency       money.Currency `json:"-"`                         // of all rows; empty if they differ
	Assumed        int            `json:"-"`                         // number of rows that state no currency

	Version string `json:"-"` // of the format, if the file names one
	// Accounts are the accounts of the file, if the format separates them: see [File.Accounts].
	Accounts []Account `json:"-"`
	// Balances means that rows have the balance after them.
	Balances bool `json:"-"`
	// Table describes how the file is written, if it is a table that does not describe itself.
	Table *Table `json:"-"`
	// Settled are options with which the bank's next file can be read in the same way.
	Settled Own `json:"-"`
	// Plan is the data that the format's Read needs from its Inspect.
	Plan any `json:"-"`
}

// A Table describes how a table of text is written.
type Table struct {
	Encoding, Delimiter                      string
	HeaderRow                                *int // counted from 1 as a spreadsheet does; nil if there is none
	Columns                                  []ColumnInfo
	Mapping                                  map[string]int // by field: the column's index from 0
	DateFormat, DecimalSeparator, AmountSign string
}

// TableFields are the fields of a row for which a [Table] can name a column, in the order of the
// form on the screen.
var TableFields = []string{
	"date", "amount", "other_amount", "debit", "credit", "flag", "fee", "name", "detail", "merchant_name", "category",
	"account", "currency", "id", "balance", "status",
}

// A ColumnInfo describes a column of a table.
type ColumnInfo struct {
	Index   int              `json:"index"`
	Name    text.Untrusted   `json:"name"`
	Samples []text.Untrusted `json:"samples"`
}

// A Sample is a row of the preview, with its errors.
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
	Number       int            `json:"row"`    // counted from 1, as a spreadsheet or an editor does
	Date         string         `json:"date"`   // YYYY-MM-DD
	Amount       money.Amount   `json:"amount"` // positive is money out
	Currency     money.Currency `json:"iso_currency_code,omitempty"`
	Name         text.Untrusted `json:"name"`
	Detail       text.Untrusted `json:"detail,omitempty"`
	MerchantName text.Untrusted `json:"merchant_name,omitempty"`
	Category     text.Untrusted `json:"category,omitempty"`
	Account      text.Untrusted `json:"account,omitempty"` // the key of its account, if the file names one
	ID           text.Untrusted `json:"id,omitempty"`
	Balance      *money.Amount  `json:"balance,omitempty"` // with the sign in the file

	Assumed bool           `json:"-"` // the file states no currency
	Count   text.Untrusted `json:"-"` // the number in place of an id if the bank only numbers the rows
	Extra   *Extra         `json:"-"` // nil if there are no such details
}

// A RowError is the reason why a line is not stored as a transaction. It is never about the file as
// a whole.
type RowError struct {
	Row     int    `json:"row"`
	Code    string `json:"code"`
	Message string `json:"reason"`
	// Skip marks a line that is not a transaction, such as a total or a pending charge. Other lines
	// are rejected.
	Skip    bool           `json:"-"`
	Account text.Untrusted `json:"-"` // the key of the row's account, if that is known
}

func (e *RowError) Error() string { return e.Message }

// headSize is how many bytes are read to detect a file's format.
const headSize = 4 << 10

// Head returns the first bytes of a file, without a byte order mark and leading white space. For
// UTF-16 it removes the zero bytes, because the beginnings of the formats are ASCII.
func Head(file io.ReaderAt) ([]byte, error) {
	head := make([]byte, headSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if rest, ok := bytes.CutPrefix(head, []byte(mark)); ok {
			head = bytes.ReplaceAll(rest, []byte{0}, nil)
		}
	}
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"), nil
}

// Detect returns the first format that recognizes the file. It returns an error if coffer cannot
// read that format.
func Detect(formats []Format, file io.ReaderAt) (Format, error) {
	head, err := Head(file)
	if err != nil {
		return Format{}, err
	}
	for _, f := range formats {
		switch {
		case !f.Detect(head):
		case f.Unread != "":
			return Format{}, errs.New(errs.UnsupportedMediaType,
				"this is %s, not a statement; export it as CSV, OFX, QIF, CAMT, MT940 or Excel (.xlsx)", f.Unread)
		default:
			return f, nil
		}
	}
	return Format{}, errs.New(errs.UnsupportedMediaType,
		"this is not a statement; export one as CSV, OFX, QIF, CAMT, MT940 or Excel (.xlsx)")
}

// A File is a statement that its format has inspected.
type File struct {
	Preview
	Format  Format
	Content io.ReaderAt
	only    func(account text.Untrusted, left bool) bool // nil if all rows are wanted
}

// Open inspects a file of the format.
func (f Format) Open(ctx context.Context, file io.ReaderAt, o Options) (File, error) {
	if n, _ := file.ReadAt(make([]byte, 1), MaxSize); n > 0 {
		return File{}, errs.New(errs.PayloadTooLarge, "the file is larger than %d MiB; split it by year", MaxSize>>20)
	}
	p, err := f.Inspect(ctx, file, o)
	return File{Preview: p, Format: f, Content: file}, err
}

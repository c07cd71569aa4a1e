// Package statement is the contract between coffer and the files that banks let people download. A
// format says which files are its own and how they are read; this package finds the format of a
// file by its content, and its rows among those that an account already has.
//
// Neither a format nor this package knows the store or coffer's accounts: the caller decides what
// to do with a row. A new format is a directory below this one, and a line in package all.
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

// The limits of a file. A larger file is rejected as a whole, because half a file must never be
// imported.
const (
	MaxSize = 32 << 20
	MaxRows = 500_000
)

// A Format is a kind of file. It is a value, so that package all can list it.
type Format struct {
	// Name is how the format is stored and named in the interface: lower-case letters and digits.
	Name string
	// Title is how people know it.
	Title string
	// Detect reports whether a file is of the format, by its [Head]. Neither the file's name nor
	// its media type counts: banks and browsers get both wrong.
	Detect func(head []byte) bool
	// Unread says what a file of the format is, such as "a PDF", if coffer recognizes but cannot
	// read it. Such a format has neither Inspect nor Read.
	Unread string
	// Inspect finds out how a file is written. An error is about the file or the options as a
	// whole; a file that can be read in part gives a preview that says what is wrong. It ends with
	// the context.
	Inspect func(ctx context.Context, file io.ReaderAt, o Options) (Preview, error)
	// Read yields the rows of a file in order, as Inspect understood it, those of an account in the
	// order of the account. A line that is not a transaction, or can't be read, is yielded as a
	// [*RowError] with only its number and account. Any other error, including the end of the
	// context, ends the file and means that the earlier rows must not be kept.
	Read func(ctx context.Context, file io.ReaderAt, p Preview) iter.Seq2[Row, error]
}

// How certain a preview is.
const (
	High   = "high"   // the file says it, or every choice follows from the rows
	Medium = "medium" // something was chosen by likelihood
	Low    = "low"    // a person should look: see the warnings
)

// Own are options of one format, by their names in the interface. Only the format knows what they
// mean.
type Own map[string]json.RawMessage

// Options are fixed by the caller; everything else is found in the file. The zero value fixes
// nothing.
type Options struct {
	DefaultCurrency money.Currency // of rows that state none
	// stands in for it where the file implies none either
	UsualCurrency money.Currency
	Own           Own
}

// A Preview describes how a file is read, with a sample of the result. [Format.Read] takes it
// unchanged.
type Preview struct {
	Confidence      string         `json:"confidence"`
	KnownFormat     string         `json:"known_format,omitempty"`     // whose habits decided, such as a bank's export
	FormatName      string         `json:"-"`                          // as people call it
	DefaultCurrency money.Currency `json:"default_currency,omitempty"` // of rows that state none
	FirstDate       string         `json:"first_date,omitempty"`       // of the rows that can be read, YYYY-MM-DD
	LastDate        string         `json:"last_date,omitempty"`
	RowsTotal       int            `json:"rows_total"`    // transactions, those that are rejected among them
	RowsRejected    int            `json:"rows_rejected"` // of RowsTotal
	// other lines: totals, legal text, pending charges
	RowsSkipped int       `json:"rows_skipped"`
	Sample      []Sample  `json:"sample"`
	Warnings    []Warning `json:"warnings"`

	Rejected []RowError `json:"-"` // the first of RowsRejected

	// The file's information about its account, for an account that is created for it.
	Bank           string         `json:"bank,omitempty"`            // whose the file is
	AccountNumber  text.Untrusted `json:"account_number,omitempty"`  // that the file or all of its rows name
	FormatCurrency money.Currency `json:"format_currency,omitempty"` // that the file implies without stating it
	Currency       money.Currency `json:"-"`                         // of all rows; empty where they differ
	Assumed        int            `json:"-"`                         // rows that state no currency

	Version string `json:"-"` // of the format, if the file names one
	// Accounts are those of the file, if the format separates them: see [File.Accounts].
	Accounts []Account `json:"-"`
	// Balances: rows have the balance after them.
	Balances bool `json:"-"`
	// Table is how the file is written, if it is a table that does not describe itself.
	Table *Table `json:"-"`
	// Settled are the options under which the bank's next file is read in the same way.
	Settled Own `json:"-"`
	// Plan is what the format's Read needs of its Inspect.
	Plan any `json:"-"`
}

// A Table is how a table of text is written.
type Table struct {
	Encoding, Delimiter                      string
	HeaderRow                                *int // counted from 1 as a spreadsheet does; nil if there is none
	Columns                                  []ColumnInfo
	Mapping                                  map[string]int // the index from 0 of the column of a field
	DateFormat, DecimalSeparator, AmountSign string
}

// TableFields are the fields of a row for which a [Table] can name a column, in the order in which
// a person would fill them.
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
	Balance      *money.Amount  `json:"balance,omitempty"` // as the file writes it

	Assumed bool           `json:"-"` // the file states no currency
	Count   text.Untrusted `json:"-"` // what stands in the place of an id where that only counts the rows
	Extra   *Extra         `json:"-"` // nil if there is nothing to say
}

// A RowError is the reason why a row is not a transaction that can be stored. It never concerns the
// file as a whole.
type RowError struct {
	Row     int    `json:"row"`
	Code    string `json:"code"`
	Message string `json:"reason"`
	// Skip marks what is rightly no transaction, such as a total or a charge that is still pending;
	// the others are rejected.
	Skip    bool           `json:"-"`
	Account text.Untrusted `json:"-"` // the key of the row's account, if that is known
}

func (e *RowError) Error() string { return e.Message }

// headSize is how much of a file is looked at to find its format.
const headSize = 4 << 10

// Head returns the first bytes of a file, without a byte order mark and white space before the
// first character. Of a file in UTF-16 it leaves out the zero bytes: what formats begin with is
// ASCII.
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

// Detect returns the first of the formats that recognizes the file. It is an error if coffer cannot
// read that one.
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

// A File is a statement that its format has understood.
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

package statement

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// PreviewFile is the input of Preview.
type PreviewFile struct {
	File      op.File         `json:"csv" minLength:"1" format:"file" doc:"The file, whatever its format: its text or, if it is not UTF-8, data:text/csv;base64,… in JSON; or the raw file as the body, of any type but JSON and forms" agent:"Its text, or data:;base64,…"`
	Options   *FileOptions    `json:"options,omitempty" doc:"Known options of the file; in a text/csv request, pass them as query parameters" agent:"-"`
	AccountID *string         `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account the file is for, to count the rows that are already stored: UUID or short id" agent:"-"`
	Accounts  []AccountChoice `json:"accounts,omitempty" in:"query" minItems:"1" maxItems:"200" doc:"Accounts that the caller has chosen so far, as in the import; the others are suggested"`
	FileOptions
}

// A FileFormat is the kind of a file.
type FileFormat struct {
	Name    string  `json:"name"`
	Title   string  `json:"title" doc:"As people call it"`
	Version *string `json:"version,omitempty" doc:"If the file names one"`
}

// A FilePreview describes how a file is read.
type FilePreview struct {
	Format           FileFormat             `json:"format" doc:"Detected from the file's content"`
	Encoding         string                 `json:"encoding"`
	Delimiter        string                 `json:"delimiter"`
	HeaderRow        *int                   `json:"header_row" doc:"Counted from 1; null if the file has no header"`
	Columns          []statement.ColumnInfo `json:"columns" doc:"Untrusted: names and samples come from the file"`
	Mapping          FileMapping            `json:"mapping" doc:"Column of each field, by index from 0; edit it and pass it to the import"`
	DateFormat       string                 `json:"date_format"`
	DecimalSeparator string                 `json:"decimal_separator"`
	AmountSign       string                 `json:"amount_sign"`
	Confidence       string                 `json:"confidence" enum:"high,medium,low"`
	KnownFormat      *string                `json:"known_format"`
	FormatName       *string                `json:"format_name" doc:"The known format, as people call it"`
	InstitutionName  *string                `json:"institution_name" doc:"The bank of the known format"`
	SuggestedAccount *id.ID                 `json:"suggested_account_id" doc:"The only account with the file's number, at its bank, linked ones included; else the only one that files with the same columns were imported into. null: create a new account"`
	Mask             *text.Untrusted        `json:"mask" doc:"Untrusted: the last characters of the file's account number, if it has one; a different mask means a different account"`
	DefaultCurrency  *money.Currency        `json:"default_currency" doc:"For rows without a currency, and for a new account: the account's, else the one that all rows have, else the known format's, else the household's"`
	FirstDate        *string                `json:"first_date" doc:"For the rows that can be read; null if there are none"`
	LastDate         *string                `json:"last_date"`
	RowsTotal        int                    `json:"rows_total" doc:"Transactions, including rejected ones"`
	RowsRejected     int                    `json:"rows_rejected" doc:"Unreadable rows, which would be skipped"`
	RowsSkipped      int                    `json:"rows_skipped" doc:"Lines below the header that are not transactions: pending charges, balances, totals, notes"`
	Sample           []statement.Sample     `json:"sample" doc:"Untrusted: the text comes from the file"`
	Rejected         []LeftOut              `json:"rejected" doc:"The first 20 unreadable rows"`
	Duplicates       *int64                 `json:"duplicates" doc:"Number of rows already stored in the account; null without account_id"`
	Elsewhere        *RowsElsewhere         `json:"elsewhere" doc:"Another account that already has rows of the file, which would count twice; null if there is none"`
	Balance          *FileBalance           `json:"balance" doc:"Result of checking the balance column; null if there is none"`
	Warnings         []statement.Warning    `json:"warnings"`
	Files            []FileMember           `json:"files,omitempty" doc:"The files of a zip file"`
	Accounts         []PreviewAccount       `json:"accounts" doc:"The accounts of the file: often one"`
}

// Preview describes how a file would be read; it stores nothing.
func (s *Statements) Preview(ctx context.Context, q pg.Querier, in PreviewFile) (FilePreview, error) {
	raw, err := content(in.File)
	if err != nil {
		return FilePreview{}, err
	}
	options := either(in.Options, in.FileOptions)
	under, account, currency, err := s.previewed(ctx, q, in.AccountID)
	if err != nil {
		return FilePreview{}, err
	}
	o, err := options.over(nil)
	if err != nil {
		return FilePreview{}, err
	}
	if o.UsualCurrency = currency; in.AccountID != nil && options.DefaultCurrency == nil {
		o.DefaultCurrency = currency
	}
	d, err := s.receive(raw, func(f statement.Format, file io.ReaderAt) (statement.File, error) {
		return f.Open(ctx, file, o)
	})
	if err != nil {
		return FilePreview{}, err
	}
	p := d.files[0].File
	out := d.preview()
	for _, f := range d.files {
		out.Warnings = append(out.Warnings, currencyAssumed(options, f.File, currency)...)
	}
	if in.AccountID == nil && options.DefaultCurrency == nil && p.Currency != "" {
		p.DefaultCurrency = p.Currency // an account for rows in EUR is in EUR, whatever the household's currency
	}
	if p.DefaultCurrency != "" {
		out.DefaultCurrency = &p.DefaultCurrency
	}
	out.known(p)
	if err := s.previewAccounts(ctx, q, in, d, place{under, account, in.AccountID != nil}, &out); err != nil {
		return FilePreview{}, err
	}
	if out.Elsewhere, err = elsewhere(ctx, q, account, d.files); err != nil {
		return FilePreview{}, err
	}
	out.Warnings = append(out.Warnings, countedTwice(out.Elsewhere, out.RowsTotal-out.RowsRejected)...)
	return out, nil
}

// preview fills in what the files alone show.
func (d delivered) preview() FilePreview {
	out := FilePreview{
		Confidence: statement.High, Sample: []statement.Sample{}, Rejected: []LeftOut{}, Files: d.members,
		Warnings: append([]statement.Warning{}, d.warnings()...), Accounts: []PreviewAccount{},
	}
	out.written(d.files[0].File)
	out.Format = d.format()
	for _, f := range d.files {
		out.RowsTotal, out.RowsRejected = out.RowsTotal+f.RowsTotal, out.RowsRejected+f.RowsRejected
		out.RowsSkipped += f.RowsSkipped
		out.Sample = append(out.Sample, f.Sample[:min(len(f.Sample), max(0, sampled-len(out.Sample)))]...)
		out.Confidence = lower(out.Confidence, f.Confidence)
		for _, r := range f.Rejected[:min(len(f.Rejected), 2*sampled-len(out.Rejected))] {
			out.Rejected = append(out.Rejected, LeftOut{r.Row, r.Message})
		}
		if first := f.FirstDate; first != "" && (out.FirstDate == nil || first < *out.FirstDate) {
			out.FirstDate = &first
		}
		if last := f.LastDate; last != "" && (out.LastDate == nil || last > *out.LastDate) {
			out.LastDate = &last
		}
	}
	return out
}

// sampled is how many rows of an archive the preview shows.
const sampled = 10

func lower(a, b string) string {
	order := []string{statement.Low, statement.Medium, statement.High}
	return order[min(slices.Index(order, a), slices.Index(order, b))]
}

// written fills in the encoding, the columns and the signs of a table. Other formats define these.
func (out *FilePreview) written(p statement.File) {
	out.Columns, out.Mapping = []statement.ColumnInfo{}, FileMapping{}
	t := p.Table
	if t == nil {
		return
	}
	out.Encoding, out.Delimiter, out.HeaderRow = t.Encoding, t.Delimiter, t.HeaderRow
	out.DateFormat, out.DecimalSeparator, out.AmountSign = t.DateFormat, t.DecimalSeparator, t.AmountSign
	out.Columns = append(out.Columns, t.Columns...)
	for field, at := range t.Mapping {
		out.Mapping[field] = json.RawMessage(strconv.Itoa(at))
	}
}

// known fills in the recognized bank format, the bank and the account of a file.
func (out *FilePreview) known(p statement.File) {
	if p.KnownFormat != "" {
		out.KnownFormat = &p.KnownFormat
	}
	if p.FormatName != "" {
		out.FormatName = &p.FormatName
	}
	if p.Bank != "" {
		out.InstitutionName = &p.Bank
	}
	if mask := statement.Mask(p.AccountNumber.Plain()); mask != "" {
		out.Mask = new(text.Name(mask))
	}
}

// currencyAssumed warns about a file that states no currency and whose known format implies another
// currency than expected. The account's currency is expected or, if an account would be created,
// the household's.
func currencyAssumed(options FileOptions, p statement.File, expected money.Currency) []statement.Warning {
	if options.DefaultCurrency != nil || p.Assumed == 0 || p.FormatCurrency == "" || p.FormatCurrency == expected {
		return nil
	}
	message := fmt.Sprintf("the file has no currency; rows are read as %s, as is usual for %s files, not as "+
		"%s; set default_currency if this is wrong", p.FormatCurrency, p.Bank, expected)
	if p.DefaultCurrency == expected {
		message = fmt.Sprintf("the file has no currency; rows are read as %s, the account's currency, "+
			"although %s files are usually in %s; set default_currency if this is wrong", expected, p.Bank,
			p.FormatCurrency)
	}
	return []statement.Warning{{Code: "currency_assumed", Message: message}}
}

// previewed returns the account that the caller names for a file, if any, the account into which
// that account was merged, and the currency of rows that state none.
func (s *Statements) previewed(ctx context.Context, q pg.Querier, ref *string) (under, into id.ID,
	currency money.Currency, err error,
) {
	if ref == nil {
		currency, err = usualCurrency(ctx, q)
		return under, into, currency, err
	}
	type row struct {
		ID       id.ID          `db:"id"`
		Currency money.Currency `db:"currency"`
	}
	a, err := pg.One[row](ctx, q, `select id, currency from account
		where (deleted_at is null or merged_into is not null) and (id = $1 or short_id = $2)`, pg.RefTo(*ref).IDArgs()...)
	if err != nil {
		return under, into, "", pg.Named(err, "account_id", "account", "{account.list} lists them")
	}
	into, err = s.accounts.SurvivingOne(ctx, q, a.ID)
	return a.ID, into, a.Currency, err
}

// usualCurrency returns the household's currency for rows that state none.
func usualCurrency(ctx context.Context, q pg.Querier) (money.Currency, error) {
	return pg.Value[money.Currency](ctx, q, `select default_currency from setting`)
}

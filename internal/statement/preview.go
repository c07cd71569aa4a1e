package statement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"coffer/internal/bank/csvfile"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// PreviewFile is the input of Preview.
type PreviewFile struct {
	CSV       op.File      `json:"csv" minLength:"1" format:"file" doc:"The file's text. If it is not UTF-8, send data:text/csv;base64,… in JSON, or the raw file in a body of type text/csv"`
	Options   *FileOptions `json:"options,omitempty" doc:"Known options of the file; in a text/csv request, pass them as query parameters"`
	AccountID *string      `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account the file is for, to count the rows that are already stored: UUID or short id"`
	FileOptions
}

// A FilePreview describes how a file is read.
type FilePreview struct {
	Encoding         string               `json:"encoding"`
	Delimiter        string               `json:"delimiter"`
	HeaderRow        *int                 `json:"header_row" doc:"Counted from 1; null if the file has no header"`
	Columns          []csvfile.ColumnInfo `json:"columns" doc:"Untrusted: names and samples come from the file"`
	Mapping          FileMapping          `json:"mapping" doc:"Column of each field, by index from 0; edit it and pass it to the import"`
	DateFormat       string               `json:"date_format"`
	DecimalSeparator string               `json:"decimal_separator"`
	AmountSign       string               `json:"amount_sign"`
	Confidence       string               `json:"confidence" enum:"high,medium,low"`
	KnownFormat      *string              `json:"known_format"`
	FormatName       *string              `json:"format_name" doc:"The known format, as people call it"`
	InstitutionName  *string              `json:"institution_name" doc:"The bank of the known format"`
	SuggestedAccount *id.ID               `json:"suggested_account_id" doc:"The only account with the file's number, at its bank, linked ones included; null: create a new account"`
	Mask             *text.Untrusted      `json:"mask" doc:"Untrusted: the last characters of the file's account number, if it has one; a different mask means a different account"`
	DefaultCurrency  *money.Currency      `json:"default_currency" doc:"For rows without a currency, and for a new account: the account's, else the one that all rows have, else the known format's, else the household's"`
	FirstDate        *string              `json:"first_date" doc:"For the rows that can be read; null if there are none"`
	LastDate         *string              `json:"last_date"`
	RowsTotal        int                  `json:"rows_total" doc:"Transactions, including rejected ones"`
	RowsRejected     int                  `json:"rows_rejected" doc:"Unreadable rows, which would be skipped"`
	RowsSkipped      int                  `json:"rows_skipped" doc:"Lines below the header that are not transactions: pending charges, balances, totals, notes"`
	Sample           []csvfile.Sample     `json:"sample" doc:"Untrusted: the text comes from the file"`
	Rejected         []LeftOut            `json:"rejected" doc:"The first 20 unreadable rows"`
	Duplicates       *int64               `json:"duplicates" doc:"Number of rows already stored in the account, or reported by its linked bank; null without account_id"`
	Balance          *FileBalance         `json:"balance" doc:"Result of checking the balance column; null if there is none"`
	Warnings         []csvfile.Warning    `json:"warnings"`
}

// Preview describes how a file would be read; it stores nothing.
func (s *Statements) Preview(ctx context.Context, q pg.Querier, in PreviewFile) (FilePreview, error) {
	raw, err := content(in.CSV)
	if err != nil {
		return FilePreview{}, err
	}
	said := either(in.Options, in.FileOptions)
	under, account, currency, err := s.previewed(ctx, q, in.AccountID)
	if err != nil {
		return FilePreview{}, err
	}
	o, err := said.Reading(nil)
	if err != nil {
		return FilePreview{}, err
	}
	if o.UsualCurrency = currency; in.AccountID != nil && said.DefaultCurrency == nil {
		o.DefaultCurrency = currency
	}
	file := bytes.NewReader(raw)
	p, err := csvfile.Inspect(ctx, file, o)
	if err != nil {
		return FilePreview{}, err
	}
	var mapping FileMapping
	printed, err := json.Marshal(p.Mapping)
	if err == nil {
		err = json.Unmarshal(printed, &mapping)
	}
	if err != nil {
		return FilePreview{}, fmt.Errorf("print mapping: %w", err)
	}
	out := FilePreview{
		Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, Columns: p.Columns, Mapping: mapping,
		DateFormat: p.DateFormat, DecimalSeparator: p.DecimalSeparator,
		AmountSign: p.AmountSign, Confidence: p.Confidence, RowsTotal: p.RowsTotal, RowsRejected: p.RowsRejected,
		RowsSkipped: p.RowsSkipped,
		Sample:      p.Sample, Warnings: append(p.Warnings, currencyAssumed(said, p, currency)...),
	}
	if p.Mapping.Balance != nil {
		if out.Balance, err = previewBalance(ctx, file, p); err != nil {
			return FilePreview{}, err
		}
		if !out.Balance.Proved {
			out.Warnings = append(out.Warnings, csvfile.Warning{
				Code: "balance_not_proved",
				Message: "the file's balances don't match the amounts of its rows, or there are too few; " +
					"balances are not stored",
			})
		}
	}
	out.Rejected = []LeftOut{}
	for _, r := range p.Rejected {
		out.Rejected = append(out.Rejected, LeftOut{r.Row, r.Message})
	}
	if in.AccountID == nil && said.DefaultCurrency == nil && p.Currency != "" {
		p.DefaultCurrency = p.Currency // an account for rows in EUR is in EUR, whatever the household's currency
	}
	if p.DefaultCurrency != "" {
		out.DefaultCurrency = &p.DefaultCurrency
	}
	out.known(p)
	if out.SuggestedAccount, err = suggest(ctx, q, p); err != nil {
		return FilePreview{}, err
	}
	if p.FirstDate != "" {
		out.FirstDate, out.LastDate = &p.FirstDate, &p.LastDate
	}
	if in.AccountID == nil {
		return out, nil
	}
	out.Duplicates, err = duplicates(ctx, q, under, account, file, p)
	return out, err
}

// duplicates counts the rows of a file that its account has, or that the account's bank reports.
func duplicates(ctx context.Context, q pg.Querier, under, account id.ID, file *bytes.Reader, p csvfile.Preview) (*int64,
	error,
) {
	ids, err := identify(ctx, q, account, file, p)
	if err != nil {
		return nil, err
	}
	bank, err := reportedOf(ctx, q, under)
	if err != nil || bank == nil {
		return new(ids.Known()), err
	}
	n := int64(0)
	for row, err := range csvfile.Read(ctx, file, p) {
		if _, is := errors.AsType[*csvfile.RowError](err); is {
			continue
		}
		if err != nil {
			return nil, err
		}
		if stored := ids.Next(row).Stored; bank.has(row) || stored {
			n++
		}
	}
	return &n, nil
}

// known fills in the format, the bank and the account of a file.
func (out *FilePreview) known(p csvfile.Preview) {
	if p.KnownFormat != "" {
		out.KnownFormat = &p.KnownFormat
	}
	if p.FormatName != "" {
		out.FormatName = &p.FormatName
	}
	if p.Bank != "" {
		out.InstitutionName = &p.Bank
	}
	if mask := lastDigits(p.AccountNumber.Plain()); mask != "" {
		out.Mask = new(text.Name(mask))
	}
}

// currencyAssumed warns about a file that states no currency and whose known format implies another
// one than expected: the account's or, if an account would be created, the household's.
func currencyAssumed(said FileOptions, p csvfile.Preview, expected money.Currency) []csvfile.Warning {
	if said.DefaultCurrency != nil || p.Assumed == 0 || p.FormatCurrency == "" || p.FormatCurrency == expected {
		return nil
	}
	message := fmt.Sprintf("the file has no currency; rows are read as %s, as is usual for %s files, not as "+
		"%s; set default_currency if this is wrong", p.FormatCurrency, p.Bank, expected)
	if p.DefaultCurrency == expected {
		message = fmt.Sprintf("the file has no currency; rows are read as %s, the account's currency, "+
			"although %s files are usually in %s; set default_currency if this is wrong", expected, p.Bank,
			p.FormatCurrency)
	}
	return []csvfile.Warning{{Code: "currency_assumed", Message: message}}
}

// identify finds the rows of a file among those that an account has on the days of the file,
// including deleted ones.
func identify(ctx context.Context, q pg.Querier, account id.ID, file io.ReaderAt,
	p csvfile.Preview,
) (*csvfile.Identities, error) {
	amounts, err := csvfile.Amounts(ctx, file, p)
	if err != nil {
		return nil, err
	}
	if len(amounts) == 0 {
		return csvfile.Identify(ctx, file, p, nil)
	}
	type row struct {
		Key    string       `db:"provider_id"`
		Date   pg.Date      `db:"date"`
		Amount money.Amount `db:"amount"`
		Name   string       `db:"name"`
	}
	// Live and deleted rows are asked for apart, because each kind has an index and both together
	// have none. A row of another amount is none of the file's, so that a file with one odd date
	// does not bring the whole account here.
	rows, err := pg.All[row](ctx, q, `
		select t.provider_id, t.date, t.amount, d.name
		from (
			select provider_id, date, amount, descriptor_id from transaction
			where account_id = $1 and date between $2::date and $3::date and (amount * 100)::bigint = any($4)
				and deleted_at is null and origin = 'bank'
			union all
			select provider_id, date, amount, descriptor_id from transaction
			where account_id = $1 and date between $2::date and $3::date and (amount * 100)::bigint = any($4)
				and deleted_at is not null and origin = 'bank') t
		join descriptor d on d.id = t.descriptor_id
		order by t.date, t.provider_id`, account, p.FirstDate, p.LastDate, amounts)
	if err != nil {
		return nil, err
	}
	stored := make([]csvfile.Stored, len(rows))
	for i, r := range rows {
		stored[i] = csvfile.Stored{Key: r.Key, Date: r.Date.String(), Cents: r.Amount.Cents(), Name: r.Name}
	}
	return csvfile.Identify(ctx, file, p, stored)
}

// previewed is the account that a file is for, if one is named, the account that it was merged
// into, and the currency of rows that state none.
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

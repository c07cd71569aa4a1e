// Package statement reads the files that banks let people download: what a caller knows of one, how it would be read, and how the next one is to be read alike.
// It stores nothing, and does not know what becomes of the rows; that is feed's.
package statement

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/bank/csvfile"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// FileOptions are what a caller knows about a file; the rest is found out.
type FileOptions struct {
	Encoding         *string                    `json:"encoding,omitempty" minLength:"1" maxLength:"20" doc:"utf-8, utf-16le, utf-16be, windows-1252 or windows-1250"`
	Delimiter        *string                    `json:"delimiter,omitempty" minLength:"1" maxLength:"9" doc:"A comma, semicolon, tab or pipe, as such or by name"`
	HeaderRow        op.Null[int]               `json:"header_row,omitzero" minimum:"0" maximum:"1000" doc:"Counted from 1; 0 or null for none"`
	DateFormat       *string                    `json:"date_format,omitempty" minLength:"1" maxLength:"20" example:"DD/MM/YYYY" doc:"The letters D, M and Y in their order"`
	DecimalSeparator *string                    `json:"decimal_separator,omitempty" pattern:"^[.,]$" hint:"be . or ," doc:"Before the cents: a point or a comma"`
	AmountSign       *string                    `json:"amount_sign,omitempty" enum:"negative_out,positive_out,split,flag" doc:"What tells money out from money in"`
	Mapping          map[string]json.RawMessage `json:"mapping,omitempty" doc:"Which column holds what: date, amount, debit, credit, name, … by index from 0 or by name"`
	DefaultCurrency  *money.Currency            `json:"default_currency,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Of rows that state none"`
}

// Reading is what the file's reader takes, with what the connection remembers where nothing is said.
func (o FileOptions) Reading(remembered []byte) (csvfile.Options, error) {
	var out csvfile.Options
	if remembered != nil {
		if err := json.Unmarshal(remembered, &out); err != nil {
			return out, fmt.Errorf("remembered mapping: %w", err)
		}
	}
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&out.Encoding, o.Encoding)
	set(&out.Delimiter, o.Delimiter)
	set(&out.DateFormat, o.DateFormat)
	set(&out.AmountSign, o.AmountSign)
	set(&out.DecimalSeparator, o.DecimalSeparator)
	if o.HeaderRow.Set {
		out.HeaderRow = new(0)
		if o.HeaderRow.Value != nil {
			out.HeaderRow = o.HeaderRow.Value
		}
	}
	if o.DefaultCurrency != nil {
		out.DefaultCurrency = *o.DefaultCurrency
	}
	if o.Mapping != nil {
		raw, err := json.Marshal(o.Mapping)
		if err != nil {
			return out, fmt.Errorf("print mapping: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		out.Mapping = &csvfile.Mapping{}
		if err := d.Decode(out.Mapping); err != nil {
			return out, errs.Field("mapping", "type", "must name columns by index from 0 or by name, under date, amount, debit, credit, name, merchant_name, category, account, currency, id, balance")
		}
	}
	return out, nil
}

// PreviewFile is the input of Preview.
type PreviewFile struct {
	CSV       string       `json:"csv" minLength:"1" format:"file" doc:"The file's text; a file that is not UTF-8 as data:text/csv;base64,… in JSON, or as it is in a body of type text/csv"`
	Options   *FileOptions `json:"options,omitempty" doc:"What is known about the file; in a text/csv request the same as query parameters"`
	AccountID *string      `json:"account_id,omitempty" minLength:"1" in:"query" doc:"The account that the file is for, to count what is stored already: UUID or short id"`
	FileOptions
}

// A FilePreview is how a file is read.
type FilePreview struct {
	Encoding         string               `json:"encoding"`
	Delimiter        string               `json:"delimiter"`
	HeaderRow        *int                 `json:"header_row" doc:"Counted from 1; null where the file has no header"`
	Columns          []csvfile.ColumnInfo `json:"columns" doc:"Untrusted: names and samples are the file's"`
	Mapping          json.RawMessage      `json:"mapping" object:"any" doc:"Which column holds what, by index from 0; edit it and give it to the import"`
	DateFormat       string               `json:"date_format"`
	DecimalSeparator string               `json:"decimal_separator"`
	AmountSign       string               `json:"amount_sign"`
	Confidence       string               `json:"confidence" enum:"high,medium,low"`
	KnownFormat      *string              `json:"known_format"`
	RowsTotal        int                  `json:"rows_total"`
	RowsRejected     int                  `json:"rows_rejected"`
	RowsSkipped      int                  `json:"rows_skipped"`
	Sample           []csvfile.Sample     `json:"sample" doc:"Untrusted: text is the file's"`
	Duplicates       *int64               `json:"duplicates" doc:"How many rows the account has already; null without account_id"`
	Warnings         []csvfile.Warning    `json:"warnings"`
}

// Content is the file that a caller sent.
func Content(sent string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(sent, "data:text/csv;base64,")
	if !ok {
		return []byte(sent), nil
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errs.Field("csv", "format", "must be text, or data:text/csv;base64, followed by base64")
	}
	return raw, nil
}

// Either is what a caller knows about a file: in an object, as JSON has it, or flat, as a query does.
func Either(object *FileOptions, flat FileOptions) FileOptions {
	if object != nil {
		return *object
	}
	return flat
}

// Preview says how a file would be read, and stores nothing.
func Preview(ctx context.Context, q pg.Querier, in PreviewFile) (FilePreview, error) {
	raw, err := Content(in.CSV)
	if err != nil {
		return FilePreview{}, err
	}
	said := Either(in.Options, in.FileOptions)
	account, currency, err := previewed(ctx, q, in.AccountID)
	if err != nil {
		return FilePreview{}, err
	}
	if said.DefaultCurrency == nil {
		said.DefaultCurrency = &currency
	}
	o, err := said.Reading(nil)
	if err != nil {
		return FilePreview{}, err
	}
	file := bytes.NewReader(raw)
	p, err := csvfile.Inspect(file, o)
	if err != nil {
		return FilePreview{}, err
	}
	mapping, err := json.Marshal(p.Mapping)
	if err != nil {
		return FilePreview{}, fmt.Errorf("print mapping: %w", err)
	}
	out := FilePreview{
		Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, Columns: p.Columns, Mapping: mapping, DateFormat: p.DateFormat, DecimalSeparator: p.DecimalSeparator,
		AmountSign: p.AmountSign, Confidence: p.Confidence, RowsTotal: p.RowsTotal, RowsRejected: p.RowsRejected, RowsSkipped: p.RowsSkipped,
		Sample: p.Sample, Warnings: p.Warnings,
	}
	if p.KnownFormat != "" {
		out.KnownFormat = &p.KnownFormat
	}
	if in.AccountID == nil {
		return out, nil
	}
	var prints csvfile.Fingerprints
	var marks []string
	for row, err := range csvfile.Read(file, p) {
		if _, no := errors.AsType[*csvfile.RowError](err); no {
			continue
		}
		if err != nil {
			return FilePreview{}, err
		}
		marks = append(marks, prints.Of(row))
	}
	n, err := pg.Value[int64](ctx, q, `select count(*) from transaction where account_id = $1 and provider_id = any($2)`, account, marks)
	out.Duplicates = &n
	return out, err
}

// previewed is the account that a file is for, if one is named, and the currency of rows that state none.
func previewed(ctx context.Context, q pg.Querier, ref *string) (id.ID, money.Currency, error) {
	if ref == nil {
		usual, err := UsualCurrency(ctx, q)
		return id.ID{}, usual, err
	}
	type row struct {
		ID       id.ID          `db:"id"`
		Currency money.Currency `db:"currency"`
	}
	a, err := pg.One[row](ctx, q, `select id, currency from account where id = $1 or short_id = $2`, pg.RefTo(*ref).IDArgs()...)
	return a.ID, a.Currency, pg.Named(err, "account_id", "account", "GET /api/v1/accounts lists them")
}

// UsualCurrency is the household's currency of rows that state none.
func UsualCurrency(ctx context.Context, q pg.Querier) (money.Currency, error) {
	return pg.Value[money.Currency](ctx, q, `select default_currency from setting`)
}

// Settle is how the file is read, in full. Columns go by their names where the file has them, so that a bank which moves its columns is noticed and not misread.
func Settle(o csvfile.Options, p csvfile.Preview) ([]byte, error) {
	o.Encoding, o.Delimiter, o.HeaderRow, o.DateFormat, o.DecimalSeparator, o.AmountSign, o.Mapping = p.Encoding, p.Delimiter, p.HeaderRow, p.DateFormat, p.DecimalSeparator, p.AmountSign, &p.Mapping
	if o.HeaderRow == nil {
		o.HeaderRow = new(0)
	} else {
		named := map[string]int{}
		for _, c := range p.Columns {
			named[c.Name.Plain()]++
		}
		raw, err := json.Marshal(p.Mapping)
		if err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		places := map[string]int{}
		if err := json.Unmarshal(raw, &places); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		words := map[string]any{}
		for field, at := range places {
			words[field] = at
			if at < len(p.Columns) {
				if name := p.Columns[at].Name.Plain(); name != "" && named[name] == 1 {
					words[field] = name
				}
			}
		}
		if raw, err = json.Marshal(words); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
		o.Mapping = &csvfile.Mapping{}
		if err := json.Unmarshal(raw, o.Mapping); err != nil {
			return nil, fmt.Errorf("print mapping: %w", err)
		}
	}
	settled, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("print options: %w", err)
	}
	return settled, nil
}

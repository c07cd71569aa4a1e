package csv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
)

// Format accepts any file, because nothing marks a table of text. So it must be the last format of
// the list.
var Format = statement.Format{
	Name: "csv", Title: "CSV",
	Detect: func([]byte) bool { return true },
	Inspect: func(ctx context.Context, file io.ReaderAt, o statement.Options) (statement.Preview, error) {
		own, err := parseOptions(o)
		if err != nil {
			return statement.Preview{}, err
		}
		p, err := Inspect(ctx, file, own)
		if err != nil {
			return statement.Preview{}, err
		}
		return p.statement()
	},
	Read: func(ctx context.Context, file io.ReaderAt, p statement.Preview) iter.Seq2[statement.Row, error] {
		understood, ok := p.Plan.(*plan)
		if !ok {
			return func(yield func(statement.Row, error) bool) {
				yield(statement.Row{}, fmt.Errorf("csv: the preview of another format (%T)", p.Plan))
			}
		}
		return understood.read(ctx, file)
	},
}

// parseOptions reads the options of the caller and of earlier files.
func parseOptions(o statement.Options) (Options, error) {
	out := Options{DefaultCurrency: o.DefaultCurrency, UsualCurrency: o.UsualCurrency}
	for name, to := range map[string]any{
		"encoding": &out.Encoding, "delimiter": &out.Delimiter, "header_row": &out.HeaderRow,
		"date_format": &out.DateFormat, "decimal_separator": &out.DecimalSeparator, "amount_sign": &out.AmountSign,
	} {
		raw, ok := o.Own[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return out, fmt.Errorf("read the option %s: %w", name, err)
		}
	}
	if raw, ok := o.Own["mapping"]; ok {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		out.Mapping = &Mapping{}
		if err := d.Decode(out.Mapping); err != nil {
			return out, errs.Field("mapping", "type",
				"must name columns by index from 0 or by name, under date, amount, debit, credit, name, "+
					"merchant_name, category, account, currency, id, balance")
		}
	}
	return out, nil
}

// statement converts the preview to the type of the contract.
func (p Preview) statement() (statement.Preview, error) {
	out := p.Preview
	out.Plan, out.Balances = &p.plan, p.Mapping.Balance != nil
	out.Table = &statement.Table{
		Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, Columns: p.Columns,
		Mapping: map[string]int{}, DateFormat: p.DateFormat, DecimalSeparator: p.DecimalSeparator,
		AmountSign: p.AmountSign,
	}
	for _, s := range p.Mapping.slots() {
		if *s.column != nil {
			out.Table.Mapping[s.name] = (*s.column).Index
		}
	}
	var err error
	out.Settled, err = p.settled()
	return out, err
}

// settled returns the complete options for reading the file. Columns with unique names are
// identified by name. So if a bank moves its columns, they are still found and not misread.
func (p Preview) settled() (statement.Own, error) {
	o := Options{
		Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, DateFormat: p.DateFormat,
		DecimalSeparator: p.DecimalSeparator, AmountSign: p.AmountSign,
	}
	m := p.Mapping
	if o.Mapping = &m; o.HeaderRow == nil {
		o.HeaderRow = new(0)
	} else {
		named := map[string]int{}
		for _, c := range p.Columns {
			named[c.Name.Plain()]++
		}
		for _, s := range m.slots() {
			if *s.column == nil || (*s.column).Index >= len(p.Columns) {
				continue
			}
			if name := p.Columns[(*s.column).Index].Name.Plain(); name != "" && named[name] == 1 {
				*s.column = Named(name)
			}
		}
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("print the options: %w", err)
	}
	var out statement.Own
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("print the options: %w", err)
	}
	return out, nil
}

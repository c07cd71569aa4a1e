package statement

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"coffer/internal/bank/csvfile"
	"coffer/internal/errs"
	"coffer/internal/money"
	"coffer/internal/op"
)

// A FileMapping says which column holds which field.
type FileMapping map[string]json.RawMessage

// Spell shows the fields in the OpenAPI document; the reader of the file validates them.
func (FileMapping) Spell() []op.Member {
	var fields op.Tree
	for _, name := range csvfile.MappingFields() {
		fields.Add(name, op.Tree{{Key: "type", Value: []string{"integer", "string"}}})
	}
	return []op.Member{{Key: "FileMapping", Value: op.Tree{
		{Key: "type", Value: "object"},
		{Key: "description", Value: "Which column holds which field, by index from 0 or by name"},
		{Key: "properties", Value: fields},
		{Key: "additionalProperties", Value: false},
	}}}
}

// FileOptions are the caller's options for a file; the rest is detected.
type FileOptions struct {
	Encoding         *string         `json:"encoding,omitempty" minLength:"1" maxLength:"20" doc:"utf-8, utf-16le, utf-16be, windows-1252 or windows-1250"`
	Delimiter        *string         `json:"delimiter,omitempty" minLength:"1" maxLength:"9" doc:"Comma, semicolon, tab or pipe, as the character or its name"`
	HeaderRow        op.Null[int]    `json:"header_row,omitzero" minimum:"0" maximum:"1000" doc:"Counted from 1; 0 or null means no header"`
	DateFormat       *string         `json:"date_format,omitempty" minLength:"1" maxLength:"20" example:"DD/MM/YYYY" doc:"The letters D, M and Y in the order of the dates"`
	DecimalSeparator *string         `json:"decimal_separator,omitempty" pattern:"^[.,]$" hint:"be . or ," doc:"The decimal separator: a point or a comma"`
	AmountSign       *string         `json:"amount_sign,omitempty" enum:"negative_out,positive_out,split,flag" doc:"How the file marks money out and money in"`
	Mapping          FileMapping     `json:"mapping,omitempty" doc:"Column of each field: date, amount, debit, credit, name, …, by index from 0 or by name"`
	DefaultCurrency  *money.Currency `json:"default_currency,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"For rows without a currency"`
}

// Reading returns the reader's options, completed with what the connection remembers.
func (o FileOptions) Reading(remembered []byte) (csvfile.Options, error) {
	var out csvfile.Options
	if remembered != nil {
		if err := json.Unmarshal(remembered, &out); err != nil {
			return out, fmt.Errorf("stored mapping: %w", err)
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
			return out, errs.Field("mapping", "type",
				"must name columns by index from 0 or by name, under date, amount, debit, credit, name, "+
					"merchant_name, category, account, currency, id, balance")
		}
	}
	return out, nil
}

// content returns the file that a caller sent.
func content(sent op.File) ([]byte, error) {
	encoded, ok := bytes.CutPrefix(sent, []byte("data:text/csv;base64,"))
	if !ok {
		return sent, nil
	}
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(encoded)))
	n, err := base64.StdEncoding.Decode(raw, encoded)
	raw = raw[:n]
	if err != nil {
		return nil, errs.Field("csv", "format", "must be text, or data:text/csv;base64, followed by base64")
	}
	return raw, nil
}

// either accepts what a caller knows about a file: as an object, in JSON, or flat, in a query.
func either(object *FileOptions, flat FileOptions) FileOptions {
	if object != nil {
		return *object
	}
	return flat
}

// settledOptions returns the complete options for reading the file. Columns are identified by name
// if the file has names, so that a bank that moves its columns is noticed and not misread.
func settledOptions(o csvfile.Options, p csvfile.Preview) ([]byte, error) {
	o.Encoding, o.Delimiter, o.HeaderRow = p.Encoding, p.Delimiter, p.HeaderRow
	o.DateFormat, o.DecimalSeparator, o.AmountSign = p.DateFormat, p.DecimalSeparator, p.AmountSign
	o.Mapping = &p.Mapping
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

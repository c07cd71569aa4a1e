package statement

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
)

// A FileMapping says which column holds which field.
type FileMapping map[string]json.RawMessage

// Spell shows the fields in the OpenAPI document; the reader of the file validates them.
func (FileMapping) Spell() []op.Member {
	var fields op.Tree
	for _, name := range statement.TableFields {
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
	LedgerBalance    *string         `json:"ledger_balance,omitempty" enum:"after,before" doc:"Whether the balance of an OFX file is the one after its transactions, as it should be, or before them"`
}

// over returns the options for a format: the caller's options, and the connection's remembered ones
// for the rest.
func (o FileOptions) over(remembered statement.Own) (statement.Options, error) {
	out := statement.Options{Own: maps.Clone(remembered)}
	if o.DefaultCurrency != nil {
		out.DefaultCurrency = *o.DefaultCurrency
		o.DefaultCurrency = nil
	}
	if o.HeaderRow.Set && o.HeaderRow.Value == nil {
		o.HeaderRow.Value = new(0)
	}
	printed, err := json.Marshal(o)
	if err != nil {
		return out, fmt.Errorf("print options: %w", err)
	}
	if err := json.Unmarshal(printed, &out.Own); err != nil {
		return out, fmt.Errorf("print options: %w", err)
	}
	if o.Mapping != nil && len(o.Mapping) == 0 { // omitted above; it means that no column is named
		out.Own["mapping"] = json.RawMessage("{}")
	}
	return out, nil
}

// A reading describes how a file was read: the format's own options, the format's name and the
// currency. It is stored with a connection for its next file, and with an import job.
type reading struct {
	Format   string // "" if stored before there were several formats; then it is the format that takes any file
	Currency money.Currency
	Heads    []string         // the names of the columns, by which the next file is recognized
	Into     map[string]id.ID // the accounts that files went into, by digests of the numbers in the files
	Own      statement.Own
}

const (
	formatKey   = "format"
	currencyKey = "default_currency"
	headsKey    = "heads"
	intoKey     = "into"
)

// MarshalJSON prints all parts in one object.
func (r reading) MarshalJSON() ([]byte, error) {
	all := map[string]any{formatKey: r.Format}
	for k, v := range r.Own {
		all[k] = v
	}
	if r.Currency != "" {
		all[currencyKey] = r.Currency
	}
	if len(r.Heads) > 0 {
		all[headsKey] = r.Heads
	}
	if len(r.Into) > 0 {
		all[intoKey] = r.Into
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the object.
func (r *reading) UnmarshalJSON(raw []byte) error {
	*r = reading{}
	if err := json.Unmarshal(raw, &r.Own); err != nil {
		return fmt.Errorf("stored options: %w", err)
	}
	for key, to := range map[string]any{
		formatKey: &r.Format, currencyKey: &r.Currency, headsKey: &r.Heads, intoKey: &r.Into,
	} {
		if v, ok := r.Own[key]; ok {
			if err := json.Unmarshal(v, to); err != nil {
				return fmt.Errorf("stored options: %w", err)
			}
			delete(r.Own, key)
		}
	}
	return nil
}

// ownOf returns the options that a reading has for a format, or nil if the reading is of another
// format.
func (s *Statements) ownOf(r reading, f statement.Format) statement.Own {
	if r.Format == f.Name || r.Format == "" && f.Name == s.formats[len(s.formats)-1].Name {
		return r.Own
	}
	return nil
}

// content returns the file that a caller sent.
func content(sent op.File) ([]byte, error) {
	head, encoded, ok := bytes.Cut(sent, []byte(";base64,"))
	if !ok || len(head) > 100 || !bytes.HasPrefix(head, []byte("data:")) {
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

// either returns the options that a caller sent: as an object in JSON, or else flat in a query.
func either(object *FileOptions, flat FileOptions) FileOptions {
	if object != nil {
		return *object
	}
	return flat
}

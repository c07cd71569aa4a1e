package ledger

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A fieldSet holds the fields of a transaction that are shown: one bit for each of columns.
type fieldSet uint64

const (
	minimalFields = "date,amount,iso_currency_code,name"
	coreFields    = minimalFields + ",account_id,account_name,merchant_name,category,tags,counterparty_name,pending"
	reviewFields  = coreFields + ",detail,category_source"
	allFields     = fieldSet(1<<64 - 1)
)

// fieldsNamed parses a list of fields; "" means all.
func fieldsNamed(list string) (fieldSet, error) {
	var set fieldSet
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); name {
		case "", "all":
			if list == "" || name == "all" {
				return allFields, nil
			}
		case "id", "short_id": // always included
		case "minimal", "core", "review":
			more, _ := fieldsNamed(map[string]string{
				"minimal": minimalFields, "core": coreFields, "review": reviewFields,
			}[name]) // each of these fields exists
			set |= more
		default:
			i := fieldIndex(name)
			if i < 0 {
				return 0, op.NoField(name, "transactions", []string{"minimal", "core", "review", "all"}, fieldNames())
			}
			set |= 1 << i
		}
	}
	if set&(1<<fieldIndex("amount")) != 0 { // an amount without its currency would be added to others
		set |= 1 << fieldIndex("iso_currency_code")
	}
	return set, nil
}

func fieldNames() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

func fieldIndex(name string) int {
	return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
}

// appendJSON appends the chosen fields as a JSON object. If short is set, as for tools, it prints
// short ids and omits short_id, which would repeat one.
func (t *Transaction) appendJSON(b []byte, fields fieldSet, short bool) []byte {
	b = append(b, `{"id":`...)
	b = appendID(b, &t.ID, short)
	if t.ShortID != "" && !short {
		b = append(b, `,"short_id":`...)
		b = text.AppendJSON(b, t.ShortID)
	}
	for i := alwaysShown; i < len(columns); i++ {
		if fields&(1<<i) != 0 {
			b = append(b, ',', '"')
			b = append(b, columns[i].name...)
			b = append(b, '"', ':')
			if short {
				b = columns[i].tool(b, t)
			} else {
				b = columns[i].json(b, t)
			}
		}
	}
	if short && t.Excluded && fields&(1<<excludedField()) == 0 { // always shown, because no total counts it
		b = append(b, `,"excluded":true`...)
	}
	if short && t.ExcludedReason != nil && fields&(1<<reasonField()) == 0 { // shown for the same reason
		b = text.AppendJSON(append(b, `,"excluded_reason":`...), *t.ExcludedReason)
	}
	return append(b, '}')
}

var reasonField = sync.OnceValue(func() int { return fieldIndex("excluded_reason") })

var excludedField = sync.OnceValue(func() int { return fieldIndex("excluded") })

// MarshalJSON implements json.Marshaler.
func (t Transactions) MarshalJSON() ([]byte, error) { return t.appendJSON(nil, false), nil }

// ShortJSON is MarshalJSON for tools, with short ids.
func (t Transactions) ShortJSON() ([]byte, error) { return t.appendJSON(nil, true), nil }

// AppendJSON appends the page's JSON.
func (t Transactions) AppendJSON(b []byte) []byte { return t.appendJSON(b, false) }

func (t Transactions) appendJSON(b []byte, short bool) []byte {
	if b == nil {
		b = make([]byte, 0, 1100*len(t.Transactions)+100)
	}
	b = append(b, `{"transactions":[`...)
	for i := range t.Transactions {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.Transactions[i].appendJSON(b, t.fields, short)
	}
	b = append(b, `],"next_cursor":`...)
	b = text.AppendJSON(b, t.NextCursor)
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, t.HasMore)
	if t.Count != nil {
		b = strconv.AppendInt(append(b, `,"count":`...), *t.Count, 10)
	}
	if totals, err := json.Marshal(t.Totals); err == nil && t.Totals != nil {
		b = append(append(b, `,"totals":`...), totals...)
	}
	if len(t.Notes) > 0 {
		notes, _ := json.Marshal(t.Notes) //nolint:errchkjson // texts always encode
		b = append(append(b, `,"notes":`...), notes...)
	}
	if t.table {
		return op.Tabled(append(b, '}'), "transactions")
	}
	return append(b, '}')
}

// cut shortens the page so that its JSON has at most that many bytes, and reports whether it did.
// At least one row stays.
func (t *Transactions) cut(limit int) bool {
	var b []byte
	for i := range t.Transactions {
		b = append(t.Transactions[i].appendJSON(b, t.fields, true), ',')
		if len(b) > limit && i > 0 {
			t.Transactions, t.HasMore = t.Transactions[:i], true
			return true
		}
	}
	return false
}

func appendID(b []byte, u *id.ID, short bool) []byte {
	switch {
	case u == nil:
		return append(b, "null"...)
	case short:
		return append(append(append(b, '"'), u.Short()...), '"')
	}
	return append(u.Append(append(b, '"')), '"')
}

func appendDate(b []byte, d pg.Date) []byte { return append(d.Append(append(b, '"')), '"') }

func appendTime(b []byte, t pg.Time) []byte { return append(t.Append(append(b, '"')), '"') }

func appendUntrusted(b []byte, t text.Untrusted) []byte { return text.AppendJSON(b, t.Plain()) }

package ledger

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// A fieldSet is which fields of a transaction are shown: one bit for each of transactionFields.
type fieldSet uint64

// transactionFields are the fields that can be chosen, in the order of the record, each with its
// JSON. Encoding by reflection costs a quarter of a page's throughput; a test holds this against
// encoding/json, byte for byte.
var transactionFields = []struct {
	name string
	json func([]byte, *Transaction) []byte
	id   func(*Transaction) *id.ID // in place of json: tools get it short
}{
	{name: "account_id", id: func(t *Transaction) *id.ID { return &t.AccountID }},
	{name: "account_name", json: func(b []byte, t *Transaction) []byte {
		return appendText(b, t.AccountName.Plain())
	}},
	{name: "connection_id", id: func(t *Transaction) *id.ID { return t.ConnectionID }},
	{name: "provider", json: func(b []byte, t *Transaction) []byte { return appendText(b, string(t.Provider)) }},
	{name: "user_id", id: func(t *Transaction) *id.ID { return t.UserID }},
	{name: "user_name", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.UserName, appendText)
	}},
	{name: "date", json: func(b []byte, t *Transaction) []byte { return appendDate(b, t.Date) }},
	{name: "authorized_date", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.AuthorizedDate,
			appendDate)
	}},
	{name: "datetime", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.Datetime, appendTime)
	}},
	{name: "amount", json: func(b []byte, t *Transaction) []byte { return t.Amount.Append(b) }},
	{name: "iso_currency_code", json: func(b []byte, t *Transaction) []byte {
		return appendText(b, string(t.Currency))
	}},
	{name: "name", json: func(b []byte, t *Transaction) []byte { return appendText(b, t.Name.Plain()) }},
	{name: "merchant_name", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.MerchantName,
			appendUntrusted)
	}},
	{name: "category_primary", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.CategoryPrimary,
			appendUntrusted)
	}},
	{name: "category_detailed", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.CategoryDetailed, appendUntrusted)
	}},
	{name: "category", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.Category, appendText)
	}},
	{name: "category_id", id: func(t *Transaction) *id.ID { return t.CategoryID }},
	{name: "category_display_name", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.CategoryDisplayName,
			appendText)
	}},
	{name: "category_source", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.CategorySource,
			appendText)
	}},
	{name: "counterparty_id", id: func(t *Transaction) *id.ID { return t.CounterpartyID }},
	{name: "counterparty_name", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.CounterpartyName, appendUntrusted)
	}},
	{name: "tags", json: func(b []byte, t *Transaction) []byte { return appendList(b, t.Tags) }},
	{name: "pending", json: func(b []byte, t *Transaction) []byte { return strconv.AppendBool(b, t.Pending) }},
	{name: "payment_channel", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.PaymentChannel,
			appendText)
	}},
	{name: "comment_count", json: func(b []byte, t *Transaction) []byte {
		return strconv.AppendInt(b, int64(t.CommentCount), 10)
	}},
	{name: "linked_transaction_id", id: func(t *Transaction) *id.ID { return t.LinkedTransactionID }},
	{name: "excluded", json: func(b []byte, t *Transaction) []byte { return strconv.AppendBool(b, t.Excluded) }},
	{name: "deleted_at", json: func(b []byte, t *Transaction) []byte {
		return appendOptional(b, t.DeletedAt, appendTime)
	}},
	{name: "created_at", json: func(b []byte, t *Transaction) []byte { return appendTime(b, t.CreatedAt) }},
	{name: "updated_at", json: func(b []byte, t *Transaction) []byte { return appendTime(b, t.UpdatedAt) }},
}

const (
	minimalFields = "date,amount,iso_currency_code,name"
	coreFields    = minimalFields + ",account_id,account_name,merchant_name,category,tags,counterparty_name,pending"
	allFields     = fieldSet(1<<64 - 1)
)

// fieldsNamed reads a choice of fields; "" is all.
func fieldsNamed(list string) (fieldSet, error) {
	var set fieldSet
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); name {
		case "", "all":
			if list == "" || name == "all" {
				return allFields, nil
			}
		case "id", "short_id": // they always come
		case "minimal", "core":
			of := map[string]string{"minimal": minimalFields, "core": coreFields}[name]
			more, err := fieldsNamed(of)
			if err != nil {
				return 0, err
			}
			set |= more
		default:
			i := fieldIndex(name)
			if i < 0 {
				return 0, errs.Field("fields", "enum",
					"names a field that transactions do not have; use minimal, core, all or field names of a "+
						"transaction")
			}
			set |= 1 << i
		}
	}
	return set, nil
}

func fieldIndex(name string) int {
	for i, f := range transactionFields {
		if f.name == name {
			return i
		}
	}
	return -1
}

// appendJSON appends the chosen fields as a JSON object. Short is for tools: ids are printed short,
// and short_id, which would repeat one, is left out.
func (t *Transaction) appendJSON(b []byte, fields fieldSet, short bool) []byte {
	b = append(b, `{"id":`...)
	b = appendID(b, &t.ID, short)
	if t.ShortID != "" && !short {
		b = append(b, `,"short_id":`...)
		b = appendText(b, t.ShortID)
	}
	for i := range transactionFields {
		if fields&(1<<i) != 0 {
			b = append(b, ',', '"')
			b = append(b, transactionFields[i].name...)
			b = append(b, '"', ':')
			if of := transactionFields[i].id; of != nil {
				b = appendID(b, of(t), short)
			} else {
				b = transactionFields[i].json(b, t)
			}
		}
	}
	return append(b, '}')
}

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
	b = appendText(b, t.NextCursor)
	b = append(b, `,"has_more":`...)
	b = strconv.AppendBool(b, t.HasMore)
	if t.Count != nil {
		b = strconv.AppendInt(append(b, `,"count":`...), *t.Count, 10)
	}
	for i, n := range t.Notes {
		b = append(b, []string{`,"notes":[`, `,`}[min(i, 1)]...)
		b = appendText(append(b, `{"code":`...), n.Code)
		b = append(appendText(append(b, `,"message":`...), n.Message), '}')
	}
	if len(t.Notes) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// cut ends the page where its JSON would pass that many bytes, and reports whether it did; at least
// one row stays.
func (t *Transactions) cut(most int) bool {
	var b []byte
	for i := range t.Transactions {
		b = t.Transactions[i].appendJSON(b, t.fields, false)
		if len(b) > most && i > 0 {
			t.Transactions, t.HasMore = t.Transactions[:i], true
			return true
		}
	}
	return false
}

func appendOptional[T any](b []byte, v *T, one func([]byte, T) []byte) []byte {
	if v == nil {
		return append(b, "null"...)
	}
	return one(b, *v)
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

func appendUntrusted(b []byte, t text.Untrusted) []byte { return appendText(b, t.Plain()) }

func appendList(b []byte, list []string) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return append(b, ']')
}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string as encoding/json does, with what means something to HTML
// escaped.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[start:i]...), `\ufffd`...)
				start = i + size
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, s[start:i]...), `\u202`...)
				b = append(b, hexDigits[r&0xf])
				start = i + size
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

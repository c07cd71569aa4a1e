package bank

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// NewBad makes a bad row from the received data and the ids that could be read in it.
func NewBad(row []byte, id, account string, why Reason) Bad {
	b := Bad{Reason: why, Raw: NewRaw(row)}
	if IsID(id) {
		b.ProviderID = id
	}
	if IsID(account) {
		b.AccountID = account
	}
	return b
}

// Latest keeps only the last row of each id, because a page must contain a row once. The order
// stays.
func Latest(rows []Transaction) []Transaction {
	type key struct{ account, id string }
	last := make(map[key]int, len(rows))
	for i, t := range rows {
		last[key{t.AccountID, t.ProviderID}] = i
	}
	if len(last) == len(rows) {
		return rows
	}
	out := rows[:0]
	for i, t := range rows {
		if last[key{t.AccountID, t.ProviderID}] == i {
			out = append(out, t)
		}
	}
	return out
}

// StringField returns a field of an unreadable row, or "" if the field is not a string.
func StringField(row []byte, name string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(row, &fields) // a value that is not an object has no fields
	var s OptionalString
	_ = json.Unmarshal(fields[name], &s)
	return string(s)
}

// An OptionalString is empty if a provider sends anything but a string: a wrong optional field must
// not make a row unreadable.
type OptionalString string

// UnmarshalJSON implements json.Unmarshaler.
func (l *OptionalString) UnmarshalJSON(b []byte) error {
	// Nearly all strings need no decoding. Decoding each of them would take half the time of
	// reading a page.
	if n := len(b) - 1; n > 0 && b[0] == '"' && b[n] == '"' && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		*l = OptionalString(b[1:n])
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = ""
	}
	*l = OptionalString(s)
	return nil
}

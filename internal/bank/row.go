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

// Latest keeps the last row of each id, in order: a page names a row once.
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

// An OptionalString is empty if a provider sends anything but a string: an optional field must not
// make a row unreadable.
type OptionalString string

// UnmarshalJSON implements json.Unmarshaler.
func (l *OptionalString) UnmarshalJSON(b []byte) error {
	// as it stands, and nearly always: a decoder for each text of each row would be half of reading
	// a page
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

package bank

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

const (
	noCredentials = "[credentials]"
	noRow         = "[row]"
)

// MaxRaw is the maximum size of a stored bad row, in bytes.
const MaxRaw = 16 << 10

// Credentials are a provider's secrets for a connection, as JSON that only the provider
// understands. They are stored sealed. Formatting, logging or encoding them writes a placeholder.
type Credentials json.RawMessage

// Open reads stored credentials into out. It returns an error if they are of another kind or
// incomplete.
func (c Credentials) Open(provider string, out any, complete func() bool) error {
	if json.Unmarshal(c, out) == nil && complete() {
		return nil
	}
	return &Error{
		Provider: provider, Class: Ours, Code: "CREDENTIALS",
		Advice: "the stored credentials can't be read; connect the bank again",
	}
}

func (c Credentials) String() string { return noCredentials }

// Format writes the placeholder for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, noCredentials) }

// LogValue keeps the credentials out of logs.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(noCredentials) }

// MarshalJSON keeps the credentials out of responses.
func (c Credentials) MarshalJSON() ([]byte, error) { return []byte(`"` + noCredentials + `"`), nil }

// A Raw is an unmodified row with the bank's text. It is for the quarantine and for [Rereader]
// only.
type Raw []byte

func (r Raw) String() string { return noRow }

// Format writes the placeholder for every verb.
func (r Raw) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, noRow) }

// LogValue keeps the row out of logs.
func (r Raw) LogValue() slog.Value { return slog.StringValue(noRow) }

// MarshalJSON keeps the row out of responses.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(`"` + noRow + `"`), nil }

// NewRaw copies a row; if the row is too large, the copy is empty.
func NewRaw(row []byte) Raw {
	if len(row) > MaxRaw {
		return nil
	}
	return append(Raw(nil), row...)
}

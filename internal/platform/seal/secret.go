package seal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[secret]"

// A Secret is a string that must not be printed: a token, a password, a key. Everything that
// formats, logs or encodes it gets a placeholder; only [Secret.Reveal] returns it. The zero value
// is empty.
type Secret struct {
	p *string // behind a pointer, because fmt prints unexported fields without asking their methods
}

// NewSecret wraps s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal returns the secret itself.
func (s Secret) Reveal() string {
	if s.p == nil {
		return ""
	}
	return *s.p
}

// IsZero reports whether the secret is empty.
func (s Secret) IsZero() bool { return s.p == nil }

func (s Secret) String() string { return redacted }

// Format writes the placeholder for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue keeps the secret out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON keeps the secret out of responses.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText keeps the secret out of the other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText reads a secret from an environment variable or from a provider's JSON.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// Value fails: a query argument would store the placeholder instead of the secret, or the secret in
// clear text.
func (s Secret) Value() (driver.Value, error) {
	return nil, errors.New("a secret must be stored sealed: pass Ring.Seal's result to the query")
}

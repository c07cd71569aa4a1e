package bank

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/internal/platform/errs"
)

// A Class determines how to handle a failure.
type Class uint8

const (
	// Later is a failure that passes: of the network, the provider or the bank.
	Later Class = iota
	// Reauth needs the member to sign in at the bank again.
	Reauth
	// Permanent will not pass: the connection is gone or was never possible.
	Permanent
	// Ours is a mistake in coffer or in its configuration; no member can mend it.
	Ours
)

var classes = [...]string{Later: "later", Reauth: "reauth", Permanent: "permanent", Ours: "ours"}

func (c Class) String() string { return classes[c] }

// Codes of failures that no provider reported.
const (
	CodeTimeout   = "TIMEOUT"   // no answer in time
	CodeNetwork   = "NETWORK"   // no answer
	CodeMalformed = "MALFORMED" // an answer that is not what the protocol says, or larger than it can be
	CodeAddress   = "ADDRESS"   // an address in credentials that leads into the home network
	CodeUnknown   = "UNKNOWN"   // an answer that names no code of a provider's shape
)

// An Error is a classified failure. Its messages never contain a body, a secret or the provider's
// words; errs.Public turns it into PROVIDER_ERROR or PROVIDER_TIMEOUT, with Advice as the message.
type Error struct {
	Provider   string
	Class      Class
	Code       string        // the provider's or one of ours: stable, of letters, dots and underscores
	Advice     string        // what a person can do, in our words
	RetryAfter time.Duration // of Later: how long to wait at least; 0 leaves it to the caller
	Revoked    bool          // of Permanent: access has ended for good, so the credentials are worth nothing
	Status     int           // of the answer; 0 where none came
	RequestID  string        // what the provider's support asks for; "" if unknown
	Cause      error         // of the network; nil where the provider answered
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%s)", e.Provider, e.Code, e.Class)
	if e.RequestID != "" {
		s += " request " + e.RequestID
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap returns the public error and the cause.
func (e *Error) Unwrap() []error {
	code := errs.ProviderError
	if e.Code == CodeTimeout {
		code = errs.ProviderTimeout
	}
	out := []error{errs.New(code, "%s", e.Advice)}
	if e.Cause != nil {
		out = append(out, e.Cause)
	}
	return out
}

// Classify finds the Error in err. Any other error, such as a context that ended, is Later: it says
// nothing about the connection.
func Classify(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Class: Later, Code: CodeUnknown, Advice: "try again later", Cause: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Code = CodeTimeout
	}
	return e
}

// Code returns s if it has the shape of a code, else [CodeUnknown]: codes are shown where untrusted
// text must not be. No provider's code has digits, and every token has, so a response that repeats
// a token in place of a code is rejected.
func Code(s string) string {
	if s == "" || len(s) > 96 {
		return CodeUnknown
	}
	for _, b := range []byte(s) {
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		if !letter && b != '.' && b != '_' {
			return CodeUnknown
		}
	}
	return s
}

// ErrForged is what a [Webhooker] returns for an event that the provider did not sign, or did not
// sign recently.
var ErrForged = errs.New(errs.InvalidSignature, "this webhook event is not signed by the provider")

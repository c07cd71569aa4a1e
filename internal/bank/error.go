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
	// Later is a temporary failure of the network, the provider or the bank.
	Later Class = iota
	// Reauth means that the member must sign in at the bank again.
	Reauth
	// Permanent means that a retry is useless: the connection is gone or was never possible.
	Permanent
	// Ours is a mistake in coffer or in its configuration. A member cannot fix it.
	Ours
)

var classes = [...]string{Later: "later", Reauth: "reauth", Permanent: "permanent", Ours: "ours"}

func (c Class) String() string { return classes[c] }

// Codes of failures that no provider reported.
const (
	CodeTimeout   = "TIMEOUT"   // no response in time
	CodeNetwork   = "NETWORK"   // no response
	CodeMalformed = "MALFORMED" // the response violates the protocol or is too large
	CodeAddress   = "ADDRESS"   // an address in the credentials that is not public
	CodeUnknown   = "UNKNOWN"   // an error response without a valid code
)

// An Error is a classified failure. Its messages never contain a body, a secret or the provider's
// text. errs.Public turns it into PROVIDER_ERROR or PROVIDER_TIMEOUT, with Advice as the message.
type Error struct {
	Provider   string
	Class      Class
	Code       string        // the provider's code or one of coffer's: stable, of letters, dots and underscores
	Advice     string        // what a person can do, in coffer's words
	RetryAfter time.Duration // for Later: the minimum wait; 0 lets the caller decide
	Revoked    bool          // for Permanent: access has ended for good, so the credentials are useless
	Status     int           // of the response; 0 if there was none
	RequestID  string        // the id that the provider's support asks for; "" if unknown
	Cause      error         // the network error; nil if the provider responded
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

// Classify finds the Error in err. Any other error, such as an ended context, is Later, because it
// is unrelated to the connection.
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

// Code returns s if it has the shape of a code, or else [CodeUnknown]. Codes are shown where
// untrusted text must not be. No provider's code contains digits, but every token does. So a
// response that repeats a token in place of a code is rejected.
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

// ErrForged is the error of a [Webhooker] for an event that the provider did not sign, or signed
// too long ago.
var ErrForged = errs.New(errs.InvalidSignature, "this webhook event is not signed by the provider")

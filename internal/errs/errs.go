// Package errs is the one error type: a code that callers can rely on, a message that says what to do, and a cause for the log.
// It knows no transport and no domain: what a status line, a tool result or an exit code makes of an error is derived from its code.
package errs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// An Error is a failure with a public face (code, message, details) and a private cause that only the log sees.
type Error struct {
	Code    Code
	Message string
	Details []Detail
	After   time.Duration // how long to wait before trying again, where that is known
	cause   error
}

// A Detail is one fault of an input. It never holds the offending value, which could be a secret.
type Detail struct {
	Field   string `json:"field" doc:"Where the fault is, as a path: operations[1].category"`
	Code    string `json:"code" doc:"What is wrong, in one word: required, unknown, type, length, range, pattern, enum, empty, conflict"`
	Message string `json:"message" doc:"What to do about it"`
}

// New makes an Error whose message says what to do. Values that a bank or a stranger wrote do not belong into it.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause for the log.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.cause = cause
	return e
}

// Later says how long to wait before trying again.
func (e *Error) Later(after time.Duration) *Error {
	e.After = after
	return e
}

// MaxFaults is how many faults an error lists.
const MaxFaults = 50

// Faults makes the error of an input with several faults, or nil when there are none.
func Faults(details []Detail) error {
	switch len(details) {
	case 0:
		return nil
	case 1:
		d := details[0]
		msg := d.Message
		if d.Field != "" {
			msg = d.Field + ": " + d.Message
		}
		return &Error{Code: ValidationError, Message: msg, Details: details}
	}
	message := fmt.Sprintf("%d things are wrong with the input; details lists them", len(details))
	if len(details) > MaxFaults {
		// An answer must not grow with what a caller makes up.
		message = fmt.Sprintf("%d things are wrong with the input; details lists the first %d", len(details), MaxFaults)
		details = details[:MaxFaults]
	}
	return &Error{Code: ValidationError, Details: details, Message: message}
}

// Field makes the error of one faulty field.
func Field(field, code, format string, args ...any) error {
	return Faults([]Detail{{Field: field, Code: code, Message: fmt.Sprintf(format, args...)}})
}

// Error implements error; it includes the cause, so it is for logs. Outward goes only Public.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Kind is the family of the error's code.
func (e *Error) Kind() Kind { return e.Code.Kind() }

// Is reports whether err is, or wraps, an Error with that code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// Public is the only road outward: it returns the error that a caller may see, without its cause.
// Whatever is not an Error becomes INTERNAL_ERROR with the request id, under which the log holds the chain.
func Public(err error, requestID string) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{Code: e.Code, Message: e.Message, Details: e.Details, After: e.After}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return New(Unavailable, "this took too long and was stopped; ask for less or try again (request %s)", requestID)
	}
	return New(InternalError, "something went wrong on our side; the server's log has it under request %s", requestID)
}

// A Face is the body of every error answer.
type Face struct {
	Error FaceError `json:"error"`
}

// A FaceError is what a caller learns of an error.
type FaceError struct {
	Code    Code     `json:"code" doc:"Stable, in UPPER_SNAKE_CASE"`
	Message string   `json:"message" doc:"What went wrong and what to do"`
	Details []Detail `json:"details,omitempty" doc:"Each fault, where an input has several"`
}

// Face is the error as a caller sees it.
func (e *Error) Face() Face { return Face{FaceError{e.Code, e.Message, e.Details}} }

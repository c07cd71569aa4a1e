// Package errs has the one error type: a code that callers can rely on, a message that says what to
// do, and a cause for the log. It does not know any transport or domain: HTTP statuses, tool
// results and exit codes are derived from the code.
package errs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Error is a failure with a public part (code, message, details) and a private cause that only
// the log sees.
type Error struct {
	Code    Code
	Message string
	Details []Detail
	Lookup  string        // kind of the record that does not exist, as the noun of its ops: category
	After   time.Duration // how long to wait before trying again, if known
	Limit   Limit         // the limit that was exceeded, if response headers report it
	cause   error
}

// A Detail is one fault of an input. It never contains the offending value, which could be a
// secret.
type Detail struct {
	Field   string `json:"field" doc:"Path of the invalid field: operations[1].category"`
	Code    string `json:"code" doc:"Kind of problem: required, unknown, type, length, range, pattern, enum, empty, conflict"`
	Message string `json:"message" doc:"What to do about it"`

	Lookup      string   `json:"lookup,omitempty" doc:"If the field names a record that does not exist, its kind: category, tag, account"`
	Suggestions []string `json:"suggestions,omitempty" doc:"Up to three valid values close to the one given, nearest first"`
}

// New returns an Error whose message says what to do. Text from banks or strangers must not be in
// it.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a cause for the log.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.cause = cause
	return e
}

// Later sets how long to wait before trying again.
func (e *Error) Later(after time.Duration) *Error {
	e.After = after
	return e
}

// A Limit is a quota of something within a window.
type Limit struct {
	Name   string
	Quota  int
	Window time.Duration
}

// Limited sets the limit that was exceeded.
func (e *Error) Limited(name string, quota int, window time.Duration) *Error {
	e.Limit = Limit{name, quota, window}
	return e
}

// MaxFaults is how many faults an error lists.
const MaxFaults = 50

// Faults returns the error of an input with faults, or nil if there are none.
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
	message := fmt.Sprintf("%d fields are invalid; see details", len(details))
	if len(details) > MaxFaults {
		// The response must not grow with the caller's input, and validation stops after MaxFaults.
		message = fmt.Sprintf("more than %d fields are invalid; details lists the first %[1]d", MaxFaults)
		details = details[:MaxFaults]
	}
	return &Error{Code: ValidationError, Details: details, Message: message}
}

// Field returns the error of one invalid field.
func Field(field, code, format string, args ...any) error {
	return Faults([]Detail{{Field: field, Code: code, Message: fmt.Sprintf(format, args...)}})
}

// Within prefixes the fields of an error with the name of the part of the input that it is about:
// category becomes filter.category. Any other error stays as it is.
func Within(part string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Details) == 0 {
		return err
	}
	moved := *e
	moved.Details = slices.Clone(e.Details)
	for i, d := range e.Details {
		if d.Field == "" {
			continue
		}
		moved.Details[i].Field = part + "." + d.Field
		if len(e.Details) == 1 && strings.HasPrefix(e.Message, d.Field+": ") {
			moved.Message = part + "." + e.Message
		}
	}
	return &moved
}

// Renamed returns an error with the fields of its details renamed by name, for an input that has
// other names for them. Any other error stays as it is.
func Renamed(err error, name func(field string) string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Details) == 0 {
		return err
	}
	moved := *e
	moved.Details = slices.Clone(e.Details)
	for i, d := range e.Details {
		if d.Field == "" {
			continue
		}
		moved.Details[i].Field = name(d.Field)
		if len(e.Details) == 1 {
			moved.Message = moved.Details[i].Field + ": " + d.Message
		}
	}
	return &moved
}

// Error implements error. It includes the cause, so it is only for logs; callers get Public.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Kind returns the family of the error's code.
func (e *Error) Kind() Kind { return e.Code.Kind() }

// Is reports whether err is, or wraps, an Error with that code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// Public returns the error that a caller may see, without its cause. Callers must see nothing else.
// An error of another type becomes INTERNAL_ERROR with the request id, which leads to the complete
// error in the log.
func Public(err error, requestID string) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return (&Error{
			Code: e.Code, Message: e.Message, Details: e.Details, Lookup: e.Lookup, After: e.After,
			Limit: e.Limit,
		}).Worded(command)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return New(Unavailable, "the request timed out; narrow it or try again (request %s)",
			requestID)
	}
	return New(InternalError, "internal error (request %s); see the server log", requestID)
}

// A Face is the body of every error response.
type Face struct {
	Error FaceError `json:"error"`
}

// A FaceError is the public part of an error.
type FaceError struct {
	Code    Code     `json:"code" doc:"Stable, in UPPER_SNAKE_CASE"`
	Message string   `json:"message" doc:"What went wrong and what to do"`
	Lookup  string   `json:"lookup,omitempty" doc:"Kind of the record that does not exist: category, tag, account"`
	Details []Detail `json:"details,omitempty" doc:"Each invalid field"`
}

// Face returns the error as a caller sees it.
func (e *Error) Face() Face { return Face{FaceError{e.Code, e.Message, e.Lookup, e.Details}} }

package llm

import (
	"fmt"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

// A Class determines how to handle a failure.
type Class uint8

const (
	// Later is a temporary failure: of the network, or of a busy server.
	Later Class = iota
	// Denied lasts until a person acts: the server rejects the key or the model, or requires
	// payment.
	Denied
	// Ours is a request that the server does not accept because of a mistake in coffer, or because
	// the prompt is too long.
	Ours
	// Broken is an answer that began but was cut off, too large, too slow or unreadable.
	Broken
)

var classes = [...]string{Later: "later", Denied: "denied", Ours: "ours", Broken: "broken"}

func (c Class) String() string { return classes[c] }

// The codes of failures, which are stable.
const (
	CodeNetwork   = "NETWORK"   // no connection, or a broken one
	CodeTimeout   = "TIMEOUT"   // no first byte, or no next one, in time
	CodeTooLarge  = "TOO_LARGE" // an answer larger than any valid one
	CodeMalformed = "MALFORMED" // an answer that does not follow the protocol
	CodeBusy      = "BUSY"      // a limit of requests, or an overload
	CodeServer    = "SERVER"    // the server failed
	CodeKey       = "KEY"       // the key is missing or wrong, or lacks permission
	CodeModel     = "MODEL"     // the model does not exist there
	CodeTools     = "TOOLS"     // the model cannot call tools
	CodeSpend     = "SPEND"     // a limit of money at the server, or no credit
	CodeContext   = "CONTEXT"   // the prompt is longer than the model's context
	CodeAddress   = "ADDRESS"   // the address leads somewhere else, or is not allowed
	CodeRequest   = "REQUEST"   // the request is not accepted
)

// An Error is a classified failure. Its message contains neither the server's words nor a secret.
// errs.Public turns it into PROVIDER_ERROR or PROVIDER_TIMEOUT, with Advice as the message.
type Error struct {
	Provider   string
	Class      Class
	Code       string
	Advice     string         // what a person can do, in our words
	Reply      text.Untrusted // the server's message, without the key; "" if there is none
	RetryAfter time.Duration  // for Later: the minimum wait; 0 leaves it to the caller
	// Billed means that the server may have done work and may charge for it: the response began, or
	// it is unknown whether it did. An error status is not billed.
	Billed    bool
	Status    int // of the answer; 0 if there was none
	RequestID string
	Cause     error // of the network; nil if the server answered
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%s)", e.Provider, e.Code, e.Class)
	if e.Status != 0 {
		s += fmt.Sprintf(" status %d", e.Status)
	}
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
	switch e.Code {
	case CodeTimeout:
		code = errs.ProviderTimeout
	case CodeBusy:
		code = errs.RateLimited
	}
	public := errs.New(code, "%s", e.Advice)
	if e.RetryAfter > 0 {
		public = public.Later(e.RetryAfter)
	}
	out := []error{public}
	if e.Cause != nil {
		out = append(out, e.Cause)
	}
	return out
}

// advice explains what to do about each code.
var advice = map[string]string{
	CodeNetwork: "the model server can't be reached; check that it is running, and its URL under Settings > " +
		"AI models",
	CodeTimeout:   "the model server timed out; try again, or use a smaller model",
	CodeTooLarge:  "the model server sent a response that is far too large; check what runs at its URL",
	CodeMalformed: "the model server sent an unreadable response; check its URL and provider",
	CodeBusy:      "the model server is busy or limits requests; try again later",
	CodeServer:    "the model server failed; check its log and try again later",
	CodeKey:       "the model server rejects the API key; set the right one under Settings > AI models",
	CodeModel:     "the model server does not have this model; check the model's name, or install it there",
	CodeTools:     "this model cannot call tools; choose one that can",
	CodeSpend: "the model provider's spending limit or credit is used up; raise it there or wait for it to " +
		"reset",
	CodeContext: "the prompt is longer than the model's context; set a larger context on the server, or " +
		"choose another model",
	CodeAddress: "the model server's URL redirects or is not allowed (http is only for your own network); " +
		"set the final https URL under Settings > AI models",
	CodeRequest: "the model server rejects the request; check the model's name",
}

// Fail returns an error with the advice of its code.
func Fail(provider string, class Class, code string) *Error {
	return &Error{Provider: provider, Class: class, Code: code, Advice: advice[code], Billed: class == Broken}
}

// quote makes a server's message safe to show: one line, with a maximum length, and without the
// key.
func quote(message, key string) text.Untrusted {
	if key != "" {
		message = strings.ReplaceAll(message, key, "[key]")
	}
	return text.Line(message, 300)
}

package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"coffer/internal/platform/text"
)

// A complaint is a server's description of a failure, in any of the forms that servers use.
type complaint struct {
	words   string // type and code, in lower case
	message string
	status  int // if the body names one
}

// maxComplaint is the maximum number of bytes that are read of an error's body.
const maxComplaint = 64 << 10

func readComplaint(body []byte) complaint {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"` // of servers made with FastAPI
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return complaint{message: string(body)}
	}
	if outer.Error == nil {
		return complaint{message: firstOf(outer.Message, string(outer.Detail))}
	}
	var short string // Ollama's
	if json.Unmarshal(outer.Error, &short) == nil {
		return complaint{message: short}
	}
	var inner struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	}
	_ = json.Unmarshal(outer.Error, &inner) // members of another type stay empty
	c := complaint{message: inner.Message}
	var details struct {
		Code string `json:"error_code"`
	}
	_ = json.Unmarshal(inner.Details, &details) // Gemini's is a list
	_ = json.Unmarshal(inner.Code, &c.status)   // a number at OpenRouter, Gemini and vLLM
	c.words = strings.ToLower(inner.Type + " " + strings.Trim(string(inner.Code), `"`) + " " + details.Code)
	return c
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// typeStatus lists the status for each type of error in a stream, whose response began with status
// 200.
var typeStatus = []struct {
	word   string
	status int
}{
	{"overloaded", 529},
	{"rate_limit", http.StatusTooManyRequests},
	{"authentication", http.StatusUnauthorized},
	{"permission", http.StatusForbidden},
	{"billing", http.StatusPaymentRequired},
	{"not_found", http.StatusNotFound},
	{"too_large", http.StatusRequestEntityTooLarge},
	{"timeout", http.StatusGatewayTimeout},
	{"invalid_request", http.StatusBadRequest},
}

// A sign is a part of a server's message that distinguishes a failure from others with the same
// status.
type sign struct {
	in    func(complaint) string
	parts []string
	class Class
	code  string
}

func byWords(c complaint) string   { return c.words }
func byMessage(c complaint) string { return strings.ToLower(c.message) }

// signs are checked in this order, before the status decides. At some servers a message with the
// word quota only means a limit per minute, so that word counts only in a code.
var signs = []sign{
	{byWords, []string{"spend", "quota", "credit", "billing"}, Denied, CodeSpend},
	{byMessage, []string{"credit balance", "spend limit", "spending limit", "api usage limits"}, Denied, CodeSpend},
	{byWords, []string{"context_length", "context_size"}, Ours, CodeContext},
	{
		byMessage,
		[]string{"context length", "context size", "context window", "prompt is too long"},
		Ours,
		CodeContext,
	},
	{
		byMessage,
		[]string{"does not support tools", "tool-call-parser", "tools param requires", "support tool use"},
		Denied, CodeTools,
	},
	{byWords, []string{"model_not_found"}, Denied, CodeModel},
}

// Refusal reads an answer with an error status.
func (h *Host) Refusal(a *Answer) (*Error, string) {
	body, _ := io.ReadAll(io.LimitReader(a.Body, maxComplaint)) // the part that was read is enough
	return h.Complaint(a.Status, a.Header, body)
}

// Complaint classifies a server's description of a failure. It also returns the server's message,
// so that a client can adapt its request. The status is 200 for an error in a stream.
func (h *Host) Complaint(status int, header http.Header, body []byte) (*Error, string) {
	c := readComplaint(body)
	message := c.message
	if status >= 200 && status < 300 {
		if status = c.status; status < 400 {
			status = http.StatusInternalServerError
			for _, t := range typeStatus {
				if strings.Contains(c.words, t.word) {
					status = t.status
					break
				}
			}
		}
	}
	class, code := byStatus(status)
	if status >= 400 {
		class, code = bySign(c, class, code)
	}
	e := h.Fail(class, code, message)
	e.Status = status
	wait, retry := Wait(header, time.Now())
	switch {
	case retry != nil && *retry && code != CodeSpend:
		e.Class = Later
	case retry != nil && !*retry && e.Class == Later:
		e.Class = Denied
	}
	if e.Class == Later {
		e.RetryAfter = wait
	}
	return e, message
}

func byStatus(status int) (Class, string) {
	switch {
	case status < 400:
		return Denied, CodeAddress
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusProxyAuthRequired:
		return Denied, CodeKey
	case status == http.StatusPaymentRequired:
		return Denied, CodeSpend
	case status == http.StatusNotFound:
		return Denied, CodeModel
	case status == http.StatusRequestEntityTooLarge:
		return Ours, CodeContext
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == 529:
		return Later, CodeBusy
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return Later, CodeServer
	}
	return Ours, CodeRequest
}

func bySign(c complaint, class Class, code string) (Class, string) {
	for _, s := range signs {
		in := s.in(c)
		for _, part := range s.parts {
			if strings.Contains(in, part) {
				return s.class, s.code
			}
		}
	}
	return class, code
}

// RequestID returns the server's id of the request.
func RequestID(header http.Header) string {
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		if s := header.Get(name); s != "" {
			return text.Line(s, 100).Plain()
		}
	}
	return ""
}

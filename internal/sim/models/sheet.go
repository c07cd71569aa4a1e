package models

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A Sheet is a list of numbered rows that a model must decide with one call of the tool decide. The
// code in the first line of the system prompt must be sent back.
type Sheet struct {
	Code string
	Rows []Row
	// Text is the user's message, which lists the slugs of categories.
	Text string
}

// A Row is one transaction of a sheet.
type Row struct {
	Row      int               `json:"row"`
	Date     string            `json:"date"`
	Amount   json.RawMessage   `json:"amount"`
	Currency string            `json:"cur"`
	Name     string            `json:"name"`
	Merchant string            `json:"merchant"`
	Account  string            `json:"account"`
	Category string            `json:"category"`
	Before   []json.RawMessage `json:"before"` // [category, times, who] each
}

// in reports whether the row is money in, which has a negative amount.
func (r Row) in() bool { return strings.HasPrefix(strings.Trim(string(r.Amount), `"`), "-") }

// Precedent returns the first category that people decided for the same payee, or "".
func (r Row) Precedent() string {
	for _, b := range r.Before {
		var parts []any
		if json.Unmarshal(b, &parts) == nil && len(parts) >= 3 && parts[2] == "user" {
			s, _ := parts[0].(string)
			return s
		}
	}
	return ""
}

// A Decision is a model's decision about a row.
type Decision struct {
	Row          int      `json:"row"`
	Category     string   `json:"category,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Counterparty string   `json:"counterparty,omitempty"`
	Note         string   `json:"note"`
	Sure         bool     `json:"sure"`
}

// Decide returns an answer that decides rows of a sheet.
func (s Sheet) Decide(rows ...Decision) Answer {
	if rows == nil {
		rows = []Decision{}
	}
	return Use("decide", map[string]any{"code": s.Code, "rows": rows})
}

// Has reports whether the sheet lists a slug.
func (s Sheet) Has(slug string) bool {
	for at := 0; ; {
		i := strings.Index(s.Text[at:], slug)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(slug)
		if (from == 0 || !wordByte(s.Text[from-1])) && (to == len(s.Text) || !wordByte(s.Text[to])) {
			return true
		}
		at = to
	}
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

var codes = regexp.MustCompile(`\b[A-Z]{4}\b`)

// Code returns the code of four capital letters in the first line of the system prompt, or "".
func (r Request) Code() string {
	first, _, _ := strings.Cut(r.System, "\n")
	return codes.FindString(first)
}

// Sheet returns the sheet of a conversation, if it has the tool decide and there are rows. Rows are
// found anywhere in the user's first text, by their JSON.
func (r Request) Sheet() (Sheet, bool) {
	if _, ok := r.Tool("decide"); !ok || len(r.Messages) == 0 {
		return Sheet{}, false
	}
	s := Sheet{Code: r.Code(), Text: r.Messages[0].Text}
	for rest := s.Text; ; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		rest = rest[i:]
		d := json.NewDecoder(strings.NewReader(rest))
		var raw json.RawMessage
		var row Row
		if d.Decode(&raw) == nil && json.Unmarshal(raw, &row) == nil && row.Row > 0 {
			s.Rows = append(s.Rows, row)
			rest = rest[len(raw):]
			continue
		}
		rest = rest[1:] // an object around the rows, or a brace in a text
	}
	return s, len(s.Rows) > 0
}

// Package text holds strings that a bank, a file or an agent wrote: cleaned, shortened, and kept
// out of prose. It does not know their meaning or their source.
//
// Such a string stays data all the way to a model's context or a browser: it is output only as a
// JSON string value, a query argument or a table cell. If code formats it into an error, a log line
// or a template, only its length appears.
package text

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NameMax is the most runes that the name of a transaction, a merchant or an account may have.
const NameMax = 256

// An Untrusted is text from outside the household's control, made by [Name], [Line] or [Prose].
//
// encoding/json and pgx treat it as a plain string and call none of the methods below, with one
// exception: text that is read from JSON is cleaned as by Prose. fmt and slog get a placeholder
// instead of the text. A type cannot prevent two leaks: an unexported field of a struct printed
// with %v, and a whole struct given to slog's JSON handler.
//
// Bytes are not normalized (NFC). It is enough that two identical texts from a bank compare equal.
type Untrusted string

// DetailMax is the most runes that the purpose of a payment may have.
const DetailMax = 512

// Detail cleans the purpose of a payment. It returns "" if the purpose only repeats the name.
func Detail(s string, name Untrusted) Untrusted {
	if d := Line(s, DetailMax); d != name {
		return d
	}
	return ""
}

// Name cleans one line and caps it at [NameMax] runes.
func Name(s string) Untrusted { return Line(s, NameMax) }

// Line cleans a single line: every run of white space, including line breaks, becomes one space,
// and the result has at most limit runes.
func Line(s string, limit int) Untrusted {
	out := newClip(s, limit)
	for r := range visible(s) {
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r == ' ' && out.last() == ' ' {
			continue
		}
		if !out.add(r) {
			break
		}
	}
	return out.text()
}

// Prose cleans text of several lines, such as a comment: line breaks become \n, tabs and runs of
// spaces stay, and the result has at most limit runes.
func Prose(s string, limit int) Untrusted {
	out := newClip(s, limit)
	for r := range visible(strings.ReplaceAll(s, "\r\n", "\n")) {
		if isBreak(r) {
			r = '\n'
		}
		if !out.add(r) {
			break
		}
	}
	return out.text()
}

// Seen reports whether a reader sees all of s: nothing in it would be cleaned away, and its line
// breaks are \n.
func Seen(s string) bool {
	n := 0
	for r := range visible(s) {
		if isBreak(r) && r != '\n' {
			return false
		}
		n++
	}
	return n == utf8.RuneCountInString(s)
}

// Plain returns the text itself, for query arguments, comparison and JSON. The caller is
// responsible for where the text goes next.
func (u Untrusted) Plain() string { return string(u) }

// UnmarshalText cleans text from JSON and query parameters as by [Prose], without a cap: the schema
// rejects text that is too long, and a decoder must not cut it. Cleaning twice changes nothing, so
// a line stays a line.
func (u *Untrusted) UnmarshalText(b []byte) error {
	*u = Prose(string(b), math.MaxInt)
	return nil
}

// String returns a placeholder, so a panic does not print the text either.
func (u Untrusted) String() string {
	return fmt.Sprintf("[text %d runes]", utf8.RuneCountInString(string(u)))
}

// Format writes the quoted placeholder for every verb.
func (u Untrusted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, `"`+u.String()+`"`) }

// LogValue keeps the text out of logs.
func (u Untrusted) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Cell makes s safe as a cell of a CSV or TSV export. A spreadsheet would run a formula, so such a
// cell gets a leading apostrophe. Use it for text only; a negative amount is not a formula.
func Cell(s string) string {
	if s == "" {
		return s
	}
	if strings.ContainsRune("\t\r\n", rune(s[0])) {
		return "'" + s
	}
	// Importers trim spaces and fold the wide forms before they look for a formula.
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " \u00a0\u3000"))
	if strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}

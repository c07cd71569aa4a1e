// Package text holds strings that a bank, a file or an agent wrote: cleaned, capped, and kept out
// of prose. It knows nothing of what they mean or where they came from.
//
// Such a string is data on the whole way to a model's context or a browser. It leaves as a JSON
// string value, as a query argument or as a table cell; where code formats it into an error, a log
// line or a template, only its length appears.
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

// NameMax is the most runes that a name may have: of a transaction, a merchant, an account.
const NameMax = 256

// An Untrusted is text that a stranger wrote, made by [Name], [Line] or [Prose].
//
// encoding/json and pgx see a plain string: they work on the kind of the type and use none of the
// methods below, except that text which enters through JSON is cleaned as by Prose. Everything that
// formats through fmt, and slog, gets a placeholder. Two roads stay open, because nothing in a type
// can close them: an unexported field of a struct printed with %v, and a struct given whole to
// slog's JSON handler.
//
// Bytes are not normalised (NFC): what a bank sends twice must compare equal to what it sent,
// nothing more.
type Untrusted string

// DetailMax is the most runes that the purpose of a payment may have.
const DetailMax = 512

// Detail cleans the purpose of a payment. It is empty if it only repeats the name.
func Detail(s string, name Untrusted) Untrusted {
	if d := Line(s, DetailMax); d != name {
		return d
	}
	return ""
}

// Name cleans one line and caps it at [NameMax] runes.
func Name(s string) Untrusted { return Line(s, NameMax) }

// Line cleans a single line: every run of white space, line breaks included, becomes one space, and
// at most limit runes stay.
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
// spaces stay, and at most limit runes stay.
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

// Plain is the text itself, for query arguments, comparison and JSON. Whoever calls it answers for
// where the text goes next.
func (u Untrusted) Plain() string { return string(u) }

// UnmarshalText makes JSON and query parameters enter cleaned as by [Prose], without a cap: limits
// are for the schema to refuse, not for a decoder to cut. Cleaning twice changes nothing, so a line
// stays a line.
func (u *Untrusted) UnmarshalText(b []byte) error {
	*u = Prose(string(b), math.MaxInt)
	return nil
}

// String is a placeholder, so that a panic does not print the text either.
func (u Untrusted) String() string {
	return fmt.Sprintf("[text %d runes]", utf8.RuneCountInString(string(u)))
}

// Format gives every verb the quoted placeholder.
func (u Untrusted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, `"`+u.String()+`"`) }

// LogValue keeps the text out of logs.
func (u Untrusted) LogValue() slog.Value { return slog.StringValue(u.String()) }

// Cell makes s safe as a cell of a CSV or TSV export, where a spreadsheet would run a formula: such
// a cell gets a leading apostrophe. Use it for text only; a negative amount is not a formula.
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

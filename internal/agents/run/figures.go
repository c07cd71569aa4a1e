package run

import (
	"regexp"
	"strings"
)

// A figure is a number in a text: digits with separators. A sign, a currency or a percent sign may
// stand before or after it.
var figure = regexp.MustCompile(`[0-9]+(?:[.,'\x{00a0}\x{202f}\x{2009}][0-9]+)*`)

// listMark matches the number of an item in a list. Such a number is not a figure about the data.
var listMark = regexp.MustCompile(`(?m)^[ \t>]*[0-9]{1,3}[.)][ \t]`)

// Figures returns the numbers of a text that do not occur in the given data. Each number is
// returned once, in the form of the text. Every digit must be the same; signs and separators of
// thousands may differ.
func Figures(message string, given []string) []string {
	known := map[string]bool{}
	for _, g := range given {
		for _, f := range found(g) {
			for _, value := range values(f.text) {
				known[value] = true
			}
		}
	}
	var out []string
	seen := map[string]bool{}
	blank := listMark.ReplaceAllStringFunc(message, func(s string) string { return strings.Repeat(" ", len(s)) })
	for _, f := range found(blank) {
		if seen[f.text+f.unit] || isKnown(f, known) {
			continue
		}
		seen[f.text+f.unit] = true
		out = append(out, strings.TrimSpace(message[f.from:f.to]+f.unit))
	}
	return out
}

// A spot is a figure in a text.
type spot struct {
	text     string
	unit     string // a percent sign or a factor right after it
	from, to int
}

// found returns the figures of a text. Digits within a word, such as those of an id, are not
// figures; a word that begins with digits, such as 12k, is.
func found(s string) []spot {
	var out []spot
	for _, at := range figure.FindAllStringIndex(s, -1) {
		if at[0] > 0 && isLetter(s[at[0]-1]) && !currencyBefore(s[:at[0]]) {
			continue
		}
		end := at[1]
		for end < len(s) && isLetter(s[end]) {
			end++
		}
		unit := s[at[1]:end]
		switch {
		case strings.HasPrefix(s[at[1]:], "%"), strings.HasPrefix(s[at[1]:], " %"),
			strings.HasPrefix(s[at[1]:], "\u00a0%"), strings.HasPrefix(s[at[1]:], "\u202f%"):
			unit = " %"
		case end < len(s) && s[end] >= '0' && s[end] <= '9': // an id
			continue
		case len(unit) == 3 && strings.ToUpper(unit) == unit: // a currency
			unit = ""
		}
		out = append(out, spot{s[at[0]:at[1]], unit, at[0], at[1]})
	}
	return out
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' }

// currencyBefore reports whether a text ends with the code of a currency, as in EUR12.
func currencyBefore(s string) bool {
	n := len(s)
	if n < 3 || n > 3 && isLetter(s[n-4]) {
		return false
	}
	return strings.ToUpper(s[n-3:]) == s[n-3:]
}

// isKnown reports whether a figure occurs in the data, in any reading. A figure with a unit that
// multiplies it, such as 12k, never does, because data is not written that way. A percentage may be
// a number without a percent sign in the data.
func isKnown(f spot, known map[string]bool) bool {
	if f.unit != "" && f.unit != " %" && len(f.unit) <= 2 {
		return false
	}
	for _, value := range values(f.text) {
		if known[value] {
			return true
		}
	}
	return isDate(f.text, known)
}

// isDate reports whether a figure is a date written as 09.11.2026 whose parts occur in the data.
func isDate(s string, known map[string]bool) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || len(parts[0]) > 2 || len(parts[1]) > 2 || len(parts[2]) != 4 {
		return false
	}
	for _, p := range parts {
		if !known[canonical(p, "")] {
			return false
		}
	}
	return true
}

// values returns the numbers that digits with separators may mean. 1.234 is more than a thousand in
// some countries, and a little more than one in others.
func values(s string) []string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) == 1 {
		return []string{canonical(parts[0], "")}
	}
	whole := strings.Join(parts[:len(parts)-1], "")
	last := parts[len(parts)-1]
	out := []string{canonical(whole, last)}
	if len(last) == 3 {
		out = append(out, canonical(whole+last, ""))
	}
	return out
}

// canonical prints a number without leading zeros and without trailing zeros of its decimals.
func canonical(whole, part string) string {
	whole = strings.TrimLeft(whole, "0")
	part = strings.TrimRight(part, "0")
	if whole == "" {
		whole = "0"
	}
	if part == "" {
		return whole
	}
	return whole + "." + part
}

// maxNamed is how many figures are listed below a report.
const maxNamed = 40

// Traced returns a message with a list of the numbers in it that no tool returned.
func Traced(message string, given []string) string {
	missing := Figures(message, given)
	if len(missing) == 0 {
		return message
	}
	rest := ""
	if len(missing) > maxNamed {
		missing, rest = missing[:maxNamed], " and more"
	}
	return strings.TrimRight(message, "\n") + "\n\n---\n\n**Not found in the data:** " + strings.Join(missing, " · ") +
		rest + ". No tool of this run returned these numbers; check them before you rely on them.\n"
}

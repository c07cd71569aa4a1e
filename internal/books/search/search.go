// Package search reads what people type to find transactions: words, phrases, tags and amounts. It
// does not know what they are searched in: it uses no database and no clock.
package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"coffer/internal/platform/money"
)

// A Query is a parsed search: at least one of its alternatives must match. A query without
// alternatives is not a condition.
type Query []All

// All is an alternative: each of its terms must match.
type All []Term

// A Term is a word, a phrase, a tag or an amount.
type Term struct {
	Text   string  // the text must occur; "" if the term is only an amount
	Tag    string  // the slug of a tag; if there is no such tag, Text (the term as typed) is searched
	Amount *Amount // an alternative to Text, because 75 can be an amount or a part of a name
}

// An Amount is a range of absolute amounts. Both ends are equal if one amount was typed.
type Amount struct {
	Low, High    *money.Amount // nil if the range is open on this side
	Above, Below bool          // the end itself is not in the range
	Direction    int           // 1: only money in, -1: only money out, 0: both
}

// Parse reads a query. If commas is set, a comma separates alternatives, unless it is inside a
// number.
func Parse(typed string, commas bool) Query {
	var out Query
	var now All
	next := func() {
		if len(now) > 0 {
			out, now = append(out, now), nil
		}
	}
	for _, w := range joined(words(typed), commas) {
		if w.phrase {
			now = append(now, Term{Text: w.text})
			continue
		}
		if !commas {
			now = append(now, term(w.text))
			continue
		}
		for i, piece := range pieces(w.text) {
			if i > 0 {
				next()
			}
			if piece != "" {
				now = append(now, term(piece))
			}
		}
	}
	next()
	if rest := strings.TrimSpace(typed); len(out) == 0 && strings.Trim(rest, ", ") != "" {
		return Query{{{Text: rest}}} // only quotes: an unfinished phrase, or a search for the quotes themselves
	}
	return out
}

// A word is a part of the typed text, between spaces or between quotes.
type word struct {
	text   string
	phrase bool
}

// quotes maps each mark that opens a phrase to the marks that close it. Phones type curly quotes.
var quotes = map[rune]string{'"': `"`, '“': "”\"", '„': "“”\"", '«': "»", '»': "«"}

// words splits a text at spaces, but keeps quoted text together. An unfinished phrase ends with the
// text.
func words(s string) []word {
	var out []word
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return out
		}
		first, size := utf8.DecodeRuneInString(s)
		if closing, ok := quotes[first]; ok {
			s = s[size:]
			phrase, after := s, ""
			if end := strings.IndexAny(s, closing); end >= 0 {
				_, size = utf8.DecodeRuneInString(s[end:])
				phrase, after = s[:end], s[end+size:]
			}
			if phrase = strings.Join(strings.Fields(phrase), " "); phrase != "" {
				out = append(out, word{phrase, true})
			}
			s = after
			continue
		}
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		out, s = append(out, word{text: s[:end]}), s[end:]
	}
}

var (
	sign       = regexp.MustCompile(`^\p{Sc}$`)
	numeric    = regexp.MustCompile(`^[-+−<>=≥≤]*\p{Sc}?[-+−]?[0-9][0-9.,'’]*$`)
	groupFirst = regexp.MustCompile(`^[-+−<>=≥≤]*\p{Sc}?[-+−]?[0-9]{1,3}$`)
	group      = regexp.MustCompile(`^[0-9]{3}$`)
	groupLast  = regexp.MustCompile(`^[0-9]{3}[.,][0-9]{1,2}\p{Sc}?,?$`)
)

// joined joins amounts that are written with spaces: "1 234,56" and "75,05 €". If commas separate
// alternatives, an amount may be followed by a comma.
func joined(all []word, commas bool) []word {
	amount := func(s string) bool {
		if commas {
			s = strings.TrimSuffix(s, ",")
		}
		_, ok := ParseAmount(s)
		return ok
	}
	var out []word
	for i := 0; i < len(all); i++ {
		w := all[i]
		if !w.phrase && groupFirst.MatchString(w.text) {
			j, whole := i+1, w.text
			for ; j < len(all) && !all[j].phrase && group.MatchString(all[j].text); j++ {
				whole += all[j].text
			}
			if j < len(all) && !all[j].phrase && groupLast.MatchString(all[j].text) &&
				amount(whole+all[j].text) {
				w.text, i = whole+all[j].text, j
			}
		}
		if i+1 < len(all) && !w.phrase && !all[i+1].phrase {
			after := all[i+1].text
			if (numeric.MatchString(w.text) && sign.MatchString(strings.TrimSuffix(after, ",")) ||
				sign.MatchString(w.text) && numeric.MatchString(after)) && amount(w.text+after) {
				w.text += after
				i++
			}
		}
		out = append(out, w)
	}
	return out
}

// pieces splits a word at its commas, except at those inside an amount.
func pieces(w string) []string {
	var out []string
	for start, i := 0, 0; ; i++ {
		if i < len(w) && (w[i] != ',' || i > 0 && i+1 < len(w) && digit(w[i-1]) && digit(w[i+1])) {
			continue
		}
		piece := w[start:i]
		if _, ok := ParseAmount(piece); ok || !strings.Contains(piece, ",") {
			out = append(out, piece)
		} else {
			out = append(out, strings.Split(piece, ",")...)
		}
		if i == len(w) {
			return out
		}
		start = i + 1
	}
}

var slug = regexp.MustCompile(`^[a-z0-9]+([-_:][a-z0-9]+)*$`)

func term(w string) Term {
	if tag, ok := strings.CutPrefix(w, "#"); ok {
		if tag = strings.ToLower(tag); slug.MatchString(tag) {
			return Term{Text: w, Tag: tag}
		}
		return Term{Text: w}
	}
	a, ok := ParseAmount(w)
	switch {
	case !ok:
		return Term{Text: w}
	case strings.Trim(w, "0123456789") == "":
		return Term{Text: w, Amount: &a}
	}
	return Term{Amount: &a}
}

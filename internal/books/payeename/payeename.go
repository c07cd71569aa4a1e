// Package payeename turns the text that a bank writes for a transaction into the name that a person
// would say: "KARTENZAHLUNG 2394 EDEKA 5426 SAGT DANKE" is Edeka. It must not know transactions or
// counterparties; the same text always has the same name.
//
// The text goes through small steps in a fixed order, which use the lists of words in words.go. No
// step invents a text: the name is a part of the wording, or the usual spelling of one. When in
// doubt, a word stays, because a longer name is better than a wrong one.
package payeename

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
)

const (
	longest = 300 // the most runes of a wording that are read; banks send at most about 200
	passes  = 40  // each pass makes the text shorter; nearly all wordings need only one
)

// Of returns a payee's name, derived from the name and the merchant name of a transaction. It
// caches names, so the names of a page cost little more than a lookup.
func Of(name, merchant string) string {
	if merchant != "" {
		return names.name(merchant)
	}
	return names.name(name)
}

// Shown returns the name with which a transaction is shown: the counterparty's, or else the one in
// its wording. The name is not stored. Otherwise every improvement of this package would have to
// rewrite all names.
func Shown(counterparty, merchant *text.Untrusted, name text.Untrusted) text.Untrusted {
	switch {
	case counterparty != nil:
		return *counterparty
	case merchant != nil:
		return text.Name(Of("", merchant.Plain()))
	}
	return text.Name(Of(name.Plain(), ""))
}

// Keys returns the keys by which wordings are grouped: form is made from the name, and payee from
// the merchant name or, if there is none, from the name.
func Keys(name, merchant string) (form, payee id.Key) {
	form = id.KeyOf(text.Form(name))
	if merchant == "" {
		return form, form
	}
	return form, id.KeyOf(text.Form(merchant))
}

// Clean returns the name in a wording. The result is never longer than the wording, and it has a
// letter if the wording has one. Cleaning a name again does not change it.
func Clean(wording string) string {
	s := tidy(wording)
	whole := strings.ReplaceAll(s, "\t", " ")
	if !strings.ContainsFunc(whole, unicode.IsLetter) {
		return whole
	}
	for range passes {
		next := tidy(once(s))
		if utf8.RuneCountInString(next) > utf8.RuneCountInString(s) { // it split joined words
			next = strings.ReplaceAll(s, "\t", " ")
		}
		if next == s {
			return s
		}
		s = next
	}
	return s
}

// once runs every step. If no letter is left, the steps removed too much. Then the name is the
// wording without its numbers, or else the whole wording.
func once(s string) string {
	words := split(spoken(s))
	n := &namer{all: words, words: words}
	if n.processor(); n.lead() {
		return spell(n.words)
	}
	n.cut()
	n.trail()
	n.tails()
	if !letters(n.words) {
		n.words = nil
		for _, w := range words {
			if kind := kindOf(w.text); kind == plain || kind == domain {
				n.words = append(n.words, w)
			}
		}
		if n.words = trimmed(n.words); !letters(n.words) {
			n.words = trimmed(words)
		}
		if !letters(n.words) {
			n.words = words
		}
	}
	return spell(n.words)
}

// A word is one word of a wording.
type word struct {
	text string
	fold string // in lower case, without accents and without punctuation at its ends
	gap  bool   // a column of the bank's text begins here
}

// A namer holds a wording between its steps.
type namer struct {
	all   []word // the whole wording
	words []word // the words that are left
	card  bool   // the wording is of a card payment, so a place follows the name
}

func letters(words []word) bool {
	for _, w := range words {
		if strings.ContainsFunc(w.text, unicode.IsLetter) {
			return true
		}
	}
	return false
}

// spoken returns the part of a structured wording that names the payee.
func spoken(s string) string {
	folded := plainFold(s)
	if len(folded) != len(s) { // positions would differ; only plain ASCII wordings are structured
		return s
	}
	for _, f := range fields {
		at := strings.Index(folded, f.begin)
		if at < 0 {
			continue
		}
		part, rest := s[at+len(f.begin):], folded[at+len(f.begin):]
		for _, end := range f.ends {
			if i := strings.Index(rest, end); i >= 0 {
				part, rest = part[:i], rest[:i]
			}
		}
		if part = strings.TrimSpace(part); strings.ContainsFunc(part, unicode.IsLetter) {
			return part
		}
	}
	return s
}

// split returns the words of a wording.
func split(s string) []word {
	out := make([]word, 0, 12)
	gap := false
	add := func(t string) {
		if t != "" {
			out = append(out, word{text: t, fold: foldWord(t), gap: gap && len(out) > 0})
			gap = false
		}
	}
	start := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			add(s[start:i])
			start = i + 1
		case c == '\t' || c == '|' || c == '\\' || c == '/' && i+1 < len(s) && s[i+1] == '/':
			add(s[start:i])
			gap, start = true, i+1
		case c == '/' && i == start: // the second of two slashes, or one at the beginning of a word
			start = i + 1
		case c == '*' && i > start && !masked(s[start:i+1]) && !cardEnd(s[start:i], s[i+1:]):
			add(s[start:i])
			start = i
		}
	}
	add(s[start:])
	return out
}

// masked reports whether a part of a word is a card number of which the bank shows only the last
// digits.
func masked(s string) bool {
	stars := 0
	for _, r := range s {
		switch {
		case r == '*':
			stars++
		case r < '0' || r > '9':
			return false
		}
	}
	return stars < len(s) || stars > 1
}

// cardEnd reports whether an asterisk separates the kind of a card from its number: CB*1234.
func cardEnd(before, after string) bool {
	return cards[plainFold(before)] && after != "" && '0' <= after[0] && after[0] <= '9'
}

// joined returns the folded words with single spaces between them.
func joined(words []word) string {
	var b [96]byte
	out := b[:0]
	for i, w := range words {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, w.fold...)
	}
	return string(out)
}

// starts returns how many of the first words form one of the phrases. If several phrases fit, the
// longest counts.
func starts(words []word, p phrases) int {
	if len(words) == 0 {
		return 0
	}
	for n := min(p.longest[words[0].fold], len(words)); n > 0; n-- {
		var b [96]byte
		out := b[:0]
		for i, w := range words[:n] {
			if i > 0 {
				out = append(out, ' ')
			}
			out = append(out, w.fold...)
		}
		if p.set[string(out)] {
			return n
		}
	}
	return 0
}

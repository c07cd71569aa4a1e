package payeename

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spell writes a name. A name only in capitals or only in small letters gets the usual capitals. A
// name with both stays as it is, because somebody chose its spelling.
func spell(words []word) string {
	capitals, smalls := 0, 0
	for _, w := range words {
		for _, r := range w.text {
			switch {
			case unicode.IsLower(r):
				smalls++
			case unicode.IsUpper(r):
				capitals++
			}
		}
	}
	mixed := capitals > 0 && smalls > 0
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if mixed {
			b.WriteString(w.text)
		} else {
			b.WriteString(cased(w.text, i == 0, len(words)))
		}
	}
	return b.String()
}

// cased writes one word of a name with the usual capitals.
func cased(s string, first bool, of int) string {
	lower := strings.Map(unicode.ToLower, s)
	if usual, ok := spellings[lower]; ok {
		return usual
	}
	if !first && particles[lower] {
		return lower
	}
	if (upper(s) || of == 1) && short(lower) {
		return strings.Map(unicode.ToUpper, s)
	}
	if rest, ok := strings.CutPrefix(lower, "mc"); ok && utf8.RuneCountInString(rest) > 3 &&
		!strings.ContainsAny(rest, ".-'") {
		return "Mc" + capital(rest)
	}
	var b strings.Builder
	for begin, i := 0, 0; i <= len(lower); i++ {
		if i < len(lower) && !strings.ContainsRune("-./&'+", rune(lower[i])) {
			continue
		}
		part := lower[begin:i]
		usual, ok := spellings[part]
		switch {
		case ok && len(part) < len(lower) && upper(s) && (begin == 0 || lower[begin-1] != '\''):
			b.WriteString(usual)
		case begin > 0 && lower[begin-1] == '\'' && (utf8.RuneCountInString(part) < 3 || begin > 3): // Joe's
			b.WriteString(part)
		case begin > 0 && particles[part] && i < len(lower) && lower[i] == '-':
			b.WriteString(part)
		default:
			b.WriteString(capital(part))
		}
		if i < len(lower) {
			b.WriteByte(lower[i])
		}
		begin = i + 1
	}
	return b.String()
}

// short reports whether a word looks like an abbreviation: two to four letters, none of them a
// vowel.
func short(lower string) bool {
	n := 0
	for _, r := range lower {
		if strings.ContainsRune("aeiouyäöüåéèàøæóúíá", r) {
			return false
		}
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n > 1 && n < 5
}

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

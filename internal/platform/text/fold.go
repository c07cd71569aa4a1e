package text

import (
	"unicode"
	"unicode/utf8"
)

// Fold maps every rune to one representative of the runes that are equal under Unicode's simple
// folding, and changes nothing else. Two strings are equal under [strings.EqualFold] exactly when
// their folds are equal byte by byte. The representative is the lower case if there is one. Invalid
// UTF-8 becomes U+FFFD.
func Fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return string(AppendFold(make([]byte, 0, len(s)+utf8.UTFMax), s))
		}
	}
	return s
}

// AppendFold appends the fold of s to b.
func AppendFold(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b = utf8.AppendRune(b, foldRune(r))
		i += size
	}
	return b
}

// foldTable holds the folds of the alphabets that household text is mostly written in: Latin,
// Greek, Cyrillic, Armenian.
var foldTable = func() (table [0x590]rune) {
	for r := range rune(len(table)) {
		table[r] = orbit(r)
	}
	return table
}()

func foldRune(r rune) rune {
	if int(r) < len(foldTable) {
		return foldTable[r]
	}
	return orbit(r)
}

// orbit returns the representative of the runes that fold to each other: the lower case of the
// smallest rune if it is one of them, else the smallest rune itself, as for İ.
func orbit(r rune) rune {
	f, least := unicode.SimpleFold(r), r
	if f == r {
		return r
	}
	for ; f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	lower := unicode.ToLower(least)
	for f = unicode.SimpleFold(least); f != least; f = unicode.SimpleFold(f) {
		if f == lower {
			return lower
		}
	}
	return least
}

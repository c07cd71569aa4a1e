package text

import (
	"strings"
	"unicode"
)

// Fold is s with case taken away, for search and comparison: Fold(a) == Fold(b) exactly when strings.EqualFold(a, b).
// Letters become one of their simple-fold orbit, which is no language's lower case (ß stays apart from ss, and ς is σ); no locale has a say. Folding twice changes nothing.
func Fold(s string) string { return strings.Map(fold, s) }

// fold picks the smallest rune of the orbit, but ASCII letters are lower case, and so is what folds to one of them: the Kelvin sign is k, the long s is s.
func fold(r rune) rune {
	if r <= unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least <= unicode.MaxASCII {
		return fold(least)
	}
	return least
}

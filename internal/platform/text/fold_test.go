package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coffer/internal/platform/text"
)

// TestFoldEveryRune compares the fold of each rune with the runes that package unicode folds to it.
func TestFoldEveryRune(t *testing.T) {
	t.Parallel()
	merged := 0
	for r := range rune(unicode.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue
		}
		s, next := string(r), string(unicode.SimpleFold(r))
		if text.Fold(s) != text.Fold(next) {
			t.Fatalf("%U and %U fold to each other, but not here", r, unicode.SimpleFold(r))
		}
		if text.Fold(s) != s {
			merged++
		}
		if !strings.EqualFold(s, text.Fold(s)) {
			t.Fatalf("%U folds to %q, which is another letter", r, text.Fold(s))
		}
	}
	if merged < 1000 {
		t.Errorf("only %d runes fold to another, so the test proves nothing", merged)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                "",
		"edeka 4111":      "edeka 4111",
		"EDEKA Köln":      "edeka köln",
		"MÜLLER":          "müller",
		"\u212aelvin":     "kelvin",
		"ſ":               "s",
		"STRASSE":         "strasse",
		"Straße":          "straße",
		"STRAẞE":          "straße",
		"İstanbul":        "İstanbul",
		"ΣΊΣΥΦΟΣ":         "σίσυφοσ",
		"bad\xff":         "bad\ufffd",
		"  spaces  stay ": "  spaces  stay ",
	} {
		if got := text.Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestFoldIsEqualFold compares Fold with strings.EqualFold on whole strings.
func TestFoldIsEqualFold(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("kK\u212asSſßẞiIİıΣσςäÄ1 ")), 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if (text.Fold(a) == text.Fold(b)) != strings.EqualFold(a, b) {
			t.Errorf("%q and %q: the folds and EqualFold disagree", a, b)
		}
		if text.Fold(text.Fold(a)) != text.Fold(a) {
			t.Errorf("folding %q twice gives another text", a)
		}
	})
}

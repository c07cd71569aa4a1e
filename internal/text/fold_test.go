package text

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", ""},
		{"REWE Markt #12", "rewe markt #12"},
		{"\u212a\u017f", "ks"},
		{"straße", "straße"},
		{"ΣΊΣΥΦΟΣ", Fold("σίσυφος")},
		{"İ", "İ"}, // its orbit is itself: only Turkish thinks otherwise
		{"a\xffb", "a\ufffdb"},
		{"日本 🍣", "日本 🍣"},
	} {
		if got := Fold(c[0]); got != c[1] {
			t.Errorf("Fold(%q) is %q, want %q", c[0], got, c[1])
		}
	}
}

// Every rune, and every pair within an orbit.
func TestFoldOfEveryRune(t *testing.T) {
	t.Parallel()
	for r := range rune(unicode.MaxRune + 1) {
		s := string(r)
		got := Fold(s)
		if !strings.EqualFold(s, got) || Fold(got) != got {
			t.Fatalf("Fold(%q) is %q", s, got)
		}
		if next := string(unicode.SimpleFold(r)); Fold(next) != got {
			t.Fatalf("Fold(%q) is %q, Fold(%q) is %q", s, got, next, Fold(next))
		}
		if r > unicode.MaxASCII && len(got) == 1 && (got[0] < 'a' || got[0] > 'z') {
			t.Fatalf("Fold(%q) is %q", s, got)
		}
	}
}

func TestFoldIsEqualFold(t *testing.T) {
	t.Parallel()
	alphabet := []rune("aAkK\u212asS\u017fßẞσςΣéÉiIİıµμΜ \ufffd")
	letters := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 4, -1), rapid.String(), rapid.SampledFrom([]string{"\xff", "a\xfe", "\xc3"}))
	equal, apart := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if rapid.Bool().Draw(t, "same") {
			b = rapid.SampledFrom([]func(string) string{strings.ToUpper, strings.ToLower, strings.ToTitle, orbit}).Draw(t, "case")(a)
		}
		want := strings.EqualFold(a, b)
		if want {
			equal++
		} else {
			apart++
		}
		if got := Fold(a) == Fold(b); got != want {
			t.Fatalf("Fold(%q) is %q, Fold(%q) is %q; EqualFold says %t", a, Fold(a), b, Fold(b), want)
		}
	})
	if equal == 0 || apart == 0 {
		t.Errorf("%d pairs were equal, %d not: the test is blind", equal, apart)
	}
}

func orbit(s string) string { return strings.Map(unicode.SimpleFold, s) }

func FuzzFold(f *testing.F) {
	f.Add("REWE", "rewe")
	f.Add("\u212a", "k")
	f.Add("\xff", "\ufffd")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.EqualFold(a, b) != (Fold(a) == Fold(b)) {
			t.Fatalf("%q, %q", a, b)
		}
	})
}

func BenchmarkFold(b *testing.B) {
	for b.Loop() {
		Fold("SQ *BLUE BOTTLE COFFEE 0123456 BERLIN")
	}
}

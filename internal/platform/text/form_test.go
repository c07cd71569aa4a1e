package text_test

import (
	"strings"
	"testing"

	"coffer/internal/platform/text"
	"pgregory.net/rapid"
)

func TestForm(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"REWE MARKT 4711 BERLIN":   "rewe markt berlin",
		"REWE Markt 12.03. Berlin": "rewe markt berlin",
		"Miete März 2026":          "miete",
		"MIETE MAERZ":              "miete",
		"Loyer - août, 2025":       "loyer",
		"AMZN Mktp DE*2K4L19":      "amzn mktp",
		"Jan de Vries":             "jan de vries", // not a month: a name
		"Müller & Söhne GmbH":      "müller söhne gmbh",
		"4711":                     "4711",
		"  12/2025 ":               "  12/2025 ",
		"MARS":                     "mars", // nothing else is left
		"":                         "",
		"Carrefour\u00a0City 12":   "carrefour city",
	} {
		if got := text.Form(s); got != want {
			t.Errorf("%q has the form %q, want %q", s, got, want)
		}
	}
}

// The form of a form is the form, and it does not depend on case, digits or the month.
func TestFormIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		form := text.Form(s)
		if again := text.Form(form); again != form {
			t.Fatalf("%q has the form %q, and that form has the form %q", s, form, again)
		}
		if same := text.Form(strings.ToUpper(text.Fold(s))); text.Fold(same) != same {
			t.Fatalf("%q is not folded", same)
		}
		if word := rapid.StringMatching(`[a-z]{3,8}x`).Draw(t, "word"); text.Form(word+" 17 "+"Juni") != word {
			t.Fatalf("%q keeps its number or month", word)
		}
	})
}

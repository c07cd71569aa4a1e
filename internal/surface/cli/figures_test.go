package cli_test

import (
	"strings"
	"testing"

	"coffer/internal/platform/op"
	"coffer/internal/surface/cli"
)

// Amounts in tables have the format of the reader's locale, and keep every digit.
func TestFigures(t *testing.T) {
	t.Parallel()
	schema := &op.Schema{Type: "object", Props: []op.Prop{
		{Name: "amount", Schema: &op.Schema{Type: "number"}}, {Name: "count", Schema: &op.Schema{Type: "integer"}},
	}}
	for locale, want := range map[string]string{
		"": "1234567.50", "C": "1234567.50", "C.UTF-8": "1234567.50", "POSIX": "1234567.50", "no such thing": "1234567.50",
		"en_US.UTF-8": "1,234,567.50", "de_DE.UTF-8": "1.234.567,50", "de_CH": "1’234’567.50", "en_IN": "12,34,567.50",
		"fr_FR.UTF-8@euro": "1\u202f234\u202f567,50",
	} {
		for sign, shown := range map[string]string{"": "", "-": "+"} {
			var out strings.Builder
			s := &cli.Screen{Out: &out, Width: 80, Locale: locale}
			if err := s.Print(schema, []byte(`{"amount": `+sign+`1234567.50, "count": 2026}`)); err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(out.String(), "\u00a0", "\u202f")
			if !strings.Contains(text, " "+shown+want) || !strings.Contains(text, " 2026\n") {
				t.Errorf("%s: %q, want %s", locale, text, shown+want)
			}
		}
	}
}

// The first variable that is set wins, as in other programs.
func TestLocale(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ all, numeric, lang, want string }{
		{"", "", "", ""},
		{"", "", "de_DE.UTF-8", "de_DE.UTF-8"},
		{"", "fr_FR", "de_DE", "fr_FR"},
		{"C", "fr_FR", "de_DE", "C"},
	} {
		env := map[string]string{"LC_ALL": x.all, "LC_NUMERIC": x.numeric, "LANG": x.lang}
		if got := cli.Locale(func(name string) string { return env[name] }); got != x.want {
			t.Errorf("%v: %q", env, got)
		}
	}
}

package payeename_test

import (
	_ "embed"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"coffer/internal/books/payeename"
)

// wordings has a country, a wording and the name that a person would say, in columns.
//
//go:embed testdata/wordings.tsv
var wordings string

func table(tb testing.TB) [][3]string {
	tb.Helper()
	var rows [][3]string
	for line := range strings.Lines(wordings) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 {
			tb.Fatalf("not three columns: %q", line)
		}
		rows = append(rows, [3]string(parts))
	}
	return rows
}

func TestClean(t *testing.T) {
	t.Parallel()
	countries := map[string]int{}
	for _, row := range table(t) {
		countries[row[0]]++
		if got := payeename.Clean(row[1]); got != row[2] {
			t.Errorf("%s %q: %q, want %q", row[0], row[1], got, row[2])
		}
		law(t, row[1])
	}
	if len(countries) < 10 || len(table(t)) < 400 {
		t.Errorf("%d wordings of %d countries", len(table(t)), len(countries))
	}
}

// law checks properties that the name of every wording must have.
func law(t *testing.T, wording string) {
	t.Helper()
	name := payeename.Clean(wording)
	if again := payeename.Clean(name); again != name {
		t.Errorf("%.300q: the name of %q is %q", wording, name, again)
	}
	if strings.ContainsFunc(wording, unicode.IsLetter) && !strings.ContainsFunc(name, unicode.IsLetter) {
		t.Errorf("%q: the name %q has no letter", wording, name)
	}
	if utf8.RuneCountInString(name) > utf8.RuneCountInString(wording) {
		t.Errorf("%q: the name %q is longer", wording, name)
	}
	if !utf8.ValidString(name) || strings.TrimSpace(name) != name || strings.Contains(name, "  ") {
		t.Errorf("%q: the name %q is not clean", wording, name)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"CARD PAYMENT 4421 EDEKA 5426", "", "Edeka"},
		{"CARD PAYMENT 4421 EDEKA 5426", "EDEKA BERGMANN", "Edeka Bergmann"},
		{"", "", ""},
		{"12345", "", "12345"},
		{"  ", "", ""},
	} {
		if got := payeename.Of(c[0], c[1]); got != c[2] {
			t.Errorf("%q, %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// A name is the same with and without the cache, even if there are more names than the cache holds.
func TestOfRemembers(t *testing.T) {
	t.Parallel()
	for i := range 20_000 {
		wording := "SQ *SHOP " + strings.Repeat("A", i%97) + " " + string(rune('A'+i%26)) + string(rune('A'+i/26%26)) + " " +
			string(rune('A'+i/676%26))
		if got, want := payeename.Of(wording, ""), payeename.Clean(wording); got != want {
			t.Fatalf("%q: %q, want %q", wording, got, want)
		}
	}
}

// For any text of a bank, the name is valid text, no longer than the wording, and not empty unless
// the wording is. Whether people would say it is tested by the table.
func FuzzClean(f *testing.F) {
	for _, row := range table(f) {
		f.Add(row[1])
	}
	f.Add("((((((((((((")
	f.Add(strings.Repeat("a*", 5000))
	f.Fuzz(func(t *testing.T, wording string) {
		name := payeename.Clean(wording)
		if !utf8.ValidString(name) || utf8.RuneCountInString(name) > utf8.RuneCountInString(wording) ||
			name == "" && strings.ContainsFunc(wording, unicode.IsLetter) {
			t.Errorf("%q: the name is %q", wording, name)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	rows := table(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		payeename.Clean(rows[i%len(rows)][1])
	}
}

func BenchmarkOf(b *testing.B) {
	rows := table(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		payeename.Of(rows[i%len(rows)][1], "")
	}
}

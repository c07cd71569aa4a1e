package text_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"

	"coffer/internal/platform/text"
)

// hostile reads testdata/hostile.txt: one Go-quoted string a line, so that a reviewer sees every
// character.
func hostile(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		s, err := strconv.Unquote(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, s)
	}
	return list
}

// forbidden follows the rules of the design document, not the code under test.
func forbidden(s string, keep string) (rune, bool) {
	for i, r := range s {
		switch {
		case strings.ContainsRune(keep, r):
		case r < 0x20, 0x7f <= r && r <= 0x9f, r == 0x2028, r == 0x2029,
			0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c,
			0x200b <= r && r <= 0x200d, r == 0x2060, r == 0xfeff, 0xe0000 <= r && r <= 0xe007f:
			return r, true
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			return r, true
		}
	}
	return 0, false
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// check checks the rules that every cleaned text must follow.
func check(t failer, raw string, limit int) {
	t.Helper()
	line, prose := text.Line(raw, limit), text.Prose(raw, limit)
	if r, bad := forbidden(line.Plain(), ""); bad {
		t.Errorf("Line(%q) keeps %U", raw, r)
	}
	if r, bad := forbidden(prose.Plain(), "\n\t"); bad {
		t.Errorf("Prose(%q) keeps %U", raw, r)
	}
	for _, u := range []text.Untrusted{line, prose} {
		s := u.Plain()
		if n := utf8.RuneCountInString(s); n > max(limit, 0) {
			t.Errorf("%q has %d runes, limit %d", s, n, limit)
		}
		if strings.TrimSpace(s) != s {
			t.Errorf("%q is not trimmed", s)
		}
		if again := text.Prose(s, limit); again != u {
			t.Errorf("Prose(%q) = %q: not idempotent", s, again.Plain())
		}
	}
	if again := text.Line(line.Plain(), limit); again != line {
		t.Errorf("Line(%q) = %q: not idempotent", line.Plain(), again.Plain())
	}
	if strings.Contains(line.Plain(), "  ") {
		t.Errorf("%q has a run of spaces", line.Plain())
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	list := hostile(t)
	if len(list) < 60 {
		t.Fatalf("only %d hostile strings", len(list))
	}
	dirty := 0
	for _, raw := range list {
		if _, bad := forbidden(raw, ""); bad {
			dirty++
		}
		for _, limit := range []int{-1, 0, 1, 7, text.NameMax} {
			check(t, raw, limit)
		}
		checkExits(t, text.Name(raw))
	}
	if dirty < 50 {
		t.Errorf("the check finds a forbidden rune in only %d raw strings, so it proves nothing", dirty)
	}
}

// checkExits checks all outputs of an Untrusted: a JSON value and a cell contain the real text,
// everything else a placeholder.
func checkExits(t *testing.T, u text.Untrusted) {
	t.Helper()
	data, err := json.Marshal(map[string]text.Untrusted{"name": u})
	var back map[string]string
	if err != nil || json.Unmarshal(data, &back) != nil || back["name"] != u.Plain() {
		t.Errorf("%q is %s in JSON, %v", u.Plain(), data, err)
	}
	if cell := text.Cell(u.Plain()); cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
		t.Errorf("%q is not a safe cell", cell)
	}
	if len(u) < 4 { // too short to distinguish from the placeholder
		return
	}
	for _, out := range []string{
		fmt.Sprint(u), fmt.Sprintf("%v %+v %#v %s %q %x %d", u, u, u, u, u, u, u),
		fmt.Sprintf("%+v", struct{ Name text.Untrusted }{u}), fmt.Sprint([]text.Untrusted{u}, &u),
		fmt.Errorf("cannot match %s", u).Error(), errors.New(u.String()).Error(), logged(u),
	} {
		if strings.Contains(out, u.Plain()) || !strings.Contains(out, "runes]") {
			t.Errorf("%q appears in %s", u.Plain(), out)
		}
	}
}

func logged(u text.Untrusted) string {
	var out bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("sync", "name", u, slog.Group("row", "name", u))
	}
	return out.String()
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	u := text.Name("CAFÉ OLIMPICO")
	if got, want := fmt.Sprintf("no rule for %s", u), `no rule for "[text 13 runes]"`; got != want {
		t.Errorf("fmt: %s, want %s", got, want)
	}
	if got := u.LogValue().String(); got != "[text 13 runes]" {
		t.Errorf("slog: %s", got)
	}
	var page strings.Builder
	err := template.Must(template.New("").Parse("<p>{{.}}</p>")).Execute(&page, u)
	if err != nil || strings.Contains(page.String(), "CAF") {
		t.Errorf("template: %s, %v", page.String(), err)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"STARBUCKS #1123":                             "STARBUCKS #1123",
		"  AMZN   Mktp\tDE\r\n*AB12 ":                 "AMZN Mktp DE *AB12",
		"\x1b[31mRED\x1b[0m":                          "RED",
		"\x1b]0;owned\aREST":                          "REST",
		"\x1b]8;;https://x.example\x1b\\go\x1b]8;;\a": "go",
		"\u009b31mRED\u009d0;title\u009c.":            "RED.",
		"\x1bPsixel\x1b\\A\x1b(0B\x1bcC":              "ABC",
		"\x1b]never ends":                             "never ends",
		"\x1b]broken\nby a line":                      "broken by a line",
		"tail\x1b":                                    "tail",
		"tail\x1b[38;5":                               "tail",
		"caf\xe9 \xff\xfe":                            "caf",
		"a\u202eb\u200bc\ufeffd\U000e0041e\u00adf":    "abcdef",
		"a\u3164b\u034fc\U000e0002d\uffffe":           "abcde",
		"\u00a0A\u3000\u2028\u0085B":                  "A B",
		"\ufe0f\u2764\ufe0f\ufe0e\U000e0100":          "\u2764\ufe0f",
		"e\u0301":                                     "e\u0301",
		"\u0627\u0600\u0661":                          "\u0627\u0600\u0661",
		"":                                            "",
	} {
		if got := text.Line(in, text.NameMax).Plain(); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"one\r\ntwo\rthree\u2028four": "one\ntwo\nthree\nfour",
		"\n\n- a\n\t- b  c\n\n":       "- a\n\t- b  c",
		"\x1b[1mbold\x1b[0m\n\u202ex": "bold\nx",
		"a\x00b\vc\fd\u0085e":         "ab\nc\nd\ne",
		"\u00a0\n":                    "",
	} {
		if got := text.Prose(in, 1000).Plain(); got != want {
			t.Errorf("Prose(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abcdef", 3, "abc"},
		{"abc", 3, "abc"},
		{"ab cd", 3, "ab"},
		{"abe\u0301\u0302", 3, "ab"},
		{"abe\u0301\u0302", 4, "ab"},
		{"abe\u0301\u0302", 5, "abe\u0301\u0302"},
		{"ok\U0001f44d\U0001f3fd", 3, "ok"},
		{"a" + strings.Repeat("\u0301", 9), 4, "a\u0301\u0301\u0301"},
		{"\u200b\u200b\u200babc", 3, "abc"},
		{"     abc", 3, "abc"},
		{"x", 0, ""},
		{"x", math.MinInt, ""},
		{"x", math.MaxInt, "x"},
	} {
		if got := text.Line(c.in, c.limit).Plain(); got != c.want {
			t.Errorf("Line(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
	if got := text.Name(strings.Repeat("ж", 300)).Plain(); utf8.RuneCountInString(got) != text.NameMax {
		t.Errorf("a long name keeps %d runes", utf8.RuneCountInString(got))
	}
}

func TestJSONEntersCleaned(t *testing.T) {
	t.Parallel()
	var comment struct{ Content text.Untrusted }
	if err := json.Unmarshal([]byte(`{"Content":" pay\u202e me\n\u001b[31mnow "}`), &comment); err != nil {
		t.Fatal(err)
	}
	if got := comment.Content.Plain(); got != "pay me\nnow" {
		t.Errorf("decoded %q", got)
	}
}

func TestCell(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                  "",
		"STARBUCKS":         "STARBUCKS",
		"a=1":               "a=1",
		"=1+1":              "'=1+1",
		"+1":                "'+1",
		"-1":                "'-1",
		"@SUM(A1)":          "'@SUM(A1)",
		"\t=1":              "'\t=1",
		"\r=1":              "'\r=1",
		"\n=1":              "'\n=1",
		"  =1":              "'  =1",
		"\uff1d1":           "'\uff1d1",
		"   ":               "   ",
		"'quoted by origin": "'quoted by origin",
	} {
		if got := text.Cell(in); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestPostgresWire checks that pgx sends the text and not the placeholder in every mode: with a
// known type, and without one (oid 0) as in the simple protocol.
func TestPostgresWire(t *testing.T) {
	t.Parallel()
	types := pgtype.NewMap()
	want := text.Name("CAFÉ OLIMPICO")
	for _, oid := range []uint32{0, pgtype.TextOID, pgtype.VarcharOID} {
		for _, value := range []any{want, &want} {
			wire, err := types.Encode(oid, pgtype.TextFormatCode, value, nil)
			if err != nil || string(wire) != want.Plain() {
				t.Errorf("oid %d, %T: %q, %v", oid, value, wire, err)
			}
		}
	}
	var got text.Untrusted
	var pointer, null *text.Untrusted
	for _, target := range []any{&got, &pointer} {
		if err := types.Scan(pgtype.TextOID, pgtype.BinaryFormatCode, []byte(want), target); err != nil {
			t.Fatal(err)
		}
	}
	if err := types.Scan(pgtype.TextOID, pgtype.TextFormatCode, nil, &null); err != nil || null != nil {
		t.Errorf("NULL: %v", err)
	}
	if got != want || *pointer != want {
		t.Errorf("scanned %q and %q", got.Plain(), pointer.Plain())
	}

	list := []text.Untrusted{want, "b"}
	wire, err := types.Encode(pgtype.TextArrayOID, pgtype.BinaryFormatCode, list, nil)
	if err != nil {
		t.Fatal(err)
	}
	var back []text.Untrusted
	err = types.Scan(pgtype.TextArrayOID, pgtype.BinaryFormatCode, wire, &back)
	if err != nil || len(back) != 2 || back[0] != want {
		t.Errorf("array: %d elements, %v", len(back), err)
	}
}

// TestSizeIsLinear would not end if the scan started over at every unfinished sequence.
func TestSizeIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"\x1b]", "\u009d", "\x1b]a\n", "\x1b[", "\x1b ", "\u200b", "\xff", " ", "\u0301"} {
		text.Prose(strings.Repeat(unit, 1<<18), math.MaxInt)
	}
}

func TestCleanProperty(t *testing.T) {
	t.Parallel()
	list := hostile(t)
	part := rapid.OneOf(
		rapid.SampledFrom(list),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{
			"\x1b", "\x1b[", "\x1b]", "\a", "\u009b", "\u009c", "\xc2", "\x9b", "m",
			" ", "\r", "\n", "\u0301", "\ufe0f", "\u200d", "\U000e0041",
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), "")
		check(t, raw, rapid.IntRange(-1, 300).Draw(t, "limit"))
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range hostile(f) {
		f.Add(s, text.NameMax)
	}
	f.Fuzz(func(t *testing.T, raw string, limit int) {
		check(t, raw, limit)
	})
}

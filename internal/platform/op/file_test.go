package op

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/racetest"
	"github.com/google/go-cmp/cmp"
)

// A body with a long text is read like any other, whatever the text contains.
func TestParseFileObject(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"plain ", `"`, `\`, "/", "\b\f\n\r\t", "é", "€", "𝄞", "\u2028", "<&>", "\x00", "\x1f", "\ufffd"}
	for range 200 {
		var b strings.Builder
		for b.Len() < longText+r.IntN(1000) {
			b.WriteString(words[r.IntN(len(words))])
		}
		want := map[string]any{
			"csv": b.String(), "note": words[r.IntN(len(words))],
			"options": map[string]any{"a": []any{"x", b.String()}},
		}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 { // a surrogate pair in place of the character
			raw = []byte(strings.ReplaceAll(string(raw), "𝄞", `\ud834\udd1e`))
		}
		got, err := ParseFileObject(raw)
		if err != nil {
			t.Fatal(err)
		}
		file, ok := got["csv"].(File)
		if !ok {
			t.Fatalf("the long text is a %T", got["csv"])
		}
		got["csv"] = string(file)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	long := strings.Repeat("x", longText)
	for _, bad := range []string{
		`{"csv":"` + long + `\x"}`, `{"csv":"` + long + `\u12g4"}`, `{"csv":"` + long + `\u12"}`,
		`{"csv":"` + long + "\n\"}", `{"csv":"` + long + "\xff\"}",
		`{"csv":"` + long, `{"csv":"` + long + `\`, `{"csv":"` + long + `\"}`, `{"csv":"` + long + `"`,
		`{"csv":"` + long + `","csv":"x"}`, `["` + long + `"]`,
		`{` + strings.Repeat(`"a":"`+long+`",`, 12) + `"b":1}`,
	} {
		if got, err := ParseFileObject([]byte(bad)); err == nil {
			t.Errorf("%.40s…%s was read as %d values", bad, bad[max(0, len(bad)-12):], len(got))
		}
	}
	if got, err := ParseFileObject([]byte(`{"csv":"a,b","n":[1,"` + long + `\ud800y"]}`)); err != nil ||
		got["csv"] != "a,b" {
		t.Errorf("%v, %v", got["csv"], err)
	} else if list, ok := got["n"].([]any); !ok || list[1] != long+"\ufffdy" {
		t.Error("a long text within a list")
	}
}

type fileInput struct {
	CSV  File   `json:"csv" minLength:"1" format:"file"`
	Note string `json:"note,omitempty"`
}

// The use case gets the same bytes that arrived, without a copy. The canonical form of the call
// contains their digest.
func TestFileArrivesWithoutCopies(t *testing.T) {
	t.Parallel()
	var got fileInput
	o := Reading(Spec{Name: "file.preview", Route: "POST /files", TextIn: "csv text/csv", Summary: "Reads a file."},
		func(_ context.Context, _ pg.Querier, in fileInput) (None, error) {
			got = in
			return None{}, nil
		})
	raw := []byte("a,b\n\xff\x00")
	args, _, err := o.accept(&Call{Args: map[string]any{"csv": o.FromBody(raw), "note": "n"}, Surface: REST})
	if err != nil {
		t.Fatal(err)
	}
	if s := string(args.json); len(s) > 200 || !strings.Contains(s, `"sha256:`) {
		t.Errorf("the canonical form is %.200s", s)
	}
	if _, err := o.run(t.Context(), nil, args); err != nil {
		t.Fatal(err)
	}
	if &got.CSV[0] != &raw[0] || len(got.CSV) != len(raw) || got.Note != "n" {
		t.Errorf("the use case got %q, %q", got.CSV, got.Note)
	}
	if _, _, err := o.accept(&Call{Args: map[string]any{"csv": o.FromBody(nil)}, Surface: REST}); err == nil {
		t.Error("an empty file was accepted")
	}
	other, _, err := o.accept(&Call{Args: map[string]any{"csv": o.FromBody([]byte("a,c")), "note": "n"}, Surface: REST})
	if err != nil || bytes.Equal(other.json, args.json) {
		t.Errorf("another file has the same canonical form, %v", err)
	}
}

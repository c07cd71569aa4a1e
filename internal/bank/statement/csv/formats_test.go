package csv_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
)

var update = flag.Bool("update", false, "write the goldens anew")

// A reading holds everything that is read from a file: the preview, and every row or the reason why
// it is left out.
type reading struct {
	Preview csv.Preview `json:"preview"`
	Rows    []any       `json:"rows"`
}

func read(t testing.TB, data []byte, o csv.Options) reading {
	t.Helper()
	p, err := csv.Inspect(t.Context(), bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	r := reading{Preview: p}
	for row, err := range csv.Read(t.Context(), bytes.NewReader(data), p) {
		var bad *statement.RowError
		switch {
		case errors.As(err, &bad):
			r.Rows = append(r.Rows, bad)
		case err != nil:
			t.Fatal(err)
		default:
			r.Rows = append(r.Rows, row)
		}
	}
	r.Preview.Sample = nil // the rows contain the same
	return r
}

func TestFormatsGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/formats/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".csv"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(read(t, data, csv.Options{})); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".csv") + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%s is read otherwise than before; if that is meant, run this test with -update\n%s", file,
					out.Bytes())
			}
		})
	}
}

// Every known format has a sample file that is recognized as that format.
func TestEveryFormatHasAFile(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("formats.txt")
	if err != nil {
		t.Fatal(err)
	}
	recognised := map[string]bool{}
	files, _ := filepath.Glob("testdata/formats/*.csv")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		recognised[read(t, data, csv.Options{}).Preview.KnownFormat] = true
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		if strings.TrimSpace(line) == "" || strings.ContainsAny(line[:1], "# ") {
			continue
		}
		n++
		if id := strings.Fields(line)[0]; !recognised[id] {
			t.Errorf("no file under testdata/formats is recognised as %s", id)
		}
	}
	if n < 60 {
		t.Errorf("formats.txt has %d formats", n)
	}
}

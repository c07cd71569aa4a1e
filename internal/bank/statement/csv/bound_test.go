package csv_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/errs"
)

// TestBounds reads large files that are designed to be hard, and limits time and memory.
func TestBounds(t *testing.T) { //nolint:paralleltest // it measures
	size := statement.MaxSize / 128
	if os.Getenv("COFFER_TEST_LONG") != "" {
		size = statement.MaxSize
	}
	for name, unit := range map[string]string{
		"quotes":             `"`,
		"quotes left open":   "\"a\n",
		"quotes with blanks": "\"               x",
		"delimiters":         ",",
		"rows of nothing":    ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n",
		"line ends":          "\n",
		"returns":            "\r",
		"one line":           "x",
		"dates":              "01/02/2026,",
		"numbers":            "1.234,",
		"rows of dates":      strings.Repeat("01/02/2026,1.234,", 20) + "\n",
		"invalid":            "\xff\xc3,",
		"headers":            "Date,Amount,Description,Balance,Debit,Credit\n",
	} {
		data := bytes.Repeat([]byte(unit), size/len(unit))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := csv.Inspect(t.Context(), bytes.NewReader(data), csv.Options{})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		t.Logf("%-20s %8s, %4d MiB allocated in all, %v", name, took.Round(time.Millisecond),
			(after.TotalAlloc-before.TotalAlloc)>>20, err)
		if e, ok := errors.AsType[*errs.Error](err); err != nil && !ok {
			t.Errorf("%s: %v", name, e)
		}
		if took > 60*time.Second {
			t.Errorf("%s took %s", name, took)
		}
		if used := after.Sys - before.Sys; used > 128<<20 {
			t.Errorf("%s took %d MiB from the system", name, used>>20)
		}
	}
}

// The result of a preview can be sent back as options without a change in the result, because an
// import takes the same body and the mapping.
func TestPreviewSentBack(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/formats/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := csv.Inspect(t.Context(), bytes.NewReader(data), csv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := csv.Options{
			Encoding: p.Encoding, Delimiter: p.Delimiter, HeaderRow: p.HeaderRow, DateFormat: p.DateFormat,
			DecimalSeparator: p.DecimalSeparator, AmountSign: p.AmountSign, Mapping: &p.Mapping,
		}
		again, err := csv.Inspect(t.Context(), bytes.NewReader(data), o)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if a, b := lines(t, string(data), p), lines(t, string(data), again); strings.Join(a, "\n") != strings.Join(b,
			"\n") {
			t.Errorf("%s: %q, then %q", file, a, b)
		}
	}
}

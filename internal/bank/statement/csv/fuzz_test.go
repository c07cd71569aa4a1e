package csv_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/errs"
)

func seeds(f *testing.F) [][]byte {
	f.Helper()
	files, err := filepath.Glob("testdata/formats/*.csv")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	var out [][]byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, data)
	}
	return append(out, []byte("\""), []byte("\xff\xfe,\x00"), []byte("sep=\n"), []byte("sep=,"),
		bytes.Repeat([]byte("\"a\n"), 1000), bytes.Repeat([]byte(","), 5000))
}

// FuzzInspect checks the guarantees of previews on arbitrary input.
func FuzzInspect(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		p, err := csv.Inspect(t.Context(), bytes.NewReader(data), csv.Options{})
		if took := time.Since(start); took > 2*time.Second+time.Duration(len(data))*10*time.Microsecond {
			t.Errorf("%d bytes took %s", len(data), took)
		}
		if err != nil {
			if _, ok := errors.AsType[*errs.Error](err); !ok {
				t.Fatal(err)
			}
			return
		}
		rows, rejected := 0, 0
		for row, err := range csv.Read(t.Context(), bytes.NewReader(data), p) {
			bad, isBad := errors.AsType[*statement.RowError](err)
			switch {
			case err != nil && !isBad:
				t.Fatal(err)
			case isBad && bad.Skip:
				continue
			case isBad:
				rejected++
			default:
				if _, err := time.Parse(time.DateOnly, row.Date); err != nil {
					t.Errorf("row %d is of no day: %s", row.Number, row.Date)
				}
			}
			rows++
		}
		if rows != p.RowsTotal || rejected != p.RowsRejected {
			t.Errorf("the preview counts %d rows and %d rejected, reading gives %d and %d", p.RowsTotal, p.RowsRejected,
				rows, rejected)
		}
	})
}

// FuzzRead reads any data with options that were made for another file.
func FuzzRead(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, byte(i), byte(i/2), byte(i/3))
	}
	f.Fuzz(func(t *testing.T, data []byte, a, b, c byte) {
		row := int(a) % 5
		o := csv.Options{
			Encoding: []string{
				"", csv.UTF8, csv.UTF16LE, csv.UTF16BE, csv.Windows1252,
				csv.Windows1250,
			}[int(a)%6],
			Delimiter:        []string{"", ",", ";", "\t", "|"}[int(b)%5],
			DateFormat:       []string{"", "YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YY"}[int(c)%4],
			DecimalSeparator: []string{"", ".", ","}[int(b)%3],
			AmountSign: []string{
				"", csv.NegativeOut, csv.PositiveOut, csv.Split,
				csv.Flag,
			}[int(c)%5],
			HeaderRow: []*int{nil, &row}[int(b)%2],
		}
		if c%3 == 0 {
			o.Mapping = &csv.Mapping{
				Date: csv.At(int(a) % 4), Amount: csv.At(int(b) % 4), Name: csv.At(int(c) % 4),
				Balance: csv.At(int(a) % 3),
				Fee:     csv.At(int(b) % 5), Flag: csv.At(int(c) % 5), ID: csv.At(0),
			}
		}
		if c%6 == 0 {
			o.Mapping.Amount, o.Mapping.Debit = nil, csv.At(int(b)%4)
		}
		p, err := csv.Inspect(t.Context(), bytes.NewReader(data), o)
		if err != nil {
			return
		}
		var prints statement.Fingerprints
		seen := map[string]bool{}
		for row, err := range csv.Read(t.Context(), bytes.NewReader(data), p) {
			if _, ok := errors.AsType[*statement.RowError](err); ok {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			id := prints.Of(row)
			if seen[id] {
				t.Fatalf("row %d has the identity of another", row.Number)
			}
			seen[id] = true
		}
	})
}

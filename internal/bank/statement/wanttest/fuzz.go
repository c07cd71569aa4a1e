package wanttest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

// Fuzz reads any data as the given format, starting from the samples of testdata and more.
func Fuzz(f *testing.F, format statement.Format, more ...[]byte) {
	f.Helper()
	for _, sample := range Samples(f, "testdata") {
		data, err := os.ReadFile(filepath.Clean(sample))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, data := range more {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { Laws(t, format, data) })
}

// Laws checks what must hold for every file: it results in an error that people can read, or in a
// preview whose counts match the rows that are then read.
func Laws(t *testing.T, format statement.Format, data []byte) {
	t.Helper()
	file, err := format.Open(t.Context(), bytes.NewReader(data), statement.Options{})
	if err != nil {
		if _, ok := errors.AsType[*errs.Error](err); !ok {
			t.Fatal(err)
		}
		return
	}
	rows, rejected, skipped := 0, 0, 0
	known := map[text.Untrusted]bool{}
	for _, a := range file.Accounts() {
		known[a.Key] = true
		for _, p := range a.Points {
			if _, err := time.Parse(time.DateOnly, p.Day); err != nil {
				t.Errorf("a balance is of no day: %s", p.Day)
			}
		}
	}
	var prints statement.Fingerprints
	seen := map[string]bool{}
	for row, err := range file.Rows(t.Context()) {
		bad, isBad := errors.AsType[*statement.RowError](err)
		switch {
		case err != nil && !isBad:
			t.Fatal(err)
		case isBad && bad.Skip:
			skipped++
			continue
		case isBad:
			rejected++
			rows++
			continue
		}
		rows++
		if _, err := time.Parse(time.DateOnly, row.Date); err != nil {
			t.Errorf("row %d is of no day: %s", row.Number, row.Date)
		}
		if id := prints.Of(row); seen[id] {
			t.Errorf("row %d has the identity of another", row.Number)
		} else {
			seen[id] = true
		}
		if format.Name != "csv" && format.Name != "xlsx" && !known[row.Account] {
			t.Errorf("row %d is of no account", row.Number)
		}
	}
	if rows != file.RowsTotal || rejected != file.RowsRejected || skipped != file.RowsSkipped {
		t.Errorf("the preview counts %d rows, %d rejected, %d skipped; reading gives %d, %d, %d", file.RowsTotal,
			file.RowsRejected, file.RowsSkipped, rows, rejected, skipped)
	}
}

// Mutate reads each sample after random damage, which is the same in each run.
func Mutate(t *testing.T, format statement.Format, times int) {
	t.Helper()
	for _, sample := range Samples(t, "testdata") {
		whole, err := os.ReadFile(filepath.Clean(sample))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(len(whole)), 1)) //nolint:gosec // the same damage in each run
		for range times {
			data := bytes.Clone(whole)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(data))
				to := min(len(data), at+1+r.IntN(30))
				switch r.IntN(4) {
				case 0:
					data[at] = byte(r.IntN(256))
				case 1:
					data = append(data[:at:at], data[to:]...)
				case 2:
					data = append(data[:to:to], data[at:]...)
				case 3:
					data = data[:max(1, at)]
				}
				if len(data) == 0 {
					data = []byte("x")
				}
			}
			if Laws(t, format, data); t.Failed() {
				t.Fatalf("%s: %q", sample, data)
			}
		}
	}
}

package statement

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank/statement/csv"
)

func (out Imported) lines() int64 {
	return out.Added + out.Modified + out.Duplicates + out.Restored + out.RowsRejected + out.RowsSkipped
}

// filled counts the lines of a file below its header that are not blank, from its bytes alone. A
// line break within quotes does not end a line.
func filled(file, delimiter string, header *int) (n int64) {
	var lines []string
	quoted, line := false, ""
	for _, r := range strings.ReplaceAll(strings.ReplaceAll(file, "\r\n", "\n"), "\r", "\n") {
		if quoted = quoted != (r == '"'); r == '\n' && !quoted {
			lines, line = append(lines, line), ""
			continue
		}
		line += string(r)
	}
	for i, line := range append(lines, line) {
		if (header == nil || i >= *header) && strings.Trim(line, " \t\"\x00"+delimiter) != "" {
			n++
		}
	}
	return n
}

// Every line below the header that is not blank is in exactly one count of an import, for the files
// of every bank.
func TestEveryLineIsCounted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../bank/statement/csv/testdata/formats/*.csv")
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	if testing.Short() {
		files = files[:20]
	}
	b := newBranch(t)
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := csv.Inspect(t.Context(), bytes.NewReader(file), csv.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		d := b.drawer(t)
		for range 2 {
			got, err := d.put(t.Context(), string(file))
			if want := filled(string(file), p.Delimiter, p.HeaderRow); err != nil || got.lines() != want ||
				got.lines() != int64(p.RowsTotal+p.RowsSkipped) {
				t.Errorf("%s has %d lines below its header: %+v, %v", name, want, got, err)
			}
		}
	}
}

// The file has lines of every kind, in any order. Each is counted once, and each one that is left
// out has a reason.
func TestOddLinesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	odd := []string{
		",COFFEE,-4.80,booked",                   // no date
		"2026-05-04,COFFEE,,booked",              // no amount
		"2026-05-04,COFFEE,-4.80,pending",        // is posted later
		"2026-05-04,Closing balance,12.00,",      // not a transaction
		"Total,,-17.00,",                         // not a transaction
		",Total,-17.00,",                         // not a transaction
		"2026-13-44,COFFEE,-4.80,booked",         // invalid day
		"2026-05-04,COFFEE,four,booked",          // invalid number
		"This statement is no invoice",           // not a row
		"2026-05-05,\"CINEMA, 2 seats\",-22,OK",  // fine
		"2026-05-05,COFFEE,-4.80,booked",         // fine
		"2026-05-06,COFFEE,-4.80,declined",       // never happened
		",,,", "", "   ", ";;", "x", "-4.80,,,,", // blank and broken
	}
	for n := range 40 {
		r := rand.New(rand.NewPCG(uint64(n), 17))
		lines := []string{
			"2026-05-13,RENT,-90.00,booked", "2026-05-14,POWER,-40.00,booked",
			"2026-05-15,SALARY,1200.00,booked", "2026-05-16,COFFEE,-4.80,booked",
		}
		for range r.IntN(12) {
			lines = append(lines, odd[r.IntN(len(odd))])
		}
		r.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		file := "Date,Description,Amount,Status\n" + strings.Join(lines, "\n") + "\n"
		d := b.drawer(t)
		got, err := d.put(t.Context(), file)
		if want := filled(file, ",", new(1)); err != nil || got.lines() != want ||
			int64(len(got.Rejected)) != got.RowsRejected || int64(len(got.Skipped)) != got.RowsSkipped {
			t.Fatalf("%d lines: %+v, %v\n%s", want, got, err, file)
		}
		// A row with an amount and a text but no date is reported as such.
		for i, line := range lines {
			if line == odd[0] && !slices.ContainsFunc(got.Rejected, func(o LeftOut) bool { return o.Row == i+2 }) {
				t.Fatalf("row %d is not rejected: %+v\n%s", i+2, got, file)
			}
		}
	}
}

package statement_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/platform/racetest"
	"coffer/internal/sim/household"
	"coffer/internal/sim/statements"
)

// Reading a row takes at most twice as long in each format as in CSV. For CAMT and Excel it is
// three times, because they are mostly tags or compressed. No format takes much memory. All formats
// are measured in the same run, with as many of 500,000 rows as a file of the format may have.
func TestFormatsBesideCSV(t *testing.T) { //nolint:paralleltest // it measures
	racetest.Sequential(t)
	if os.Getenv("COFFER_TEST_LONG") == "" {
		t.Skip("takes minutes; set COFFER_TEST_LONG=1")
	}
	var csv measured
	for _, format := range []string{"csv", "ofx1", "ofx2", "camt053", "mt940", "qif", "xlsx"} {
		got := measure(t, format, inEuros(most(t, format)))
		if format == "csv" {
			csv = got
		}
		ratio, limit := got.perRow()/csv.perRow(), 2.0
		if format == "camt053" || format == "xlsx" {
			limit = 3
		}
		t.Logf("%-8s %7d rows %4d MiB %8s %5.2f times CSV, peak %4d MiB", format, got.rows, got.size>>20,
			got.took.Round(time.Millisecond), ratio, got.peak>>20)
		if ratio > limit {
			t.Errorf("%s takes %.2f times as long as CSV", format, ratio)
		}
		if got.peak > 128<<20 {
			t.Errorf("%s takes %d MiB", format, got.peak>>20)
		}
	}
}

// inEuros returns a household's accounts in euros, because QIF has no currencies.
func inEuros(rows int) (out []statements.Statement) {
	for _, s := range statements.Of(household.New(household.Options{Seed: 7, Transactions: rows, Years: 1, Purposes: true})) {
		if s.Currency == "EUR" {
			out = append(out, s)
		}
	}
	return out
}

// worked returns the CPU time of this program, so other programs do not matter.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A measured holds the cost of reading a file: CPU time, and the peak of additional memory.
type measured struct {
	rows, size, peak int64
	took             time.Duration
}

func (m measured) perRow() float64 { return float64(m.took) / float64(m.rows) }

// most returns how many of 500,000 rows a file of a format may have.
func most(t *testing.T, format string) int {
	t.Helper()
	const rows, few = 500_000, 20_000
	if format == "xlsx" {
		format = "csv"
	}
	var b bytes.Buffer
	if err := statements.Write(&b, format, inEuros(few)); err != nil {
		t.Fatal(err)
	}
	return min(rows, statement.MaxSize/10*9/(b.Len()/few))
}

// measure writes the statements in a format and reads them as a preview and an import do.
func measure(t *testing.T, format string, want []statements.Statement) (m measured) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), format))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	if err := statements.Write(file, format, want); err != nil {
		t.Fatal(err)
	}
	if at, err := file.Stat(); err == nil {
		m.size = at.Size()
	}
	f, err := statement.Detect(all.Formats, file)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	stop := watchMemory()
	start := worked(t)
	p, err := f.Inspect(t.Context(), file, statement.Options{DefaultCurrency: "EUR"})
	if err != nil {
		t.Fatal(format, err)
	}
	for _, err := range f.Read(t.Context(), file, p) {
		if _, bad := errors.AsType[*statement.RowError](err); err != nil && !bad {
			t.Fatal(format, err)
		}
		m.rows++
	}
	m.took = worked(t) - start
	m.peak = stop()
	return m
}

// watchMemory returns a function that ends the watch and returns the peak growth of the heap.
func watchMemory() (stop func() int64) {
	heap := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	done, peak := make(chan struct{}), make(chan int64)
	before := heap()
	go func() {
		most := before
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-done:
				peak <- most - before
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-peak
	}
}

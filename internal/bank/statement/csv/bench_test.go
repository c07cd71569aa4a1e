package csv_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
)

const benchRows = 100_000

func large(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("Date,Description,Amount,Running Bal.\r\n")
	balance := 5_000_000
	for i := range rows {
		cents := i*7919%20_000 + 1
		if i%20 == 0 {
			cents *= -20
		}
		balance -= cents
		fmt.Fprintf(&b, "%02d/%02d/%d,\"CARD PURCHASE %d, SHOP %d\",\"%d.%02d\",\"%d.%02d\"\r\n", i/2800%12+1,
			i/100%28+1, 2023+i/33600, i, i%900,
			-cents/100, max(cents, -cents)%100, balance/100, max(balance, -balance)%100)
	}
	return b.Bytes()
}

func BenchmarkInspect(b *testing.B) {
	data := large(benchRows)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := csv.Inspect(b.Context(), bytes.NewReader(data), csv.Options{})
		if err != nil || p.RowsTotal != benchRows {
			b.Fatal(p.RowsTotal, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := large(benchRows)
	p, err := csv.Inspect(b.Context(), bytes.NewReader(data), csv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var prints statement.Fingerprints
		n := 0
		for row, err := range csv.Read(b.Context(), bytes.NewReader(data), p) {
			if err != nil {
				b.Fatal(err)
			}
			prints.Of(row)
			n++
		}
		if n != benchRows {
			b.Fatal(n)
		}
	}
}

// TestMemory makes sure that a file is read as a stream: the additional memory does not grow with
// the file.
func TestMemory(t *testing.T) { //nolint:paralleltest // it measures the heap, which others would fill
	data := large(benchRows / 5)
	p, err := csv.Inspect(t.Context(), bytes.NewReader(data), csv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most, n := heap(), uint64(0), 0
	for _, err := range csv.Read(t.Context(), bytes.NewReader(data), p) {
		if _, ok := errors.AsType[*statement.RowError](err); err != nil && !ok {
			t.Fatal(err)
		}
		if n++; n%5_000 == 0 {
			most = max(most, heap())
		}
	}
	if grown := int64(most) - int64(before); grown > 1<<20 {
		t.Errorf("reading %d bytes holds %d bytes", len(data), grown)
	} else {
		t.Logf("reading %d bytes holds %d bytes", len(data), grown)
	}
	runtime.KeepAlive(data)
}

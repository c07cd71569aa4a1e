package csv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/racetest"
)

// A tap counts the bytes that are read of a file, and cancels the context at a limit.
type tap struct {
	*bytes.Reader
	read, limit int
	stop        context.CancelFunc
}

func (t *tap) ReadAt(p []byte, off int64) (int, error) {
	n, err := t.Reader.ReadAt(p, off)
	if t.read += n; t.read >= t.limit {
		t.stop()
	}
	return n, err
}

// TestDeadlineEndsReading cancels the context after each share of the work. Reading must end at
// most a buffer or some thousand rows later. If only the caller observed the deadline, the work
// would continue.
func TestDeadlineEndsReading(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	var file bytes.Buffer
	file.WriteString("Date,Name,Amount\n")
	for i := range 40_000 {
		fmt.Fprintf(&file, "2025-%02d-%02d,SHOP %d,-%d.50\n", 1+i%12, 1+i%28, i%300, 1+i%90)
	}
	try := func(limit int) (read int, err error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		f := &tap{Reader: bytes.NewReader(file.Bytes()), limit: limit, stop: stop}
		p, err := csv.Inspect(ctx, f, csv.Options{})
		if err != nil {
			return f.read, err
		}
		for _, err := range csv.Read(ctx, f, p) {
			if err != nil {
				return f.read, err
			}
		}
		return f.read, nil
	}
	whole, err := try(math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	const slack = 3 * (64 << 10)
	for limit := 1; limit < whole-slack; limit += whole / 23 {
		read, err := try(limit)
		if !errors.Is(err, context.Canceled) || read > limit+slack {
			t.Errorf("of %d bytes the context ended after %d; reading ended after %d with %v", whole, limit, read, err)
		}
	}
}

package camt_test

import (
	"testing"

	"coffer/internal/bank/statement/camt"
	"coffer/internal/bank/statement/wanttest"
)

// Each sample file is read as expected: rows, skipped entries, balances and warnings.
func TestSamples(t *testing.T) {
	t.Parallel()
	wanttest.Check(t, camt.Format)
}

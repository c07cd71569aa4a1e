package qif_test

import (
	"testing"

	"coffer/internal/bank/statement/qif"
	"coffer/internal/bank/statement/wanttest"
)

// Every sample gives exactly its rows, what is left out, its balances and warnings.
func TestSamples(t *testing.T) {
	t.Parallel()
	wanttest.Check(t, qif.Format)
}

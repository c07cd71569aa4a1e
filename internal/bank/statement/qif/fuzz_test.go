package qif_test

import (
	"testing"

	"coffer/internal/bank/statement/qif"
	"coffer/internal/bank/statement/wanttest"
)

// FuzzRead checks the guarantees of previews and rows on arbitrary input.
func FuzzRead(f *testing.F) { wanttest.Fuzz(f, qif.Format) }

// Damage to a file affects only the damaged parts.
func TestDamage(t *testing.T) {
	t.Parallel()
	wanttest.Mutate(t, qif.Format, 20)
}

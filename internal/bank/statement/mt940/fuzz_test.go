package mt940_test

import (
	"testing"

	"coffer/internal/bank/statement/mt940"
	"coffer/internal/bank/statement/wanttest"
)

// FuzzRead checks the guarantees of previews and rows on arbitrary input.
func FuzzRead(f *testing.F) { wanttest.Fuzz(f, mt940.Format) }

// Damage to a file affects only the damaged parts.
func TestDamage(t *testing.T) {
	t.Parallel()
	wanttest.Mutate(t, mt940.Format, 20)
}

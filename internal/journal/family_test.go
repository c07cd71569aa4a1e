package journal

import (
	"testing"

	"coffer/internal/id"
)

// A field that a change wrote, and what was written to it later. A capital letter is a change or
// what brings it back, a small one the revert that takes it back. The member looked from is A
// itself, or its revert a.
func TestFate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		member, later   string
		undone, touched bool
	}{
		{"A", "", false, false},
		{"A", "a", true, false},
		{"A", "aA", false, false},
		{"A", "aAa", true, false},
		{"A", "B", false, true},
		{"A", "Bb", false, false},   // B and its revert leave the field as if neither had been
		{"A", "BbB", false, true},   // B is back
		{"A", "BCcb", false, false}, // taken off in turn
		{"A", "AA", false, false},   // one change may write a field twice
		{"A", "aB", true, false},    // nothing of A stands, so B is above nothing
		{"A", "z", false, true},     // below A something was taken off
		{"A", "zZ", false, true},    // Z comes back, but above A
		{"a", "", false, false},
		{"a", "A", true, true},
		{"a", "Aa", false, false},
		{"a", "B", false, true},
		{"a", "Bb", false, false},
		{"a", "z", false, true},
		{"a", "zZ", false, false}, // what was taken off below and put back is as it was
	} {
		roots := map[rune]id.ID{}
		family := func(r rune) changeFamily {
			root := r &^ 0x20 // the capital letter
			if roots[root].IsZero() {
				roots[root] = id.New()
			}
			return changeFamily{Root: roots[root], Undoes: r != root}
		}
		member := family(rune(c.member[0]))
		var later []changeFamily
		for _, r := range c.later {
			later = append(later, family(r))
		}
		if undone, touched := member.fate(later); undone != c.undone || !undone && touched != c.touched {
			t.Errorf("%s, then %q: undone %v, touched %v; want %v, %v", c.member, c.later, undone, touched, c.undone,
				c.touched)
		}
	}
}

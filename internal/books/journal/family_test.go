package journal

import (
	"testing"

	"coffer/internal/platform/id"
)

// Each case is a field that a change wrote, and the later writes to it. A capital letter is a
// change or its restoration, a small letter the revert that undoes it. The member is A itself, or
// its revert a.
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
		{"A", "Bb", false, false},   // B and its revert cancel out
		{"A", "BbB", false, true},   // B is restored
		{"A", "BCcb", false, false}, // undone in turn
		{"A", "AA", false, false},   // a change may write a field twice
		{"A", "aB", true, false},    // A is undone, so B has touched nothing of A
		{"A", "z", false, true},     // a change below A was undone
		{"A", "zZ", false, true},    // Z is restored, but above A
		{"a", "", false, false},
		{"a", "A", true, true},
		{"a", "Aa", false, false},
		{"a", "B", false, true},
		{"a", "Bb", false, false},
		{"a", "z", false, true},
		{"a", "zZ", false, false}, // an undone and restored change below cancels out
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

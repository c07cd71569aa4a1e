package op

import "testing"

// An error about a number below a minimum of 0 gives both bounds.
func TestNumbersBelowZero(t *testing.T) {
	t.Parallel()
	zero, most := 0, 1000
	if got := span(&zero, &most, ""); got != "from 0 to 1000" {
		t.Errorf("a number must be %s", got)
	}
	if got := span(&zero, &most, " characters"); got != "at most 1000 characters" {
		t.Errorf("a text must have %s", got)
	}
}

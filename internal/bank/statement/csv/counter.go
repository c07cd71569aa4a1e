package csv

import (
	"strconv"

	"coffer/internal/bank/statement/reading"
)

// A counter finds out whether a column only numbers the rows of its file, or of each day or section
// in it: from 0 or 1 on, upwards or downwards, perhaps with zeros or the same words before each
// number. The next file begins again, so such a number is not the identity of a row.
type counter struct {
	words    string // before the numbers
	seen     int
	first    int
	last     int
	up, down bool // the numbers so far can be read that way
}

// see looks at the next cell; blank ones are passed over.
func (c *counter) see(cell string) {
	cell = unguard(cell)
	if cell == "" || c.seen > 0 && !c.up && !c.down {
		return
	}
	at := len(cell)
	for at > 0 && reading.IsDigit(cell[at-1]) {
		at--
	}
	n, err := strconv.Atoi(cell[at:])
	switch {
	case err != nil, c.seen > 0 && cell[:at] != c.words:
		c.up, c.down = false, false
	case c.seen == 0:
		c.words, c.first, c.up, c.down = cell[:at], n, n <= 1, true
	default:
		c.up = c.up && (n == c.last+1 || n == c.first)
		c.down = c.down && (n == c.last-1 || c.last <= 1)
	}
	c.seen++
	c.last = n
}

// counts reports that it does.
func (c *counter) counts() bool { return c.seen > 0 && (c.up || c.down && c.last <= 1) }

package csv

import (
	"strconv"

	"coffer/internal/bank/statement/reading"
)

// A counter detects a column that only numbers the rows of its file, or of each day or section in
// the file. The numbers begin at 0 or 1, go up or down, and may have zeros or the same words in
// front. The numbers repeat in the next file, so they do not identify a row.
type counter struct {
	words    string // before each number
	seen     int
	first    int
	last     int
	up, down bool // the numbers so far fit that direction
}

// see handles the next cell; it ignores blank ones.
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

// counts reports whether the column only numbers rows.
func (c *counter) counts() bool { return c.seen > 0 && (c.up || c.down && c.last <= 1) }

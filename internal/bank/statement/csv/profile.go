package csv

import (
	"context"
	"io"
	"slices"
	"unicode"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/text"
)

// A column is what all rows say about one column.
type column struct {
	name    string // normal
	filled  int
	dates   int
	numbers int
	letters int

	byOrder  [orders]int // dates that exist in each order
	previous [orders]day
	rises    [orders]int // dates later than the one above
	falls    [orders]int
	looks    parts // of the first date

	point, comma         int // votes for the decimal mark
	openPoint, openComma int // numbers with that mark alone that leave it open
	negative, positive   int

	values   map[string]int // the different values, while they are few
	samples  []text.Untrusted
	overflow bool
}

const (
	fewValues  = 16
	samplesMax = 3
)

// profile reads the whole table once and looks at every cell.
func profile(ctx context.Context, file io.ReaderAt, p *plan) (columns []column, rows int, err error) {
	for rec, err := range p.body(ctx, file) {
		if err != nil {
			return nil, 0, err
		}
		rows++
		for i, cell := range rec.fields {
			if i == len(columns) {
				columns = append(columns, column{})
			}
			columns[i].see(cell)
		}
	}
	for len(columns) < len(p.names) {
		columns = append(columns, column{})
	}
	for i := range columns {
		if i < len(p.names) {
			columns[i].name = p.names[i]
		}
	}
	return columns, rows, nil
}

func (c *column) see(cell string) {
	cell = reading.Trim(cell)
	if cell == "" {
		return
	}
	c.filled++
	if len(c.samples) < samplesMax {
		if s := text.Line(cell, 80); !slices.Contains(c.samples, s) {
			c.samples = append(c.samples, s)
		}
	}
	p, date := isDate(cell)
	if date {
		c.seeDate(p)
	}
	f, isNumber := reading.ParseFigure(cell)
	if isNumber {
		c.seeNumber(f)
	}
	if date || isNumber {
		return
	}
	for _, r := range cell {
		if unicode.IsLetter(r) {
			c.letters++
		}
	}
	if c.overflow || len(cell) > 40 {
		c.overflow = true
		return
	}
	if c.values == nil {
		c.values = map[string]int{}
	}
	c.values[norm(cell)]++
	c.overflow = len(c.values) > fewValues
}

func (c *column) seeDate(p parts) {
	if c.dates == 0 {
		c.looks = p
	}
	c.dates++
	for o := range orders {
		d, ok := p.in(o)
		if !ok || o == ymd && p.digits[0] != 4 {
			continue
		}
		c.byOrder[o]++
		switch before := c.previous[o]; {
		case before == 0:
		case before < d:
			c.rises[o]++
		case before > d:
			c.falls[o]++
		}
		c.previous[o] = d
	}
}

func (c *column) seeNumber(f reading.Figure) {
	c.numbers++
	if f.Negative {
		c.negative++
	} else {
		c.positive++
	}
	switch mark, open := f.Vote(); {
	case open && mark == '.':
		c.openPoint++
	case open:
		c.openComma++
	case mark == '.':
		c.point++
	case mark == ',':
		c.comma++
	}
}

// isDates reports a column of dates.
func (c *column) isDates() bool { return c.filled > 0 && c.dates*2 > c.filled }

// isNumbers reports a column of numbers; blanks are fine.
func (c *column) isNumbers() bool {
	return c.numbers > 0 && c.numbers*2 > c.filled && (!c.isDates() || c.looks.sep == 0)
}

// isFlag reports a column whose every value is a word for a direction.
func (c *column) isFlag(rows int) bool {
	if c.overflow || len(c.values) == 0 || len(c.values) > 4 || c.filled*2 < rows || c.numbers+c.dates > 0 {
		return false
	}
	for v := range c.values {
		if _, ok := directions[v]; !ok {
			return false
		}
	}
	return true
}

// isCurrency reports whether the column has currency codes. Without a matching name, only common
// ones count, because banks abbreviate much to three letters.
func (c *column) isCurrency(common bool) bool {
	if c.overflow || len(c.values) == 0 {
		return false
	}
	for v := range c.values {
		if len(v) != 3 || common && !slices.Contains(commonCurrencies, v) {
			return false
		}
	}
	return true
}

var commonCurrencies = list(
	"eur|usd|gbp|chf|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|ron|bgn|try|jpy|cny|inr|sgd|hkd|zar|mxn|brl|ils|krw|thb")

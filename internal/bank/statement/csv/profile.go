package csv

import (
	"context"
	"io"
	"slices"
	"strings"
	"unicode"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A column holds statistics of all rows about one column.
type column struct {
	name    string // normalized
	filled  int
	dates   int
	numbers int
	letters int

	byOrder  [orders]int // dates that are valid in each order
	previous [orders]day
	rises    [orders]int // dates later than in the row above
	falls    [orders]int
	looks    parts // of the first date

	point, comma         int // votes for the decimal separator
	openPoint, openComma int // ambiguous numbers with only that mark
	negative, positive   int

	values   map[string]int // the distinct values, if there are few
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

// isDates reports whether the column mainly contains dates.
func (c *column) isDates() bool { return c.filled > 0 && c.dates*2 > c.filled }

// isNumbers reports whether the column mainly contains numbers. Blank cells do not count.
func (c *column) isNumbers() bool {
	return c.numbers > 0 && c.numbers*2 > c.filled && (!c.isDates() || c.looks.sep == 0)
}

// isFlag reports whether every value of the column is a word for a direction.
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

// isCurrency reports whether the column has currency codes. Without a matching column name, only
// common codes count, because banks use many abbreviations of three letters. With a matching name,
// it is enough if most cells are codes: a row with an unreadable currency must not be read as if
// the file had no currencies.
func (c *column) isCurrency(common bool) bool {
	if common && c.overflow || len(c.values) == 0 {
		return false
	}
	codes := 0
	for v, n := range c.values {
		switch {
		case codeOf(v) != "" && (!common || slices.Contains(commonCurrencies, v)):
			codes += n
		case common:
			return false
		}
	}
	return common || codes*2 > c.filled
}

// codeOf returns the currency of a cell with a code or a sign, or "".
func codeOf(cell string) money.Currency {
	if c, err := money.ParseCurrency(strings.ToUpper(cell)); err == nil {
		return c
	}
	for _, r := range cell {
		return reading.Symbols[r]
	}
	return ""
}

// isOther reports whether the column has another currency than the given one.
func (c *column) isOther(than money.Currency) bool {
	for v := range c.values {
		if codeOf(v) != than {
			return true
		}
	}
	return false
}

var commonCurrencies = list(
	"eur|usd|gbp|chf|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|ron|bgn|try|jpy|cny|inr|sgd|hkd|zar|mxn|brl|ils|krw|thb")

package qif

import (
	"strings"

	"coffer/internal/bank/statement/reading"
)

// An order is the order of year, month and day in a date.
type order int

const (
	ymd order = iota
	dmy
	mdy
)

// A date holds the parts of a date as written.
type date struct {
	n      [3]int
	digits [3]int
	mark   byte // the separator after the first part
	quote  bool // an apostrophe before the year: the year is in this century
}

// parse splits a date. Blanks stand for zeros: 2/ 4'26 has the parts 2, 4 and 26.
func parse(s string) (d date, ok bool) {
	if day, ok := reading.Compact(s); ok && len(s) == 8 {
		y, _ := reading.Digits(day[:4])
		m, _ := reading.Digits(day[5:7])
		n, _ := reading.Digits(day[8:])
		return date{n: [3]int{y, m, n}, digits: [3]int{4, 2, 2}}, true
	}
	for i := range 3 {
		s = strings.TrimLeft(s, " ")
		end := 0
		for end < len(s) && reading.IsDigit(s[end]) {
			end++
		}
		if end == 0 || end > 4 {
			return d, false
		}
		d.n[i], _ = reading.Digits(s[:end])
		d.digits[i] = end
		if s = s[end:]; i == 2 {
			break
		}
		s = strings.TrimLeft(s, " ")
		if s == "" || !strings.ContainsRune("/.-'", rune(s[0])) {
			return d, false
		}
		if i == 0 {
			d.mark = s[0]
		} else {
			d.quote = s[0] == '\''
		}
		s = s[1:]
	}
	return d, s == "" || s[0] == ' ' || s[0] == 'T'
}

// in returns the date for the given order. Quicken writes years of this century after an
// apostrophe. So in its files, a year of two digits after a slash is in the last century.
func (d date) in(o order, quicken bool) (string, bool) {
	y, m, n, at := d.n[2], d.n[0], d.n[1], 2
	switch o {
	case ymd:
		y, m, n, at = d.n[0], d.n[1], d.n[2], 0
	case dmy:
		m, n = n, m
	case mdy:
	}
	for i, digits := range d.digits {
		if digits > 2 && i != at || i == at && digits == 3 || o == ymd && at == i && digits != 4 {
			return "", false
		}
	}
	if d.digits[at] <= 2 {
		switch {
		case d.quote, !quicken && y < 70:
			y += 2000
		default:
			y += 1900
		}
	}
	return reading.Date(y, m, n)
}

// format writes the order in the style of the date, such as DD/MM/YYYY.
func (d date) format(o order) string {
	year := "YYYY"
	if d.digits[2] <= 2 && o != ymd {
		year = "YY"
	}
	mark, last := string(d.mark), string(d.mark)
	if d.mark == 0 {
		mark, last = "", ""
	}
	if d.quote {
		last = "'"
	}
	switch o {
	case ymd:
		return "YYYY" + mark + "MM" + last + "DD"
	case dmy:
		return "DD" + mark + "MM" + last + year
	case mdy:
	}
	return "MM" + mark + "DD" + last + year
}

// parseOrder reads a format by the order of its letters.
func parseOrder(format string) (order, bool) {
	format = strings.ToUpper(format)
	y, m, d := strings.IndexByte(format, 'Y'), strings.IndexByte(format, 'M'), strings.IndexByte(format, 'D')
	switch {
	case y < 0 || m < 0 || d < 0:
		return ymd, false
	case y < m && m < d:
		return ymd, true
	case d < m && m < y:
		return dmy, true
	case m < d && d < y:
		return mdy, true
	}
	return ymd, false
}

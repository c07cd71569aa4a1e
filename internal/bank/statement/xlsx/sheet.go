package xlsx

import (
	"strconv"
	"strings"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
)

// A sheet becomes a table of text with a line for each row, so row numbers stay the same.
type sheet struct {
	book *book
	text []byte
	rows int // number of written lines

	row, column int // position of the current cell
	cells       [maxColumns]string
	filled      int
	kind        string
	date        bool
	value       []byte
}

// take handles the next tag of the sheet.
func (s *sheet) take(t reading.Tag) error {
	switch {
	case t.Name == "row" && !t.End:
		s.row++
		if n, err := strconv.Atoi(t.Attr("r")); err == nil && n >= s.row && n <= maxRow {
			s.row = n
		}
		s.column = -1
		if t.Empty {
			return nil
		}
	case t.Name == "row":
		return s.flush()
	case t.Name == "c" && !t.End:
		s.cell(t)
	case t.Name == "v" && !t.End:
		s.value = append(s.value[:0], t.Raw()...)
	case t.Name == "t" && !t.End && s.kind == "inlineStr":
		s.value = extend(s.value, t)
	case t.Name == "c" && s.column >= 0 && s.column < maxColumns:
		if s.cells[s.column] = s.shown(); s.cells[s.column] != "" {
			s.filled = max(s.filled, s.column+1)
		}
	}
	return nil
}

// extend appends a part of a cell's text, unless the text would be longer than a cell can be.
func extend(value []byte, t reading.Tag) []byte {
	if more := t.Raw(); len(value)+len(more) <= maxCell {
		return append(value, more...)
	}
	return value
}

// cell begins a cell.
func (s *sheet) cell(t reading.Tag) {
	s.column++
	if at := t.Attr("r"); at != "" {
		n := 0
		for i := 0; i < len(at) && i < 4 && at[i] >= 'A' && at[i] <= 'Z'; i++ {
			n = n*26 + int(at[i]-'A') + 1
		}
		s.column = n - 1
	}
	style, err := strconv.Atoi(t.Attr("s"))
	known := err == nil && style >= 0 && style < len(s.book.dates)
	s.kind, s.value, s.date = t.Attr("t"), s.value[:0], known && s.book.dates[style]
}

// shown returns what a cell shows. For a formula that is the stored result.
func (s *sheet) shown() string {
	value := string(s.value)
	switch s.kind {
	case "s":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 && n < len(s.book.strings) {
			return s.book.strings[n]
		}
		return ""
	case "inlineStr", "str":
		return value
	case "b", "e":
		return ""
	case "d":
		day, _, _ := strings.Cut(value, "T")
		return day
	}
	v := strings.TrimSpace(value)
	if s.date {
		whole, _, _ := strings.Cut(v, ".")
		if n, err := strconv.Atoi(whole); err == nil && n > 0 && n < 200_000 {
			return time.Date(1899, time.December, 30+n+s.book.epoch, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		}
	}
	return number(v)
}

// flush writes the row that has ended.
func (s *sheet) flush() error {
	for s.rows++; s.rows < s.row; s.rows++ {
		s.text = append(s.text, '\n')
	}
	for i, cell := range s.cells[:s.filled] {
		if i > 0 {
			s.text = append(s.text, ',')
		}
		if strings.ContainsAny(cell, ",\"\r\n") {
			s.text = append(s.text, '"')
			s.text = append(append(s.text, strings.ReplaceAll(cell, `"`, `""`)...), '"')
		} else {
			s.text = append(s.text, cell...)
		}
		s.cells[i] = ""
	}
	s.text = append(s.text, '\n')
	s.filled = 0
	if len(s.text) > maxPart {
		return errLarge
	}
	if s.rows > statement.MaxRows+maxColumns {
		return errs.New(errs.PayloadTooLarge, "the sheet has more than %d rows; split it by year", statement.MaxRows)
	}
	return nil
}

// precise is the number of digits that a workbook shows. It stores more, but the others are noise
// of binary fractions, such as 23.149999999999999 for 23.15.
const precise = 15

// number writes a stored number in full, exactly as it is shown, without using a float. It adds a
// zero to three decimals, so that the point is never read as a thousands separator.
func number(v string) string {
	rest, negative := strings.CutPrefix(v, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToUpper(rest), "E")
	shift := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil || n < -40 || n > 40 {
			return v
		}
		shift = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || len(digits) > 40 || strings.Trim(digits, "0123456789") != "" {
		return v
	}
	digits, point := rounded(digits, len(whole)+shift)
	for point < 1 {
		digits, point = "0"+digits, point+1
	}
	for len(digits) < point {
		digits += "0"
	}
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if len(fraction) == 3 {
		fraction += "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
}

// rounded cuts digits to those that are shown. Point is the number of digits before the decimal
// point.
func rounded(digits string, point int) (string, int) {
	zeros := len(digits) - len(strings.TrimLeft(digits, "0"))
	end := zeros + precise
	if len(digits) <= end {
		return digits, point
	}
	b := []byte("0" + digits[:end])
	if digits[end] >= '5' {
		for i := len(b) - 1; ; i-- {
			if b[i] != '9' {
				b[i]++
				break
			}
			b[i] = '0'
		}
	}
	return string(b), point + 1
}

package csv

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/text"
)

// A dateOrder is the order of year, month and day in a date.
type dateOrder int

const (
	ymd dateOrder = iota
	dmy
	mdy
	orders // the number of orders
)

const noOrder = dateOrder(-1)

// A day is a date as a number that sorts: 20260314.
type day int

func (d day) String() string {
	b := []byte("0000-00-00")
	for _, i := range []int{9, 8, 6, 5, 3, 2, 1, 0} {
		b[i] += byte(d % 10)
		d /= 10
	}
	return string(b)
}

// parts are the three parts of a date in the order of the cell.
type parts struct {
	n      [3]int
	digits [3]int // how many digits each has; 0 is a month in letters
	sep    byte   // 0 if nothing separates the digits
}

// monthNames are the months in English, German, French, Spanish, Dutch, Italian, Portuguese and
// Swedish. Abbreviations of at least three letters match too.
var monthNames = [12]string{
	"january januar janvier enero januari gennaio janeiro jänner",
	"february februar février fevrier febrero februari febbraio fevereiro",
	"march märz maerz mars marzo maart março mrt mrz",
	"april avril abril aprile",
	"may mai mayo mei maggio maio maj",
	"june juni juin junio giugno junho",
	"july juli juillet julio luglio julho",
	"august août aout agosto augustus augusti",
	"september septembre septiembre settembre setembro",
	"october oktober octobre octubre ottobre outubro",
	"november novembre noviembre novembro",
	"december dezember décembre decembre diciembre dicembre dezembro",
}

// months maps every abbreviation that stands for only one month.
var months = func() map[string]int {
	out := map[string]int{}
	for i, names := range monthNames {
		for name := range strings.FieldsSeq(names) {
			for end := range name {
				if utf8.RuneCountInString(name[:end]) >= 3 {
					addMonth(out, name[:end], i+1)
				}
			}
			addMonth(out, name, i+1)
		}
	}
	return out
}()

func addMonth(m map[string]int, name string, month int) {
	if old, ok := m[name]; ok && old != month {
		month = 0 // ambiguous: "jui" is June or July
	}
	m[name] = month
}

// parseParts parses a cell that begins with a date. A time, or a second date after "as of", may
// follow.
func parseParts(cell string) (p parts, ok bool) {
	s := reading.Trim(cell)
	if len(s) < 6 || len(s) > 64 {
		return p, false
	}
	if n := leadingDigits(s); n == 8 || n == 14 {
		p.n = [3]int{number(s[:4]), number(s[4:6]), number(s[6:8])}
		p.digits = [3]int{4, 2, 2}
		if y := p.n[0]; y < 1970 || y > 2100 {
			p.n = [3]int{number(s[:2]), number(s[2:4]), number(s[4:8])}
			p.digits = [3]int{2, 2, 4}
		}
		return p, isTime(s[n:]) || n == 14 && s[n:] == ""
	}
	for i := range 3 {
		if i > 0 {
			var sep byte
			s, sep = separator(s)
			if sep == 0 {
				return p, false
			}
			p.sep = sep
		}
		n := leadingDigits(s)
		if n == 0 {
			word := reading.LeadingWord(s)
			month := months[strings.ToLower(word)]
			if month == 0 || i == 2 {
				return p, false
			}
			p.n[i], s = month, strings.TrimPrefix(s[len(word):], ".")
			continue
		}
		if n > 4 || n == 3 {
			return p, false
		}
		p.n[i], p.digits[i], s = number(s[:n]), n, s[n:]
	}
	return p, isTime(s)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && reading.IsDigit(s[n]) {
		n++
	}
	return n
}

// number returns the value of at most four digits.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// separator reads the separator between two parts: one mark with or without spaces around it, or
// only spaces.
func separator(s string) (rest string, sep byte) {
	rest = strings.TrimLeftFunc(s, unicode.IsSpace)
	if rest != s {
		sep = ' '
	}
	if rest != "" && strings.IndexByte("/-.,", rest[0]) >= 0 {
		sep = rest[0]
		rest = strings.TrimLeftFunc(rest[1:], unicode.IsSpace)
	}
	// "14 de marzo de 2026"
	if after, ok := strings.CutPrefix(rest, "de "); ok {
		rest = after
	}
	return rest, sep
}

// isTime reports whether s, the text after a date, is empty or a time.
func isTime(s string) bool {
	if s == "" {
		return true
	}
	rest := strings.TrimLeft(s, " ,T")
	if rest == s {
		return false
	}
	if rest == "" || strings.HasPrefix(rest, "as of ") {
		return true
	}
	n := leadingDigits(rest)
	return (n == 1 || n == 2) && len(rest) <= 32 && strings.ContainsAny(rest, ":.h") &&
		strings.Trim(rest, "0123456789:.+-/ abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

var (
	monthAt = [orders]int{ymd: 1, dmy: 1, mdy: 0}
	yearAt  = [orders]int{ymd: 0, dmy: 2, mdy: 2}
)

// in returns the date for the given order of the parts.
func (p parts) in(o dateOrder) (day, bool) {
	var y, m, d, year, month int
	switch o {
	case ymd:
		y, m, d, year, month = p.n[0], p.n[1], p.n[2], p.digits[0], p.digits[1]
	case dmy:
		y, m, d, year, month = p.n[2], p.n[1], p.n[0], p.digits[2], p.digits[1]
	case mdy:
		y, m, d, year, month = p.n[2], p.n[0], p.n[1], p.digits[2], p.digits[0]
	default:
		return 0, false
	}
	for i, n := range p.digits {
		if n == 0 && i != monthAt[o] || n == 4 && i != yearAt[o] {
			return 0, false // letters must be the month, and four digits the year
		}
	}
	switch {
	case year == 2 && y < 70:
		y += 2000
	case year == 2:
		y += 1900
	case year != 4 || y < 1900 || y > 2200:
		return 0, false
	}
	if month > 2 || m < 1 || m > 12 || d < 1 || d > time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return 0, false
	}
	return day(y*10000 + m*100 + d), true
}

// isDate reports whether a cell is a date in any order. A leading year of two digits is not
// accepted, because it looks like a day.
func isDate(cell string) (parts, bool) {
	p, ok := parseParts(cell)
	if !ok {
		return p, false
	}
	for o := range orders {
		if _, ok := p.in(o); ok && (o != ymd || p.digits[0] == 4) {
			return p, true
		}
	}
	return p, false
}

// format writes the order in the style of the cell: DD.MM.YY, YYYY-MM-DD, DD Mon YYYY.
func (p parts) format(o dateOrder) string {
	words := map[dateOrder][3]string{ymd: {"YYYY", "MM", "DD"}, dmy: {"DD", "MM", "YYYY"}, mdy: {"MM", "DD", "YYYY"}}[o]
	for i := range words {
		switch {
		case p.digits[i] == 0:
			words[i] = "Mon"
		case words[i] == "YYYY" && p.digits[i] == 2:
			words[i] = "YY"
		}
	}
	sep := string(p.sep)
	if p.sep == 0 {
		sep = ""
	}
	return strings.Join(words[:], sep)
}

// parseOrder reads a date format by the order of its letters. DD/MM/YYYY, %d/%m/%Y and dd.MM.yy all
// mean day, month, year.
func parseOrder(format string) (dateOrder, bool) {
	letters := ""
	for _, r := range text.Fold(strings.ReplaceAll(text.Fold(format), "mon", "m")) {
		if len(letters) == 3 {
			break // the letters of a time do not count
		}
		if l := map[rune]string{'y': "y", 'j': "y", 'm': "m", 'b': "m", 'd': "d", 't': "d"}[r]; l != "" &&
			!strings.HasSuffix(letters, l) {
			letters += l
		}
	}
	o, ok := map[string]dateOrder{"ymd": ymd, "dmy": dmy, "mdy": mdy}[letters]
	return o, ok
}

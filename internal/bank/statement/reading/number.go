package reading

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"coffer/internal/platform/money"
)

// A Figure is a number as written in a cell, before it is known which mark is the decimal
// separator.
type Figure struct {
	core      string // digits, points, commas; an apostrophe stands for any other thousands separator
	Negative  bool
	Direction Direction // from CR or DR beside the number
	Currency  money.Currency
}

// A Direction is the direction of money, or unknown.
type Direction int

// The directions.
const (
	Unknown Direction = iota
	Out
	In
)

// The errors of numbers.
var (
	ErrNotNumber = errors.New("the amount is not a readable number")
	errDecimals  = errors.New("the amount has more than two decimals")
	errNoRoom    = errors.New("the amount has more than ten digits before the decimal mark")
)

// Symbols maps currency signs that stand for one currency. The dollar sign stands for several.
var Symbols = map[rune]money.Currency{
	'€': "EUR", '£': "GBP", '₹': "INR", '₽': "RUB", '₺': "TRY", '₩': "KRW",
	'₪': "ILS", '₫': "VND", '₱': "PHP", '฿': "THB", '₴': "UAH",
}

// units are words beside a number that indicate a currency but are not its code.
var units = map[string]money.Currency{
	"kr": "", "zł": "PLN", "kč": "CZK", "ft": "HUF", "lei": "RON", "rs": "INR", "fr": "CHF", "sfr": "CHF", "r": "",
	"us": "", "ca": "", "c": "", "a": "", "au": "", "nz": "", "hk": "", "s": "", "sg": "",
}

// ParseFigure parses a cell. A blank cell is not a number, not even zero.
func ParseFigure(cell string) (f Figure, ok bool) {
	s := Trim(cell)
	if s == "" || len(s) > 64 {
		return f, false
	}
	if s[0] == '(' && s[len(s)-1] == ')' {
		f.Negative, s = true, s[1:len(s)-1]
	}
	var core [64]byte
	n, signs, gap, afterSign := 0, 0, false, false
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r >= '0' && r <= '9':
			if afterSign && n > 0 || n+1 >= len(core) {
				return f, false // digits on both sides of a sign: a range or a date
			}
			if gap && n > 0 {
				core[n] = '\''
				n++
			}
			core[n], gap = s[0], false
			n++
		case (r == '.' || r == ',') && n > 0 && !gap:
			core[n] = s[0]
			n++
		case r == '.' && n == 0 && signs == 0 && len(s) > 1 && !IsDigit(s[1]): // "Rs. 5"
		case r == '.' || r == ',':
			if n > 0 || len(s) < 2 || !IsDigit(s[1]) {
				return f, false
			}
			core[0], core[1] = '0', s[0] // ".50"
			n = 2
		case r == '\'' || r == '’' || r == '`' || unicode.IsSpace(r):
			gap = true
		case r == '-' || r == '+' || r == '−' || r == '–':
			signs++
			f.Negative = f.Negative || r != '+'
			afterSign = n > 0
		case unicode.Is(unicode.Sc, r):
			f.Currency = Symbols[r]
		case unicode.IsLetter(r):
			word := LeadingWord(s)
			if !f.word(word, n > 0) {
				return f, false
			}
			size = len(word)
		default:
			return f, false
		}
		if n >= len(core)-2 || signs > 1 {
			return f, false
		}
		s = s[size:]
	}
	f.core = string(core[:n])
	return f, n > 0
}

// word handles letters beside a number: a currency, or CR or DR after it.
func (f *Figure) word(w string, behind bool) bool {
	switch lower := strings.ToLower(w); {
	case behind && (lower == "cr" || lower == "c" || lower == "h"):
		f.Direction = In
	case behind && (lower == "dr" || lower == "d" || lower == "db" || lower == "s"):
		f.Direction = Out
	default:
		if c, err := money.ParseCurrency(w); err == nil {
			f.Currency = c
			return true
		}
		c, ok := units[lower]
		if c != "" {
			f.Currency = c
		}
		return ok
	}
	return true
}

// LeadingWord returns the letters at the beginning of s.
func LeadingWord(s string) string {
	for i, r := range s {
		if !unicode.IsLetter(r) {
			return s[:i]
		}
	}
	return s
}

// IsDigit reports whether b is an ASCII digit.
func IsDigit(b byte) bool { return '0' <= b && b <= '9' }

// Vote returns the mark that is the decimal separator of a figure: '.', ',' or 0 if it has none. If
// a single mark is followed by exactly three digits, the result is open.
func (f Figure) Vote() (mark byte, open bool) {
	point, comma := strings.LastIndexByte(f.core, '.'), strings.LastIndexByte(f.core, ',')
	switch {
	case point < 0 && comma < 0:
		return 0, false
	case point >= 0 && comma >= 0:
		return f.core[max(point, comma)], false
	}
	mark, other, at := byte('.'), byte(','), point
	if comma >= 0 {
		mark, other, at = ',', '.', comma
	}
	switch {
	case strings.Count(f.core, string(mark)) > 1:
		return other, false
	case len(f.core)-at-1 != 3, at > 3, f.core[0] == '0', strings.IndexByte(f.core, '\'') >= 0:
		return mark, false
	}
	return mark, true
}

// Value returns the number for the given decimal separator, with its sign in the file.
func (f Figure) Value(decimal byte) (money.Amount, error) {
	whole, fraction, _ := strings.Cut(f.core, string(decimal))
	fraction = strings.TrimRight(fraction, "0")
	if strings.ContainsAny(fraction, ".,'") || !grouped(whole) {
		return money.Amount{}, ErrNotNumber
	}
	if len(fraction) > 2 {
		return money.Amount{}, errDecimals
	}
	plain := make([]byte, 0, len(f.core)+1)
	if f.Negative {
		plain = append(plain, '-')
	}
	for i := range len(whole) {
		if IsDigit(whole[i]) {
			plain = append(plain, whole[i])
		}
	}
	if fraction != "" {
		plain = append(append(plain, '.'), fraction...)
	}
	a, err := money.Parse(string(plain))
	if errors.Is(err, money.ErrRange) {
		return a, errNoRoom
	}
	if err != nil {
		return a, ErrNotNumber
	}
	return a, nil
}

// grouped reports whether the marks in the whole part are in the positions of thousands separators:
// 1,234,567, or 12,34,567 as in India. A mark elsewhere means that the decimal separator was
// misread: 12,50 must not become 1250.
func grouped(whole string) bool {
	first := strings.IndexAny(whole, ".,'")
	if first < 0 {
		return true
	}
	if first < 1 || first > 3 {
		return false
	}
	mark, size := whole[first], 0
	for rest := whole[first+1:]; ; {
		at := strings.IndexAny(rest, ".,'")
		if at < 0 {
			return len(rest) == 3
		}
		if rest[at] != mark || at != 3 && (at != 2 || mark != ',') || size != 0 && at != size {
			return false
		}
		rest, size = rest[at+1:], at
	}
}

// Trim removes white space, zero bytes and byte order marks around s.
func Trim(s string) string {
	if s == "" || s[0] > ' ' && s[0] < 0x80 && s[len(s)-1] > ' ' && s[len(s)-1] < 0x80 {
		return s
	}
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == 0 || r == '\ufeff' })
}

// Amount reads a number without thousands separators, with its sign in the file. The decimal
// separator may be either mark.
func Amount(s string) (money.Amount, error) {
	f, ok := ParseFigure(s)
	if !ok || f.Direction != Unknown || f.Currency != "" {
		return money.Amount{}, ErrNotNumber
	}
	mark, _ := f.Vote()
	if mark == 0 {
		mark = '.'
	}
	return f.Value(mark)
}

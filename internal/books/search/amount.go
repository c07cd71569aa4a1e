package search

import (
	"strings"
	"unicode"

	"coffer/internal/platform/money"
)

// comparisons are the signs for an open range, the longer ones first.
var comparisons = []struct {
	sign        string
	above, open bool
}{
	{">=", true, false},
	{"<=", false, false},
	{"≥", true, false},
	{"≤", false, false},
	{">", true, true},
	{"<", false, true},
}

// ParseAmount reads an amount as people write it (75.05, 75,05, 1.234,56, €75). A sign gives the
// direction (+75 is money in, -75 money out). It also reads ranges (>100, <20, 100..200). It
// returns false if s is neither. A currency sign is ignored, because the same sign stands for many
// currencies.
func ParseAmount(s string) (Amount, bool) {
	s = strings.ReplaceAll(s, "−", "-")
	for _, c := range comparisons {
		rest, ok := strings.CutPrefix(s, c.sign)
		if !ok {
			continue
		}
		n, direction, ok := number(rest)
		if c.above {
			return Amount{Low: n, Above: c.open, Direction: direction}, ok
		}
		return Amount{High: n, Below: c.open, Direction: direction}, ok
	}
	from, to, isRange := strings.Cut(s, "..")
	if !isRange {
		n, direction, ok := number(s)
		return Amount{Low: n, High: n, Direction: direction}, ok
	}
	var a Amount
	var ok bool
	if from != "" {
		if a.Low, a.Direction, ok = number(from); !ok {
			return Amount{}, false
		}
	}
	if to != "" {
		high, direction, ok := number(to)
		if !ok || from != "" && direction != 0 && direction != a.Direction {
			return Amount{}, false
		}
		a.High = high
		if direction != 0 {
			a.Direction = direction
		}
	}
	if a.Low != nil && a.High != nil && a.Low.Cmp(*a.High) > 0 {
		a.Low, a.High = a.High, a.Low
	}
	return a, a.Low != nil || a.High != nil
}

// ParseMoney reads one amount with its direction (1 for money in). If the text has a currency, it
// returns that too: €12,50, 12.50 USD, 1 234,56 kr. The currency is returned as written, a code of
// three letters or a sign; "" if there is none.
func ParseMoney(s string) (amount money.Amount, direction int, currency string, ok bool) {
	s = strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "−", "-")
	cash := func(r rune) bool { return unicode.IsLetter(r) || isSymbol(r) }
	body := strings.TrimRightFunc(s, cash)
	currency = s[len(body):]
	if at := strings.IndexFunc(body, cash); at >= 0 {
		after := strings.TrimLeftFunc(body[at:], cash)
		before := body[at : len(body)-len(after)]
		if currency != "" && before != "" || strings.Trim(body[:at], "+-") != "" {
			return amount, 0, "", false
		}
		currency, body = before, body[:at]+after
	}
	body = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(body, ".-"), ",-"), ".–") // Swiss: 12.–
	n, direction, ok := number(body)
	if !ok {
		return amount, 0, "", false
	}
	return *n, direction, currency, true
}

// number reads one number with its sign, and with a currency sign on either side.
func number(s string) (n *money.Amount, direction int, ok bool) {
	for range 2 { // -€75 and €-75
		switch {
		case direction != 0:
		case strings.HasPrefix(s, "+"):
			s, direction = s[1:], 1
		case strings.HasPrefix(s, "-"):
			s, direction = s[1:], -1
		}
		s = strings.TrimPrefix(s, symbol(s))
	}
	s = strings.TrimRightFunc(s, isSymbol)
	s, ok = decimal(s)
	if !ok {
		return nil, 0, false
	}
	a, err := money.Parse(s)
	return &a, direction, err == nil
}

func isSymbol(r rune) bool { return unicode.Is(unicode.Sc, r) }

// symbol returns the currency signs that s begins with.
func symbol(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, isSymbol))] }

// decimal rewrites a number with the separators of any country: "1.234,56", "1,234.56" and
// "1'234.56" become "1234.56". A single separator before three digits separates thousands, because
// no amount has three decimals.
func decimal(s string) (string, bool) {
	s = strings.ReplaceAll(s, "’", "'")
	whole, decimals := s, ""
	if at := strings.LastIndexAny(s, ".,"); at >= 0 {
		mark, after := s[at:at+1], s[at+1:]
		others := strings.Trim(s[:at], "0123456789") // the separators before the last one, and the digits between them
		switch {
		case len(after) == 3 && !strings.ContainsAny(others, "'"+other(mark)):
		case strings.Contains(s[:at], mark) || len(after) < 1 || len(after) > 2:
			return "", false
		default:
			whole, decimals = s[:at], after
		}
	}
	if !allDigits(decimals) {
		return "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' || r == '\'' })
	joined := strings.Join(groups, "")
	switch {
	case !allDigits(joined) || joined == "" && decimals == "":
		return "", false
	case len(groups) > 1 || len(joined) != len(whole): // it separated thousands
		if !grouped(whole) {
			return "", false
		}
	}
	if joined == "" {
		joined = "0"
	}
	if decimals != "" {
		joined += "." + decimals
	}
	return joined, true
}

// grouped reports whether all separators are the same and separate thousands: 1.234.567.
func grouped(s string) bool {
	mark := strings.Trim(s, "0123456789")
	if mark == "" {
		return false
	}
	groups := strings.Split(s, mark[:1])
	for i, g := range groups {
		if !allDigits(g) || i > 0 && len(g) != 3 || i == 0 && (g == "" || len(g) > 3 || g[0] == '0') {
			return false
		}
	}
	return true
}

func other(mark string) string {
	if mark == "." {
		return ","
	}
	return "."
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func digit(b byte) bool { return '0' <= b && b <= '9' }

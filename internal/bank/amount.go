package bank

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/money"
)

// ParseAmount reads a JSON number, or a JSON string that contains one. It reads the digits exactly,
// without a float: 1.2e1, 12.000 and "12" are all twelve. A third decimal that is not zero, or a
// value out of range, is an error.
func ParseAmount(token []byte) (money.Amount, error) {
	s := string(bytes.TrimSpace(token))
	if n := len(s); n >= 2 && s[0] == '"' && s[n-1] == '"' {
		s = s[1 : n-1]
	}
	plain, err := shift(s)
	if err != nil {
		return money.Amount{}, err
	}
	return money.Parse(plain)
}

// shift applies the exponent by moving the decimal point, and removes zeros at the end.
func shift(s string) (string, error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil || n < -32 || n > 32 {
			return "", money.ErrRange
		}
		mantissa, exponent = s[:i], n
	}
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, decimals, _ := strings.Cut(mantissa, ".")
	if whole == "" || len(whole)+len(decimals) > 64 || strings.Trim(whole+decimals, "0123456789") != "" ||
		strings.HasSuffix(mantissa, ".") {
		return "", money.ErrSyntax
	}
	all := whole + decimals
	point := len(whole) + exponent
	if point < 0 {
		all, point = strings.Repeat("0", -point)+all, 0
	}
	if point > len(all) {
		all += strings.Repeat("0", point-len(all))
	}
	whole, decimals = "0"+all[:point], strings.TrimRight(all[point:], "0")
	if decimals == "" {
		return sign + whole, nil
	}
	return sign + whole + "." + decimals, nil
}

// ParseDay reads YYYY-MM-DD. It accepts only years in which a bank could have booked a row.
func ParseDay(s string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil && t.Year() >= 1900 && t.Year() < 2200
}

// IsID reports whether s could be a provider's id: printable, without spaces and not too long.
func IsID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, b := range []byte(s) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return true
}

package reading

import (
	"strings"
	"time"
)

// Date returns a day as YYYY-MM-DD, if the day exists.
func Date(y, m, d int) (string, bool) {
	if y < 1900 || y > 2200 || m < 1 || m > 12 || d < 1 ||
		d > 28 && d > time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC).Day() {
		return "", false
	}
	b := []byte("0000-00-00")
	put(b[:4], y)
	put(b[5:7], m)
	put(b[8:], d)
	return string(b), true
}

func put(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] += byte(n % 10)
		n /= 10
	}
}

// Compact reads a day from YYYYMMDD or YYYY-MM-DD. A time and a time zone after it are ignored,
// because the day must be the one that the bank writes.
func Compact(s string) (string, bool) {
	if len(s) >= 10 && s[4] == '-' && s[7] == '-' {
		s = s[:4] + s[5:7] + s[8:]
	}
	if len(s) < 8 || len(s) > 8 && !strings.ContainsRune("0123456789[.+-TZ: ", rune(s[8])) {
		return "", false
	}
	n, ok := Digits(s[:8])
	if !ok {
		return "", false
	}
	return Date(n/10_000, n/100%100, n%100)
}

// Digits returns the value of a short sequence of digits.
func Digits(s string) (n int, ok bool) {
	if s == "" || len(s) > 9 {
		return 0, false
	}
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

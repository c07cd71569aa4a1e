package money

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
)

// ErrMicros describes a valid price or cost.
var ErrMicros = errors.New("a price or cost must be dollars with at most six decimals, such as 15 or 0.075")

// ErrMicrosRange is the error for a cost that is too large to be stored.
var ErrMicrosRange = errors.New("a price or cost may have at most twelve digits before the decimal point")

const (
	million   = 1_000_000
	maxMicros = Micros(1e18 - 1) // twelve digits before the point
)

// Micros is an exact number of millionths of a US dollar, because a model call can cost less than a
// cent. It is never negative. The database stores it as a bigint.
type Micros int64

// ParseMicros reads dollars: digits, at most six decimals, no sign.
func ParseMicros(s string) (Micros, error) {
	whole, frac, point := strings.Cut(s, ".")
	if whole == "" || point && frac == "" || len(frac) > 6 || !digits(whole) || !digits(frac) {
		return 0, ErrMicros
	}
	n, err := strconv.ParseInt(whole+frac+"000000"[len(frac):], 10, 64)
	if err != nil || Micros(n) > maxMicros {
		return 0, ErrMicrosRange
	}
	return Micros(n), nil
}

// String prints dollars with two to six decimals.
func (m Micros) String() string {
	sign, abs := "", uint64(m)
	if m < 0 { // a difference in a log line
		sign, abs = "-", -abs
	}
	frac := strconv.FormatUint(million+abs%million, 10)[1:]
	return sign + strconv.FormatUint(abs/million, 10) + "." + frac[:2] + strings.TrimRight(frac[2:], "0")
}

// Add adds a cost. It fails with ErrMicrosRange if the sum is too large.
func (m Micros) Add(n Micros) (Micros, error) {
	sum := m + n // both are far below half of what an int64 holds
	if m < 0 || n < 0 || m > maxMicros || n > maxMicros || sum > maxMicros {
		return 0, ErrMicrosRange
	}
	return sum, nil
}

// Cost returns the cost of that many tokens if m is the price of a million tokens. It rounds up, so
// that an upper bound computed from it is never too low.
func (m Micros) Cost(tokens int64) (Micros, error) {
	if m < 0 || tokens < 0 {
		return 0, ErrMicrosRange
	}
	high, low := bits.Mul64(uint64(m), uint64(tokens))
	low, carry := bits.Add64(low, million-1, 0)
	if high += carry; high >= million {
		return 0, ErrMicrosRange
	}
	cost, _ := bits.Div64(high, low, million)
	if cost > uint64(maxMicros) {
		return 0, ErrMicrosRange
	}
	return Micros(cost), nil
}

// MarshalJSON prints a JSON number with two to six decimals.
func (m Micros) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads a JSON number by its digits, or a string that holds one. Null is an error: an
// unknown cost is not zero.
func (m *Micros) UnmarshalJSON(data []byte) error {
	n, err := ParseMicros(strings.Trim(string(data), `"`))
	if err != nil {
		return err
	}
	*m = n
	return nil
}

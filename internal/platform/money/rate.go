package money

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// ErrRate describes a valid exchange rate.
var ErrRate = errors.New("a rate must be a plain decimal number above zero with at most nine digits before and nine " +
	"after the decimal point, such as 1.0825")

const (
	rateScale = 9
	billion   = 1_000_000_000
)

// A Rate is the price of one unit of a currency in another one: exact, in billionths, above zero.
type Rate int64

// ParseRate reads a decimal: digits and at most nine decimals, no sign. A small one may have an
// exponent, because that is how browsers write 0.000000125.
func ParseRate(s string) (Rate, error) {
	if digits, exponent, small := strings.Cut(strings.ToLower(s), "e-"); small {
		s = shifted(digits, exponent)
	}
	whole, frac, point := strings.Cut(s, ".")
	if whole == "" || point && frac == "" || len(whole) > rateScale || len(frac) > rateScale || !digits(whole) ||
		!digits(frac) {
		return 0, ErrRate
	}
	n, err := strconv.ParseInt(whole+frac+"000000000"[len(frac):], 10, 64)
	if err != nil || n <= 0 {
		return 0, ErrRate
	}
	return Rate(n), nil
}

// shifted writes a number without its negative exponent, or returns "" if the number is too small.
func shifted(digits, exponent string) string {
	by, err := strconv.Atoi(exponent)
	whole, frac, point := strings.Cut(digits, ".")
	if err != nil || by < 0 || by > rateScale || len(whole) != 1 || point && frac == "" {
		return ""
	}
	if by == 0 {
		return digits
	}
	return "0." + strings.Repeat("0", by-1) + whole + frac
}

// String prints the rate with as many decimals as it has, at least one.
func (r Rate) String() string {
	frac := strconv.FormatInt(billion+int64(r)%billion, 10)[1:]
	return strconv.FormatInt(int64(r)/billion, 10) + "." + frac[:1] + strings.TrimRight(frac[1:], "0")
}

// MarshalJSON prints a JSON number.
func (r Rate) MarshalJSON() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalJSON reads a JSON number by its digits, or a string that holds one.
func (r *Rate) UnmarshalJSON(data []byte) (err error) {
	*r, err = ParseRate(strings.Trim(string(data), `"`))
	return err
}

// ScanNumeric reads a PostgreSQL numeric.
func (r *Rate) ScanNumeric(n pgtype.Numeric) error {
	if !n.Valid || n.Int == nil || n.NaN || n.InfinityModifier != pgtype.Finite || int64(n.Exp) < -rateScale {
		return ErrRate
	}
	v := new(big.Int).Mul(n.Int, power(int64(n.Exp)+rateScale))
	if !v.IsInt64() || v.Sign() <= 0 {
		return ErrRate
	}
	*r = Rate(v.Int64())
	return nil
}

// NumericValue writes a PostgreSQL numeric.
func (r Rate) NumericValue() (pgtype.Numeric, error) {
	return pgtype.Numeric{Int: big.NewInt(int64(r)), Exp: -rateScale, Valid: true}, nil
}

// A Converted is the value of sums of several currencies in one currency, at somebody's rates. It
// is an estimate and not money: it can only be added to another Converted or printed as JSON.
type Converted struct{ cents int64 }

// Itself returns the value of a sum that is already in the target currency.
func (s Sum) Itself() Converted { return Converted{s.total.cents()} }

// Times returns the value of a sum if one unit of its currency costs r units of the target
// currency. It rounds to the cent, half away from zero.
func (s Sum) Times(r Rate) (Converted, error) { return s.scaled(int64(r), billion) }

// Over returns the value of a sum if one unit of the target currency costs r units of the sum's.
func (s Sum) Over(r Rate) (Converted, error) {
	if r <= 0 {
		return Converted{}, ErrRate
	}
	return s.scaled(billion, int64(r))
}

func (s Sum) scaled(times, over int64) (Converted, error) {
	n := new(big.Int).Mul(big.NewInt(s.total.cents()), big.NewInt(times))
	half := new(big.Int).Quo(big.NewInt(over), big.NewInt(2))
	if n.Sign() < 0 {
		half.Neg(half)
	}
	n.Quo(n.Add(n, half), big.NewInt(over))
	return converted(n)
}

// Plus returns the sum of two values.
func (c Converted) Plus(d Converted) (Converted, error) {
	return converted(new(big.Int).Add(big.NewInt(c.cents), big.NewInt(d.cents)))
}

func converted(cents *big.Int) (Converted, error) {
	if !cents.IsInt64() || cents.Int64() > maxTotalCents || cents.Int64() < -maxTotalCents {
		return Converted{}, ErrRange
	}
	return Converted{cents.Int64()}, nil
}

func (c Converted) String() string {
	sign, cents := "", c.cents
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return sign + strconv.FormatInt(cents/100, 10) + "." + strconv.FormatInt(100+cents%100, 10)[1:]
}

// MarshalJSON prints a JSON number with exactly two decimals.
func (c Converted) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

package money

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/govalues/decimal"
	"github.com/jackc/pgx/v5/pgtype"
)

// These errors never repeat their input, which may be text from a bank.
var (
	ErrSyntax = errors.New("an amount must be a plain decimal number with at most two decimals, such as -12.50")
	ErrRange  = errors.New("an amount may have at most ten digits before the decimal point, a total at most sixteen")
)

// This file is the only one that uses the decimal library, so that replacing it is one edit.

const scale = 2

var (
	maxAmount = decimal.MustParse("9999999999.99")       // what NUMERIC(12,2) holds
	maxTotal  = decimal.MustParse("9999999999999999.99") // fits int64 cents too
)

const maxTotalCents = 999_999_999_999_999_999

// An Amount is an exact decimal with two decimals that fits NUMERIC(12,2). Positive is money out.
// The zero value is 0.00, and == compares values.
type Amount struct {
	d decimal.Decimal // scale 2, or the zero Decimal: never 0.00, so that == holds
}

// Parse reads a plain decimal: an optional sign, digits, at most two decimals. "12.5" and ".5" are
// fine; exponents, separators, spaces and a third decimal are not.
func Parse(s string) (Amount, error) {
	if !plain(s) {
		return Amount{}, ErrSyntax
	}
	d, err := decimal.ParseExact(s, scale)
	if err != nil {
		return Amount{}, ErrRange
	}
	return newAmount(d)
}

// MustParse is [Parse] for literals in code; it panics if Parse fails.
func MustParse(s string) Amount {
	a, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return a
}

// FromCents returns an Amount of that many hundredths.
func FromCents(cents int64) (Amount, error) {
	d, err := decimal.New(cents, scale)
	if err != nil {
		return Amount{}, ErrRange
	}
	return newAmount(d)
}

// Cents returns the amount in hundredths.
func (a Amount) Cents() int64 {
	cents := int64(a.d.Coef()) // at most 12 digits
	if a.d.IsNeg() {
		return -cents
	}
	return cents
}

func (a Amount) String() string { return a.d.Pad(scale).String() }

// Append appends the amount to b, as String writes it.
func (a Amount) Append(b []byte) []byte {
	cents := a.Cents()
	if cents < 0 {
		b, cents = append(b, '-'), -cents
	}
	return append(strconv.AppendInt(b, cents/100, 10), '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

// Neg returns the amount with the other sign: money out becomes money in.
func (a Amount) Neg() Amount { return Amount{a.d.Neg()} }

// Cmp returns -1, 0 or +1.
func (a Amount) Cmp(b Amount) int { return a.d.Cmp(b.d) }

// Equal is == for go-cmp, which does not look into private fields.
func (a Amount) Equal(b Amount) bool { return a == b }

// IsNeg reports whether the amount is money in.
func (a Amount) IsNeg() bool { return a.d.IsNeg() }

func (a Amount) IsZero() bool { return a.d.IsZero() }

// MarshalJSON prints a JSON number with exactly two decimals.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a JSON number, or a string that holds one, by its digits. Null is an error,
// because an amount that a bank left out must not become 0.00. If null is allowed, the field is an
// *Amount.
func (a *Amount) UnmarshalJSON(data []byte) error {
	s := string(data)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	b, err := Parse(s)
	if err != nil {
		return err
	}
	*a = b
	return nil
}

// ScanNumeric reads a PostgreSQL numeric. A column that may be NULL needs an *Amount.
func (a *Amount) ScanNumeric(n pgtype.Numeric) error {
	d, err := fromNumeric(n)
	if err != nil {
		return err
	}
	b, err := newAmount(d)
	if err != nil {
		return err
	}
	*a = b
	return nil
}

// NumericValue writes a PostgreSQL numeric.
func (a Amount) NumericValue() (pgtype.Numeric, error) {
	return pgtype.Numeric{Int: big.NewInt(a.Cents()), Exp: -scale, Valid: true}, nil
}

// A Total is an exact sum in one currency: two decimals and up to 16 digits before the point, which
// is enough for a million of the largest amounts. PostgreSQL computes the sums.
type Total struct {
	d decimal.Decimal // as in Amount
}

func (t Total) String() string { return t.d.Pad(scale).String() }

// Cmp returns -1, 0 or +1.
func (t Total) Cmp(u Total) int { return t.d.Cmp(u.d) }

// Equal is == for go-cmp, which does not look into private fields.
func (t Total) Equal(u Total) bool { return t == u }

func (t Total) IsZero() bool { return t.d.IsZero() }

// IsNeg reports whether the sum is below zero.
func (t Total) IsNeg() bool { return t.d.IsNeg() }

// Neg returns the sum with the other sign.
func (t Total) Neg() Total { return Total{t.d.Neg()} }

// Add adds a sum of the same currency. It fails with ErrRange if the result has too many digits.
func (t Total) Add(u Total) (Total, error) {
	d, err := t.d.Add(u.d)
	if err != nil {
		return Total{}, ErrRange
	}
	return newTotal(d)
}

// Times returns the sum multiplied by n. It fails with ErrRange if the result has too many digits.
func (t Total) Times(n int64) (Total, error) {
	by, err := decimal.New(n, 0)
	if err != nil {
		return Total{}, ErrRange
	}
	d, err := t.d.Mul(by)
	if err != nil {
		return Total{}, ErrRange
	}
	return newTotal(d)
}

// Percent returns n percent of the sum, with fractions of a cent cut off.
func (t Total) Percent(n int64) (Total, error) {
	all, err := t.Times(n)
	if err != nil {
		return Total{}, err
	}
	cents := all.cents()
	d, err := decimal.New(cents/100, scale)
	if err != nil {
		return Total{}, ErrRange
	}
	return newTotal(d)
}

// cents returns the sum in hundredths.
func (t Total) cents() int64 {
	cents := int64(t.d.Coef()) // at most 18 digits
	if t.d.IsNeg() {
		return -cents
	}
	return cents
}

// MarshalJSON prints a JSON number with exactly two decimals.
func (t Total) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalJSON reads a JSON number by its digits, as PostgreSQL prints a sum in JSON.
func (t *Total) UnmarshalJSON(data []byte) error {
	d, err := decimal.Parse(string(data))
	if err != nil {
		return ErrSyntax
	}
	u, err := newTotal(d)
	if err != nil {
		return err
	}
	*t = u
	return nil
}

// ScanNumeric reads the result of sum(amount). The sum of no rows is NULL and needs a *Total.
func (t *Total) ScanNumeric(n pgtype.Numeric) error {
	d, err := fromNumeric(n)
	if err != nil {
		return err
	}
	u, err := newTotal(d)
	if err != nil {
		return err
	}
	*t = u
	return nil
}

func newAmount(d decimal.Decimal) (Amount, error) {
	if d.CmpAbs(maxAmount) > 0 {
		return Amount{}, ErrRange
	}
	return Amount{normal(d)}, nil
}

func newTotal(d decimal.Decimal) (Total, error) {
	if d.CmpAbs(maxTotal) > 0 {
		return Total{}, ErrRange
	}
	return Total{normal(d)}, nil
}

// normal gives each value one representation.
func normal(d decimal.Decimal) decimal.Decimal {
	if d.IsZero() {
		return decimal.Decimal{}
	}
	return d.Pad(scale)
}

// plain reports whether s is a plain decimal. The library alone would also accept exponents, and
// would round extra decimals.
func plain(s string) bool {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	whole, frac, point := strings.Cut(s, ".")
	if point && (frac == "" || len(frac) > scale) {
		return false
	}
	return len(whole)+len(frac) > 0 && digits(whole) && digits(frac)
}

func digits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// fromNumeric accepts any exponent if the value is a whole number of cents: PostgreSQL's wire
// format drops trailing zeros, and its arithmetic adds them.
func fromNumeric(n pgtype.Numeric) (decimal.Decimal, error) {
	if !n.Valid || n.Int == nil || n.NaN || n.InfinityModifier != pgtype.Finite {
		return decimal.Decimal{}, ErrSyntax
	}
	cents := n.Int
	switch shift := int64(n.Exp) + scale; {
	case shift > 0:
		cents = new(big.Int).Mul(cents, power(shift))
	case shift < 0:
		var rest *big.Int
		cents, rest = new(big.Int).QuoRem(cents, power(-shift), new(big.Int))
		if rest.Sign() != 0 {
			return decimal.Decimal{}, ErrSyntax
		}
	}
	if !cents.IsInt64() {
		return decimal.Decimal{}, ErrRange
	}
	return decimal.New(cents.Int64(), scale)
}

func power(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

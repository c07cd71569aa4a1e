package money

import "errors"

// ErrCurrency is what ParseCurrency returns for anything but three capital letters.
var ErrCurrency = errors.New("a currency must be three capital letters (ISO 4217), such as EUR")

// A Currency is a code of the shape of ISO 4217: three capital letters. Whether a bank or a mint
// stands behind it is not checked: lists age, and a household may hold what is on none.
type Currency string

// ParseCurrency accepts three capital letters.
func ParseCurrency(s string) (Currency, error) {
	if c := Currency(s); c.valid() {
		return c, nil
	}
	return "", ErrCurrency
}

// UnmarshalText lets a code enter from JSON or a query parameter only as ParseCurrency would have
// it.
func (c *Currency) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCurrency(string(text))
	return err
}

func (c Currency) valid() bool {
	if len(c) != 3 {
		return false
	}
	for _, b := range []byte(c) {
		if b < 'A' || b > 'Z' {
			return false
		}
	}
	return true
}

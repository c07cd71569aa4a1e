package money

import "errors"

// ErrCurrency is the error of ParseCurrency for anything but three capital letters.
var ErrCurrency = errors.New("a currency must be three capital letters (ISO 4217), such as EUR")

// A Currency is a code in the form of ISO 4217: three capital letters. It is not checked against
// the list of currencies, because lists become outdated and a household may hold a currency that is
// on none.
type Currency string

// ParseCurrency accepts three capital letters.
func ParseCurrency(s string) (Currency, error) {
	if c := Currency(s); c.valid() {
		return c, nil
	}
	return "", ErrCurrency
}

// UnmarshalText rejects everything that ParseCurrency rejects, so JSON and query parameters cannot
// contain an invalid code.
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

package money

import (
	"errors"
	"maps"
	"slices"
)

var (
	// ErrCurrency is what ParseCurrency returns for anything but three capital letters.
	ErrCurrency = errors.New("a currency must be three capital letters (ISO 4217), such as EUR")
	// ErrMixed is what adding two currencies returns.
	ErrMixed = errors.New("amounts in different currencies cannot be added")
)

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

// A Money is an amount with its currency, which is the least that can be added.
type Money struct {
	Amount   Amount   `json:"amount"`
	Currency Currency `json:"iso_currency_code"`
}

func (m Money) String() string { return m.Amount.String() + " " + string(m.Currency) }

// Add refuses another currency ([ErrMixed]) and a sum that does not fit an Amount ([ErrRange]).
func (m Money) Add(n Money) (Money, error) {
	if !m.Currency.valid() || !n.Currency.valid() {
		return Money{}, ErrCurrency
	}
	if m.Currency != n.Currency {
		return Money{}, ErrMixed
	}
	sum, err := m.Amount.plus(n.Amount)
	if err != nil {
		return Money{}, err
	}
	return Money{sum, m.Currency}, nil
}

// A Totals is one Total for each currency that was added to it. The zero value is empty and ready;
// it is not safe for concurrent use.
type Totals struct {
	by map[Currency]Total
}

// Add puts m under its currency. After an error the totals are as before.
func (t *Totals) Add(m Money) error {
	if !m.Currency.valid() {
		return ErrCurrency
	}
	sum, err := t.by[m.Currency].plus(m.Amount)
	if err != nil {
		return err
	}
	if t.by == nil {
		t.by = make(map[Currency]Total)
	}
	t.by[m.Currency] = sum
	return nil
}

// In is the total in c, 0.00 when nothing in c was added.
func (t Totals) In(c Currency) Total { return t.by[c] }

// Currencies lists those that were added, sorted, also where their total is 0.00.
func (t Totals) Currencies() []Currency { return slices.Sorted(maps.Keys(t.by)) }

// MarshalJSON prints {"EUR":12.50,"USD":-3.00}, sorted by currency; {} when empty.
func (t Totals) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, c := range t.Currencies() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `"`+string(c)+`":`+t.by[c].String()...)
	}
	return append(out, '}'), nil
}

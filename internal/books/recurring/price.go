package recurring

import "slices"

// A price is the amount of a series from a day on.
type price struct {
	day           int
	before, after int64
	provisional   bool // no later payment has repeated it yet
}

// fixedShare is the smallest share, in percent, of neighboring payments with equal amounts in a
// series with a fixed price.
const fixedShare = 60

// fixed reports whether the series has a fixed price.
func (s *Series) fixed() bool {
	equal := 0
	for i := 1; i < len(s.Rows); i++ {
		if s.Rows[i].Cents == s.Rows[i-1].Cents {
			equal++
		}
	}
	return equal*100 >= fixedShare*(len(s.Rows)-1)
}

// prices returns the price changes of a fixed series. A new amount is a price change if the next
// payment repeats it, or if it is the amount of the newest payment. A single different amount is
// not.
func (s *Series) prices() []price {
	if !s.fixed() {
		return nil
	}
	var out []price
	now := s.Rows[0].Cents
	for i, r := range s.Rows[1:] {
		last := i+2 == len(s.Rows)
		switch {
		case r.Cents == now:
		case last:
			out = append(out, price{r.Day, now, r.Cents, true})
		case s.Rows[i+2].Cents == r.Cents:
			out = append(out, price{r.Day, now, r.Cents, false})
			now = r.Cents
		}
	}
	return out
}

// amount returns the probable amount of the next payment: the last amount, or the median of the
// last six if amounts vary.
func (s *Series) amount() int64 {
	if s.fixed() {
		return s.Rows[len(s.Rows)-1].Cents
	}
	var cents []int64
	for _, r := range s.Rows[max(0, len(s.Rows)-6):] {
		cents = append(cents, r.Cents)
	}
	slices.Sort(cents)
	return cents[(len(cents)-1)/2]
}

// sure reports whether the series is long and regular.
func (s *Series) sure() bool {
	fit := 0
	for i := 1; i < len(s.Rows); i++ {
		if s.cadence.fits(s.Rows[i].Day - s.Rows[i-1].Day) {
			fit++
		}
	}
	return len(s.Rows) >= 6 && fit*10 >= 9*(len(s.Rows)-1)
}

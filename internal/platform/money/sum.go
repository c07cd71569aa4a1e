package money

// A Sum is a total together with its currency. Sums cannot be added, compared or mixed by mistake:
// code that wants the total must name the currency that it expects.
type Sum struct {
	currency Currency
	total    Total
}

// Total returns the amount as a total.
func (a Amount) Total() Total { return Total(a) }

// In returns the total as a Sum in that currency.
func (t Total) In(c Currency) Sum { return Sum{c, t} }

// Of returns the total, and reports whether the sum is in that currency.
func (s Sum) Of(c Currency) (Total, bool) {
	if s.currency != c {
		return Total{}, false
	}
	return s.total, true
}

// Amount returns the total as an Amount. It fails with ErrRange if the total has too many digits.
func (t Total) Amount() (Amount, error) { return newAmount(t.d) }

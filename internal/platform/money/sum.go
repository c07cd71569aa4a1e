package money

// A Sum is a total together with its currency. Sums cannot be added, compared or mixed by mistake:
// the only way to the total is to name the currency that one expects.
type Sum struct {
	currency Currency
	total    Total
}

// Total is the amount as a sum of one.
func (a Amount) Total() Total { return Total(a) }

// In gives the sum its currency.
func (t Total) In(c Currency) Sum { return Sum{c, t} }

// Of is the total if the sum is of that currency.
func (s Sum) Of(c Currency) (Total, bool) {
	if s.currency != c {
		return Total{}, false
	}
	return s.total, true
}

// Amount is the total as one amount. It fails with ErrRange if it has too many digits for that.
func (t Total) Amount() (Amount, error) { return newAmount(t.d) }

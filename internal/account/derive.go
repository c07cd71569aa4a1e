package account

import (
	"slices"
	"sort"

	"coffer/internal/money"
)

// How the balance of a day follows from others.
const (
	byTransactions = "transactions" // rows explain every difference
	byValuations   = "valuations"   // they do not: the last stated value holds until the next
)

// deriving is what the balances of days follow from.
type deriving struct {
	currency   money.Currency
	method     string
	moves      []movement
	statements []stated  // in order of their days
	closed     dayNumber // the account's last day, or 0
}

// A days computes an account's balance of any day, as an asset: debts are negative.
type days struct {
	deriving
	tally tally
}

// newDays prepares the computation. It is pure, as prove is.
func newDays(d deriving) (days, error) {
	t, _, err := running(d.currency, d.moves, func(m movement) dayNumber { return m.posted })
	return days{d, t}, err
}

// on is the balance at the end of a day; ok is false if none follows.
// From the nearest statement on or after the day the rows between are taken back; after the last
// statement they are carried on. A statement counts as the close of its day. Before the first row
// and the first statement nothing is known. A closed account holds nothing from the next day on.
func (d days) on(day dayNumber) (balance money.Total, ok bool, err error) {
	if d.closed != 0 && day > d.closed {
		return money.Total{}, true, nil
	}
	i := sort.Search(len(d.statements), func(i int) bool { return d.statements[i].day >= day })
	if i < len(d.statements) && d.statements[i].day == day {
		balance, ok = d.statements[i].asset.Of(d.currency)
		return balance, ok, nil
	}
	switch {
	case d.method == byValuations && i == 0, len(d.statements) == 0:
		return money.Total{}, false, nil
	case d.method == byValuations:
		balance, ok = d.statements[i-1].asset.Of(d.currency)
		return balance, ok, nil
	case i == len(d.statements):
		i--
	case i == 0 && (len(d.tally.days) == 0 || day < d.tally.days[0]):
		return money.Total{}, false, nil
	}
	balance, ok = d.statements[i].asset.Of(d.currency)
	if !ok {
		return money.Total{}, false, nil
	}
	if balance, err = balance.Add(d.tally.upTo(d.statements[i].day)); err != nil {
		return money.Total{}, false, err
	}
	balance, err = balance.Add(d.tally.upTo(day).Neg())
	return balance, err == nil, err
}

// known is the first day that has a balance; ok is false if none has.
func (d days) known() (first dayNumber, ok bool) {
	if len(d.statements) == 0 {
		return 0, false
	}
	first = d.statements[0].day
	if d.method == byTransactions && len(d.tally.days) > 0 {
		first = min(first, d.tally.days[0])
	}
	return first, true
}

// inGap reports whether a day lies in a gap of the proof, where a derived balance is not to be
// trusted.
func (v verdict) inGap(statements []stated, day dayNumber) bool {
	return slices.ContainsFunc(v.spans, func(s span) bool {
		return s.status == gap && day > statements[s.from].day && day <= statements[s.to].day
	})
}

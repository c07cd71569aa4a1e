package account

import (
	"slices"
	"sort"

	"coffer/internal/platform/money"
)

// How an account's balance on a day is derived.
const (
	byTransactions = "transactions" // transactions explain every difference
	byValuations   = "valuations"   // they do not: the last stated value is valid until the next
)

// deriving is the input for balances of days.
type deriving struct {
	currency   money.Currency
	method     string
	moves      []movement
	statements []stated  // in order of their days
	closed     dayNumber // the account's last day, or 0
}

// A days computes an account's balance on any day as an asset, so debts are negative.
type days struct {
	deriving
	tally tally
}

// newDays prepares the computation. It is pure, as prove is.
func newDays(d deriving) (days, error) {
	t, _, err := running(d.currency, d.moves, func(m movement) dayNumber { return m.posted })
	return days{d, t}, err
}

// on returns the balance at the end of a day; ok is false if none can be derived. It starts at the
// nearest statement on or after the day and undoes the rows in between. After the last statement it
// applies the rows instead. A statement counts as the close of its day. Nothing is known before the
// first row or statement, whichever is earlier. A closed account is empty from the next day on.
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

// known returns the first day that has a balance; ok is false if there is none.
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

// inGap reports whether a day is in a gap of the proof, where derived balances are unreliable.
func (v verdict) inGap(statements []stated, day dayNumber) bool {
	return slices.ContainsFunc(v.spans, func(s span) bool {
		return s.status == gap && day > statements[s.from].day && day <= statements[s.to].day
	})
}

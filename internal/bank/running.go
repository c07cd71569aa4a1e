package bank

import (
	"slices"
	"time"

	"coffer/internal/platform/money"
)

// A Closing is an account's balance at the end of a day. Debts are negative.
type Closing struct {
	Day   time.Time
	Asset money.Amount
	// Since is a day. The source lists every row that was booked after Since and up to Day. It is
	// zero if that is not known.
	Since time.Time
	// Moment marks a balance of some moment within the day.
	Moment bool
}

// How much evidence a running balance needs before it is used.
const (
	runningPairs   = 5 // pairs of consecutive rows
	runningPercent = 60
)

// A Running collects the balances that rows state after each of them. Neither banks nor files say
// whether a card's balance is a debt, or which row comes first. The rows prove both, because the
// balance moves by their amounts. The zero value is ready for use.
type Running struct {
	pairs int
	// How many pairs are consistent, if the oldest row comes first (down) or the newest (up), and
	// if the balance is money in the account (index 0) or a debt (index 1).
	down, up [2]int
	before   *runningRow
	days     map[time.Time]*runningDay
	latest   time.Time // the day of the previous row
}

type runningRow struct{ amount, balance int64 }

type runningDay struct {
	first, last money.Amount
	broken      bool    // its rows are not consecutive, or a row states no balance
	misplaced   [2]bool // out of date order, if the oldest row comes first (0) or the newest (1)
}

// Add adds the next row. Rows must come in the order of the bank or file. The balance is nil if the
// row states none.
func (r *Running) Add(day time.Time, amount money.Amount, balance *money.Amount) {
	if r.days == nil {
		r.days = map[time.Time]*runningDay{}
	}
	d, seen := r.days[day]
	if !seen {
		d = &runningDay{}
		r.days[day] = d
	}
	if previous := r.days[r.latest]; previous != nil && !r.latest.Equal(day) {
		d.broken = d.broken || seen
		at := 0
		if day.After(r.latest) {
			at = 1
		}
		d.misplaced[at], previous.misplaced[at] = true, true
	}
	r.latest = day
	if balance == nil {
		d.broken, r.before = true, nil
		return
	}
	if d.last = *balance; !seen {
		d.first = *balance
	}
	now := runningRow{amount.Cents(), balance.Cents()}
	if r.before != nil && now.amount != 0 && r.before.amount != 0 {
		r.compare(*r.before, now)
	}
	r.before = &now
}

// compare checks how the balance moved between two rows. A positive amount is money out.
func (r *Running) compare(before, now runningRow) {
	r.pairs++
	moved := now.balance - before.balance
	switch moved {
	case -now.amount:
		r.down[0]++
	case now.amount:
		r.down[1]++
	}
	switch moved {
	case before.amount:
		r.up[0]++
	case -before.amount:
		r.up[1]++
	}
}

// misplacedDays counts the days that are out of date order.
func (r *Running) misplacedDays(at int) (n int) {
	for _, d := range r.days {
		if d.misplaced[at] {
			n++
		}
	}
	return n
}

// Closings returns the balances at the end of each day, oldest first. It returns none if the rows
// do not prove the meaning of the balance. It leaves out days whose rows are not consecutive or
// that are out of date order.
func (r *Running) Closings() []Closing {
	best := max(r.down[0], r.down[1], r.up[0], r.up[1])
	if r.pairs < runningPairs || best*100 < r.pairs*runningPercent {
		return nil
	}
	owed := max(r.down[1], r.up[1])
	if owed == max(r.down[0], r.up[0]) {
		return nil // both meanings fit, so nothing is proven
	}
	upward := max(r.up[0], r.up[1]) == best
	if upward && max(r.down[0], r.down[1]) == best { // the rows fit both orders; the dates decide
		upward = r.misplacedDays(0) > r.misplacedDays(1)
	}
	at := 0
	if upward {
		at = 1
	}
	var out []Closing
	for day, d := range r.days {
		if d.broken || d.misplaced[at] {
			continue
		}
		c := Closing{Day: day, Asset: d.last}
		if upward {
			c.Asset = d.first
		}
		if owed == best {
			c.Asset = c.Asset.Neg()
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Closing) int { return a.Day.Compare(b.Day) })
	return out
}

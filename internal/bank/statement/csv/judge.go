package csv

import (
	"context"
	"io"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
)

// A verdict collects the evidence of the rows about signs and order.
type verdict struct {
	// Numbers of pairs of rows between which the balance moves by the amount. Added: a positive
	// amount raises the balance. Taken: a positive amount lowers it. Down: the oldest row comes
	// first. Up: the newest row comes first.
	downAdded, downTaken, upAdded, upTaken int
	pairs                                  int

	negativeOut, positiveOut int // words that indicate one convention or the other
	negative, positive       int // numbers of such amounts
	mixedDebit, mixedCredit  bool

	counts bool // the column of ids only numbers the rows

	rises, falls int // of dates in which day and month are unambiguous
}

// An entry is a row for the judge. Its amount is signed as in the file. If the direction is marked
// in another way, money in is positive.
type entry struct {
	amount, balance money.Amount
	amountOK        bool
	balanceOK       bool
}

// judge reads the table again, with its columns known.
func judge(ctx context.Context, file io.ReaderAt, p *plan, hints []*Column) (verdict, error) {
	var v verdict
	var debit, credit [2]int
	var before entry
	var dated, all counter
	for rec, err := range p.body(ctx, file) {
		if err != nil {
			return v, err
		}
		all.see(rec.at(p.mapping.ID))
		if _, ok := p.date(reading.Trim(rec.at(p.mapping.Date))); !ok {
			continue
		}
		dated.see(rec.at(p.mapping.ID))
		now := p.entry(rec)
		if p.sign == Split {
			p.signOf(rec, p.mapping.Debit, &debit)
			p.signOf(rec, p.mapping.Credit, &credit)
		}
		if now.amountOK {
			v.words(rec, now.amount, p.mapping, hints)
		}
		if before.balanceOK && now.balanceOK {
			v.balance(before, now)
		}
		before = now
	}
	v.counts = dated.counts() || all.counts()
	v.mixedDebit, v.mixedCredit = debit[0] > 0 && debit[1] > 0, credit[0] > 0 && credit[1] > 0
	return v, nil
}

func (p *plan) entry(rec record) (e entry) {
	var bad *fault
	switch p.sign {
	case Split, Flag:
		e.amount, _, _, bad = p.amount(rec, &p.mapping)
		e.amount = e.amount.Neg()
	default:
		e.amount, _, bad = p.figure(rec, p.mapping.Amount)
	}
	e.amountOK = bad == nil && !e.amount.IsZero()
	e.balance, _, bad = p.figure(rec, p.mapping.Balance)
	e.balanceOK = bad == nil
	return e
}

func (p *plan) signOf(rec record, c *Column, counts *[2]int) {
	if a, _, bad := p.figure(rec, c); bad == nil && !a.IsZero() {
		if a.IsNeg() {
			counts[0]++
		} else {
			counts[1]++
		}
	}
}

func (v *verdict) balance(before, now entry) {
	moved := now.balance.Cents() - before.balance.Cents()
	if !now.amountOK || !before.amountOK {
		return
	}
	v.pairs++
	switch moved {
	case now.amount.Cents():
		v.downAdded++
	case -now.amount.Cents():
		v.downTaken++
	}
	switch -moved {
	case before.amount.Cents():
		v.upAdded++
	case -before.amount.Cents():
		v.upTaken++
	}
}

func (v *verdict) words(rec record, amount money.Amount, m Mapping, hints []*Column) {
	if amount.IsNeg() {
		v.negative++
	} else {
		v.positive++
	}
	direction := unknown
	for _, h := range hints {
		if d := directions[norm(rec.at(h))]; d != unknown {
			direction = d
		}
	}
	for _, c := range []*Column{m.Category, m.Name, m.Detail} {
		if direction == unknown && c != nil {
			direction = saysDirection(rec.at(c))
		}
	}
	switch {
	case direction == unknown:
	case (direction == out) == amount.IsNeg():
		v.negativeOut++
	default:
		v.positiveOut++
	}
}

// proven returns what the balance proves: the sign convention, and whether the oldest row comes
// first. One or two rows can fit by chance, so most pairs must agree.
func (v *verdict) proven() (sign string, oldestFirst, ok bool) {
	v.dropDirection()
	best := max(v.downAdded, v.downTaken, v.upAdded, v.upTaken)
	if best == 0 || best*5 < v.pairs*3 {
		return "", false, false
	}
	added, taken := max(v.downAdded, v.upAdded), max(v.downTaken, v.upTaken)
	if added == taken {
		return "", false, false
	}
	sign = NegativeOut
	if taken > added {
		sign = PositiveOut
	}
	return sign, max(v.downAdded, v.downTaken) == best, true
}

// dropDirection excludes an order of the rows that contradicts the dates. With equal amounts, the
// balance alone cannot decide.
func (v *verdict) dropDirection() {
	switch {
	case v.rises > 0 && v.falls == 0:
		v.upAdded, v.upTaken = 0, 0
	case v.falls > 0 && v.rises == 0:
		v.downAdded, v.downTaken = 0, 0
	}
}

// ordered reports whether the balance also shows the order of the rows.
func (v *verdict) ordered() bool {
	return max(v.downAdded, v.downTaken) != max(v.upAdded, v.upTaken)
}

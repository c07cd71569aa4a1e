package camt

import (
	"cmp"
	"fmt"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// flush emits the entry that has ended, as one row or as one row per detail.
func (r *reader) flush() error {
	e := &r.entry
	r.assume(e.currency)
	if err := r.prepare(); err != nil {
		return err
	}
	switch e.status {
	case "", "BOOK":
	case "INFO":
		return r.emit(reading.Skip("not_booked", "information only; the balance doesn't change"))
	default:
		return r.emit(reading.Pending())
	}
	row, left := r.row(e)
	if left != nil {
		return r.emit(*left)
	}
	r.sum.add(row.Amount, e.reversal)
	parts := r.parts(e, row.Amount)
	if parts == nil {
		var one detail
		switch {
		case e.count == 1:
			one = e.details[0]
		case e.count > 1:
			one.more = cmp.Or(e.more, e.details[0].free, e.details[0].structured)
		}
		if row.ID == "" {
			row.ID = text.Name(one.id)
		}
		row.Name, row.Detail = r.words(e, &one)
		return r.emit(reading.Item{Row: row})
	}
	batch := &statement.Batch{ID: row.ID, Amount: row.Amount}
	for i, amount := range parts {
		part := row
		part.Amount, part.Extra = amount, &statement.Extra{Batch: batch}
		if row.Extra != nil {
			part.Extra.Value = row.Extra.Value
		}
		if row.ID != "" {
			part.ID = text.Name(fmt.Sprintf("%s/%d", row.ID.Plain(), i+1))
		}
		part.Name, part.Detail = r.words(e, &e.details[i])
		if err := r.emit(reading.Item{Row: part}); err != nil {
			return err
		}
	}
	return nil
}

// row reads what the rows of an entry have in common. The indicator gives the direction, for
// reversals too, unless the balances show that the bank uses the opposite sign.
func (r *reader) row(e *entry) (row statement.Row, left *reading.Item) {
	reject := func(code, message string) (statement.Row, *reading.Item) {
		item := reading.Reject(code, message)
		return row, &item
	}
	value, hasValue := reading.Compact(e.value)
	day, ok := reading.Compact(cmp.Or(e.booked, e.value))
	if !ok {
		return reject("date", "the entry has no readable date")
	}
	amount, err := reading.Amount(e.amount)
	if err != nil {
		return reject("amount", err.Error())
	}
	if !e.debit {
		amount = amount.Neg()
	}
	if e.reversal && r.turn[r.seen.statements] {
		amount = amount.Neg()
	}
	row = statement.Row{Date: day, Amount: amount, ID: text.Name(e.id), Currency: r.account.Currency}
	if e.currency != "" {
		if row.Currency, err = money.ParseCurrency(e.currency); err != nil {
			return reject("currency", "the currency is not a three-letter code")
		}
	}
	if hasValue && value != day {
		row.Extra = &statement.Extra{Value: value}
	}
	return row, nil
}

// parts returns the amounts of the details of a batch. Each must have an amount in the entry's
// currency, and together they must equal the entry. Otherwise they may contain charges or other
// amounts, and only the entry counts.
func (r *reader) parts(e *entry, whole money.Amount) []money.Amount {
	if e.count < 2 || e.count > maxDetails {
		return nil
	}
	out := make([]money.Amount, 0, e.count)
	var sum money.Total
	for _, d := range e.details {
		a, err := reading.Amount(d.amount)
		if err != nil || d.currency != e.currency {
			return nil
		}
		same := d.sign == "" || (d.sign == "DBIT") == e.debit
		if whole.IsNeg() == same {
			a = a.Neg()
		}
		if sum, err = sum.Add(a.Total()); err != nil {
			return nil
		}
		out = append(out, a)
	}
	if !sum.Equal(whole.Total()) {
		return nil
	}
	return out
}

// words returns the name and the detail of a row. The name is that of the party who is not the
// account's owner. Entries without one, such as fees and card payments, get their text as the name.
func (r *reader) words(e *entry, d *detail) (name, more text.Untrusted) {
	remittance := d.free
	if strings.TrimSpace(remittance) == "" {
		remittance = d.structured
	} else if d.structured != "" {
		remittance += " " + d.structured
	}
	remittance = cmp.Or(remittance, d.more, e.more)
	if name = text.Name(r.other(e, d)); name == "" {
		name = text.Name(remittance)
	}
	return name, text.Detail(remittance, name)
}

// other returns the name of the other party. A reversal keeps the parties of the original entry, so
// if the owner is known, the party with another name is chosen.
func (r *reader) other(e *entry, d *detail) string {
	order := [4]int{ultimateDebtor, debtor, ultimateCreditor, creditor}
	if e.debit != (e.reversal && r.owner == "") {
		order = [4]int{ultimateCreditor, creditor, ultimateDebtor, debtor}
	}
	for i, at := range order {
		name := d.parties[at]
		switch {
		case name == "" || i >= 2 && r.owner == "":
		case r.owner == "" || text.Fold(text.Name(name).Plain()) != r.owner:
			return name
		}
	}
	return ""
}

// prepare emits the account and the opening balance before the first entry.
func (r *reader) prepare() error {
	if r.stated {
		return nil
	}
	if err := r.announce(); err != nil {
		return err
	}
	inner := 0
	for i, b := range r.balances {
		if b.code == "ITBD" {
			inner++
		}
		if b.code == "OPBD" || b.code == "PRCD" {
			return r.first(i, statement.Opening)
		}
	}
	if inner < 2 {
		return nil
	}
	for i, b := range r.balances {
		if b.code == "ITBD" {
			return r.first(i, statement.Running) // the opening balance of a later page
		}
	}
	return nil
}

// first emits the balance before the first entry.
func (r *reader) first(at int, kind string) error {
	p := r.balances[at].point(kind)
	r.balances[at].code = ""
	if p == nil {
		return nil
	}
	r.opening = &p.Amount
	return r.emit(reading.Item{Point: p})
}

// end emits the balances after the last entry.
func (r *reader) end() error {
	if err := r.prepare(); err != nil {
		return err
	}
	var last *statement.Point
	for _, b := range r.balances {
		switch b.code {
		case "CLBD":
			last = b.point(statement.Closing)
		case "ITBD":
			if last == nil || last.Kind != statement.Closing {
				last = b.point(statement.Running)
			}
		case "CLAV", "ITAV":
			if p := b.point(statement.Stated); p != nil {
				a := r.account
				a.Key, a.Available = r.key, &p.Amount
				if err := r.emit(reading.Item{Account: &a}); err != nil {
					return err
				}
			}
		}
	}
	if last == nil {
		return nil
	}
	if last.Covered = r.opening != nil; last.Covered && r.sum.provesTurned(*r.opening, last.Amount) {
		if r.seen.turn == nil {
			r.seen.turn = map[int]bool{}
		}
		r.seen.turn[r.seen.statements] = true
	}
	return r.emit(reading.Item{Point: last})
}

func (s *sum) add(a money.Amount, reversal bool) {
	s.all, _ = s.all.Add(a.Total())
	if reversal {
		s.reversals, _ = s.reversals.Add(a.Total())
	}
}

// provesTurned reports whether a statement adds up only if its reversals have the opposite sign.
func (s *sum) provesTurned(opening, closing money.Amount) bool {
	left, err := opening.Total().Add(s.all.Neg())
	if err != nil || s.reversals.IsZero() || left.Equal(closing.Total()) {
		return false
	}
	for range 2 {
		if left, err = left.Add(s.reversals); err != nil {
			return false
		}
	}
	return left.Equal(closing.Total())
}

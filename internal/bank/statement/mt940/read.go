package mt940

import (
	"context"
	"io"
	"iter"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A census counts what a file contains besides rows.
type census struct {
	statements int
	interim    bool
}

// ctxFields is how many fields are read between two checks of the context.
const ctxFields = 2000

func items(ctx context.Context, file io.ReaderAt, encoding string, seen *census) iter.Seq2[reading.Item, error] {
	return reading.Stream(func(emit func(reading.Item) error) error {
		r := reader{emit: emit, seen: seen}
		s := scanner{in: reading.NewLines(reading.Open(file, encoding))}
		if err := reading.Each(ctx, ctxFields, s.next, r.take); err != nil {
			return err
		}
		return r.flush()
	})
}

// A reader keeps the unfinished data.
type reader struct {
	emit func(reading.Item) error
	seen *census

	account  string
	currency money.Currency
	interim  bool // the message is not a statement but a report of the current day
	stated   bool // the account has been emitted
	proves   bool // there is a balance before the rows
	page     *money.Amount
	entry    []string // a :61: that waits for its :86:
	open     bool
}

// take handles the next field.
func (r *reader) take(f field) error {
	if f.tag == "86" {
		if !r.open {
			return nil // this :86: is about the statement
		}
		r.open = false
		return r.row(r.entry, f.lines)
	}
	if err := r.flush(); err != nil || f.tag == "" {
		return err
	}
	value := strings.TrimSpace(f.lines[0])
	switch f.tag {
	case "20":
		r.seen.statements++
		r.stated, r.proves, r.interim, r.currency = false, false, false, ""
	case "25", "25P": // 25P has the bank on a second line
		r.account = value
	case "34F":
		r.interim, r.seen.interim = true, true
		r.setCurrency(value[:min(3, len(value))])
	case "60F", "60M", "62F", "62M":
		return r.balance(f.tag, value)
	case "64":
		if p, c := point(value); p != nil {
			r.setCurrency(c)
			a := r.accountOf()
			a.Available, r.stated = &p.Amount, true
			return r.emit(reading.Item{Account: a})
		}
	case "61":
		r.open, r.entry = true, f.lines
		return r.announce()
	}
	return nil
}

// flush emits the open entry, which has no :86:.
func (r *reader) flush() error {
	if !r.open {
		return nil
	}
	r.open = false
	return r.row(r.entry, nil)
}

func (r *reader) setCurrency(s string) {
	if r.currency == "" {
		r.currency, _ = money.ParseCurrency(s)
	}
}

// announce emits the account of the statement before its first item.
func (r *reader) announce() error {
	if r.stated {
		return nil
	}
	r.stated = true
	return r.emit(reading.Item{Account: r.accountOf()})
}

// accountOf parses an account. It is an IBAN, or the numbers of the bank and the account. A
// currency may follow.
func (r *reader) accountOf() *statement.Account {
	a := &statement.Account{Type: "depository", Currency: r.currency}
	number := strings.ToUpper(strings.ReplaceAll(r.account, " ", ""))
	if n := len(number) - 3; n > 0 && reading.IsDigit(number[n-1]) {
		if _, err := money.ParseCurrency(number[n:]); err == nil {
			number = number[:n]
		}
	}
	if reading.IsIBAN(number) {
		a.IBAN = text.Name(number)
	} else {
		a.Number = text.Name(number)
	}
	a.Key = text.Name(number + " " + string(r.currency))
	return a
}

// balance handles a balance. F marks a balance of the statement, M one of a page. If a page begins
// with the balance with which the previous page ended, it continues the same statement.
func (r *reader) balance(tag, value string) error {
	p, c := point(value)
	if p == nil {
		r.page = nil
		return nil
	}
	r.setCurrency(c)
	if err := r.announce(); err != nil {
		return err
	}
	before := r.page
	r.page = nil
	switch tag {
	case "60F":
		p.Kind, r.proves = statement.Opening, true
	case "60M":
		p.Kind, r.proves = statement.Running, true
		if before != nil && before.Equal(p.Amount) {
			return nil
		}
	case "62F":
		p.Kind, p.Covered = statement.Closing, r.proves
	case "62M":
		p.Kind, p.Covered = statement.Running, r.proves
		r.page = &p.Amount
	}
	return r.emit(reading.Item{Point: p})
}

// point reads a balance, such as C260227EUR1000,00.
func point(s string) (*statement.Point, string) {
	if len(s) < 11 || s[0] != 'C' && s[0] != 'D' {
		return nil, ""
	}
	day, ok := reading.Compact("20" + s[1:7])
	amount, err := reading.Amount(s[10:])
	if !ok || err != nil {
		return nil, ""
	}
	if s[0] == 'D' {
		amount = amount.Neg()
	}
	return &statement.Point{Day: day, Amount: amount}, s[7:10]
}

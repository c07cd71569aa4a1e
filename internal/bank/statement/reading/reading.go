// Package reading is shared by the formats that describe themselves. A format's reader turns a file
// into a stream of items; this package counts the items for the preview and filters the rows for
// the import. It also has helpers for bytes and numbers for every format.
package reading

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An Item is what a reader finds next in a file: an account, a balance, a deletion, a row, or the
// reason why a line is not a row. Balances and deletions belong to the last account before them.
// The reader's caller fills in the number and the account of rows and reasons.
type Item struct {
	Account *statement.Account
	Point   *statement.Point
	Delete  text.Untrusted // the id of an earlier row that the bank deletes
	Row     statement.Row
	Left    *statement.RowError
}

// Items reads a file after its inspection.
type Items func(ctx context.Context, file io.ReaderAt) iter.Seq2[Item, error]

// maxPoints is the maximum number of balances that are kept of one file.
const maxPoints = 20_000

// ctxItems is how many items are read between two checks of the context.
const ctxItems = 1000

// numbered yields the items with the numbers and accounts of their rows. It ends with the context,
// or with an error if the file is too large.
func (read Items) numbered(ctx context.Context, file io.ReaderAt) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var account text.Untrusted
		seen, rows := 0, 0
		for item, err := range read(ctx, file) {
			if seen++; err == nil && seen%ctxItems == 0 {
				err = ctx.Err()
			}
			switch {
			case err != nil:
			case item.Account != nil:
				account = item.Account.Key
			case item.Point != nil || item.Delete != "":
			default:
				if rows++; rows > statement.MaxRows {
					err = errs.New(errs.PayloadTooLarge, "the file has more than %d rows; split it by year",
						statement.MaxRows)
				}
				item.Row.Number, item.Row.Account = rows, account
				if item.Left != nil {
					item.Left.Row, item.Left.Account = rows, account
				}
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Read is the Read function of a format whose preview has an Items as its plan.
func Read(ctx context.Context, file io.ReaderAt, p statement.Preview) iter.Seq2[statement.Row, error] {
	return func(yield func(statement.Row, error) bool) {
		read, ok := p.Plan.(Items)
		if !ok {
			yield(statement.Row{}, fmt.Errorf("reading: the preview of another format (%T)", p.Plan))
			return
		}
		for item, err := range read.numbered(ctx, file) {
			switch {
			case err != nil:
				yield(statement.Row{}, err)
				return
			case item.Account != nil || item.Point != nil || item.Delete != "":
				continue
			case item.Left != nil:
				item.Row, err = statement.Row{Number: item.Left.Row, Account: item.Left.Account}, item.Left
			}
			if !yield(item.Row, err) {
				return
			}
		}
	}
}

// Survey reads a whole file and fills in what the items contribute to its preview.
func Survey(ctx context.Context, file io.ReaderAt, read Items, p *statement.Preview) error {
	s := survey{sums: map[text.Untrusted]*sum{}}
	for item, err := range read.numbered(ctx, file) {
		if err == nil {
			err = s.see(item)
		}
		if err != nil {
			return err
		}
	}
	p.Plan, p.Confidence = read, statement.High
	if !s.tally.Fill(p) {
		return errTooMany
	}
	if p.Warnings == nil {
		p.Warnings = []statement.Warning{}
	}
	if p.DefaultCurrency == "" {
		p.DefaultCurrency = p.Currency
	}
	if p.RowsRejected*10 > p.RowsTotal {
		p.Confidence = statement.Low
	}
	return nil
}

var errTooMany = errs.New(errs.PayloadTooLarge, "the file has more than %d accounts; split it",
	statement.MaxAccounts)

// A survey is an unfinished preview.
type survey struct {
	tally  statement.Tally
	now    *statement.Account // the account of the current items
	sums   map[text.Untrusted]*sum
	points int
}

// A sum is the total of an account's rows since its last balance.
type sum struct {
	out  money.Total
	open bool // the total is out of range, so it is unknown
}

func (s *survey) see(item Item) error {
	if s.now == nil && item.Account == nil {
		if err := s.see(Item{Account: &statement.Account{}}); err != nil {
			return err
		}
	}
	switch {
	case item.Account != nil:
		if s.now = s.tally.Account(item.Account.Key); s.now == nil {
			return errTooMany
		}
		merge(s.now, item.Account)
		if s.sums[s.now.Key] == nil {
			s.sums[s.now.Key] = &sum{}
		}
	case item.Point != nil:
		s.point(*item.Point)
	case item.Delete != "":
		if len(s.now.Deletes) < maxPoints {
			s.now.Deletes = append(s.now.Deletes, item.Delete)
		}
	case item.Left != nil:
		s.tally.Left(item.Left)
	default:
		s.tally.Row(item.Row)
		if item.Row.Currency == s.now.Currency {
			s.sums[s.now.Key].add(item.Row.Amount)
		}
	}
	return nil
}

func (s *sum) add(a money.Amount) {
	out, err := s.out.Add(a.Total())
	if s.out = out; err != nil {
		s.open = true
	}
}

func (s *survey) point(p statement.Point) {
	moved := s.sums[s.now.Key]
	if p.Covered = p.Covered && !moved.open && len(s.now.Points) > 0; p.Covered {
		p.Out = moved.out
	}
	*moved = sum{}
	if s.points++; s.points <= maxPoints {
		s.now.Points = append(s.now.Points, p)
	}
}

// merge adds what a later part of a file states about an account.
func merge(a, more *statement.Account) {
	for _, f := range []struct{ to, from *text.Untrusted }{
		{&a.Name, &more.Name}, {&a.IBAN, &more.IBAN}, {&a.Number, &more.Number}, {&a.Bank, &more.Bank},
	} {
		if *f.to == "" {
			*f.to = *f.from
		}
	}
	if a.Currency == "" {
		a.Currency = more.Currency
	}
	if a.Type == "" {
		a.Type, a.Subtype = more.Type, more.Subtype
	}
	if more.From != "" && (a.From == "" || more.From < a.From) {
		a.From = more.From
	}
	a.To = max(a.To, more.To)
	if more.Available != nil {
		a.Available = more.Available
	}
}

// Skip returns an item for a line that is not a transaction.
func Skip(code, message string) Item {
	return Item{Left: &statement.RowError{Code: code, Message: message, Skip: true}}
}

// Pending returns an item for a row that is not booked yet.
func Pending() Item { return Skip("pending", "pending; it will be in a later statement once posted") }

// Reject returns an item for a row that can't be read.
func Reject(code, message string) Item {
	return Item{Left: &statement.RowError{Code: code, Message: message}}
}

// Each calls next and passes the results to take, until the end of the file. It checks the context
// after every many results.
func Each[T any](ctx context.Context, many int, next func() (T, error), take func(T) error) error {
	for n := 0; ; n++ {
		if n%many == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		item, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(item)
		}
		if err != nil {
			return err
		}
	}
}

// errEnough stops a reader whose remaining items are not needed.
var errEnough = errors.New("enough")

// Stream converts a function that emits items into an iterator. Emit returns an error if no more
// items are needed; the function must then return it at once.
func Stream(run func(emit func(Item) error) error) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		err := run(func(i Item) error {
			if !yield(i, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Item{}, err)
		}
	}
}

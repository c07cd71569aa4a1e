package camt

import (
	"context"
	"io"
	"iter"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A plan holds the results of the inspection that reading needs.
type plan struct {
	encoding string
	turn     map[int]bool // indexes of the statements whose reversals have the opposite sign
}

// A census counts what a file contains besides rows.
type census struct {
	statements int
	turn       map[int]bool // statements that only add up if reversals have the opposite sign
}

// Limits of the data that is kept in memory.
const (
	maxDepth   = 64
	maxDetails = 10_000 // of one entry
	maxWords   = 4 << 10
	ctxTags    = 10_000 // between two checks of the context
)

var (
	errDoctype = errs.New(errs.InvalidBody, "the file has a document type declaration, which statements must not have")
	errBroken  = errs.New(errs.InvalidBody, "the file is broken or not complete; download it again")
)

func (p plan) items(ctx context.Context, file io.ReaderAt, seen *census) iter.Seq2[reading.Item, error] {
	return reading.Stream(func(emit func(reading.Item) error) error {
		r := reader{emit: emit, seen: seen, turn: p.turn}
		tags := reading.NewTags(reading.Open(file, p.encoding), false)
		if err := reading.Each(ctx, ctxTags, tags.Next, r.take); err != nil || len(r.open) == 0 {
			return err
		}
		return errBroken
	})
}

// A reader keeps the current path and the unfinished data.
type reader struct {
	emit func(reading.Item) error
	seen *census
	turn map[int]bool

	open []int  // length of the path before each open element
	path []byte // each name is followed by a slash
	base int    // length of the path up to the statement; 0 outside a statement

	account  statement.Account
	currency money.Currency // of the account, or else of its first amount
	owner    string
	stated   bool // the account has been emitted
	key      text.Untrusted
	opening  *money.Amount
	balances []balance
	balance  balance
	entry    entry
	sum      sum
}

// statements are the elements that contain a statement of one account.
var statements = map[string]bool{"Stmt": true, "Rpt": true, "Ntfctn": true}

// take handles the next tag.
func (r *reader) take(t reading.Tag) error {
	switch {
	case t.Name != "" && t.Name[0] == '!':
		return errDoctype
	case t.End:
		return r.leave(t.Name)
	case len(r.open) == maxDepth:
		return errBroken
	}
	r.open = append(r.open, len(r.path))
	r.path = append(append(r.path, t.Name...), '/')
	switch {
	case r.base > 0:
		r.value(t)
	case statements[t.Name]:
		r.begin()
	}
	if t.Empty {
		return r.leave(t.Name)
	}
	return nil
}

func (r *reader) begin() {
	*r = reader{
		emit: r.emit, seen: r.seen, turn: r.turn, open: r.open, path: r.path, base: len(r.path),
		account: statement.Account{Type: "depository"},
	}
	r.seen.statements++
}

// leave ends the innermost element, which must have this name.
func (r *reader) leave(name string) (err error) {
	if len(r.open) == 0 {
		return errBroken
	}
	start := r.open[len(r.open)-1]
	if string(r.path[start:]) != name+"/" {
		return errBroken
	}
	if r.base > 0 {
		switch string(r.path[min(r.base, len(r.path)):]) {
		case "":
			err = r.end()
			r.base = 0
		case "Ntry/":
			err = r.flush()
		case "Bal/":
			r.keep()
		}
	}
	r.open, r.path = r.open[:len(r.open)-1], r.path[:start]
	return err
}

// announce emits the account of the statement before its first item.
func (r *reader) announce() error {
	if r.stated {
		return nil
	}
	r.stated = true
	a := r.account
	if a.Currency == "" {
		a.Currency = r.currency
	}
	r.account.Currency = a.Currency
	a.Key = text.Name(a.IBAN.Plain() + a.Number.Plain() + " " + string(a.Currency))
	r.key = a.Key
	return r.emit(reading.Item{Account: &a})
}

package csv

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A plan holds all decisions that reading needs.
type plan struct {
	encoding string
	comma    byte
	// The number of the header's record, or of the last record before the table. It is 0 if the
	// file begins with the table.
	header   int
	names    []string // normalized names of the columns; nil without a header
	mapping  Mapping
	inbound  *Mapping // the mapping for money in, if different
	order    dateOrder
	decimal  byte
	sign     string
	counts   bool // the column of ids only numbers the rows of the file
	keep     []check
	skip     []check
	only     []check
	currency map[int]money.Currency // the currency in the header, by column
	fallback money.Currency
}

// A check is a rule with a resolved column.
type check struct {
	column *Column
	values []string
}

// Read yields the rows of a file in order, in the way that Inspect found. A row that is not a
// transaction, or can't be read, is yielded as a [*statement.RowError] with only its number. Any
// other error, including the end of the context, ends the file; the caller must then discard the
// earlier rows.
func Read(ctx context.Context, file io.ReaderAt, p Preview) iter.Seq2[statement.Row, error] {
	return p.plan.read(ctx, file)
}

func (p *plan) read(ctx context.Context, file io.ReaderAt) iter.Seq2[statement.Row, error] {
	return func(yield func(statement.Row, error) bool) {
		for rec, err := range p.body(ctx, file) {
			if err != nil {
				yield(statement.Row{}, err)
				return
			}
			row, fault := p.row(rec)
			if fault != nil {
				row, err = statement.Row{Number: rec.number}, &statement.RowError{
					Row: rec.number, Code: fault.code, Message: fault.message, Skip: fault.skip,
					Account: text.Name(unguard(rec.at(p.mapping.Account))),
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// ctxRecords is how many records are read between two checks of the context.
const ctxRecords = 1000

// body yields the records below the header that are not blank. It ends with the context.
func (p *plan) body(ctx context.Context, file io.ReaderAt) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		s := newScanner(reading.Open(file, p.encoding), p.comma)
		for n := 0; ; {
			rec, err := s.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && rec.number%ctxRecords == 0 {
				err = ctx.Err()
			}
			if err == nil && rec.number <= p.header || err == nil && rec.blank() {
				continue
			}
			if n++; err == nil && n > statement.MaxRows {
				err = errs.New(errs.PayloadTooLarge, "the file has more than %d rows; split it by year",
					statement.MaxRows)
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// A fault is the reason why a row is left out.
type fault struct {
	code, message string
	skip          bool // the row is not a transaction, such as a total
}

var (
	faultLong     = &fault{"too_long", "the row is too long, or a quote in it is never closed", false}
	faultNoDate   = &fault{"no_date", "no date (a total, heading or note)", true}
	faultUndated  = &fault{"undated", "the row has an amount but no date", false}
	faultDate     = &fault{"date", "the date doesn't match the date format of the other rows", false}
	faultNoAmount = &fault{"no_amount", "the row has no amount", true}
	faultBalance  = &fault{"balance", "a balance, not a transaction", true}
	faultBoth     = &fault{"amount", "the row has both money out and money in", false}
	faultFee      = &fault{"fee", "the fee is not a readable number", false}
	faultFlag     = &fault{"flag", "the row doesn't show whether it is money in or money out", false}
	faultNeutral  = &fault{"neutral", "money moved within the account", true}
	faultCurrency = &fault{"currency", "the currency is not a three-letter code", false}
	faultPending  = &fault{"pending", "pending; it will be in a later statement once posted", true}
	faultDead     = &fault{"not_completed", "the bank marks this row as not completed", true}
	faultMemo     = &fault{"not_booked", "information only; the balance doesn't change", true}
)

// row reads a record. The amount of the row is positive for money out.
func (p *plan) row(rec record) (row statement.Row, _ *fault) {
	m := &p.mapping
	if rec.broken {
		return row, faultLong
	}
	cell := reading.Trim(rec.at(m.Date))
	if !strings.ContainsAny(cell, "0123456789") {
		return row, p.undated(rec, cell)
	}
	amount, dir, currency, bad := p.amount(rec, m)
	date, ok := p.date(cell)
	switch {
	case !ok && bad != nil && bad.skip:
		return row, faultNoDate
	case !ok:
		return row, faultDate
	}
	if f := p.status(rec); f != nil {
		return row, f
	}
	if statesBalance(rec.at(m.Name)) ||
		reading.Trim(rec.at(m.Name)) == "" && slices.ContainsFunc(rec.fields, statesBalance) {
		return row, faultBalance
	}
	if bad == nil && dir == in && p.inbound != nil {
		m = p.inbound
		if m.Amount != nil && p.mapping.Amount != nil && m.Amount.Index != p.mapping.Amount.Index {
			amount, _, currency, bad = p.amount(rec, m)
		}
	}
	if bad != nil {
		return row, bad
	}
	row.Number, row.Date, row.Amount = rec.number, date.String(), amount
	if row.Currency, row.Assumed, ok = p.currencyOf(rec, m, currency); !ok {
		return row, faultCurrency
	}
	p.words(&row, rec, m)
	if f, ok := reading.ParseFigure(rec.at(m.Balance)); ok {
		if b, err := f.Value(p.decimal); err == nil {
			row.Balance = &b
		}
	}
	return row, nil
}

// undated returns the reason why a row without a date is left out. A row with an amount and a text
// counts as an unreadable transaction, unless its text names a total or a balance.
func (p *plan) undated(rec record, cell string) *fault {
	if pendingWords[norm(cell)] {
		return faultPending
	}
	a, _, _, bad := p.amount(rec, &p.mapping)
	if cell != "" || bad != nil || a.IsZero() || reading.Trim(rec.at(p.mapping.Name)) == "" {
		return faultNoDate
	}
	switch {
	case p.status(rec) != nil:
		return p.status(rec)
	case slices.ContainsFunc(rec.fields, statesBalance):
		return faultBalance
	case slices.ContainsFunc(rec.fields, statesTotal):
		return faultNoDate
	}
	return faultUndated
}

func (p *plan) date(cell string) (day, bool) {
	pt, ok := parseParts(cell)
	if !ok {
		return 0, false
	}
	return pt.in(p.order)
}

// words sets the row's texts.
func (p *plan) words(row *statement.Row, rec record, m *Mapping) {
	line := func(c *Column) text.Untrusted {
		if s := unguard(rec.at(c)); s != "" {
			return text.Name(s)
		}
		return ""
	}
	row.Name, row.MerchantName = line(m.Name), line(m.MerchantName)
	row.Detail = text.Line(unguard(rec.at(m.Detail)), text.DetailMax)
	row.Category, row.Account = line(m.Category), line(m.Account)
	switch id := line(m.ID); {
	case p.counts:
		row.Count = id
	case !damaged(id.Plain()):
		row.ID = id
	}
	for _, stand := range []text.Untrusted{row.MerchantName, line(m.Detail), row.Category} {
		if row.Name == "" {
			row.Name = stand
		}
	}
}

// unguard removes characters that keep spreadsheets from converting a cell to a number or a
// formula: a leading apostrophe, or quotes.
func unguard(s string) string {
	s = reading.Trim(s)
	for len(s) > 1 && (s[0] == '"' && s[len(s)-1] == '"' || s[0] == '\'' && s[len(s)-1] == '\'') {
		s = reading.Trim(s[1 : len(s)-1])
	}
	if len(s) > 1 && s[0] == '\'' && (reading.IsDigit(s[1]) || strings.IndexByte("=+-@", s[1]) >= 0) {
		s = s[1:]
	}
	return s
}

// damaged reports whether a spreadsheet has rounded an id: 3.20E+12 can stand for very many ids.
func damaged(id string) bool {
	at := strings.IndexAny(id, "Ee")
	return at > 0 && at+1 < len(id) && id[at+1] == '+' && reading.IsDigit(id[at-1])
}

// status returns the reason why the bank itself would not count the row, or nil.
func (p *plan) status(rec record) *fault {
	word := norm(rec.at(p.mapping.Status))
	switch {
	case pendingWords[word]:
		return faultPending
	case deadWords[word]:
		return faultDead
	}
	for _, c := range p.keep {
		if !c.holds(rec) {
			return faultDead
		}
	}
	for _, c := range p.only {
		if !c.holds(rec) {
			return faultMemo
		}
	}
	for _, c := range p.skip {
		if c.holds(rec) {
			return faultMemo
		}
	}
	return nil
}

func (c check) holds(rec record) bool { return slices.Contains(c.values, norm(rec.at(c.column))) }

// amount returns the row's amount, positive for money out, and the currency beside it.
func (p *plan) amount(rec record, m *Mapping) (a money.Amount, dir reading.Direction, c money.Currency, bad *fault) {
	if p.sign == Split {
		a, c, bad = p.split(rec, m)
	} else {
		a, c, bad = p.single(rec, m)
	}
	if bad != nil {
		return a, unknown, c, bad
	}
	if f, ok := reading.ParseFigure(rec.at(m.Fee)); ok {
		fee, err := f.Value(p.decimal)
		if err == nil {
			a, err = money.FromCents(a.Cents() + abs(fee).Cents())
		}
		if err != nil {
			return a, unknown, c, faultFee
		}
	}
	dir = out
	if a.IsNeg() {
		dir = in
	}
	return a, dir, c, nil
}

// single reads one column of amounts.
func (p *plan) single(rec record, m *Mapping) (money.Amount, money.Currency, *fault) {
	column := m.Amount
	if reading.Trim(rec.at(column)) == "" && reading.Trim(rec.at(m.OtherAmount)) != "" {
		column = m.OtherAmount
	}
	a, f, bad := p.figure(rec, column)
	if bad != nil {
		return a, "", bad
	}
	c := f.Currency
	if c == "" && column != nil {
		c = p.currency[column.Index]
	}
	dir := f.Direction
	if p.sign == Flag {
		direction, ok := directions[norm(rec.at(m.Flag))]
		switch {
		case !ok:
			return a, c, faultFlag
		case direction == unknown:
			return a, c, faultNeutral
		}
		dir = direction
	}
	switch {
	case dir == out:
		return abs(a), c, nil
	case dir == in:
		return abs(a).Neg(), c, nil
	case p.sign == PositiveOut:
		return a, c, nil
	}
	return a.Neg(), c, nil
}

// split reads a debit and a credit column. It ignores their signs, because some banks write one of
// the columns with a minus.
func (p *plan) split(rec record, m *Mapping) (money.Amount, money.Currency, *fault) {
	debit, f, lacksDebit := p.figure(rec, m.Debit)
	credit, g, lacksCredit := p.figure(rec, m.Credit)
	for _, lacks := range []*fault{lacksDebit, lacksCredit} {
		if lacks != nil && !lacks.skip {
			return debit, "", lacks
		}
	}
	currency := func(f reading.Figure, c *Column) money.Currency {
		if f.Currency == "" {
			return p.currency[c.Index]
		}
		return f.Currency
	}
	switch {
	case lacksDebit != nil && lacksCredit != nil:
		return debit, "", lacksDebit
	case lacksCredit != nil || credit.IsZero() && lacksDebit == nil:
		return abs(debit), currency(f, m.Debit), nil
	case lacksDebit != nil || debit.IsZero():
		return abs(credit).Neg(), currency(g, m.Credit), nil
	}
	return debit, "", faultBoth
}

// figure returns the number in a column, with its sign in the file.
func (p *plan) figure(rec record, c *Column) (money.Amount, reading.Figure, *fault) {
	cell := rec.at(c)
	if reading.Trim(cell) == "" {
		return money.Amount{}, reading.Figure{}, faultNoAmount
	}
	f, ok := reading.ParseFigure(cell)
	if !ok {
		return money.Amount{}, f, &fault{"amount", reading.ErrNotNumber.Error(), false}
	}
	a, err := f.Value(p.decimal)
	if err != nil {
		return a, f, &fault{"amount", err.Error(), false}
	}
	return a, f, nil
}

// currencyOf returns the row's currency: from its column, else from the amount, else the fallback.
func (p *plan) currencyOf(rec record, m *Mapping, beside money.Currency) (c money.Currency, assumed, ok bool) {
	cell := reading.Trim(rec.at(m.Currency))
	if cell != "" {
		c, err := money.ParseCurrency(strings.ToUpper(cell))
		if err == nil {
			return c, false, true
		}
		for _, r := range cell {
			return reading.Symbols[r], false, reading.Symbols[r] != ""
		}
	}
	if beside != "" {
		return beside, false, true
	}
	return p.fallback, true, true
}

func abs(a money.Amount) money.Amount {
	if a.IsNeg() {
		return a.Neg()
	}
	return a
}

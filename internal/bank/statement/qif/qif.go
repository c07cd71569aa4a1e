// Package qif reads Quicken's interchange format, which programs have written in their own ways for
// decades. It must not decide row by row: the format of dates and numbers is decided once for the
// whole file.
package qif

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
)

// Format is QIF.
var Format = statement.Format{Name: "qif", Title: "QIF", Detect: detect, Inspect: inspect, Read: reading.Read}

func detect(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.ToLower(head), []byte("\n"))
	for _, begin := range []string{"!type:", "!account", "!option:", "!clear:"} {
		if bytes.HasPrefix(line, []byte(begin)) {
			return true
		}
	}
	return false
}

// inspect reads the file twice: first to find out how it is written, then to count its contents.
func inspect(ctx context.Context, file io.ReaderAt, o statement.Options) (statement.Preview, error) {
	encoding, warnings, err := reading.Text(ctx, file, "")
	if err != nil {
		return statement.Preview{}, err
	}
	plan := plan{encoding: encoding, currency: o.DefaultCurrency}
	if plan.currency == "" {
		plan.currency = o.UsualCurrency
	}
	p := statement.Preview{Warnings: warnings, DefaultCurrency: plan.currency}
	sure, format, err := plan.decide(ctx, file, o, &p)
	if err != nil {
		return statement.Preview{}, err
	}
	read := reading.Items(plan.items)
	if err := reading.Survey(ctx, file, read, &p); err != nil {
		return statement.Preview{}, err
	}
	if len(p.Accounts) == 0 {
		return statement.Preview{}, errs.New(errs.InvalidBody, "the file has no transactions; export an account")
	}
	if p.Confidence == statement.High {
		p.Confidence = sure
	}
	p.Table = &statement.Table{
		Encoding: encoding, DateFormat: format, DecimalSeparator: string(plan.decimal), AmountSign: "negative_out",
	}
	p.Settled = statement.Own{}
	for name, value := range map[string]string{"date_format": format, "decimal_separator": string(plan.decimal)} {
		if p.Settled[name], err = json.Marshal(value); err != nil {
			return statement.Preview{}, fmt.Errorf("print the options: %w", err)
		}
	}
	return p, nil
}

// A plan describes how the file is written.
type plan struct {
	encoding string
	order    order
	quicken  bool // years of this century follow an apostrophe
	decimal  byte
	currency money.Currency
}

// A profile holds statistics of all records.
type profile struct {
	first          date
	seen           bool
	dates, quoted  int
	valid          [3]int // dates that are valid in each order
	rises, falls   [3]int
	before         [3]string
	differ         bool // some date is a different day in another order
	points, commas int
	open           int // ambiguous numbers
}

// decide determines the order of dates and the decimal separator. It uses the options, which dates
// are valid, the order of the rows, and what is usual for the household's currency.
func (p *plan) decide(ctx context.Context, file io.ReaderAt, o statement.Options, out *statement.Preview) (
	sure, format string, err error,
) {
	seen := profile{}
	for r, err := range records(ctx, file, p.encoding) {
		if err != nil {
			return "", "", err
		}
		if sections[r.section] {
			seen.see(r)
		}
	}
	p.quicken = seen.quoted > 0
	sure = statement.High
	warn := func(code, message, then string) {
		if then == statement.Low || sure == statement.High {
			sure = then
		}
		out.Warnings = append(out.Warnings, statement.Warning{Code: code, Message: message})
	}
	decimal, err := option(o, "decimal_separator")
	if err != nil {
		return "", "", err
	}
	switch {
	case decimal == "." || decimal == ",":
		p.decimal = decimal[0]
	case decimal != "":
		return "", "", errs.Field("decimal_separator", "enum", "use . or ,")
	default:
		p.decimal = seen.decimal()
		if seen.points+seen.commas == 0 && seen.open > 0 {
			warn("decimal_ambiguous", "the amounts don't show whether a separator before three digits means "+
				"thousands or decimals; set decimal_separator if the sample is wrong", statement.Low)
		}
	}
	if decimal, err = option(o, "date_format"); err != nil {
		return "", "", err
	}
	if decimal != "" {
		var ok bool
		if p.order, ok = parseOrder(decimal); !ok {
			return "", "", errs.Field("date_format", "enum",
				"use the letters Y, M and D in the order of the dates, such as DD/MM/YYYY")
		}
		return sure, seen.first.format(p.order), nil
	}
	var how guess
	p.order, how = seen.order()
	switch how {
	case certain:
	case sorted:
		warn("date_order", "no date has a day above 12; the order of the rows shows that dates are "+
			seen.first.format(p.order)+"; set date_format if this is wrong", statement.Medium)
	case blind:
		p.order = p.usual()
		warn("date_order", "the file doesn't show which number is the day and which the month; "+
			seen.first.format(p.order)+" is assumed; check the sample and set date_format", statement.Low)
	}
	return sure, seen.first.format(p.order), nil
}

func option(o statement.Options, name string) (out string, err error) {
	raw, ok := o.Own[name]
	if !ok {
		return "", nil
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", fmt.Errorf("read the option %s: %w", name, err)
	}
	return out, nil
}

// usual guesses the order from the decimal separator and the currency.
func (p *plan) usual() order {
	if p.decimal == ',' || p.currency != "" && p.currency != "USD" {
		return dmy
	}
	return mdy
}

func (s *profile) see(r *record) {
	for _, amount := range []string{r.fields['T'], r.fields['U']} {
		s.number(amount)
	}
	for _, part := range r.parts {
		s.number(part.amount)
	}
	d, ok := parse(r.fields['D'])
	if !ok {
		return
	}
	if !s.seen {
		s.first, s.seen = d, true
	}
	s.dates++
	if d.quote {
		s.quoted++
	}
	var days [3]string
	for o := range days {
		day, ok := d.in(order(o), false)
		if days[o] = day; !ok {
			continue
		}
		s.valid[o]++
		switch before := s.before[o]; {
		case before == "":
		case before < day:
			s.rises[o]++
		case before > day:
			s.falls[o]++
		}
		s.before[o] = day
	}
	s.differ = s.differ || days[dmy] != days[mdy]
}

func (s *profile) number(v string) {
	f, ok := reading.ParseFigure(v)
	if !ok {
		return
	}
	switch mark, open := f.Vote(); {
	case open:
		s.open++
	case mark == '.':
		s.points++
	case mark == ',':
		s.commas++
	}
}

func (s *profile) decimal() byte {
	if s.commas > s.points {
		return ','
	}
	return '.'
}

// A guess is how certain a date order is.
type guess int

const (
	certain guess = iota
	sorted
	blind
)

func (s *profile) order() (order, guess) {
	d, m := s.valid[dmy], s.valid[mdy]
	switch {
	case s.valid[ymd] > max(d, m):
		return ymd, certain
	case d > m:
		return dmy, certain
	case m > d || !s.differ:
		return mdy, certain
	case s.first.mark == '.':
		return dmy, certain // nobody writes points after months
	}
	byDay, byMonth := min(s.rises[dmy], s.falls[dmy]), min(s.rises[mdy], s.falls[mdy])
	switch {
	case byDay < byMonth:
		return dmy, sorted
	case byMonth < byDay:
		return mdy, sorted
	}
	return mdy, blind
}

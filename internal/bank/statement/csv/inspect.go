package csv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

const (
	sampleRows   = 10
	rejectedRows = 20
)

// Inspect detects how a file is written. It reads the file several times and does not keep it in
// memory. An error is about the file or the options as a whole. If only parts of the file can be
// read, the sample and the warnings of the preview say what is wrong. Every pass checks the
// context.
func Inspect(ctx context.Context, file io.ReaderAt, o Options) (Preview, error) {
	if err := o.check(); err != nil {
		return Preview{}, err
	}
	i := inspection{file: file, options: o}
	for _, step := range []func(context.Context) error{i.findTable, i.findColumns, i.decide, i.sample} {
		if err := step(ctx); err != nil {
			return Preview{}, err
		}
	}
	return i.out, nil
}

// check returns an error for invalid options. It replaces names of delimiters by their characters.
func (o *Options) check() error {
	var faults []errs.Detail
	fault := func(field, message string) {
		faults = append(faults, errs.Detail{Field: field, Code: "enum", Message: message})
	}
	if _, ok := reading.ParseEncoding(o.Encoding); o.Encoding != "" && !ok {
		fault("encoding", "use utf-8, utf-16le, utf-16be, windows-1252 or windows-1250")
	}
	if named, ok := map[string]string{
		"comma": ",", "semicolon": ";", "tab": "\t", `\t`: "\t",
		"pipe": "|",
	}[o.Delimiter]; ok {
		o.Delimiter = named
	}
	if o.Delimiter != "" && !slices.Contains([]string{",", ";", "\t", "|"}, o.Delimiter) {
		fault("delimiter", "use a comma, a semicolon, a tab or a pipe")
	}
	if _, ok := parseOrder(o.DateFormat); o.DateFormat != "" && !ok {
		fault("date_format", "use the letters Y, M and D in the order of the dates, such as DD/MM/YYYY")
	}
	if !slices.Contains([]string{"", ".", ","}, o.DecimalSeparator) {
		fault("decimal_separator", "use . or ,")
	}
	if o.AmountSign != "" && !slices.Contains(signKinds, o.AmountSign) {
		fault("amount_sign", "use negative_out, positive_out, split or flag")
	}
	if o.HeaderRow != nil && (*o.HeaderRow < 0 || *o.HeaderRow > headRecords) {
		fault("header_row", "count from 1; 0 means no header")
	}
	return errs.Faults(faults)
}

// An inspection is an unfinished preview.
type inspection struct {
	file    io.ReaderAt
	options Options
	layout  layout
	columns []column
	rows    int
	plan    plan
	out     Preview
	guesses int // choices that are only likely
	blind   int // choices without any evidence
}

func (i *inspection) warn(code, message string) {
	i.out.Warnings = append(i.out.Warnings, statement.Warning{Code: code, Message: message})
}

// findTable determines the encoding, the delimiter and the header.
func (i *inspection) findTable(ctx context.Context) error {
	i.out.Warnings = []statement.Warning{}
	encoding, damaged, err := reading.DetectEncoding(ctx, i.file)
	if err != nil {
		return err
	}
	if i.options.Encoding != "" {
		encoding, _ = reading.ParseEncoding(i.options.Encoding)
	}
	i.layout, err = findLayout(i.file, encoding, i.options)
	if err != nil {
		return err
	}
	if advice, ok := isForeign(i.layout.raw); ok {
		return errs.New(errs.UnsupportedMediaType, "%s", advice)
	}
	if i.layout.known != nil && i.layout.known.id == "pl-mbank" && encoding == Windows1252 && i.options.Encoding == "" {
		encoding = Windows1250 // only the language distinguishes the two encodings
	}
	if damaged {
		i.warn("unreadable_characters", "some characters of the file are damaged and were removed")
	}
	l := &i.layout
	i.plan = plan{
		encoding: encoding, comma: l.comma, header: l.header, order: noOrder, fallback: i.fallback(),
		currency: map[int]money.Currency{},
	}
	for n, name := range l.raw {
		i.plan.names = append(i.plan.names, norm(name))
		if c := headerCurrency(name); c != "" {
			i.plan.currency[n] = c
		}
	}
	i.out.DefaultCurrency, i.out.FormatCurrency = i.plan.fallback, l.known.currency()
	i.out.Encoding, i.out.Delimiter = encoding, string(l.comma)
	if l.header > 0 {
		i.out.HeaderRow = &l.header
	}
	if l.known != nil {
		i.out.KnownFormat, i.out.Bank, i.out.FormatName = l.known.id, l.known.bank, l.known.name()
	}
	return nil
}

// fallback returns the currency of rows that state none.
func (i *inspection) fallback() money.Currency {
	return cmp.Or(i.options.DefaultCurrency, i.layout.known.currency(), i.options.UsualCurrency)
}

// findColumns determines which column holds which field.
func (i *inspection) findColumns(ctx context.Context) (err error) {
	i.columns, i.rows, err = profile(ctx, i.file, &i.plan)
	if err != nil {
		return err
	}
	for n := range i.columns {
		info := statement.ColumnInfo{Index: n, Samples: i.columns[n].samples}
		if n < len(i.layout.raw) {
			info.Name = text.Line(i.layout.raw[n], 120)
		}
		if info.Samples == nil {
			info.Samples = []text.Untrusted{}
		}
		i.out.Columns = append(i.out.Columns, info)
	}
	width := len(i.columns)
	var m Mapping
	if f := i.layout.known; f != nil {
		m, _ = resolve(f.use, i.plan.names, width, true)
		addCurrency(&m, i.columns)
	} else {
		m = findMapping(i.columns, i.rows)
	}
	edited := false
	if o := i.options.Mapping; o != nil {
		given, err := resolve(*o, i.plan.names, width, false)
		if err != nil {
			return err
		}
		edited = !given.equal(&m)
		i.unread(&given, &m)
		m = given
	}
	if i.rows == 0 {
		return errs.New(errs.InvalidBody,
			"the file has no rows; export a period with transactions as CSV")
	}
	if err := checkMapping(&m, i.options.AmountSign); err != nil {
		return err
	}
	i.plan.mapping = m
	if f := i.layout.known; f != nil {
		i.plan.keep, i.plan.skip, i.plan.only = i.checks(f.keep), i.checks(f.skip), i.checks(f.only)
		if f.inbound != nil && !edited {
			i.plan.inbound = i.incoming(f.inbound)
		}
	}
	return nil
}

// unread warns about columns that the given mapping does not use, for example because the mapping
// is from an earlier file without them. They are not used automatically, because a person may have
// left them out on purpose.
func (i *inspection) unread(given, found *Mapping) {
	used := map[int]bool{}
	for _, s := range given.slots() {
		if *s.column != nil {
			used[(*s.column).Index] = true
		}
	}
	warn := func(mapped, seen *Column, field, what string) {
		if mapped == nil && seen != nil && !used[seen.Index] {
			i.warn("column_not_read", fmt.Sprintf("column %d, counted from 0, looks like %s and is not read; "+
				"add it to the mapping as %s", seen.Index, what, field))
		}
	}
	warn(given.Detail, found.Detail, "detail", "the memo of the transactions")
	warn(given.Balance, found.Balance, "balance", "the balance after each transaction")
	if c := found.Currency; c != nil && i.columns[c.Index].isOther(i.plan.fallback) {
		warn(given.Currency, c, "currency", "the currency of each transaction")
	}
}

// checks finds the columns of a format's rules. If a version of the format lacks a column, the rule
// does not apply.
func (i *inspection) checks(rules []rule) (out []check) {
	for _, r := range rules {
		if at := slices.Index(i.plan.names, r.column); at >= 0 {
			out = append(out, check{At(at), strings.Split(r.values, "|")})
		}
	}
	return out
}

// incoming returns the mapping for rows with money in.
func (i *inspection) incoming(changes *Mapping) *Mapping {
	m := i.plan.mapping
	other, _ := resolve(*changes, i.plan.names, len(i.columns), true)
	if other.Amount != nil {
		m.Fee = nil // a separate amount column already excludes fees
	}
	from := other.slots()
	for n, s := range m.slots() {
		if c := *from[n].column; c != nil {
			*s.column = c
		}
	}
	return &m
}

// decide determines how numbers, dates and signs are read.
func (i *inspection) decide(ctx context.Context) error {
	i.decideDecimal()
	i.plan.sign = i.kindOfSign()
	date := &i.columns[i.plan.mapping.Date.Index]
	i.plan.order = date.bestOrder()
	var hints []*Column
	for n := range i.columns {
		if slices.Contains([]string{"type", "transaction type", "details", "transaction", "direction"},
			i.columns[n].name) {
			hints = append(hints, At(n))
		}
	}
	v, err := judge(ctx, i.file, &i.plan, hints)
	if err != nil {
		return err
	}
	if b := date.byOrder; i.plan.order == ymd || b[dmy] != b[mdy] {
		v.rises, v.falls = date.rises[i.plan.order], date.falls[i.plan.order]
	}
	if v.counts {
		i.plan.counts = true
		i.warn("id_counts_rows",
			"the id column only numbers the rows of this file, so rows are recognized by date, amount and "+
				"text instead")
	}
	i.decideSign(&v)
	i.decideOrder(&v, date)
	i.out.Mapping, i.out.AmountSign = i.plan.mapping, i.plan.sign
	i.out.DecimalSeparator = string(i.plan.decimal)
	looks := date.looks
	if date.dates == 0 {
		looks = parts{digits: [3]int{4, 2, 2}, sep: '-'}
	}
	i.out.DateFormat = looks.format(i.plan.order)
	return nil
}

// sample reads the whole file as an import would do.
func (i *inspection) sample(ctx context.Context) error {
	i.out.plan = i.plan
	i.out.Sample = []statement.Sample{}
	var owner holder
	for row, err := range Read(ctx, i.file, i.out) {
		s := statement.Sample{Row: row, Errors: []string{}}
		if err != nil {
			bad, ok := errors.AsType[*statement.RowError](err)
			if !ok {
				return err
			}
			owner.accounts.Left(bad)
			if bad.Skip {
				i.out.RowsSkipped++
				continue
			}
			i.out.RowsRejected++
			s.Errors = append(s.Errors, bad.Message)
			if len(i.out.Rejected) < rejectedRows {
				i.out.Rejected = append(i.out.Rejected, *bad)
			}
		}
		i.out.RowsTotal++
		if err == nil {
			i.out.cover(row.Date)
			owner.see(row)
		}
		if len(i.out.Sample) < sampleRows {
			i.out.Sample = append(i.out.Sample, s)
		}
	}
	if i.out.RowsRejected > 0 {
		i.warn("rows_rejected",
			"some rows are unreadable and will be skipped; the preview and the import's result list the "+
				"reasons")
	}
	i.concern(&owner)
	i.out.Confidence = i.confidence()
	return nil
}

// cover extends the days of the file to include the date of a row.
func (p *Preview) cover(date string) {
	if p.FirstDate == "" || date < p.FirstDate {
		p.FirstDate = date
	}
	p.LastDate = max(p.LastDate, date)
}

func (i *inspection) confidence() string {
	switch {
	case i.blind > 0, i.out.RowsTotal == 0, i.out.RowsRejected*10 > i.out.RowsTotal:
		return statement.Low
	case i.guesses > 0, i.layout.header == 0 && i.options.Mapping == nil &&
		(i.layout.known == nil || !i.layout.known.exact):
		return statement.Medium
	}
	return statement.High
}

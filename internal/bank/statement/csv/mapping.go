package csv

import (
	"fmt"
	"slices"

	"coffer/internal/platform/errs"
)

// resolve finds the columns of a mapping by their names. If lenient, columns may be missing,
// because only some versions of a known format have them.
func resolve(m Mapping, names []string, width int, lenient bool) (Mapping, error) {
	var faults []errs.Detail
	for _, s := range m.slots() {
		c := *s.column
		if c == nil {
			continue
		}
		at := c.Index
		if c.Name != "" {
			at = slices.Index(names, norm(c.Name))
		}
		switch {
		case at >= 0 && at < width:
			*s.column = At(at)
		case lenient:
			*s.column = nil
		default:
			faults = append(faults, errs.Detail{
				Field: "mapping." + s.name, Code: "unknown",
				Message: fmt.Sprintf("the file has no such column; it has %d columns, counted from 0", width),
			})
		}
	}
	return m, errs.Faults(faults)
}

// checkMapping returns an error if the mapping lacks a required column.
func checkMapping(m *Mapping, sign string) error {
	switch {
	case sign == Split && m.Amount != nil, sign == Flag && m.Flag == nil:
		return errs.Field("amount_sign", "conflict",
			"split needs mapping.debit and mapping.credit instead of mapping.amount, and flag needs mapping.flag")
	case m.Date == nil:
		return errs.Field("mapping.date", "required", "no date column found; set it in mapping.date")
	case m.Amount == nil && m.Debit == nil && m.Credit == nil:
		return errs.Field("mapping.amount", "required",
			"no amount column found; set it in mapping.amount, or set two in mapping.debit and mapping.credit")
	}
	return nil
}

// A finder maps columns by their names and contents.
type finder struct {
	columns []column
	rows    int
	used    []bool
}

func findMapping(columns []column, rows int) Mapping {
	f := &finder{columns: columns, rows: rows, used: make([]bool, len(columns))}
	var m Mapping
	slots := map[string]**Column{}
	for _, s := range m.slots() {
		slots[s.name] = s.column
	}
	exact := false // the column's name means nothing but the amount
	for _, r := range roles {
		at, rank := f.best(r)
		if at < 0 {
			continue
		}
		if r.slot == "amount" {
			exact = rank < len(r.words)
			if m.Debit != nil && m.Credit != nil && !exact {
				continue // such as "original amount" beside debit and credit columns
			}
		}
		*slots[r.slot] = At(at)
		f.used[at] = true
	}
	if m.Amount != nil && exact {
		m.Debit, m.Credit = nil, nil
	} else if m.Debit != nil || m.Credit != nil {
		m.Amount, m.Flag = nil, nil
	}
	f.fill(&m)
	return m
}

// addCurrency maps a column of currencies that only some versions of a known format have.
func addCurrency(m *Mapping, columns []column) {
	for n := range columns {
		c := &columns[n]
		if m.Currency == nil && (c.name == "currency" || c.name == "currency code") && c.isCurrency(false) {
			m.Currency = At(n)
		}
	}
}

// best returns the free column that fits a role best by name and has suitable content.
func (f *finder) best(r role) (at, rank int) {
	at = -1
	for i := range f.columns {
		c := &f.columns[i]
		n, ok := r.fits(c.name)
		if !ok || f.used[i] || at >= 0 && n >= rank || !f.holds(r.slot, c) {
			continue
		}
		at, rank = i, n
	}
	return at, rank
}

func (f *finder) holds(slot string, c *column) bool {
	switch slot {
	case "date":
		return c.dates > 0 && c.dates*4 >= c.filled // in a short file, footer lines may outnumber the rows
	case "amount", "balance":
		return c.isNumbers()
	case "debit", "credit":
		return c.isNumbers() || c.filled == 0
	case "flag":
		return c.isFlag(f.rows)
	case "currency":
		return c.isCurrency(false)
	case "name", "merchant_name":
		return c.letters > 0
	}
	return c.filled > 0
}

// fill finds, by content alone, the columns that names did not determine.
func (f *finder) fill(m *Mapping) {
	f.first(&m.Date, func(c *column) bool { return c.isDates() && c.filled*2 > f.rows })
	if m.Amount == nil && m.Debit == nil && m.Credit == nil {
		f.fillAmounts(m)
	}
	if m.Amount != nil {
		f.first(&m.Flag, func(c *column) bool { return c.isFlag(f.rows) })
	}
	if m.Flag != nil && m.Amount != nil && f.columns[m.Amount.Index].negative > 0 {
		f.used[m.Flag.Index] = false
		m.Flag = nil // the sign of the amount is enough
	}
	f.first(&m.Currency, func(c *column) bool { return c.isCurrency(true) && c.filled*2 > f.rows })
	if m.Name != nil || m.MerchantName != nil {
		return
	}
	longest := 0
	for i := range f.columns {
		if c := &f.columns[i]; !f.used[i] && c.letters > longest {
			longest = c.letters
			m.Name = At(i)
		}
	}
}

// first sets an empty slot to the first free column that fits.
func (f *finder) first(slot **Column, fits func(*column) bool) {
	for i := range f.columns {
		if *slot == nil && !f.used[i] && fits(&f.columns[i]) {
			*slot = At(i)
			f.used[i] = true
		}
	}
}

// fillAmounts looks for amounts among the columns of numbers. It accepts a single column, two
// columns of which each row fills one (money out and money in), or an amount and a balance.
func (f *finder) fillAmounts(m *Mapping) {
	var with, all []int
	for i := range f.columns {
		c := &f.columns[i]
		if f.used[i] || !c.isNumbers() || c.isDates() {
			continue
		}
		all = append(all, i)
		if c.point+c.comma > 0 {
			with = append(with, i)
		}
	}
	if len(with) == 0 {
		with = all // no decimals: amounts cannot be distinguished from check numbers
	}
	var full, half []int
	for _, i := range with {
		if f.columns[i].filled*10 > f.rows*9 {
			full = append(full, i)
		} else {
			half = append(half, i)
		}
	}
	switch {
	case len(half) >= 2 && f.columns[half[0]].filled+f.columns[half[1]].filled <= f.rows:
		m.Debit, m.Credit = At(half[0]), At(half[1])
		if len(full) > 0 && m.Balance == nil {
			m.Balance = At(full[len(full)-1])
		}
	case len(full) > 0:
		m.Amount = At(full[0])
		if len(full) > 1 && m.Balance == nil {
			m.Balance = At(full[len(full)-1])
		}
	case len(with) > 0:
		m.Amount = At(with[0])
	}
	for _, c := range []*Column{m.Amount, m.Debit, m.Credit, m.Balance} {
		if c != nil {
			f.used[c.Index] = true
		}
	}
}

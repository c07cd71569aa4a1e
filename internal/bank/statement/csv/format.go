package csv

import (
	"cmp"
	_ "embed" // for formats.txt
	"slices"
	"strconv"
	"strings"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
)

// A format describes one bank's export. The rows take precedence: the date order and the decimals
// of a format are only used if the rows do not decide.
type format struct {
	id      string
	bank    string // the bank's display name
	app     string // or the program that wrote the file
	title   string // the bank's name for this export, if it has several
	names   string // the names that the header must contain, in this order
	exact   bool   // no other names are allowed; for a shape: nothing else looks like it
	shape   string // for files without a header, instead of names: the kinds of the columns, see matches
	order   dateOrder
	sign    string
	use     Mapping
	inbound *Mapping // other columns to use for money in
	keep    []rule   // rows with other values did not happen, or not yet
	skip    []rule   // rows with these values are not separate transactions
	only    []rule   // rows with other values are not separate transactions
}

// A rule lists values of a column.
type rule struct {
	column string
	values string
}

//go:embed formats.txt
var formatsText string

// formats are the known exports; the embedded file explains its syntax.
var formats = parseFormats(formatsText)

// parseFormats panics at an unknown word, because the file is part of coffer.
func parseFormats(s string) (out []format) {
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == ' ':
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			out[len(out)-1].set(key, value)
		default:
			words := append(strings.Fields(line), "")
			o, ok := map[string]dateOrder{"ymd": ymd, "dmy": dmy, "mdy": mdy, "any": noOrder}[words[1]]
			if !ok || !slices.Contains(signKinds, words[2]) {
				panic("formats.txt: " + line)
			}
			out = append(out, format{id: words[0], order: o, sign: words[2], exact: words[3] == "exact"})
		}
	}
	return out
}

func (f *format) set(key, value string) {
	verb, rest, _ := strings.Cut(key, " ")
	m := &f.use
	switch verb {
	case "header":
		f.names = value
		return
	case "bank":
		f.bank = value
		return
	case "app":
		f.app = value
		return
	case "title":
		f.title = value
		return
	case "only":
		f.only = append(f.only, rule{norm(rest), value})
		return
	case "shape":
		f.shape = value
		return
	case "keep":
		f.keep = append(f.keep, rule{norm(rest), value})
		return
	case "skip":
		f.skip = append(f.skip, rule{norm(rest), value})
		return
	case "in":
		if f.inbound == nil {
			f.inbound = &Mapping{}
		}
		m, key = f.inbound, rest
	}
	c := Named(value)
	if n, err := strconv.Atoi(value); err == nil && f.shape != "" {
		c = At(n)
	}
	for _, s := range m.slots() {
		if s.name == key {
			*s.column = c
			return
		}
	}
	panic("formats.txt: " + f.id + " " + key)
}

// currencies maps the country prefixes of format ids.
var currencies = map[string]money.Currency{
	"us": "USD", "uk": "GBP", "ie": "EUR", "nl": "EUR", "be": "EUR", "de": "EUR", "at": "EUR", "fr": "EUR", "ch": "CHF",
	"se": "SEK", "pl": "PLN", "ca": "CAD", "au": "AUD", "sg": "SGD", "in": "INR",
}

// currency returns the currency that the format implies. It returns "" for a format of several
// banks, and for one that is only recognized by its shape.
func (f *format) currency() money.Currency {
	if f == nil || f.bank == "" || f.names == "" && !f.exact {
		return ""
	}
	country, _, _ := strings.Cut(f.id, "-")
	return currencies[country]
}

// name returns the display name of the format.
func (f *format) name() string { return cmp.Or(f.title, f.bank, f.app) }

// known returns the format that matches a header with the most names.
func known(fields []string) *format {
	have := normal(fields)
	var best *format
	bestCount := 0
	for i := range formats {
		f := &formats[i]
		if n := f.knows(have); n > bestCount && (!f.exact || n == len(have)) {
			best, bestCount = f, n
		}
	}
	return best
}

// normal returns the names of a header in normalized form, without blank ones.
func normal(fields []string) (out []string) {
	for _, f := range fields {
		if n := norm(f); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// knows returns the number of the format's names if a header contains them all in their order, else
// 0.
func (f *format) knows(have []string) int {
	if f.names == "" {
		return 0
	}
	n := 0
	for name := range strings.SplitSeq(f.names, "|") {
		at := slices.Index(have, norm(name))
		if at < 0 {
			return 0
		}
		have = have[at+1:]
		n++
	}
	return n
}

// knownShape returns the format of a table without a header.
func knownShape(rows []record) *format {
	for i := range formats {
		if f := &formats[i]; f.shape != "" && f.fits(rows) {
			return f
		}
	}
	return nil
}

func (f *format) fits(rows []record) bool {
	kinds := strings.Split(f.shape, "|")
	for _, r := range rows {
		amounts := 0 // of the columns for money out and money in, only one is filled
		for i, kind := range kinds {
			kind, optional := strings.CutSuffix(kind, "?")
			if i >= len(r.fields) {
				if !optional {
					return false
				}
				continue
			}
			if kind == "maybe" && reading.Trim(r.fields[i]) != "" {
				amounts++
			}
			if !matches(r.fields[i], kind) || amounts > 1 {
				return false
			}
		}
		for _, rest := range r.fields[min(len(kinds), len(r.fields)):] {
			if reading.Trim(rest) != "" {
				return false
			}
		}
	}
	return len(rows) > 0
}

// matches reports whether a cell is of a kind: date, number, maybe (a number or blank), signed (a
// number with + or -), day (YYYYMMDD), money (three capitals), text or any. Any other kind must
// equal the cell.
func matches(cell, kind string) bool {
	cell = reading.Trim(cell)
	p, date := isDate(cell)
	_, num := reading.ParseFigure(cell)
	written := date && p.sep != 0 // 03.04.26 is also a number
	switch kind {
	case "any":
		return true
	case "date":
		return date
	case "written":
		return date && p.digits[1] == 0
	case "day":
		return date && p.sep == 0
	case "number":
		return num && !written
	case "maybe":
		return cell == "" || num && !written
	case "signed":
		return num && strings.ContainsAny(cell[:1], "+-")
	case "money":
		return len(cell) == 3 && strings.ToUpper(cell) == cell
	case "text":
		return cell != "" && !num && !date
	}
	return cell == kind
}

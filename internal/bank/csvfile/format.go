package csvfile

import (
	"slices"
	"strings"
)

// A format is what is known of one bank's export. The rows decide first: date and decimals say only what to take where they leave a choice.
type format struct {
	id      string
	names   string // the names that the header must have, in this order
	exact   bool   // and no other names; of a shape: nothing else looks like it
	shape   string // instead of names, for files without a header: the kinds of the columns, see matches
	order   order
	sign    string
	use     Mapping
	inbound *Mapping // columns to use instead where money comes in
	keep    []rule   // rows of other values did not happen, or not yet
	skip    []rule   // rows of these values are no transactions of their own
}

// A rule names values of a column.
type rule struct {
	column string
	values string
}

// header makes a format that is known by its names.
func header(id, names string, o order, sign string, use Mapping) format {
	return format{id: id, names: names, order: o, sign: sign, use: use}
}

// bareTable makes a format that has no header.
func bareTable(id, shape string, o order, sign string, use Mapping) format {
	return format{id: id, shape: shape, order: o, sign: sign, use: use}
}

func (f format) exactly() format { f.exact = true; return f }

func (f format) incoming(m Mapping) format { f.inbound = &m; return f }

func (f format) keeping(column, values string) format {
	f.keep = append(f.keep, rule{norm(column), values})
	return f
}

func (f format) skipping(column, values string) format {
	f.skip = append(f.skip, rule{norm(column), values})
	return f
}

// known finds the format of a header: the one that knows most of its names.
func known(fields []string) *format {
	var have []string
	for _, f := range fields {
		if n := norm(f); n != "" {
			have = append(have, n)
		}
	}
	var best *format
	most := 0
	for i := range formats {
		f := &formats[i]
		if n := f.knows(have); n > most && (!f.exact || n == len(have)) {
			best, most = f, n
		}
	}
	return best
}

// knows is how many names the format has, if a header has them all in their order; else 0.
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

// knownShape finds the format of a table without a header.
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
		amounts := 0 // of money out and money in, one is filled
		for i, kind := range kinds {
			kind, optional := strings.CutSuffix(kind, "?")
			if i >= len(r.fields) {
				if !optional {
					return false
				}
				continue
			}
			if kind == "maybe" && trim(r.fields[i]) != "" {
				amounts++
			}
			if !matches(r.fields[i], kind) || amounts > 1 {
				return false
			}
		}
		for _, rest := range r.fields[min(len(kinds), len(r.fields)):] {
			if trim(rest) != "" {
				return false
			}
		}
	}
	return len(rows) > 0
}

// matches reports whether a cell is of a kind: date, number, maybe (a number or blank), signed (a number with + or -), day (YYYYMMDD), money (three capitals),
// text, any, or the cell itself.
func matches(cell, kind string) bool {
	cell = trim(cell)
	p, date := isDate(cell)
	_, num := parseFigure(cell)
	written := date && p.sep != 0 // 03.04.26 is a number too
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

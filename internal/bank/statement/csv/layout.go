package csv

import (
	"errors"
	"io"
	"slices"
	"strings"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
)

// How much of a file is read to find its table.
const (
	headRecords = 300
	headCells   = 20_000
	maxPreamble = 60
)

// A layout is the position of the table and how its cells are separated.
type layout struct {
	comma  byte
	header int      // the number of the header's record, or 0 if there is none
	raw    []string // the names in the header
	known  *format
	iban   string   // of the account, if the lines above the table contain it
	rows   []record // rows at the top that look like transactions
}

// findLayout tries the delimiters and chooses the one with most rows that look like transactions.
func findLayout(file io.ReaderAt, encoding string, o Options) (layout, error) {
	commas := []byte{',', ';', '\t', '|'}
	if o.Delimiter != "" {
		commas = []byte{o.Delimiter[0]}
	}
	var best layout
	bestScore := -1
	for _, comma := range commas {
		head, err := readHead(file, encoding, comma)
		if err != nil {
			return best, err
		}
		if len(head) > 0 && o.Delimiter == "" {
			if hint, ok := excelHint(head, comma); ok {
				o.Delimiter = string(hint)
				return findLayout(file, encoding, o)
			}
		}
		l := layout{comma: comma}
		score := l.survey(head, o.HeaderRow)
		if score > bestScore {
			best, bestScore = l, score
		}
	}
	if o.HeaderRow != nil && *o.HeaderRow > 0 && best.raw == nil {
		return best, errs.Field("header_row", "range", "the file has no row %d near its beginning", *o.HeaderRow)
	}
	return best, nil
}

// excelHint reads a first line such as "sep=;", which sets the delimiter for Excel.
func excelHint(head []record, comma byte) (byte, bool) {
	line := strings.Join(head[0].fields, string(comma))
	rest, ok := strings.CutPrefix(strings.ToLower(line), "sep=")
	if !ok || rest == "" || strings.IndexByte(",;\t|", rest[0]) < 0 {
		return 0, false
	}
	return rest[0], true
}

// readHead reads the first records and copies their fields.
func readHead(file io.ReaderAt, encoding string, comma byte) ([]record, error) {
	s := newScanner(reading.Open(file, encoding), comma)
	var out []record
	for cells := 0; len(out) < headRecords && cells < headCells; {
		rec, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rec.fields = append([]string(nil), rec.fields...)
		cells += len(rec.fields)
		out = append(out, rec)
	}
	return out, nil
}

// survey finds the header and the rows of the table, and scores how much the result looks like a
// table.
func (l *layout) survey(head []record, fixed *int) (score int) {
	widths := map[int]int{}
	first := -1
	for i, rec := range head {
		if !looksLikeData(rec) {
			continue
		}
		if first < 0 {
			first = i
		}
		l.rows = append(l.rows, rec)
		widths[len(rec.fields)]++
	}
	width, same := 0, 0
	for w, n := range widths {
		if n > same || n == same && w > width {
			width, same = w, n
		}
	}
	l.findHeader(head, first, width, fixed)
	if l.header > 0 {
		l.iban = findIBAN(head[:l.header-1])
	}
	score = same*1000 + min(width, 50)
	if l.known != nil && l.known.names != "" {
		score += 100_000_000
	} else if l.header > 0 && isHeader(l.raw) {
		score += 500
	}
	return score
}

// findHeader looks first for the names of a known format, then for names of a date and an amount,
// then for a line of words before the first row.
func (l *layout) findHeader(head []record, first, width int, fixed *int) {
	switch {
	case fixed == nil:
	case *fixed == 0:
		l.known = knownShape(l.rows)
		return
	case *fixed <= len(head):
		l.take(head[*fixed-1])
		l.known = known(l.raw)
		return
	default:
		return
	}
	for _, rec := range head[:min(len(head), maxPreamble)] {
		if f := known(rec.fields); f != nil {
			l.take(rec)
			l.known = f
			return
		}
	}
	for _, rec := range head[:min(len(head), maxPreamble)] {
		// A summary above the table may also have a date and an amount, but it does not have the
		// width of most rows.
		fits := max(len(rec.fields)-width, width-len(rec.fields)) <= 1
		if len(rec.fields) > 1 && (fits || l.raw == nil) && isHeader(rec.fields) {
			l.take(rec)
			if fits {
				return
			}
		}
	}
	if l.raw != nil {
		return
	}
	if first > 0 && isWords(head[first-1], head[first]) {
		l.take(head[first-1])
		return
	}
	l.known = knownShape(l.rows)
}

func (l *layout) take(rec record) {
	l.header, l.raw = rec.number, rec.fields
	if l.raw == nil {
		l.raw = []string{}
	}
}

// looksLikeData reports whether a record has a date and a number in two cells.
func looksLikeData(rec record) bool {
	dates, numbers := 0, 0
	for _, f := range rec.fields {
		if _, ok := isDate(f); ok {
			dates++
		} else if _, ok := reading.ParseFigure(f); ok {
			numbers++
		}
	}
	return dates > 0 && (numbers > 0 || dates > 1)
}

// isValue reports whether a cell is a value that no header contains.
func isValue(cell string) bool {
	_, date := isDate(cell)
	_, isNumber := reading.ParseFigure(cell)
	return date || isNumber
}

// isWords reports whether a record could be the header of the next record, in any language.
func isWords(rec, next record) bool {
	filled := 0
	for _, f := range rec.fields {
		if reading.Trim(f) != "" {
			filled++
		}
	}
	return !slices.ContainsFunc(rec.fields, isValue) && filled > 1 && len(rec.fields) <= len(next.fields) &&
		filled+1 >= len(next.fields)
}

package mt940

import (
	"strings"
	"time"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// An entry is a :61: field.
type entry struct {
	day, value      string
	amount          money.Amount
	reference, bank string
	more            string // the lines after it
}

// row emits an entry with its :86:.
func (r *reader) row(lines, about []string) error {
	e, left := parse(lines)
	if left != nil {
		return r.emit(*left)
	}
	if r.interim && e.day == "" {
		return r.emit(reading.Pending())
	}
	row := statement.Row{Date: e.day, Amount: e.amount, Currency: r.currency, ID: text.Name(e.bank)}
	if row.Date == "" {
		row.Date = e.value
	}
	w := read(about)
	if w.text == "" && w.name == "" {
		w.text = e.more
	}
	if w.reference == "" {
		w.reference = e.reference
	}
	if row.Name = text.Name(w.name); row.Name == "" {
		row.Name = text.Name(w.text)
	}
	if row.Name == "" {
		row.Name = text.Name(w.kind)
	}
	row.Detail = text.Detail(w.text, row.Name)
	extra := statement.Extra{Reference: text.Name(w.reference)}
	if e.value != row.Date {
		extra.Value = e.value
	}
	if extra.Reference != "" || extra.Value != "" {
		row.Extra = &extra
	}
	return r.emit(reading.Item{Row: row})
}

// parse reads a :61:, such as 2603040303DR19,90NDDTNONREF//2026030300000001. Some banks break the
// line before the amount.
func parse(lines []string) (e entry, left *reading.Item) {
	s := strings.TrimSpace(lines[0])
	rest := lines[1:]
	for len(rest) > 0 && !strings.ContainsRune(s, ',') {
		s, rest = s+strings.TrimSpace(rest[0]), rest[1:]
	}
	e.more = strings.Join(rest, " ")
	s, ok := e.days(s)
	if !ok {
		item := reading.Reject("date", "the entry does not begin with a date")
		return e, &item
	}
	s, out, ok := mark(s)
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != ',' && r != '.' })
	if end < 0 {
		end = len(s)
	}
	amount, err := reading.Amount(s[:end])
	if !ok || err != nil {
		item := reading.Reject("amount", "the entry has no readable amount")
		return e, &item
	}
	if e.amount = amount; !out {
		e.amount = amount.Neg()
	}
	e.references(s[end:])
	return e, nil
}

// days reads the value date and the booking day. The booking day has no year, so the day nearest to
// the value date is chosen.
func (e *entry) days(s string) (rest string, ok bool) {
	if len(s) < 6 {
		return s, false
	}
	if e.value, ok = reading.Compact("20" + s[:6]); !ok {
		return s, false
	}
	s = s[6:]
	if len(s) < 4 {
		return s, true
	}
	n, ok := reading.Digits(s[:4])
	if !ok {
		return s, true
	}
	value, _ := time.Parse(time.DateOnly, e.value)
	nearest := 400 * 24 * time.Hour
	for year := value.Year() - 1; year <= value.Year()+1; year++ {
		day, ok := reading.Date(year, n/100, n%100)
		if !ok {
			continue
		}
		at, _ := time.Parse(time.DateOnly, day)
		if away := at.Sub(value).Abs(); away < nearest {
			nearest, e.day = away, day
		}
	}
	return s[4:], e.day != ""
}

// mark reads C or D. An R before it marks a reversal, which has the opposite direction. A letter
// after it is the funds code, so DR is money out.
func mark(s string) (rest string, out, ok bool) {
	s, back := strings.CutPrefix(s, "R")
	if s == "" || s[0] != 'C' && s[0] != 'D' {
		return s, false, false
	}
	out = (s[0] == 'D') != back
	if s = s[1:]; s != "" && s[0] >= 'A' && s[0] <= 'Z' {
		s = s[1:]
	}
	return s, out, true
}

// none are words that banks write if there is no reference.
var none = map[string]bool{
	"": true, "NONREF": true, "EREF": true, "PREF": true, "KREF+": true, "MREF": true, "KREF": true,
}

// references reads what follows the amount: the type, the payer's reference and the bank's.
func (e *entry) references(s string) {
	if len(s) >= 4 && s[0] >= 'A' && s[0] <= 'Z' {
		s = s[4:]
	}
	mine, bank, _ := strings.Cut(s, "//")
	if mine = strings.TrimSpace(mine); !none[mine] {
		e.reference = mine
	}
	if bank = strings.TrimSpace(bank); !none[bank] {
		e.bank = bank
	}
}

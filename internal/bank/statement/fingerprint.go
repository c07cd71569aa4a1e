package statement

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"coffer/internal/platform/text"
)

// Fingerprints gives the rows of one file their keys. Equal rows of a day are counted, so that two
// equal coffees stay two, and a file that overlaps an earlier one gives the shared rows the same
// keys. The zero value is ready; a file needs its own.
//
// A row that the bank gave an id has a key of the id, the day and the amount. Any other row has one
// of the day, the amount and the text, without regard to case and white space, which differ between
// two exports of one charge. Both contain the account that the row names. Neither contains the
// currency: most files state none, and what stands in for it may be set otherwise by the next
// import.
//
// Only a CSV's keys have the account: a bank that changes how it writes an account's number must
// not bring every row again. The text of other formats includes the purpose. Their keys begin with
// the name of the format, so that a row shows which source it came from.
type Fingerprints struct {
	Format string // "" for CSV
	seen   map[[16]byte]int
}

// Of returns the key of the next row, under which it is stored if it is new.
func (f *Fingerprints) Of(r Row) string { return f.mark(r).key }

// A mark is all that a row can be recognized by.
type mark struct {
	key     string   // under which the row is stored if it is new
	likes   [16]byte // of its day, amount, account and text: see [plainKey]
	former  [16]byte // of its id, amount and account: see [plainKey]
	numbers bool     // it has an id, or a number in the place of one, so that former means something
	account string   // what idPrefix is followed by
	family  string   // key without the day and the count; empty where the row has no id
}

func (f *Fingerprints) mark(r Row) mark {
	if f.Format == "" || f.Format == tables {
		return f.ofTable(r)
	}
	b := append(make([]byte, 0, 256), tableMagic...)
	m := mark{account: unnamed}
	// as a table has it that names no account, so that a row which came by one is known again
	head := append(r.Amount.Append(append(b, 0)), 0)
	m.likes = shorten(appendPlain(append(append(head, r.Date...), 0), r.Name.Plain()))
	b = append(append(append(b[:0], f.Format...), 0), r.Amount.String()...)
	b = append(b, 0)
	if r.ID != "" {
		m.former = shorten(appendPlain(b, r.ID.Plain()))
		return f.dated(m, f.Format+idMark, r)
	}
	b = appendPlain(append(append(b, r.Date...), 0), r.Name.Plain())
	own := shorten(appendPlain(append(b, 0), r.Detail.Plain()))
	m.key = f.Format + textMark + plainKey(own, f.next(own))
	return m
}

// dated completes the mark of a row with an id.
func (f *Fingerprints) dated(m mark, prefix string, r Row) mark {
	m.family = prefix + m.account + "." + encode(m.former[:15]) + "."
	day := m.family + strings.ReplaceAll(r.Date, "-", "") + "."
	m.key = day + strconv.Itoa(f.next(shorten([]byte(day))))
	return m
}

func (f *Fingerprints) ofTable(r Row) (m mark) {
	b := make([]byte, 0, 256)
	b = append(b, tableMagic...)
	b = appendPlain(b, r.Account.Plain())
	account := shorten(b)
	m.account = encode(account[:6])
	b = r.Amount.Append(append(b, 0))
	b = append(b, 0)
	m.likes = shorten(appendPlain(append(append(b, r.Date...), 0), r.Name.Plain()))
	id := r.ID
	if id == "" {
		id = r.Count
	}
	if id != "" {
		m.former, m.numbers = shorten(appendPlain(append(b, "id\x00"...), id.Plain())), true
	}
	if r.ID == "" {
		m.key = plainKey(m.likes, f.next(m.likes))
		return m
	}
	return f.dated(m, idPrefix, r)
}

func (f *Fingerprints) next(of [16]byte) int {
	if f.seen == nil {
		f.seen = map[[16]byte]int{}
	}
	f.seen[of]++
	return f.seen[of]
}

// Parts of keys.
const (
	tables     = "csv"
	tableMagic = "csv1\x00"
	// idMark follows the format in the keys of rows with an id: the account that the row names, the
	// id with the amount, the day, and the count come after it, separated by points, so a reader of
	// stored keys can parse them.
	idMark   = "2."
	idPrefix = tables + idMark
	// textMark follows the format in the keys of rows without an id. Those of CSV have neither.
	textMark = ":"
)

// unnamed is the account of a row that names none.
var unnamed = func() string {
	none := shorten([]byte(tableMagic))
	return encode(none[:6])
}()

// Source returns the format of the file by which a row came that is stored under a key; "" if it
// came from elsewhere, as a bank's own rows do in an account that was merged.
func Source(key string) string {
	switch before, _, is := strings.Cut(key, idMark); {
	case is && strings.Count(key, ".") == 4:
		return before
	case isPlain(key):
		return tables
	}
	before, after, is := strings.Cut(key, textMark)
	if is && isPlain(after) {
		return before
	}
	return ""
}

// isPlain reports whether a key is one that [plainKey] returns.
func isPlain(key string) bool {
	return len(key) == 32 && strings.Trim(key, "0123456789abcdef") == ""
}

// hasID reports whether a key is of a row with an id.
func hasID(key string) bool { return Source(key) != "" && strings.Contains(key, idMark) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// plainKey is the key of the nth row with these contents: of a row without an id. Rows with an id
// were stored in this manner too, under their id and amount without the day, before days were part
// of it.
func plainKey(of [16]byte, nth int) string {
	key := shorten(strconv.AppendInt(of[:], int64(nth), 10))
	return hex.EncodeToString(key[:])
}

func shorten(b []byte) [16]byte {
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// appendPlain appends s folded and without white space.
func appendPlain(b []byte, s string) []byte {
	if strings.IndexFunc(s, unicode.IsSpace) >= 0 {
		s = strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	return text.AppendFold(b, s)
}

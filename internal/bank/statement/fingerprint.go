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

// Fingerprints computes the keys of the rows of one file. Equal rows of a day are counted: two
// equal coffees stay two, and a file that overlaps an earlier one gets the same keys for the shared
// rows. The zero value is ready for use. Each file needs its own Fingerprints.
//
// The key of a row with a bank's id is made of the id, the day and the amount. The key of any other
// row is made of the day, the amount and the text. Case and white space do not count, because they
// differ between two exports of the same row. No key contains the currency: most files state none,
// and the next import may assume another one.
//
// In CSV files, the key also contains the account that the row names. In other formats it does not,
// so that rows are not imported again if a bank changes how it writes the account's number. In
// those formats, the text includes the purpose, and the key begins with the name of the format,
// which shows the row's source.
type Fingerprints struct {
	Format string // "" for CSV
	seen   map[[16]byte]int
}

// Of returns the key of the next row. A new row is stored under this key.
func (f *Fingerprints) Of(r Row) string { return f.mark(r).key }

// A mark holds everything by which a row can be recognized.
type mark struct {
	key     string   // the key for storing the row if it is new
	likes   [16]byte // hash of the day, the amount, the account and the text: see [plainKey]
	former  [16]byte // hash of the id, the amount and the account: see [plainKey]
	numbers bool     // the row has an id, or a number in place of an id, so former is set
	account string   // the part of the key that follows idPrefix
	family  string   // key without the day and the count; empty if the row has no id
}

func (f *Fingerprints) mark(r Row) mark {
	if f.Format == "" || f.Format == tables {
		return f.ofTable(r)
	}
	b := append(make([]byte, 0, 256), tableMagic...)
	m := mark{account: unnamed}
	// The hash is the same as for a table that names no account, so a row from such a table is
	// recognized.
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

// dated sets family and key for a row with an id.
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
	// idMark follows the format in the keys of rows with an id. After it come, separated by points:
	// the account that the row names, the hash of id and amount, the day, and the count. So a
	// reader of stored keys can parse them.
	idMark   = "2."
	idPrefix = tables + idMark
	// textMark follows the format in the keys of rows without an id. Keys of CSV rows without an id
	// have no prefix.
	textMark = ":"
)

// unnamed is the account part of the key of a row that names no account.
var unnamed = func() string {
	none := shorten([]byte(tableMagic))
	return encode(none[:6])
}()

// Source returns the format of the file from which the row with a key was imported. It returns ""
// for rows from elsewhere, such as rows from a bank in an account that was merged.
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

// isPlain reports whether a key has the form that [plainKey] returns.
func isPlain(key string) bool {
	return len(key) == 32 && strings.Trim(key, "0123456789abcdef") == ""
}

// hasID reports whether a key belongs to a row with an id.
func hasID(key string) bool { return Source(key) != "" && strings.Contains(key, idMark) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// plainKey returns the key of the nth row with a content hash. It is used for rows of tables
// without ids. In earlier versions it was also used for rows with an id, with a hash of the id and
// the amount but not the day.
func plainKey(of [16]byte, nth int) string {
	key := shorten(strconv.AppendInt(of[:], int64(nth), 10))
	return hex.EncodeToString(key[:])
}

func shorten(b []byte) [16]byte {
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// appendPlain appends s without white space and case.
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

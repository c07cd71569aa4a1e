package csvfile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"coffer/internal/text"
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
type Fingerprints struct {
	seen map[[16]byte]int
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

func (f *Fingerprints) mark(r Row) (m mark) {
	b := make([]byte, 0, 256)
	b = append(b, "csv1\x00"...)
	b = appendPlain(b, r.Account.Plain())
	account := shorten(b)
	m.account = encode(account[:6])
	b = r.Amount.Append(append(b, 0))
	b = append(b, 0)
	m.likes = shorten(appendPlain(append(append(b, r.Date...), 0), r.Name.Plain()))
	id := r.ID
	if id == "" {
		id = r.count
	}
	if id != "" {
		m.former, m.numbers = shorten(appendPlain(append(b, "id\x00"...), id.Plain())), true
	}
	if r.ID == "" {
		m.key = plainKey(m.likes, f.next(m.likes))
		return m
	}
	m.family = idPrefix + m.account + "." + encode(m.former[:15]) + "."
	day := m.family + strings.ReplaceAll(r.Date, "-", "") + "."
	m.key = day + strconv.Itoa(f.next(shorten([]byte(day))))
	return m
}

func (f *Fingerprints) next(of [16]byte) int {
	if f.seen == nil {
		f.seen = map[[16]byte]int{}
	}
	f.seen[of]++
	return f.seen[of]
}

// idPrefix begins the keys of rows with an id: the account that the row names, the id with the
// amount, the day, and the count, separated by points, so a reader of stored keys can parse them.
const idPrefix = "csv2."

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

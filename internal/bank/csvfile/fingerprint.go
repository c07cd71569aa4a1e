package csvfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"coffer/internal/text"
)

// Fingerprints gives the rows of one file their identities. Equal rows of a day are counted, so that two equal coffees stay two, and a file that
// overlaps an earlier one gives the shared rows the same identities. The zero value is ready; a file needs its own.
type Fingerprints struct {
	seen map[[16]byte]int
}

// Of is the identity of the next row, for one account of ours. It stands on the day, the amount, the account that the row names and its text, without
// regard to case and white space, which differ between two exports of one charge; or, where the bank gives the charge an id, on that and the amount.
func (f *Fingerprints) Of(r Row) string {
	b := make([]byte, 0, 256)
	b = append(b, "csv1\x00"...)
	b = appendPlain(b, r.Account.Plain())
	b = r.Amount.Append(append(b, 0))
	b = append(b, 0) // no currency: most files state none, and what stands in for it may be set otherwise by the next import
	if r.ID != "" {
		b = append(b, "id\x00"...)
		b = appendPlain(b, r.ID.Plain())
	} else {
		b = append(append(b, r.Date...), 0)
		b = appendPlain(b, r.Name.Plain())
	}
	key := shorten(b)
	if f.seen == nil {
		f.seen = map[[16]byte]int{}
	}
	f.seen[key]++
	key = shorten(strconv.AppendInt(key[:], int64(f.seen[key]), 10))
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

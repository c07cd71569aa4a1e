package statement

import (
	"strings"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// MaxCorrections is the most earlier rows of an account that one file can correct.
const MaxCorrections = 1000

// Corrected returns the stored rows to which a bank gave these ids in earlier files of a format, by
// the ids. A bank that begins its ids again each month can have given one to several rows. Keys
// have an id only as a hash with the amount, so each id is tried with every amount that is stored.
func Corrected(format string, ids []text.Untrusted, stored []Stored) map[text.Untrusted][]Stored {
	if format == "" || format == tables || len(ids) == 0 {
		return nil
	}
	families := map[string][]int{}
	amounts := map[int64]struct{}{}
	for i, s := range stored {
		if Source(s.Key) == format && hasID(s.Key) {
			family := familyOf(s.Key[:strings.LastIndexByte(s.Key, '.')+1])
			families[family] = append(families[family], i)
			amounts[s.Cents] = struct{}{}
		}
	}
	out := map[text.Untrusted][]Stored{}
	for _, id := range ids {
		if _, done := out[id]; done {
			continue
		}
		out[id] = nil
		for cents := range amounts {
			for _, at := range families[familyWith(format, id, cents)] {
				out[id] = append(out[id], stored[at])
			}
		}
	}
	return out
}

// familyWith returns the family of the keys of rows with an id and an amount.
func familyWith(format string, id text.Untrusted, cents int64) string {
	amount, err := money.FromCents(cents)
	if err != nil {
		return ""
	}
	m := (&Fingerprints{Format: format}).mark(Row{ID: id, Amount: amount})
	return m.family
}

package statement

import (
	"strings"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// MaxCorrections is the maximum number of an account's earlier rows that one file can correct.
const MaxCorrections = 1000

// Corrected returns the stored rows that have the given bank ids in earlier files of a format. If a
// bank reuses its ids each month, several rows can have the same id. A key contains an id only as a
// hash together with the amount, so each id is tried with every stored amount.
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

// familyWith returns the key family of rows with an id and an amount.
func familyWith(format string, id text.Untrusted, cents int64) string {
	amount, err := money.FromCents(cents)
	if err != nil {
		return ""
	}
	m := (&Fingerprints{Format: format}).mark(Row{ID: id, Amount: amount})
	return m.family
}

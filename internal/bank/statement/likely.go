package statement

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"
	"unicode"

	"coffer/internal/platform/text"
)

// Apart is the maximum difference in days between the dates that two sources give one transaction.
const Apart = 3

// isOther reports whether a stored row is a candidate for the last passes: it has no match, is not
// deleted, and is from another source than the file.
func (m *matcher) isOther(at int) bool {
	s := m.stored[at]
	return !m.claimed[at] && !s.Gone && Source(s.Key) != sourceName(m.prints.Format)
}

func sourceName(format string) string {
	if format == "" {
		return tables
	}
	return format
}

// likelySame matches a row of the same day and amount from another source.
func (m *matcher) likelySame(n int, r Row, _ mark) {
	if m.others == nil {
		m.others = map[dayAmount][]int32{}
		for i, s := range m.stored {
			if m.isOther(i) {
				on := dayAmount{s.Date, s.Cents}
				m.others[on] = append(m.others[on], int32(i))
			}
		}
	}
	if at, ok := pop(m, m.others, dayAmount{r.Date, r.Amount.Cents()}); ok {
		m.claimLikely(n, at)
	}
}

func (m *matcher) claimLikely(n int, at int32) {
	m.claim(n, at)
	m.likely[n] = true
}

// likelyNear matches the nearest row of the same amount with a similar text, some days away.
func (m *matcher) likelyNear(n int, r Row, _ mark) {
	if m.near == nil {
		m.indexWords()
	}
	words := wordsOf(r.Name.Plain())
	for days := 1; days <= Apart; days++ {
		for _, day := range []string{shift(r.Date, -days), shift(r.Date, days)} {
			if at, ok := m.withWord(dayAmount{day, r.Amount.Cents()}, words); ok {
				m.claimLikely(n, at)
				return
			}
		}
	}
}

// likelyFed matches the nearest row of the same amount, some days away, whatever its text. One of
// the two rows must be from a bank's feed and the other from a file. A file lists every row of its
// days. So if a row of the feed still has no match in the file, the file must list it with another
// date and text.
func (m *matcher) likelyFed(n int, r Row, _ mark) {
	if m.fed == nil {
		m.fed = map[dayAmount][]int32{}
		for i, s := range m.stored {
			if m.isOther(i) && (Source(s.Key) == "") != (m.prints.Format == fed) {
				on := dayAmount{s.Date, s.Cents}
				m.fed[on] = append(m.fed[on], int32(i))
			}
		}
	}
	for days := 1; days <= Apart && len(m.fed) > 0; days++ {
		for _, day := range []string{shift(r.Date, -days), shift(r.Date, days)} {
			if at, ok := pop(m, m.fed, dayAmount{day, r.Amount.Cents()}); ok {
				m.claimLikely(n, at)
				return
			}
		}
	}
}

// A wordAt is a word of a stored row, hashed together with the row's day and amount. The amount
// alone would find too many rows, for example if a shop charges everybody the same price.
type wordAt struct {
	hash uint64
	at   int32
	gone int32 // in the first entry of a hash: how many entries from here on already have a match
}

type wordKey struct {
	dayAmount
	word string
}

// indexWords sorts the words of the candidates.
func (m *matcher) indexWords() {
	m.seed, m.near, m.others = maphash.MakeSeed(), []wordAt{}, map[dayAmount][]int32{}
	for i, s := range m.stored {
		if !m.isOther(i) {
			continue
		}
		for _, w := range wordsOf(s.Name) {
			hash := maphash.Comparable(m.seed, wordKey{dayAmount{s.Date, s.Cents}, w})
			m.near = append(m.near, wordAt{hash: hash, at: int32(i)})
		}
	}
	slices.SortFunc(m.near, func(a, b wordAt) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at))
	})
}

// withWord returns the first candidate of a day and amount that has one of the words.
func (m *matcher) withWord(on dayAmount, words []string) (found int32, ok bool) {
	for _, w := range words {
		hash := maphash.Comparable(m.seed, wordKey{on, w})
		first, there := slices.BinarySearchFunc(m.near, hash, func(a wordAt, h uint64) int {
			return cmp.Compare(a.hash, h)
		})
		if !there {
			continue
		}
		gone := &m.near[first].gone
		for i := first + int(*gone); i < len(m.near) && m.near[i].hash == hash; i++ {
			m.looked++
			at := m.near[i].at
			if !m.claimed[at] {
				if s := m.stored[at]; s.Date == on.day && s.Cents == on.cents && (!ok || at < found) {
					found, ok = at, true
				}
				break
			}
			*gone++
		}
	}
	return found, ok
}

func shift(day string, days int) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return at.AddDate(0, 0, days).Format(time.DateOnly)
}

// wordsOf returns the words of a text that have at least three characters and a letter.
func wordsOf(s string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text.Fold(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), func(w string) bool {
		return len([]rune(w)) < 3 || strings.IndexFunc(w, unicode.IsLetter) < 0
	})
}

package statement

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Stored is a row that an account already has, from any source.
type Stored struct {
	Key   string // the key under which it is stored
	Date  string // YYYY-MM-DD
	Cents int64
	Name  string
	Gone  bool // deleted; only a row with the same key can match and restore it
	// Now is the key of the row that has replaced this one, if any. A row of the file that matches
	// this row also counts as a match of the replacement.
	Now string
}

// An Identity is the result for a row of a file: the stored row that it matches, if any.
type Identity struct {
	Key    string // the key under which the row is or will be stored
	Stored bool   // the account already has the row
	Gone   bool   // the row was deleted and the file restores it
	Likely bool   // the account seems to have the row already, from another source
	// Covered: the row is a piece of a batch that is stored as one row, or a batch whose pieces are
	// stored.
	Covered bool
	Was     string // the previous key if the row has moved to another day, else empty
}

// Identities maps the rows of a file to stored rows. Keys alone are not enough, because a bank may
// write a row in different ways in different files. See [Identify].
type Identities struct {
	prints Fingerprints
	stored []Stored
	as     []int32 // for each row of the file: the index in stored, or newRow or moved
	moved  map[int]int32
	likely map[int]bool
	batch  map[int]bool // rows that are covered
	// The rows of the file whose stored rows were deleted. The file restores them unless another
	// source has delivered them since.
	deleted map[int]int32
	next    int
}

const newRow = -1

// mostEqual is the maximum number of equal rows of a day that are matched with keys of another
// kind. There is no such limit for keys of the same kind.
const mostEqual = 64

// Identify matches the rows of a file with the account's stored rows. These are the rows on the
// days from FirstDate to LastDate and [Apart] days around them, including deleted ones. Each stored
// row matches at most one row of the file. A row matches the first of these:
//
//   - the row stored under its key;
//   - a row stored on its day with its amount and text, if one of the two has no id: a bank may
//     write ids in one file and number the rows of another;
//   - a row stored with its id and amount on another day, if that day is between the first and the
//     last day of the file and the file no longer lists the row there. The first and the last day
//     do not count, because a file that ends at noon lacks the afternoon's rows.
//
// A bank may list a batch as one row in one file and as its pieces in another. If the whole batch
// is stored, its pieces in the file are covered. If the pieces are stored, the whole is covered.
//
// A row without such a match is likely stored if another source has delivered a row of its day and
// amount. It is also likely stored if there is one of its amount with a similar text at most
// [Apart] days away. A bank writes different ids and texts in each of its formats, so there is no
// surer evidence. If a file has more rows of a day and amount than are stored, only the surplus is
// new. Rows that were deleted are compared last, after the new ones.
//
// Any other row is new.
func Identify(ctx context.Context, file File, stored []Stored) (*Identities, error) {
	m, err := match(ctx, file, stored)
	if err != nil {
		return nil, err
	}
	return &m.Identities, nil
}

func match(ctx context.Context, file File, stored []Stored) (*matcher, error) {
	m := &matcher{
		Identities: Identities{
			prints: Fingerprints{Format: file.Format.Name}, stored: stored, moved: map[int]int32{},
			likely: map[int]bool{}, batch: map[int]bool{},
		}, first: file.FirstDate, last: file.LastDate,
		claimed: make([]bool, len(stored)), left: len(stored), byKey: make(map[string]int32, len(stored)),
	}
	for i, s := range stored {
		m.byKey[s.Key] = int32(i)
	}
	each := func(step func(int, Row, mark)) func() error {
		return func() error { return m.pass(ctx, file, step) }
	}
	likely := []func() error{each(m.likelySame), each(m.likelyNear), each(m.likelyFed)}
	if err := m.run(slices.Concat([]func() error{
		each(m.byItsKey), func() error { return m.batches(ctx, file) }, each(m.sameDay), each(m.otherDay),
		func() error { return m.likelyBatches(ctx, file) },
	}, likely, []func() error{each(m.likelyWhole)})); err != nil {
		return nil, err
	}
	if m.release(); len(m.deleted) == 0 {
		return m, nil
	}
	err := m.run(likely)
	return m, err
}

// run makes passes until every stored row has a match.
func (m *matcher) run(passes []func() error) error {
	for _, pass := range passes {
		if m.left == 0 {
			return nil
		}
		if err := pass(); err != nil {
			return err
		}
		m.index()
	}
	return nil
}

// release returns the rows of the file that match deleted rows to the last passes, as if they were
// new. Another source may have delivered them since, and restoring them would count them twice.
func (m *matcher) release() {
	m.deleted = map[int]int32{}
	for n, at := range m.as {
		if _, moved := m.moved[n]; at >= 0 && !moved && m.stored[at].Gone && m.stored[at].Date != "" {
			m.deleted[n], m.as[n] = at, newRow
		}
	}
	m.others, m.near, m.fed = nil, nil, nil
}

// Next returns the identity of the next row of the file. Call it once for every row that
// [File.Rows] yields without an error, in order.
func (i *Identities) Next(r Row) Identity {
	key := i.prints.Of(r)
	at := int32(newRow)
	if i.next < len(i.as) {
		at = i.as[i.next]
	}
	was, hasMoved := i.moved[i.next]
	likely, covered := i.likely[i.next], i.batch[i.next]
	gone, deleted := i.deleted[i.next]
	i.next++
	switch {
	case covered:
		return Identity{Key: key, Covered: true}
	case deleted:
		return Identity{Key: i.stored[gone].Key, Stored: true, Gone: true, Likely: likely}
	case likely:
		return Identity{Key: key, Likely: true}
	case hasMoved:
		return Identity{Key: key, Stored: true, Was: i.stored[was].Key}
	case at >= 0:
		return Identity{Key: i.stored[at].Key, Stored: true}
	}
	return Identity{Key: key}
}

// A Search describes which rows of an account are needed to compare a file with it.
type Search struct {
	Amounts []int64  // the distinct amounts of the rows and their batches, in cents
	Days    []string // the days of the rows
}

// SearchFor returns the Search for a file.
func SearchFor(ctx context.Context, file File) (Search, error) {
	amounts, days := map[int64]struct{}{}, map[string]struct{}{}
	for row, err := range file.Rows(ctx) {
		if _, bad := errors.AsType[*RowError](err); bad {
			continue
		}
		if err != nil {
			return Search{}, err
		}
		amounts[row.Amount.Cents()], days[row.Date] = struct{}{}, struct{}{}
		if row.Extra != nil && row.Extra.Batch != nil {
			amounts[row.Extra.Batch.Amount.Cents()] = struct{}{}
		}
	}
	return Search{slices.Collect(maps.Keys(amounts)), slices.Collect(maps.Keys(days))}, nil
}

// A matcher builds Identities in several passes over the file.
type matcher struct {
	Identities
	first, last string
	claimed     []bool
	left        int // stored rows without a match
	byKey       map[string]int32

	// Lookup tables of the stored rows without a match after the first pass. plain counts the rows
	// with plain keys. byText lists the rows with other keys, and byFamily those of them with an
	// id.
	plain    map[dayAmount]int
	byText   map[[16]byte][]int32
	byFamily map[string][]int32

	// Lookup tables of the stored rows from other sources that still have no match after those
	// passes: by day and amount, by their words, and again by day and amount for likelyFed.
	others map[dayAmount][]int32
	near   []wordAt
	fed    map[dayAmount][]int32 // candidates of likelyFed
	seed   maphash.Seed

	looked int // number of comparisons; it must not grow quadratically

	// The stored rows that are batches or their pieces: see batches.
	pieces *pieces
}

type dayAmount struct {
	day   string
	cents int64
}

// pass calls step with every row of the file that has no match yet.
func (m *matcher) pass(ctx context.Context, file File, step func(int, Row, mark)) error {
	prints := Fingerprints{Format: file.Format.Name}
	n := 0
	for row, err := range file.Rows(ctx) {
		if _, bad := errors.AsType[*RowError](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		if n == len(m.as) {
			m.as = append(m.as, newRow)
		}
		if k := prints.mark(row); m.as[n] == newRow && !m.batch[n] && m.left > 0 {
			step(n, row, k)
		}
		n++
	}
	return nil
}

func (m *matcher) claim(row int, stored int32) {
	m.as[row], m.claimed[stored] = stored, true
	m.left--
	if s := m.stored[stored]; m.plain != nil && isPlain(s.Key) {
		m.plain[dayAmount{s.Date, s.Cents}]--
	}
}

// index builds the lookup tables from what the first pass left. It does so only once.
func (m *matcher) index() {
	if m.plain != nil {
		return
	}
	m.plain, m.byText, m.byFamily = map[dayAmount]int{}, map[[16]byte][]int32{}, map[string][]int32{}
	for i, s := range m.stored {
		if m.claimed[i] {
			continue
		}
		at := int32(i)
		switch {
		case isPlain(s.Key):
			m.plain[dayAmount{s.Date, s.Cents}]++
			continue
		case Source(s.Key) == "":
			continue
		}
		text := textOf(accountOf(s.Key), s.Date, s.Cents, s.Name)
		m.byText[text] = append(m.byText[text], at)
		if !hasID(s.Key) {
			continue
		}
		day := s.Key[:strings.LastIndexByte(s.Key, '.')+1]
		if m.first < s.Date && s.Date < m.last {
			m.byFamily[familyOf(day)] = append(m.byFamily[familyOf(day)], at)
		}
	}
}

func (m *matcher) byItsKey(n int, _ Row, k mark) {
	at, ok := m.byKey[k.key]
	if !ok || m.claimed[at] {
		return
	}
	m.claim(n, at)
	if now, ok := m.byKey[m.stored[at].Now]; ok && !m.claimed[now] {
		m.claimed[now] = true
		m.left--
	}
}

// sameDay matches a row that is stored on its day under another key.
func (m *matcher) sameDay(n int, r Row, k mark) {
	if m.plain[dayAmount{r.Date, r.Amount.Cents()}] > 0 && m.plainly(n, r, k) {
		return
	}
	if k.family == "" {
		if at, ok := pop(m, m.byText, textOf(k.account, r.Date, r.Amount.Cents(), r.Name.Plain())); ok {
			m.claim(n, at)
		}
	}
}

// plainly matches a row of the same day under a plain key, which is made of its text, or of its id
// without the day. If the file only numbers its rows, the text must match too.
func (m *matcher) plainly(n int, r Row, k mark) bool {
	for nth := 1; nth <= mostEqual; nth++ {
		if at, ok := m.byKey[plainKey(k.likes, nth)]; ok && !m.claimed[at] {
			m.claim(n, at)
			return true
		}
		if !k.numbers {
			continue
		}
		at, ok := m.byKey[plainKey(k.former, nth)]
		if ok && !m.claimed[at] && m.stored[at].Date == r.Date &&
			(k.family != "" || sameText(m.stored[at].Name, r.Name.Plain())) {
			m.claim(n, at)
			return true
		}
	}
	return false
}

// otherDay matches a row with an id that is stored on another day, because the bank has moved it.
func (m *matcher) otherDay(n int, _ Row, k mark) {
	if k.family == "" {
		return
	}
	at, ok := pop(m, m.byFamily, k.family)
	if !ok {
		at, ok = m.formerElsewhere(k)
	}
	if ok {
		m.claim(n, at)
		m.moved[n] = at
	}
}

func (m *matcher) formerElsewhere(k mark) (int32, bool) {
	if len(m.plain) == 0 {
		return 0, false
	}
	for nth := 1; nth <= mostEqual; nth++ {
		at, ok := m.byKey[plainKey(k.former, nth)]
		if ok && !m.claimed[at] && m.first < m.stored[at].Date && m.stored[at].Date < m.last {
			return at, true
		}
	}
	return 0, false
}

// pop removes and returns the next row of a list that has no match yet.
func pop[K comparable](m *matcher, from map[K][]int32, key K) (at int32, ok bool) {
	list := from[key]
	for len(list) > 0 && !ok {
		m.looked++
		at, list = list[0], list[1:]
		ok = !m.claimed[at]
	}
	if len(list) == 0 {
		delete(from, key)
	} else {
		from[key] = list
	}
	return at, ok
}

// accountOf and familyOf return parts of a key with an id. The parameter of familyOf ends with the
// day. Keys without an id contain no account.
func accountOf(key string) string {
	if !hasID(key) {
		return unnamed
	}
	_, rest, _ := strings.Cut(key, ".")
	account, _, _ := strings.Cut(rest, ".")
	return account
}

func familyOf(day string) string {
	return day[:strings.LastIndexByte(day[:len(day)-1], '.')+1]
}

// textOf returns a hash of the account, the day, the amount and the text of a row.
func textOf(account, date string, cents int64, name string) [16]byte {
	b := make([]byte, 0, 256)
	b = append(append(b, account...), 0)
	b = append(append(b, date...), 0)
	b = append(strconv.AppendInt(b, cents, 10), 0)
	return shorten(appendPlain(b, name))
}

func sameText(a, b string) bool { return bytes.Equal(appendPlain(nil, a), appendPlain(nil, b)) }

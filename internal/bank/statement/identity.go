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

// A Stored is a row that an account already has, from any file.
type Stored struct {
	Key   string // under which it is stored
	Date  string // YYYY-MM-DD
	Cents int64
	Name  string
	Gone  bool // it was deleted: a file brings it back under its key, but nothing else is taken for it
}

// An Identity maps a row of a file to a stored row.
type Identity struct {
	Key    string // under which the row is, or will be, stored
	Stored bool   // the account has it already
	Likely bool   // the account seems to have it already, from another source
	// Covered: the account has the batch of which the row is a piece as one row, or its pieces as
	// rows.
	Covered bool
	Was     string // the key until now, where the row has moved to another day; else empty
}

// Identities maps the rows of a file to stored rows. A file lists every row of the days that it
// covers, and may be written in a different style than earlier files, so keys alone are not enough;
// see [Identify].
type Identities struct {
	prints Fingerprints
	stored []Stored
	as     []int32 // by the place of a row in the file: its place in stored, or one of newRow and moved
	moved  map[int]int32
	likely map[int]bool
	batch  map[int]bool // covered
	next   int
}

const newRow = -1

// mostEqual is the most equal rows of a day that are matched with keys of another kind. Rows with
// the same kind of key have no such limit.
const mostEqual = 64

// Identify finds the rows of a file among those that the account has on the days from FirstDate
// to LastDate and [Apart] days around them, including deleted ones. Each stored row matches at most
// one row of the file. A row matches, in this order:
//
//   - the row stored under its key;
//   - a row stored on its day with its amount and text, if one of the two has no id: a bank may
//     give ids in one file and count the rows of another;
//   - a row stored with its id and amount on another day, if that day lies between the first and
//     the last of the file, which no longer lists it there. The first and the last day do not
//     count: a file that ends at noon leaves out the afternoon.
//
// A bank lists a batch as one row in one file and piece by piece in another. The pieces of a batch
// that is stored as a whole are covered, and so is a whole whose pieces are stored: see batches.
//
// A row that matches none of these is likely there if another source brought one of its day and
// amount, or one of its amount with a similar text at most [Apart] days away. A bank writes other
// ids and texts in each of its formats, so nothing else shows that the rows are the same: as many
// rows of a day and amount as are stored are the same, and only what exceeds them is new.
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
	for _, pass := range []func() error{
		each(m.byItsKey), func() error { return m.batches(ctx, file) }, each(m.sameDay), each(m.otherDay),
		func() error { return m.likelyBatches(ctx, file) }, each(m.likelySame), each(m.likelyNear), each(m.likelyFed),
		each(m.likelyWhole),
	} {
		if err := pass(); err != nil {
			return nil, err
		}
		if m.left == 0 {
			break
		}
		m.index()
	}
	return m, nil
}

// Next returns the identity of the next row of the file. It must be called once for every row that
// [File.Rows] yields without an error, in order.
func (i *Identities) Next(r Row) Identity {
	key := i.prints.Of(r)
	at := int32(newRow)
	if i.next < len(i.as) {
		at = i.as[i.next]
	}
	was, hasMoved := i.moved[i.next]
	likely, covered := i.likely[i.next], i.batch[i.next]
	i.next++
	switch {
	case covered:
		return Identity{Key: key, Covered: true}
	case likely:
		return Identity{Key: key, Likely: true}
	case hasMoved:
		return Identity{Key: key, Stored: true, Was: i.stored[was].Key}
	case at >= 0:
		return Identity{Key: i.stored[at].Key, Stored: true}
	}
	return Identity{Key: key}
}

// A Search is what to look for in an account before a file is compared with it.
type Search struct {
	Amounts []int64  // the different amounts of the rows and of their batches, in cents
	Days    []string // the days of the rows
}

// SearchFor returns what to look for.
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

// A matcher makes Identities, in passes over the file.
type matcher struct {
	Identities
	first, last string
	claimed     []bool
	left        int // stored rows that no row of the file is yet
	byKey       map[string]int32

	// Of the stored rows that are left after the first pass: how many of a day and amount have a
	// plain key, and which ones have an id, by day, amount and text, and by family.
	plain    map[dayAmount]int
	byText   map[[16]byte][]int32
	byFamily map[string][]int32

	// Of the stored rows that are left after those passes, the ones of other sources: by day and
	// amount, and later the words of those that are still left.
	others map[dayAmount][]int32
	near   []wordAt
	fed    map[dayAmount][]int32 // those of a bank's feed
	seed   maphash.Seed

	looked int // stored rows that a row of the file was compared with, which must not grow with the square of both

	// Rows that are batches or pieces of them: see batches.
	pieces *pieces
}

type dayAmount struct {
	day   string
	cents int64
}

// pass shows a step every row of the file that is not found yet.
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

// index sorts what the first pass left, once.
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
	if at, ok := m.byKey[k.key]; ok && !m.claimed[at] {
		m.claim(n, at)
	}
}

// sameDay finds a row under another key of its day.
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

// plainly finds a row of the same day under a plain key: of its text, or of its id without the day.
// A number that only counts the rows of a file needs the text beside it.
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

// otherDay finds a row with an id on another day, from which the bank has moved it.
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

// pop takes the next stored row of a list that is left.
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

// accountOf and familyOf return parts of a key with an id; for familyOf it ends with the day. Keys
// without an id name no account, apart from those of CSV.
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

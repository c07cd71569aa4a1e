package csvfile

import (
	"bytes"
	"context"
	"errors"
	"io"
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
}

// An Identity maps a row of a file to a stored row.
type Identity struct {
	Key    string // under which the row is, or will be, stored
	Stored bool   // the account has it already
	Was    string // the key until now, where the row has moved to another day; else empty
}

// Identities maps the rows of a file to stored rows. A file lists every row of the days that it
// covers, and may be written in a different style than earlier files, so keys alone are not enough;
// see [Identify].
type Identities struct {
	prints Fingerprints
	stored []Stored
	as     []int32 // by the place of a row in the file: its place in stored, or one of fresh and moved
	moved  map[int]int32
	next   int
}

const fresh = -1

// mostEqual is the most equal rows of a day that are matched with keys of another kind. Rows with
// the same kind of key have no such limit.
const mostEqual = 64

// Identify finds the rows of a file among those that the account has on the days from p.FirstDate
// to p.LastDate, including deleted ones. Each stored row matches at most one row of the file. A row
// matches, in this order:
//
//   - the row stored under its key;
//   - a row stored on its day with its amount and text, if one of the two has no id: a bank may
//     give ids in one file and count the rows of another;
//   - a row stored with its id and amount on another day, if that day lies between the first and
//     the last of the file, which no longer lists it there. The first and the last day do not
//     count: a file that ends at noon leaves out the afternoon.
//
// A row that matches none of these is new.
func Identify(ctx context.Context, file io.ReaderAt, p Preview, stored []Stored) (*Identities, error) {
	m := matcher{
		Identities: Identities{stored: stored, moved: map[int]int32{}}, first: p.FirstDate, last: p.LastDate,
		claimed: make([]bool, len(stored)), left: len(stored), byKey: make(map[string]int32, len(stored)),
	}
	for i, s := range stored {
		m.byKey[s.Key] = int32(i)
	}
	for _, step := range []func(int, Row, mark){m.byItsKey, m.sameDay, m.otherDay} {
		if err := m.pass(ctx, file, p, step); err != nil {
			return nil, err
		}
		if m.left == 0 {
			break
		}
		m.index()
	}
	return &m.Identities, nil
}

// Next returns the identity of the next row of the file. It must be called once for every row that
// Read yields without an error, in order.
func (i *Identities) Next(r Row) Identity {
	key := i.prints.Of(r)
	at := int32(fresh)
	if i.next < len(i.as) {
		at = i.as[i.next]
	}
	was, hasMoved := i.moved[i.next]
	i.next++
	switch {
	case hasMoved:
		return Identity{Key: key, Stored: true, Was: i.stored[was].Key}
	case at >= 0:
		return Identity{Key: i.stored[at].Key, Stored: true}
	}
	return Identity{Key: key}
}

// Known returns how many rows of the file the account already has.
func (i *Identities) Known() (n int64) {
	for _, at := range i.as {
		if at >= 0 {
			n++
		}
	}
	return n
}

// Amounts returns the different amounts of a file's rows, in cents.
func Amounts(ctx context.Context, file io.ReaderAt, p Preview) ([]int64, error) {
	seen := map[int64]struct{}{}
	for row, err := range Read(ctx, file, p) {
		if _, bad := errors.AsType[*RowError](err); bad {
			continue
		}
		if err != nil {
			return nil, err
		}
		seen[row.Amount.Cents()] = struct{}{}
	}
	return slices.Collect(maps.Keys(seen)), nil
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
}

type dayAmount struct {
	day   string
	cents int64
}

// pass shows a step every row of the file that is not found yet.
func (m *matcher) pass(ctx context.Context, file io.ReaderAt, p Preview, step func(int, Row, mark)) error {
	var prints Fingerprints
	n := 0
	for row, err := range Read(ctx, file, p) {
		if _, bad := errors.AsType[*RowError](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		if n == len(m.as) {
			m.as = append(m.as, fresh)
		}
		if k := prints.mark(row); m.as[n] == fresh && m.left > 0 {
			step(n, row, k)
		}
		n++
	}
	return nil
}

func (m *matcher) claim(row int, stored int32) {
	m.as[row], m.claimed[stored] = stored, true
	m.left--
	if s := m.stored[stored]; m.plain != nil && !strings.HasPrefix(s.Key, idPrefix) {
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
		if !strings.HasPrefix(s.Key, idPrefix) {
			m.plain[dayAmount{s.Date, s.Cents}]++
			continue
		}
		at := int32(i)
		day := s.Key[:strings.LastIndexByte(s.Key, '.')+1]
		text := textOf(accountOf(s.Key), s.Date, s.Cents, s.Name)
		m.byText[text] = append(m.byText[text], at)
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

// accountOf and familyOf return parts of a key that begins with idPrefix; for familyOf it ends with
// the day.
func accountOf(key string) string {
	account, _, _ := strings.Cut(key[len(idPrefix):], ".")
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

package statement

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/platform/text"
)

// Batched is the name of the format whose files may list a batch as several rows, its pieces.
const Batched = "camt"

// pieces are the stored rows of the format Batched that do not match a row of the file yet.
type pieces struct {
	byFamily map[string][]int32            // the rows with an id, by key family
	amounts  map[string]map[int64]struct{} // the amounts of the rows with an id, by day
	byDay    map[string][]int32            // all rows that are not deleted, in stored order
}

// piecesLeft returns the pieces. It collects them on the first call.
func (m *matcher) piecesLeft() *pieces {
	if m.pieces == nil {
		m.pieces = &pieces{map[string][]int32{}, map[string]map[int64]struct{}{}, map[string][]int32{}}
		for i, s := range m.stored {
			if m.claimed[i] || Source(s.Key) != Batched {
				continue
			}
			if !s.Gone {
				m.pieces.byDay[s.Date] = append(m.pieces.byDay[s.Date], int32(i))
			}
			if !hasID(s.Key) {
				continue
			}
			family := familyOf(s.Key[:strings.LastIndexByte(s.Key, '.')+1])
			m.pieces.byFamily[family] = append(m.pieces.byFamily[family], int32(i))
			if m.pieces.amounts[s.Date] == nil {
				m.pieces.amounts[s.Date] = map[int64]struct{}{}
			}
			m.pieces.amounts[s.Date][s.Cents] = struct{}{}
		}
	}
	return m.pieces
}

// A group is the rows of one batch in a file, or one row.
type group struct {
	first int // its place in the file
	rows  []Row
}

func (g group) batch() *Batch {
	if e := g.rows[0].Extra; e != nil {
		return e.Batch
	}
	return nil
}

// groups calls step with every group of the file of which no row has a match yet.
func (m *matcher) groups(ctx context.Context, file File, step func(group)) error {
	n := 0
	var now group
	end := func() {
		if len(now.rows) == 0 {
			return
		}
		for i := range now.rows {
			if m.as[now.first+i] != newRow || m.batch[now.first+i] {
				return
			}
		}
		step(now)
	}
	for row, err := range file.Rows(ctx) {
		if _, bad := errors.AsType[*RowError](err); bad {
			continue
		}
		if err != nil {
			return err
		}
		if b := (group{rows: []Row{row}}).batch(); b == nil || len(now.rows) == 0 || now.batch() != b {
			end()
			now = group{n, now.rows[:0]}
		}
		now.rows = append(now.rows, row)
		n++
	}
	end()
	return nil
}

// batches matches batches that are stored in the other form: as a whole if the file lists the
// pieces, or as pieces if the file lists the whole. It finds them by the bank's id of the whole.
func (m *matcher) batches(ctx context.Context, file File) error {
	left := m.piecesLeft()
	if len(left.byFamily) == 0 || m.prints.Format != Batched {
		return nil
	}
	return m.groups(ctx, file, func(g group) {
		var found []int32
		if b := g.batch(); b != nil {
			found = m.wholeOf(b, g.rows[0].Date)
		} else {
			found = m.piecesOf(g.rows[0])
		}
		m.cover(g, found)
	})
}

// wholeOf returns the stored row that is the whole batch.
func (m *matcher) wholeOf(b *Batch, day string) []int32 {
	if b.ID == "" {
		return nil
	}
	for _, at := range m.pieces.byFamily[familyWith(Batched, b.ID, b.Amount.Cents())] {
		if s := m.stored[at]; !m.claimed[at] && s.Date >= shift(day, -Apart) && s.Date <= shift(day, Apart) {
			return []int32{at}
		}
	}
	return nil
}

// mostAmounts is the maximum number of a day's amounts with which pieces are searched, because each
// amount needs another key.
const mostAmounts = 2000

// piecesOf returns the stored rows that are the pieces of a row.
func (m *matcher) piecesOf(r Row) (found []int32) {
	amounts := m.pieces.amounts[r.Date]
	if r.ID == "" || len(amounts) < 1 || len(amounts) > mostAmounts {
		return nil
	}
	sum := int64(0)
	for nth := 1; ; nth++ {
		id, at := text.Name(fmt.Sprintf("%s/%d", r.ID.Plain(), nth)), int32(-1)
		for cents := range amounts {
			for _, i := range m.pieces.byFamily[familyWith(Batched, id, cents)] {
				if !m.claimed[i] && m.stored[i].Date == r.Date {
					at = i
				}
			}
		}
		if at < 0 {
			break
		}
		found, sum = append(found, at), sum+m.stored[at].Cents
	}
	if len(found) < 2 || sum != r.Amount.Cents() {
		return nil
	}
	return found
}

// cover records that a group is stored as the found rows.
func (m *matcher) cover(g group, found []int32) {
	for _, at := range found {
		m.claimAway(at)
	}
	for i := range g.rows {
		if len(found) > 0 {
			m.batch[g.first+i] = true
		}
	}
}

// claimAway marks a stored row as matched without a row of the file.
func (m *matcher) claimAway(at int32) {
	if m.claimed[at] {
		return
	}
	m.claimed[at] = true
	m.left--
	if s := m.stored[at]; m.plain != nil && isPlain(s.Key) {
		m.plain[dayAmount{s.Date, s.Cents}]--
	}
}

// likelyBatches finds the file's batches that are stored as one row of the same day, from another
// source or from a file without ids.
func (m *matcher) likelyBatches(ctx context.Context, file File) error {
	if m.prints.Format != Batched {
		return nil
	}
	wholes := map[dayAmount][]int32{}
	for i, s := range m.stored {
		if !m.claimed[i] && !s.Gone && (Source(s.Key) != Batched || !hasID(s.Key)) {
			wholes[dayAmount{s.Date, s.Cents}] = append(wholes[dayAmount{s.Date, s.Cents}], int32(i))
		}
	}
	if len(wholes) == 0 {
		return nil
	}
	return m.groups(ctx, file, func(g group) {
		b := g.batch()
		if b == nil {
			return
		}
		at, ok := pop(m, wholes, dayAmount{g.rows[0].Date, b.Amount.Cents()})
		if !ok {
			return
		}
		m.claimAway(at)
		for i := range g.rows {
			m.as[g.first+i], m.likely[g.first+i] = at, true
		}
	})
}

// likelyWhole finds the stored pieces of a row, from another source or from a file without ids. It
// finds them by the row's id, or else as neighbors that add up to the row.
func (m *matcher) likelyWhole(n int, r Row, _ mark) {
	if r.Extra != nil && r.Extra.Batch != nil || m.batch[n] {
		return
	}
	found := m.piecesOf(r)
	if found == nil {
		found = m.neighbors(r)
	}
	for _, at := range found {
		m.claimAway(at)
	}
	if len(found) > 0 {
		m.as[n], m.likely[n] = found[0], true
	}
}

// neighbors returns stored rows of a day that are consecutive, have the same direction and add up
// to a row.
func (m *matcher) neighbors(r Row) []int32 {
	var day []int32
	for _, at := range m.piecesLeft().byDay[r.Date] {
		own := m.prints.Format == Batched && hasID(m.stored[at].Key)
		if !m.claimed[at] && !own {
			day = append(day, at)
		}
	}
	if len(day) > mostAmounts {
		return nil
	}
	whole := r.Amount.Cents()
	for i := range day {
		sum := int64(0)
		for k := i; k < len(day); k++ {
			cents := m.stored[day[k]].Cents
			if cents == 0 || cents > 0 != (whole > 0) {
				break
			}
			if sum += cents; sum == whole && k > i {
				return day[i : k+1]
			}
		}
	}
	return nil
}

package banks

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A Turn is an event at a bank in live mode.
type Turn struct {
	Book *Book
	What string // added, posted, removed
	Row  Row
}

// live makes an event in one of the books: usually a new pending row, sometimes a posted row, and
// now and then a row that vanishes. post posts a row as the provider does.
func live(books []*Book, r *rand.Rand, now time.Time, post func(*Book, string) Row) (Turn, bool) {
	if len(books) == 0 {
		return Turn{}, false
	}
	b := books[r.IntN(len(books))]
	rows := b.Rows()
	pending := slices.DeleteFunc(slices.Clone(rows), func(x Row) bool { return !x.Pending })
	switch dice := r.IntN(10); {
	case len(pending) > 0 && dice < 4 || len(pending) > 12:
		return Turn{b, "posted", post(b, pending[r.IntN(len(pending))].ID)}, true
	case len(pending) > 0 && dice == 4:
		gone := pending[r.IntN(len(pending))]
		b.Remove(gone.ID)
		return Turn{b, "removed", gone}, true
	}
	usual := slices.DeleteFunc(rows, func(x Row) bool {
		return x.Pending || x.Amount.IsNeg() ||
			x.Date.Before(now.AddDate(0, -6, 0))
	})
	if len(usual) == 0 {
		return Turn{}, false
	}
	again := usual[r.IntN(len(usual))]
	again.ID, again.PendingID, again.Pending = "", "", true
	again.Date, again.Authorized, again.Time = now.UTC().Truncate(24*time.Hour), time.Time{}, time.Time{}
	return Turn{b, "added", b.Add(again)}, true
}

// Live makes an event at one of the linked items; it returns false if there is none.
func (p *Plaid) Live(r *rand.Rand) (Turn, bool) {
	p.mu.Lock()
	var books []*Book
	for _, it := range p.order {
		if !it.removed {
			books = append(books, it.book)
		}
	}
	p.mu.Unlock()
	return live(books, r, p.Now(), func(b *Book, id string) Row { return b.Post(id, nil) })
}

// Live makes an event at one of the enrolments; it returns false if there is none. With Teller, a
// row that is posted keeps its id.
func (t *Teller) Live(r *rand.Rand) (Turn, bool) {
	t.mu.Lock()
	var books []*Book
	for _, e := range t.enrolments {
		if !e.removed {
			books = append(books, e.book)
		}
	}
	t.mu.Unlock()
	return live(books, r, t.Now(), func(b *Book, id string) Row {
		return b.Change(id,
			func(r *Row) { r.Pending = false })
	})
}

// Live makes an event at one of the banks; it returns false if there is none. A row that is posted
// always gets another id, and nothing refers to the old one.
func (s *SimpleFIN) Live(r *rand.Rand) (Turn, bool) {
	return live(s.AllBooks(), r, s.Now(), func(b *Book, id string) Row {
		return b.Post(id, func(r *Row) { r.PendingID = "" })
	})
}

// Live makes an event at one of the banks; it returns false if there is none. A row that is posted
// always gets another reference, and nothing refers to the old one.
func (s *EnableBanking) Live(r *rand.Rand) (Turn, bool) {
	return live(s.AllBooks(), r, s.Now(), func(b *Book, id string) Row {
		return b.Post(id, func(r *Row) { r.PendingID = "" })
	})
}

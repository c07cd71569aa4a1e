package recurring

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"coffer/internal/platform/id"
)

// A Payment is a posted transaction as the detection of recurring payments sees it. Excluded
// transactions and parts of splits are left out. Transfers between the household's accounts are
// included: a card's bill or a standing order changes future balances, whether or not somebody
// confirmed the link.
type Payment struct {
	ID    id.ID
	Day   int    // days since 1970
	Cents int64  // without a sign, because the group has the direction
	Form  id.Key // the form of its wording
	Party id.Key // the key of its counterparty, or else of its payee
}

// A Group identifies the payments that can be in one series: those of one account, currency and
// direction.
type Group struct {
	Account  id.ID
	Currency string
	Out      bool // money out
}

// A Series is a list of payments that come back regularly, oldest first. All are to or from one
// party.
type Series struct {
	Group
	Cadence string
	Rows    []Payment
	Party   id.Key
	Seed    *id.ID // for a series that a person taught, the transaction that the person named

	cadence *cadence
}

// A Seed is what a person taught: the payment of this transaction comes back with that cadence.
type Seed struct {
	Transaction id.ID
	Cadence     string
}

// Find returns the series among a group's payments. Their order does not matter, and neither
// do their ids, except to distinguish equal ones.
func (g Group) Find(rows []Payment, seeds []Seed) []Series {
	return g.detector().find(rows, seeds)
}

func (g Group) detector() detector { return detector{Group: g, chains: true, fewest: 3, alike: 115} }

// A detector finds series. Its settings are always the same; tests change them to show the effect
// of each.
type detector struct {
	Group
	chains bool  // look for chains of equal amounts
	fewest int   // the smallest number of payments in a series
	alike  int64 // the largest payment may be this percentage of the smallest
}

func (d detector) find(rows []Payment, seeds []Seed) []Series {
	var found []Series
	for _, form := range byForms(rows) {
		slices.SortFunc(form, byDay)
		found = append(found, d.ofForm(form, seeds)...)
	}
	return join(found)
}

// byForms divides payments by their form and sorts the groups by form. A sweep of all accounts
// divides every transaction. Counting each form's payments and putting them in place is
// several times faster than sorting them.
func byForms(rows []Payment) [][]Payment {
	counts := map[id.Key]int{}
	for i := range rows {
		counts[rows[i].Form]++
	}
	forms := slices.Sorted(maps.Keys(counts))
	out, places := make([][]Payment, len(forms)), make(map[id.Key]int, len(forms))
	all := make([]Payment, len(rows))
	for i, f := range forms {
		n := counts[f]
		places[f], out[i], all = i, all[:0:n], all[n:]
	}
	for i := range rows {
		at := places[rows[i].Form]
		out[at] = append(out[at], rows[i])
	}
	return out
}

// byForm and byDay stop at the first difference. A sweep of all accounts sorts every transaction,
// and cmp.Or would compare all fields each time.
func byForm(a, b Payment) int {
	if a.Form != b.Form {
		return cmp.Compare(a.Form, b.Form)
	}
	return byDay(a, b)
}

func byDay(a, b Payment) int {
	if a.Day != b.Day {
		return cmp.Compare(a.Day, b.Day)
	}
	if a.Cents != b.Cents {
		return cmp.Compare(a.Cents, b.Cents)
	}
	return bytes.Compare(a.ID[:], b.ID[:])
}

// ofForm returns the series of one form. First come the series that people taught. Then all other
// payments are one series if they come back regularly; otherwise ofForm looks for chains.
func (d detector) ofForm(rows []Payment, seeds []Seed) []Series {
	var out []Series
	for _, s := range seeds {
		at := slices.IndexFunc(rows, func(r Payment) bool { return r.ID == s.Transaction })
		if at < 0 {
			continue
		}
		c := cadenceNamed(s.Cadence)
		taught := newSet(rows[at])
		chain := c.grow(rows[at:at+1:at+1], rows, taught, nearest)
		one := d.series(c, chain)
		one.Seed = &s.Transaction
		out = append(out, one)
		rows = taught.without(rows)
	}
	if c := d.regular(rows); c != nil {
		return append(out, d.series(c, slices.Clone(rows)))
	}
	if !d.chains {
		return out
	}
	return append(out, d.byAmount(rows)...)
}

func (d detector) series(c *cadence, rows []Payment) Series {
	return Series{Group: d.Group, Cadence: c.name, cadence: c, Rows: rows, Party: party(rows)}
}

// party returns the party of most payments. If several parties have equally many, it returns the
// one with the smallest key.
func party(rows []Payment) id.Key {
	counts := map[id.Key]int{}
	for _, r := range rows {
		counts[r.Party]++
	}
	best := rows[0].Party
	for p, n := range counts {
		if n > counts[best] || n == counts[best] && p < best {
			best = p
		}
	}
	return best
}

// regular returns the cadence of payments that all together come back regularly, or nil. The fewer
// payments there are, the smaller the differences may be.
func (d detector) regular(rows []Payment) *cadence {
	n := len(rows)
	if n < d.fewest {
		return nil
	}
	c, fit := bestCadence(rows)
	smallest, largest := rows[0].Cents, rows[0].Cents
	for _, r := range rows {
		smallest, largest = min(smallest, r.Cents), max(largest, r.Cents)
	}
	// The largest amount must be at most this percentage of the smallest.
	within := func(limit int64) bool { return largest*100 <= smallest*limit }
	var ok bool
	switch {
	case n >= 6:
		limit := int64(400)
		if !c.long() {
			limit = 125
		}
		ok = fit*10 >= 8*(n-1) && within(limit)
	case n >= 4:
		limit := int64(200)
		if !c.long() {
			limit = 105
		}
		ok = fit == n-1 && within(limit)
	default:
		ok = fit == n-1 && c.long() && within(d.alike)
	}
	if !ok {
		return nil
	}
	return c
}

// fewestOfChain is the smallest number of payments in a chain. A chain consists of payments of one
// amount that come back regularly among others.
const fewestOfChain = 4

// byAmount returns the chains of equal amounts. Each chain then grows by earlier and later payments
// with another price. This finds several contracts with the same wording, and contracts among
// purchases.
func (d detector) byAmount(rows []Payment) []Series {
	byCents := map[int64][]Payment{}
	for _, r := range rows {
		byCents[r.Cents] = append(byCents[r.Cents], r)
	}
	type chain struct {
		cadence *cadence
		rows    []Payment
	}
	judge := func(rows []Payment) *chain {
		if len(rows) < fewestOfChain {
			return nil
		}
		if c, fit := bestCadence(rows); fit*10 >= 9*(len(rows)-1) {
			return &chain{c, rows}
		}
		return nil
	}
	var all []*chain
	for _, equal := range byCents {
		if c := judge(equal); c != nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *chain) int {
		return cmp.Or(cmp.Compare(len(b.rows), len(a.rows)), byDay(a.rows[0], b.rows[0]))
	})
	used := newSet()
	var out []Series
	for _, c := range all {
		// A longer chain may have taken some of these payments.
		if c = judge(used.without(c.rows)); c == nil {
			continue
		}
		for _, r := range c.rows {
			used[r.ID] = true
		}
		out = append(out, d.series(c.cadence, c.cadence.grow(slices.Clone(c.rows), rows, used, theOne)))
	}
	return out
}

// grow adds payments at both ends of a chain, as long as there is one at cadence distance whose
// amount differs by at most 30 percent. If there are several, pick chooses one or none.
func (c *cadence) grow(chain, rows []Payment, used set, pick func(c *cadence, end Payment, found []Payment) int,
) []Payment {
	for _, on := range []bool{true, false} {
		for {
			end := chain[0]
			if on {
				end = chain[len(chain)-1]
			}
			from, to := end.Day-c.max, end.Day-c.min
			if on {
				from, to = end.Day+c.min, end.Day+c.max
			}
			at, _ := slices.BinarySearchFunc(rows, from, func(r Payment, day int) int { return r.Day - day })
			var found []Payment
			for ; at < len(rows) && rows[at].Day <= to; at++ {
				if similar(rows[at].Cents, end.Cents) && !used[rows[at].ID] {
					found = append(found, rows[at])
				}
			}
			one := pick(c, end, found)
			if one < 0 {
				break
			}
			used[found[one].ID] = true
			if on {
				chain = append(chain, found[one])
			} else {
				chain = slices.Insert(chain, 0, found[one])
			}
		}
	}
	return chain
}

// similar reports whether one price may be the successor of the other: they differ by at most 30
// percent.
func similar(a, b int64) bool { return 7*b <= 10*a && 10*a <= 13*b }

// theOne picks the only payment with the same amount as the end of the chain, or else the only
// payment.
func theOne(_ *cadence, end Payment, found []Payment) int {
	one, equal := -1, -1
	for i, r := range found {
		if r.Cents != end.Cents {
			continue
		}
		if equal >= 0 {
			return -1
		}
		equal = i
	}
	if equal < 0 && len(found) == 1 {
		one = 0
	}
	return max(one, equal)
}

// nearest picks the payment with the nearest amount, and among those the one nearest to the
// expected day. It always picks one, because a person said that the payment comes back.
func nearest(c *cadence, end Payment, found []Payment) int {
	best := -1
	late := func(r Payment) int { return distance(distance(r.Day, end.Day), c.days) }
	for i, r := range found {
		if best < 0 || cmp.Or(cmp.Compare(off(r, end), off(found[best], end)), late(r)-late(found[best])) < 0 {
			best = i
		}
	}
	return best
}

// join combines series of the same party and cadence if one begins when the next payment of the
// other is expected. This happens when the bank's wording changes.
func join(found []Series) []Series {
	slices.SortFunc(found, func(a, b Series) int {
		x, y := a.Rows[0], b.Rows[0]
		return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Cents, y.Cents), byForm(x, y))
	})
	var out []Series
	for _, s := range found {
		first, best := s.Rows[0], -1
		for i, o := range out {
			last := o.Rows[len(o.Rows)-1]
			if o.Party != s.Party || o.Cadence != s.Cadence || last.Form == first.Form ||
				o.Seed != nil && s.Seed != nil || !s.cadence.fits(first.Day-last.Day) ||
				!similar(first.Cents, last.Cents) {
				continue
			}
			if best < 0 || off(last, first) < off(out[best].Rows[len(out[best].Rows)-1], first) {
				best = i
			}
		}
		if best < 0 {
			out = append(out, s)
			continue
		}
		out[best].Rows = append(out[best].Rows, s.Rows...)
		if s.Seed != nil {
			out[best].Seed = s.Seed
		}
	}
	return out
}

// off returns the difference of two amounts.
func off(a, b Payment) int64 { return max(a.Cents-b.Cents, b.Cents-a.Cents) }

// A set holds the ids of payments.
type set map[id.ID]bool

func newSet(rows ...Payment) set {
	s := set{}
	for _, r := range rows {
		s[r.ID] = true
	}
	return s
}

// without returns the payments that are not in the set.
func (s set) without(rows []Payment) []Payment {
	if len(s) == 0 {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Payment) bool { return s[r.ID] })
}

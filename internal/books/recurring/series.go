package recurring

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"coffer/internal/platform/id"
)

// A Payment is a posted transaction as the detection of recurring payments sees it. Excluded
// transactions and parts of splits are not among them. Transfers between the household's accounts
// are: a card's bill or a standing order moves the balances ahead, whether or not somebody
// confirmed the link.
type Payment struct {
	ID    id.ID
	Day   int    // since 1970
	Cents int64  // without its sign: the group has that
	Form  id.Key // of its wording
	Party id.Key // its counterparty, else its payee
}

// A Group is the payments that can be one series: those of an account, a currency and a direction.
type Group struct {
	Account  id.ID
	Currency string
	Out      bool // money out
}

// A Series is payments that come back regularly, oldest first. All are of one party.
type Series struct {
	Group
	Cadence string
	Rows    []Payment
	Party   id.Key
	Seed    *id.ID // the transaction that a person named, if somebody taught this series

	cadence *cadence
}

// A Seed is what a person taught: this payment comes back with that cadence.
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

// A detector finds series. Its settings are those of the contract; tests turn them to show what
// each is good for.
type detector struct {
	Group
	chains bool  // look for chains of one amount
	fewest int   // payments that make a series
	alike  int64 // percent of the smallest of them that the largest may be
}

func (d detector) find(rows []Payment, seeds []Seed) []Series {
	var found []Series
	for _, form := range byForms(rows) {
		slices.SortFunc(form, byDay)
		found = append(found, d.ofForm(form, seeds)...)
	}
	return join(found)
}

// byForms divides payments by their form, in the order of forms. A sweep of all accounts divides
// every transaction: to count how many each form has and to put them in place takes a fraction of
// the time of sorting them.
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

// byForm and byDay stop at the first difference: a sweep of all accounts sorts every transaction,
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

// ofForm returns the series of one form: those that were taught first, then all that is left as one
// series, else its chains.
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

// party returns the party of most payments; of several, the one with the smallest key.
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

// regular returns the cadence of payments that as a whole come back regularly, or nil. The fewer
// there are, the more alike they must be.
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
	// largest <= limit percent of smallest
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

// A chain is payments of one amount that come back regularly among others.
const fewestOfChain = 4

// byAmount returns the chains of equal amounts, each grown by the payments before and after it
// whose price was another one. This finds several contracts that have the same wording, among
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
		// A longer one may have grown into this one.
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

// grow adds payments at both ends of a chain, as long as one is there at cadence distance and
// within 30 percent. pick chooses among several, or gives up.
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

// similar reports whether a price may have become another: they are within 30 percent.
func similar(a, b int64) bool { return 7*b <= 10*a && 10*a <= 13*b }

// theOne picks the only payment, or the only one of the same amount.
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

// nearest picks the payment with the nearest amount, and of those the one nearest to the day that
// the cadence expects: a person said that there is one.
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

// join makes one series of those of one party and cadence of which one begins when the other should
// have gone on: the wording changed.
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

// A set is payments, by id.
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

package finding

import (
	"bytes"
	"cmp"
	"slices"

	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
)

// Thresholds of findings, in cents of their currency and in days.
const (
	duplicateLeast = 10_00 // smaller equal charges are normal, such as two coffees
	duplicateDays  = 3
	refundDays     = 60
	unusualTimes   = 3 // times the 90th percentile of that payee's charges
	unusualMore    = 20_00
	unusualCharges = 6
	yearDays       = 365
	knownDays      = 90 // days of books that are required before a payee can be called new
)

// A charge is a posted transaction as the search for findings sees it.
type charge struct {
	ID       id.ID
	Account  id.ID
	Currency string
	Day      int   // days since 1970
	Cents    int64 // positive is money out
	Party    id.Key
}

// A sight is something that the search found in some transactions.
type sight struct {
	kind   FindingKind
	reason FindingReason
	rows   []charge // the charge that the finding is about comes first
	usual  int64    // the payee's usual charge in cents; 0 if there is none
}

// A search looks for findings among charges. It is pure: it uses no database and no clock.
type search struct {
	from   int // the first day with findings; charges before it are only for comparison
	begins int // the first day of the books
	series func(id.ID) (series id.ID, monthly, known bool)

	// Tests turn these off to show their effect.
	unequal bool // do not prefer an equal purchase
	anyYear bool // ignore other equal charges in the year
	alone   bool // ignore regular payments
}

// find returns findings of those kinds. It sorts rows.
func (s search) find(rows []charge, kinds ...FindingKind) []sight {
	slices.SortFunc(rows, func(a, b charge) int {
		return cmp.Or(cmp.Compare(a.Party, b.Party), cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Day, b.Day),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	large := map[string]int64{}
	if slices.Contains(kinds, unusual) {
		large = s.large(rows)
	}
	var out []sight
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Party == rows[0].Party && rows[n].Currency == rows[0].Currency {
			n++
		}
		group := rows[:n]
		rows = rows[n:]
		for _, k := range kinds {
			switch k {
			case duplicate:
				out = append(out, s.duplicates(group)...)
			case refund:
				out = append(out, s.refunds(group)...)
			case unusual:
				out = append(out, s.unusual(group, large[group[0].Currency])...)
			}
		}
	}
	return out
}

// duplicates returns pairs of equal charges within a few days. Either the payee has no other equal
// charge within a year of them, or both belong to one recurring payment.
func (s search) duplicates(group []charge) []sight {
	type key struct {
		account id.ID
		cents   int64
	}
	equal := map[key][]charge{}
	for _, c := range group {
		if c.Cents >= duplicateLeast {
			k := key{c.Account, c.Cents}
			equal[k] = append(equal[k], c)
		}
	}
	var out []sight
	for _, rows := range equal {
		for i := 1; i < len(rows); i++ {
			a, b := rows[i-1], rows[i]
			if b.Day < s.from || b.Day-a.Day > duplicateDays {
				continue
			}
			others := (i > 1 && a.Day-rows[i-2].Day <= yearDays) || (i+1 < len(rows) && rows[i+1].Day-b.Day <= yearDays)
			switch {
			case !others || s.anyYear:
				out = append(out, sight{duplicate, sameAmount, []charge{b, a}, 0})
			case s.doubled(a, b) || !s.alone && comesBack(rows, i):
				out = append(out, sight{duplicate, inSeries, []charge{b, a}, 0})
				i++ // the next pair would consist of this charge and a third one
			}
		}
	}
	return out
}

// doubled reports whether two equal charges belong to one payment of a series: both are in the same
// series, or one is in a monthly or less frequent series and the other in none. Charges in two
// series belong to two contracts.
func (s search) doubled(a, b charge) bool {
	one, monthly, known := s.series(a.ID)
	two, also, other := s.series(b.ID)
	if known && other {
		return one == two
	}
	return monthly || also
}

// comesBack reports whether the equal charges in the year before and after a pair come back monthly
// or less often. A double charge can keep the detection from finding a short series.
func comesBack(rows []charge, pair int) bool {
	for i := 1; i < len(rows); i++ {
		near := rows[i].Day >= rows[pair-1].Day-yearDays && rows[i-1].Day <= rows[pair].Day+yearDays
		if i == pair || !near {
			continue
		}
		gap := rows[i].Day - rows[i-1].Day
		if !recurring.Spaced(gap) {
			return false
		}
	}
	return true
}

// refunds returns money that a payee gave back, with its purchase: the newest purchase of the same
// amount, or else the newest one that is large enough.
func (s search) refunds(group []charge) []sight {
	var out []sight
	left := map[id.ID]int64{} // of purchases with a refund, the amount that was not given back yet
	for i, c := range group {
		if c.Cents >= 0 {
			continue
		}
		best := -1
		for j := i - 1; j >= 0 && c.Day-group[j].Day <= refundDays; j-- {
			p := group[j]
			remains, some := left[p.ID]
			if !some {
				remains = p.Cents
			}
			if p.Account != c.Account || p.Cents <= 0 || remains < -c.Cents {
				continue
			}
			if remains == -c.Cents && !some && !s.unequal {
				best = j
				break
			}
			if best < 0 {
				best = j
			}
		}
		if best < 0 {
			continue
		}
		p := group[best]
		if remains, some := left[p.ID]; some {
			left[p.ID] = remains + c.Cents
		} else {
			left[p.ID] = p.Cents + c.Cents
		}
		if _, _, known := s.series(c.ID); known || c.Day < s.from {
			continue // wages and benefits come back regularly
		}
		reason := inPart
		if p.Cents == -c.Cents {
			reason = inFull
		}
		out = append(out, sight{refund, reason, []charge{c, p}, 0})
	}
	return out
}

// unusual returns charges that are much larger than the payee's usual charges, and large first
// charges.
func (s search) unusual(group []charge, large int64) []sight {
	var out []sight
	first := 0 // index of the first charge in the year before the current charge
	var before int
	for i, c := range group {
		if c.Cents <= 0 {
			continue
		}
		before++
		for group[first].Day < c.Day-yearDays {
			first++
		}
		if c.Day < s.from {
			continue
		}
		if before == 1 {
			if c.Cents >= large && large > 0 && c.Day-s.begins >= knownDays {
				out = append(out, sight{unusual, newPayee, []charge{c}, 0})
			}
			continue
		}
		if c.Cents <= unusualMore { // it cannot exceed any usual charge by enough
			continue
		}
		n, below := 0, 0
		for _, p := range group[first:i] {
			if p.Cents > 0 {
				n++
				if p.Cents*unusualTimes < c.Cents {
					below++
				}
			}
		}
		if n < unusualCharges || below < rank(n, 90) {
			continue
		}
		if usual := percentile(group[first:i], 90); c.Cents-usual >= unusualMore {
			out = append(out, sight{unusual, muchMore, []charge{c}, usual})
		}
	}
	return out
}

// large returns, for each currency, the 98th percentile of the household's charges.
func (s search) large(rows []charge) map[string]int64 {
	all := map[string][]int64{}
	for _, c := range rows {
		if c.Cents > 0 {
			all[c.Currency] = append(all[c.Currency], c.Cents)
		}
	}
	out := map[string]int64{}
	for currency, cents := range all {
		slices.Sort(cents)
		out[currency] = cents[rank(len(cents), 98)-1]
	}
	return out
}

// rank returns how many of n values are at or below the percentile.
func rank(n, percent int) int { return (n*percent + 99) / 100 }

// percentile returns the smallest charge that is at least as large as that percentage of the
// charges.
func percentile(rows []charge, percent int) int64 {
	var cents []int64
	for _, c := range rows {
		if c.Cents > 0 {
			cents = append(cents, c.Cents)
		}
	}
	slices.Sort(cents)
	return cents[rank(len(cents), percent)-1]
}

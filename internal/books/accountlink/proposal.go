package accountlink

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A proposal is two accounts that should be linked.
type proposal struct {
	kind            string
	primary, mirror int
	pairs           int
}

// mirrorLinks returns pairs of accounts in which one account seems to repeat the other. The account
// with fewer rows is the mirror.
func (m *matcher) mirrorLinks() []proposal {
	var out []proposal
	for at, n := range m.mirrors {
		if n < mirrorPairs {
			continue
		}
		p := proposal{Mirror, at[0], at[1], n}
		if m.rows(at[0]) < m.rows(at[1]) {
			p.primary, p.mirror = at[1], at[0]
		}
		if n*100 >= mirrorShare*m.common(at, p.mirror) {
			out = append(out, p)
		}
	}
	return sorted(out)
}

func (m *matcher) rows(account int) (n int) {
	for _, k := range m.days[account] {
		n += k
	}
	return n
}

// common returns the number of rows that one of two accounts has in the days that both cover: from
// the later first row to the earlier last row.
func (m *matcher) common(at accounts, of int) (n int) {
	from, to := math.MinInt, math.MaxInt
	for _, account := range at {
		days := slices.Sorted(maps.Keys(m.days[account]))
		from, to = max(from, days[0]), min(to, days[len(days)-1])
	}
	for d, k := range m.days[of] {
		if from <= d && d <= to {
			n += k
		}
	}
	return n
}

// transferLinks returns the accounts between which money seems to move.
func (m *matcher) transferLinks() []proposal {
	var out []proposal
	for at, n := range m.moves {
		if n >= transferPairs {
			out = append(out, proposal{Transfer, at[0], at[1], n})
		}
	}
	return sorted(out)
}

func sorted(list []proposal) []proposal {
	slices.SortFunc(list, func(x, y proposal) int {
		return cmp.Or(cmp.Compare(y.pairs, x.pairs), cmp.Compare(x.primary, y.primary), cmp.Compare(x.mirror, y.mirror))
	})
	return list
}

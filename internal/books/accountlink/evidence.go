package accountlink

// The bar above which coffer confirms transfers by itself, and the one below which it asks again.
const (
	surePairs   = 10 // fewer could be chance
	sureShare   = 98 // percent of the candidates that agree
	doubtsShare = 80 // percent of the candidates that match
)

// evidence counts the transactions that speak for or against a link of two accounts, in the days
// that a sweep looks at.
type evidence struct {
	candidates int // they could be one side of a pair
	matched    int // candidates with exactly one possible other side
	agreeing   int // matched ones on the same day as their other side, with no category that contradicts
}

// sure reports whether nothing speaks against a transfer.
func (e evidence) sure() bool {
	return e.agreeing >= 2*surePairs && e.agreeing*100 >= sureShare*e.candidates
}

// doubtful reports whether a person must check a confirmed transfer, because too much speaks
// against it.
func (e evidence) doubtful() bool {
	return e.candidates >= 2*surePairs && e.matched*100 < doubtsShare*e.candidates
}

// transfers reports whether two accounts have a transfer link that nobody rejected.
func (m *matcher) transfers(a, b int) bool {
	e := m.edges[between(a, b)]
	return e != nil && e.live && e.kind == Transfer
}

func (m *matcher) of(a, b int) *evidence {
	at := between(a, b)
	if m.seen[at] == nil {
		m.seen[at] = &evidence{}
	}
	return m.seen[at]
}

// weigh adds the rows of one amount to the evidence of transfer links. A candidate is a row with an
// opposite one in the other account, near enough for a pair. It matches if neither of the two has
// another candidate in the whole household, and nobody said that they do not belong together. They
// agree if they are of one day and no category says what else the money was for.
func (m *matcher) weigh(out, in []row) {
	m.candidates(out, in)
	m.candidates(in, out)
	m.alone(out, in, m.open, func(a, b row) {
		if !m.transfers(a.account, b.account) || m.bars(a, b) {
			return
		}
		m.of(a.account, b.account).matched += 2
		if a.day == b.day && !a.other && !b.other {
			m.of(a.account, b.account).agreeing += 2
		}
	})
}

// candidates counts, for each link, the rows that have an opposite one near enough.
func (m *matcher) candidates(rows, others []row) {
	near := map[int]int{} // the others around a row, by account
	first, next := 0, 0
	for _, r := range rows {
		for ; next < len(others) && others[next].day <= r.day+transferDays; next++ {
			near[others[next].account]++
		}
		for ; first < next && others[first].day < r.day-transferDays; first++ {
			near[others[first].account]--
		}
		for account, n := range near {
			if n > 0 && account != r.account && m.transfers(r.account, account) {
				m.of(r.account, account).candidates++
			}
		}
	}
}

// found returns the evidence of every link that has some. For a mirror, it counts rows of the
// mirror account in the days that both accounts have.
func (m *matcher) found() map[*edge]evidence {
	out := map[*edge]evidence{}
	for at, e := range m.seen {
		if e.candidates > 0 {
			out[m.edges[at]] = *e
		}
	}
	for _, p := range m.pairs {
		if p.edge.kind == Mirror {
			e := out[p.edge]
			e.matched++
			if p.days[0] == p.days[1] {
				e.agreeing++
			}
			out[p.edge] = e
		}
	}
	for edge, e := range out {
		if edge.kind == Mirror {
			e.matched += len(edge.accepted) / 2
			e.candidates = max(e.matched, m.common(between(edge.primary, edge.mirror), edge.mirror))
			out[edge] = e
		}
	}
	return out
}

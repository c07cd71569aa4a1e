package accountlink

// The thresholds for confirming a transfer link automatically, and for asking a person again.
const (
	surePairs   = 10 // fewer candidates could be chance
	sureShare   = 98 // percent of the candidates that agree
	doubtsShare = 80 // percent of the candidates that match
)

// evidence counts the transactions that support a link of two accounts, in the days that a sweep
// reads.
type evidence struct {
	candidates int // transactions that could be one side of a pair
	matched    int // candidates with exactly one possible other side
	agreeing   int // matched transactions on the same day as their other side, without a category that contradicts
}

// sure reports whether all evidence supports a transfer.
func (e evidence) sure() bool {
	return e.agreeing >= 2*surePairs && e.agreeing*100 >= sureShare*e.candidates
}

// doubtful reports whether too much evidence is against a confirmed transfer, so that a person must
// check it.
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
// opposite row in the other account, close enough in days for a pair. It matches if neither of the
// two rows has another candidate in the whole household, and nobody rejected the pair. Equal
// transfers on the same day match too, if nobody rejected their pairs. Rows that match also agree
// if they are on the same day and neither has a category that gives the money another purpose.
// Equal transfers never agree.
func (m *matcher) weigh(out, in []row) {
	m.candidates(out, in)
	m.candidates(in, out)
	m.alone(out, in, func(a, b row) bool { return m.open(a.account, b.account) }, func(a, b row) {
		if !m.transfers(a.account, b.account) || m.bars(a, b) {
			return
		}
		m.of(a.account, b.account).matched += 2
		if a.day == b.day && !a.other && !b.other {
			m.of(a.account, b.account).agreeing += 2
		}
	})
	m.level(out, in, m.open, func(a, b []row) {
		for i := range a {
			if m.transfers(a[i].account, b[i].account) && !m.bars(a[i], b[i]) {
				m.of(a[i].account, b[i].account).matched += 2
			}
		}
	})
}

// candidates counts, for each link, the rows that have an opposite row close enough in days.
func (m *matcher) candidates(rows, others []row) {
	near := map[int]int{} // by account, the number of rows close to the current one
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

// found returns the evidence of every link that has some. For a mirror link, it counts the rows of
// the mirror account in the days that both accounts have.
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

package accountlink

import (
	"cmp"
	"slices"

	"coffer/internal/platform/id"
)

// The thresholds of the matcher.
const (
	mirrorDays    = 3 // most days between the two sides of a mirrored row
	mirrorPairs   = 5 // fewest pairs for a suggested link
	mirrorShare   = 80
	transferDays  = 5
	transferPairs = 3
)

// The kinds of links.
const (
	Mirror   = "mirror"
	Transfer = "transfer"
)

// A row is a transaction as the matcher sees it.
type row struct {
	id      id.ID
	account int // the number of the account in this sweep
	day     int // days since 1970
	cents   int64
	wording int32
	other   bool // its category says that the money had another purpose
}

// An edge is a link of two accounts: one in use, or one that was rejected or deleted.
type edge struct {
	link     id.ID
	kind     string
	live     bool
	counts   bool // it is confirmed, so its pairs change totals
	primary  int  // the account whose rows count
	mirror   int
	accepted map[id.ID]id.ID // pairs that the matcher must keep, by each of their two rows
}

// stands reports whether the row is in a pair of this link that the matcher must keep.
func (e *edge) stands(r row) bool {
	_, ok := e.accepted[r.id]
	return ok
}

// A pair is two rows that belong together, that of the primary account first.
type pair struct {
	edge            *edge
	primary, mirror id.ID
	days            [2]int // the days of the two rows
	doubtful        bool   // a person must check the pair before it counts
}

// accounts names two accounts, the lower number first.
type accounts [2]int

func between(a, b int) accounts { return accounts{min(a, b), max(a, b)} }

// A matcher searches the rows of a household, one amount at a time, for rows that belong together
// and accounts that should be linked. It is a pure function: its result does not depend on the
// order in which rows arrived.
type matcher struct {
	edges  map[accounts]*edge
	barred map[[2]id.ID]bool // rejected pairs

	pairs   []pair
	mirrors map[accounts]int // possible pairs of accounts without a link
	moves   map[accounts]int
	days    map[int]map[int]int    // rows by account and day
	seen    map[accounts]*evidence // evidence of transfer links
	scanned int64
}

func newMatcher() *matcher {
	return &matcher{
		edges: map[accounts]*edge{}, barred: map[[2]id.ID]bool{}, mirrors: map[accounts]int{},
		moves: map[accounts]int{}, days: map[int]map[int]int{}, seen: map[accounts]*evidence{},
	}
}

// again returns a new matcher with the same links, but without rows and pairs.
func (m *matcher) again() *matcher {
	next := newMatcher()
	next.edges, next.barred = m.edges, m.barred
	return next
}

// group handles all rows of one amount in one currency, money in and out, ordered by day and id.
func (m *matcher) group(rows []row) {
	m.scanned += int64(len(rows))
	sides := map[int]*[2][]row{} // by account: money out, money in
	for _, r := range rows {
		if m.days[r.account] == nil {
			m.days[r.account] = map[int]int{}
		}
		m.days[r.account][r.day]++
		if sides[r.account] == nil {
			sides[r.account] = new([2][]row)
		}
		sides[r.account][sign(r)] = append(sides[r.account][sign(r)], r)
	}
	if len(sides) < 2 {
		return
	}
	names := make([]int, 0, len(sides))
	for a := range sides {
		names = append(names, a)
	}
	slices.Sort(names)
	copies := map[id.ID]bool{} // rows that repeat another row and so cannot be part of a transfer
	for i, a := range names {
		for _, b := range names[i+1:] {
			for side := range 2 {
				m.mirrored(sides[a][side], sides[b][side], copies)
			}
		}
	}
	var out, in []row
	for _, r := range rows {
		switch {
		case copies[r.id]:
		case r.cents > 0:
			out = append(out, r)
		default:
			in = append(in, r)
		}
	}
	m.moved(out, in)
}

func sign(r row) int {
	if r.cents > 0 {
		return 0
	}
	return 1
}

// mirrored handles the rows of one amount in two accounts.
func (m *matcher) mirrored(a, b []row, copies map[id.ID]bool) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	at := between(a[0].account, b[0].account)
	e := m.edges[at]
	switch {
	case e == nil:
		m.mirrors[at] += inOrder(a, b)
	case e.live && e.kind == Mirror:
		if e.primary != a[0].account {
			a, b = b, a
		}
		for _, r := range b {
			if e.stands(r) {
				copies[r.id] = true
			}
		}
		a, b = slices.DeleteFunc(slices.Clone(a), e.stands), slices.DeleteFunc(slices.Clone(b), e.stands)
		for _, p := range m.align(e, a, b) {
			copies[p.mirror] = true
			m.pairs = append(m.pairs, p)
		}
	}
}

// inOrder returns the largest number of pairs that two lists can form. It pairs each row with the
// earliest row that is close enough.
func inOrder(a, b []row) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch d := a[0].day - b[0].day; {
		case d > mirrorDays:
			b = b[1:]
		case d < -mirrorDays:
			a = a[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// align pairs the rows of one amount: first those with the same wording, then the rest. It finds as
// many pairs as possible, and among the ways to do so the one with the fewest days between the
// rows.
func (m *matcher) align(e *edge, a, b []row) []pair {
	var out []pair
	left := map[id.ID]bool{}
	take := func(a, b []row) {
		for _, p := range m.nearest(e, a, b) {
			out = append(out, p)
			left[p.primary], left[p.mirror] = true, true
		}
	}
	paired := func(r row) bool { return left[r.id] }
	if len(a)+len(b) > 2 {
		of := func(list []row, wording int32) (some []row) {
			for _, r := range list {
				if r.wording == wording {
					some = append(some, r)
				}
			}
			return some
		}
		seen := map[int32]bool{}
		for _, r := range a {
			if !seen[r.wording] {
				seen[r.wording] = true
				take(of(a, r.wording), of(b, r.wording))
			}
		}
	}
	take(slices.DeleteFunc(slices.Clone(a), paired), slices.DeleteFunc(slices.Clone(b), paired))
	return out
}

// nearest splits two lists into pieces that are too far apart for pairs across them, and pairs each
// piece.
func (m *matcher) nearest(e *edge, a, b []row) []pair {
	var out []pair
	for len(a) > 0 && len(b) > 0 {
		i, j, last := 0, 0, min(a[0].day, b[0].day)
		for near := true; near; {
			switch {
			case i < len(a) && a[i].day <= last+mirrorDays && (j == len(b) || a[i].day <= b[j].day):
				last = a[i].day
				i++
			case j < len(b) && b[j].day <= last+mirrorDays:
				last = b[j].day
				j++
			default:
				near = false
			}
		}
		out = append(out, m.piece(e, a[:i], b[:j])...)
		a, b = a[i:], b[j:]
	}
	return out
}

// mostCells limits the work on one piece. Only equal amounts on most days for months exceed it.
// Then the lists are cut in order, so that early rows are paired with early rows.
const mostCells = 1 << 20

// piece returns the best way to pair two short lists without pairs that cross. Crossing never
// reduces the days between rows.
func (m *matcher) piece(e *edge, a, b []row) []pair {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	type score struct{ pairs, days int }
	better := func(x, y score) bool { return x.pairs > y.pairs || x.pairs == y.pairs && x.days < y.days }
	if len(a)*len(b) > mostCells {
		size := mostCells / len(a)
		if size == 0 {
			return nil
		}
		return append(m.piece(e, a, b[:size]), m.piece(e, a[min(size, len(a)):], b[size:])...)
	}
	wide := len(b) + 1
	best := make([]score, (len(a)+1)*wide)
	fits := func(i, j int) bool {
		return abs(a[i].day-b[j].day) <= mirrorDays && !m.barred[[2]id.ID{a[i].id, b[j].id}]
	}
	for i := range a {
		for j := range b {
			s := best[i*wide+j+1]
			if t := best[(i+1)*wide+j]; better(t, s) {
				s = t
			}
			if fits(i, j) {
				t := best[i*wide+j]
				if t = (score{t.pairs + 1, t.days + abs(a[i].day-b[j].day)}); better(t, s) {
					s = t
				}
			}
			best[(i+1)*wide+j+1] = s
		}
	}
	var out []pair
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch at := best[i*wide+j]; at {
		case best[(i-1)*wide+j]:
			i--
		case best[i*wide+j-1]:
			j--
		default:
			i, j = i-1, j-1
			out = append(out, pair{edge: e, primary: a[i].id, mirror: b[j].id, days: [2]int{a[i].day, b[j].day}})
		}
	}
	return out
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// moved looks for money that left one account and reached another: rows that are each other's only
// candidate. For pairs, it considers only accounts that are linked as transfers. For new links, it
// considers all accounts of the household. Rows whose category gives the money another purpose come
// last, and their pairs are doubtful. Otherwise a purchase could disappear from totals.
func (m *matcher) moved(out, in []row) {
	if len(out) == 0 || len(in) == 0 {
		return
	}
	m.weigh(out, in)
	stands := func(r row) bool {
		for _, e := range m.edges {
			if e.live && e.kind == Transfer && e.stands(r) {
				return true
			}
		}
		return false
	}
	out, in = without(out, stands), without(in, stands)
	paired := map[id.ID]bool{}
	found := m.linked(without(out, other), without(in, other), paired)
	for _, p := range found {
		m.add(p[0], p[1], m.rival(p[0], p[1], in, paired) || m.rival(p[1], p[0], out, paired))
	}
	taken := func(r row) bool { return paired[r.id] }
	m.level(without(without(out, other), taken), without(without(in, other), taken), m.transfers, func(a, b []row) {
		m.square(a, b, in, out, paired)
	})
	for _, p := range m.linked(without(out, taken), without(in, taken), paired) {
		m.add(p[0], p[1], true)
	}
	move := func(a, b row) {
		if at := between(a.account, b.account); m.edges[at] == nil {
			m.moves[at]++
		}
	}
	m.alone(out, in, func(a, b row) bool { return m.open(a.account, b.account) }, move)
	m.level(out, in, m.open, func(a, b []row) {
		for i := range a {
			move(a[i], b[i])
		}
	})
}

func without(rows []row, is func(row) bool) []row { return slices.DeleteFunc(slices.Clone(rows), is) }

func other(r row) bool { return r.other }

// linked finds the pairs of transfer links, and adds their rows to paired.
func (m *matcher) linked(out, in []row, paired map[id.ID]bool) (found [][2]row) {
	m.alone(out, in, func(a, b row) bool {
		return m.transfers(a.account, b.account) && !m.bars(a, b)
	}, func(a, b row) {
		found = append(found, [2]row{a, b})
		paired[a.id], paired[b.id] = true, true
	})
	return found
}

func (m *matcher) add(a, b row, doubtful bool) {
	e := m.edges[between(a.account, b.account)]
	if e.primary != a.account {
		a, b = b, a
	}
	m.pairs = append(m.pairs, pair{e, a.id, b.id, [2]int{a.day, b.day}, doubtful})
}

// rival reports whether an account without a link to a's account has a row that fits a as well as b
// does. Such a row is at most as many days away, and has the wording of a if b has it.
func (m *matcher) rival(a, b row, others []row, paired map[id.ID]bool) bool {
	days := abs(a.day - b.day)
	from, _ := slices.BinarySearchFunc(others, a.day-days, func(r row, day int) int { return cmp.Compare(r.day, day) })
	for _, r := range others[from:] {
		if r.day > a.day+days {
			break
		}
		if r.account != a.account && !r.other && !paired[r.id] && m.edges[between(a.account, r.account)] == nil &&
			(a.wording != b.wording || r.wording == a.wording) && !m.bars(a, r) {
			return true
		}
	}
	return false
}

// square pairs the rows that level found. The choice of pairs changes no total, so it pairs the
// first with the first and so on. If people rejected one of the possible pairs, or a row has a
// rival, all pairs are doubtful.
func (m *matcher) square(a, b, in, out []row, paired map[id.ID]bool) {
	turn, doubtful := -1, false
	for k := range b {
		fits := true
		for i := range a {
			fits = fits && !m.bars(a[i], b[(i+k)%len(b)])
			doubtful = doubtful || m.rival(a[i], b[(i+k)%len(b)], in, paired) ||
				m.rival(b[(i+k)%len(b)], a[i], out, paired)
		}
		doubtful = doubtful || !fits
		if fits && turn < 0 {
			turn = k
		}
	}
	if turn < 0 {
		return
	}
	for i := range a {
		to := b[(i+turn)%len(b)]
		paired[a[i].id], paired[to.id] = true, true
		m.add(a[i], to, doubtful)
	}
}

// open reports whether money can move between two accounts: they have no link, or one for
// transfers.
func (m *matcher) open(a, b int) bool {
	return m.edges[between(a, b)] == nil || m.transfers(a, b)
}

func (m *matcher) bars(a, b row) bool {
	return m.barred[[2]id.ID{a.id, b.id}] || m.barred[[2]id.ID{b.id, a.id}]
}

// alone finds the rows that are each other's only candidate.
func (m *matcher) alone(out, in []row, may func(a, b row) bool, found func(a, b row)) {
	only := func(r row, others []row, from int) (first int, one int, n int) {
		for from < len(others) && others[from].day < r.day-transferDays {
			from++
		}
		first, one = from, -1
		for i := from; i < len(others) && others[i].day <= r.day+transferDays; i++ {
			if others[i].account == r.account || !may(r, others[i]) {
				continue
			}
			if n++; n > 1 {
				break
			}
			one = i
		}
		return first, one, n
	}
	back := make([]int, len(in)) // for each row of money in, the index of its only candidate, or -1
	at := 0
	for i, r := range in {
		var one, n int
		if at, one, n = only(r, out, at); n != 1 {
			one = -1
		}
		back[i] = one
	}
	at = 0
	used := map[int]bool{}
	for i, r := range out {
		var one, n int
		at, one, n = only(r, in, at)
		if one < 0 || used[one] || n != 1 || back[one] != i {
			continue
		}
		used[one] = true
		found(r, in[one])
	}
}

package account

import (
	"slices"
	"sort"

	"coffer/internal/platform/money"
)

// How many statements the proof looks ahead, and how much confirmation it requires there.
const (
	proofAhead    = 5  // statements that may confirm a level or a shift
	proofSupport  = 2  // how many of them must confirm it; an exact one counts as two
	proofIgnored  = 3  // one in this many statements may be ignored, else the account is open
	proofTiming   = 10 // days within which gaps that cancel, and levels that do not last, are taken for late booking
	proofCancel   = 3  // gaps after the first that together can cancel it
	proofTrailing = 5  // statements at the end that may disagree before the status is withdrawn
)

// Statuses of an interval and of an account.
const (
	proved = "proved"
	gap    = "gap"
	open   = "open"
	none   = "none" // no balance was ever stated
)

// A dayNumber counts the days since 1970-01-01.
type dayNumber int

// A movement is the sum of an account's rows with the same posting day and authorized day. If the
// authorized day is unknown, it equals the posting day.
type movement struct {
	posted, authorized dayNumber
	out                money.Sum // positive is money out
	rows               int64
}

// A stated is a balance that a bank, a statement or a person stated. It is the one that overrides
// the others of its day.
type stated struct {
	day   dayNumber
	asset money.Sum // what the account is worth: debts are negative
	exact bool      // the close of its day, not a moment within it
}

// A verdict is the result of the proof. Its spans are in order and adjacent.
type verdict struct {
	status      string
	opening     *money.Total // before the first row, as an asset; nil if no level is known
	statements  int
	ignored     int
	foreignRows int64 // in a currency other than the account's: never added
	provedFrom  dayNumber
	provedUntil dayNumber // 0 if nothing is proved
	spans       []span
}

// A span lies between two statements. The cause of a gap is after the first statement and not after
// the second.
type span struct {
	from, to   int // indexes of statements
	status     string
	difference money.Total // for a gap. Positive: the books have this much too much money out
}

// prove determines which stated balances the account's rows explain and where they stop doing so.
// From each stated balance and all rows up to its day, it calculates a level: the balance before
// the first row. In correct books every stated balance leads to the same level. A balance from a
// moment within its day may or may not include that day's rows, so it leads to two levels, and one
// of them must be right.
//
// It is a pure function: no database, no clock. The statements are in order of their days.
func prove(c money.Currency, moves []movement, statements []stated) (verdict, error) {
	posted, foreign, err := running(c, moves, func(m movement) dayNumber { return m.posted })
	if err != nil {
		return verdict{}, err
	}
	authorized, _, err := running(c, moves, func(m movement) dayNumber { return m.authorized })
	if err != nil {
		return verdict{}, err
	}
	v := verdict{status: none, statements: len(statements), foreignRows: foreign}
	if len(statements) == 0 {
		return v, nil
	}
	byPosting, err := walk(c, statements, posted, posted)
	if err != nil {
		return verdict{}, err
	}
	// Some banks subtract pending charges from the balance as soon as they are authorized. Even
	// then, their statements close with the posted rows only.
	best, err := walk(c, statements, posted, authorized)
	if err != nil {
		return verdict{}, err
	}
	if byPosting.ignored <= best.ignored {
		best = byPosting
	}
	v.ignored = best.ignored
	if best.opening == nil || best.ignored*proofIgnored > len(statements) {
		v.status = open
		if len(statements) > 1 {
			v.spans = []span{{from: 0, to: len(statements) - 1, status: open}}
		}
		return v, nil
	}
	v.opening = best.opening
	if best.spans, err = withoutTiming(statements, best.spans); err != nil {
		return verdict{}, err
	}
	v.spans = merged(best.spans)
	v.conclude(statements, best.trailing)
	return v, nil
}

// conclude derives the account's status from its spans.
func (v *verdict) conclude(statements []stated, trailing int) {
	v.status = open
	for _, s := range v.spans {
		switch s.status {
		case gap:
			v.status = gap
		case proved:
			if v.provedFrom == 0 {
				v.provedFrom = statements[s.from].day
			}
			v.provedUntil = statements[s.to].day
			if v.status == open && trailing <= proofTrailing {
				v.status = proved
			}
		}
	}
}

// A tally is the sum of all movements up to each day on which there is one.
type tally struct {
	days []dayNumber
	sums []money.Total
}

// running adds up the movements in the account's currency by day. It counts the rows in other
// currencies but does not add them.
func running(c money.Currency, moves []movement, day func(movement) dayNumber) (t tally, foreign int64, err error) {
	moves = slices.Clone(moves)
	slices.SortStableFunc(moves, func(a, b movement) int { return int(day(a) - day(b)) })
	var sum money.Total
	for _, m := range moves {
		out, ours := m.out.Of(c)
		if !ours {
			foreign += m.rows
			continue
		}
		if sum, err = sum.Add(out); err != nil {
			return tally{}, 0, err
		}
		if n := len(t.days); n > 0 && t.days[n-1] == day(m) {
			t.sums[n-1] = sum
		} else {
			t.days, t.sums = append(t.days, day(m)), append(t.sums, sum)
		}
	}
	return t, foreign, nil
}

// upTo returns the sum of all movements up to and including the day.
func (t tally) upTo(d dayNumber) money.Total {
	n := sort.Search(len(t.days), func(i int) bool { return t.days[i] > d })
	if n == 0 {
		return money.Total{}
	}
	return t.sums[n-1]
}

// A reading holds the levels that one statement gives, that is, the balance before the first row.
// An exact statement gives one level; others give two, which may be equal.
type reading struct {
	levels [2]money.Total
	exact  bool
}

func (r reading) says(level money.Total) bool { return r.levels[0] == level || r.levels[1] == level }

// readStatement combines a statement with the rows up to its day. It returns false if the
// statement's currency is not the account's.
func readStatement(c money.Currency, s stated, posted, moment tally) (reading, bool, error) {
	b, ours := s.asset.Of(c)
	if !ours {
		return reading{}, false, nil
	}
	if s.exact {
		level, err := b.Add(posted.upTo(s.day))
		return reading{levels: [2]money.Total{level, level}, exact: true}, true, err
	}
	with, err := b.Add(moment.upTo(s.day))
	if err != nil {
		return reading{}, false, err
	}
	without, err := b.Add(moment.upTo(s.day - 1))
	return reading{levels: [2]money.Total{with, without}}, true, err
}

// support counts the readings that confirm a level; an exact one counts as two.
func support(level money.Total, ahead []reading) int {
	n := 0
	for _, r := range ahead {
		switch {
		case !r.says(level):
		case r.exact:
			n += proofSupport
		default:
			n++
		}
	}
	return n
}

// believed returns the level of this reading that the next readings support best, if they support
// one at all. An exact reading needs no support.
func (r reading) believed(ahead []reading) (money.Total, bool) {
	if r.exact {
		return r.levels[0], true
	}
	first, second := support(r.levels[0], ahead), support(r.levels[1], ahead)
	if second > first {
		return r.levels[1], second >= proofSupport
	}
	return r.levels[0], first >= proofSupport
}

// A stroll is the result of walking along the statements once.
type stroll struct {
	opening  *money.Total
	ignored  int
	trailing int // statements after the last one that agreed
	spans    []span
}

// walk goes through the statements in order and keeps the level that they last agreed on.
func walk(c money.Currency, statements []stated, posted, moment tally) (stroll, error) {
	readings := make([]reading, len(statements))
	for i, s := range statements {
		r, ours, err := readStatement(c, s, posted, moment)
		if err != nil || !ours {
			return stroll{}, err // no level: the account stays open
		}
		readings[i] = r
	}
	var w stroll
	var level money.Total
	last := 0
	for i, r := range readings {
		ahead := readings[i+1 : min(i+1+proofAhead, len(readings))]
		v, believed := r.believed(ahead)
		switch {
		case w.opening == nil && believed:
			level, w.opening = v, &v
			w.step(last, i, open)
			last = i
		case w.opening == nil:
			w.ignored++
		case r.says(level):
			w.step(last, i, proved)
			last = i
		case !r.exact && support(level, ahead) > 0:
			w.ignored++ // noise: a later statement confirms the level
		case believed:
			difference, err := v.Add(level.Neg())
			if err != nil {
				return stroll{}, err
			}
			w.spans = append(w.spans, span{from: last, to: i, status: gap, difference: difference})
			level, last = v, i
		default:
			w.ignored++
		}
	}
	if w.opening != nil {
		w.trailing = len(readings) - 1 - last
		w.step(last, len(readings)-1, open)
	}
	return w, nil
}

func (w *stroll) step(from, to int, status string) {
	if from < to {
		w.spans = append(w.spans, span{from: from, to: to, status: status})
	}
}

// withoutTiming removes gaps that exist only because a bank booked late. Gaps that cancel within a
// few days become one proved span. A level that only a few balances confirm, and only for some
// days, was never the account's. The gaps before and after it become one gap with the sum of their
// differences.
func withoutTiming(statements []stated, spans []span) ([]span, error) {
	var out []span
	for i := 0; i < len(spans); {
		s := spans[i]
		i++
		for s.status == gap {
			one, next, err := joined(statements, spans, s, i)
			if err != nil {
				return nil, err
			}
			if next == i {
				break
			}
			s, i = one, next
		}
		out = append(out, s)
	}
	return out, nil
}

// joined returns a gap joined with the following spans that belong to it, and the index after them.
// If none belongs to it, the gap stays as it is.
func joined(statements []stated, spans []span, s span, next int) (span, int, error) {
	one, after := s, next // the gap joined with the next gap, if the level between them did not last
	sum, statementCount, gaps := s.difference, 1, 0
	for i := next; i < len(spans) && gaps < proofCancel; i++ {
		n := spans[i]
		if statements[n.to].day-statements[s.from].day > proofTiming {
			break
		}
		if n.status != gap {
			statementCount += n.to - n.from
			continue
		}
		var err error
		if sum, err = sum.Add(n.difference); err != nil {
			return s, next, err
		}
		if sum.IsZero() {
			return span{from: s.from, to: n.to, status: proved}, i + 1, nil
		}
		gaps++
		if gaps == 1 && statementCount <= proofAhead && !statements[s.to].exact && !statements[n.to].exact {
			one, after = span{from: s.from, to: n.to, status: gap, difference: sum}, i+1
		}
	}
	return one, after, nil
}

// merged joins adjacent spans of the same status. Gaps stay separate, because each has its own
// difference.
func merged(spans []span) []span {
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && out[n-1].status == s.status && s.status != gap {
			out[n-1].to = s.to
		} else {
			out = append(out, s)
		}
	}
	return out
}

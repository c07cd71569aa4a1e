package account

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"coffer/internal/platform/money"
)

const euro = money.Currency("EUR")

// A world is a simulated kind of account and bank.
type world struct {
	name          string
	every         int     // days between stated balances
	closing       bool    // statements give the close of the day, by posting day
	rate          float64 // rows per day
	pending       bool    // the bank counts charges as soon as they are authorized
	authorized    bool    // the authorized days are known
	exact, falsey float64 // required share of faults found, and most false gaps per account-year
}

var worlds = []world{
	{name: "provider daily, few rows", every: 1, rate: 0.5, exact: 0.99, falsey: 0.02},
	{name: "provider daily, many rows", every: 1, rate: 3, exact: 0.99, falsey: 0.02},
	{name: "provider every 3 days, few rows", every: 3, rate: 0.5, exact: 0.99, falsey: 0.02},
	{name: "provider every 3 days, many rows", every: 3, rate: 3, exact: 0.99, falsey: 0.02},
	{name: "statement daily, few rows", every: 1, closing: true, rate: 0.5, exact: 0.99, falsey: 0.02},
	{name: "statement daily, many rows", every: 1, closing: true, rate: 3, exact: 0.99, falsey: 0.02},
	{name: "statement monthly, few rows", every: 30, closing: true, rate: 0.5, exact: 0.97, falsey: 0.02},
	{name: "statement monthly, many rows", every: 30, closing: true, rate: 3, exact: 0.97, falsey: 0.02},
	{name: "pending counts, few rows", every: 1, rate: 0.5, pending: true, authorized: true, exact: 0.99, falsey: 0.02},
	{name: "pending counts, many rows", every: 1, rate: 3, pending: true, authorized: true, exact: 0.99, falsey: 0.02},
	{name: "pending unknown, few rows", every: 1, rate: 0.5, pending: true, falsey: 0.15},
	{name: "pending unknown, many rows", every: 1, rate: 3, pending: true, falsey: 0.15},
}

const year = 365

// A booking is a row in the bank's own books.
type booking struct {
	day        dayNumber // the day that the bank prints
	authorized dayNumber
	counts     float64 // the time from which the bank's balance includes it
	cents      int64
}

// A fault is a row that the books lack or contain twice.
type fault struct {
	day, authorized dayNumber
	difference      int64
}

// simulate returns one year of an account: the rows in the books, the stated balances, and the
// faults.
func (w world) simulate(seed uint64) ([]movement, []stated, []fault) {
	rng := rand.New(rand.NewPCG(seed, 15))
	var rows []booking
	for d := range year {
		for range min(12, int(rng.ExpFloat64()*w.rate)) {
			at := float64(d) + rng.Float64()
			b := booking{day: dayNumber(d), authorized: dayNumber(d), counts: at}
			switch {
			case w.closing:
			case w.pending:
				if rng.Float64() < 0.7 {
					b.counts = at - 0.5 - 2.5*rng.Float64()
				}
				b.authorized = dayNumber(b.counts)
			case d > 0 && rng.Float64() < 0.03:
				b.day, b.authorized = b.day-1, b.authorized-1 // booked a day after the printed day
			}
			b.cents = 100 + rng.Int64N(19_900)
			if rng.IntN(6) == 0 {
				b.cents *= -1
			}
			rows = append(rows, b)
		}
	}
	opening := 10_000 + rng.Int64N(490_000)
	var statements []stated
	for d := 1; d < year; d += w.every {
		moment := float64(d) + rng.Float64()
		if w.closing {
			moment = float64(d) + 1
		}
		balance := opening
		for _, r := range rows {
			if r.counts <= moment {
				balance -= r.cents
			}
		}
		statements = append(statements, stated{dayNumber(d), total(balance).In(euro), w.closing})
	}
	rows, faults := w.spoil(rng, rows)
	moves := make([]movement, len(rows))
	for i, r := range rows {
		moves[i] = movement{posted: r.day, authorized: r.day, out: total(r.cents).In(euro), rows: 1}
		if w.authorized {
			moves[i].authorized = r.authorized
		}
	}
	return moves, statements, faults
}

// spoil removes or duplicates two rows, at least 15 days apart and 20 days from both ends.
func (w world) spoil(rng *rand.Rand, rows []booking) ([]booking, []fault) {
	var faults []fault
	for try := 0; len(faults) < 2 && try < 100; try++ {
		k := rng.IntN(len(rows))
		r := rows[k]
		if r.day <= 20 || r.day >= year-20 || slices.ContainsFunc(faults, func(f fault) bool {
			return max(f.day-r.day, r.day-f.day) < 15
		}) {
			continue
		}
		if rng.IntN(2) == 0 {
			rows = slices.Delete(slices.Clone(rows), k, k+1)
			faults = append(faults, fault{r.day, r.authorized, -r.cents})
		} else {
			rows = append(rows, r)
			faults = append(faults, fault{r.day, r.authorized, r.cents})
		}
	}
	return rows, faults
}

func total(cents int64) money.Total {
	a, err := money.FromCents(cents)
	if err != nil {
		panic(err)
	}
	return a.Total()
}

// A score counts the results of a prover.
type score struct {
	years, open, faults, exact, missed, false int
	days                                      dayNumber
}

// mark compares the reported gaps with the faults that were made. A fault is found exactly if a gap
// has its amount to the cent and lies around its day. The two days up to the statement before the
// gap belong to the gap too: a bank states a balance at a moment within its day, and some rows are
// booked a day late.
func (s *score) mark(v verdict, statements []stated, faults []fault) {
	s.years++
	if v.status == open {
		s.open++
	}
	used := map[int]bool{}
	for _, f := range faults {
		s.faults++
		at := slices.IndexFunc(v.spans, func(g span) bool {
			from, to := statements[g.from].day-1, statements[g.to].day
			return g.status == gap && g.difference == total(f.difference) &&
				(from <= f.day && f.day <= to || from <= f.authorized && f.authorized <= to)
		})
		if at < 0 || used[at] {
			s.missed++
			continue
		}
		used[at] = true
		s.exact++
		s.days += statements[v.spans[at].to].day - statements[v.spans[at].from].day
	}
	for i, g := range v.spans {
		if g.status == gap && !used[i] && !addUp(g, statements, faults) {
			s.false++
		}
	}
}

// addUp reports whether a gap is the sum of the faults between its statements. Then no fault is
// found exactly, but the gap is not false.
func addUp(g span, statements []stated, faults []fault) bool {
	var sum int64
	for _, f := range faults {
		if statements[g.from].day < f.day && f.day <= statements[g.to].day {
			sum += f.difference
		}
	}
	return g.difference == total(sum)
}

// TestProofFindsFaults simulates 3,000 account-years with two faults each, or ten times as many in
// a long run. Most of them have one statement a month. Two faults within one month add up; that
// happens by chance, so measuring it needs many years. Accounts that stay open report no gaps:
// their faults count neither as found nor as missed, and the log shows how many there are.
func TestProofFindsFaults(t *testing.T) {
	t.Parallel()
	years := 100
	if os.Getenv("COFFER_TEST_LONG") != "" {
		years = 1000
	}
	for i, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			years, open := years, 0
			if w.every == 30 {
				years *= 10
			}
			var s score
			for y := range years {
				moves, statements, faults := w.simulate(uint64(i*1_000_000 + y))
				v, err := prove(euro, moves, statements)
				if err != nil {
					t.Fatal(err)
				}
				if v.status == "open" {
					open++
					for _, g := range v.spans {
						if g.status == gap {
							t.Fatal("an open account reported a gap")
						}
					}
					continue
				}
				s.mark(v, statements, faults)
			}
			share := float64(s.exact) / float64(max(s.faults, 1))
			falsey := float64(s.false) / float64(years)
			t.Logf("%d account-years, %d open; %d of %d faults exact (%.1f %%); %.3f false gaps a year; %.1f days wide",
				years, open, s.exact, s.faults, 100*share, falsey, float64(s.days)/float64(max(s.exact, 1)))
			if s.faults > 0 && share < w.exact {
				t.Errorf("%.1f %% of the faults were found exactly, want %.0f %%", 100*share, 100*w.exact)
			}
			if falsey > w.falsey {
				t.Errorf("%.3f false gaps in an account-year, want at most %.2f", falsey, w.falsey)
			}
			if w.rate < 1 && open > 0 {
				t.Errorf("%d accounts with few rows stayed open", open)
			}
		})
	}
}

// believer is the control: it trusts each statement alone, as the close of its day.
func believer(moves []movement, statements []stated) (v verdict, err error) {
	t, _, err := running(euro, moves, func(m movement) dayNumber { return m.posted })
	var level money.Total
	for i, s := range statements {
		b, _ := s.asset.Of(euro)
		now, _ := b.Add(t.upTo(s.day))
		if i > 0 && now != level {
			difference, _ := now.Add(level.Neg())
			v.spans = append(v.spans, span{from: i - 1, to: i, status: gap, difference: difference})
		}
		level = now
	}
	return v, err
}

// TestBelieverFails shows that the simulation is hard: a prover that trusts each balance on its own
// reports a false gap every few days.
func TestBelieverFails(t *testing.T) {
	t.Parallel()
	for _, w := range worlds {
		if w.closing || w.every > 1 {
			continue
		}
		var s score
		for y := range 20 {
			moves, statements, faults := w.simulate(uint64(y))
			v, err := believer(moves, statements)
			if err != nil {
				t.Fatal(err)
			}
			s.mark(v, statements, faults)
		}
		falsey := float64(s.false) / 20
		t.Logf("%s: %.0f false gaps a year", w.name, falsey)
		if falsey <= 30 {
			t.Errorf("%s: %.1f false gaps in an account-year: the simulation is too easy", w.name, falsey)
		}
	}
}

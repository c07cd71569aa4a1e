package recurring

import (
	"cmp"
	"slices"
	"time"
)

// A cadence is how often a payment comes.
type cadence struct {
	name     string
	min, max int // the fewest and the most days between two payments
	days     int // the usual number of days between payments, if months is 0
	months   int
	grace    int // the number of days that a payment may be late
	yearly   int64
}

// long reports whether the payment comes monthly or less often.
func (c *cadence) long() bool { return c.months > 0 }

func (c *cadence) fits(gap int) bool { return c.min <= gap && gap <= c.max }

// Spaced reports whether payments with that many days between them can be monthly or less frequent.
func Spaced(days int) bool {
	return slices.ContainsFunc(cadences, func(c cadence) bool { return c.long() && c.fits(days) })
}

// cadences are sorted by length. If two fit equally well, the longer one is chosen.
var cadences = []cadence{
	{name: "weekly", min: 6, max: 8, days: 7, grace: 3, yearly: 52},
	{name: "fortnightly", min: 13, max: 15, days: 14, grace: 4, yearly: 26},
	{name: "monthly", min: 26, max: 36, days: 30, months: 1, grace: 8, yearly: 12},
	{name: "quarterly", min: 84, max: 98, days: 91, months: 3, grace: 14, yearly: 4},
	{name: "half_yearly", min: 173, max: 192, days: 182, months: 6, grace: 21, yearly: 2},
	{name: "yearly", min: 350, max: 380, days: 365, months: 12, grace: 21, yearly: 1},
}

// cadenceNamed returns the cadence of that name, or nil.
func cadenceNamed(name string) *cadence {
	for i := range cadences {
		if cadences[i].name == name {
			return &cadences[i]
		}
	}
	return nil
}

// bestCadence returns the cadence that fits most gaps between payments, and the number of those
// gaps.
func bestCadence(rows []Payment) (*cadence, int) {
	var counts [6]int
	for i := 1; i < len(rows); i++ {
		gap := rows[i].Day - rows[i-1].Day
		for c := range cadences {
			if cadences[c].fits(gap) {
				counts[c]++
				break
			}
		}
	}
	best := 0
	for c, n := range counts {
		if n >= counts[best] {
			best = c
		}
	}
	return &cadences[best], counts[best]
}

// usualShare is the smallest share, in percent, of payments that must fall on the usual day of the
// month. A series with a payment every 28 or 30 days has no such day.
const usualShare = 40

// usualDay returns the day of the month on which the payments fall, or 0 if there is none. In a
// shorter month, the usual day is the last day of the month. So a payment on 30 September also
// counts for the 31st.
func (c *cadence) usualDay(rows []Payment) int {
	if !c.long() {
		return 0
	}
	var seen, fits [32]int
	for _, r := range rows {
		on := dateOf(r.Day)
		seen[on.Day()]++
		if fits[on.Day()]++; on.Day() != daysOf(on.Year(), on.Month()) {
			continue
		}
		for d := on.Day() + 1; d < len(fits); d++ {
			fits[d]++
		}
	}
	usual := 1
	for d := range fits {
		// If two days fit equally often, choose the one on which more payments were seen.
		if cmp.Or(cmp.Compare(fits[d], fits[usual]), cmp.Compare(seen[d], seen[usual])) >= 0 {
			usual = d
		}
	}
	if fits[usual]*100 < usualShare*len(rows) {
		return 0
	}
	return usual
}

// next returns the day on which the next payment is expected: one cadence after the last payment,
// on the usual day of the month if there is one.
func (c *cadence) next(rows []Payment) int {
	last := rows[len(rows)-1].Day
	if !c.long() {
		return last + c.days
	}
	usual := c.usualDay(rows)
	if usual == 0 {
		gaps := make([]int, 0, len(rows)-1)
		for i := 1; i < len(rows); i++ {
			if gap := rows[i].Day - rows[i-1].Day; c.fits(gap) {
				gaps = append(gaps, gap)
			}
		}
		if len(gaps) == 0 { // a person taught this series
			return c.after(last)
		}
		slices.Sort(gaps)
		return last + gaps[len(gaps)/2]
	}
	// A payment that was due on the 1st may have been booked on the 30th of the month before, or on
	// the 3rd.
	about := dateOf(c.after(last))
	best := 0
	for _, month := range []time.Month{about.Month() - 1, about.Month(), about.Month() + 1} {
		day := dayIn(about.Year(), month, usual)
		if best == 0 || distance(day, dayOf(about)) < distance(best, dayOf(about)) {
			best = day
		}
	}
	return best
}

// after returns the day that is one cadence later.
func (c *cadence) after(day int) int {
	if !c.long() {
		return day + c.days
	}
	from := dateOf(day)
	return dayIn(from.Year(), from.Month()+time.Month(c.months), from.Day())
}

// dayIn returns that day of a month, or the month's last day if it is shorter.
func dayIn(year int, month time.Month, day int) int {
	return dayOf(time.Date(year, month, min(day, daysOf(year, month)), 0, 0, 0, 0, time.UTC))
}

// daysOf returns how many days a month has.
func daysOf(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// dayOf returns a date as days since 1970.
func dayOf(t time.Time) int { return int(t.Unix() / 86400) }

func dateOf(day int) time.Time { return time.Unix(int64(day)*86400, 0).UTC() }

func distance(a, b int) int { return max(a-b, b-a) }

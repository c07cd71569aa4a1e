package recurring

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

func day(t *testing.T, s string) int {
	t.Helper()
	at, err := pg.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return dayOf(at.Time())
}

func paid(t *testing.T, days ...string) []Payment {
	t.Helper()
	rows := make([]Payment, len(days))
	for i, d := range days {
		rows[i].Day = day(t, d)
	}
	return rows
}

// The next payment is expected on the usual day, or at the end of a shorter month. Later payments
// are expected on the usual day again.
func TestExpectMonthEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cadence string
		rows    []string
		usual   int
		want    []string
	}{
		"the 31st": {
			"monthly",
			[]string{"2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31"},
			31,
			[]string{"2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"},
		},
		"mostly short months": {
			"monthly",
			[]string{"2026-09-30", "2026-10-31", "2026-11-30"},
			31,
			[]string{"2026-12-31", "2027-01-31", "2027-02-28"},
		},
		"no two alike": {
			"monthly",
			[]string{"2026-02-28", "2026-03-31", "2026-04-30"},
			31,
			[]string{"2026-05-31", "2026-06-30", "2026-07-31"},
		},
		"the 30th": {
			"monthly",
			[]string{"2026-09-30", "2026-10-30", "2026-11-30", "2026-12-30"},
			30,
			[]string{"2027-01-30", "2027-02-28", "2027-03-30"},
		},
		"the 29th, in a leap year": {
			"monthly",
			[]string{"2027-11-29", "2027-12-29", "2028-01-29"},
			29,
			[]string{"2028-02-29", "2028-03-29"},
		},
		"the 28th stays": {
			"monthly",
			[]string{"2026-12-28", "2027-01-28", "2027-02-28"},
			28,
			[]string{"2027-03-28", "2027-04-28"},
		},
		"one in February": {"monthly", []string{"2026-02-28"}, 28, []string{"2026-03-28", "2026-04-28"}},
		"a quarter": {
			"quarterly",
			[]string{"2026-02-28", "2026-05-31", "2026-08-31"},
			31,
			[]string{"2026-11-30", "2027-02-28", "2027-05-31"},
		},
		"a leap day": {
			"yearly",
			[]string{"2024-02-29", "2025-02-28", "2026-02-28"},
			29,
			[]string{"2027-02-28", "2028-02-29"},
		},
		"the 1st, booked early": {
			"monthly",
			[]string{"2026-08-01", "2026-09-01", "2026-10-01", "2026-10-30"},
			1,
			[]string{"2026-12-01", "2027-01-01"},
		},
		"every 28 days": {
			"monthly",
			[]string{"2026-07-03", "2026-07-31", "2026-08-28", "2026-09-25"},
			0,
			[]string{"2026-10-23", "2026-11-20", "2026-12-18"},
		},
		"weekly over the year": {
			"weekly",
			[]string{"2026-12-18", "2026-12-25"},
			0,
			[]string{"2027-01-01", "2027-01-08"},
		},
	} {
		rows, every := paid(t, c.rows...), cadenceNamed(c.cadence)
		next := date(every.next(rows))
		r := Recurring{Cadence: c.cadence, NextDate: &next, LastDate: date(rows[len(rows)-1].Day)}
		usual := every.usualDay(rows)
		if usual > 0 {
			r.Usual = &usual
		}
		var got []string
		for n := range c.want {
			got = append(got, date(r.expected(n)).String())
		}
		if usual != c.usual || !slices.Equal(got, c.want) {
			t.Errorf("%s: day %d, %v, want day %d, %v", name, usual, got, c.usual, c.want)
		}
	}
}

// slowly checks each day separately.
func slowly(r Recurring, from, until int) []string {
	next := r.NextDate.Time()
	comes := func(day int) bool {
		at := dateOf(day)
		if day < dayOf(next) {
			return false
		}
		months := map[string]int{"monthly": 1, "quarterly": 3, "half_yearly": 6, "yearly": 12}[r.Cadence]
		if months == 0 || r.Usual == nil {
			every := map[string]int{"weekly": 7, "fortnightly": 14}[r.Cadence]
			if months > 0 {
				every = dayOf(next) - dayOf(r.LastDate.Time())
			}
			return (day-dayOf(next))%every == 0
		}
		apart := (at.Year()-next.Year())*12 + int(at.Month()) - int(next.Month())
		last := at.AddDate(0, 0, 1).Month() != at.Month()
		return apart%months == 0 && (at.Day() == *r.Usual || last && at.Day() < *r.Usual)
	}
	var out []string
	missed := 0
	for day := dayOf(next); day <= until; day++ {
		if !comes(day) {
			continue
		}
		if day < from {
			if missed++; missed > 1 {
				out = nil
				continue
			}
		}
		out = append(out, date(day).String())
	}
	return out
}

// series returns a random recurring payment whose next day is close to the given day.
func series(r *rand.Rand, near int) Recurring {
	c := cadences[r.IntN(len(cadences))]
	usual := 1 + r.IntN(31)
	if r.IntN(2) == 0 {
		usual = 28 + r.IntN(4)
	}
	out := Recurring{Cadence: c.name}
	at := dateOf(near + r.IntN(600) - 300)
	next := dayOf(at)
	if c.long() && r.IntN(4) > 0 {
		out.Usual = &usual
		next = dayIn(at.Year(), at.Month(), usual)
	}
	out.NextDate, out.LastDate = new(date(next)), date(next-c.min-r.IntN(c.max-c.min+1))
	return out
}

func TestExpectIsWhatEachDaySays(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 31))
	for range 3000 {
		from := dayOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) + r.IntN(1200)
		until := from + r.IntN(366)
		s := series(r, from)
		var got []string
		for _, d := range s.Expect(date(from), date(until)) {
			got = append(got, d.String())
		}
		if want := slowly(s, from, until); !slices.Equal(got, want) {
			t.Fatalf("%s, next %s, usual %v, from %s to %s: %v, want %v", s.Cadence, s.NextDate, s.Usual, date(from),
				date(until), got, want)
		}
	}
}

// The control: the test notices if days are counted from the day before instead of from the usual
// day.
func TestExpectControl(t *testing.T) {
	t.Parallel()
	next := date(day(t, "2027-01-31"))
	s := Recurring{Cadence: "monthly", NextDate: &next, LastDate: date(day(t, "2026-12-31")), Usual: new(31)}
	var drifted []string
	c := cadenceNamed("monthly")
	for d := dayOf(next.Time()); d <= day(t, "2027-06-30"); d = c.after(d) {
		drifted = append(drifted, date(d).String())
	}
	if slices.Equal(drifted, slowly(s, dayOf(next.Time()), day(t, "2027-06-30"))) {
		t.Error("the simulation does not notice days that drift at the end of February")
	}
}

// If the last payment of a series was categorized as a transfer, the next one is expected as a
// transfer.
func TestExpectTransfers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	account := h.account()
	h.merge(append(monthly(account, "SAVINGS PLAN", 0, 6, 3000), monthly(account, "GYM", 0, 6, 2000)...)...)
	h.sweep()
	h.exec(`update transaction t set category_id = (select id from category where slug = 'transfers_savings'
		order by id limit 1) from descriptor d where d.id = t.descriptor_id and d.name like 'SAVINGS%'`)
	next, err := pg.Value[pg.Date](t.Context(), h.db, `select min(next_date) from recurring`)
	if err != nil {
		t.Fatal(err)
	}
	expected, err := Expect(t.Context(), h.db, next, pg.Day(next.Time().AddDate(0, 0, 20)))
	if err != nil || len(expected) != 2 {
		t.Fatalf("%d are expected: %v", len(expected), err)
	}
	for _, e := range expected {
		if saved := e.Amount.String() == "30.00"; e.Transfer != saved {
			t.Errorf("%s is a transfer: %t", e.Amount, e.Transfer)
		}
	}
}

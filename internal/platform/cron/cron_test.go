package cron_test

import (
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/cron"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := cron.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parse(t testing.TB, text string, z *time.Location) cron.Schedule {
	t.Helper()
	s, err := cron.Parse(text, z)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// A plan lists the days and times that a schedule means.
type plan struct {
	text string
	on   func(year int, month time.Month, day int, week time.Weekday) bool
	at   func(hour, minute int) bool
}

func daily(int, time.Month, int, time.Weekday) bool { return true }

func clock(hour, minute int) func(int, int) bool {
	return func(h, m int) bool { return h == hour && m == minute }
}

var plans = []plan{
	{"*/20 1-3,23 * * *", daily, func(h, m int) bool { return m%20 == 0 && (h >= 1 && h <= 3 || h == 23) }},
	{
		"0 7 * * MON", func(_ int, _ time.Month, _ int, w time.Weekday) bool { return w == time.Monday },
		clock(7, 0),
	},
	{"30 2 * * *", daily, clock(2, 30)},
	{"0,45 0-2 * * *", daily, func(h, m int) bool { return h <= 2 && (m == 0 || m == 45) }},
	{"0 8 1 * *", func(_ int, _ time.Month, d int, _ time.Weekday) bool { return d == 1 }, clock(8, 0)},
	{
		"5 0 29 2 *", func(_ int, m time.Month, d int, _ time.Weekday) bool { return d == 29 && m == time.February },
		clock(0, 5),
	},
	{ // either day is enough
		"10 22 13 * 5", func(_ int, _ time.Month, d int, w time.Weekday) bool { return d == 13 || w == time.Friday },
		clock(22, 10),
	},
	{ // a field that begins with * does not restrict
		"0 12 */2 * sat-sun", func(_ int, _ time.Month, d int, w time.Weekday) bool {
			return d%2 == 1 && (w == time.Saturday || w == time.Sunday)
		}, clock(12, 0),
	},
	{
		"59 23 28-31 jan,MAR-6/2 *", func(_ int, m time.Month, d int, _ time.Weekday) bool {
			return d >= 28 && (m == time.January || m == time.March || m == time.May)
		}, clock(23, 59),
	},
}

const minutes = 24 * 60 // of a day

// Every schedule is due at exactly those minutes of ten years that its plan contains. The zones put
// their clocks forward by an hour at night, at midnight, and by half an hour. The test walks
// through all minutes: a minute is due if the clock shows a time of the plan for the first time, or
// skips over one.
func TestTenYearsOfCalendar(t *testing.T) {
	t.Parallel()
	from, to := time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := zone(t, name)
			want := calendar(from, to, z)
			for i, p := range plans {
				s := parse(t, p.text, z)
				at := from.Add(-time.Second)
				for n, minute := range want[i] {
					if at = s.Next(at); at.Unix() != minute*60 {
						t.Fatalf("%s: the %dth time is %v, want %v", p.text, n+1, at, time.Unix(minute*60, 0).In(z))
					}
				}
				if next := s.Next(at); next.Before(to) {
					t.Errorf("%s: due at %v too", p.text, next)
				}
				if len(want[i]) < 2 {
					t.Errorf("%s: due %d times, so the test proves nothing", p.text, len(want[i]))
				}
			}
		})
	}
}

// calendar returns the minutes, since 1970, at which each plan is due.
func calendar(from, to time.Time, z *time.Location) [][]int64 {
	times := make([][minutes]bool, len(plans))
	for i, p := range plans {
		for m := range minutes {
			times[i][m] = p.at(m/60, m%60)
		}
	}
	want, today := make([][]int64, len(plans)), make([]bool, len(plans))
	shown := wall(from.Add(-time.Minute), z) // the latest time that the clock has shown
	day := int64(-1)
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		for now, minute := wall(at, z), at.Unix()/60; shown < now; {
			shown++
			if shown/minutes != day {
				day = shown / minutes
				date := time.Unix(day*24*3600, 0).UTC()
				for i, p := range plans {
					today[i] = p.on(date.Year(), date.Month(), date.Day(), date.Weekday())
				}
			}
			for i := range plans {
				if n := len(want[i]); today[i] && times[i][shown%minutes] && (n == 0 || want[i][n-1] != minute) {
					want[i] = append(want[i], minute)
				}
			}
		}
	}
	return want
}

// wall returns the time that a clock shows, in minutes since it showed the beginning of 1970.
func wall(at time.Time, z *time.Location) int64 {
	_, offset := at.In(z).Zone()
	return (at.Unix() + int64(offset)) / 60
}

func TestClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, after, want string }{
		{"30 2 * * *", "2026-03-29T00:00:00+01:00", "2026-03-29T03:00:00+02:00"}, // skipped
		{"0 2,3 * * *", "2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"},
		{"30 2 * * *", "2026-10-25T00:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // twice
		{"30 2 * * *", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		{"TZ=Pacific/Apia 0 9 30 12 *", "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"}, // a day skipped
		{"TZ=UTC 0 0 29 2 */7", "2004-03-01T00:00:00Z", "2032-02-29T00:00:00Z"},
		{"0 0 29 2 *", "2096-03-01T00:00:00+01:00", "2104-02-29T00:00:00+01:00"},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(t, c.text, zone(t, "Europe/Berlin")).Next(after).Format(time.RFC3339); got != c.want {
			t.Errorf("%s after %s is %s, want %s", c.text, c.after, got, c.want)
		}
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "five fields, not 0",
		"0 7 * *":                     "five fields, not 4",
		"0 0 7 * * MON":               "five fields, not 6",
		"@daily":                      "five fields, not 1",
		"60 * * * *":                  `"60" is not a minute; write a number from 0 to 59`,
		"0 -1 * * *":                  `"" is not a hour`,
		"0 24 * * *":                  "from 0 to 23",
		"0 0 0 * *":                   "from 1 to 31",
		"0 0 1 FOO *":                 "from 1 to 12 or a name from JAN to DEC",
		"0 0 * * 8":                   "a name from SUN to SAT",
		"0 0 * * MONDAY":              `"MONDAY" is not a day of week`,
		"0 22-6 * * *":                "use 22-23,0-6",
		"5/10 * * * *":                "use 5-59/10 instead of 5/10",
		"*/0 * * * *":                 `the step "0" in the minute must be a number from 1 to 59`,
		"*/x * * * *":                 `the step "X"`,
		"1,,2 * * * *":                `"" is not a minute`,
		"+5 * * * *":                  `"+5" is not a minute`,
		"0 0 L * *":                   `"L" is not a day of month`,
		"0 0 30 2 *":                  "never runs",
		"0 0 31 4,6,9,11 *":           "never runs",
		"TZ=Europe/Belin 0 7 * * *":   `"Europe/Belin" is not a known time zone`,
		"TZ=Local 0 7 * * *":          "not a known time zone",
		"TZ= 0 7 * * *":               "not a known time zone",
		strings.Repeat("0", 201):      "at most 200 characters",
		"TZ=../../etc/passwd * * * *": "not a known time zone",
	} {
		if _, err := cron.Parse(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0 7 * * MON":                   "every Monday at 07:00",
		"TZ=Europe/Berlin 0  7 * * 1":   "every Monday at 07:00 (Europe/Berlin)",
		"0 7,19 * * *":                  "every day at 07:00 and 19:00",
		"0 8 1 * *":                     "on the 1st of every month at 08:00",
		"0 8 1,15 1,7 *":                "on the 1st and 15th of January and July at 08:00",
		"0 8 * * 1-5":                   "Monday to Friday at 08:00",
		"0 8 * * SAT,SUN":               "every Saturday and Sunday at 08:00",
		"0 8 * 6-8 0":                   "every Sunday in June to August at 08:00",
		"0 8 13 * FRI":                  "on the 13th and every Friday at 08:00",
		"0 8 */10 * FRI":                "every Friday that is the 1st, 11th, 21st and 31st at 08:00",
		"* * * * *":                     "every minute",
		"*/15 * * * *":                  "every 15 minutes",
		"*/15 8-18 * * 1-5":             "every 15 minutes, in the hours 08 to 18, Monday to Friday",
		"0 * * * *":                     "every hour",
		"5 * * * *":                     "5 minutes past the hour",
		"0 8-18 * * *":                  "on the hour, in the hours 08 to 18",
		"*/7 * * * *":                   "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56",
		"0 0 22,23,3 2 *":               "on the 3rd, 22nd and 23rd of February at 00:00",
		"0 8 * * 7":                     "every Sunday at 08:00",
		"0 8 * * 0,2-4":                 "Tuesday to Thursday and Sunday at 08:00",
		"0,10 8,9,10 * * *":             "every day at 08:00, 08:10, 09:00, 09:10, 10:00 and 10:10",
		"TZ=America/New_York 1 * * * ?": "",
	} {
		s, err := cron.Parse(text, time.UTC)
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", text)
			}
			continue
		}
		if err != nil || s.Describe() != want {
			t.Errorf("%s: %q (%v), want %q", text, s.Describe(), err, want)
		}
	}
}

// Every schedule that Parse accepts can be due, can be described, and can be read again as the
// same.
func FuzzParse(f *testing.F) {
	for _, p := range plans {
		f.Add(p.text, int64(1_800_000_000))
	}
	for _, text := range []string{"", "TZ=", "TZ=Asia/Kathmandu 0 0 31 12 7", "*/59 */23 */31 */12 */7", "0-59/59 , - / *"} {
		f.Add(text, int64(-5_000_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := cron.Parse(text, time.UTC)
		if err != nil {
			return
		}
		after := time.Unix(unix%100_000_000_000, 0)
		next := s.Next(after)
		if !next.After(after) {
			t.Fatalf("%q: %v is not after %v", text, next, after)
		}
		again := parse(t, strings.Join(strings.Fields(text), " "), time.UTC)
		if s.Describe() == "" || again.Describe() != s.Describe() || !again.Next(after).Equal(next) {
			t.Errorf("%q: read again it is %s", text, again.Describe())
		}
		if between := s.Next(next.Add(-time.Second)); !between.Equal(next) {
			t.Errorf("%q: after %v it is due at %v and at %v", text, after, next, between)
		}
	})
}

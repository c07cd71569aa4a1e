// Package cron reads schedules of five fields and finds when they are next due. It neither waits
// nor reads a clock: callers pass it a time.
//
// The fields are minute, hour, day of month, month and day of week. Each is *, a value, a range, a
// list of values and ranges, or one of these with a step. If both days are restricted, a date that
// matches either is due. As in other crons, a field that begins with * does not restrict. A
// schedule follows the wall clock of its zone. If the clock is put forward and skips the scheduled
// time, the schedule is due right after the skip.
package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the image that we ship contains no zones
)

const (
	longest = 200 // bytes of a schedule
	horizon = 60  // years in which a schedule must be due once; the longest gap is a leap day on a Sunday: 40 years
)

// A Schedule is a set of times of day on a set of days.
type Schedule struct {
	minutes, hours, days, months, weekdays uint64
	either                                 bool // a day of month or a day of week is enough
	zone                                   *time.Location
	own                                    bool // the zone is part of the text
}

// A field is one of the five fields.
type field struct {
	name     string
	min, max int
	names    []string // of its values, from min on
}

var (
	months   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

	fields = [5]field{
		{name: "minute", min: 0, max: 59},
		{name: "hour", min: 0, max: 23},
		{name: "day of month", min: 1, max: 31},
		{name: "month", min: 1, max: 12, names: months},
		{name: "day of week", min: 0, max: 7, names: weekdays}, // 0 and 7 are Sunday
	}
)

// Parse reads a schedule such as "0 7 * * MON" or "TZ=Europe/Berlin 0 7 * * MON". If the text has
// no zone, the given zone applies.
func Parse(text string, zone *time.Location) (Schedule, error) {
	if len(text) > longest {
		return Schedule{}, fmt.Errorf("a schedule has at most %d characters", longest)
	}
	s := Schedule{zone: zone}
	parts := strings.Fields(text)
	if len(parts) > 0 && strings.HasPrefix(parts[0], "TZ=") {
		var err error
		if s.zone, err = Zone(strings.TrimPrefix(parts[0], "TZ=")); err != nil {
			return Schedule{}, err
		}
		s.own, parts = true, parts[1:]
	}
	if len(parts) != len(fields) {
		return Schedule{}, fmt.Errorf("a schedule needs five fields, not %d: minute, hour, day of month, "+
			"month and day of week, such as 0 7 * * MON for every Monday at 07:00", len(parts))
	}
	for i, into := range []*uint64{&s.minutes, &s.hours, &s.days, &s.months, &s.weekdays} {
		var err error
		if *into, err = fields[i].parse(strings.ToUpper(parts[i])); err != nil {
			return Schedule{}, err
		}
	}
	if s.weekdays&(1<<7) != 0 {
		s.weekdays = s.weekdays&^(1<<7) | 1
	}
	s.either = parts[2][0] != '*' && parts[4][0] != '*'
	if s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Schedule{}, errors.New("this schedule never runs, because the day does not exist; choose " +
			"another day of month or month")
	}
	return s, nil
}

// Zone returns the time zone of that name.
func Zone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the server's own zone is not the household's
		return nil, fmt.Errorf("%q is not a known time zone; write a name from the IANA database, such as "+
			"TZ=Europe/Berlin", name)
	}
	return zone, nil
}

func (f field) parse(text string) (set uint64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		span, by, stepped := strings.Cut(part, "/")
		low, high, err := f.span(span)
		if err != nil {
			return 0, err
		}
		step := 1
		if stepped {
			if !strings.ContainsAny(span, "*-") {
				return 0, fmt.Errorf("a step in the %s needs a range; use %s-%d/%s instead of %s", f.name, span,
					f.last(), by, part)
			}
			if step, err = number(by); err != nil || step < 1 || step > f.max {
				return 0, fmt.Errorf("the step %q in the %s must be a number from 1 to %d", by, f.name, f.max)
			}
		}
		for v := low; v <= high; v += step {
			set |= 1 << v
		}
	}
	return set, nil
}

// span reads *, a value or a range.
func (f field) span(text string) (low, high int, err error) {
	if text == "*" {
		return f.min, f.last(), nil
	}
	first, second, ranged := strings.Cut(text, "-")
	if low, err = f.value(first); err != nil || !ranged {
		return low, low, err
	}
	if high, err = f.value(second); err != nil {
		return 0, 0, err
	}
	if high == 0 && low > 0 && f.max == 7 { // FRI-SUN
		high = 7
	}
	if low > high {
		return 0, 0, fmt.Errorf("the range %s in the %s runs backwards; use %s-%d,%d-%s", text, f.name, first,
			f.last(), f.min, second)
	}
	return low, high, nil
}

// last returns the highest value. For the day of week it is 6, because 7 means Sunday as 0 does.
func (f field) last() int {
	if f.max == 7 {
		return 6
	}
	return f.max
}

func (f field) value(text string) (int, error) {
	if i := slices.Index(f.names, text); i >= 0 {
		return i + f.min, nil
	}
	v, err := number(text)
	if err == nil && v >= f.min && v <= f.max {
		return v, nil
	}
	if len(text) > 20 {
		text = text[:20]
	}
	or := ""
	if f.names != nil {
		or = fmt.Sprintf(" or a name from %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return 0, fmt.Errorf("%q is not a %s; write a number from %d to %d%s, or * for all", text, f.name, f.min, f.max, or)
}

// number reads digits only: a field contains neither signs nor spaces.
func number(text string) (int, error) {
	if text == "" || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, errors.New("not a number")
	}
	return strconv.Atoi(text)
}

// Next returns the first moment after the given one at which the schedule is due. A time that the
// clock skips is due right after the skip; a time that the clock shows twice is due the first time.
func (s Schedule) Next(after time.Time) time.Time {
	// Zones differ from UTC by less than a day, so nothing before the day before can be due.
	day := after.UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour)
	for end := day.AddDate(horizon, 0, 0); day.Before(end); {
		if s.months&(1<<day.Month()) == 0 {
			day = time.Date(day.Year(), day.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		if s.on(day) && s.moment(day.Add(24*time.Hour-time.Minute)).After(after) {
			if at := s.within(day, after); !at.IsZero() {
				return at
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}
}

// on reports whether the schedule is due on that day. The caller has checked the month.
func (s Schedule) on(day time.Time) bool {
	month, week := s.days&(1<<day.Day()) != 0, s.weekdays&(1<<day.Weekday()) != 0
	if s.either {
		return month || week
	}
	return month && week
}

// within returns the first due moment of that day that is after the given time, or zero if there is
// none.
func (s Schedule) within(day, after time.Time) time.Time {
	for hours := s.hours; hours != 0; hours &= hours - 1 {
		hour := day.Add(time.Duration(bits.TrailingZeros64(hours)) * time.Hour)
		if !s.moment(hour.Add(59 * time.Minute)).After(after) {
			continue
		}
		for minutes := s.minutes; minutes != 0; minutes &= minutes - 1 {
			at := s.moment(hour.Add(time.Duration(bits.TrailingZeros64(minutes)) * time.Minute))
			if at.After(after) {
				return at
			}
		}
	}
	return time.Time{}
}

// moment returns when the clock of the zone first shows that time or a later one. The time is given
// as if it were in UTC.
func (s Schedule) moment(wall time.Time) time.Time {
	at := wall.Add(-16 * time.Hour).In(s.zone) // earlier than wall, however far east the zone is
	for {
		_, offset := at.Zone()
		_, end := at.ZoneBounds()
		exact := wall.Add(-time.Duration(offset) * time.Second).In(s.zone)
		switch {
		case exact.Before(at): // the clock was put forward past it
			return at
		case end.IsZero() || exact.Before(end):
			return exact
		}
		at = end
	}
}

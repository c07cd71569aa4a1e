package analytics

import (
	"context"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// Days is a range of days, including both ends.
type Days struct {
	Start pg.Date `json:"start_date"`
	End   pg.Date `json:"end_date"`
}

// ComparedDays holds the days that a result counts, and the days with which it compares them.
type ComparedDays struct {
	Days
	Previous *Days `json:"previous,omitempty" doc:"The days that they are compared with"`
}

// The comparisons.
const (
	previousPeriod = "previous_period"
	previousYear   = "previous_year"
)

// ordered rejects a range that ends before it starts.
func ordered(start, end *pg.Date) error {
	if start != nil && end != nil && end.Time().Before(start.Time()) {
		return errs.Field("end_date", "conflict", "must not be before start_date")
	}
	return nil
}

// today returns the current day in the household's time zone.
func today(ctx context.Context, q pg.Querier) (pg.Date, error) {
	return pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date from setting`)
}

// compared returns the days of a range and an equal range before it. If the range contains today,
// it ends today, and the range before it ends as many months or days earlier. Whole months are
// compared with whole months. A range from the first of a month until today counts as whole months.
func compared(by string, start, end *pg.Date, today pg.Date) (ComparedDays, error) {
	if start == nil {
		return ComparedDays{}, errs.Field("start_date", "missing", "is required to compare")
	}
	first, now := start.Time(), today.Time()
	whole := now // the last day of the range, even if it is in the future
	if end != nil {
		whole = end.Time()
	}
	last := whole
	if last.After(now) && !first.After(now) {
		last = now
	}
	months := first.Day() == 1 && (endsMonth(whole) || last.Equal(now))
	var before, until time.Time
	switch {
	case by == previousYear:
		before, until = addMonths(first, -12), addMonths(last, -12)
	case months:
		n := 12*(whole.Year()-first.Year()) + int(whole.Month()-first.Month()) + 1
		before, until = addMonths(first, -n), addMonths(last, -n)
	default:
		n := daysBetween(first, whole) + 1
		before, until = first.AddDate(0, 0, -n), last.AddDate(0, 0, -n)
	}
	if months && endsMonth(last) { // because February is shorter than March
		until = time.Date(until.Year(), until.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	}
	if before.Year() < 1 {
		return ComparedDays{}, errs.Field("start_date", "range", "must be later: there is no earlier period "+
			"to compare with")
	}
	return ComparedDays{Days{*start, pg.Day(last)}, &Days{pg.Day(before), pg.Day(until)}}, nil
}

func daysBetween(a, b time.Time) int { return int(b.Sub(a).Hours() / 24) }

// endsMonth reports whether the day is the last one of its month.
func endsMonth(day time.Time) bool { return day.AddDate(0, 0, 1).Day() == 1 }

// addMonths moves a day by months. If the resulting month is too short, it returns the last day of
// that month.
func addMonths(day time.Time, n int) time.Time {
	first := time.Date(day.Year(), day.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(day.Day(), first.AddDate(0, 1, -1).Day())-1)
}

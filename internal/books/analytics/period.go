package analytics

import (
	"context"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// A Days is a range of days, both included.
type Days struct {
	Start pg.Date `json:"start_date"`
	End   pg.Date `json:"end_date"`
}

// A ComparedDays is the days that an answer counts, and those that it compares them with.
type ComparedDays struct {
	Days
	Previous *Days `json:"previous,omitempty" doc:"The days that they are compared with"`
}

// The comparisons.
const (
	previousPeriod = "previous_period"
	previousYear   = "previous_year"
)

// ordered refuses a range that ends before it starts.
func ordered(start, end *pg.Date) error {
	if start != nil && end != nil && end.Time().Before(start.Time()) {
		return errs.Field("end_date", "conflict", "must not be before start_date")
	}
	return nil
}

// today is the day in the household's time zone.
func today(ctx context.Context, q pg.Querier) (pg.Date, error) {
	return pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date from setting`)
}

// compared returns the days of a range and the days before it that compare like for like. A range
// that reaches today ends today, and so does what it is compared with, as many months or days
// earlier. Whole months are compared with whole months; a range from the first of a month until
// today counts as whole months.
func compared(by string, start, end *pg.Date, today pg.Date) (ComparedDays, error) {
	if start == nil {
		return ComparedDays{}, errs.Field("start_date", "missing", "is required to compare")
	}
	first, now := start.Time(), today.Time()
	whole := now // the last day of the range, whether or not it has come
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
	if months && endsMonth(last) { // February ends earlier than March
		until = time.Date(until.Year(), until.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	}
	if before.Year() < 1 {
		return ComparedDays{}, errs.Field("start_date", "range", "must be later: there is no earlier period "+
			"to compare with")
	}
	return ComparedDays{Days{*start, pg.Day(last)}, &Days{pg.Day(before), pg.Day(until)}}, nil
}

func daysBetween(a, b time.Time) int { return int(b.Sub(a).Hours() / 24) }

// endsMonth reports whether it is the last day of a month.
func endsMonth(day time.Time) bool { return day.AddDate(0, 0, 1).Day() == 1 }

// addMonths moves a day by months; a day that the month does not have becomes its last.
func addMonths(day time.Time, n int) time.Time {
	first := time.Date(day.Year(), day.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, min(day.Day(), first.AddDate(0, 1, -1).Day())-1)
}

package analytics

import (
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

func date(t *testing.T, s string) *pg.Date {
	t.Helper()
	if s == "" {
		return nil
	}
	d, err := pg.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// Ranges are compared with equal ranges: months with months, days with days, and a range until
// today with an equally long part of the earlier one.
func TestCompared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ by, start, end, today, last, before, until string }{
		"a month": {previousPeriod, "2026-10-01", "2026-10-31", "2026-11-16", "2026-10-31", "2026-09-01", "2026-09-30"},
		"this month": {
			previousPeriod, "2026-11-01", "2026-11-30", "2026-11-16", "2026-11-16", "2026-10-01", "2026-10-16",
		},
		"this month, open": {previousPeriod, "2026-11-01", "", "2026-11-16", "2026-11-16", "2026-10-01", "2026-10-16"},
		"until today": {
			previousPeriod, "2026-11-01", "2026-11-16", "2026-11-16", "2026-11-16", "2026-10-01", "2026-10-16",
		},
		"the 31st": {previousPeriod, "2026-03-01", "2026-03-31", "2026-03-30", "2026-03-30", "2026-02-01", "2026-02-28"},
		"the last": {previousPeriod, "2026-02-01", "2026-02-28", "2026-02-28", "2026-02-28", "2026-01-01", "2026-01-31"},
		"a quarter": {
			previousPeriod, "2026-07-01", "2026-09-30", "2026-11-16", "2026-09-30", "2026-04-01", "2026-06-30",
		},
		"this year": {
			previousPeriod, "2026-01-01", "2026-12-31", "2026-11-16", "2026-11-16", "2025-01-01", "2025-11-16",
		},
		"a week": {previousPeriod, "2026-11-02", "2026-11-08", "2026-11-16", "2026-11-08", "2026-10-26", "2026-11-01"},
		"this week": {
			previousPeriod, "2026-11-16", "2026-11-22", "2026-11-18", "2026-11-18", "2026-11-09", "2026-11-11",
		},
		"a leap year": {
			previousYear, "2025-02-01", "2025-02-28", "2026-11-16", "2025-02-28", "2024-02-01", "2024-02-29",
		},
		"a leap day": {
			previousYear, "2024-02-29", "2024-02-29", "2026-11-16", "2024-02-29", "2023-02-28", "2023-02-28",
		},
		"a year ago, like for like": {
			previousYear, "2026-11-01", "2026-11-30", "2026-11-16", "2026-11-16", "2025-11-01", "2025-11-16",
		},
		"to come": {previousPeriod, "2026-12-01", "2026-12-31", "2026-11-16", "2026-12-31", "2026-11-01", "2026-11-30"},
	} {
		got, err := compared(c.by, date(t, c.start), date(t, c.end), *date(t, c.today))
		if err != nil || got.Start.String() != c.start || got.End.String() != c.last ||
			got.Previous.Start.String() != c.before || got.Previous.End.String() != c.until {
			t.Errorf("%s: %v to %v against %+v (%v)", name, got.Start, got.End, got.Previous, err)
		}
	}
	if _, err := compared(previousPeriod, nil, nil, *date(t, "2026-11-16")); !errs.Is(err, errs.ValidationError) {
		t.Errorf("without a start: %v", err)
	}
}

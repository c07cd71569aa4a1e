package analytics

import (
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// The calendar has a whole day for each payment and shows amounts only on request. No name can
// start a new line.
func TestCalendar(t *testing.T) {
	t.Parallel()
	day, _ := pg.ParseDate("2028-02-29")
	late, _ := pg.ParseDate("2028-02-25")
	one := id.New()
	u := Upcoming{Days: []UpcomingDay{{Date: day, Items: []UpcomingItem{
		{RecurringID: one, Name: "Rent; flat, 2\\3", Amount: money.MustParse("950.00"), Currency: "EUR", Certain: true},
		{RecurringID: one, Name: "Rent", Amount: money.MustParse("950.00"), Currency: "EUR", Certain: true},
		{RecurringID: id.New(), Name: "Salary", Amount: money.MustParse("-2500"), Currency: "EUR"},
		{RecurringID: id.New(), Name: "Savings", Amount: money.MustParse("77"), Currency: "EUR", Transfer: true},
		{RecurringID: one, Name: text.Untrusted("X\r\nBEGIN:VALARM" + strings.Repeat("ü", 200)), Amount: money.MustParse("1"), Currency: "USD", Due: &late},
	}}}}
	now := time.Date(2028, 2, 29, 8, 0, 0, 0, time.UTC)
	with, without := u.Calendar(true, now), u.Calendar(false, now)
	for _, want := range []string{
		"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "DTSTART;VALUE=DATE:20280229\r\nDTEND;VALUE=DATE:20280301\r\n",
		`SUMMARY:Rent\; flat\, 2\\3 950.00 EUR` + "\r\n", "SUMMARY:Salary ~+2500.00 EUR\r\n",
		"UID:" + one.String() + "-20280229@coffer\r\n", "UID:" + one.String() + "-20280229-2@coffer\r\n",
		"UID:" + one.String() + "-20280225@coffer\r\n", "\r\nEND:VCALENDAR\r\n",
	} {
		if !strings.Contains(with, want) {
			t.Errorf("%q is missing in\n%s", want, with)
		}
	}
	if strings.Count(with, "BEGIN:VEVENT") != 4 || strings.Contains(with, "\nBEGIN:VALARM") || strings.Contains(with, "Savings") {
		t.Error(with)
	}
	for line := range strings.SplitSeq(without, "\r\n") {
		if strings.HasPrefix(line, "UID:") { // the digits are random
			continue
		}
		for _, figure := range []string{"950", "2500", "EUR"} {
			if strings.Contains(line, figure) {
				t.Errorf("without amounts, it shows %s: %s", figure, line)
			}
		}
	}
	for line := range strings.SplitSeq(with, "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
	if empty := (Upcoming{}).Calendar(true, now); !strings.HasPrefix(empty, "BEGIN:VCALENDAR") ||
		!strings.HasSuffix(empty, "END:VCALENDAR\r\n") {
		t.Error(empty)
	}
}

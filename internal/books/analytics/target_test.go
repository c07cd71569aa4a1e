package analytics

import (
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
)

// The pace is the share of the month that has passed. A target is ahead if a larger share of it is
// spent.
func TestPace(t *testing.T) {
	t.Parallel()
	category := id.New()
	for _, c := range []struct {
		today, spent, state string
		pace                int
	}{
		{"2026-03-31", "50.00", targetWithin, 100},
		{"2026-03-31", "50.01", targetOver, 100},
		{"2026-03-01", "0.00", targetWithin, 3},
		{"2026-03-01", "1.50", targetWithin, 3},
		{"2026-03-01", "1.51", targetAhead, 3},
		{"2026-02-28", "0.01", targetAhead, 0},
		{"2026-02-28", "0.00", targetWithin, 0},
		{"2026-04-01", "49.99", targetWithin, 100},
	} {
		today, err := time.Parse(time.DateOnly, c.today)
		if err != nil {
			t.Fatal(err)
		}
		spent := Spending{{Category: category, Currency: "EUR", Month: "2026-03"}: money.MustParse(c.spent).Total()}
		got, err := Target{Currency: "EUR", Amount: money.MustParse("50.00"), StartMonth: "2026-01"}.measure(category,
			"2026-03", today, spent, fixedCosts{})
		if err != nil || got.State != c.state || got.Pace != c.pace {
			t.Errorf("%+v: %s at %d %%, %v", c, got.State, got.Pace, err)
		}
	}
}

package statement

import (
	"context"
	"fmt"
	"io"
	"iter"
	"testing"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/text"
)

// Among a hundred thousand rows of one amount, such as bus fares, each row is compared only a few
// times, and not with every other row.
func TestEqualAmountsAreComparedAFewTimes(t *testing.T) {
	t.Parallel()
	racetest.Sequential(t)
	const rows = 100_000
	for _, c := range []struct {
		name        string
		later, days int // the stored rows are this many days later; number of days
		text        string
		likely      int
	}{
		{"same days", 0, 300, "Fare", rows},
		{"days apart", 2, 300, "Fare metro", rows},
		{"another text", 2, 300, "Bakery", 0},
		{"another text, one day", 2, 1, "Bakery", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			row := func(n, later int, name string) Row {
				day := time.Date(2026, 1, 1+later+n%c.days*(1+Apart*2), 0, 0, 0, 0, time.UTC) // far from the next day
				return Row{
					Number: n + 1, Date: day.Format(time.DateOnly), Amount: money.MustParse("2.90"),
					Name: text.Untrusted(fmt.Sprintf("%s 0%d", name, n)),
				}
			}
			ofx := Fingerprints{Format: "ofx"}
			stored := make([]Stored, rows)
			for i := range stored {
				r := row(i, c.later, c.text)
				stored[i] = Stored{Key: ofx.Of(r), Date: r.Date, Cents: r.Amount.Cents(), Name: r.Name.Plain()}
			}
			file := File{Preview: Preview{FirstDate: "2026-01-01", LastDate: "2036-01-01"}, Format: Format{
				Name: "qif",
				Read: func(context.Context, io.ReaderAt, Preview) iter.Seq2[Row, error] {
					return func(yield func(Row, error) bool) {
						for i := range rows {
							if !yield(row(i, 0, "METRO"), nil) {
								return
							}
						}
					}
				},
			}}
			m, err := match(t.Context(), file, stored)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.likely) != c.likely || m.looked > 4*rows {
				t.Errorf("%d of %d rows are likely there, after %d looks", len(m.likely), rows, m.looked)
			}
		})
	}
}

package recurring

import (
	"context"
	"time"

	"coffer/internal/platform/pg"
)

// An Expected is an active recurring payment, with the days on which it should come.
type Expected struct {
	Recurring
	Days []pg.Date
}

// Kept returns all recurring payments that were not dismissed, including those that have ended.
func Kept(ctx context.Context, q pg.Querier) ([]Recurring, error) {
	return Matching(ctx, q, ListRecurring{})
}

// Expect returns the active recurring payments that should come between two days. Dismissed series
// are left out.
func Expect(ctx context.Context, q pg.Querier, from, until pg.Date) ([]Expected, error) {
	all, err := Matching(ctx, q, ListRecurring{Status: []string{Active, Late}})
	if err != nil {
		return nil, err
	}
	var out []Expected
	for _, r := range all {
		if days := r.Expect(from, until); len(days) > 0 {
			out = append(out, Expected{r, days})
		}
	}
	return out, nil
}

// Expect returns the days between two days on which the payment is expected. If exactly one payment
// was expected earlier and has not arrived, the list begins with its day. If several were expected,
// coffer has no recent data of the account and does not know whether they were paid, so it leaves
// them out.
func (r *Recurring) Expect(from, until pg.Date) []pg.Date {
	var out []pg.Date
	for n := 0; ; n++ {
		day := date(r.expected(n))
		switch {
		case day.Time().After(until.Time()):
			return out
		case !day.Time().Before(from.Time()):
			out = append(out, day)
		case n == 0:
			out = append(out, day)
		default:
			out = nil
		}
	}
}

// expected returns the day of the payment n cadences after the next payment. The usual day applies
// to each month separately: a payment due on the 31st comes on 28 February and on 31 March.
func (r *Recurring) expected(n int) int {
	c, next := cadenceNamed(r.Cadence), dayOf(r.NextDate.Time())
	switch {
	case !c.long():
		return next + n*c.days
	case r.Usual == nil: // for example every 28 or 30 days
		return next + n*max(c.min, next-dayOf(r.LastDate.Time()))
	}
	of := r.NextDate.Time()
	return dayIn(of.Year(), of.Month()+time.Month(n*c.months), *r.Usual)
}

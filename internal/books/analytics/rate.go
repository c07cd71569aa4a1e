package analytics

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostRates is the largest number of rates that a household may enter.
const mostRates = 10_000

// rateOps returns the operations on rates. Like settings, rates are for people only, and the
// journal does not record their changes.
func (t *Totals) rateOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "rate.list", Route: "GET /rates", Record: true,
			Summary: "Lists the household's own exchange rates, newest first.",
		}, t.Rates),
		op.Writing(op.Spec{
			Name: "rate.set", Route: "PUT /rates", People: op.PeopleAlways, Record: true,
			Summary: "Sets an exchange rate that applies from a day on.",
		}, t.SetRate),
		op.Writing(op.Spec{
			Name: "rate.delete", Route: "DELETE /rates/{id}", People: op.PeopleAlways,
			Summary: "Deletes an exchange rate.",
		}, t.DeleteRate),
	}
}

// A Rate is what the household enters as the value of one unit of a currency in another currency.
// It applies from its day until the next rate for these two currencies.
type Rate struct {
	ID        id.ID          `json:"id" db:"id"`
	ShortID   string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Currency  money.Currency `json:"iso_currency_code" db:"currency"`
	In        money.Currency `json:"in" db:"quoted" doc:"The other currency"`
	Date      pg.Date        `json:"date" db:"day" doc:"First day of the rate"`
	Rate      money.Rate     `json:"rate" db:"rate" doc:"Value of one unit of iso_currency_code in the currency in"`
	CreatedAt pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt pg.Time        `json:"updated_at" db:"updated_at"`
}

// A RateList is all rates of the household.
type RateList struct {
	Rates []Rate `json:"rates"`
}

// Rates returns all rates, newest first.
func (t *Totals) Rates(ctx context.Context, q pg.Querier, _ op.None) (RateList, error) {
	rates, err := pg.All[Rate](ctx, q, `select id, short_id, currency, quoted, day, rate, created_at, updated_at from rate
		order by day desc, currency, quoted`)
	return RateList{rates}, err
}

// SetRate is the input of SetRate.
type SetRate struct {
	Currency money.Currency `json:"iso_currency_code" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	In       money.Currency `json:"in" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"The other currency"`
	Date     pg.Date        `json:"date" doc:"Start date (inclusive)"`
	Rate     money.Rate     `json:"rate" doc:"Value of one unit of iso_currency_code in the currency in; above 0, at most nine decimals" example:"0.92"`
}

// SetRate sets the rate of a day; an existing rate is replaced.
func (t *Totals) SetRate(ctx context.Context, tx pg.Tx, in SetRate) (RateList, error) {
	if in.Currency == in.In {
		return RateList{}, errs.Field("in", "conflict", "must be another currency")
	}
	// Calls wait for each other here. Otherwise two of them could both take the last free place.
	if _, err := pg.Exec(ctx, tx, `lock table rate in share row exclusive mode`); err != nil {
		return RateList{}, err
	}
	now, err := t.Rates(ctx, tx, op.None{})
	if err != nil {
		return RateList{}, err
	}
	if err := op.Match(ctx, now); err != nil {
		return RateList{}, err
	}
	known := slices.ContainsFunc(now.Rates, func(r Rate) bool {
		return r.Currency == in.Currency && r.In == in.In && r.Date == in.Date
	})
	if !known && len(now.Rates) >= mostRates {
		return RateList{}, errs.New(errs.Conflict, "limit of %d rates reached; delete one first", mostRates)
	}
	if err := pg.Redraw(ctx, tx, "rate_short_id", func(tx pg.Tx) error {
		newID := id.New()
		_, err := pg.Exec(ctx, tx, `insert into rate (id, short_id, currency, quoted, day, rate)
			values ($1, $2, $3, $4, $5, $6)
			on conflict (currency, quoted, day) do update set rate = excluded.rate, updated_at = clock_timestamp()`,
			newID, newID.Short(), string(in.Currency), string(in.In), in.Date, in.Rate)
		return err
	}); err != nil {
		return RateList{}, err
	}
	return t.Rates(ctx, tx, op.None{})
}

// A RateRef names a rate.
type RateRef struct {
	ID string `json:"id" minLength:"1" doc:"The rate's UUID or short id"`
}

// DeleteRate deletes a rate.
func (t *Totals) DeleteRate(ctx context.Context, tx pg.Tx, in RateRef) (op.None, error) {
	_, err := pg.Value[id.ID](ctx, tx, `delete from rate where id = $1 or short_id = $2 returning id`,
		pg.RefTo(in.ID).IDArgs()...)
	return op.None{}, pg.Found(err, "rate", "{rate.list} lists them")
}

// A NetWorthConverted is a point in one currency, converted by the household's own rates. It is an
// estimate.
type NetWorthConverted struct {
	Currency  money.Currency     `json:"iso_currency_code"`
	Net       money.Converted    `json:"net"`
	RateDates map[string]pg.Date `json:"rate_dates" doc:"The day of each other currency's rate"`
}

// errNoRate is returned if the household has no rate for a currency.
var errNoRate = errors.New("no rate")

// A converter converts sums into one currency.
type converter struct {
	in    money.Currency
	rates []Rate // newest first
}

// newConverter reads the rates to and from a currency.
func (t *Totals) newConverter(ctx context.Context, q pg.Querier, in money.Currency) (converter, error) {
	all, err := t.Rates(ctx, q, op.None{})
	return converter{in, slices.DeleteFunc(all.Rates, func(r Rate) bool { return r.Currency != in && r.In != in })}, err
}

// of converts a sum by the last rate on or before the day. A rate is used in both directions, but
// rates are never chained through a third currency.
func (c converter) of(s money.Sum, currency money.Currency, day pg.Date) (money.Converted, *pg.Date, error) {
	if currency == c.in {
		return s.Itself(), nil, nil
	}
	for _, r := range c.rates {
		switch {
		case r.Date.Time().After(day.Time()):
		case r.Currency == currency:
			v, err := s.Times(r.Rate)
			return v, &r.Date, err
		case r.In == currency:
			v, err := s.Over(r.Rate)
			return v, &r.Date, err
		}
	}
	return money.Converted{}, nil, errNoRate
}

// convert converts each point into one currency. It returns the currencies without a rate, and
// those in which the sum of a day becomes too large to be represented.
func (c converter) convert(points []NetWorthPoint) (missing, large []string, err error) {
	for i, p := range points {
		out := NetWorthConverted{Currency: c.in, RateDates: map[string]pg.Date{}}
		whole, known := true, false
		for _, t := range p.Totals {
			if t.Net == nil {
				continue
			}
			v, day, err := c.of(t.Net.In(t.Currency), t.Currency, p.Date)
			if err == nil {
				out.Net, err = out.Net.Plus(v)
			}
			switch {
			case errors.Is(err, errNoRate):
				whole, missing = false, append(missing, string(t.Currency))
				continue
			case errors.Is(err, money.ErrRange):
				whole, large = false, append(large, string(t.Currency))
				continue
			case err != nil:
				return nil, nil, err
			case day != nil:
				out.RateDates[string(t.Currency)] = *day
			}
			known = true
		}
		if whole && known {
			points[i].Converted = &out
		}
	}
	slices.Sort(missing)
	slices.Sort(large)
	return slices.Compact(missing), slices.Compact(large), nil
}

// noRate returns notes that points were not converted.
func noRate(ctx context.Context, in money.Currency, missing, large []string) (notes []op.Note) {
	if len(missing) > 0 {
		notes = append(notes, op.Note{
			Code: "no_rate", See: op.See(ctx, "rate.set"),
			Message: "some days can't be converted to " + string(in) + ": add an earlier rate " +
				"for " + strings.Join(missing, ", "),
		})
	}
	if len(large) > 0 {
		notes = append(notes, op.Note{
			Code: "no_rate", See: op.See(ctx, "rate.list"),
			Message: "some days can't be converted to " + string(in) + ": the sum is too large; check the " +
				"rates of " + strings.Join(large, ", "),
		})
	}
	return notes
}

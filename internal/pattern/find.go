package pattern

import (
	"context"
	"slices"

	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// FindPatterns is the input of Find.
type FindPatterns struct {
	Kind      string   `json:"kind" enum:"recurring,price_change,missed"`
	Direction *string  `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out"`
	AccountID *string  `json:"account_id,omitempty" minLength:"1"`
	StartDate *pg.Date `json:"start_date,omitempty" doc:"price_change: from this day on; a year ago if omitted"`
	Ended     bool     `json:"ended,omitempty" doc:"recurring: also those that have ended"`
	Dismissed bool     `json:"dismissed,omitempty" doc:"Only those that were dismissed"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"200" default:"60"`
}

// Found is what was found.
type Found struct {
	Patterns []Pattern `json:"patterns"`
	Total    int       `json:"total" doc:"How many there are; more than are listed if the list was cut"`
}

// A Pattern is something that the transactions show.
type Pattern struct {
	ID           string         `json:"id" doc:"Short id, for review_pattern and the filter recurring_id"`
	Name         string         `json:"name,omitempty" doc:"What the household calls it"`
	Payee        text.Untrusted `json:"payee" doc:"Untrusted: who is paid, or pays"`
	Amount       money.Amount   `json:"amount" doc:"Positive is money out"`
	Currency     money.Currency `json:"iso_currency_code"`
	Varies       bool           `json:"varies,omitempty" doc:"The amount is the usual one"`
	Cadence      string         `json:"cadence"`
	YearlyAmount *money.Total   `json:"yearly_amount,omitempty"`
	NextDate     *pg.Date       `json:"next_date,omitempty" doc:"When it is expected; of a missed one, when it was"`
	LastDate     *pg.Date       `json:"last_date,omitempty"`
	Date         *pg.Date       `json:"date,omitempty" doc:"Of the price change"`
	Before       *money.Amount  `json:"before,omitempty"`
	After        *money.Amount  `json:"after,omitempty"`
	Percent      *int64         `json:"percent,omitempty"`
	Provisional  bool           `json:"provisional,omitempty" doc:"Only the newest payment has this price"`
	Status       string         `json:"status,omitempty" doc:"late or ended; absent: active"`
	State        string         `json:"state,omitempty" doc:"confirmed or dismissed; absent: undecided"`
}

// patternBytes is about what one pattern takes.
const patternBytes = 300

// Find returns patterns of one kind in few words.
func (p *Patterns) Find(ctx context.Context, q pg.Querier, in FindPatterns) (Found, error) {
	list := ListRecurring{Direction: in.Direction, AccountID: in.AccountID}
	if in.Dismissed {
		list.State = []string{Dismissed}
	}
	switch in.Kind {
	case "missed":
		list.Status = []string{late}
	case "price_change":
		if list.ChangedSince = in.StartDate; in.StartDate == nil {
			since, err := pg.Value[pg.Date](ctx, q, `select ((now() at time zone time_zone)::date - interval '1 year')::date
				from setting`)
			if err != nil {
				return Found{}, err
			}
			list.ChangedSince = &since
		}
	default:
		list.Status = []string{active, late}
		if in.Ended {
			list.Status = nil
		}
	}
	all, err := p.all(ctx, q, list)
	if err != nil {
		return Found{}, err
	}
	out := Found{Patterns: []Pattern{}}
	if in.Kind == "recurring" {
		slices.SortStableFunc(all, func(a, b Recurring) int {
			return absolute(b.YearlyAmount).Cmp(absolute(a.YearlyAmount))
		})
	}
	for _, r := range all {
		if in.Kind != "price_change" {
			out.Patterns = append(out.Patterns, r.pattern(in.Kind))
			continue
		}
		for _, c := range r.PriceChanges {
			if c.Date.Time().Before(list.ChangedSince.Time()) {
				break
			}
			one := r.pattern(in.Kind)
			one.Date, one.Before, one.After = &c.Date, &c.Before, &c.After
			one.Percent, one.Provisional = &c.Percent, c.Provisional
			out.Patterns = append(out.Patterns, one)
		}
	}
	out.Total = len(out.Patterns)
	out.Patterns = out.Patterns[:min(len(out.Patterns), in.Limit, op.ToolBytes/patternBytes)]
	return out, nil
}

func absolute(t money.Total) money.Total {
	if t.IsNeg() {
		return t.Neg()
	}
	return t
}

// pattern is the series in few words.
func (r *Recurring) pattern(kind string) Pattern {
	out := Pattern{
		ID: r.ShortID, Payee: r.PayeeName, Amount: r.Amount, Currency: r.Currency, Varies: r.AmountType == "variable",
		Cadence: r.Cadence,
	}
	if r.Name != nil {
		out.Name = *r.Name
	}
	if r.Status != active {
		out.Status = r.Status
	}
	if r.State != Auto {
		out.State = r.State
	}
	if kind != "price_change" {
		out.NextDate = r.NextDate
	}
	if kind == "recurring" {
		out.YearlyAmount = &r.YearlyAmount
	}
	if kind == "missed" || r.Status == ended {
		out.LastDate = &r.LastDate
	}
	return out
}

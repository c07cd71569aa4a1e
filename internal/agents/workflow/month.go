package workflow

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// A Month is the cost of models in the household's current month.
type Month struct {
	Month    pg.Date       `db:"month"` // its first day
	Ends     pg.Date       `db:"ends"`  // the first day of the next
	Spent    int64         `db:"spent_micros"`
	Reserved int64         `db:"reserved_micros"` // for calls in progress
	Ceiling  *money.Amount `db:"monthly_ceiling_usd"`
}

// Month returns the costs of this month, in the household's time zone.
func (w *Workflows) Month(ctx context.Context, q pg.Querier) (Month, error) {
	return pg.One[Month](ctx, q, `
		select d.month, (d.month + interval '1 month')::date as ends, s.monthly_ceiling_usd,
			coalesce(m.spent_micros, 0) as spent_micros, coalesce(m.reserved_micros, 0) as reserved_micros
		from setting s
		cross join lateral (select date_trunc('month', now() at time zone s.time_zone)::date as month) d
		left join model_month m on m.month = d.month`)
}

// open returns an error if the month's limit is used up.
func (m Month) open() error {
	if m.Ceiling == nil || m.Spent+m.Reserved < m.Ceiling.Cents()*microsPerCent {
		return nil
	}
	return errs.New(errs.RunLimit,
		"this month's AI limit of %s dollars is used up; a new month starts on %s, or raise "+
			"monthly_ceiling_usd with {agent.update}", m.Ceiling, m.Ends)
}

package analytics

import (
	"context"
	"fmt"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// timelineMost is the largest number of rows that are read. Each row is a period in one currency,
// so it is enough for 250 years of months in one currency, or eight years of days.
const timelineMost = 3000

// A TimelineRequest asks how a list of transactions is spread over time.
type TimelineRequest struct {
	ledger.Filter
	By string `json:"by,omitempty" enum:"month,day" default:"month"`
}

// A Timeline holds the periods of a list of transactions, newest first. It counts exactly what the
// list shows. So a client knows the position of each transaction before it has read the list.
type Timeline struct {
	Periods []Period `json:"periods"`
	HasMore bool     `json:"has_more" doc:"There are earlier periods; narrow the dates to see them"`
}

// A Period is a month or a day with its transactions.
type Period struct {
	Period string        `json:"period" doc:"2026-11, or 2026-11-15 by day"`
	Count  int64         `json:"count"`
	Totals []PeriodTotal `json:"totals" doc:"By currency"`
}

// A PeriodTotal holds the totals of a period in one currency.
type PeriodTotal struct {
	Currency money.Currency     `json:"iso_currency_code" db:"currency"`
	MoneyIn  money.Total        `json:"money_in" db:"money_in" doc:"Money in, as a positive number"`
	MoneyOut money.Total        `json:"money_out" db:"money_out" doc:"Money out, as a positive number"`
	Net      money.Total        `json:"net" db:"net" doc:"money_in minus money_out"`
	Count    int64              `json:"count" db:"count"`
	Counted  ledger.CountedSums `json:"counted" db:"-" doc:"Only those that totals of income and spending count: no transfers, no duplicates, nothing excluded, no hidden accounts"`
}

// Timeline counts and adds up the transactions of a filter by month or day.
func (t *Totals) Timeline(ctx context.Context, q pg.Querier, in TimelineRequest) (Timeline, error) {
	out := Timeline{Periods: []Period{}}
	where, none, err := t.books.Where(ctx, q, in.Filter)
	if err != nil || none {
		return out, err
	}
	by := groupings[in.By]
	type row struct {
		Period string `db:"period"`
		PeriodTotal
		ledger.CountedColumns
	}
	rows, err := pg.All[row](ctx, q, fmt.Sprintf(`
		select %[1]s as period, t.currency, -t.negative as money_in, t.total - t.negative as money_out,
			-t.total as net, t.count, t.counted_in, t.counted_out, t.counted_net, t.counted
		from (
			select %[2]s as %[3]s, t.currency,
				coalesce(sum(t.amount) filter (where t.amount < 0 and %[6]s), 0) as negative,
				coalesce(sum(t.amount) filter (where %[6]s), 0) as total, count(*) as count, %[7]s
			from transaction t %[4]s group by 1, 2) t
		order by t.%[3]s desc, t.currency limit %[5]d`, by.name, by.key,
		map[string]string{"month": "month", "day": "date"}[in.By], where.SQL(), timelineMost+1,
		in.Summed(), in.CountedSQL()), where.Args()...)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		if n := len(out.Periods); n == 0 || out.Periods[n-1].Period != r.Period {
			out.Periods = append(out.Periods, Period{Period: r.Period})
		}
		p := &out.Periods[len(out.Periods)-1]
		r.Counted = ledger.CountedSums(r.CountedColumns)
		p.Count += r.PeriodTotal.Count
		p.Totals = append(p.Totals, r.PeriodTotal)
	}
	if len(rows) > timelineMost { // rows of the last period may be missing
		out.Periods, out.HasMore = out.Periods[:len(out.Periods)-1], true
	}
	return out, nil
}

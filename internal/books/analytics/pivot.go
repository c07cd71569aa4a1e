package analytics

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

const (
	pivotColumns = 60  // at most
	pivotRows    = 100 // without a limit
)

// measures maps what a pivot can add up to expressions over the sums of a group.
var measures = map[string]string{"out": "-net", "in": "money_in", "net": "net", "count": "count"}

// A SummaryPivot is a summary as a table: a row for each group and currency, and a column for each
// month, week or day.
type SummaryPivot struct {
	Measure string               `json:"measure" enum:"out,in,net,count"`
	Columns []SummaryPivotColumn `json:"columns" doc:"The months, weeks or days, oldest first, including empty ones"`
	Rows    []SummaryPivotRow    `json:"rows" doc:"Largest first, unless sort_by is set"`
	Other   []SummaryPivotOther  `json:"other" doc:"Sum of the rows beyond limit and min_count, by currency"`
	Totals  []SummaryPivotTotal  `json:"totals,omitempty" doc:"All rows, by currency; not with tag, where a transaction can be in two"`
}

// A SummaryPivotColumn is one month, week or day.
type SummaryPivotColumn struct {
	Key      string `json:"key" doc:"The month (2026-10), the Monday of the week, or the day"`
	Complete bool   `json:"complete" doc:"All of its days are in the range, have passed, and are not before the first transaction; average is over these"`
}

// SummaryPivotSums are the values of a row.
type SummaryPivotSums struct {
	Values  []money.Total `json:"values" doc:"One for each of columns"`
	Total   money.Total   `json:"total"`
	Average *money.Total  `json:"average,omitempty" doc:"Over the complete columns, to the cent; absent if there is none"`
	Count   int64         `json:"count" doc:"How many transactions"`
}

// A SummaryPivotRow holds the values of one group in one currency.
type SummaryPivotRow struct {
	Keys     map[string]*text.Untrusted `json:"keys" doc:"The group's value, by the first name in group_by; null for transactions without one"`
	IDs      map[string]*id.ID          `json:"ids,omitempty" doc:"As in groups"`
	Payee    *id.Key                    `json:"payee,omitempty" doc:"As in groups"`
	Currency money.Currency             `json:"iso_currency_code"`
	SummaryPivotSums
}

// A SummaryPivotOther sums up the rows of one currency that are not shown.
type SummaryPivotOther struct {
	Currency money.Currency `json:"iso_currency_code"`
	Groups   int64          `json:"groups" doc:"How many rows"`
	SummaryPivotSums
}

// A SummaryPivotTotal sums up all rows of one currency.
type SummaryPivotTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	SummaryPivotSums
}

// pivotable rejects requests that cannot be shown as a table.
func (in SummaryRequest) pivotable() error {
	switch {
	case !in.Pivot && in.Measure != nil:
		return errs.Field("measure", "conflict", "can only be used with pivot")
	case !in.Pivot:
		return nil
	case len(in.GroupBy) != 2 || periods[in.GroupBy[0]] != nil || periods[in.GroupBy[1]] == nil:
		return errs.Field("group_by", "conflict", "must have two groupings for a pivot: first the rows, such "+
			"as category, then the columns: month, week or day")
	case in.Compare != nil:
		return errs.Field("compare", "conflict", "can't be used with pivot")
	case in.StartDate == nil:
		return errs.Field("start_date", "missing", "is required for a pivot")
	}
	return nil
}

// periods maps each kind of column to a function. It moves a day to the beginning of its column,
// and then n columns ahead.
var periods = map[string]func(day time.Time, n int) time.Time{
	"month": func(day time.Time, n int) time.Time {
		return time.Date(day.Year(), day.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	},
	"week": func(day time.Time, n int) time.Time {
		return day.AddDate(0, 0, 7*n-(int(day.Weekday())+6)%7)
	},
	"day": func(day time.Time, n int) time.Time { return day.AddDate(0, 0, n) },
}

// columnsOf returns the columns of some days. The column in which the books begin is not complete,
// and neither are columns before it. Otherwise an average would include months without data and be
// too low.
func columnsOf(by string, days Days, books Standing) ([]SummaryPivotColumn, error) {
	first := days.Start.Time()
	if books.FirstDate != nil && books.FirstDate.Time().After(first) {
		first = books.FirstDate.Time()
	}
	step, format := periods[by], time.DateOnly
	if by == "month" {
		format = "2006-01"
	}
	out := []SummaryPivotColumn{}
	for at := step(days.Start.Time(), 0); !at.After(days.End.Time()); at = step(at, 1) {
		if len(out) == pivotColumns {
			return nil, errs.Field("start_date", "range", "must be later: a pivot has at most %d columns", pivotColumns)
		}
		last := step(at, 1).AddDate(0, 0, -1)
		out = append(out, SummaryPivotColumn{at.Format(format), !at.Before(first) &&
			!last.After(days.End.Time()) && last.Before(books.Today.Time())})
	}
	return out, nil
}

// pivot adds up like sums, but returns a table.
func (t *Totals) pivot(ctx context.Context, q pg.Querier, in SummaryRequest, where *pg.Where, books Standing) (
	_ *SummaryPivot, err error,
) {
	days := Days{*in.StartDate, books.Today}
	if in.EndDate != nil {
		days.End = *in.EndDate
	}
	out := SummaryPivot{Measure: "out", Rows: []SummaryPivotRow{}, Other: []SummaryPivotOther{}}
	if in.Measure != nil {
		out.Measure = *in.Measure
	}
	if out.Columns, err = columnsOf(in.GroupBy[1], days, books); err != nil || where == nil {
		return &out, err
	}
	in.EndDate = &days.End
	sql, args := in.pivotSQL(where.Clone(), &out)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	place := make(map[string]int, len(out.Columns))
	for i, c := range out.Columns {
		place[c.Key] = i
	}
	by := in.GroupBy[0]
	for rows.Next() {
		row := keyed(in.GroupBy[:1])
		var sums SummaryPivotSums
		var at []string
		var values []money.Total
		places := slices.Concat(row.places, []any{
			&sums.Total, &sums.Average, &sums.Count, &row.groups, &at, &values,
			&row.place,
		})
		if err := rows.Scan(places...); err != nil {
			return nil, fmt.Errorf("read a row: %w", err)
		}
		sums.Values = make([]money.Total, len(out.Columns))
		for i, key := range at {
			sums.Values[place[key]] = values[i]
		}
		switch row.part {
		case partOther:
			out.Other = append(out.Other, SummaryPivotOther{row.currency, row.groups, sums})
		case partTotal:
			out.Totals = append(out.Totals, SummaryPivotTotal{row.currency, sums})
		default:
			row.name()
			r := SummaryPivotRow{map[string]*text.Untrusted{by: row.keys[0]}, nil, row.payee, row.currency, sums}
			if groupings[by].identity != "" {
				r.IDs = map[string]*id.ID{by: row.ids[0]}
			}
			out.Rows = append(out.Rows, r)
		}
	}
	return &out, rows.Err()
}

// pivotSQL adds up the groups by their first key, selects the rows to show and sums up the others.
// A row's values are two lists: the columns that have a value, and the values.
func (in SummaryRequest) pivotSQL(where pg.Where, out *SummaryPivot) (string, []any) {
	groups, _ := in.groups(&where, nil)
	complete := []string{}
	for _, c := range out.Columns {
		if c.Complete {
			complete = append(complete, c.Key)
		}
	}
	args := append(where.Args(), complete)
	keys, nulls := keysOf(in.GroupBy[:1])
	limit, few := pivotRows, "false"
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.MinCount != nil {
		few = "count < " + strconv.Itoa(*in.MinCount)
	}
	sums := fmt.Sprintf(`sum(m) as total, round(coalesce(sum(m) filter (where k = any($%d::text[])), 0) / nullif(%d, 0), 2)
		as average`, len(args), len(complete))
	// One row for each currency: the sum of the rows that are not shown, or of all rows.
	summed := func(part int, which string) string {
		return fmt.Sprintf(`select %d, %s, currency, %s, (select sum(count)::bigint from placed p where %[4]s and
				p.currency = s.currency), (select count(*) from placed p where %[4]s and p.currency = s.currency),
				array_agg(k), array_agg(m), 0
			from (select p.currency, u.k, sum(u.m) as m from placed p, unnest(p.at, p.sums) u (k, m) where %[4]s
				group by p.currency, u.k) s group by currency`, part, strings.Join(nulls, ", "), sums, which)
	}
	parts := []string{
		fmt.Sprintf(`select %d as part, %s, currency, total, average, count, 1::bigint as groups, at, sums, place
			from placed where shown`, partGroup, strings.Join(keys, ", ")),
		summed(partOther, "not p.shown"),
	}
	if in.GroupBy[0] != "tag" {
		parts = append(parts, summed(partTotal, "true"))
	}
	return fmt.Sprintf(`
		with g as materialized (%[1]s),
		c as (select %[2]s, k%[3]d as k, currency, %[4]s::numeric as m, count from g),
		r as (select %[2]s, currency, %[5]s, sum(count)::bigint as count, array_agg(k) as at, array_agg(m) as sums
			from c group by %[2]s, currency),
		ranked as (select *, %[6]s as few, row_number() over (partition by currency order by %[7]s) as rank from r),
		placed as (select *, not few and row_number() over (order by few, rank, currency) <= %[8]d as shown,
			row_number() over (order by currency, rank) as place from ranked)
		%[9]s order by part, place, currency`, groups, strings.Join(keys, ", "), len(keys)+1, measures[out.Measure],
		sums, few, in.pivotOrder(keys), limit, strings.Join(parts, " union all ")), args
}

// pivotOrder returns the sort order of the rows of one currency.
func (in SummaryRequest) pivotOrder(keys []string) string {
	by, direction := "amount", "desc"
	if in.SortBy != nil {
		by = *in.SortBy
	}
	if by == "key" {
		direction = "asc"
	}
	if in.SortOrder != nil {
		direction = *in.SortOrder
	}
	var order []string
	switch by {
	case "amount":
		order, direction = append(order, "abs(total) "+direction), "asc"
	case "count":
		order, direction = append(order, "count "+direction), "asc"
	}
	for _, k := range keys {
		order = append(order, k+" "+direction+" nulls last")
	}
	return strings.Join(order, ", ")
}

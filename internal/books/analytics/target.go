package analytics

import (
	"context"
	"slices"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Target is an amount for one category, in one currency, for every month of a range.
type Target struct {
	ID         id.ID          `json:"id" db:"id"`
	ShortID    string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Category   string         `json:"category" db:"category" doc:"Slug; a primary includes its subcategories"`
	Currency   money.Currency `json:"iso_currency_code" db:"iso_currency_code"`
	Amount     money.Amount   `json:"amount" db:"amount" doc:"For each month"`
	Rollover   bool           `json:"rollover" db:"rollover" doc:"Whether unspent or overspent amounts roll into the next month"`
	StartMonth string         `json:"start_month" db:"start_month" doc:"The first month, as YYYY-MM" example:"2026-01"`
	EndMonth   *string        `json:"end_month" db:"end_month" doc:"The last month; null: no end"`
	CreatedAt  pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt  pg.Time        `json:"updated_at" db:"updated_at"`
}

// TargetRows selects the targets that are not deleted, as t.
const TargetRows = `select t.id, t.short_id, c.slug as category, t.currency as iso_currency_code, t.amount, t.rollover,
	to_char(t.start_month, 'YYYY-MM') as start_month, to_char(t.end_month, 'YYYY-MM') as end_month,
	t.created_at, t.updated_at
	from target t join category c on c.id = t.category_id where t.deleted_at is null`

// targetsMost is larger than the number of targets that a household may have.
const targetsMost = 1000

// The states of a target in a month.
const (
	targetWithin     = "within"
	targetAhead      = "ahead"
	targetOver       = "over"
	targetNotStarted = "not_started"
	targetEnded      = "ended"
)

// A MeasuredTarget is a target together with the spending of a month.
type MeasuredTarget struct {
	Target
	Spent     money.Total  `json:"spent" doc:"Spent in the month: money out minus refunds, including subcategories"`
	Carried   *money.Total `json:"carried,omitempty" doc:"With rollover: unspent amount of the months since start_month, negative if overspent"`
	Available *money.Total `json:"available" doc:"amount plus carried minus spent: negative if overspent; null if the target doesn't apply to this month"`
	Fixed     bool         `json:"fixed" doc:"At least 90% of its spending in this and the two previous months is recurring payments"`
	Recurring money.Total  `json:"recurring" screen:"none" doc:"Recurring payments in spent"`
	Due       money.Total  `json:"due" screen:"none" doc:"Recurring payments expected in the rest of the month"`
	Expected  *money.Total `json:"expected,omitempty" screen:"none" doc:"What would be spent by now: recurring payments by their due dates, the rest by pace; absent if the target doesn't apply to this month"`
	Pace      int          `json:"pace" doc:"Percentage of the month elapsed"`
	State     string       `json:"state" enum:"within,ahead,over,not_started,ended" doc:"within: spending is at most the amount expected by now; ahead: more, or recurring payments still due exceed available; over: more than the whole amount"`
	// Only fixed targets have payments, which keeps the list short.
	Payments []TargetPayment `json:"payments,omitempty" doc:"If fixed: its recurring payments of the month, paid or due"`
}

// A TargetPayment is what a recurring payment costs in one month.
type TargetPayment struct {
	RecurringID id.ID          `json:"recurring_id"`
	Name        text.Untrusted `json:"name" doc:"The household's name for it, else the payee (untrusted)"`
	Amount      money.Amount   `json:"amount"`
	Date        pg.Date        `json:"date" doc:"When it was paid, or is due"`
	Paid        bool           `json:"paid"`
}

// A TargetTotal sums up the targets of one currency, with the income of the month.
type TargetTotal struct {
	Currency  money.Currency `json:"iso_currency_code"`
	Amount    money.Total    `json:"amount" doc:"Targets of the month with what rolled over. A subcategory's target is part of its primary category's, if that has one"`
	Fixed     money.Total    `json:"fixed" doc:"The fixed ones in amount"`
	Spent     money.Total    `json:"spent"`
	Available money.Total    `json:"available" doc:"amount minus spent"`
	Due       money.Total    `json:"due" doc:"Recurring payments expected in the rest of the month"`
	Left      money.Total    `json:"left" doc:"available minus due"`
	Income    money.Total    `json:"income" doc:"Received in the month, in income categories"`
	IncomeDue money.Total    `json:"income_due" doc:"Recurring income expected in the rest of the month"`
}

// ListTargets is the input of Targets.
type ListTargets struct {
	Month *string `json:"month,omitempty" pattern:"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$" hint:"be a month such as 2026-01" doc:"The month to measure; this month if omitted" example:"2026-01"`
}

// A TargetMonth holds all targets and their state in one month.
type TargetMonth struct {
	Month   string           `json:"month"`
	Notes   []op.Note        `json:"notes" doc:"Caveats about the figures"`
	Totals  []TargetTotal    `json:"totals" doc:"By currency; currencies are never mixed"`
	Targets []MeasuredTarget `json:"targets" screen:"rows"`
}

// Targets measures all targets. A target that does not apply in the month is listed too, but
// without the fields that need a budget.
func (t *Totals) Targets(ctx context.Context, q pg.Querier, in ListTargets) (TargetMonth, error) {
	type row struct {
		Target
		CategoryID id.ID `db:"category_id"`
	}
	// There are at most 500, so the list has no pages.
	all, err := pg.All[row](ctx, q, `select x.*, o.category_id from (`+TargetRows+`) x join target o on o.id = x.id
		order by x.category, x.iso_currency_code limit $1`, targetsMost)
	if err != nil {
		return TargetMonth{}, err
	}
	standing, err := Stand(ctx, q)
	if err != nil {
		return TargetMonth{}, err
	}
	out := TargetMonth{
		Month: standing.Today.Time().Format(monthLayout), Totals: []TargetTotal{}, Targets: []MeasuredTarget{},
	}
	if in.Month != nil {
		out.Month = *in.Month
	}
	first, err := time.Parse(monthLayout, out.Month)
	if err != nil {
		return TargetMonth{}, err
	}
	days := Days{Start: pg.Day(first), End: pg.Day(first.AddDate(0, 1, -1))}
	left, err := t.LeftOut(ctx, q, days)
	if err != nil {
		return TargetMonth{}, err
	}
	out.Notes = append(standing.Notes(ctx, &days.Start, &days.End), left...)
	// Only targets that roll over need earlier months.
	var now, since []id.ID
	long := days
	for _, r := range all {
		if start, _ := time.Parse(monthLayout, r.StartMonth); r.Rollover && start.Before(first) {
			since = append(since, r.CategoryID)
			if start.Before(long.Start.Time()) {
				long.Start = pg.Day(start)
			}
		} else {
			now = append(now, r.CategoryID)
		}
	}
	every := sortedDistinct(slices.Concat(now, since))
	short, err := t.Spending(ctx, q, sortedDistinct(now), days)
	if err != nil {
		return TargetMonth{}, err
	}
	history, err := t.Spending(ctx, q, sortedDistinct(since), long)
	if err != nil {
		return TargetMonth{}, err
	}
	fixed, err := t.fixed(ctx, q, every, days, standing.Today)
	if err != nil {
		return TargetMonth{}, err
	}
	categories := make([]id.ID, 0, len(all))
	for _, r := range all {
		spent := short
		if slices.Contains(since, r.CategoryID) {
			spent = history
		}
		m, err := r.measure(r.CategoryID, out.Month, standing.Today.Time(), spent, fixed)
		if err != nil {
			return TargetMonth{}, err
		}
		out.Targets, categories = append(out.Targets, m), append(categories, r.CategoryID)
	}
	out.Totals, err = fixed.totals(out.Targets, categories)
	return out, err
}

// monthLayout is the format of months.
const monthLayout = "2006-01"

func sortedDistinct(ids []id.ID) []id.ID {
	slices.SortFunc(ids, id.ID.Compare)
	return slices.Compact(ids)
}

// measure computes the state of a target in a month. It is a pure function.
func (t Target) measure(category id.ID, at string, today time.Time, spent Spending, fixed fixedCosts) (
	MeasuredTarget, error,
) {
	regular := fixed.of[fixedKey{category, t.Currency}]
	out := MeasuredTarget{
		Target: t, Spent: spent[SpendingKey{Category: category, Currency: t.Currency, Month: at}],
		Pace: monthGone(at, today), Recurring: regular.paid, Due: regular.due, Fixed: regular.fixed(),
	}
	if out.Fixed {
		out.Payments = regular.payments
	}
	switch {
	case at < t.StartMonth:
		out.State = targetNotStarted
		return out, nil
	case t.EndMonth != nil && at > *t.EndMonth:
		out.State = targetEnded
		return out, nil
	}
	var err error
	add := func(a, b money.Total) money.Total {
		sum, e := a.Add(b)
		if e != nil && err == nil {
			err = e
		}
		return sum
	}
	budget := t.Amount.Total()
	if t.Rollover {
		carried := money.Total{}
		first, e := time.Parse(monthLayout, t.StartMonth)
		if e != nil {
			return out, e
		}
		for ; first.Format(monthLayout) < at; first = first.AddDate(0, 1, 0) {
			was := spent[SpendingKey{Category: category, Currency: t.Currency, Month: first.Format(monthLayout)}]
			carried = add(carried, add(t.Amount.Total(), was.Neg()))
		}
		out.Carried, budget = &carried, add(budget, carried)
	}
	available := add(budget, out.Spent.Neg())
	out.Available = &available
	// Recurring payments come on their own days. Only the rest of the budget is spread over the
	// month.
	rest := add(budget, add(out.Recurring, out.Due).Neg())
	if err != nil {
		return out, err
	}
	gone, err := rest.Percent(int64(out.Pace))
	if err != nil {
		return out, err
	}
	expected := add(out.Recurring, gone)
	out.Expected = &expected
	switch {
	case available.IsNeg():
		out.State = targetOver
	case out.Spent.Cmp(expected) > 0 || add(available, out.Due.Neg()).IsNeg():
		out.State = targetAhead
	default:
		out.State = targetWithin
	}
	return out, err
}

// monthGone returns which percentage of a month has passed at the end of today.
func monthGone(at string, today time.Time) int {
	switch now := today.Format(monthLayout); {
	case at < now:
		return 100
	case at > now:
		return 0
	}
	last := time.Date(today.Year(), today.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return 100 * today.Day() / last
}

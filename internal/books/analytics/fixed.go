package analytics

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"coffer/internal/books/ledger"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

const (
	fixedShare    = 90  // a target is fixed from this percentage of recurring spending on
	fixedMonths   = 3   // number of months for which the percentage is calculated
	fixedPayments = 100 // the most payments that a target lists
)

// fixedCosts holds the recurring payments and the income that the targets of one month need.
type fixedCosts struct {
	of      map[fixedKey]fixedCost
	parents map[id.ID]id.ID // of categories
	income  map[money.Currency]money.Total
	coming  map[money.Currency]money.Total // income that is still due
}

type fixedKey struct {
	category id.ID
	currency money.Currency
}

// A fixedCost sums up the recurring payments of one category with its subcategories.
type fixedCost struct {
	paid, due    money.Total     // in the month
	regular, all money.Total     // recurring spending and all spending of the last months
	payments     []TargetPayment // payments in the month, by day
}

// fixed reports whether nearly all spending is recurring payments.
func (f fixedCost) fixed() bool {
	part, err := f.regular.Times(100)
	if err != nil {
		return false
	}
	threshold, err := f.all.Times(fixedShare)
	return err == nil && !f.all.IsZero() && part.Cmp(threshold) >= 0
}

// fixed reads the recurring payments of categories in a month: those that were made and those that
// are still expected.
func (t *Totals) fixed(ctx context.Context, q pg.Querier, categories []id.ID, month Days, today pg.Date) (
	fixedCosts, error,
) {
	out := fixedCosts{
		of: map[fixedKey]fixedCost{}, parents: map[id.ID]id.ID{}, income: map[money.Currency]money.Total{},
		coming: map[money.Currency]money.Total{},
	}
	if len(categories) == 0 {
		return out, nil
	}
	type category struct {
		ID     id.ID  `db:"id"`
		Parent *id.ID `db:"parent_id"`
		Slug   string `db:"slug"`
		Kind   string `db:"kind"`
	}
	known, err := pg.All[category](ctx, q, `select c.id, c.parent_id, c.slug, coalesce(p.kind, c.kind) as kind
		from category c left join category p on p.id = c.parent_id where c.deleted_at is null`)
	if err != nil {
		return out, err
	}
	bySlug := make(map[string]category, len(known))
	for _, c := range known {
		bySlug[c.Slug] = c
		if c.Parent != nil {
			out.parents[c.ID] = *c.Parent
		}
	}
	series, err := recurring.Kept(ctx, q)
	if err != nil {
		return out, err
	}
	if err := t.paid(ctx, q, &out, categories, month, series); err != nil {
		return out, err
	}
	from := month.Start
	if today.Time().After(from.Time()) {
		from = today
	}
	for _, r := range series {
		if r.NextDate == nil || r.Transfer || r.Category == nil || from.Time().After(month.End.Time()) {
			continue
		}
		c := bySlug[*r.Category]
		for _, day := range r.Expect(from, month.End) {
			if day.Time().Before(month.Start.Time()) && month.Start.Time().After(today.Time()) {
				continue // it is expected before the requested month, which lies in the future
			}
			if c.Kind == nodeIncome && r.Direction == "in" {
				sum, err := out.coming[r.Currency].Add(r.Amount.Total().Neg())
				if err != nil {
					return out, err
				}
				out.coming[r.Currency] = sum
				continue
			}
			if r.Direction != "out" {
				continue
			}
			payment := TargetPayment{RecurringID: r.ID, Name: nameOfSeries(r), Amount: r.Amount, Date: day}
			if err := out.add(categories, c.ID, r.Currency, payment); err != nil {
				return out, err
			}
		}
	}
	for k, f := range out.of {
		slices.SortFunc(f.payments, func(a, b TargetPayment) int {
			return cmp.Or(a.Date.Time().Compare(b.Date.Time()), a.RecurringID.Compare(b.RecurringID))
		})
		f.payments = f.payments[:min(len(f.payments), fixedPayments)]
		out.of[k] = f
	}
	return out, nil
}

// nameOfSeries returns the household's name of a recurring payment, else its payee.
func nameOfSeries(r recurring.Recurring) text.Untrusted {
	if r.Name != nil {
		return text.Line(*r.Name, 200)
	}
	return r.PayeeName
}

// above returns the requested categories in which a category counts: itself and its parent.
func (f *fixedCosts) above(asked []id.ID, category id.ID) []id.ID {
	var out []id.ID
	for _, c := range []id.ID{category, f.parents[category]} {
		if _, is := slices.BinarySearchFunc(asked, c, id.ID.Compare); is {
			out = append(out, c)
		}
	}
	return out
}

// add counts a payment of the month in its category and the category's parent.
func (f *fixedCosts) add(asked []id.ID, category id.ID, currency money.Currency, p TargetPayment) error {
	for _, c := range f.above(asked, category) {
		key := fixedKey{c, currency}
		one := f.of[key]
		side := &one.due
		if p.Paid {
			side = &one.paid
		}
		var err error
		if *side, err = side.Add(p.Amount.Total()); err != nil {
			return err
		}
		one.payments = append(one.payments, p)
		f.of[key] = one
	}
	return nil
}

// paid reads what was paid: the recurring payments of the month one by one, the recurring share of
// the spending of the last months, and the income of the month.
func (t *Totals) paid(ctx context.Context, q pg.Querier, out *fixedCosts, categories []id.ID, month Days,
	series []recurring.Recurring,
) error {
	long := Days{pg.Day(month.Start.Time().AddDate(0, 1-fixedMonths, 0)), month.End}
	names := make(map[id.ID]text.Untrusted, len(series))
	ids := make([]id.ID, 0, len(series))
	for _, r := range series {
		if r.Direction == "out" && !r.Transfer {
			names[r.ID], ids = nameOfSeries(r), append(ids, r.ID)
		}
	}
	filter := ledger.Filter{StartDate: &long.Start, EndDate: &long.End}
	for _, c := range categories {
		filter.Category = append(filter.Category, c.String())
	}
	where, none, err := t.books.Where(ctx, q, filter)
	if err != nil || none {
		return err
	}
	where.And("not t.excluded and not t.transfer and t.account_id not in (select id from account where hidden)")
	n := len(where.Args())
	args := append(slices.Clone(where.Args()), ids, month.Start)
	series1, start := "$"+strconv.Itoa(n+1), "$"+strconv.Itoa(n+2)
	type row struct {
		Category  id.ID          `db:"category_id"`
		Currency  money.Currency `db:"currency"`
		Recurring *id.ID         `db:"recurring_id"`
		Date      *pg.Date       `db:"date"` // of a payment in the month
		Amount    money.Total    `db:"amount"`
		Size      money.Total    `db:"size"`
	}
	// A split payment appears as its parts. Other transactions are summed up in one row for each
	// category.
	rows, err := pg.All[row](ctx, q, `
		select t.category_id, t.currency, w.recurring_id, case when w.recurring_id is not null and t.date >= `+start+`
			then t.date end as date, sum(t.amount) as amount, sum(abs(t.amount)) as size
		from transaction t left join recurring_row w on w.transaction_id = coalesce(t.parent_id, t.id)
			and w.recurring_id = any(`+series1+`)
		`+where.SQL()+` group by 1, 2, 3, 4`, args...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		for _, c := range out.above(categories, r.Category) {
			key := fixedKey{c, r.Currency}
			one := out.of[key]
			if one.all, err = one.all.Add(r.Size); err != nil {
				return err
			}
			if r.Recurring != nil {
				if one.regular, err = one.regular.Add(r.Size); err != nil {
					return err
				}
			}
			out.of[key] = one
		}
		if r.Date == nil {
			continue
		}
		amount, err := r.Amount.Amount()
		if err != nil {
			return err
		}
		payment := TargetPayment{
			RecurringID: *r.Recurring, Name: names[*r.Recurring], Amount: amount, Date: *r.Date, Paid: true,
		}
		if err := out.add(categories, r.Category, r.Currency, payment); err != nil {
			return err
		}
	}
	return t.received(ctx, q, out, month)
}

// received reads the income of the month.
func (t *Totals) received(ctx context.Context, q pg.Querier, out *fixedCosts, month Days) error {
	sums, err := t.Sums(ctx, q, SummaryRequest{
		Filter:  ledger.Filter{StartDate: &month.Start, EndDate: &month.End},
		GroupBy: []string{"category"},
	})
	if err != nil {
		return err
	}
	income, err := pg.Values[id.ID](ctx, q, `select c.id from category c left join category p on p.id = c.parent_id
		where coalesce(p.kind, c.kind) = 'income'`)
	if err != nil {
		return err
	}
	for _, g := range sums.Groups {
		if c := g.IDs["category"]; c == nil || !slices.Contains(income, *c) {
			continue
		}
		if out.income[g.Currency], err = out.income[g.Currency].Add(g.Net); err != nil {
			return err
		}
	}
	return nil
}

// totals adds up the targets of each currency. If a primary category has a target, it includes the
// targets of its subcategories.
func (f *fixedCosts) totals(targets []MeasuredTarget, categories []id.ID) ([]TargetTotal, error) {
	live := map[fixedKey]bool{}
	for i, m := range targets {
		if m.Available != nil {
			live[fixedKey{categories[i], m.Currency}] = true
		}
	}
	by := map[money.Currency]*TargetTotal{}
	var err error
	add := func(to *money.Total, n money.Total) {
		sum, e := to.Add(n)
		if e != nil && err == nil {
			err = e
		}
		*to = sum
	}
	for i, m := range targets {
		if parent, ok := f.parents[categories[i]]; m.Available == nil || ok && live[fixedKey{parent, m.Currency}] {
			continue
		}
		sum := by[m.Currency]
		if sum == nil {
			sum = &TargetTotal{Currency: m.Currency, Income: f.income[m.Currency], IncomeDue: f.coming[m.Currency]}
			by[m.Currency] = sum
		}
		whole := *m.Available
		add(&whole, m.Spent)
		add(&sum.Amount, whole)
		if m.Fixed {
			add(&sum.Fixed, whole)
		}
		add(&sum.Spent, m.Spent)
		add(&sum.Available, *m.Available)
		add(&sum.Due, m.Due)
		add(&sum.Left, *m.Available)
		add(&sum.Left, m.Due.Neg())
	}
	out := make([]TargetTotal, 0, len(by))
	for _, sum := range by {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b TargetTotal) int { return cmp.Compare(a.Currency, b.Currency) })
	return out, err
}

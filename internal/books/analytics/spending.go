package analytics

import (
	"context"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// Spending is the net amount spent on categories, by month and currency. Refunds are subtracted,
// and it counts the transactions that a summary counts. The amount of a primary category includes
// its subcategories.
type Spending map[SpendingKey]money.Total

// A SpendingKey is one category in one month (YYYY-MM), in one currency.
type SpendingKey struct {
	Category id.ID
	Currency money.Currency
	Month    string
}

// Spending adds up what was spent on these categories in these days.
func (t *Totals) Spending(ctx context.Context, q pg.Querier, categories []id.ID, days Days) (Spending, error) {
	if len(categories) == 0 {
		return Spending{}, nil
	}
	in := SummaryRequest{
		Filter:  ledger.Filter{StartDate: &days.Start, EndDate: &days.End},
		GroupBy: []string{"category", "month"},
	}
	for _, c := range categories {
		in.Category = append(in.Category, c.String())
	}
	sums, err := t.Sums(ctx, q, in)
	if err != nil {
		return nil, err
	}
	type child struct {
		ID     id.ID `db:"id"`
		Parent id.ID `db:"parent_id"`
	}
	children, err := pg.All[child](ctx, q, `select id, parent_id from category where parent_id = any($1)`, categories)
	if err != nil {
		return nil, err
	}
	parents := make(map[id.ID]id.ID, len(children))
	for _, c := range children {
		parents[c.ID] = c.Parent
	}
	return spendingOf(sums.Groups, parents)
}

// spendingOf adds each group of a category and month to its category and to the category's parent.
func spendingOf(groups []Group, parents map[id.ID]id.ID) (Spending, error) {
	out := Spending{}
	for _, g := range groups {
		category, month := g.IDs["category"], g.Keys["month"]
		if category == nil || month == nil {
			continue
		}
		above := []id.ID{*category}
		if p, ok := parents[*category]; ok {
			above = append(above, p)
		}
		for _, c := range above {
			key := SpendingKey{c, g.Currency, month.Plain()}
			sum, err := out[key].Add(g.Net.Neg())
			if err != nil {
				return nil, err
			}
			out[key] = sum
		}
	}
	return out, nil
}

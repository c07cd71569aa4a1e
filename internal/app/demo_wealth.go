package app

import (
	"context"
	"time"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// home adds the demo's house and the history of its mortgage, so that net worth has no step on the
// day on which the mortgage's balance became known.
func (d *furnisher) home(ctx context.Context) {
	ago := func(years int) string { return d.end.AddDate(-years, 0, 0).Format(time.DateOnly) }
	house := d.do(ctx, "account.create", map[string]any{
		"name": "Our home", "kind": "property", "balance": 398000, "balance_date": ago(2),
	})
	d.do(ctx, "balance.set", map[string]any{"id": house["id"], "day": ago(1), "current": 405000})
	if d.err != nil {
		return
	}
	loan, err := pg.Value[id.ID](ctx, d.app.DB, `select id from account where subtype = 'mortgage' limit 1`)
	if d.err = err; err != nil {
		return
	}
	d.do(ctx, "account.update", map[string]any{"id": loan.String(), "balance_method": "valuations"})
	d.do(ctx, "balance.set", map[string]any{"id": loan.String(), "day": ago(2), "current": 157200})
	d.do(ctx, "balance.set", map[string]any{"id": loan.String(), "day": ago(1), "current": 152800})
}

// budgets sets the demo's monthly budgets.
func (d *furnisher) budgets(ctx context.Context) {
	for _, b := range []struct {
		category string
		amount   int
	}{{"entertainment", 120}, {"transport", 450}, {"shopping", 800}, {"food_and_drink", 2000}} {
		d.do(ctx, "target.create", map[string]any{"category": b.category, "amount": b.amount})
	}
}

package analytics

import (
	"context"

	"coffer/internal/books/account"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A NetWorthChange is how one currency changed over a series.
type NetWorthChange struct {
	Currency   money.Currency `json:"iso_currency_code"`
	StartDate  pg.Date        `json:"start_date" doc:"The first day of the series with a known balance"`
	EndDate    pg.Date        `json:"end_date"`
	Net        money.Total    `json:"net"`
	Assets     money.Total    `json:"assets"`
	Debts      money.Total    `json:"debts" doc:"Negative if debts fell"`
	WithoutNew money.Total    `json:"without_new" doc:"net without the balances that new_accounts brought"`
	New        []NetWorthNew  `json:"new_accounts" doc:"Accounts that became known after start_date with a balance from before; they are no gain or loss"`
}

// A NetWorthNew is an account that became known within a series.
type NetWorthNew struct {
	ID      id.ID          `json:"id"`
	Name    text.Untrusted `json:"name" doc:"The household's name for it, else the bank's (untrusted)"`
	Date    pg.Date        `json:"date" doc:"The first day of the series on which its balance is known"`
	Balance money.Total    `json:"balance" doc:"The balance it brought; a debt is negative"`

	currency money.Currency
}

// begun returns the accounts that became known after the first day of their currency. Balance is
// what each one had before its first transaction. Accounts that had nothing then are left out,
// because all their money came in by transactions.
func begun(ctx context.Context, q pg.Querier, rows []netWorthRow) ([]NetWorthNew, error) {
	first := map[money.Currency]pg.Date{}
	seen := map[id.ID]bool{}
	var out []NetWorthNew
	var ids []id.ID
	var days []pg.Date
	for _, r := range rows { // by day
		if r.Asset == nil || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		if _, ok := first[r.Currency]; !ok {
			first[r.Currency] = r.Day
		}
		if r.Day == first[r.Currency] {
			continue
		}
		out = append(out, NetWorthNew{ID: r.ID, Name: r.Name, Date: r.Day, Balance: *r.Asset, currency: r.Currency})
		if r.Method == "transactions" {
			ids, days = append(ids, r.ID), append(days, r.Day)
		}
	}
	type move struct {
		ID  id.ID       `db:"id"`
		Sum money.Total `db:"sum"`
	}
	moves, err := pg.All[move](ctx, q, `select a.id, coalesce(sum(t.amount), 0) as sum
		from unnest($1::uuid[], $2::date[]) v (id, day) join account a on a.id = v.id
		join transaction t on t.account_id = a.id and t.currency = a.currency and t.date <= v.day and `+account.Moves+`
		group by a.id`, ids, days)
	if err != nil {
		return nil, err
	}
	moved := make(map[id.ID]money.Total, len(moves))
	for _, m := range moves {
		moved[m.ID] = m.Sum
	}
	kept := out[:0]
	for _, n := range out {
		if n.Balance, err = n.Balance.Add(moved[n.ID]); err != nil {
			return nil, err
		}
		if !n.Balance.IsZero() {
			kept = append(kept, n)
		}
	}
	return kept, nil
}

// changesOf compares the first known point of each currency with the last.
func changesOf(points []NetWorthPoint, began []NetWorthNew) ([]NetWorthChange, error) {
	out := []NetWorthChange{}
	if len(points) == 0 {
		return out, nil
	}
	last := points[len(points)-1]
	for _, now := range last.Totals {
		if now.Net == nil {
			continue
		}
		from, was := firstKnown(points, now.Currency)
		c := NetWorthChange{Currency: now.Currency, StartDate: from, EndDate: last.Date, New: []NetWorthNew{}}
		var err error
		less := func(a, b money.Total) money.Total {
			sum, e := a.Add(b.Neg())
			if e != nil && err == nil {
				err = e
			}
			return sum
		}
		c.Net, c.Assets = less(*now.Net, *was.Net), less(*now.Assets, *was.Assets)
		c.Debts = less(*now.Debts, *was.Debts)
		c.WithoutNew = c.Net
		for _, n := range began {
			if n.currency == now.Currency {
				c.New, c.WithoutNew = append(c.New, n), less(c.WithoutNew, n.Balance)
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// firstKnown returns the first point at which a currency has a known balance.
func firstKnown(points []NetWorthPoint, currency money.Currency) (pg.Date, NetWorthTotal) {
	for _, p := range points {
		for _, t := range p.Totals {
			if t.Currency == currency && t.Net != nil {
				return p.Date, t
			}
		}
	}
	return pg.Date{}, NetWorthTotal{}
}

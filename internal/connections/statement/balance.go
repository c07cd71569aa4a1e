package statement

import (
	"context"
	"maps"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// A FileBalance is what the balances of a file prove.
type FileBalance struct {
	Proved   bool          `json:"proved" doc:"The balances match the amounts of the rows, so an import stores end-of-day balances"`
	Days     int           `json:"days" doc:"Days with a balance"`
	FirstDay *pg.Date      `json:"first_day" doc:"null if it can't be checked"`
	LastDay  *pg.Date      `json:"last_day"`
	Closing  *money.Amount `json:"closing" doc:"Balance at the end of the last day; a debt is negative"`
}

// fileBalances holds the balances that a file states, by the currency of the rows: an amount in one
// currency does not change a balance in another.
type fileBalances map[money.Currency]*bank.Running

func (f fileBalances) add(day pg.Date, currency money.Currency, row statement.Row) {
	if f[currency] == nil {
		f[currency] = &bank.Running{}
	}
	f[currency].Add(day.Time(), row.Amount, row.Balance)
}

// closings returns the balances at the ends of days that the rows of a currency prove.
func (f fileBalances) closings(currency money.Currency) []bank.Closing {
	if f[currency] == nil {
		return nil
	}
	return sinceEach(f[currency].Closings())
}

func currencyOf(ctx context.Context, q pg.Querier, account id.ID) (money.Currency, error) {
	return pg.Value[money.Currency](ctx, q, `select currency from account where id = $1`, account)
}

// preview returns what the balances of the file prove. For a file in several currencies, it uses
// the currency with the most days.
func (f fileBalances) preview() *FileBalance {
	out := &FileBalance{}
	for _, currency := range slices.Sorted(maps.Keys(f)) {
		days := f[currency].Closings()
		if len(days) <= out.Days {
			continue
		}
		last := days[len(days)-1]
		*out = FileBalance{
			Proved: true, Days: len(days), FirstDay: new(pg.Day(days[0].Day)), LastDay: new(pg.Day(last.Day)),
			Closing: &last.Asset,
		}
	}
	return out
}

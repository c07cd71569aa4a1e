package statement

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"coffer/internal/account"
	"coffer/internal/bank"
	"coffer/internal/bank/csvfile"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
)

// A FileBalance is what the balances of a file prove.
type FileBalance struct {
	Proved   bool          `json:"proved" doc:"The balances match the amounts of the rows, so an import stores end-of-day balances"`
	Days     int           `json:"days" doc:"Days with a balance"`
	FirstDay *pg.Date      `json:"first_day" doc:"null if it can't be checked"`
	LastDay  *pg.Date      `json:"last_day"`
	Closing  *money.Amount `json:"closing" doc:"Balance at the end of the last day; a debt is negative"`
}

// fileBalances are the balances that a file states, by the currency of the rows: those of one do
// not move by the amounts of another.
type fileBalances map[money.Currency]*bank.Running

func (f fileBalances) add(day pg.Date, currency money.Currency, row csvfile.Row) {
	if f[currency] == nil {
		f[currency] = &bank.Running{}
	}
	f[currency].Add(day.Time(), row.Amount, row.Balance)
}

// state stores what the file says the account held at the end of days.
func (s *Statements) state(ctx context.Context, tx pg.Tx, of id.ID, f fileBalances) error {
	currency, err := pg.Value[money.Currency](ctx, tx, `select currency from account where id = $1`, of)
	if err != nil || f[currency] == nil {
		return err
	}
	return s.accounts.State(ctx, tx, of, account.ByStatement, f[currency].Closings())
}

// previewBalance returns what the balances of the file prove. A file in several currencies is
// judged by the currency with most days.
func previewBalance(ctx context.Context, file io.ReaderAt, p csvfile.Preview) (*FileBalance, error) {
	f := fileBalances{}
	for row, err := range csvfile.Read(ctx, file, p) {
		if _, is := errors.AsType[*csvfile.RowError](err); is {
			continue
		}
		if err != nil {
			return nil, err
		}
		in, err := fromFile(id.ID{}, row, p.DefaultCurrency, "")
		if err != nil {
			return nil, err
		}
		f.add(in.Date, in.Currency, row)
	}
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
	return out, nil
}

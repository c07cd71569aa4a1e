package account

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Low is an account whose balance has just fallen below its limit.
type Low struct {
	Account Account
	Balance money.Amount
	Since   pg.Time
}

// Lows returns the accounts whose balance has fallen below their limit since the last call. An
// account is returned again only after its balance was a tenth above the limit, so that a balance
// that wavers around the limit is reported once.
func (r *Register) Lows(ctx context.Context, tx pg.Tx) ([]Low, error) {
	type state struct {
		ID    id.ID    `db:"id"`
		Since *pg.Time `db:"low_since"`
	}
	watched, err := pg.All[state](ctx, tx, `select id, low_since from account where deleted_at is null and not hidden
		and low_balance is not null and type not in ('credit', 'loan') order by id for no key update`)
	if err != nil || len(watched) == 0 {
		return nil, err
	}
	since := map[id.ID]*pg.Time{}
	for _, w := range watched {
		since[w.ID] = w.Since
	}
	all, err := r.Accounts(ctx, tx, op.None{})
	if err != nil {
		return nil, err
	}
	var out []Low
	for _, a := range all {
		was, known := since[a.ID]
		if !known || a.BalanceToday == nil || a.LowBalance == nil {
			continue
		}
		low, armed := lowAt(a.BalanceToday.Cents(), a.LowBalance.Cents())
		switch {
		case was == nil && low:
			at, err := pg.Value[pg.Time](ctx, tx, `update account set low_since = clock_timestamp() where id = $1
				returning low_since`, a.ID)
			if err != nil {
				return nil, err
			}
			out = append(out, Low{a, *a.BalanceToday, at})
		case was != nil && armed:
			if _, err := pg.Exec(ctx, tx, `update account set low_since = null where id = $1`, a.ID); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// lowAt reports whether a balance is below the limit, and whether it is at least a tenth of the
// limit above it.
func lowAt(balance, limit int64) (low, armed bool) {
	tenth := limit / 10
	if tenth < 0 {
		tenth = -tenth
	}
	return balance < limit, balance >= limit+tenth
}

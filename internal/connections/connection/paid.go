package connection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// The values of the setting paid_balances: which callers may request balances that cost money.
const (
	paidManual = "manual"
	paidDaily  = "daily"
)

const (
	// balancePause is the minimum time between two balance requests of one connection.
	balancePause = 15 * time.Minute
	// balancePatience is how long a bank may take to return its balances.
	balancePatience = time.Minute
)

// Balanced holds the balances that a bank returned on request.
type Balanced struct {
	connection id.ID
	provider   string
	accounts   []bank.Account
}

// askBalance asks the bank of an account for its balance. The request costs money, so it is first
// claimed in the database: if several servers try at the same time, only one asks. A request that
// fails stays claimed, because the provider may bill it.
func (f *Connections) askBalance(ctx context.Context, q pg.Querier, in account.Ref) (Balanced, error) {
	a, err := f.accounts.Account(ctx, q, in)
	if err != nil {
		return Balanced{}, err
	}
	if a.ConnectionID == nil {
		return Balanced{}, errs.New(errs.Conflict,
			"this is a manual account; set its balance with {balance.set}")
	}
	l, err := pg.One[syncedConnection](ctx, q, linkRows+` where c.id = $1`, *a.ConnectionID)
	if err != nil {
		return Balanced{}, err
	}
	if l.Provider == bank.CSV {
		return Balanced{}, errs.New(errs.Conflict, "this account comes from files, so there is no bank to ask; import "+
			"a newer file, or set its balance with {balance.set}")
	}
	if err := l.syncable("manual"); err != nil {
		return Balanced{}, err
	}
	provider, err := f.Configured(ctx, l.Provider)
	if err != nil {
		return Balanced{}, err
	}
	balancer, ok := provider.(bank.Balancer)
	if !ok {
		return Balanced{}, errs.New(errs.Conflict, "this provider only reports balances with a sync; sync "+
			"the connection instead")
	}
	secret, err := f.open(l)
	if err != nil {
		return Balanced{}, err
	}
	of, err := pg.Value[string](ctx, q, `select provider_id from account where id = $1`, a.ID)
	if err != nil {
		return Balanced{}, err
	}
	claimed, err := claimBalances(ctx, q, l.ID, false)
	if err == nil && !claimed {
		err = refused(ctx, q, l.ID)
	}
	if err != nil {
		return Balanced{}, err
	}
	out := Balanced{connection: l.ID, provider: l.Provider}
	out.accounts, err = balancer.Balances(ctx, secret, asked(provider.Traits(), []string{of}))
	if e, fromBank := errors.AsType[*bank.Error](err); fromBank && e.Class == bank.Reauth {
		return out, errs.Wrap(err, errs.ConnNotSyncable, "the bank needs reconnecting first")
	}
	if err != nil {
		return out, err
	}
	if !slices.ContainsFunc(out.accounts, func(b bank.Account) bool { return b.ProviderID == of }) {
		return out, errs.New(errs.Conflict, "the bank no longer reports a balance for this account; enter "+
			"one with {balance.set}")
	}
	return out, nil
}

// RefreshBalance stores what the bank stated and returns the account.
func (f *Connections) RefreshBalance(ctx context.Context, tx pg.Tx, in account.Ref, b Balanced) (account.Account,
	error,
) {
	if err := f.accounts.RefreshBalances(ctx, tx, b.connection,
		accountsOf(b.connection, b.provider, b.accounts)); err != nil {
		return account.Account{}, err
	}
	return f.accounts.Account(ctx, tx, in)
}

// asked returns the accounts to name to the provider. It returns none, which means all accounts, if
// the price of a request does not depend on their number.
func asked(t bank.Traits, accounts []string) []string {
	if t.PaidPerAccount {
		return accounts
	}
	return nil
}

// claimBalances decides whether to request balances from a connection's bank now, and if so records
// the request. A concurrent call waits for the row lock and then finds the request recorded.
func claimBalances(ctx context.Context, q pg.Querier, connection id.ID, daily bool) (bool, error) {
	claimed, err := pg.Values[id.ID](ctx, q, `
		update connection c set balances_asked_at = clock_timestamp(), updated_at = clock_timestamp()
		from setting s
		where c.id = @id and c.status in ('active', 'error')
			and case when @daily then s.paid_balances = @each_day else s.paid_balances in (@by_hand, @each_day) end
			and (c.balances_asked_at is null or c.balances_asked_at <= clock_timestamp() - @pause * interval '1 second'
				and (not @daily or (c.balances_asked_at at time zone s.time_zone)::date
					< (clock_timestamp() at time zone s.time_zone)::date))
		returning c.id`, pg.Args{
		"id": connection, "daily": daily, "pause": balancePause.Seconds(), "by_hand": paidManual, "each_day": paidDaily,
	})
	if err != nil {
		return false, fmt.Errorf("claim a call for balances: %w", err)
	}
	return len(claimed) == 1, nil
}

// refused returns the reason why a connection's bank may not be asked for balances now.
func refused(ctx context.Context, q pg.Querier, connection id.ID) error {
	type state struct {
		Allowed bool  `db:"allowed"`
		Left    int64 `db:"left"` // seconds until the bank may be asked again
	}
	now, err := pg.One[state](ctx, q, `
		select s.paid_balances in ($2, $3) as allowed,
			coalesce($4 - extract(epoch from clock_timestamp() - c.balances_asked_at), 0)::bigint as left
		from connection c cross join setting s where c.id = $1`, connection, paidManual, paidDaily,
		balancePause.Seconds())
	if err != nil {
		return err
	}
	if !now.Allowed {
		return errs.New(errs.Conflict,
			"balance refreshes may cost money and are turned off (paid_balances is never); an admin can "+
				"change that with {setting.update}")
	}
	e := errs.New(errs.RateLimited, "balances for this connection were refreshed less than %d minutes ago; "+
		"try again later (each refresh may cost money)", int(balancePause.Minutes()))
	e.After = max(time.Duration(now.Left)*time.Second, 0) + time.Second
	return e
}

// payBalances asks the bank for the balances of the day, if the household wants that. It does so
// once per connection and day, after the first complete sync of that day in the household's time
// zone. If the server dies between the claim and the answer, there are no new balances that day.
func (r *syncRun) payBalances(ctx context.Context) error {
	balancer, ok := r.provider.(bank.Balancer)
	if !ok || r.link.PaidBalances != paidDaily {
		return nil
	}
	claimed, accounts := false, []string(nil)
	err := r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *syncState) (int64, error) {
		var err error
		accounts, err = pg.Values[string](ctx, tx, `select provider_id from account where connection_id = $1
			and deleted_at is null and not hidden and closed_on is null and provider_id = any($2::text[])
			order by id`, r.link.ID, r.listed)
		if err != nil || len(accounts) == 0 {
			return 0, err
		}
		claimed, err = claimBalances(ctx, tx, r.link.ID, true)
		return 0, err
	})
	if err != nil || !claimed {
		return err
	}
	stated, err := balancer.Balances(ctx, r.secret, asked(r.provider.Traits(), accounts))
	if err != nil {
		return err
	}
	return r.batch(ctx, func(ctx context.Context, tx pg.Tx, _ *syncState) (int64, error) {
		return 0, r.connections.accounts.RefreshBalances(ctx, tx, r.link.ID,
			accountsOf(r.link.ID, r.link.Provider, stated))
	})
}

// sellsBalances reports whether the provider looks balances up on request, for money.
func sellsBalances(provider all.Name) bool {
	s, ok := all.Find(string(provider))
	return ok && s.Remote() && s.Type.Traits().PaidBalances
}

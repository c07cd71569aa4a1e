package account

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

// An Incoming is an account to be stored.
type Incoming struct {
	ConnectionID     *id.ID
	Provider         string
	ProviderID       string
	OwnerID          *id.ID
	InstitutionName  *string // as the household wrote it, or the bank of an account behind a shared token; else nil
	Held             []string
	Name             text.Untrusted
	OfficialName     text.Untrusted // may be empty
	Type             string
	Method           string // how its balance is derived; "" for the default of its type
	Subtype          string
	Mask             string
	Currency         money.Currency
	BalanceCurrent   *money.Amount
	BalanceAvailable *money.Amount
	BalanceLimit     *money.Amount
	Guessed          bool // the type is a guess, and a debt has a negative BalanceCurrent
}

// AddAccounts stores accounts, with today's balance as the first in their history, and returns
// their ids in the given order.
func (r *Register) AddAccounts(ctx context.Context, tx pg.Tx, accounts []Incoming) ([]id.ID, error) {
	ids := make([]id.ID, len(accounts))
	err := pg.Redraw(ctx, tx, "account_short_id", func(tx pg.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"account"}, []string{
			"id", "short_id", "connection_id", "provider", "provider_id", "owner_id", "name", "official_name", "type",
			"subtype", "mask", "currency", "institution_name", "balance_method", "held", "guessed",
			"balance_current", "balance_available", "balance_limit", "balance_as_of",
		}, pgx.CopyFromSlice(len(accounts), func(i int) ([]any, error) {
			a := accounts[i]
			ids[i] = id.New()
			var asOf *time.Time
			if a.BalanceCurrent != nil || a.BalanceAvailable != nil || a.BalanceLimit != nil {
				asOf = new(time.Now())
			}
			return []any{
				ids[i], ids[i].Short(), a.ConnectionID, a.Provider, a.ProviderID, a.OwnerID, a.Name.Plain(),
				pg.OrNull(a.OfficialName.Plain()), a.Type, pg.OrNull(a.Subtype), pg.OrNull(a.Mask),
				string(a.Currency), a.InstitutionName, cmp.Or(a.Method, methodOf(a.Type)),
				append([]string{}, a.Held...), a.Guessed, a.stated(), a.BalanceAvailable, a.BalanceLimit, asOf,
			}, nil
		}))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add accounts: %w", err)
	}
	if _, err = pg.Exec(ctx, tx, `update account a set review_from = `+today+` from setting s
		where a.id = any($1) and s.review_history = 'from_link'`, ids); err != nil {
		return nil, err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into account_balance (account_id, day, current, available)
		select a.id, `+today+
		`, a.balance_current, a.balance_available from account a cross join setting s where a.id = any($1)
			and (a.balance_current is not null or a.balance_available is not null)`, ids)
	if err != nil {
		return nil, err
	}
	return ids, Due(ctx, tx, ids)
}

// stated returns the balance in the form in which it is stored, where debts are positive.
func (a Incoming) stated() *money.Amount {
	if a.Guessed && a.BalanceCurrent != nil && debt(a.Type) {
		return new(a.BalanceCurrent.Neg())
	}
	return a.BalanceCurrent
}

// methodOf returns how balances of a new account of this type are derived. The value of an
// investment does not follow from its transactions.
func methodOf(accountType string) string {
	if accountType == bank.Investment {
		return byValuations
	}
	return byTransactions
}

// today is the current day in the household's time zone, from its setting s.
const today = `(now() at time zone s.time_zone)::date`

// RefreshAccounts updates a connection's accounts from the bank. New accounts are added, known ones
// get the bank's names and balances, and today's balance is added to the history. The household's
// choices (name, owner, hidden) stay. It returns a map from the bank's ids to the accounts' ids;
// for a merged account the id is that of the account that it was merged into.
func (r *Register) RefreshAccounts(ctx context.Context, tx pg.Tx, connection id.ID,
	accounts []Incoming,
) (map[string]id.ID, error) {
	type known struct {
		ID         id.ID  `db:"id"`
		ProviderID string `db:"provider_id"`
	}
	rows, err := pg.All[known](ctx, tx, `select id, provider_id from account where connection_id = $1
		order by id for update`, connection)
	if err != nil {
		return nil, err
	}
	ids, all := map[string]id.ID{}, make([]id.ID, len(rows))
	for i, k := range rows {
		ids[k.ProviderID], all[i] = k.ID, k.ID
	}
	var added, there []Incoming
	for _, a := range accounts {
		if _, ok := ids[a.ProviderID]; ok {
			there = append(there, a)
		} else {
			added = append(added, a)
		}
	}
	if len(added) > 0 {
		made, err := r.AddAccounts(ctx, tx, added)
		if err != nil {
			return nil, err
		}
		for i, a := range added {
			ids[a.ProviderID] = made[i]
		}
	}
	if err := refresh(ctx, tx, ids, there); err != nil {
		return nil, err
	}
	now, err := r.Surviving(ctx, tx, all)
	for of, u := range ids {
		if into, merged := now[u]; merged {
			ids[of] = into
		}
	}
	return ids, err
}

// RefreshBalances updates the balances that a connection's bank reported. Accounts that are not
// stored yet are left to the next sync.
func (r *Register) RefreshBalances(ctx context.Context, tx pg.Tx, connection id.ID, accounts []Incoming) error {
	type known struct {
		ID         id.ID  `db:"id"`
		ProviderID string `db:"provider_id"`
	}
	rows, err := pg.All[known](ctx, tx, `select id, provider_id from account where connection_id = $1
		and deleted_at is null order by id for update`, connection)
	if err != nil {
		return err
	}
	ids := map[string]id.ID{}
	for _, k := range rows {
		ids[k.ProviderID] = k.ID
	}
	var there []Incoming
	for _, a := range accounts {
		if _, ok := ids[a.ProviderID]; ok {
			there = append(there, a)
		}
	}
	return refresh(ctx, tx, ids, there)
}

// refresh updates known accounts that differ. If the bank omits a balance, the last one and its
// time are kept; if it repeats the same balance, only balance_as_of changes.
func refresh(ctx context.Context, tx pg.Tx, ids map[string]id.ID, accounts []Incoming) error {
	n := len(accounts)
	known, names, officials := make([]id.ID, n), make([]string, n), make([]*string, n)
	current, available, limits := make([]*money.Amount, n), make([]*money.Amount, n), make([]*money.Amount, n)
	guessed := make([]bool, n)
	for i, a := range accounts {
		guessed[i] = a.Guessed
		known[i], names[i], officials[i] = ids[a.ProviderID], a.Name.Plain(), pg.OrNull(a.OfficialName.Plain())
		current[i], available[i], limits[i] = a.BalanceCurrent, a.BalanceAvailable, a.BalanceLimit
	}
	args := pg.Args{
		"ids": known, "names": names, "officials": officials, "current": current, "available": available,
		"limits": limits,
	}
	_, err := pg.Exec(ctx, tx, `
		update account a set name = v.name, official_name = v.official_name, updated_at = clock_timestamp()
		from unnest(@ids::uuid[], @names::text[], @officials::text[]) v (id, name, official_name)
		where a.id = v.id and (a.name, a.official_name) is distinct from (v.name, v.official_name)`, args)
	if err != nil {
		return err
	}
	// The stored type decides, because a person may have corrected the guess. A debt is stored as a
	// positive balance.
	if slices.Contains(guessed, true) {
		turned, err := pg.Values[id.ID](ctx, tx, `select id from account where id = any($1) and type in ('credit', 'loan')`,
			known)
		if err != nil {
			return err
		}
		for i := range known {
			if guessed[i] && current[i] != nil && slices.Contains(turned, known[i]) {
				current[i] = new(current[i].Neg())
			}
		}
	}
	_, err = pg.Exec(ctx, tx, `
		update account a set balance_current = v.current, balance_available = v.available, balance_limit = v.max,
			balance_as_of = clock_timestamp(),
			updated_at = case when (a.balance_current, a.balance_available, a.balance_limit) is distinct
				from (v.current, v.available, v.max) then clock_timestamp() else a.updated_at end
		from unnest(@ids::uuid[], @current::numeric[], @available::numeric[], @limits::numeric[]) v (id, current,
			available, max)
		where a.id = v.id and coalesce(v.current, v.available, v.max) is not null`, args)
	if err != nil {
		return err
	}
	stated, err := pg.Values[id.ID](ctx, tx, `
		insert into account_balance as b (account_id, day, current, available)
		select v.id, `+today+
		`, v.current, v.available from unnest(@ids::uuid[], @current::numeric[], @available::numeric[])
			v (id, current, available) cross join setting s
		where v.current is not null or v.available is not null
		on conflict (account_id, day, source) do update set current = excluded.current, available = excluded.available,
			stated_at = excluded.stated_at
		where not b.exact and (b.current, b.available) is distinct from (excluded.current, excluded.available)
		returning account_id`, pg.Args{"ids": known, "current": current, "available": available})
	if err != nil {
		return err
	}
	return Due(ctx, tx, stated)
}

// BackfillBalances calculates each account's balance for every past day with transactions, backward
// from the current balance. Accounts without a current balance are left out. A card's or loan's
// balance is the debt, which a payment reduces. Pending transactions are not part of a balance.
func (r *Register) BackfillBalances(ctx context.Context, tx pg.Tx) error {
	filled, err := pg.Values[id.ID](ctx, tx, `
		with filled as (insert into account_balance (account_id, day, exact, current)
		select d.account_id, d.date, true, a.balance_current + case when a.type in ('credit', 'loan') then -1
			else 1 end * coalesce(d.after, 0)
		from (
			select account_id, date, sum(sum(amount)) over (partition by account_id
				order by date desc rows between unbounded preceding and 1 preceding) as after
			from transaction t where `+Moves+` group by account_id, date) d
		join account a on a.id = d.account_id
		where a.balance_current is not null
			and abs(a.balance_current + case when a.type in ('credit', 'loan') then -1
			else 1 end * coalesce(d.after, 0)) < 1e10
		on conflict (account_id, day, source) do nothing returning account_id)
		select distinct account_id from filled`)
	if err != nil {
		return err
	}
	return Due(ctx, tx, filled)
}

package ledger

import (
	"context"
	"fmt"
	"iter"
	"time"

	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// An Incoming is a transaction on its way into the books, as a bank or a file told it.
type Incoming struct {
	AccountID        id.ID
	ProviderID       string
	PendingID        string // the id under which the bank knew it while it was pending, where the bank says so
	Date             pg.Date
	AuthorizedDate   *pg.Date
	Datetime         *pg.Time
	Amount           money.Amount
	Currency         money.Currency
	Name             text.Untrusted
	MerchantName     text.Untrusted
	CategoryPrimary  text.Untrusted
	CategoryDetailed text.Untrusted
	PaymentChannel   string
	Pending          bool
	Tags             []string // slugs of tags that exist
}

// Load puts new transactions into the books, in as many statements for a million as for ten: COPY into a temporary table, then wordings, then rows with the category that the provider's own maps to.
// It answers how many were new; what has the identity of a stored one is left alone.
func (b *Books) Load(ctx context.Context, tx pg.Tx, rows iter.Seq[Incoming]) (int64, error) {
	if err := stage(ctx, tx, rows); err != nil {
		return 0, err
	}
	_, err := pg.Exec(ctx, tx, `
		insert into descriptor (name, merchant_name, folded) select distinct on (name, merchant_name) name, merchant_name, folded from incoming
		on conflict (name, merchant_name) do nothing`)
	if err != nil {
		return 0, err
	}
	n, err := pg.Exec(ctx, tx, `
		insert into transaction (id, short_id, account_id, provider_id, date, authorized_date, datetime, amount, currency, descriptor_id,
			category_primary, category_detailed, payment_channel, pending, category_id, category_source)
		select i.id, i.short_id, i.account_id, i.provider_id, i.date, i.authorized_date, i.datetime, i.amount, i.currency, d.id,
			nullif(i.category_primary, ''), nullif(i.category_detailed, ''), nullif(i.payment_channel, ''), i.pending, m.category_id, case when m.category_id is not null then 'provider' end
		from incoming i
		join descriptor d on d.name = i.name and d.merchant_name = i.merchant_name
		join account a on a.id = i.account_id
		left join category_mapping m on m.provider = a.provider and m.raw_primary = i.category_primary and m.raw_detailed = i.category_detailed
		order by i.date, i.id
		on conflict (account_id, provider_id) do nothing`)
	if err != nil {
		return 0, err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from incoming i join transaction t on t.id = i.id join tag g on g.slug = any(i.tags) and g.deleted_at is null`)
	return n, err
}

// BackfillBalances reckons each account's balance of every day back from today's, for accounts that have one.
func (b *Books) BackfillBalances(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `
		insert into account_balance (account_id, day, current)
		select d.account_id, d.date, a.balance_current + case when a.type = 'credit' then -1 else 1 end * coalesce(d.after, 0)
		from (
			select account_id, date, sum(sum(amount)) over (partition by account_id order by date desc rows between unbounded preceding and 1 preceding) as after
			from transaction where deleted_at is null group by account_id, date) d
		join account a on a.id = d.account_id
		where a.balance_current is not null and abs(a.balance_current + case when a.type = 'credit' then -1 else 1 end * coalesce(d.after, 0)) < 1e10
		on conflict (account_id, day) do nothing`)
	return err
}

// stage copies rows into the temporary table incoming, which goes with the transaction.
func stage(ctx context.Context, tx pg.Tx, rows iter.Seq[Incoming]) error {
	_, err := pg.Exec(ctx, tx, `
		create temporary table if not exists incoming (
			id uuid, short_id text, account_id uuid, provider_id text, date date, authorized_date date, datetime timestamptz, amount numeric(12,2), currency text,
			name text, merchant_name text, folded text, category_primary text, category_detailed text, payment_channel text, pending boolean, tags text[], pending_id text
		) on commit delete rows`)
	if err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `truncate incoming`); err != nil {
		return err
	}
	next, stop := iter.Pull(rows)
	defer stop()
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"incoming"}, []string{
		"id", "short_id", "account_id", "provider_id", "date", "authorized_date", "datetime", "amount", "currency",
		"name", "merchant_name", "folded", "category_primary", "category_detailed", "payment_channel", "pending", "tags", "pending_id",
	}, pgx.CopyFromFunc(func() ([]any, error) {
		r, ok := next()
		if !ok {
			return nil, nil
		}
		u := id.New()
		return []any{
			u, u.Short(), r.AccountID, r.ProviderID, r.Date, r.AuthorizedDate, r.Datetime, r.Amount, string(r.Currency),
			r.Name.Plain(), r.MerchantName.Plain(), folded(r.Name, r.MerchantName), r.CategoryPrimary.Plain(), r.CategoryDetailed.Plain(), r.PaymentChannel, r.Pending, r.Tags, r.PendingID,
		}, nil
	}))
	if err != nil {
		return fmt.Errorf("copy transactions: %w", err)
	}
	return nil
}

// folded is the text of a wording that searches look at.
func folded(name, merchant text.Untrusted) string {
	return text.Fold(name.Plain()) + "\n" + text.Fold(merchant.Plain())
}

// A NewAccount is an account on its way into the books.
type NewAccount struct {
	ConnectionID     *id.ID
	Provider         string
	ProviderID       string
	OwnerID          *id.ID
	Name             text.Untrusted
	OfficialName     text.Untrusted // may be empty
	Type             string
	Subtype          string
	Mask             string
	Currency         money.Currency
	BalanceCurrent   *money.Amount
	BalanceAvailable *money.Amount
	BalanceLimit     *money.Amount
}

// AddAccounts puts accounts into the books, with today's balance as the first of their history, and answers their ids in the order given.
func (b *Books) AddAccounts(ctx context.Context, tx pg.Tx, accounts []NewAccount) ([]id.ID, error) {
	ids := make([]id.ID, len(accounts))
	err := pg.Redraw(ctx, tx, "account_short_id", func(tx pg.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"account"}, []string{
			"id", "short_id", "connection_id", "provider", "provider_id", "owner_id", "name", "official_name", "type", "subtype", "mask", "currency",
			"balance_current", "balance_available", "balance_limit", "balance_as_of",
		}, pgx.CopyFromSlice(len(accounts), func(i int) ([]any, error) {
			a := accounts[i]
			ids[i] = id.New()
			return []any{
				ids[i], ids[i].Short(), a.ConnectionID, a.Provider, a.ProviderID, a.OwnerID, a.Name.Plain(), orNull(a.OfficialName.Plain()), a.Type, orNull(a.Subtype), orNull(a.Mask),
				string(a.Currency), a.BalanceCurrent, a.BalanceAvailable, a.BalanceLimit, time.Now(),
			}, nil
		}))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add accounts: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `
		insert into account_balance (account_id, day, current, available)
		select id, current_date, balance_current, balance_available from account where id = any($1)`, ids)
	return ids, err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

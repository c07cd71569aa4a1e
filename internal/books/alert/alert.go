// Package alert checks the household's state after each sync and every quarter of an hour, and
// posts notifications about it: large charges, low balances, price changes, missed payments, gaps
// in the books, consents that end, and transactions that wait for review. It has no table of its
// own.
//
// Each event is reported once, because package notify knows the earlier notifications. So alert may
// check at any time and on any number of servers, and an interrupted check can be repeated.
package alert

import (
	"context"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/overview"
	"coffer/internal/books/payeename"
	"coffer/internal/books/recurring"
	"coffer/internal/notify"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"coffer/internal/platform/text"
)

// Alerts checks one household.
type Alerts struct {
	// Scheduled means that a server makes backups. Then the household is also notified if there is
	// no backup at all.
	Scheduled bool

	db       *pg.DB
	payments *recurring.Payments
	accounts *account.Register
}

// New returns the alerts of a household.
func New(db *pg.DB, payments *recurring.Payments, accounts *account.Register) *Alerts {
	return &Alerts{db: db, payments: payments, accounts: accounts}
}

const (
	every     = 15 * time.Minute
	maxEvents = 200 // events of one type that one check posts; the next check posts the rest
	// news is the maximum age of an event in days. Notifications are kept longer, so an event is
	// not reported again after its notification is deleted.
	news = 60
)

// Tasks returns the timed work of the alerts.
func (w *Alerts) Tasks() []schedule.Task {
	return []schedule.Task{{Name: "watch", Every: every, Do: w.Look, Fault: "notifications not posted"}}
}

// AfterSync checks at the end of a sync or an import, in its job.
func (w *Alerts) AfterSync(ctx context.Context, run *job.Run, _ bool) error {
	return run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		return job.Step{}, w.look(ctx, tx)
	})
}

// Look checks in its own database transaction.
func (w *Alerts) Look(ctx context.Context) error {
	return w.db.InTx(ctx, func(tx pg.Tx) error { return w.look(ctx, tx) })
}

// look posts new events. Without an enabled endpoint it does nothing. Events from before someone
// enabled notifications are not reported.
func (w *Alerts) look(ctx context.Context, tx pg.Tx) error {
	wanted, err := pg.Value[bool](ctx, tx, `select exists (select from endpoint where enabled)`)
	if err != nil || !wanted {
		return err
	}
	for _, find := range []func(context.Context, pg.Tx) ([]notify.Event, error){
		charges, w.low, w.recurring, gaps, expiring, digest, w.backups,
	} {
		events, err := find(ctx, tx)
		if err != nil {
			return err
		}
		if err := notify.Post(ctx, tx, events...); err != nil {
			return err
		}
	}
	return nil
}

// linked is the day on which the account a was added, in the household's time zone. Older
// transactions were imported with the account and are not reported.
const linked = `(a.created_at at time zone s.time_zone)::date`

// unreported is the condition for events that were not reported yet.
const unreported = `not exists (select from notification n where n.type = $1 and n.subject = `

// charges returns posted transactions of a bank that reach the household's limit for their
// currency. Transactions that were stored before someone enabled notifications are not reported.
// "offset 0" forces the plan: from each account to its newest transactions.
func charges(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type row struct {
		ID       id.ID           `db:"id"`
		Account  id.ID           `db:"account_id"`
		Called   *string         `db:"display_name"`
		Bank     string          `db:"account_name"`
		Date     pg.Date         `db:"date"`
		Amount   money.Amount    `db:"amount"`
		Currency money.Currency  `db:"currency"`
		Category *string         `db:"category"`
		Name     text.Untrusted  `db:"name"`
		Merchant *text.Untrusted `db:"merchant_name"`
		Payee    *text.Untrusted `db:"counterparty_name"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select t.id, a.id as account_id, a.display_name, a.name as account_name, t.date, t.amount, t.currency,
			c.slug as category, d.name, nullif(d.merchant_name, '') as merchant_name, o.name as counterparty_name
		from setting s cross join jsonb_to_recordset(s.large_charge) as l (iso_currency_code text, amount numeric)
			join account a on not a.hidden and a.deleted_at is null
			cross join lateral (
				select * from transaction t where t.account_id = a.id and t.currency = l.iso_currency_code
					and t.date >= greatest(`+linked+`, (now() at time zone s.time_zone)::date - 30)
					and t.amount >= l.amount and t.deleted_at is null and not t.pending and t.origin = 'bank'
					and not t.excluded and not t.transfer
					and t.created_at >= (select min(e.created_at) from endpoint e where e.enabled) offset 0) t
			join descriptor d on d.id = t.descriptor_id left join counterparty o on o.id = t.counterparty_id
			left join category c on c.id = t.category_id left join category p on p.id = c.parent_id
		where coalesce(p.kind, c.kind, '') <> 'transfer' and `+unreported+`t.id::text)
		order by t.date, t.id limit $2`, notify.LargeCharge, maxEvents)
	out := make([]notify.Event, len(rows))
	for i, r := range rows {
		out[i] = notify.Event{
			Type: notify.LargeCharge, Subject: r.ID.String(), Account: &r.Account,
			Data: map[string]any{
				"transaction_id": r.ID, "account_id": r.Account, "account": r.Called, "date": r.Date,
				"amount": r.Amount, "iso_currency_code": r.Currency, "category": r.Category,
			},
			Full: map[string]any{
				"name": r.Name.Plain(), "merchant_name": plain(r.Merchant), "account_name": r.Bank,
				"payee_name": payeename.Shown(r.Payee, r.Merchant, r.Name).Plain(),
			},
		}
	}
	return out, err
}

func plain(s *text.Untrusted) string {
	if s == nil {
		return ""
	}
	return s.Plain()
}

// low returns events for accounts whose balance has fallen below the limit that the household set.
func (w *Alerts) low(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	list, err := w.accounts.Lows(ctx, tx)
	out := make([]notify.Event, len(list))
	for i, l := range list {
		out[i] = notify.Event{
			Type: notify.LowBalance, Subject: l.Account.ID.String() + " " + l.Since.String(), Account: &l.Account.ID,
			Data: map[string]any{
				"account_id": l.Account.ID, "account": l.Account.DisplayName, "amount": l.Balance,
				"low_balance": l.Account.LowBalance, "iso_currency_code": l.Account.Currency,
			},
			Full: map[string]any{"account_name": l.Account.Name.Plain()},
		}
	}
	return out, err
}

// recurring returns events for confirmed price changes of recurring payments, and for late
// payments.
func (w *Alerts) recurring(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type account struct {
		ID     id.ID   `db:"id"`
		Called *string `db:"display_name"`
		Since  pg.Date `db:"since"`
	}
	rows, err := pg.All[account](ctx, tx, `select a.id, a.display_name,
			greatest(`+linked+`, (now() at time zone s.time_zone)::date - $1::int) as since
		from account a, setting s where a.deleted_at is null and not a.hidden`, news)
	if err != nil {
		return nil, err
	}
	accounts := map[id.ID]account{}
	for _, r := range rows {
		accounts[r.ID] = r
	}
	list, err := w.payments.List(ctx, tx, recurring.ListRecurring{Status: []string{"active", "late"}, Limit: 500})
	if err != nil {
		return nil, err
	}
	var out []notify.Event
	for _, r := range list.Recurring {
		a, known := accounts[r.AccountID]
		if !known || r.Transfer {
			continue
		}
		event := func(what notify.Type, day pg.Date, data map[string]any) {
			data["recurring_id"], data["account_id"], data["name"] = r.ID, r.AccountID, r.Name
			data["account"], data["iso_currency_code"], data["direction"] = a.Called, r.Currency, r.Direction
			out = append(out, notify.Event{
				Type: what, Subject: r.ID.String() + " " + day.String(), Account: &r.AccountID, Data: data,
				Full: map[string]any{"payee_name": r.PayeeName.Plain()},
			})
		}
		for _, c := range r.PriceChanges {
			if !c.Provisional && c.Date.Time().After(a.Since.Time()) {
				event(notify.PriceChanged, c.Date, map[string]any{
					"date": c.Date, "before": c.Before, "after": c.After, "percent": c.Percent,
				})
			}
		}
		if r.Status == "late" && r.NextDate != nil && r.NextDate.Time().After(a.Since.Time()) {
			event(notify.Missed, *r.NextDate, map[string]any{"expected_on": *r.NextDate, "amount": r.Amount})
		}
	}
	return out, nil
}

// gaps returns events for intervals in which the books of an account do not add up.
func gaps(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type row struct {
		Account id.ID   `db:"account_id"`
		Called  *string `db:"display_name"`
		After   pg.Date `db:"after"`
		Until   pg.Date `db:"until"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select a.id as account_id, a.display_name, g.after, g.until
		from proof p join account a on a.id = p.account_id and a.deleted_at is null and not a.hidden
			cross join setting s cross join unnest(p.gap_after, p.gap_until) as g (after, until)
		where g.until > greatest(`+linked+`, (now() at time zone s.time_zone)::date - $3::int)
			and `+unreported+`a.id || ' ' || g.after || ' ' || g.until)
		order by a.id, g.after limit $2`, notify.Gap, maxEvents, news)
	out := make([]notify.Event, len(rows))
	for i, r := range rows {
		out[i] = notify.Event{
			Type: notify.Gap, Subject: r.Account.String() + " " + r.After.String() + " " + r.Until.String(),
			Account: &r.Account,
			Data: map[string]any{
				"account_id": r.Account, "account": r.Called, "after": r.After, "until": r.Until,
			},
		}
	}
	return out, err
}

// expiring returns events for connections whose consent ends within a week.
func expiring(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type row struct {
		ID          id.ID   `db:"id"`
		Provider    string  `db:"provider"`
		Institution *string `db:"institution_name"`
		Ends        pg.Time `db:"consent_expires_at"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select c.id, c.provider, c.institution_name, c.consent_expires_at from connection c
		where c.status in ('active', 'error') and c.consent_expires_at > now()
			and c.consent_expires_at < now() + interval '7 days' order by c.id limit $1`, maxEvents)
	out := make([]notify.Event, len(rows))
	for i, r := range rows {
		out[i] = notify.Event{
			Type: notify.Expiring, Subject: r.ID.String() + " " + r.Ends.String(), Connection: &r.ID,
			Data: map[string]any{"connection_id": r.ID, "provider": r.Provider, "expires_at": r.Ends},
			Full: map[string]any{"institution_name": r.Institution},
		}
	}
	return out, err
}

// backups returns an event if the newest backup is too old. A household without any backup may use
// other software for backups. So it gets an event only if a server is set up to make backups.
func (w *Alerts) backups(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type row struct {
		Last    *pg.Time `db:"last_at"`
		Subject string   `db:"subject"`
		Due     bool     `db:"due"`
	}
	r, err := pg.One[row](ctx, tx, `
		select b.as_of as last_at, coalesce(b.id::text, 'none') as subject,
			coalesce(b.overdue_at < now(), $2 and i.created_at < now() - interval '2 days')
				and `+unreported+`coalesce(b.id::text, 'none')) as due
		from instance i left join (select id, as_of, overdue_at from backup order by made_at desc, id desc limit 1) b
			on true`, notify.NoBackup, w.Scheduled)
	if err != nil || !r.Due {
		return nil, err
	}
	return []notify.Event{{
		Type: notify.NoBackup, Subject: r.Subject, Data: map[string]any{"last_backup_at": r.Last},
	}}, nil
}

// digest returns an event with the number of transactions that wait for review. It does so once a
// day, from the hour that the household chose.
func digest(ctx context.Context, tx pg.Tx) ([]notify.Event, error) {
	type row struct {
		Day   pg.Date `db:"day"`
		Due   bool    `db:"due"`
		Least int64   `db:"least"`
	}
	r, err := pg.One[row](ctx, tx, `
		select (now() at time zone s.time_zone)::date as day, coalesce(s.review_digest_min, 1)::bigint as least,
			coalesce(extract(hour from now() at time zone s.time_zone) >= s.review_digest_hour, false)
				and `+unreported+`(now() at time zone s.time_zone)::date::text) as due
		from setting s`, notify.Waiting)
	if err != nil || !r.Due {
		return nil, err
	}
	n, err := overview.Reviews(ctx, tx, 0)
	if err != nil || n < r.Least {
		return nil, err
	}
	return []notify.Event{{
		Type: notify.Waiting, Subject: r.Day.String(), Data: map[string]any{"count": n, "date": r.Day},
	}}, nil
}

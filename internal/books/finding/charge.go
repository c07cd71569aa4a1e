package finding

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"coffer/internal/books/journal"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// inCharges looks for findings among transactions.
func (d *Desk) inCharges(ctx context.Context, q pg.Querier, from pg.Date, accountID *id.ID, kinds []FindingKind,
) ([]Finding, error) {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k FindingKind) bool {
		return k != duplicate && k != refund && k != unusual
	})
	if len(kinds) == 0 {
		return nil, nil
	}
	days, least := yearDays, "0"
	switch {
	case len(kinds) == 1 && kinds[0] == refund:
		days, least = refundDays, "-Infinity"
	case len(kinds) == 1 && kinds[0] == duplicate:
		least = strconv.Itoa(duplicateLeast / 100)
	case slices.Contains(kinds, refund):
		least = "-Infinity"
	}
	since := pg.Day(from.Time().AddDate(0, 0, -days))
	rows, err := charges(ctx, q, since, accountID, least)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	begins, err := pg.Value[pg.Date](ctx, q, `
		select date from transaction where deleted_at is null order by date, id limit 1`)
	if err != nil {
		return nil, err
	}
	of, err := seriesOf(ctx, q)
	if err != nil {
		return nil, err
	}
	sights := search{from: dayOf(from.Time()), begins: dayOf(begins.Time()), series: of}.find(rows, kinds...)
	if sights, err = withoutKnown(ctx, q, since, sights); err != nil {
		return nil, err
	}
	out := make([]Finding, len(sights))
	for i, s := range sights {
		if out[i], err = s.finding(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// charges reads the posted transactions since a day with at least that amount. It reads wordings
// separately, because with a join the plan would depend on statistics.
func charges(ctx context.Context, q pg.Querier, since pg.Date, accountID *id.ID, least string) ([]charge, error) {
	known := &recurring.Wordings{}
	if err := known.Read(ctx, q); err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, `
		select t.id, t.account_id, t.currency, t.date - date '1970-01-01', (t.amount * 100)::bigint, t.counterparty_id,
			t.descriptor_id
		from transaction t
		where t.date >= $1 and t.deleted_at is null and not t.pending and not t.excluded and not t.transfer
			and `+journal.BankRow+` and t.amount <> 0 and t.amount >= $3::text::numeric
			and ($2::uuid is null or t.account_id = $2)`, since, accountID, least)
	if err != nil {
		return nil, fmt.Errorf("read charges: %w", err)
	}
	defer rows.Close()
	var out []charge
	parties, currencies := map[id.ID]id.Key{}, map[string]string{}
	var c charge
	var currency string
	var counterparty *id.ID
	var wording int32
	back := map[int]int32{} // the wordings of money in, by index in out

	places := []any{&c.ID, &c.Account, &currency, &c.Day, &c.Cents, &counterparty, &wording} // reused for all rows
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, fmt.Errorf("read a charge: %w", err)
		}
		var ok bool
		if c.Currency, ok = currencies[currency]; !ok {
			c.Currency, currencies[currency] = currency, currency
		}
		of, worded := known.Of[wording]
		switch c.Party = of[1]; {
		case counterparty != nil:
			if c.Party, ok = parties[*counterparty]; !ok {
				c.Party = id.KeyOf(counterparty.String())
				parties[*counterparty] = c.Party
			}
		case !worded:
			continue
		case c.Cents < 0:
			back[len(out)] = wording
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return out, asBought(ctx, q, out, back)
}

// seriesOf returns a function that maps a transaction to its series, and reports whether the series
// is monthly or less frequent.
func seriesOf(ctx context.Context, q pg.Querier) (func(id.ID) (id.ID, bool, bool), error) {
	type row struct {
		Transaction id.ID `db:"transaction_id"`
		Series      id.ID `db:"recurring_id"`
		Monthly     bool  `db:"monthly"`
	}
	rows, err := pg.All[row](ctx, q, `
		select w.transaction_id, w.recurring_id, r.cadence not in ('weekly', 'fortnightly') as monthly
		from recurring r cross join lateral (
			select x.transaction_id, x.recurring_id from recurring_row x where x.recurring_id = r.id offset 0) w
		where r.deleted_at is null and r.state <> 'dismissed'`)
	of := make(map[id.ID]row, len(rows))
	for _, r := range rows {
		of[r.Transaction] = r
	}
	return func(u id.ID) (id.ID, bool, bool) { r, known := of[u]; return r.Series, r.Monthly, known }, err
}

// withoutKnown leaves out first charges of payees that already had a charge before the days that
// were read.
func withoutKnown(ctx context.Context, q pg.Querier, since pg.Date, sights []sight) ([]sight, error) {
	var ids []id.ID
	for _, s := range sights {
		if s.reason == newPayee {
			ids = append(ids, s.rows[0].ID)
		}
	}
	if len(ids) == 0 {
		return sights, nil
	}
	known, err := pg.Values[id.ID](ctx, q, `
		select t.id from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id
			join descriptor d on d.id = t.descriptor_id
		where case when t.counterparty_id is not null then exists (
				select from transaction o where o.counterparty_id = t.counterparty_id and o.date < $2
					and o.deleted_at is null and o.amount > 0)
			else exists (select from descriptor w cross join lateral (
				select from transaction o where o.descriptor_id = w.id and o.date < $2 and o.deleted_at is null
					and o.amount > 0 offset 0) x where w.payee = d.payee) end`, ids, since)
	return slices.DeleteFunc(sights, func(s sight) bool {
		return s.reason == newPayee && slices.Contains(known, s.rows[0].ID)
	}), err
}

func (s sight) finding() (Finding, error) {
	first := s.rows[0]
	f := Finding{
		Kind: s.kind, Reason: s.reason, Date: date(first.Day), AccountID: first.Account,
		Currency: money.Currency(first.Currency),
	}
	about := make([]string, len(s.rows))
	for i, c := range s.rows {
		f.TransactionIDs = append(f.TransactionIDs, c.ID)
		about[i] = c.ID.String()
	}
	slices.Sort(about)
	f.ID = identify(s.kind, about...)
	amount, err := money.FromCents(first.Cents)
	if err != nil {
		return f, err
	}
	f.Amount = amount.Total()
	usual := s.usual
	if s.kind == refund {
		usual = s.rows[1].Cents
	}
	if usual > 0 {
		before, err := money.FromCents(usual)
		if err != nil {
			return f, err
		}
		f.Usual = new(before.Total())
	}
	return f, nil
}

package analytics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// netWorthMost is the largest number of points in a series: a year of days, or 33 years of months.
const netWorthMost = 400

// A NetWorthRequest asks what the household owned and owed over time.
type NetWorthRequest struct {
	StartDate *pg.Date        `json:"start_date,omitempty" doc:"Start date (inclusive); 12 months ago if absent"`
	EndDate   *pg.Date        `json:"end_date,omitempty" doc:"End date (inclusive), at most today; today if absent"`
	Interval  string          `json:"interval,omitempty" enum:"day,week,month" default:"month" doc:"Interval between points; the last point is end_date. At most 400 points"`
	By        *string         `json:"by,omitempty" enum:"type,account,user" doc:"Also show each point by type of account, account or owner"`
	In        *money.Currency `json:"in,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"Also convert each point to this currency, by the household's own rates"`
}

// A NetWorth is what the household owned and owed on the days of a series.
type NetWorth struct {
	Points   []NetWorthPoint   `json:"points" screen:"spread"`
	Changes  []NetWorthChange  `json:"changes" doc:"From the first known day to the last, by currency"`
	Accounts []NetWorthAccount `json:"accounts" doc:"The accounts that are counted: without hidden ones, and without those that mirror another"`
	Notes    []op.Note         `json:"notes" doc:"Caveats about the figures"`
}

// A NetWorthPoint is the net worth on one day.
type NetWorthPoint struct {
	Date   pg.Date         `json:"date"`
	Totals []NetWorthTotal `json:"totals" doc:"By currency; currencies are never mixed"`
	Groups []NetWorthGroup `json:"groups,omitempty" doc:"With by: the same by group and currency"`
	// The converted value is an estimate and must not be added to totals.
	Converted *NetWorthConverted `json:"converted,omitempty" doc:"With in: all currencies together by the household's rates; absent if one lacks a rate on or before the day"`
}

// A NetWorthTotal sums up the accounts of one currency.
type NetWorthTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	Net      *money.Total   `json:"net" doc:"assets minus debts; null while no account is known"`
	Assets   *money.Total   `json:"assets"`
	Debts    *money.Total   `json:"debts" doc:"Debt on credit and loan accounts, as a positive number"`
	Known    int            `json:"known" doc:"Accounts with a known balance; only they are counted"`
	Unknown  int            `json:"unknown" doc:"Accounts without one"`
	Derived  int            `json:"derived" doc:"Known accounts with a calculated balance that day: from transactions or the last value"`
	Gap      int            `json:"gap" doc:"Known accounts whose transactions don't match the balances around the day"`
}

// A NetWorthGroup sums up the accounts of one type or owner, or is a single account.
type NetWorthGroup struct {
	ID   *id.ID         `json:"id,omitempty" doc:"Id of the account or member"`
	Name text.Untrusted `json:"name" doc:"The type, the member, or the account's name, which may be the bank's (untrusted)"`
	NetWorthTotal
}

// A NetWorthAccount is an account of a series.
type NetWorthAccount struct {
	ID        id.ID    `json:"id" db:"id"`
	Method    string   `json:"method" db:"balance_method" enum:"transactions,valuations" doc:"How daily balances are calculated"`
	KnownFrom *pg.Date `json:"known_from" db:"known_from" doc:"The first day whose balance is known; null if none is"`
	Status    string   `json:"status" db:"-" enum:"proved,gap,open,none" doc:"Whether its transactions match its balances"`
}

// A netWorthRow is the balance of an account on a day.
type netWorthRow struct {
	NetWorthAccount
	Name     text.Untrusted `db:"name"`
	Type     string         `db:"type"`
	UserID   *id.ID         `db:"user_id"`
	UserName *string        `db:"user_name"`
	Currency money.Currency `db:"currency"`
	Day      pg.Date        `db:"day"`
	Asset    *money.Total   `db:"asset"` // a debt is negative; nil if unknown
	Stated   bool           `db:"stated"`
}

// NetWorth returns what the household owned and owed over time.
func (t *Totals) NetWorth(ctx context.Context, q pg.Querier, in NetWorthRequest) (NetWorth, error) {
	days, err := in.days(ctx, q)
	if err != nil {
		return NetWorth{}, err
	}
	rows, err := balancesOn(ctx, q, days)
	if err != nil {
		return NetWorth{}, err
	}
	verdicts, err := t.accounts.Verdicts(ctx, q, nil)
	if err != nil {
		return NetWorth{}, err
	}
	judged := map[id.ID]account.Verdict{}
	for _, v := range verdicts {
		judged[v.AccountID] = v
	}
	out := NetWorth{Points: []NetWorthPoint{}, Changes: []NetWorthChange{}, Accounts: []NetWorthAccount{}}
	began, err := begun(ctx, q, rows)
	if err != nil {
		return NetWorth{}, err
	}
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r netWorthRow) bool { return r.Day != rows[0].Day })
		if n < 0 {
			n = len(rows)
		}
		if len(out.Accounts) == 0 {
			for _, r := range rows[:n] {
				r.Status = judged[r.ID].Status
				out.Accounts = append(out.Accounts, r.NetWorthAccount)
			}
		}
		p, err := pointOf(rows[:n], judged, in.By)
		if err != nil {
			return NetWorth{}, err
		}
		out.Points, rows = append(out.Points, p), rows[n:]
	}
	if out.Changes, err = changesOf(out.Points, began); err != nil {
		return NetWorth{}, err
	}
	if out.Notes, err = netWorthNotes(ctx, q, out, days); err != nil || in.In == nil {
		return out, err
	}
	c, err := t.newConverter(ctx, q, *in.In)
	if err != nil {
		return NetWorth{}, err
	}
	missing, large, err := c.convert(out.Points)
	out.Notes = append(out.Notes, noRate(ctx, *in.In, missing, large)...)
	return out, err
}

// pointOf adds up the accounts of one day.
func pointOf(rows []netWorthRow, judged map[id.ID]account.Verdict, by *string) (NetWorthPoint, error) {
	p := NetWorthPoint{Date: rows[0].Day, Totals: []NetWorthTotal{}}
	totals, groups := sums[money.Currency]{}, sums[netWorthKey]{}
	for _, r := range rows {
		gap := judged[r.ID].InGap(r.Day)
		if err := totals.add(r.Currency, r, gap); err != nil {
			return p, err
		}
		if by != nil {
			if err := groups.add(r.key(*by), r, gap); err != nil {
				return p, err
			}
		}
	}
	for _, sum := range totals {
		p.Totals = append(p.Totals, *sum)
	}
	slices.SortFunc(p.Totals, func(a, b NetWorthTotal) int { return cmp.Compare(a.Currency, b.Currency) })
	for k, sum := range groups {
		g := NetWorthGroup{Name: k.name, NetWorthTotal: *sum}
		if !k.id.IsZero() {
			g.ID = &k.id
		}
		p.Groups = append(p.Groups, g)
	}
	slices.SortFunc(p.Groups, func(a, b NetWorthGroup) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), larger(a.Net, b.Net),
			cmp.Compare(a.Name.Plain(), b.Name.Plain()))
	})
	return p, nil
}

// larger orders the largest sum first and unknown sums last.
func larger(a, b *money.Total) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return b.Cmp(*a)
}

// A netWorthKey identifies a group of accounts. Accounts of different currencies are never in the
// same group.
type netWorthKey struct {
	id       id.ID
	name     text.Untrusted
	currency money.Currency
}

func (r netWorthRow) key(by string) netWorthKey {
	k := netWorthKey{name: text.Name(r.Type), currency: r.Currency}
	switch {
	case by == "account":
		k.id, k.name = r.ID, r.Name
	case by == "user" && r.UserID == nil:
		k.name = ""
	case by == "user":
		k.id, k.name = *r.UserID, text.Name(*r.UserName)
	}
	return k
}

// sums are totals by a key that names a currency.
type sums[K comparable] map[K]*NetWorthTotal

// add adds an account's balance to the sum of its group.
func (s sums[K]) add(key K, r netWorthRow, gap bool) (err error) {
	sum := s[key]
	if sum == nil {
		sum = &NetWorthTotal{Currency: r.Currency}
		s[key] = sum
	}
	if r.Asset == nil {
		sum.Unknown++
		return nil
	}
	if sum.Known++; sum.Known == 1 {
		sum.Net, sum.Assets, sum.Debts = new(money.Total), new(money.Total), new(money.Total)
	}
	if !r.Stated {
		sum.Derived++
	}
	if gap {
		sum.Gap++
	}
	asset, ours := r.Asset.In(r.Currency).Of(sum.Currency)
	if !ours {
		return fmt.Errorf("an account in %s in a total of another currency", r.Currency)
	}
	if r.Type == "credit" || r.Type == "loan" {
		*sum.Debts, err = sum.Debts.Add(asset.Neg())
	} else {
		*sum.Assets, err = sum.Assets.Add(asset)
	}
	if err != nil {
		return err
	}
	*sum.Net, err = sum.Net.Add(asset)
	return err
}

// days returns the days of the points: the last day of each interval, and the last requested day.
func (in NetWorthRequest) days(ctx context.Context, q pg.Querier) ([]pg.Date, error) {
	now, err := today(ctx, q)
	if err != nil {
		return nil, err
	}
	last := now.Time()
	if in.EndDate != nil && in.EndDate.Time().Before(last) {
		last = in.EndDate.Time()
	}
	first := addMonths(last, -12)
	if in.StartDate != nil {
		first = in.StartDate.Time()
	}
	if first.After(last) {
		return nil, errs.Field("start_date", "range", "must not be after end_date or in the future")
	}
	var out []pg.Date
	for day := first; len(out) < netWorthMost; day = day.AddDate(0, 0, 1) {
		switch in.Interval {
		case "month":
			day = time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
		case "week": // a week ends on a Sunday
			day = day.AddDate(0, 0, (7-int(day.Weekday()))%7)
		}
		if !day.Before(last) {
			return append(out, pg.Day(last)), nil
		}
		out = append(out, pg.Day(day))
	}
	return nil, errs.Field("interval", "range", "would give more than %d points; choose a longer interval or "+
		"fewer days", netWorthMost)
}

// netWorthNotes returns notes about what is missing from the last point.
func netWorthNotes(ctx context.Context, q pg.Querier, n NetWorth, days []pg.Date) ([]op.Note, error) {
	notes := []op.Note{}
	standing, err := Stand(ctx, q)
	if err != nil {
		return nil, err
	}
	mirrors, err := pg.Value[int64](ctx, q, `select count(*) from account_link l
		where l.kind = 'mirror' and `+account.ProposedLink)
	if err != nil {
		return nil, err
	}
	if mirrors > 0 {
		notes = append(notes, op.Note{
			Code: "links_proposed", Count: &mirrors, See: op.See(ctx, "account-link.list"),
			Message: plural(mirrors, "suggested duplicate account needs", "suggested duplicate accounts need") +
				" review; until then both are counted",
		})
	}
	var unknown, gaps int64
	if len(n.Points) > 0 {
		for _, t := range n.Points[len(n.Points)-1].Totals {
			unknown, gaps = unknown+int64(t.Unknown), gaps+int64(t.Gap)
		}
	}
	if unknown > 0 {
		notes = append(notes, op.Note{
			Code: "no_balance", Count: &unknown, See: op.See(ctx, "balance.set"),
			Message: plural(unknown, "account has no balance on the last day and isn't counted; enter one",
				"accounts have no balance on the last day and aren't counted; enter one"),
		})
	}
	if gaps > 0 {
		notes = append(notes, op.Note{
			Code: "gap", Count: &gaps, See: op.See(ctx, "proof.list"),
			Message: plural(gaps, "account has a balance that doesn't match its transactions",
				"accounts have balances that don't match their transactions"),
		})
	}
	return append(notes, standing.stale(ctx, days[len(days)-1])...), nil
}

// balancesOn returns each account's balance at the end of each day, by day and account.
//
// Each day has an anchor, as in the calculation of derived balances: the nearest stated balance on
// or after the day, or else the last one before it. Each row between two days, or between a day and
// its anchor, is added up once. Days that share an anchor add these sums up step by step. So no row
// is read twice, and few rows are read if balances are stated often.
func balancesOn(ctx context.Context, q pg.Querier, days []pg.Date) ([]netWorthRow, error) {
	return pg.All[netWorthRow](ctx, q, `
		with point as materialized (
			select day, lag(day) over (order by day) as before, lead(day) over (order by day) as after,
				max(day) over () as last
			from unnest($1::date[]) p (day)
		), anchored as materialized (
			select a.id, coalesce(nullif(a.display_name, ''), a.name) as name, a.type, a.currency, a.balance_method,
				a.closed_on, coalesce(a.owner_id, cn.member_id) as user_id, m.name as user_name,
				case when a.type in ('credit', 'loan') then -1 else 1 end as sign,
				p.day, p.before, p.after, e.day as anchor, e.current, f.first, b.first_stated
			from account a
			left join connection cn on cn.id = a.connection_id
			left join member m on m.id = coalesce(a.owner_id, cn.member_id)
			left join lateral (
				select t.date as first from transaction t
				where t.account_id = a.id and t.date between '0001-01-01' and '9999-12-31'
					and t.currency = a.currency and `+account.Moves+`
				order by t.date, t.id limit 1) f on a.balance_method = 'transactions'
			left join lateral (
				select b.day as first_stated from account_balance b where b.account_id = a.id and b.current is not null
				order by b.day limit 1) b on true
			cross join point p
			left join lateral (
				(select b.day, b.current from account_balance b
				where a.balance_method = 'transactions' and b.account_id = a.id and b.day >= p.day
					and b.current is not null
				order by b.day, array_position(array['manual', 'statement', 'provider'], b.source) limit 1)
				union all
				(select b.day, b.current from account_balance b
				where b.account_id = a.id and b.day <= p.day and b.current is not null
				order by b.day desc, array_position(array['manual', 'statement', 'provider'], b.source) limit 1)
				limit 1) e on true
			where not a.hidden and a.deleted_at is null and not exists (
				select from account_link l where l.mirror_id = a.id and l.kind = 'mirror'
					and l.confidence = 'confirmed' and l.deleted_at is null)
		), moved as (
			select n.*, n.anchor >= n.day as back, x.moved
			from anchored n left join lateral (
				select coalesce(sum(t.amount), 0) as moved from transaction t
				where t.account_id = n.id and t.currency = n.currency and `+account.Moves+`
					and t.date > case when n.anchor >= n.day then n.day else greatest(n.before, n.anchor) end
					and t.date <= case when n.anchor >= n.day then least(n.after, n.anchor) else n.day end
				) x on n.balance_method = 'transactions'
		)
		select id, name, type, currency, balance_method, user_id, user_name, day,
			case when first_stated is not null then least(first, first_stated) end as known_from,
			coalesce(anchor = day and coalesce(closed_on >= day, true), false) as stated,
			case when closed_on < day then 0
				when day < least(first, first_stated) then null
				when balance_method = 'valuations' then sign * current
				when back then sign * current + sum(moved) over (partition by id, anchor, back order by day desc)
				else sign * current - sum(moved) over (partition by id, anchor, back order by day)
			end as asset
		from moved order by day, lower(name), id`, days)
}

package account

import (
	"context"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// State stores balances that a provider or a statement reported.
func (r *Register) State(ctx context.Context, tx pg.Tx, account id.ID, source string, closings []bank.Closing) error {
	if len(closings) == 0 {
		return nil
	}
	n := len(closings)
	days, assets, since, exact := make([]pg.Date, n), make([]money.Amount, n), make([]*pg.Date, n), make([]bool, n)
	for i, c := range closings {
		days[i], assets[i], exact[i] = pg.Day(c.Day), c.Asset, !c.Moment
		if !c.Since.IsZero() {
			since[i] = new(pg.Day(c.Since))
		}
	}
	stated, err := pg.Exec(ctx, tx, `
		insert into account_balance as b (account_id, day, source, exact, current, since)
		select a.id, v.day, $2, v.exact, case when a.type in ('credit', 'loan') then -v.asset else v.asset end, v.since
		from unnest($3::date[], $4::numeric[], $5::boolean[], $6::date[]) v (day, asset, exact, since)
			join account a on a.id = $1
		on conflict (account_id, day, source) do update set current = excluded.current,
			exact = excluded.exact, since = least(b.since, excluded.since), stated_at = excluded.stated_at
		where (excluded.exact or not b.exact) and
			(b.current, b.exact, b.since) is distinct from (excluded.current, excluded.exact, least(b.since, excluded.since))`,
		account, source, days, assets, exact, since)
	if err != nil || stated == 0 {
		return err
	}
	return Due(ctx, tx, []id.ID{account})
}

// Unstate deletes a balance of a statement that was stored for some moment of this day. It is
// called if the statement gives the same balance for another moment.
func (r *Register) Unstate(ctx context.Context, tx pg.Tx, account id.ID, day pg.Date, asset money.Amount) error {
	_, err := pg.Exec(ctx, tx, `
		delete from account_balance b using account a
		where a.id = $1 and b.account_id = a.id and b.day = $2 and b.source = $4 and not b.exact
			and b.current = case when a.type in ('credit', 'loan') then -$3::numeric else $3::numeric end`,
		account, day, asset, ByStatement)
	return err
}

// Statuses of the proof of a statement.
const (
	Verified = "verified"
	Off      = "off"
	Open     = open
	None     = none
)

// A StatementProof says whether an account's rows explain the balances of a statement.
type StatementProof struct {
	Status string       `json:"status" enum:"verified,off,open,none" doc:"verified: the transactions explain how the bank's balances moved. off: some are missing or too many. open: nothing to compare with yet, or no imported file lists all days in between. none: the file states no balance"`
	OffBy  *money.Total `json:"off_by,omitempty" doc:"With off, and with open where it is known: the sum of what is missing; positive is money out"`
	From   *pg.Date     `json:"from,omitempty" doc:"The day of the balance at which the status begins"`
	To     *pg.Date     `json:"to,omitempty" doc:"The day of the balance at which it ends"`
	// Uncovered is the last gap between this statement and another one that no imported file
	// covers, although the balances show that money moved.
	Uncovered *Uncovered `json:"uncovered,omitempty" doc:"Days between this statement and another one that no imported file lists, and on which money moved"`
}

// Uncovered is a range of days for which no file was imported.
type Uncovered struct {
	From  pg.Date     `json:"from" doc:"The day of the balance before them"`
	To    pg.Date     `json:"to" doc:"The day of the balance after them"`
	OffBy money.Total `json:"off_by" doc:"What the transactions of these days add up to; positive is money out"`
}

// A Statement holds the balances of an imported file, and its rows that are not stored yet.
type Statement struct {
	Closings []bank.Closing
	Moves    map[pg.Date]money.Total // by day, the sums of rows that are not stored yet; money out is positive
}

// ProveStatement reports whether the rows of an account explain the balances around a statement
// that was imported or will be. The account is nil if the import would create it.
func (r *Register) ProveStatement(ctx context.Context, q pg.Querier, account *id.ID, currency money.Currency,
	in Statement,
) (StatementProof, error) {
	if len(in.Closings) == 0 {
		return StatementProof{Status: None}, nil
	}
	b := &books{Currency: currency}
	if account != nil {
		var err error
		if b, err = openBooks(ctx, q, account.String()); err != nil {
			return StatementProof{}, err
		}
	}
	return b.proveStatement(in)
}

// A level is a balance to compare with another.
type level struct {
	day, since dayNumber // the source lists all rows after since; 0 if unknown
	asset      money.Total
	exact, own bool // own: the balance is from the statement
}

func (b *books) proveStatement(in Statement) (StatementProof, error) {
	levels := b.levels(in.Closings)
	out := StatementProof{Status: Open}
	moved, err := b.movedUpTo(in.Moves)
	if err != nil {
		return out, err
	}
	for i := 1; i < len(levels); i++ {
		p, q := levels[i-1], levels[i]
		if !p.own && !q.own {
			continue
		}
		off, err := difference(p, q, moved)
		if err != nil {
			return out, err
		}
		from, to := p.day.date(), q.day.date()
		covered := q.since != 0 && q.since <= p.day
		switch {
		case off.IsZero() && out.Status == Verified:
			out.From, out.To = earlier(out.From, from), new(to)
		case off.IsZero() && out.Status != Off:
			out.Status, out.From, out.To, out.OffBy = Verified, &from, &to, nil
		case off.IsZero():
		case covered && out.Status != Off:
			out.Status, out.From, out.To, out.OffBy = Off, &from, &to, &off
		case !covered:
			out.Uncovered = &Uncovered{from, to, off}
		}
	}
	if u := out.Uncovered; out.Status == Open && u != nil {
		out.From, out.To, out.OffBy = &u.From, &u.To, &u.OffBy
	}
	return out, nil
}

func earlier(a *pg.Date, b pg.Date) *pg.Date {
	if a != nil && a.Time().Before(b.Time()) {
		return a
	}
	return &b
}

// levels returns the account's balances and those of a statement, in order of their days. Balances
// that a provider reported for a moment within a day are left out, because they prove nothing about
// a statement.
func (b *books) levels(closings []bank.Closing) []level {
	at := map[dayNumber]level{}
	for i, s := range b.stated {
		if row := b.rows[i]; s.exact || row.Source == ByStatement {
			asset, _ := s.asset.Of(b.Currency)
			l := level{day: s.day, asset: asset, exact: s.exact}
			if row.Since != nil {
				l.since = dayOf(*row.Since)
			}
			at[s.day] = l
		}
	}
	for _, c := range closings {
		l := level{day: dayOf(pg.Day(c.Day)), asset: c.Asset.Total(), exact: !c.Moment, own: true}
		if !c.Since.IsZero() {
			l.since = dayOf(pg.Day(c.Since))
		}
		if was, ok := at[l.day]; ok && was.since != 0 && (l.since == 0 || was.since < l.since) {
			l.since = was.since
		}
		at[l.day] = l
	}
	out := make([]level, 0, len(at))
	for _, l := range at {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b level) int { return int(a.day - b.day) })
	return out
}

// movedUpTo returns the sums of the account's rows up to each day, including the rows that are not
// stored yet.
func (b *books) movedUpTo(more map[pg.Date]money.Total) (tally, error) {
	moves := slices.Clone(b.moves)
	for day, out := range more {
		moves = append(moves, movement{dayOf(day), dayOf(day), out.In(b.Currency), 1})
	}
	t, _, err := running(b.Currency, moves, func(m movement) dayNumber { return m.posted })
	return t, err
}

// difference returns the amount that is missing from the rows between two balances. It is zero if
// the rows explain how the balance moved. If a balance is not the last of its day, it may or may
// not include the rows of that day, and both are tried.
func difference(p, q level, moved tally) (money.Total, error) {
	expected, err := p.asset.Add(q.asset.Neg())
	if err != nil {
		return money.Total{}, err
	}
	var first *money.Total
	for _, from := range sides(p) {
		for _, to := range sides(q) {
			if to < from {
				continue
			}
			lacks, err := moved.upTo(from).Add(moved.upTo(to).Neg())
			if err == nil {
				lacks, err = expected.Add(lacks)
			}
			if err != nil || lacks.IsZero() {
				return lacks, err
			}
			if first == nil {
				first = &lacks
			}
		}
	}
	return *first, nil
}

// sides returns the days up to which a balance may include rows, the more likely one first.
func sides(l level) []dayNumber {
	if l.exact {
		return []dayNumber{l.day}
	}
	return []dayNumber{l.day, l.day - 1}
}

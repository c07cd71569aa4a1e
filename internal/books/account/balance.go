package account

import (
	"context"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Sources of stated balances. A person's balance overrides a statement's, and a statement's
// overrides a provider's.
const (
	ByProvider  = "provider"
	ByStatement = "statement"
	byHand      = "manual"
	byReckoning = "derived" // not stated: it follows from the transactions
)

// ListBalances asks for a page of an account's balance history.
type ListBalances struct {
	ID        string   `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	StartDate *pg.Date `json:"start_date,omitempty" doc:"Start date (inclusive)"`
	EndDate   *pg.Date `json:"end_date,omitempty" doc:"End date (inclusive)"`
	Derive    bool     `json:"derive,omitempty" doc:"Also show calculated balances of the days without a reported one"`
	Cursor    string   `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same dates"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Days per page"`
}

// A DailyBalance is an account's balance on a day, in the account's currency.
type DailyBalance struct {
	Day       pg.Date       `json:"day"`
	Current   *money.Amount `json:"current" doc:"The money in the account, or the debt of a credit or loan account"`
	Available *money.Amount `json:"available" doc:"As reported by the bank"`
	Source    string        `json:"source" enum:"provider,statement,manual,derived" doc:"Source of the balance; derived: calculated from the transactions"`
	Gap       bool          `json:"gap" doc:"The day is in a gap: the transactions don't match the balances around it"`
}

// Balances is a page of an account's balance history, newest day first.
type Balances struct {
	Balances   []DailyBalance `json:"balances"`
	NextCursor string         `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool           `json:"has_more"`
}

// Balances returns a page of an account's balance history.
func (r *Register) Balances(ctx context.Context, q pg.Querier, in ListBalances) (Balances, error) {
	if in.StartDate != nil && in.EndDate != nil && in.EndDate.Time().Before(in.StartDate.Time()) {
		return Balances{}, errs.Field("end_date", "range", "must not be before start_date")
	}
	b, err := openBooks(ctx, q, in.ID)
	if err != nil {
		return Balances{}, err
	}
	filters := in
	filters.ID, filters.Cursor, filters.Limit = b.ID.String(), "", 0
	pager, err := r.db.Pager(ctx, "balances", filters)
	if err != nil {
		return Balances{}, err
	}
	to := dayOf(b.Today)
	if n := len(b.stated); n > 0 { // a bank may be a day ahead of the household
		to = max(to, b.stated[n-1].day)
	}
	if in.EndDate != nil {
		to = min(to, dayOf(*in.EndDate))
	}
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 1)
		if err != nil {
			return Balances{}, err
		}
		before, err := pg.ParseDate(at[0])
		if err != nil {
			return Balances{}, err
		}
		to = min(to, dayOf(before)-1)
	}
	days, err := b.shown(in, to)
	if err != nil {
		return Balances{}, err
	}
	out := Balances{Balances: days}
	if len(days) > in.Limit {
		out.Balances, out.HasMore = days[:in.Limit], true
		out.NextCursor, err = pager.Encode(days[in.Limit-1].Day.String())
	}
	return out, err
}

// shown returns the days of a page, newest first. If there are more days, it returns one day beyond
// the page.
func (b *books) shown(in ListBalances, to dayNumber) ([]DailyBalance, error) {
	out := []DailyBalance{}
	v, err := b.prove()
	if err != nil {
		return nil, err
	}
	d, err := b.days()
	if err != nil {
		return nil, err
	}
	first, ok := d.known()
	if !ok {
		return out, nil
	}
	if in.StartDate != nil {
		first = max(first, dayOf(*in.StartDate))
	}
	for i := len(b.rows) - 1; to >= first && len(out) <= in.Limit; to-- {
		for i >= 0 && b.stated[i].day > to {
			i--
		}
		day := DailyBalance{Day: to.date(), Gap: v.inGap(b.stated, to)}
		switch {
		case i >= 0 && b.stated[i].day == to:
			day.Current, day.Available, day.Source = b.rows[i].Current, b.rows[i].Available, b.rows[i].Source
		case !in.Derive:
			if i < 0 {
				return out, nil
			}
			to = b.stated[i].day + 1 // the loop decrements it
			continue
		default:
			balance, known, err := d.on(to)
			if err != nil {
				return nil, err
			}
			if !known {
				continue
			}
			day.Current, day.Source = b.signed(balance), byReckoning
		}
		out = append(out, day)
	}
	return out, nil
}

// books hold the input of an account's derived balances and proof.
type books struct {
	ID       id.ID          `db:"id"`
	Type     string         `db:"type"`
	Currency money.Currency `db:"currency"`
	Method   string         `db:"balance_method"`
	ClosedOn *pg.Date       `db:"closed_on"`
	Today    pg.Date        `db:"today"`
	rows     []balanceRow   // of each day only the balance that overrides the others, oldest first
	stated   []stated       // the same balances in the form that prove takes
	moves    []movement
}

// A balanceRow is a stated balance as it is stored.
type balanceRow struct {
	Account   id.ID         `db:"account_id"`
	Day       pg.Date       `db:"day"`
	Current   *money.Amount `db:"current"`
	Available *money.Amount `db:"available"`
	Source    string        `db:"source"`
	Exact     bool          `db:"exact"`
	Since     *pg.Date      `db:"since"`
}

// A movementRow is the sum of an account's posted rows with the same posting day, authorized day
// and currency.
type movementRow struct {
	Account    id.ID          `db:"account_id"`
	Posted     pg.Date        `db:"posted"`
	Authorized pg.Date        `db:"authorized"`
	Currency   money.Currency `db:"currency"`
	Out        money.Total    `db:"out"`
	Rows       int64          `db:"rows"`
}

const bookRows = `select a.id, a.type, a.currency, a.balance_method, a.closed_on, ` + today + ` as today
	from account a cross join setting s where a.deleted_at is null `

// openBooks reads one account's books.
func openBooks(ctx context.Context, q pg.Querier, ref string) (*books, error) {
	b, err := pg.One[books](ctx, q, bookRows+`and (a.id = $1 or a.short_id = $2)`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return nil, noAccount(err)
	}
	return &b, fillBooks(ctx, q, []*books{&b})
}

// fillBooks reads the stated balances and the movements of accounts.
func fillBooks(ctx context.Context, q pg.Querier, all []*books) error {
	ids, of := make([]id.ID, len(all)), map[id.ID]*books{}
	for i, b := range all {
		ids[i], of[b.ID] = b.ID, b
	}
	rows, err := pg.All[balanceRow](ctx, q, `
		select distinct on (account_id, day) account_id, day, current, available, source, exact, since
		from account_balance where account_id = any($1) and current is not null
		order by account_id, day, array_position(array['manual', 'statement', 'provider'], source)`, ids)
	if err != nil {
		return err
	}
	for _, row := range rows {
		b := of[row.Account]
		asset := row.Current.Total()
		if b.owes() {
			asset = asset.Neg()
		}
		b.rows = append(b.rows, row)
		b.stated = append(b.stated, stated{dayOf(row.Day), asset.In(b.Currency), row.Exact})
	}
	moves, err := pg.All[movementRow](ctx, q, `
		select t.account_id, t.date as posted, coalesce(t.authorized_date, t.date) as authorized, t.currency,
			sum(t.amount) as out, count(*) as rows
		from transaction t where t.account_id = any($1) and `+Moves+`
		group by t.account_id, t.date, coalesce(t.authorized_date, t.date), t.currency`, ids)
	for _, m := range moves {
		b := of[m.Account]
		b.moves = append(b.moves, movement{dayOf(m.Posted), dayOf(m.Authorized), m.Out.In(m.Currency), m.Rows})
	}
	return err
}

// owes reports whether the account's balances are debts.
func (b *books) owes() bool { return b.Type == bank.Credit || b.Type == bank.Loan }

// closed returns the day on which the account was closed, or 0.
func (b *books) closed() dayNumber {
	if b.ClosedOn == nil {
		return 0
	}
	return dayOf(*b.ClosedOn)
}

func (b *books) days() (days, error) {
	return newDays(deriving{
		currency: b.Currency, method: b.Method, moves: b.moves, statements: b.stated, closed: b.closed(),
	})
}

// prove runs the proof. An account whose value does not follow from its transactions has the status
// none.
func (b *books) prove() (verdict, error) {
	if b.Method == byValuations {
		return verdict{status: none, statements: len(b.stated)}, nil
	}
	return prove(b.Currency, b.moves, b.stated)
}

// signed converts an asset value to the account's own sign, where a debt is positive. It returns
// nil if the value has more digits than a balance can have.
func (b *books) signed(asset money.Total) *money.Amount {
	if b.owes() {
		asset = asset.Neg()
	}
	a, err := asset.Amount()
	if err != nil {
		return nil
	}
	return &a
}

func dayOf(d pg.Date) dayNumber { return dayNumber(d.Time().Unix() / int64(24*time.Hour/time.Second)) }

func (d dayNumber) date() pg.Date {
	return pg.Day(time.Unix(int64(d)*int64(24*time.Hour/time.Second), 0))
}

// BalanceDay names a day of an account.
type BalanceDay struct {
	ID    string  `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	Day   pg.Date `json:"day" doc:"The day" agent:"-"`
	Force bool    `json:"force,omitempty" doc:"Override a balance set by a person" agent:"-"`
}

// SetBalance is the input of SetBalance.
type SetBalance struct {
	BalanceDay
	Current   money.Amount  `json:"current" doc:"Balance at the end of the day: the money in the account, or the debt of a credit or loan account" agent:"Or the debt of a credit or loan account"`
	Available *money.Amount `json:"available,omitempty" doc:"What could be spent" agent:"-"`
}

// SetBalance stores a balance that the caller entered by hand.
func (r *Register) SetBalance(ctx context.Context, tx pg.Tx, in SetBalance) (DailyBalance, error) {
	to := handBalance{in.Current, in.Available}
	b, err := r.say(ctx, tx, in.BalanceDay, &to)
	if err != nil {
		return DailyBalance{}, err
	}
	if err := fillBooks(ctx, tx, []*books{b}); err != nil {
		return DailyBalance{}, err
	}
	v, err := b.prove()
	return DailyBalance{
		Day: in.Day, Current: &in.Current, Available: in.Available, Source: byHand,
		Gap: v.inGap(b.stated, dayOf(in.Day)),
	}, err
}

// DeleteBalance removes a balance that was entered by hand.
func (r *Register) DeleteBalance(ctx context.Context, tx pg.Tx, in BalanceDay) (op.None, error) {
	_, err := r.say(ctx, tx, in, nil)
	return op.None{}, err
}

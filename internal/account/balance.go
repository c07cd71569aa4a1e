package account

import (
	"context"
	"time"

	"coffer/internal/bank"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Who states balances; a person prevails over a statement, and a statement over a provider.
const (
	ByProvider  = "provider"
	ByStatement = "statement"
	byHand      = "manual"
	byReckoning = "derived" // stated by nobody: it follows from the transactions
)

// ListBalances asks for a page of an account's balance history.
type ListBalances struct {
	ID        string   `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	StartDate *pg.Date `json:"start_date,omitempty" doc:"From this day on"`
	EndDate   *pg.Date `json:"end_date,omitempty" doc:"Up to and including this day"`
	Derive    bool     `json:"derive,omitempty" doc:"Also show the days between, and after, on which nobody stated a balance: it follows from the transactions"`
	Cursor    string   `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same dates"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Days per page"`
}

// A DailyBalance is what an account stood at on a day, in the account's currency.
type DailyBalance struct {
	Day       pg.Date       `json:"day"`
	Current   *money.Amount `json:"current" doc:"The money in the account, or the debt of a credit or loan account"`
	Available *money.Amount `json:"available" doc:"As the bank stated it"`
	Source    string        `json:"source" enum:"provider,statement,manual,derived" doc:"Who stated it; derived: nobody, it follows from the transactions"`
	Gap       bool          `json:"gap" doc:"The day lies in a gap: the transactions do not explain the balances around it"`
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

// shown are the days of a page from its newest on, and one more if there is one.
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
			to = b.stated[i].day + 1 // the loop takes one
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

// books are what an account's balances and its proof follow from.
type books struct {
	ID       id.ID          `db:"id"`
	Type     string         `db:"type"`
	Currency money.Currency `db:"currency"`
	Method   string         `db:"balance_method"`
	ClosedOn *pg.Date       `db:"closed_on"`
	Today    pg.Date        `db:"today"`
	rows     []balanceRow   // the strongest of each day, oldest first
	stated   []stated       // the same for the proof
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
}

// A movementRow is what the posted rows of an account, two days and a currency come to.
type movementRow struct {
	Account    id.ID          `db:"account_id"`
	Posted     pg.Date        `db:"posted"`
	Authorised pg.Date        `db:"authorised"`
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
		select distinct on (account_id, day) account_id, day, current, available, source, exact
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
		select t.account_id, t.date as posted, coalesce(t.authorized_date, t.date) as authorised, t.currency,
			sum(t.amount) as out, count(*) as rows
		from transaction t where t.account_id = any($1) and `+Moves+`
		group by t.account_id, t.date, coalesce(t.authorized_date, t.date), t.currency`, ids)
	for _, m := range moves {
		b := of[m.Account]
		b.moves = append(b.moves, movement{dayOf(m.Posted), dayOf(m.Authorised), m.Out.In(m.Currency), m.Rows})
	}
	return err
}

// owes says that the account's balances are debts.
func (b *books) owes() bool { return b.Type == bank.Credit || b.Type == bank.Loan }

// closed is the day on which the account was closed, or 0.
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

// prove is the proof; where rows do not explain the value there is none.
func (b *books) prove() (verdict, error) {
	if b.Method == byValuations {
		return verdict{status: none, statements: len(b.stated)}, nil
	}
	return prove(b.Currency, b.moves, b.stated)
}

// signed is a balance as its account shows it: a debt is positive. It is nil if it has more digits
// than a balance can have.
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

// State stores what a provider's rows or a statement say an account held when days were over.
func (r *Register) State(ctx context.Context, tx pg.Tx, account id.ID, source string, closings []bank.Closing) error {
	if len(closings) == 0 {
		return nil
	}
	days, assets := make([]pg.Date, len(closings)), make([]money.Amount, len(closings))
	for i, c := range closings {
		days[i], assets[i] = pg.Day(c.Day), c.Asset
	}
	_, err := pg.Exec(ctx, tx, `
		insert into account_balance as b (account_id, day, source, exact, current)
		select a.id, v.day, $2, true, case when a.type in ('credit', 'loan') then -v.asset else v.asset end
		from unnest($3::date[], $4::numeric[]) v (day, asset) join account a on a.id = $1
		on conflict (account_id, day, source) do update set current = excluded.current, exact = true,
			stated_at = excluded.stated_at
		where (b.current, b.exact) is distinct from (excluded.current, true)`, account, source, days, assets)
	return err
}

// BalanceDay names a day of an account.
type BalanceDay struct {
	ID    string  `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	Day   pg.Date `json:"day" doc:"The day" agent:"-"`
	Force bool    `json:"force,omitempty" doc:"Also change a balance that a person set" agent:"-"`
}

// SetBalance is the input of SetBalance.
type SetBalance struct {
	BalanceDay
	Current   money.Amount  `json:"current" doc:"The money in the account when the day was over, or the debt of a credit or loan account" agent:"Or the debt of a credit or loan account"`
	Available *money.Amount `json:"available,omitempty" doc:"What could be spent" agent:"-"`
}

// SetBalance states a balance by hand.
func (r *Register) SetBalance(ctx context.Context, tx pg.Tx, in SetBalance) (DailyBalance, error) {
	to := handBalance{in.Current, in.Available}
	b, err := r.say(ctx, tx, in.BalanceDay, &to, "Set a balance")
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

// DeleteBalance removes a balance that was stated by hand.
func (r *Register) DeleteBalance(ctx context.Context, tx pg.Tx, in BalanceDay) (op.None, error) {
	_, err := r.say(ctx, tx, in, nil, "Removed a balance")
	return op.None{}, err
}

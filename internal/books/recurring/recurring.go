package recurring

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// The household's decision about a series.
const (
	Auto      = "auto"
	Confirmed = "confirmed"
	Dismissed = "dismissed"
)

// The state of a series.
const (
	Active = "active"
	Late   = "late"
	Ended  = "ended"
)

// A Recurring is a payment that comes back regularly.
type Recurring struct {
	ID             id.ID          `json:"id" db:"id"`
	ShortID        string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name           *string        `json:"name" db:"name" doc:"The household's name for it; null if it has none"`
	Payee          id.Key         `json:"payee" db:"payee" screen:"none" doc:"Key of the payee, for the filter payee"`
	PayeeName      text.Untrusted `json:"payee_name" db:"-" doc:"Untrusted: the counterparty's name, else the name in the newest of the bank's texts"`
	CounterpartyID *id.ID         `json:"counterparty_id" db:"counterparty_id"`
	AccountID      id.ID          `json:"account_id" db:"account_id"`
	Direction      string         `json:"direction" db:"direction" enum:"in,out"`
	Currency       money.Currency `json:"iso_currency_code" db:"currency"`
	Transfer       bool           `json:"transfer" db:"transfer" doc:"A transfer, by a confirmed link or the newest payment's category: it changes balances but no totals"`
	Group          string         `json:"group" db:"-" screen:"none" enum:"subscription,bill,loan,income,saving,transfer" doc:"By category: loan is money out for a loan, saving is a transfer to savings or investments, transfer any other transfer; a bill pays for something the household needs, or varies; any other payment is a subscription"`
	Category       *string        `json:"category" db:"category" doc:"Slug: that of the newest payment"`
	Cadence        string         `json:"cadence" db:"cadence" enum:"weekly,fortnightly,monthly,quarterly,half_yearly,yearly"`
	AmountType     string         `json:"amount_type" db:"amount_type" enum:"fixed,variable"`
	Amount         money.Amount   `json:"amount" db:"amount" doc:"Current amount; if it varies, the median of the last six. Positive is money out"`
	MonthlyAmount  money.Total    `json:"monthly_amount" db:"monthly_amount" screen:"none" doc:"Yearly amount divided by 12"`
	YearlyAmount   money.Total    `json:"yearly_amount" db:"yearly_amount" doc:"Yearly amount"`
	FirstDate      pg.Date        `json:"first_date" db:"first_date"`
	LastDate       pg.Date        `json:"last_date" db:"last_date"`
	Occurrences    int            `json:"occurrences" db:"occurrences"`
	NextDate       *pg.Date       `json:"next_date" db:"next_date" doc:"Due date of the next payment; null if it has ended"`
	ExpectedAmount *money.Amount  `json:"expected_amount" db:"-" doc:"Expected amount of the next payment; null if it has ended"`
	Status         string         `json:"status" db:"-" enum:"active,late,ended" doc:"late: the next payment is overdue, and the account has newer transactions; ended: two payments were missed"`
	Confidence     string         `json:"confidence" db:"confidence" enum:"high,medium"`
	State          string         `json:"state" db:"state" enum:"auto,confirmed,dismissed" doc:"auto: detected, undecided; dismissed: not a recurring payment, and never suggested again"`
	PriceChanges   []PriceChange  `json:"price_changes" db:"-" screen:"newest" doc:"Newest first"`
	CreatedAt      pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt      pg.Time        `json:"updated_at" db:"updated_at"`

	Named   *text.Untrusted `json:"-" db:"counterparty_name"`
	Wording text.Untrusted  `json:"-" db:"wording"`
	Primary *string         `json:"-" db:"primary_category"`
	Prices  []byte          `json:"-" db:"price_changes"`
	Found   bool            `json:"-" db:"found"`
	Usual   *int            `json:"-" db:"usual_day"` // the usual day of the month
	Newest  *pg.Date        `json:"-" db:"newest"`    // transaction of the account, except in the future
}

// A PriceChange is a new price of a series.
type PriceChange struct {
	Date        pg.Date      `json:"date" doc:"Date of the first payment at the new price"`
	Before      money.Amount `json:"before"`
	After       money.Amount `json:"after"`
	Percent     int64        `json:"percent" doc:"Change in percent"`
	Provisional bool         `json:"provisional" doc:"Not repeated by a later payment yet"`
}

const recurringColumns = `
	r.id, r.short_id, r.name, coalesce(d.payee, r.party) as payee,
	p.name as counterparty_name, coalesce(nullif(d.merchant_name, ''), d.name, '') as wording, t.counterparty_id,
	r.account_id, r.direction, r.currency, c.slug as category, r.cadence, case when r.fixed then 'fixed' else 'variable' end as amount_type,
	r.amount, coalesce(u.slug, c.slug) as primary_category,
	r.amount * case r.cadence when 'weekly' then 52 when 'fortnightly' then 26 when 'monthly' then 12
		when 'quarterly' then 4 when 'half_yearly' then 2 else 1 end as yearly_amount,
	round(r.amount * case r.cadence when 'weekly' then 52 when 'fortnightly' then 26 when 'monthly' then 12
		when 'quarterly' then 4 when 'half_yearly' then 2 else 1 end / 12, 2) as monthly_amount,
	r.first_date, r.last_date, r.occurrences,
	r.next_date, case when r.sure or r.state = 'confirmed' then 'high' else 'medium' end as confidence, r.state,
	r.created_at, r.updated_at, r.price_changes, r.found, r.usual_day, n.day as newest,
	r.transfer or coalesce(coalesce(u.kind, c.kind) = 'transfer', false) as transfer
	from recurring r left join transaction t on t.id = r.last_id left join descriptor d on d.id = t.descriptor_id
	left join counterparty p on p.id = t.counterparty_id left join category c on c.id = t.category_id
	left join category u on u.id = c.parent_id
	left join lateral (select x.date as day from transaction x where x.account_id = r.account_id
		and x.deleted_at is null and x.date <= (select (now() at time zone s.time_zone)::date from setting s)
		order by x.date desc limit 1) n on true`

// settle calculates the fields that depend on the stored record and the current day.
func (r *Recurring) settle() error {
	r.PriceChanges = []PriceChange{}
	if err := json.Unmarshal(r.Prices, &r.PriceChanges); err != nil {
		return fmt.Errorf("read price changes: %w", err)
	}
	slices.Reverse(r.PriceChanges)
	r.PayeeName = payeename.Shown(r.Named, nil, r.Wording)
	r.Group = r.group()
	r.Status = Active
	c := cadenceNamed(r.Cadence)
	next := r.expected(0)
	switch {
	case !r.Found:
		r.Status = Ended
	case r.Newest == nil:
	case dayOf(r.Newest.Time()) > r.expected(1)+c.grace:
		r.Status = Ended
	case dayOf(r.Newest.Time()) > next+c.grace:
		r.Status = Late
	}
	if r.Status == Ended {
		r.NextDate = nil
	} else {
		r.ExpectedAmount = new(r.Amount)
	}
	return nil
}

// ListRecurring is the input of List.
type ListRecurring struct {
	Status       []string `json:"status,omitempty" maxItems:"3" enum:"active,late,ended"`
	State        []string `json:"state,omitempty" maxItems:"3" enum:"auto,confirmed,dismissed" doc:"Without it, dismissed ones are left out"`
	Direction    *string  `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out" agent:"-"`
	AccountID    *string  `json:"account_id,omitempty" minLength:"1" doc:"Short id or UUID"`
	ChangedSince *pg.Date `json:"changed_since,omitempty" doc:"Only with a price change on or after this day"`
	Cursor       string   `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters"`
	Limit        int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"100" doc:"Recurring payments per page"`
}

// RecurringList is a page of recurring payments, those with the newest price change first.
type RecurringList struct { //nolint:revive // the name of the shape in the contract
	Recurring  []Recurring      `json:"recurring"`
	Groups     []RecurringGroup `json:"groups" doc:"The same by group and currency; transfers are groups of their own"`
	Yearly     []Yearly         `json:"yearly" doc:"Yearly total by currency of all active recurring payments that were not dismissed, on all pages; without transfers"`
	Total      int              `json:"total" doc:"On all pages together"`
	NextCursor string           `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool             `json:"has_more"`
}

// A Yearly sums up a year of recurring payments in one currency.
type Yearly struct {
	Currency money.Currency `json:"iso_currency_code"`
	MoneyIn  money.Total    `json:"money_in"`
	MoneyOut money.Total    `json:"money_out"`
	Count    int            `json:"count" doc:"How many recurring payments"`
}

// ByCurrency adds up the recurring payments that go on, for each currency separately.
func ByCurrency(all []Recurring) ([]Yearly, error) {
	out := []Yearly{}
	for _, r := range all {
		if r.Transfer || r.Status == Ended || r.State == Dismissed {
			continue
		}
		at := slices.IndexFunc(out, func(y Yearly) bool { return y.Currency == r.Currency })
		if at < 0 {
			at = len(out)
			out = append(out, Yearly{Currency: r.Currency})
		}
		side := &out[at].MoneyOut
		if r.Direction == "in" {
			side = &out[at].MoneyIn
		}
		var err error
		if *side, err = side.Add(absolute(r.YearlyAmount)); err != nil {
			return nil, err
		}
		out[at].Count++
	}
	slices.SortFunc(out, func(a, b Yearly) int { return cmp.Compare(a.Currency, b.Currency) })
	return out, nil
}

// SortByYear puts the series with the largest yearly amounts first.
func SortByYear(all []Recurring) {
	slices.SortStableFunc(all, func(a, b Recurring) int {
		return absolute(b.YearlyAmount).Cmp(absolute(a.YearlyAmount))
	})
}

func absolute(t money.Total) money.Total {
	if t.IsNeg() {
		return t.Neg()
	}
	return t
}

// List returns a page of recurring payments.
func (p *Payments) List(ctx context.Context, q pg.Querier, in ListRecurring) (RecurringList, error) {
	out := RecurringList{Recurring: []Recurring{}, Groups: []RecurringGroup{}, Yearly: []Yearly{}}
	filter := in
	filter.Cursor, filter.Limit = "", 0
	pager, err := p.db.Pager(ctx, "recurring", filter)
	if err != nil {
		return out, err
	}
	all, err := Matching(ctx, q, in)
	if err != nil {
		return out, err
	}
	out.Total = len(all)
	if out.Yearly, err = ByCurrency(all); err != nil {
		return out, err
	}
	if out.Groups, err = ByContract(all); err != nil {
		return out, err
	}
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 3)
		if err != nil {
			return out, err
		}
		// The list is short, so the cursor is applied after reading all of it.
		all = slices.DeleteFunc(all, func(r Recurring) bool { return slices.Compare(r.place(), at) <= 0 })
	}
	if len(all) > in.Limit {
		all, out.HasMore = all[:in.Limit], true
		out.NextCursor, err = pager.Encode(all[in.Limit-1].place()...)
	}
	out.Recurring = append(out.Recurring, all...)
	return out, err
}

// Matching returns the series that a filter selects, sorted. There are at most a few thousand.
// Their status is calculated here, because it is not stored.
func Matching(ctx context.Context, q pg.Querier, in ListRecurring) ([]Recurring, error) {
	var account *id.ID
	if in.AccountID != nil {
		one, err := pg.Value[id.ID](ctx, q, `select id from account where id = $1 or short_id = $2`,
			pg.RefTo(*in.AccountID).IDArgs()...)
		if err != nil {
			return nil, pg.Named(err, "account_id", "account", "{account.list} lists them")
		}
		account = &one
	}
	if len(in.State) == 0 {
		in.State = []string{Auto, Confirmed}
	}
	all, err := pg.All[Recurring](ctx, q, `select `+recurringColumns+`
		where r.deleted_at is null and ($1::uuid is null or r.account_id = $1) and ($2::text is null or r.direction = $2)
			and r.state = any($3)`, account, in.Direction, in.State)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].settle(); err != nil {
			return nil, err
		}
	}
	all = slices.DeleteFunc(all, func(r Recurring) bool {
		return len(in.Status) > 0 && !slices.Contains(in.Status, r.Status) ||
			in.ChangedSince != nil && r.changed().Before(in.ChangedSince.Time())
	})
	slices.SortFunc(all, func(a, b Recurring) int { return slices.Compare(a.place(), b.place()) })
	return all, nil
}

// WithoutTransfers leaves out transfers within the household, because they pay nobody.
func WithoutTransfers(all []Recurring) []Recurring {
	return slices.DeleteFunc(all, func(r Recurring) bool { return r.Transfer })
}

// changed returns the time of the last price change, or zero.
func (r *Recurring) changed() time.Time {
	if len(r.PriceChanges) == 0 {
		return time.Time{}
	}
	return r.PriceChanges[0].Date.Time()
}

// place returns the position of a series in lists: the newest price change first, then the newest
// payment. The texts sort like their values.
func (r *Recurring) place() []string {
	before := func(t time.Time) string { return fmt.Sprintf("%08d", 1<<24-t.Unix()/86400) }
	return []string{before(r.changed()), before(r.LastDate.Time()), r.ID.String()}
}

// A RecurringRef names a recurring payment.
type RecurringRef struct { //nolint:revive // the name of the shape in the contract
	ID string `json:"id" minLength:"1" doc:"Short id or UUID"`
}

// Get returns one recurring payment.
func (p *Payments) Get(ctx context.Context, q pg.Querier, in RecurringRef) (Recurring, error) {
	r, err := pg.One[Recurring](ctx, q, `select `+recurringColumns+` where r.deleted_at is null
		and (r.id = $1 or r.short_id = $2)`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return r, pg.Found(err, "recurring payment", "{recurring.list} lists them")
	}
	err = r.settle()
	return r, err
}

// errFull returns the error for a household that cannot have another series.
func errFull() error {
	return errs.New(errs.Conflict, "limit of %d recurring payments reached", mostSeries)
}

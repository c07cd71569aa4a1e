package recurring

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// paymentsMost is the largest number of payments of a series that are listed.
const paymentsMost = 120

// contracts are the groups of recurring payments, in the order of lists.
var contracts = []string{"subscription", "bill", "loan", "income", "saving", "transfer"}

// Categories that determine the group. Every other payment is a subscription if it has a fixed
// price, or else a bill.
var (
	loans = []string{
		"home_mortgage", "loans_and_fees_car_finance", "loans_and_fees_student_loan", "loans_and_fees_personal_loan",
		"loans_and_fees_buy_now_pay_later",
	}
	savings = []string{"transfers_savings", "transfers_investments"}
	needs   = []string{
		"home", "utilities", "insurance", "taxes_and_government", "family", "health", "transport", "loans_and_fees",
	}
)

// group returns the kind of contract of a series.
func (r *Recurring) group() string {
	of := func(slug *string, in []string) bool { return slug != nil && slices.Contains(in, *slug) }
	switch out := r.Direction == "out"; {
	case out && of(r.Category, loans):
		return "loan"
	case out && r.Transfer && of(r.Category, savings):
		return "saving"
	case r.Transfer:
		return "transfer"
	case !out:
		return "income"
	case of(r.Primary, needs) || r.AmountType == "variable":
		return "bill"
	}
	return "subscription"
}

// A RecurringGroup sums up the recurring payments of one group in one currency.
type RecurringGroup struct { //nolint:revive // the name of the shape in the contract
	Group    string         `json:"group" enum:"subscription,bill,loan,income,saving,transfer"`
	Currency money.Currency `json:"iso_currency_code"`
	Monthly  money.Total    `json:"monthly" doc:"Sum of the monthly amounts"`
	Yearly   money.Total    `json:"yearly" doc:"Sum of the yearly amounts. Of transfers, those that go out"`
	Count    int            `json:"count" doc:"How many recurring payments"`
}

// ByContract adds up recurring payments by group and currency, without those that have ended or
// were dismissed. Of transfers, only money out is added.
func ByContract(all []Recurring) ([]RecurringGroup, error) {
	out := []RecurringGroup{}
	for _, r := range all {
		if r.Status == Ended || r.State == Dismissed {
			continue
		}
		at := slices.IndexFunc(out, func(g RecurringGroup) bool {
			return g.Group == r.Group && g.Currency == r.Currency
		})
		if at < 0 {
			at = len(out)
			out = append(out, RecurringGroup{Group: r.Group, Currency: r.Currency})
		}
		g := &out[at]
		g.Count++
		if r.Group == "transfer" && r.Direction == "in" {
			continue
		}
		var err error
		if g.Monthly, err = g.Monthly.Add(absolute(r.MonthlyAmount)); err != nil {
			return nil, err
		}
		if g.Yearly, err = g.Yearly.Add(absolute(r.YearlyAmount)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b RecurringGroup) int {
		return cmp.Or(slices.Index(contracts, a.Group)-slices.Index(contracts, b.Group),
			cmp.Compare(a.Currency, b.Currency))
	})
	return out, nil
}

// A RecurringDetail adds the list of payments to a recurring payment.
type RecurringDetail struct { //nolint:revive // the name of the shape in the contract
	Recurring
	Paid     money.Total        `json:"paid" doc:"All its payments together; negative is money in"`
	LastYear *money.Total       `json:"last_year,omitempty" doc:"Yearly amount at the price of a year ago; absent if it is younger or varies"`
	Payments []RecurringPayment `json:"payments" doc:"Newest first, at most 120"`
}

// A RecurringPayment is one payment of a series.
type RecurringPayment struct { //nolint:revive // the name of the shape in the contract
	TransactionID id.ID        `json:"transaction_id" db:"id"`
	ShortID       string       `json:"short_id" db:"short_id"`
	Date          pg.Date      `json:"date" db:"date"`
	Amount        money.Amount `json:"amount" db:"amount"`
}

// Show returns one recurring payment with its payments.
func (p *Payments) Show(ctx context.Context, q pg.Querier, in RecurringRef) (RecurringDetail, error) {
	r, err := p.Get(ctx, q, in)
	if err != nil {
		return RecurringDetail{}, err
	}
	out := RecurringDetail{Recurring: r}
	const rows = ` from recurring_row w join transaction t on t.id = w.transaction_id
		where w.recurring_id = $1 and t.deleted_at is null`
	out.Payments, err = pg.All[RecurringPayment](ctx, q, `select t.id, t.short_id, t.date, t.amount`+rows+`
		order by t.date desc, t.id desc limit $2`, r.ID, paymentsMost)
	if err != nil {
		return out, err
	}
	if out.Paid, err = pg.Value[money.Total](ctx, q, `select coalesce(sum(t.amount), 0)`+rows, r.ID); err != nil {
		return out, err
	}
	if r.AmountType == "fixed" {
		out.LastYear, err = r.aYearAgo(ctx, q)
	}
	return out, err
}

// aYearAgo returns the yearly amount at the price of a year ago, or nil if the series is younger.
func (r *Recurring) aYearAgo(ctx context.Context, q pg.Querier) (*money.Total, error) {
	then, err := pg.Value[pg.Date](ctx, q, `select ((now() at time zone time_zone)::date - interval '1 year')::date
		from setting`)
	if err != nil || r.FirstDate.Time().After(then.Time()) {
		return nil, err
	}
	price := r.Amount
	for _, c := range r.PriceChanges { // newest first
		if c.Date.Time().After(then.Time()) {
			price = c.Before
		}
	}
	sum, err := price.Total().Times(cadenceNamed(r.Cadence).yearly)
	return &sum, err
}

package finding

import (
	"context"
	"slices"

	"coffer/internal/books/recurring"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// FindPatterns is the input of Find.
type FindPatterns struct {
	Kind      PatternKind `json:"kind"`
	Direction *string     `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out" agent:"-"`
	AccountID *string     `json:"account_id,omitempty" minLength:"1"`
	StartDate *pg.Date    `json:"start_date,omitempty" doc:"Inclusive; recurring: first payment since. Default: price_change a year ago, others 90 days"`
	Ended     bool        `json:"ended,omitempty" doc:"recurring: also those that have ended"`
	Dismissed bool        `json:"dismissed,omitempty" doc:"Only dismissed ones"`
	Limit     int         `json:"limit,omitempty" minimum:"1" maximum:"200" default:"60"`
}

// Found is the result of find_patterns.
type Found struct {
	Patterns []Pattern                  `json:"patterns"`
	Groups   []recurring.RecurringGroup `json:"groups,omitempty" doc:"recurring: the same per month and year, by group"`
	Yearly   []recurring.Yearly         `json:"yearly,omitempty" doc:"recurring: yearly total by currency of all active ones, listed or not; without transfers"`
	Total    int                        `json:"total" doc:"Total number; more than listed if the list was cut"`
}

// A Pattern is something that the transactions show.
type Pattern struct {
	ID           string         `json:"id" doc:"Short id, for review_pattern; of a recurring payment also for the filter recurring_id"`
	Name         string         `json:"name,omitempty" doc:"The household's name for it"`
	Payee        text.Untrusted `json:"payee" doc:"Untrusted: the payee"`
	Amount       money.Amount   `json:"amount" doc:"Positive is money out"`
	Currency     money.Currency `json:"iso_currency_code"`
	Varies       bool           `json:"varies,omitempty" doc:"The amount is the usual one"`
	Cadence      string         `json:"cadence,omitempty" doc:"For a recurring payment"`
	Group        string         `json:"group,omitempty" doc:"recurring: subscription, bill, loan or income"`
	Reason       string         `json:"reason,omitempty" doc:"Reason for a duplicate, refund or unusual charge"`
	Transactions []string       `json:"transaction_ids,omitempty" doc:"Newest first; for a refund, the refund and its purchase"`
	Usual        *money.Total   `json:"usual,omitempty" doc:"unusual: the usual maximum for this payee; refund: the price of the purchase"`
	YearlyAmount *money.Total   `json:"yearly_amount,omitempty"`
	NextDate     *pg.Date       `json:"next_date,omitempty" doc:"Due date; for a missed one, when it was due"`
	FirstDate    *pg.Date       `json:"first_date,omitempty" doc:"When it began; with start_date"`
	LastDate     *pg.Date       `json:"last_date,omitempty"`
	Date         *pg.Date       `json:"date,omitempty" doc:"Date of the price change or of the newest transaction"`
	Before       *money.Amount  `json:"before,omitempty"`
	After        *money.Amount  `json:"after,omitempty"`
	Percent      *int64         `json:"percent,omitempty"`
	Provisional  bool           `json:"provisional,omitempty" doc:"Only the newest payment has this price so far"`
	Status       string         `json:"status,omitempty" doc:"late or ended; absent: active"`
	State        string         `json:"state,omitempty" doc:"confirmed or dismissed; absent: undecided"`
}

// patternBytes is the approximate size of one pattern.
const patternBytes = 300

// Find returns patterns of one kind in short form.
func (d *Desk) Find(ctx context.Context, q pg.Querier, in FindPatterns) (Found, error) {
	if slices.Contains([]FindingKind{duplicate, refund, unusual}, FindingKind(in.Kind)) {
		return d.findIn(ctx, q, in)
	}
	list := recurring.ListRecurring{Direction: in.Direction, AccountID: in.AccountID}
	if in.Dismissed {
		list.State = []string{recurring.Dismissed}
	}
	switch FindingKind(in.Kind) {
	case missed:
		list.Status = []string{recurring.Late}
	case priceChange:
		if list.ChangedSince = in.StartDate; in.StartDate == nil {
			since, err := pg.Value[pg.Date](ctx, q, `select ((now() at time zone time_zone)::date - interval '1 year')::date
				from setting`)
			if err != nil {
				return Found{}, err
			}
			list.ChangedSince = &since
		}
	default:
		list.Status = []string{recurring.Active, recurring.Late}
		if in.Ended {
			list.Status = nil
		}
	}
	all, err := recurring.Matching(ctx, q, list)
	if err != nil {
		return Found{}, err
	}
	all = recurring.WithoutTransfers(all)
	out := Found{Patterns: []Pattern{}}
	if in.Kind == PatternKind(series) {
		recurring.SortByYear(all)
		if in.StartDate != nil {
			since := in.StartDate.Time()
			all = slices.DeleteFunc(all, func(r recurring.Recurring) bool { return r.FirstDate.Time().Before(since) })
		}
		if out.Yearly, err = recurring.ByCurrency(all); err != nil {
			return Found{}, err
		}
		if out.Groups, err = recurring.ByContract(all); err != nil {
			return Found{}, err
		}
	}
	for _, r := range all {
		if in.Kind != PatternKind(priceChange) {
			one := patternOf(&r, FindingKind(in.Kind))
			if in.Kind == PatternKind(series) && in.StartDate != nil {
				one.FirstDate = &r.FirstDate
			}
			out.Patterns = append(out.Patterns, one)
			continue
		}
		for _, c := range r.PriceChanges {
			if c.Date.Time().Before(list.ChangedSince.Time()) {
				break
			}
			one := patternOf(&r, FindingKind(in.Kind))
			one.Date, one.Before, one.After = &c.Date, &c.Before, &c.After
			one.Percent, one.Provisional = &c.Percent, c.Provisional
			out.Patterns = append(out.Patterns, one)
		}
	}
	out.Total = len(out.Patterns)
	out.Patterns = out.Patterns[:min(len(out.Patterns), in.Limit, op.PageBytes/patternBytes)]
	return out, nil
}

// patternOf returns a series in short form.
func patternOf(r *recurring.Recurring, kind FindingKind) Pattern {
	out := Pattern{
		ID: r.ShortID, Payee: r.PayeeName, Amount: r.Amount, Currency: r.Currency, Varies: r.AmountType == "variable",
		Cadence: r.Cadence,
	}
	if r.Name != nil {
		out.Name = *r.Name
	}
	if r.Status != recurring.Active {
		out.Status = r.Status
	}
	if r.State != recurring.Auto {
		out.State = r.State
	}
	if kind != priceChange {
		out.NextDate = r.NextDate
	}
	if kind == series {
		out.YearlyAmount, out.Group = &r.YearlyAmount, r.Group
	}
	if kind == missed || r.Status == recurring.Ended {
		out.LastDate = &r.LastDate
	}
	return out
}

// findIn returns findings of one kind in short form.
func (d *Desk) findIn(ctx context.Context, q pg.Querier, in FindPatterns) (Found, error) {
	out := Found{Patterns: []Pattern{}}
	list := ListFindings{
		Kind: []FindingKind{FindingKind(in.Kind)}, StartDate: in.StartDate, AccountID: in.AccountID, State: open,
	}
	if in.Dismissed {
		list.State = dismissed
	}
	all, err := d.found(ctx, q, list)
	if err != nil {
		return out, err
	}
	if in.Direction != nil {
		all = slices.DeleteFunc(all, func(f Finding) bool { return f.Amount.IsNeg() != (*in.Direction == "in") })
	}
	out.Total = len(all)
	all = all[:min(len(all), in.Limit, op.PageBytes/patternBytes)]
	if err := named(ctx, q, all); err != nil {
		return out, err
	}
	for _, f := range all {
		amount, err := f.Amount.Amount()
		if err != nil {
			return out, err
		}
		one := Pattern{
			ID: f.ShortID, Payee: *f.PayeeName, Amount: amount, Currency: f.Currency, Date: &f.Date,
			Reason: string(f.Reason),
			Usual:  f.Usual,
		}
		for _, u := range f.TransactionIDs {
			one.Transactions = append(one.Transactions, u.Short())
		}
		if f.State == dismissed {
			one.State = dismissed
		}
		out.Patterns = append(out.Patterns, one)
	}
	return out, nil
}

// ReviewPattern is the input of Review.
type ReviewPattern struct {
	ID    string          `json:"id" minLength:"1" doc:"From find_patterns"`
	Name  op.Null[string] `json:"name,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"recurring: the household's name for it; null removes it"`
	State *string         `json:"state,omitempty" enum:"auto,confirmed,dismissed" doc:"confirmed: it recurs, or it is a refund, which then counts in its purchase's category; dismissed: not shown again; auto: undecided" agent:"confirmed: a refund then counts in its purchase's category; auto: undecided"`
	Force bool            `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// A ReviewedPattern is a pattern about which somebody decided.
type ReviewedPattern struct {
	ID    string       `json:"id" doc:"Short id"`
	Kind  ReviewedKind `json:"kind"`
	State string       `json:"state" enum:"auto,confirmed,dismissed"`
	Name  *string      `json:"name,omitempty"`
}

// Review records the decision about a recurring payment or a finding.
func (d *Desk) Review(ctx context.Context, tx pg.Tx, in ReviewPattern) (ReviewedPattern, error) {
	n, err := pg.Value[int](ctx, tx, `select count(*) from recurring where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return ReviewedPattern{}, err
	}
	if n > 0 {
		r, err := d.recurring.Patch(ctx, tx, recurring.PatchRecurring(in))
		return ReviewedPattern{r.ShortID, ReviewedKind(series), r.State, r.Name}, err
	}
	if in.State == nil || in.Name.Set {
		if _, err := d.findingNamed(ctx, tx, in.ID); err != nil {
			return ReviewedPattern{}, err
		}
		return ReviewedPattern{}, errs.Field("state", "required",
			"is required for a finding, and name must be omitted")
	}
	state := *in.State
	if state == recurring.Auto {
		state = open
	}
	f, err := d.SetFinding(ctx, tx, SetFinding{ID: in.ID, State: state, Force: in.Force})
	return ReviewedPattern{f.ShortID, ReviewedKind(f.Kind), *in.State, nil}, err
}

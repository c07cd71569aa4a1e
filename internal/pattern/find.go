package pattern

import (
	"context"
	"slices"

	"coffer/internal/errs"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// FindPatterns is the input of Find.
type FindPatterns struct {
	Kind      string   `json:"kind" enum:"recurring,price_change,missed,duplicate,refund,unusual"`
	Direction *string  `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out" agent:"-"`
	AccountID *string  `json:"account_id,omitempty" minLength:"1"`
	StartDate *pg.Date `json:"start_date,omitempty" doc:"Inclusive; recurring: first payment since. Default: price_change a year ago, others 90 days"`
	Ended     bool     `json:"ended,omitempty" doc:"recurring: also those that have ended"`
	Dismissed bool     `json:"dismissed,omitempty" doc:"Only dismissed ones"`
	Limit     int      `json:"limit,omitempty" minimum:"1" maximum:"200" default:"60"`
}

// Found holds the findings.
type Found struct {
	Patterns []Pattern        `json:"patterns"`
	Groups   []RecurringGroup `json:"groups,omitempty" doc:"recurring: the same per month and year, by group"`
	Yearly   []Yearly         `json:"yearly,omitempty" doc:"recurring: yearly total by currency of all active ones, listed or not; without transfers"`
	Total    int              `json:"total" doc:"Total number; more than listed if the list was cut"`
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
	Usual        *money.Total   `json:"usual,omitempty" doc:"unusual: the usual maximum of the payee's charges; refund: the price of the purchase"`
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

// patternBytes is about what one pattern takes.
const patternBytes = 300

// Find returns patterns of one kind in few words.
func (p *Patterns) Find(ctx context.Context, q pg.Querier, in FindPatterns) (Found, error) {
	if slices.Contains([]string{duplicate, refund, unusual}, in.Kind) {
		return p.findIn(ctx, q, in)
	}
	list := ListRecurring{Direction: in.Direction, AccountID: in.AccountID}
	if in.Dismissed {
		list.State = []string{Dismissed}
	}
	switch in.Kind {
	case "missed":
		list.Status = []string{late}
	case "price_change":
		if list.ChangedSince = in.StartDate; in.StartDate == nil {
			since, err := pg.Value[pg.Date](ctx, q, `select ((now() at time zone time_zone)::date - interval '1 year')::date
				from setting`)
			if err != nil {
				return Found{}, err
			}
			list.ChangedSince = &since
		}
	default:
		list.Status = []string{active, late}
		if in.Ended {
			list.Status = nil
		}
	}
	all, err := matching(ctx, q, list)
	if err != nil {
		return Found{}, err
	}
	all = withoutTransfers(all)
	out := Found{Patterns: []Pattern{}}
	if in.Kind == "recurring" {
		slices.SortStableFunc(all, func(a, b Recurring) int {
			return absolute(b.YearlyAmount).Cmp(absolute(a.YearlyAmount))
		})
		if in.StartDate != nil {
			since := in.StartDate.Time()
			all = slices.DeleteFunc(all, func(r Recurring) bool { return r.FirstDate.Time().Before(since) })
		}
		if out.Yearly, err = yearly(all); err != nil {
			return Found{}, err
		}
		if out.Groups, err = byContract(all); err != nil {
			return Found{}, err
		}
	}
	for _, r := range all {
		if in.Kind != "price_change" {
			one := r.pattern(in.Kind)
			if in.Kind == "recurring" && in.StartDate != nil {
				one.FirstDate = &r.FirstDate
			}
			out.Patterns = append(out.Patterns, one)
			continue
		}
		for _, c := range r.PriceChanges {
			if c.Date.Time().Before(list.ChangedSince.Time()) {
				break
			}
			one := r.pattern(in.Kind)
			one.Date, one.Before, one.After = &c.Date, &c.Before, &c.After
			one.Percent, one.Provisional = &c.Percent, c.Provisional
			out.Patterns = append(out.Patterns, one)
		}
	}
	out.Total = len(out.Patterns)
	out.Patterns = out.Patterns[:min(len(out.Patterns), in.Limit, op.PageBytes/patternBytes)]
	return out, nil
}

func absolute(t money.Total) money.Total {
	if t.IsNeg() {
		return t.Neg()
	}
	return t
}

// pattern is the series in few words.
func (r *Recurring) pattern(kind string) Pattern {
	out := Pattern{
		ID: r.ShortID, Payee: r.PayeeName, Amount: r.Amount, Currency: r.Currency, Varies: r.AmountType == "variable",
		Cadence: r.Cadence,
	}
	if r.Name != nil {
		out.Name = *r.Name
	}
	if r.Status != active {
		out.Status = r.Status
	}
	if r.State != Auto {
		out.State = r.State
	}
	if kind != "price_change" {
		out.NextDate = r.NextDate
	}
	if kind == "recurring" {
		out.YearlyAmount, out.Group = &r.YearlyAmount, r.Group
	}
	if kind == "missed" || r.Status == ended {
		out.LastDate = &r.LastDate
	}
	return out
}

// findIn returns findings of one kind in few words.
func (p *Patterns) findIn(ctx context.Context, q pg.Querier, in FindPatterns) (Found, error) {
	out := Found{Patterns: []Pattern{}}
	list := ListFindings{Kind: []string{in.Kind}, StartDate: in.StartDate, AccountID: in.AccountID, State: open}
	if in.Dismissed {
		list.State = Dismissed
	}
	all, err := p.found(ctx, q, list)
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
			ID: f.ShortID, Payee: *f.PayeeName, Amount: amount, Currency: f.Currency, Date: &f.Date, Reason: f.Reason,
			Usual: f.Usual,
		}
		for _, u := range f.TransactionIDs {
			one.Transactions = append(one.Transactions, u.Short())
		}
		if f.State == Dismissed {
			one.State = Dismissed
		}
		out.Patterns = append(out.Patterns, one)
	}
	return out, nil
}

// ReviewPattern is the input of Review.
type ReviewPattern struct {
	ID    string          `json:"id" minLength:"1" doc:"From find_patterns"`
	Name  op.Null[string] `json:"name,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"recurring: the household's name for it; null removes it"`
	State *string         `json:"state,omitempty" enum:"auto,confirmed,dismissed" doc:"confirmed: it is a recurring payment or a refund, which then counts in its purchase's category; dismissed: not shown again; auto: undecided" agent:"confirmed: a refund then counts in its purchase's category; auto: undecided"`
	Force bool            `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// A ReviewedPattern is a pattern about which somebody decided.
type ReviewedPattern struct {
	ID    string  `json:"id" doc:"Short id"`
	Kind  string  `json:"kind" enum:"recurring,duplicate,refund,unusual,price_change,missed,gap"`
	State string  `json:"state" enum:"auto,confirmed,dismissed"`
	Name  *string `json:"name,omitempty"`
}

// Review records the decision about a recurring payment or a finding.
func (p *Patterns) Review(ctx context.Context, tx pg.Tx, in ReviewPattern) (ReviewedPattern, error) {
	n, err := pg.Value[int](ctx, tx, `select count(*) from recurring where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return ReviewedPattern{}, err
	}
	if n > 0 {
		r, err := p.Patch(ctx, tx, PatchRecurring(in))
		return ReviewedPattern{r.ShortID, "recurring", r.State, r.Name}, err
	}
	if in.State == nil || in.Name.Set {
		if _, err := p.findingNamed(ctx, tx, in.ID); err != nil {
			return ReviewedPattern{}, err
		}
		return ReviewedPattern{}, errs.Field("state", "required",
			"is required for a finding, and name must be omitted")
	}
	state := *in.State
	if state == Auto {
		state = open
	}
	f, err := p.SetFinding(ctx, tx, SetFinding{ID: in.ID, State: state, Force: in.Force})
	return ReviewedPattern{f.ShortID, f.Kind, *in.State, nil}, err
}

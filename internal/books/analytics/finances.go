package analytics

import (
	"context"
	"slices"

	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// financesMost is the largest number of points of net worth, and of targets, that a model gets.
const financesMost = 60

// A FinancesRequest asks for one view of the household's money.
type FinancesRequest struct {
	View      string          `json:"view" enum:"balances,net_worth,cash_flow,upcoming,targets,year" doc:"balances: each account today. net_worth: assets and debts over time. cash_flow: income and spending. upcoming: recurring payments due and lowest projected balances. targets: monthly budgets with spent and remaining amounts. year: a calendar year by category and tag, beside the year before" agent:"upcoming: payments due; targets: monthly budgets; year: by category and tag"`
	StartDate *pg.Date        `json:"start_date,omitempty" doc:"net_worth: 12 months ago if absent; cash_flow: the first of this month; targets: its month counts; year: its year counts, this one if absent" agent:"Default: net_worth 12 months ago, cash_flow this month"`
	EndDate   *pg.Date        `json:"end_date,omitempty" doc:"Today if absent" agent:"Default: today"`
	Interval  string          `json:"interval,omitempty" enum:"day,week,month" default:"month" doc:"net_worth: a point for the end of each, at most 60" agent:"For net_worth"`
	By        *string         `json:"by,omitempty" enum:"type,account,user,category" doc:"net_worth: groups of the first and last point by type, account or user. cash_flow: category or account" agent:"net_worth: type, account or user; cash_flow: category or account"`
	In        *money.Currency `json:"in,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR" doc:"net_worth: also converted by the household's own rates" agent:"net_worth: also converted"`
	Compare   *string         `json:"compare,omitempty" enum:"previous_period,previous_year" doc:"cash_flow: compare with a previous period" agent:"cash_flow"`
	Days      int             `json:"days,omitempty" minimum:"1" maximum:"366" default:"30" doc:"upcoming: how many days to look ahead" agent:"upcoming: days ahead"`
}

// Finances is the requested view; the fields of the other views are absent.
type Finances struct {
	Balances *FinancesBalances `json:"balances,omitempty"`
	NetWorth *NetWorth         `json:"net_worth,omitempty"`
	CashFlow *Cashflow         `json:"cash_flow,omitempty"`
	Upcoming *Upcoming         `json:"upcoming,omitempty"`
	Targets  *TargetMonth      `json:"targets,omitempty"`
	Year     *Year             `json:"year,omitempty"`
}

// FinancesBalances holds the current balances of the accounts.
type FinancesBalances struct {
	Accounts []FinancesAccount `json:"accounts" doc:"Without hidden accounts and those that mirror another"`
	Totals   []NetWorthTotal   `json:"totals" doc:"By currency"`
	Notes    []op.Note         `json:"notes"`
}

// A FinancesAccount is an account with its balance today.
type FinancesAccount struct {
	ID       id.ID          `json:"id"`
	Name     text.Untrusted `json:"name" doc:"May be the bank's (untrusted)"`
	Type     string         `json:"type"`
	UserName *string        `json:"user_name"`
	Currency money.Currency `json:"iso_currency_code"`
	Balance  *money.Amount  `json:"balance" doc:"The money in it, or the debt of a credit or loan account; null if unknown"`
	Date     *pg.Date       `json:"stated_on" doc:"Date of the last reported balance; transactions since are added"`
	Source   *string        `json:"source" enum:"provider,statement,manual" doc:"Source of the balance"`
	Books    string         `json:"books_status" enum:"proved,gap,open,none" doc:"Whether transactions match the balances"`
}

// A view reads one view of the household's money.
type view func(*Totals, context.Context, pg.Querier, FinancesRequest) (Finances, error)

var views = map[string]view{
	"balances": (*Totals).balances, "net_worth": (*Totals).netWorth, "cash_flow": (*Totals).cashFlow,
	"upcoming": (*Totals).ahead, "targets": (*Totals).targets, "year": (*Totals).ofYear,
}

// Finances returns one view of the household's money.
func (t *Totals) Finances(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	return views[in.View](t, ctx, q, in)
}

func (t *Totals) balances(ctx context.Context, q pg.Querier, _ FinancesRequest) (Finances, error) {
	now, err := t.Today(ctx, q)
	if err != nil {
		return Finances{}, err
	}
	accounts, err := t.accounts.Accounts(ctx, q, op.None{})
	if err != nil {
		return Finances{}, err
	}
	counted := map[id.ID]bool{}
	for _, a := range now.Accounts {
		counted[a.ID] = true
	}
	out := &FinancesBalances{Accounts: []FinancesAccount{}, Totals: []NetWorthTotal{}, Notes: now.Notes}
	for _, p := range now.Points {
		out.Totals = p.Totals
	}
	for _, a := range accounts {
		if counted[a.ID] {
			out.Accounts = append(out.Accounts, financesAccount(a))
		}
	}
	return Finances{Balances: out}, nil
}

func financesAccount(a account.Account) FinancesAccount {
	return FinancesAccount{
		ID: a.ID, Name: nameOf(a), Type: a.Type, UserName: a.UserName, Currency: a.Currency, Balance: a.BalanceToday,
		Date: a.BalanceDate, Source: a.BalanceSource, Books: a.BooksStatus,
	}
}

// nameOf returns the household's name of an account, else the bank's.
func nameOf(a account.Account) text.Untrusted {
	if a.DisplayName != nil && *a.DisplayName != "" {
		return text.Line(*a.DisplayName, 200)
	}
	return a.Name
}

// Today returns what the household owns and owes today, as one point.
func (t *Totals) Today(ctx context.Context, q pg.Querier) (NetWorth, error) {
	now, err := today(ctx, q)
	if err != nil {
		return NetWorth{}, err
	}
	return t.NetWorth(ctx, q, NetWorthRequest{StartDate: &now, EndDate: &now, Interval: "day"})
}

func (t *Totals) netWorth(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	if in.By != nil && *in.By == "category" {
		return Finances{}, errs.Field("by", "unknown", "must be type, account or user in this view")
	}
	n, err := t.NetWorth(ctx, q, NetWorthRequest{
		StartDate: in.StartDate, EndDate: in.EndDate, Interval: in.Interval, By: in.By, In: in.In,
	})
	if err != nil {
		return Finances{}, err
	}
	if len(n.Points) > financesMost {
		return Finances{}, errs.Field("interval", "range", "would give %d points, but the limit is %d; "+
			"choose a longer interval or fewer days", len(n.Points), financesMost)
	}
	for i := range n.Points {
		if i > 0 && i < len(n.Points)-1 {
			n.Points[i].Groups = nil
		}
	}
	return Finances{NetWorth: &n}, nil
}

func (t *Totals) cashFlow(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	request := CashflowRequest{StartDate: in.StartDate, EndDate: in.EndDate, By: "category", Compare: in.Compare}
	switch {
	case in.By == nil:
	case *in.By != "category" && *in.By != "account":
		return Finances{}, errs.Field("by", "unknown", "must be category or account in this view")
	default:
		request.By = *in.By
	}
	c, err := t.Cashflow(ctx, q, request)
	return Finances{CashFlow: &c}, err
}

// ahead returns the expected payments, limited to the number that a model gets.
func (t *Totals) ahead(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	out, err := t.upcoming(ctx, q, in.Days, toolUpcomingMost)
	return Finances{Upcoming: &out}, err
}

// targets returns the targets that apply in one month.
func (t *Totals) targets(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	var request ListTargets
	if in.StartDate != nil {
		request.Month = new(in.StartDate.Time().Format(monthLayout))
	}
	out, err := t.Targets(ctx, q, request)
	for i := range out.Targets {
		out.Targets[i].Payments = nil // the view upcoming has the payments that are due
	}
	out.Targets = slices.DeleteFunc(out.Targets, func(m MeasuredTarget) bool { return m.Available == nil })
	if left := int64(len(out.Targets) - financesMost); left > 0 {
		out.Targets = out.Targets[:financesMost]
		out.Notes = append(out.Notes, op.Note{
			Code: "truncated", Count: &left, Message: plural(left, "target is", "targets are") + " not shown",
		})
	}
	return Finances{Targets: &out}, err
}

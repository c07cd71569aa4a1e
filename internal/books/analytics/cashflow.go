package analytics

import (
	"context"
	"slices"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A CashflowRequest asks where money came from and went.
type CashflowRequest struct {
	StartDate *pg.Date `json:"start_date,omitempty" doc:"Start date (inclusive); default: the first day of the end date's month"`
	EndDate   *pg.Date `json:"end_date,omitempty" doc:"End date (inclusive); default: today"`
	Compare   *string  `json:"compare,omitempty" enum:"previous_period,previous_year" doc:"Compare with the same number of whole months or days before, or with a year earlier. Days after today are left out on both sides"`
	By        string   `json:"by,omitempty" enum:"category,account" default:"category" doc:"category: one node for all accounts; account: one for each"`
}

// A Cashflow is the flow of money in each currency. It counts what a summary counts.
type Cashflow struct {
	Notes      []op.Note          `json:"notes" doc:"Caveats about the figures"`
	Period     ComparedDays       `json:"period" doc:"The days that were counted"`
	Currencies []CashflowCurrency `json:"currencies" screen:"records"`
}

// A CashflowCurrency is the flow of money in one currency: from income through accounts to
// categories. For each account, the inflow equals the outflow.
type CashflowCurrency struct {
	Currency money.Currency `json:"iso_currency_code"`
	SummaryCompared
	Nodes []CashflowNode `json:"nodes" doc:"Income minus categories is net"`
	Links []CashflowLink `json:"links"`
}

// A CashflowNode is a place that money flows through.
type CashflowNode struct {
	ID        string         `json:"id" doc:"Names the node within its currency"`
	Kind      string         `json:"kind" enum:"income,account,category,saved,drawn" doc:"income: a source of income. category: spending. saved: income minus spending. drawn: spending beyond income"`
	Name      text.Untrusted `json:"name" doc:"Untrusted if it is an account's: the bank's name, unless a member renamed it"`
	Category  *string        `json:"category,omitempty" doc:"Slug of the primary category; absent without one"`
	AccountID *id.ID         `json:"account_id,omitempty"`
	Amount    money.Total    `json:"amount" doc:"Amount through the node"`
	Previous  *money.Total   `json:"previous,omitempty" doc:"With compare: the same node's amount before"`
	Reversed  bool           `json:"reversed,omitempty" doc:"The category's net has the opposite sign of its kind, such as more refunds than purchases, so it is on the other side"`
	Parts     []CashflowPart `json:"parts,omitempty" doc:"The node by subcategory; they add up to amount"`
}

// A CashflowPart is a category's share of a node.
type CashflowPart struct {
	Category string      `json:"category" doc:"Slug"`
	Name     string      `json:"name"`
	Amount   money.Total `json:"amount" doc:"Negative if it flows against the node"`
}

// A CashflowLink is money that flows from one node to another.
type CashflowLink struct {
	Source string      `json:"source" doc:"Id of a node"`
	Target string      `json:"target" doc:"Id of a node"`
	Amount money.Total `json:"amount"`
}

// days returns the requested days; without any, this month until today.
func (in CashflowRequest) days(ctx context.Context, q pg.Querier) (Days, error) {
	var out Days
	if in.EndDate != nil {
		out.End = *in.EndDate
	} else {
		now, err := today(ctx, q)
		if err != nil {
			return out, err
		}
		out.End = now
	}
	end := out.End.Time()
	out.Start = pg.Day(end.AddDate(0, 0, 1-end.Day()))
	if in.StartDate != nil {
		out.Start = *in.StartDate
	}
	return out, nil
}

// Cashflow shows where money came from and went.
func (t *Totals) Cashflow(ctx context.Context, q pg.Querier, in CashflowRequest) (Cashflow, error) {
	days, err := in.days(ctx, q)
	if err != nil {
		return Cashflow{}, err
	}
	request := SummaryRequest{
		Filter: ledger.Filter{StartDate: &days.Start, EndDate: &days.End}, GroupBy: []string{"category"},
		Compare: in.Compare,
	}
	if in.By == "account" {
		request.GroupBy = append(request.GroupBy, "account")
	}
	sums, err := t.Sums(ctx, q, request)
	if err != nil {
		return Cashflow{}, err
	}
	out := Cashflow{Period: ComparedDays{Days: days}, Currencies: []CashflowCurrency{}}
	start := &days.Start
	if sums.Period != nil {
		out.Period, start = *sums.Period, &sums.Period.Previous.Start
	}
	known, err := readFlowCategories(ctx, q, categoriesOf(sums.Groups))
	if err != nil {
		return Cashflow{}, err
	}
	categories := map[id.ID]flowCategory{}
	for _, c := range known {
		categories[c.ID] = c
	}
	for _, total := range sums.Totals {
		c := CashflowCurrency{Currency: total.Currency, SummaryCompared: total.SummaryCompared}
		groups := slices.DeleteFunc(slices.Clone(sums.Groups), func(g Group) bool { return g.Currency != c.Currency })
		now, err := flowOf(groups, categories, func(g Group) SummarySums { return g.SummarySums })
		if err != nil {
			return Cashflow{}, err
		}
		if in.Compare != nil {
			old, err := flowOf(groups, categories, func(g Group) SummarySums { return *g.Previous })
			if err != nil {
				return Cashflow{}, err
			}
			now.beside(old)
		}
		c.Nodes, c.Links = now.list()
		out.Currencies = append(out.Currencies, c)
	}
	standing, err := Stand(ctx, q)
	out.Notes = append(standing.Notes(ctx, start, &days.End), sums.cutNotes(ctx, request)...)
	return out, err
}

func categoriesOf(groups []Group) []id.ID {
	out := []id.ID{}
	for _, g := range groups {
		if c := g.IDs["category"]; c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// readFlowCategories reads categories with their primaries.
func readFlowCategories(ctx context.Context, q pg.Querier, ids []id.ID) ([]flowCategory, error) {
	return pg.All[flowCategory](ctx, q, `
		select c.slug, c.display_name as name, coalesce(p.id, c.id) as primary_id,
			coalesce(p.slug, c.slug) as primary_slug, coalesce(p.display_name, c.display_name) as primary_name,
			coalesce(p.kind, c.kind) as kind, c.id
		from category c left join category p on p.id = c.parent_id where c.id = any($1)`, ids)
}

// A flowCategory is a category with its primary. A primary category is its own primary.
type flowCategory struct {
	ID          id.ID  `db:"id"`
	Slug        string `db:"slug"`
	Name        string `db:"name"`
	PrimaryID   id.ID  `db:"primary_id"`
	PrimarySlug string `db:"primary_slug"`
	PrimaryName string `db:"primary_name"`
	Kind        string `db:"kind"`
}

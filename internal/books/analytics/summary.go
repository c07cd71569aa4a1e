package analytics

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"coffer/internal/books/ledger"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// The number of groups that a tool returns without a limit, and the largest limit.
const (
	toolGroups     = 25
	toolMostGroups = 200
)

// A SummaryRequest asks for totals of transactions, in groups.
type SummaryRequest struct {
	ledger.Filter
	GroupBy   []string `json:"group_by,omitempty" maxItems:"2" enum:"category,primary_category,counterparty,payee,merchant,account,user,tag,month,week,day" doc:"Up to two; without any, one group per currency. payee: by counterparty, else by payee across different bank descriptions; merchant: by exact text" agent:"Up to two; payee: across different bank descriptions; merchant: by exact text"`
	Include   []string `json:"include,omitempty" enum:"transfers,excluded,hidden" doc:"Include what totals exclude: transfers, mirrored rows and those left out with a reason, hidden accounts" agent:"What totals exclude"`
	Side      *string  `json:"side,omitempty" enum:"spending,income" doc:"Only spending or only income, by the kind of category, refunds included; uncategorized transactions by their direction" agent:"-"`
	SortBy    *string  `json:"sort_by,omitempty" enum:"amount,count,key,change" doc:"amount and change: by absolute size within each currency. Without it groups are sorted by key, and a limit keeps the largest, or the newest months, weeks and days" agent:"change: with compare"`
	SortOrder *string  `json:"sort_order,omitempty" enum:"asc,desc" doc:"desc by default; asc for key" agent:"-"`
	Limit     *int     `json:"limit,omitempty" minimum:"1" maximum:"500" doc:"Return the first groups; other sums the rest" agent:"other sums the rest"`
	MinCount  *int     `json:"min_count,omitempty" minimum:"1" doc:"Smaller groups go to other"`
	Pivot     bool     `json:"pivot,omitempty" doc:"Return a table instead of groups: rows by the first grouping, columns by the second, which is month, week or day; requires start_date" agent:"Rows by the first grouping, columns by the second (month, week, day); needs start_date"`
	Measure   *string  `json:"measure,omitempty" enum:"out,in,net,count" doc:"Measure in the table: out (default) is money out minus refunds" agent:"For pivot"`
	Compare   *string  `json:"compare,omitempty" enum:"previous_period,previous_year" doc:"Compare with the same number of whole months or days before, or with a year earlier; needs start_date. Days after today are left out on both sides" agent:"Needs start_date"`
}

// A Summary holds totals in groups. Amounts in different currencies are never added up, and a
// transaction with two tags counts in both groups.
type Summary struct {
	Notes    []op.Note       `json:"notes" doc:"Caveats about the figures"`
	Groups   []Group         `json:"groups" screen:"rows"`
	Pivot    *SummaryPivot   `json:"pivot,omitempty" doc:"With pivot: the table; groups is empty then"`
	Other    []SummaryOther  `json:"other" doc:"Sum of the groups beyond limit and min_count, by currency"`
	Totals   []SummaryTotal  `json:"totals,omitempty" doc:"All groups, by currency; not with tag, where a transaction can be in two"`
	Period   *ComparedDays   `json:"period,omitempty" doc:"With compare: the days that were counted"`
	Coverage SummaryCoverage `json:"coverage" doc:"The transactions of the filter without its dates"`

	leftOut int64 // transactions that somebody left out of the totals
}

// SummarySums holds money in and money out.
type SummarySums struct {
	MoneyIn  money.Total `json:"money_in" doc:"Money in, as a positive number"`
	MoneyOut money.Total `json:"money_out" doc:"Money out, as a positive number"`
	Net      money.Total `json:"net" doc:"money_in minus money_out"`
	Count    int64       `json:"count"`
}

// A SummaryChange is the difference to the previous period.
type SummaryChange struct {
	Net     money.Total `json:"net" doc:"net minus the previous net"`
	Percent *int64      `json:"percent,omitempty" doc:"Change of net in percent: 10 if spending or income rose by a tenth. Absent if it was 0 before or had the opposite sign"`
}

// SummaryCompared holds sums together with those of the previous period.
type SummaryCompared struct {
	SummarySums
	Previous *SummarySums   `json:"previous,omitempty" doc:"With compare"`
	Change   *SummaryChange `json:"change,omitempty" doc:"With compare"`
}

// A Group holds the totals of one combination of keys, in one currency.
type Group struct {
	Keys     map[string]*text.Untrusted `json:"keys" doc:"The group's values, by the names in group_by; null for transactions without one"`
	IDs      map[string]*id.ID          `json:"ids,omitempty" doc:"The id of the category, account, user or counterparty, if group_by names one: two of the same name are two groups. Of a payee, the id of its counterparty"`
	Payee    *id.Key                    `json:"payee,omitempty" doc:"For a payee without a counterparty: its key, for the filter payee together with counterparty_id=none"`
	Currency money.Currency             `json:"iso_currency_code"`
	SummaryCompared
}

// A SummaryTotal holds the sums of all groups of one currency.
type SummaryTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	SummaryCompared
}

// A SummaryOther holds the sums of the groups of one currency that are not shown.
type SummaryOther struct {
	Currency money.Currency `json:"iso_currency_code"`
	Groups   int64          `json:"groups" doc:"How many groups"`
	SummaryCompared
}

// A SummaryCoverage holds the dates of the first and last of some transactions, and their number.
type SummaryCoverage struct {
	FirstDate    *pg.Date `json:"first_date" db:"first_date"`
	LastDate     *pg.Date `json:"last_date" db:"last_date"`
	Transactions *int64   `json:"transactions,omitempty" db:"transactions" doc:"How many; absent for a filter of dates alone, because counting all transactions costs more than the totals"`
}

// whole reports whether a filter has no conditions but dates.
func whole(f ledger.Filter) bool {
	f.StartDate, f.EndDate, f.SearchMode = nil, nil, ""
	if f.Deleted == "exclude" {
		f.Deleted = ""
	}
	return reflect.DeepEqual(f, ledger.Filter{})
}

// Summary adds amounts up, by currency and by up to two groupings, and adds notes about what the
// sums leave out.
func (t *Totals) Summary(ctx context.Context, q pg.Querier, in SummaryRequest) (Summary, error) {
	standing, err := Stand(ctx, q)
	if err != nil {
		return Summary{}, err
	}
	out, where, err := t.sums(ctx, q, in, &standing)
	if limit := fitting(ctx, out); err == nil && limit > 0 { // other then sums up the groups that do not fit
		in.Limit = &limit
		out, where, err = t.sums(ctx, q, in, &standing)
	}
	if err != nil {
		return out, err
	}
	switch {
	case where == nil:
	case whole(in.Filter):
		out.Coverage = SummaryCoverage{FirstDate: standing.FirstDate, LastDate: standing.LastDate}
	default:
		if out.Coverage, err = pg.One[SummaryCoverage](ctx, q, `select min(t.date) as first_date,
			max(t.date) as last_date, count(*) as transactions from transaction t `+where.SQL(),
			where.Args()...); err != nil {
			return out, err
		}
	}
	start := in.StartDate
	if out.Period != nil {
		start = &out.Period.Previous.Start
	}
	out.Notes = append(standing.Notes(ctx, start, in.EndDate), out.cutNotes(ctx, in)...)
	return out, nil
}

// fitting returns the number of groups that fit into a tool's result, or 0 if all of them fit.
func fitting(ctx context.Context, out Summary) int {
	if op.SurfaceOf(ctx) != op.Tool {
		return 0
	}
	groups := len(out.Groups)
	if out.Pivot != nil {
		groups = len(out.Pivot.Rows)
	}
	printed, err := op.Short(out)
	if err != nil || len(printed) <= op.PageBytes {
		return 0
	}
	return max(1, groups*op.PageBytes*9/10/len(printed))
}

// Sums adds amounts up like Summary, without coverage and notes.
func (t *Totals) Sums(ctx context.Context, q pg.Querier, in SummaryRequest) (Summary, error) {
	out, _, err := t.sums(ctx, q, in, nil)
	return out, err
}

// sums adds amounts up. It also returns the filter without its dates, or nil if nothing can match.
// If standing is nil and a pivot needs it, sums reads it.
func (t *Totals) sums(ctx context.Context, q pg.Querier, in SummaryRequest, standing *Standing) (
	Summary, *pg.Where, error,
) {
	out := Summary{Groups: []Group{}, Other: []SummaryOther{}, Notes: []op.Note{}}
	if len(in.GroupBy) == 2 && in.GroupBy[0] == in.GroupBy[1] {
		return out, nil, errs.Field("group_by", "conflict", "must name two different groupings")
	}
	if in.Compare == nil && in.SortBy != nil && *in.SortBy == "change" {
		return out, nil, errs.Field("sort_by", "conflict", "can only be change together with compare")
	}
	if err := ordered(in.StartDate, in.EndDate); err != nil {
		return out, nil, err
	}
	if err := in.pivotable(); err != nil {
		return out, nil, err
	}
	if in.Compare != nil {
		now, err := today(ctx, q)
		if err != nil {
			return out, nil, err
		}
		days, err := compared(*in.Compare, in.StartDate, in.EndDate, now)
		if err != nil {
			return out, nil, err
		}
		out.Period = &days
	}
	undated := in.Filter
	undated.StartDate, undated.EndDate = nil, nil
	where, none, err := t.books.Where(ctx, q, undated)
	if err != nil {
		return out, nil, err
	}
	if none {
		where = nil
	} else if out.leftOut, err = in.leftOut(ctx, q, *where, out.Period); err != nil {
		return out, nil, err
	}
	if in.Pivot {
		if standing == nil {
			read, err := Stand(ctx, q)
			if err != nil {
				return out, where, err
			}
			standing = &read
		}
		out.Pivot, err = t.pivot(ctx, q, in, where, *standing)
		return out, where, err
	}
	if none {
		return out, nil, nil
	}
	sql, args := in.sql(where.Clone(), out.Period)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return out, where, err
	}
	defer rows.Close()
	row := newSummaryRow(in)
	for rows.Next() {
		if err := rows.Scan(row.places...); err != nil {
			return out, where, fmt.Errorf("read a group: %w", err)
		}
		row.add(&out)
	}
	return out, where, rows.Err()
}

// A summaryRow is a row of the result: one group, the groups that are not shown, or all groups.
type summaryRow struct {
	by      []string
	compare bool
	places  []any

	part     int
	keys     []*text.Untrusted
	ids      []*id.ID
	payee    *id.Key
	currency money.Currency
	now, old SummarySums
	change   SummaryChange
	groups   int64
	place    any // only for sorting
}

// The kinds of rows of a result.
const (
	partGroup = iota
	partOther
	partTotal
)

// keyed returns a row with scan targets for the part, the keys and the currency.
func keyed(by []string) *summaryRow {
	r := &summaryRow{by: by}
	r.keys, r.ids = make([]*text.Untrusted, len(r.by)), make([]*id.ID, len(r.by))
	r.places = []any{&r.part}
	for i, by := range r.by {
		r.places = append(r.places, &r.keys[i])
		if groupings[by].identity != "" {
			r.places = append(r.places, &r.ids[i])
		}
		if groupings[by].payee != "" {
			r.places = append(r.places, &r.payee)
		}
	}
	r.places = append(r.places, &r.currency)
	return r
}

func newSummaryRow(in SummaryRequest) *summaryRow {
	r := keyed(in.GroupBy)
	r.compare = in.Compare != nil
	r.places = append(r.places, &r.now.MoneyIn, &r.now.MoneyOut, &r.now.Net, &r.now.Count)
	if r.compare {
		r.places = append(r.places, &r.old.MoneyIn, &r.old.MoneyOut, &r.old.Net, &r.old.Count, &r.change.Net,
			&r.change.Percent)
	}
	r.places = append(r.places, &r.groups, &r.place)
	return r
}

// add adds the row to the list in the summary to which it belongs.
func (r *summaryRow) add(out *Summary) {
	sums := SummaryCompared{SummarySums: r.now}
	if r.compare {
		sums.Previous, sums.Change = new(r.old), new(r.change)
	}
	switch r.part {
	case partOther:
		out.Other = append(out.Other, SummaryOther{r.currency, r.groups, sums})
		return
	case partTotal:
		out.Totals = append(out.Totals, SummaryTotal{r.currency, sums})
		return
	}
	r.name()
	g := Group{make(map[string]*text.Untrusted, len(r.by)), map[string]*id.ID{}, r.payee, r.currency, sums}
	for i, name := range r.by {
		g.Keys[name] = r.keys[i]
		if groupings[name].identity != "" {
			g.IDs[name] = r.ids[i]
		}
	}
	out.Groups = append(out.Groups, g)
}

// name replaces the wording of a payee that is not a counterparty by the payee's name.
func (r *summaryRow) name() {
	for i, by := range r.by {
		if by == "payee" && r.ids[i] == nil && r.keys[i] != nil {
			r.keys[i] = new(payeename.Shown(nil, nil, *r.keys[i]))
		}
	}
}

// cutNotes returns notes about what the groups do not show.
func (out Summary) cutNotes(ctx context.Context, in SummaryRequest) []op.Note {
	var cut, uncategorized int64
	for _, o := range out.Other {
		cut += o.Groups
	}
	count := func(keys map[string]*text.Untrusted, n int64) {
		for _, by := range []string{"category", "primary_category"} {
			if slices.Contains(in.GroupBy, by) && keys[by] == nil {
				uncategorized += n
				break
			}
		}
	}
	for _, g := range out.Groups {
		count(g.Keys, g.Count)
	}
	if out.Pivot != nil {
		for _, o := range out.Pivot.Other {
			cut += o.Groups
		}
		for _, r := range out.Pivot.Rows {
			count(r.Keys, r.Count)
		}
	}
	notes := leftOutNote(ctx, out.leftOut)
	if uncategorized > 0 {
		notes = append(notes, op.Note{
			Code: "uncategorized", Count: &uncategorized, See: op.See(ctx, "transaction.list"),
			Message: plural(uncategorized, "transaction has", "transactions have") + " no category",
		})
	}
	if cut > 0 {
		notes = append(notes, op.Note{
			Code: "truncated", Count: &cut,
			Message: plural(cut, "group is", "groups are") +
				" combined in \"other\"; raise the limit or narrow the filters",
		})
	}
	return notes
}

package payee

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ListPayees asks for a page of payees.
type ListPayees struct {
	ledger.Filter
	SortBy  string `json:"sort_by,omitempty" enum:"spent,count,name,last" default:"spent" doc:"spent: most money out first; last: the latest transaction first" agent:"-"`
	Similar bool   `json:"similar,omitempty" doc:"Also return sets of payees that look like one" agent:"-"`
	Cursor  string `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters" agent:"-"`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size" agent:"-"`
}

// PayeeList is a page of payees.
type PayeeList struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Payees     []Payee          `json:"payees"`
	Total      int              `json:"total" doc:"On all pages together"`
	Similar    [][]SimilarPayee `json:"similar,omitempty" doc:"With similar: sets of payees that look like one, the largest first"`
	NextCursor string           `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool             `json:"has_more"`
	Notes      []op.Note        `json:"notes,omitempty" doc:"Present if payees were left out"`
}

// maxPayees is the largest number of payees that a list considers: those with the most
// transactions. Names are made here and not in the database, so sorting by name needs all payees.
const maxPayees = 20_000

// A row is a payee as the query returns it.
type row struct {
	Key      string         `db:"key"`
	Payee    id.Key         `db:"payee"`
	Other    *id.ID         `db:"counterparty_id"`
	Short    *string        `db:"short_id"`
	Name     *string        `db:"counterparty_name"`
	Wording  string         `db:"wording"`
	Currency money.Currency `db:"currency"`
	Count    int64          `db:"count"`
	In       money.Total    `db:"money_in"`
	Out      money.Total    `db:"money_out"`
	First    pg.Date        `db:"first_date"`
	Last     pg.Date        `db:"last_date"`
	Category *string        `db:"category"`
	Own      bool           `db:"own"` // one's own account: mostly transfers, or named like one of the accounts
}

// listed adds up by wording first, so that each wording is looked up only once and not for each
// transaction. %s is the filter, and %d the largest number of payees.
const listed = `
	with per as (
		select t.descriptor_id, t.counterparty_id, t.currency, t.category_id, count(*) as n,
			coalesce(sum(t.amount) filter (where t.amount < 0 and ` + journal.NotLeftOut + `), 0) as negative,
			coalesce(sum(t.amount) filter (where ` + journal.NotLeftOut + `), 0) as total,
			min(t.date) as first_date, max(t.date) as last_date
		from transaction t %s group by 1, 2, 3, 4),
	keyed as materialized (
		select coalesce(p.counterparty_id::text, coalesce(d.payee, d.id)::text) as key, coalesce(d.payee, d.id) as payee,
			coalesce(nullif(d.merchant_name, ''), d.name) as wording, p.*
		from per p join descriptor d on d.id = p.descriptor_id),
	grouped as materialized (
		select key, currency, counterparty_id, sum(n)::bigint as count, -sum(negative) as money_in,
			sum(total) - sum(negative) as money_out, min(first_date) as first_date, max(last_date) as last_date
		from keyed group by 1, 2, 3 order by 4 desc, 1, 2 limit %d),
	worded as (
		select distinct on (key, currency) key, currency, payee, wording from (
			select key, currency, payee, wording, sum(n) as n from keyed group by 1, 2, 3, 4) x
		order by key, currency, n desc, wording),
	filed as (
		select distinct on (key, currency) key, currency, category_id from (
			select key, currency, category_id, sum(n) as n from keyed where category_id is not null group by 1, 2, 3) x
		order by key, currency, n desc, category_id)
	select g.key, w.payee, g.counterparty_id, p.short_id, p.name as counterparty_name, w.wording, g.currency, g.count,
		g.money_in, g.money_out, g.first_date, g.last_date, c.slug as category,
		coalesce(coalesce(u.kind, c.kind) = 'transfer', false) or lower(w.wording) in (
			select lower(n) from account a, unnest(array[a.name, a.display_name, a.official_name]) n
			where n is not null and a.deleted_at is null) as own
	from grouped g join worded w on w.key = g.key and w.currency = g.currency
		left join filed f on f.key = g.key and f.currency = g.currency
		left join category c on c.id = f.category_id left join category u on u.id = c.parent_id
		left join counterparty p on p.id = g.counterparty_id`

// rows reads the payees of a filter.
func (p *Payees) rows(ctx context.Context, q pg.Querier, f ledger.Filter) ([]row, error) {
	where, none, err := p.books.WhereTagged(ctx, q, f)
	if err != nil || none {
		return nil, err
	}
	return pg.All[row](ctx, q, fmt.Sprintf(listed, where.SQL(), maxPayees), where.Args()...)
}

// name returns the payee's name as people see it.
func (r row) name() string {
	if r.Name != nil {
		return *r.Name
	}
	return payeename.Of(r.Wording, "")
}

func (r row) payee(name string) Payee {
	out := Payee{
		Payee: r.Payee, PayeeName: text.Name(name), Count: r.Count, MoneyIn: r.In, MoneyOut: r.Out,
		Currency: r.Currency, FirstDate: r.First, LastDate: r.Last, Category: r.Category,
	}
	if r.Other != nil && r.Short != nil {
		out.Counterparty = &PayeeCounterparty{*r.Other, *r.Short, text.Name(name)}
	}
	return out
}

// List returns a page of payees. Transactions that totals never count are left out.
func (p *Payees) List(ctx context.Context, q pg.Querier, in ListPayees) (PayeeList, error) {
	out := PayeeList{Payees: []Payee{}}
	if in.Excluded == nil {
		in.Excluded = new(false)
	}
	pager, err := p.db.Pager(ctx, "payees", struct {
		ledger.Filter
		SortBy string
	}{in.Filter, in.SortBy})
	if err != nil {
		return out, err
	}
	found, err := p.rows(ctx, q, in.Filter)
	if err != nil {
		return out, err
	}
	rows := sorted(found, in.SortBy)
	if out.Total = len(rows); out.Total == maxPayees {
		out.Notes = op.Truncated()
	}
	if in.Similar {
		out.Similar = proposals(rows)
	}
	begin := 0
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 3)
		if err != nil {
			return out, err
		}
		begin = after(rows, at)
	}
	end := min(begin+in.Limit, len(rows))
	if op.SurfaceOf(ctx) == op.Tool {
		end = min(end, begin+op.PageBytes/300)
	}
	for _, r := range rows[begin:end] {
		out.Payees = append(out.Payees, r.payee(r.text))
	}
	if out.HasMore = end < len(rows); out.HasMore {
		last := rows[end-1]
		out.NextCursor, err = pager.Encode(last.Key, string(last.Currency), strconv.Itoa(end))
	}
	return out, err
}

// A namedRow is a row with its name.
type namedRow struct {
	row
	text, folded string
}

// sorted adds the names to the payees and sorts them. Amounts in different currencies cannot be
// compared, so the currency with the most transactions comes first.
func sorted(found []row, by string) []namedRow {
	rows, counts := make([]namedRow, len(found)), map[money.Currency]int64{}
	for i, r := range found {
		name := r.name()
		rows[i] = namedRow{r, name, text.Fold(name)}
		counts[r.Currency] += r.Count
	}
	slices.SortFunc(rows, func(a, b namedRow) int {
		var order int
		switch by {
		case "count":
			order = cmp.Compare(b.Count, a.Count)
		case "name":
			order = strings.Compare(a.folded, b.folded)
		case "last":
			order = strings.Compare(b.Last.String(), a.Last.String())
		default:
			order = cmp.Or(cmp.Compare(counts[b.Currency], counts[a.Currency]), cmp.Compare(a.Currency, b.Currency),
				b.Out.Cmp(a.Out))
		}
		return cmp.Or(order, strings.Compare(a.folded, b.folded), strings.Compare(a.Key, b.Key),
			cmp.Compare(a.Currency, b.Currency))
	})
	return rows
}

// after returns the index at which the page after a cursor begins: after the last payee of the
// previous page. If that payee no longer exists, it is the position that the payee had.
func after(rows []namedRow, at []string) int {
	for i, r := range rows {
		if r.Key == at[0] && string(r.Currency) == at[1] {
			return i + 1
		}
	}
	n, _ := strconv.Atoi(at[2]) // the cursor was encoded with a number
	return min(n, len(rows))
}

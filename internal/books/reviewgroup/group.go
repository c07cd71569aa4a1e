package reviewgroup

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ListReviewGroups asks for a page of groups.
type ListReviewGroups struct {
	ledger.Filter
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters" agent:"-"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"25" doc:"Groups per page" agent:"-"`
}

// ReviewGroups is a page of groups, largest first.
type ReviewGroups struct {
	Groups      []ReviewGroup `json:"groups"`
	TotalGroups int           `json:"total_groups" doc:"On all pages together"`
	Total       int           `json:"total" doc:"Transactions in all groups together"`
	NextCursor  string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore     bool          `json:"has_more"`
}

// A ReviewGroup holds the transactions of one counterparty, or of one payee without a counterparty.
type ReviewGroup struct {
	Payee          id.Key                   `json:"payee" doc:"Key of the payee, for the filter payee"`
	PayeeName      text.Untrusted           `json:"payee_name" doc:"Untrusted: the counterparty's name, else the name in the most common of the bank's texts"`
	CounterpartyID *id.ID                   `json:"counterparty_id" doc:"null: these transactions have no counterparty"`
	Count          int                      `json:"count"`
	FirstDate      pg.Date                  `json:"first_date"`
	LastDate       pg.Date                  `json:"last_date"`
	Accounts       []id.ID                  `json:"accounts" doc:"Their accounts"`
	Amounts        []GroupAmounts           `json:"amounts" screen:"totals" doc:"By currency"`
	Categories     []GroupCategory          `json:"categories" doc:"Current categories, most common first"`
	Suggestion     *Suggestion              `json:"suggestion" screen:"category" doc:"null if there is no suggestion"`
	Pending        int                      `json:"pending" doc:"Number of pending ones; their review can't be closed yet"`
	Sample         []ledger.BulkTransaction `json:"sample" doc:"The newest three"`
}

// GroupAmounts are the amounts of a group in one currency.
type GroupAmounts struct {
	Currency money.Currency `json:"iso_currency_code"`
	Min      money.Amount   `json:"min" doc:"Positive is money out"`
	Median   money.Amount   `json:"median"`
	Max      money.Amount   `json:"max"`
	Total    money.Total    `json:"total" doc:"Positive is money out"`
}

// A GroupCategory is a category of transactions in a group.
type GroupCategory struct {
	Category *string `json:"category" doc:"Slug; null: no category"`
	Source   *string `json:"source" enum:"rule,user,agent,provider" doc:"What set it"`
	Count    int     `json:"count"`
}

// A Suggestion is the category that most earlier decisions suggest.
type Suggestion struct {
	Category string `json:"category" doc:"Slug"`
	Basis    string `json:"basis" enum:"person,history,counterparty" doc:"person: people chose it for this payee; history: rules or agents did; counterparty: the counterparty's category"`
	Agree    int    `json:"agree" doc:"Transactions of the last 24 months with this category on this basis"`
	Of       int    `json:"of" doc:"Transactions of the last 24 months categorized on this basis"`
}

// groupRow is a group as the query returns it.
type groupRow struct {
	Key          string          `db:"key"`
	Counterparty *id.ID          `db:"counterparty_id"`
	Payee        id.Key          `db:"payee"`
	Named        *text.Untrusted `db:"counterparty_name"`
	Wording      text.Untrusted  `db:"wording"`
	Count        int             `db:"count"`
	First        pg.Date         `db:"first_date"`
	Last         pg.Date         `db:"last_date"`
	Pending      int             `db:"pending"`
	TotalGroups  int             `db:"total_groups"`
	Total        int             `db:"total"`
	Accounts     []id.ID         `db:"accounts"`
	Amounts      []byte          `db:"amounts"`
	Categories   []byte          `db:"categories"`
	Sample       []byte          `db:"sample"`
	Suggestion   []byte          `db:"suggestion"`
}

// groups is one statement, so that all counts are of the same moment. %[1]s is the filter, %[2]d
// the number of the argument with the first cursor value, and %[3]d the page size. The details of
// groups are computed only for the groups of the page. Each kind of detail is grouped once and then
// looked up by the group's position.
const groups = `
	with picked as materialized (
		select t.id, t.date, t.amount, t.currency, t.account_id, t.category_id, t.category_source, t.pending,
			t.descriptor_id, t.counterparty_id, coalesce(t.counterparty_id::text, coalesce(d.payee, d.id)::text) as key
		from transaction t join descriptor d on d.id = t.descriptor_id %[1]s),
	grouped as (
		select key, counterparty_id, count(*)::int as count, min(date) as first_date, max(date) as last_date,
			(count(*) filter (where pending))::int as pending, array_agg(distinct account_id) as accounts
		from picked group by key, counterparty_id),
	page as materialized (
		select *, row_number() over (order by count desc, key) as place from (
			select *, (count(*) over ())::int as total_groups, (sum(count) over ())::int as total from grouped) g
		where $%[2]d::text = '' or (-count, key) > (-nullif($%[2]d::text, '')::int, $%[4]d::text)
		order by count desc, key limit %[3]d),
	mine as materialized (select p.*, g.place from picked p join page g on g.key = p.key),
	worded as materialized (
		select distinct on (place) place, payee, name from (
			select m.place, coalesce(d.payee, d.id) as payee, coalesce(nullif(d.merchant_name, ''), d.name) as name,
				count(*) as n
			from mine m join descriptor d on d.id = m.descriptor_id group by 1, 2, 3) x
		order by place, n desc, name),
	amounts as materialized (
		select place, currency as iso_currency_code, min(amount) as min,
			percentile_disc(0.5) within group (order by amount) as median, max(amount) as max, sum(amount) as total
		from mine group by place, currency),
	categories as materialized (
		select m.place, c.slug as category, m.category_source as source, count(*) as count
		from mine m left join category c on c.id = m.category_id group by 1, 2, 3),
	sample as materialized (
		select x.place, x.number, x.id, t.short_id, x.date, x.amount, x.currency as iso_currency_code, d.name,
			c.slug as category
		from (select *, row_number() over (partition by place order by date desc, id desc) as number from mine) x
		join transaction t on t.id = x.id join descriptor d on d.id = x.descriptor_id left
			join category c on c.id = x.category_id
		where x.number <= 3),
	since as (
		select ((now() at time zone s.time_zone)::date - interval '24 months')::date as day from setting s),
	decided as (
		select place, case when t.category_source = 'user' then 1 else 2 end as rank, t.category_id, count(*) as n
		from (
			select g.place, t.category_source, t.category_id from page g join transaction t
				on t.counterparty_id = g.counterparty_id and t.deleted_at is null and ` + journal.Ruled + `
				and t.date >= (select day from since)
			union all
			select w.place, t.category_source, t.category_id
			from page g join worded w on w.place = g.place and g.counterparty_id is null
				join descriptor d on d.payee = w.payee
				join transaction t on t.descriptor_id = d.id and t.deleted_at is null and t.counterparty_id is null
					and ` + journal.Ruled + ` and t.date >= (select day from since)) t
		where t.category_id is not null and t.category_source in ('user', 'rule', 'agent')
		group by 1, 2, 3),
	suggested as (
		select distinct on (place) place, category, basis, agree, of from (
			select d.place, d.rank, c.slug as category, case d.rank when 1 then 'person' else 'history' end as basis,
				d.n as agree, sum(d.n) over (partition by d.place, d.rank) as of
			from decided d join category c on c.id = d.category_id
			union all
			select g.place, 3, c.slug, 'counterparty', 0, 0
			from page g join counterparty p on p.id = g.counterparty_id join category c on c.id = p.category_id) x
		where rank = 3 or agree >= 2 and agree * 5 >= of * 4
		order by place, rank, agree desc, category)
	select g.key, g.counterparty_id, w.payee, p.name as counterparty_name, w.name as wording, g.count,
		g.first_date, g.last_date, g.pending, g.total_groups, g.total, g.accounts,
		(select json_agg(a order by a.iso_currency_code) from amounts a where a.place = g.place) as amounts,
		(select json_agg(c order by c.count desc, c.category, c.source) from categories c
			where c.place = g.place) as categories,
		(select json_agg(s order by s.number) from sample s where s.place = g.place) as sample,
		(select to_json(s) from suggested s where s.place = g.place) as suggestion
	from page g join worded w on w.place = g.place left join counterparty p on p.id = g.counterparty_id
	order by g.place`

// ReviewGroups returns the transactions that wait for review, by payee.
func (g *Groups) ReviewGroups(ctx context.Context, q pg.Querier, in ListReviewGroups) (ReviewGroups, error) {
	out := ReviewGroups{Groups: []ReviewGroup{}}
	if !op.Given(ctx, "tags") {
		in.Tags = []string{ledger.NeedsReview}
	}
	if in.Excluded == nil {
		in.Excluded = new(false)
	}
	pager, err := g.db.Pager(ctx, "review groups", in.Filter)
	if err != nil {
		return out, err
	}
	at := []string{"", ""}
	if in.Cursor != "" {
		if at, err = pager.Decode(in.Cursor, 2); err != nil {
			return out, err
		}
	}
	rows, err := grouped(ctx, q, g.books, in.Filter, in.Limit+1, at)
	if err != nil {
		return out, err
	}
	size := 0
	for i, r := range rows {
		out.TotalGroups, out.Total = r.TotalGroups, r.Total
		size += 350 + len(r.Amounts) + len(r.Categories) + len(r.Sample)
		if i == in.Limit || i > 0 && size > op.PageBytes && op.SurfaceOf(ctx) == op.Tool {
			out.HasMore = true
			out.NextCursor, err = pager.Encode(strconv.Itoa(rows[i-1].Count), rows[i-1].Key)
			break
		}
		one, err := r.group()
		if err != nil {
			return out, err
		}
		out.Groups = append(out.Groups, one)
	}
	return out, err
}

// grouped reads some groups after a position.
func grouped(ctx context.Context, q pg.Querier, books *ledger.Books, f ledger.Filter, limit int,
	at []string,
) ([]groupRow, error) {
	where, none, err := books.WhereTagged(ctx, q, f)
	if err != nil || none {
		return nil, err
	}
	n := len(where.Args())
	return pg.All[groupRow](ctx, q, fmt.Sprintf(groups, where.SQL(), n+1, limit, n+2),
		append(where.Args(), at[0], at[1])...)
}

// Suggest returns the category that earlier decisions suggest for all transactions of a payee, or
// nil if there is none.
func Suggest(ctx context.Context, q pg.Querier, books *ledger.Books, payee id.Key) (*Suggestion, error) {
	f := ledger.Filter{Payee: new(payee.String()), Excluded: new(false)}
	rows, err := grouped(ctx, q, books, f, 5, []string{"", ""})
	if err != nil {
		return nil, err
	}
	for _, r := range rows { // the group without a counterparty, and one for each counterparty
		g, err := r.group()
		if err != nil || g.Suggestion != nil {
			return g.Suggestion, err
		}
	}
	return nil, nil //nolint:nilnil // nothing speaks for a category
}

func (r groupRow) group() (ReviewGroup, error) {
	g := ReviewGroup{
		Payee: r.Payee, PayeeName: payeename.Shown(r.Named, nil, r.Wording), CounterpartyID: r.Counterparty,
		Count: r.Count, FirstDate: r.First, LastDate: r.Last, Accounts: r.Accounts, Pending: r.Pending,
	}
	for _, part := range []struct {
		from []byte
		to   any
	}{{r.Amounts, &g.Amounts}, {r.Categories, &g.Categories}, {r.Sample, &g.Sample}, {r.Suggestion, &g.Suggestion}} {
		if len(part.from) == 0 {
			continue // only groups without a suggestion lack a part
		}
		if err := json.Unmarshal(part.from, part.to); err != nil {
			return g, fmt.Errorf("read a review group: %w", err)
		}
	}
	return g, nil
}

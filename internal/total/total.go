// Package total adds transactions up, by currency and in groups. It only reads: which transactions
// a filter means is the ledger's to say, and currencies are never mixed.
package total

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/ledger"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Totals adds one household's transactions up.
type Totals struct{ books *ledger.Books }

// New returns the totals of those books.
func New(books *ledger.Books) *Totals { return &Totals{books} }

// Ops is the menu of totals.
func (t *Totals) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "transaction.summary", Route: "GET /transactions/summary", Tool: "transaction_summary",
			Summary: "Totals transactions by currency and up to two groupings.",
			Agent: "Totals transactions by currency and up to two groupings (category, month, …), with the filters " +
				"of query_transactions. Transfers between the household's accounts, mirrored rows and hidden " +
				"accounts are left out unless you include them. " +
				"Never add up groups of different currencies or groups by tag: a transaction with two tags is in " +
				"both groups.",
		}, t.Summary),
		op.Reading(op.Spec{
			Name: "transaction.timeline", Route: "GET /transactions/timeline",
			Summary: "Counts and totals the transactions of a list by month or day.",
		}, t.Timeline),
	}
}

// A SummaryRequest asks for totals of transactions, in groups.
type SummaryRequest struct {
	ledger.Filter
	GroupBy []string `json:"group_by,omitempty" maxItems:"2" enum:"category,primary_category,counterparty,merchant,account,user,tag,month,week,day" doc:"Up to two; without any, one group per currency"`
	Include []string `json:"include,omitempty" enum:"transfers,excluded,hidden" doc:"Include what totals leave out: transfers, mirrored rows, hidden accounts"`
}

// A Summary is totals in groups. Groups are never added up: a transaction with two tags is in two
// of them, and currencies do not mix.
type Summary struct {
	Groups []Group `json:"groups"`
}

// A Group is the totals of one combination of keys, in one currency.
type Group struct {
	Keys     map[string]*string `json:"keys" doc:"The group's values, by the names in group_by; null for transactions without one"`
	IDs      map[string]*id.ID  `json:"ids,omitempty" doc:"The id of the account, user or counterparty, if group_by names one: two of the same name are two groups"`
	Currency money.Currency     `json:"iso_currency_code"`
	MoneyIn  money.Total        `json:"money_in" doc:"Money in, as a positive number"`
	MoneyOut money.Total        `json:"money_out" doc:"Money out, as a positive number"`
	Net      money.Total        `json:"net" doc:"money_in minus money_out"`
	Count    int64              `json:"count"`
}

// A grouping is one way to cut transactions: by a key, which has a name in joined tables, and an
// identity where names are not unique.
type grouping struct{ key, name, identity, join string }

var groupings = map[string]grouping{
	"category":         {"t.category_id", "c.slug", "", ""},
	"primary_category": {"t.category_id", "coalesce(ck.slug, c.slug)", "", ""},
	"counterparty": {
		"t.counterparty_id", "p.name", "t.counterparty_id",
		"left join counterparty p on p.id = t.counterparty_id",
	},
	"merchant": {
		"t.descriptor_id", "coalesce(nullif(d.merchant_name, ''), d.name)", "",
		"join descriptor d on d.id = t.descriptor_id",
	},
	"account": {"t.account_id", "coalesce(nullif(a.display_name, ''), a.name)", "t.account_id", joinAccount},
	"user": {
		"t.account_id", "m.name", "m.id",
		joinAccount + " left join connection cn on cn.id = a.connection_id left join member m on m.id = " +
			"coalesce(a.owner_id, cn.member_id)",
	},
	"tag": {"tt.tag_id", "g.slug", "", "left join tag g on g.id = t.tag_id"},
	// As a timestamp: date_trunc of a date alone goes by the time zone, at three times the cost.
	// The statistics transaction_groups are of this very expression.
	"month": {"date_trunc('month', t.date::timestamp)", "to_char(t.month, 'YYYY-MM')", "", ""},
	"week":  {"t.date", "to_char(date_trunc('week', t.date::timestamp), 'YYYY-MM-DD')", "", ""},
	"day":   {"t.date", "to_char(t.date, 'YYYY-MM-DD')", "", ""},
}

const (
	joinAccount = "join account a on a.id = t.account_id"
	// joinTags gives a transaction once for each of its tags, and once with none.
	joinTags = `left join (transaction_tag tt join tag live on live.id = tt.tag_id
		and live.deleted_at is null) on tt.transaction_id = t.id and tt.present`
)

// Summary adds amounts up, by currency and by up to two groupings.
func (t *Totals) Summary(ctx context.Context, q pg.Querier, in SummaryRequest) (Summary, error) {
	if len(in.GroupBy) == 2 && in.GroupBy[0] == in.GroupBy[1] {
		return Summary{}, errs.Field("group_by", "conflict", "must name two different groupings")
	}
	out := Summary{Groups: []Group{}}
	where, none, err := t.books.Where(ctx, q, in.Filter)
	if err != nil || none {
		return out, err
	}
	where.If(!slices.Contains(in.Include, "excluded"), "not t.excluded")
	where.If(!slices.Contains(in.Include, "transfers"), "not t.transfer")
	sql, args := in.sql(where)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	keys, ids := make([]*string, len(in.GroupBy)), make([]*id.ID, len(in.GroupBy))
	var g Group
	places := []any{}
	for i, by := range in.GroupBy {
		places = append(places, &keys[i])
		if groupings[by].identity != "" {
			places = append(places, &ids[i])
		}
	}
	places = append(places, &g.Currency, &g.MoneyIn, &g.MoneyOut, &g.Net, &g.Count)
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return out, fmt.Errorf("read a group: %w", err)
		}
		g.Keys, g.IDs = make(map[string]*string, len(keys)), map[string]*id.ID{}
		for i, name := range in.GroupBy {
			g.Keys[name] = keys[i]
			if groupings[name].identity != "" {
				g.IDs[name] = ids[i]
			}
		}
		out.Groups = append(out.Groups, g)
	}
	return out, rows.Err()
}

// sql adds up by ids first and names the groups last, so that names are looked up once for each
// group and not for each row.
func (in SummaryRequest) sql(where *pg.Where) (string, []any) {
	// always, because transfers are left out by group and not by row
	keys := map[string]string{"t.category_id": "category_id"}
	var names, joins []string
	from := ""
	for _, by := range in.GroupBy {
		g := groupings[by]
		column := g.key[strings.IndexByte(g.key, '.')+1:]
		if by == "month" {
			column = by
		}
		keys[g.key] = column
		if names = append(names, g.name); g.identity != "" {
			names = append(names, g.identity)
		}
		joins = append(joins, strings.TrimPrefix(g.join, joinAccount))
		if strings.HasPrefix(g.join, joinAccount) && joins[0] != joinAccount {
			joins = slices.Insert(joins, 0, joinAccount) // once, and before what hangs on it
		}
		if by == "tag" {
			from = joinTags
		}
	}
	columns, inner := []string{"t.currency"}, []string{"1"}
	for i, key := range slices.Sorted(maps.Keys(keys)) {
		columns, inner = append(columns, key+" as "+keys[key]), append(inner, strconv.Itoa(i+2))
	}
	// A hidden account that the filter names is meant.
	where.If(!slices.Contains(in.Include, "hidden") && len(in.AccountID) == 0,
		"t.account_id not in (select id from account where hidden)")
	var shown pg.Where
	shown.If(!slices.Contains(in.Include, "transfers"), "coalesce(ck.kind, c.kind, '') <> 'transfer'")
	names = append(names, "t.currency")
	outer := make([]string, len(names))
	for i := range names {
		outer[i] = strconv.Itoa(i + 1)
	}
	// Nearly everything is money out, so one sum of all and one of what came in are cheaper than
	// one for each direction.
	return fmt.Sprintf(`
		select %[1]s, -sum(t.negative), sum(t.total) - sum(t.negative), -sum(t.total), sum(t.n)::bigint
		from (
			select %[2]s, coalesce(sum(t.amount) filter (where t.amount < 0), 0) as negative, sum(t.amount) as total,
				count(*) as n
			from transaction t %[3]s %[4]s group by %[5]s) t
		left join category c on c.id = t.category_id
		left join category ck on ck.id = c.parent_id
		%[6]s %[7]s
		group by %[8]s order by %[8]s`,
		strings.Join(names, ", "), strings.Join(columns, ", "), from, where.SQL(), strings.Join(inner, ", "),
		strings.Join(joins, " "), shown.SQL(), strings.Join(outer, ", ")), where.Args()
}

package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/money"
	"coffer/internal/pg"
)

// A SummaryRequest asks for totals of transactions, in groups.
type SummaryRequest struct {
	Filter
	GroupBy []string `json:"group_by,omitempty" maxItems:"2" enum:"category,primary_category,counterparty,merchant,account,user,tag,month,week,day" doc:"Up to two; none gives one group for each currency"`
	Include []string `json:"include,omitempty" enum:"transfers,excluded,hidden" doc:"Put back what is left out: transfers, mirrored rows, hidden accounts"`
}

// A Summary is totals in groups. Groups are never added up: a transaction with two tags is in two of them, and currencies do not mix.
type Summary struct {
	Groups []Group `json:"groups"`
}

// A Group is the totals of one combination of keys, in one currency.
type Group struct {
	Keys     map[string]*string `json:"keys" doc:"What the group is about, by the names in group_by; null where a transaction has none"`
	Currency money.Currency     `json:"iso_currency_code"`
	MoneyIn  money.Total        `json:"money_in" doc:"What came in, as a positive number"`
	MoneyOut money.Total        `json:"money_out" doc:"What went out, as a positive number"`
	Net      money.Total        `json:"net" doc:"money_in less money_out"`
	Count    int64              `json:"count"`
}

// A grouping is one way to cut transactions: an expression over the joined tables it needs.
type grouping struct{ expression, join string }

var groupings = map[string]grouping{
	"category":         {"c.slug", ""},
	"primary_category": {"coalesce(cp.slug, c.slug)", "left join category cp on cp.id = c.parent_id"},
	"counterparty":     {"p.name", "left join counterparty p on p.id = t.counterparty_id"},
	"merchant":         {"coalesce(nullif(d.merchant_name, ''), d.name)", "join descriptor d on d.id = t.descriptor_id"},
	"account":          {"coalesce(a.display_name, a.name)", ""},
	"user":             {"m.name", "left join connection cn on cn.id = a.connection_id left join member m on m.id = coalesce(a.owner_id, cn.member_id)"},
	"tag":              {"g.slug", "left join (transaction_tag tt join tag g on g.id = tt.tag_id and g.deleted_at is null) on tt.transaction_id = t.id and tt.present"},
	"month":            {"to_char(t.month, 'YYYY-MM')", ""},
	"week":             {"to_char(date_trunc('week', t.date), 'YYYY-MM-DD')", ""},
	"day":              {"to_char(t.date, 'YYYY-MM-DD')", ""},
}

// Summary adds amounts up, by currency and by up to two groupings.
func (b *Books) Summary(ctx context.Context, q pg.Querier, in SummaryRequest) (Summary, error) {
	if len(in.GroupBy) == 2 && in.GroupBy[0] == in.GroupBy[1] {
		return Summary{}, errs.Field("group_by", "conflict", "must name two different groupings")
	}
	out := Summary{Groups: []Group{}}
	s, err := b.resolve(ctx, q, in.Filter)
	if err != nil || s.none {
		return out, err
	}
	s.If(s.searched, "t.descriptor_id = any($?)", s.descriptors)
	s.If(!slices.Contains(in.Include, "excluded"), "not t.excluded")
	sql, args := in.sql(s)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	keys := make([]*string, len(in.GroupBy))
	var g Group
	places := []any{}
	for i := range keys {
		places = append(places, &keys[i])
	}
	places = append(places, &g.Currency, &g.MoneyIn, &g.MoneyOut, &g.Net, &g.Count)
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return out, fmt.Errorf("read a group: %w", err)
		}
		g.Keys = make(map[string]*string, len(keys))
		for i, name := range in.GroupBy {
			g.Keys[name] = keys[i]
		}
		out.Groups = append(out.Groups, g)
	}
	return out, rows.Err()
}

// sql adds up by ids first and names the groups last, so that names are looked up once for each group and not for each row.
func (in SummaryRequest) sql(s *selection) (string, []any) {
	inner, outer, names, joins := []string{"t.currency"}, []string{}, []string{}, []string{}
	need := map[string]string{} // columns of the inner grouping that the names are made of
	for _, name := range in.GroupBy {
		switch name {
		case "month":
			need["date_trunc('month', t.date)"] = "month"
		case "week", "day":
			need["t.date"] = "date"
		case "category", "primary_category":
			need["t.category_id"] = "category_id"
		case "counterparty":
			need["t.counterparty_id"] = "counterparty_id"
		case "merchant":
			need["t.descriptor_id"] = "descriptor_id"
		case "tag":
			need["t.id"] = "id"
		}
		names = append(names, groupings[name].expression)
		joins = append(joins, groupings[name].join)
	}
	// Kinds and hidden accounts are settled per group too, so these two are always part of it.
	need["t.account_id"], need["t.category_id"] = "account_id", "category_id"
	var columns []string
	for _, expression := range slices.Sorted(maps.Keys(need)) {
		columns = append(columns, expression+" as "+need[expression])
		inner = append(inner, need[expression])
	}
	var where pg.Where
	where.If(!slices.Contains(in.Include, "transfers"), "coalesce(ck.kind, c.kind, '') <> 'transfer'")
	// A hidden account that the filter names is meant.
	where.If(!slices.Contains(in.Include, "hidden") && len(in.AccountID) == 0, "not a.hidden")
	for i := range names {
		outer = append(outer, fmt.Sprint(i+1))
	}
	outer = append(outer, fmt.Sprint(len(names)+1))
	list := ""
	if len(names) > 0 {
		list = strings.Join(names, ", ") + ", "
	}
	return fmt.Sprintf(`
		select %[1]st.currency, sum(t.money_in), sum(t.money_out), sum(t.money_in) - sum(t.money_out), sum(t.n)::bigint
		from (
			select t.currency, %[2]s,
				coalesce(-sum(t.amount) filter (where t.amount < 0), 0) as money_in, coalesce(sum(t.amount) filter (where t.amount > 0), 0) as money_out, count(*) as n
			from transaction t %[3]s group by %[4]s) t
		join account a on a.id = t.account_id
		left join category c on c.id = t.category_id
		left join category ck on ck.id = c.parent_id
		%[5]s %[6]s
		group by %[7]s order by %[7]s`,
		list, strings.Join(columns, ", "), s.SQL(), groupOrdinals(len(inner)), strings.Join(joins, " "), where.SQL(), strings.Join(outer, ", ")), s.Args()
}

func groupOrdinals(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(parts, ", ")
}

package analytics

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/pg"
)

// A grouping is one way to group transactions: by a key. The name is read from joined tables. If
// names are not unique, identity distinguishes the groups. payee is the key of a payee that is not
// a counterparty.
type grouping struct{ key, name, identity, join, payee string }

var groupings = map[string]grouping{
	"category":         {"t.category_id", "c.slug", "c.id", "", ""},
	"primary_category": {"t.category_id", "coalesce(ck.slug, c.slug)", "coalesce(ck.id, c.id)", "", ""},
	"counterparty": {
		"t.counterparty_id", "p.name", "t.counterparty_id",
		"left join counterparty p on p.id = t.counterparty_id", "",
	},
	// A payee gets its name from the wording that most of its transactions have.
	"payee": {
		"t.counterparty_id",
		`coalesce(min(pp.name), (array_agg(coalesce(nullif(pd.merchant_name, ''), pd.name)
			order by t.wordings desc, pd.id))[1])`,
		"t.counterparty_id",
		`left join counterparty pp on pp.id = t.counterparty_id join descriptor pd on pd.id = t.descriptor_id`,
		"case when t.counterparty_id is null then pd.payee end",
	},
	"merchant": {
		"t.descriptor_id", "coalesce(nullif(d.merchant_name, ''), d.name)", "",
		"join descriptor d on d.id = t.descriptor_id", "",
	},
	"account": {"t.account_id", "coalesce(nullif(a.display_name, ''), a.name)", "t.account_id", joinAccount, ""},
	"user": {
		"t.account_id", "m.name", "m.id",
		joinAccount + " left join connection cn on cn.id = a.connection_id left join member m on m.id = " +
			"coalesce(a.owner_id, cn.member_id)", "",
	},
	"tag": {"tt.tag_id", "g.slug", "", "left join tag g on g.id = t.tag_id", ""},
	// Without the cast to timestamp, date_trunc would use the time zone, at three times the cost.
	// The PostgreSQL statistics named transaction_groups exist for exactly this expression.
	"month": {"date_trunc('month', t.date::timestamp)", "to_char(t.month, 'YYYY-MM')", "", "", ""},
	"week":  {"t.date", "to_char(date_trunc('week', t.date::timestamp), 'YYYY-MM-DD')", "", "", ""},
	"day":   {"t.date", "to_char(t.date, 'YYYY-MM-DD')", "", "", ""},
}

// columns returns the expressions for the name, the identity and the payee, as far as the grouping
// has them.
func (g grouping) columns() []string {
	all := []string{g.name, g.identity, g.payee}
	return all[:slices.Index(append(all, ""), "")]
}

const (
	joinAccount = "join account a on a.id = t.account_id"
	// joinTags repeats a transaction for each of its tags. A transaction without tags appears once.
	joinTags = `left join (transaction_tag tt join tag live on live.id = tt.tag_id
		and live.deleted_at is null) on tt.transaction_id = t.id and tt.present`
)

// sql returns the statement that selects the groups to show and sums up the others.
func (in SummaryRequest) sql(where pg.Where, days *ComparedDays) (string, []any) {
	groups, sums := in.groups(&where, days)
	return in.chosen(groups, sums), where.Args()
}

// groups adds up by ids first and then looks up the names, once for each group instead of once for
// each row. If there are two periods, it adds up both in one scan.
func (in SummaryRequest) groups(where *pg.Where, days *ComparedDays) (string, periodSums) {
	// The category is always a key, because transfers are left out by group and not by row.
	keys := map[string]string{"t.category_id": "category_id"}
	var names, joins []string
	from := ""
	for _, by := range in.GroupBy {
		g := groupings[by]
		column := g.key[strings.IndexByte(g.key, '.')+1:]
		switch by {
		case "month":
			column = by
		case "payee": // a payee without a counterparty is grouped by wording
			keys["t.descriptor_id"] = "descriptor_id"
		}
		keys[g.key] = column
		names = append(names, g.columns()...)
		joins = append(joins, strings.TrimPrefix(g.join, joinAccount))
		if strings.HasPrefix(g.join, joinAccount) && joins[0] != joinAccount {
			joins = slices.Insert(joins, 0, joinAccount) // only once, and before the joins that use it
		}
		if by == "tag" {
			from = joinTags
		}
	}
	columns, inner := []string{"t.currency"}, []string{"1"}
	for i, key := range slices.Sorted(maps.Keys(keys)) {
		columns, inner = append(columns, key+" as "+keys[key]), append(inner, strconv.Itoa(i+2))
	}
	where.If(!slices.Contains(in.Include, "excluded"), journal.Counted)
	where.If(!slices.Contains(in.Include, "transfers"), "not t.transfer")
	// Hidden accounts count only if the filter names accounts.
	where.If(!slices.Contains(in.Include, "hidden") && len(in.AccountID) == 0,
		"t.account_id not in (select id from account where hidden)")
	var shown pg.Where
	if in.Side != nil {
		kind, direction := "expense", "t.amount > 0"
		if *in.Side == "income" {
			kind, direction = "income", "t.amount < 0"
		}
		where.And("t.category_id is not null or " + direction)
		shown.And("coalesce(ck.kind, c.kind, '" + kind + "') = '" + kind + "'")
	}
	sums := in.period(where, days)
	shown.If(!slices.Contains(in.Include, "transfers"), "coalesce(ck.kind, c.kind, '') <> 'transfer'")
	names = append(names, "t.currency")
	var outer []string
	for i, name := range names {
		if n := strconv.Itoa(i + 1); i < len(names)-1 {
			names[i] = name + " as k" + n
		}
		if name != groupings["payee"].name {
			outer = append(outer, strconv.Itoa(i+1))
		}
	}
	again := "group by " + strings.Join(outer, ", ")
	if in.named() {
		sums.outer, again = sums.single, ""
	}
	summed := fmt.Sprintf(`select %s, %s from transaction t %s %s group by %s`, strings.Join(columns, ", "),
		sums.inner, from, where.SQL(), strings.Join(inner, ", "))
	if slices.Contains(in.GroupBy, "payee") {
		summed = "select x.*, sum(x.n) over (partition by x.descriptor_id) as wordings from (" + summed + ") x"
	}
	return fmt.Sprintf(`
		select %s, %s
		from (%s) t
		left join category c on c.id = t.category_id
		left join category ck on ck.id = c.parent_id
		%s %s
		%s`,
		strings.Join(names, ", "), sums.outer, summed, strings.Join(joins, " "), shown.SQL(), again), sums
}

// named reports whether every group of ids has a name of its own. Then groups need not be added up
// again by name, which saves a fifth of the cost of a summary with many groups.
func (in SummaryRequest) named() bool {
	return slices.Contains(in.GroupBy, "category") && !slices.ContainsFunc(in.GroupBy, func(by string) bool {
		return !slices.Contains([]string{"category", "month", "day", "account", "counterparty"}, by)
	})
}

// periodSums holds the expressions for the sums of one or two periods: inner sums transactions,
// outer sums groups of ids that share a name, single is for one such group, and all sums whole
// groups.
type periodSums struct{ inner, outer, single, all, columns string }

// period adds the days to the condition, and returns the sums for them.
func (in SummaryRequest) period(where *pg.Where, days *ComparedDays) periodSums {
	if days == nil {
		where.If(in.StartDate != nil, "t.date >= $?", in.StartDate)
		where.If(in.EndDate != nil, "t.date <= $?", in.EndDate)
		return sumsOf("", "")
	}
	n := len(where.Args())
	where.And("t.date between $? and $? or t.date between $? and $?", days.Start, days.End, days.Previous.Start,
		days.Previous.End)
	now := sumsOf("", fmt.Sprintf("t.date between $%d and $%d", n+1, n+2))
	old := sumsOf("old_", fmt.Sprintf("t.date between $%d and $%d", n+3, n+4))
	const change = `, net - old_net, case when old_net <> 0 and net * old_net >= 0
		then least(round(100 * (net - old_net) / old_net), 1000000)::bigint end`
	return periodSums{
		now.inner + ", " + old.inner, now.outer + ", " + old.outer, now.single + ", " + old.single,
		now.all + ", " + old.all, now.columns + ", " + old.columns + change,
	}
}

// sumsOf returns the sums of the transactions that fulfill a condition. Nearly all rows are money
// out. So the sum of all rows and the sum of money in are cheaper to calculate than a sum for each
// direction.
func sumsOf(prefix, condition string) periodSums {
	and, only := "", ""
	if condition != "" {
		and, only = " and "+condition, " filter (where "+condition+")"
	}
	fill := strings.NewReplacer("{p}", prefix, "{and}", and, "{only}", only).Replace
	return periodSums{
		inner: fill(`coalesce(sum(t.amount) filter (where t.amount < 0{and}), 0) as {p}negative,
			coalesce(sum(t.amount){only}, 0) as {p}total, count(*){only} as {p}n`),
		outer: fill(`-sum(t.{p}negative) as {p}money_in, sum(t.{p}total) - sum(t.{p}negative) as {p}money_out,
			-sum(t.{p}total) as {p}net, sum(t.{p}n)::bigint as {p}count`),
		single: fill(`-t.{p}negative as {p}money_in, t.{p}total - t.{p}negative as {p}money_out, -t.{p}total as {p}net,
			t.{p}n as {p}count`),
		all: fill(`sum({p}money_in) as {p}money_in, sum({p}money_out) as {p}money_out, sum({p}net) as {p}net,
			sum({p}count)::bigint as {p}count`),
		columns: fill("{p}money_in, {p}money_out, {p}net, {p}count"),
	}
}

// keysOf returns the columns of the groups' keys, and typed nulls for rows without keys.
func keysOf(by []string) (keys, nulls []string) {
	for _, name := range by {
		for _, kind := range []string{"text", "uuid", "bigint"}[:len(groupings[name].columns())] {
			keys, nulls = append(keys, "k"+strconv.Itoa(len(keys)+1)), append(nulls, "null::"+kind)
		}
	}
	return keys, nulls
}

// chosen returns a statement for the groups to show, the sums of the other groups, and the totals
// by currency.
func (in SummaryRequest) chosen(groups string, sums periodSums) string {
	keys, nulls := keysOf(in.GroupBy)
	sorted := make([]string, len(keys))
	list := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), ", ") }
	one := func(s string) []string { return []string{s} }
	byKey := func(direction string) string {
		for i, k := range keys {
			sorted[i] = k + " " + direction + " nulls last"
		}
		return list(sorted, one("currency"))
	}
	by, direction, keep := in.order()
	// Amounts in different currencies cannot be compared. So groups are ranked within their
	// currency, and a limit takes the first group of each currency, then the second, and so on.
	rank, place, final := "0", byKey(keep.direction), byKey(direction)
	if by != "key" {
		final = "currency, place"
	}
	if keep.by != "key" {
		rank = "row_number() over (partition by currency order by " + sizes[keep.by] + " " + keep.direction + ", " +
			byKey("asc") + ")"
		place = "rank, currency"
	}
	// Without a limit no group needs a place. Places cost as much as the sums if there are many
	// groups.
	if in.Limit == nil && in.MinCount == nil {
		return in.uncut(groups, keys, nulls, sums, by, direction, byKey(direction))
	}
	few, limit := "false", "true"
	if in.MinCount != nil {
		few = "count < " + strconv.Itoa(*in.MinCount)
		if in.Compare != nil {
			few = "greatest(count, old_count) < " + strconv.Itoa(*in.MinCount)
		}
	}
	if in.Limit != nil {
		limit = "place <= " + strconv.Itoa(*in.Limit)
	}
	parts := []string{
		fmt.Sprintf("select %d as part, %s, 1::bigint as groups, place from placed where not few and %s", partGroup,
			list(keys, one("currency"), one(sums.columns)), limit),
		sums.summed(partOther, nulls, "placed where few or not "+limit),
	}
	if !slices.Contains(in.GroupBy, "tag") {
		parts = append(parts, sums.summed(partTotal, nulls, "g"))
	}
	return fmt.Sprintf(`
		with g as materialized (%s),
		ranked as (select *, %s as few, %s as rank from g),
		placed as (select *, row_number() over (order by few, %s) as place from ranked)
		%s order by part, %s`, groups, few, rank, place, strings.Join(parts, `
		union all
		`), final)
}

// summed returns a statement with one row for each currency, with nulls for the keys.
func (s periodSums) summed(part int, nulls []string, from string) string {
	return fmt.Sprintf("select %d, %s, groups, 0 from (select currency, %s, count(*) as groups from %s group by "+
		"currency) s", part, strings.Join(append(slices.Clone(nulls), "currency", s.columns), ", "), s.all, from)
}

// uncut returns a statement for all groups and the totals by currency.
func (in SummaryRequest) uncut(groups string, keys, nulls []string, sums periodSums, by, direction,
	byKey string,
) string {
	place, final := "0", byKey
	if size := sizes[by]; size != "" {
		if place = size; direction == "desc" {
			place = "-" + size
		}
		final = strings.Join(append([]string{"currency", "place"}, keys...), ", ")
	}
	sql := fmt.Sprintf("with g as materialized (%s) select %d as part, %s, 1::bigint as groups, %s as place from g",
		groups, partGroup, strings.Join(append(slices.Clone(keys), "currency", sums.columns), ", "), place)
	if !slices.Contains(in.GroupBy, "tag") {
		sql += " union all " + sums.summed(partTotal, nulls, "g")
	}
	return sql + " order by part, " + final
}

// sizes maps the sort orders other than key to the expressions by which groups are sorted.
var sizes = map[string]string{"amount": "abs(net)", "count": "count", "change": "abs(net - old_net)"}

// A groupOrder is a sort order of groups and its direction.
type groupOrder struct{ by, direction string }

// order returns the sort order of the groups, and the order in which a limit keeps them. The two
// differ if the caller gives a limit but no order. Then the limit keeps the largest groups, or the
// newest if the groups are periods, and the result is sorted by key.
func (in SummaryRequest) order() (by, direction string, keep groupOrder) {
	by, direction = "key", "asc"
	if in.SortBy != nil {
		if by = *in.SortBy; by != "key" {
			direction = "desc"
		}
	}
	if in.SortOrder != nil {
		direction = *in.SortOrder
	}
	keep = groupOrder{by, direction}
	if in.SortBy == nil && in.Limit != nil && len(in.GroupBy) > 0 {
		if keep = (groupOrder{"amount", "desc"}); slices.Contains([]string{"month", "week", "day"}, in.GroupBy[0]) {
			keep.by = "key"
		}
	}
	return by, direction, keep
}

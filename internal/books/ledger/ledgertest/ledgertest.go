// Package ledgertest describes the contents of the books in a form that tests can compare. It is
// for tests only and does not know what they test.
package ledgertest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/pg"
)

// identity identifies a transaction t with the wording d by its provider id. A transaction that was
// entered by hand is identified by the entered values and their author.
const identity = `case when t.origin <> 'manual' then t.provider_id else
	concat_ws('/', 'manual', t.date, t.amount, t.currency, d.name, d.merchant_name, d.detail, array(
		select concat_ws(' ', f.field, f.source) from manual_field f where f.transaction_id = t.id order by 1)) end`

// Canonical returns the text that the canonical hash covers, a line for each record in key order,
// and the hash below them. It covers the account, provider id, category, tags, counterparty,
// comments, deletion and parts of transactions, with their sources. For a transaction entered by
// hand, the entered values and the match replace the provider id. Then come the definitions, the
// household's settings of accounts and their links, and reports. It contains no time and no
// generated id. It covers only the transactions with those ids (nil means all), and only the tags,
// categories, counterparties, accounts and reports whose name matches the LIKE pattern in names (""
// means all).
func Canonical(ctx context.Context, q pg.Querier, transactions []string, names string) (string, error) {
	if names == "" {
		names = "%"
	}
	lines, err := pg.Values[string](ctx, q, `
		select x from (
			select concat_ws('|', 'transaction', a.provider_id, case when w.id is null then `+identity+`
				else concat_ws(' ', 'part of', w.provider_id, case when not t.remainder then t.amount end) end,
				case when t.is_split then 'split by ' || t.split_source end, c.slug, t.category_source, '#', p.name,
				t.counterparty_source, '#', t.deleted_at is not null, t.deleted_source,
				case when t.excluded_reason is not null
					then concat_ws(' ', 'left out', t.excluded_reason, t.excluded_source) end,
				(select 'refund of ' || b.provider_id from transaction b where b.id = t.refund_of),
				array(select concat_ws(' ', g.slug, tt.present, tt.source) from transaction_tag tt
					join tag g on g.id = tt.tag_id where tt.transaction_id = t.id order by 1),
				array(select concat_ws(' ', o.author_type, o.content) from comment o
					where o.transaction_id = t.id and o.deleted_at is null order by 1))
			from transaction t join account a on a.id = t.account_id left join category c on c.id = t.category_id
				left join counterparty p on p.id = t.counterparty_id left join transaction w on w.id = t.parent_id
				join descriptor d on d.id = t.descriptor_id
			where (t.origin <> 'part' or t.parent_id is not null) and (t.origin <> 'manual' or t.deleted_at is null)
				and ($1::text[] is null or t.id = any($1::text[]::uuid[]))
			union all select concat_ws('|', 'by hand', a.provider_id, `+identity+`, b.provider_id, x.state, x.source)
			from manual_match x join transaction t on t.id = x.manual_id join transaction b on b.id = x.bank_id
				join account a on a.id = t.account_id join descriptor d on d.id = t.descriptor_id
			where x.state <> 'undone' and t.deleted_at is null and ($1::text[] is null or t.id = any($1::text[]::uuid[]))
			union all select concat_ws('|', 'tag', slug, display_name, description, color, icon) from tag
				where slug like $2 and deleted_at is null
			union all select concat_ws('|', 'category', c.slug, c.display_name, p.slug, c.kind, c.icon, c.color,
				c.sort_order, c.hidden) from category c left join category p on p.id = c.parent_id
				where c.slug like $2 and c.deleted_at is null
			union all select concat_ws('|', 'counterparty', p.name, p.website_url, p.logo_url, c.slug, p.mcc, o.name)
			from counterparty p left join category c on c.id = p.category_id left
				join counterparty o on o.id = p.canonical_id where p.name like $2 and p.deleted_at is null
			union all select concat_ws('|', 'account', a.provider_id, a.name, a.display_name, '#', m.name, a.hidden,
				a.held, a.review_from, '#', a.currency, a.type, a.subtype, '#', a.institution_name, '#', a.balance_method,
				a.closed_on) from account a left join member m on m.id = a.owner_id
				where a.name like $2 and a.deleted_at is null
			union all select concat_ws('|', 'merged', a.provider_id, o.provider_id) from account a
				join account o on o.id = a.merged_into where a.deleted_at is not null and a.name like $2
			union all select concat_ws('|', 'balance', a.provider_id, b.day, b.current, '#', b.available, '#', b.set_by)
				from account_balance b join account a on a.id = b.account_id
				where b.source = 'manual' and a.name like $2 and a.deleted_at is null
			union all select concat_ws('|', 'report', title, kind, author_type, md5(body)) from report
				where title like $2 and deleted_at is null
			union all select concat_ws('|', 'target', c.slug, t.currency, t.amount, t.rollover, t.start_month, t.end_month)
			from target t join category c on c.id = t.category_id where c.slug like $2 and t.deleted_at is null
			union all select concat_ws('|', 'link', a.provider_id, b.provider_id, l.kind, l.confidence,
				l.deleted_at is not null, l.source)
			from account_link l join account a on a.id = l.primary_id join account b on b.id = l.mirror_id
				where l.source is not null and a.name like $2
			union all select concat_ws('|', 'match', p.account_id = l.primary_id, p.provider_id, r.provider_id,
				m.verdict, m.source)
			from link_match m join account_link l on l.id = m.account_link_id join account a on a.id = l.primary_id
				join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
			where m.verdict is not null and a.name like $2) v (x)
		order by x`, transactions, names)
	whole := strings.Join(lines, "\n")
	return fmt.Sprintf("%s\n%x", whole, sha256.Sum256([]byte(whole))), err
}

// Unsound finds transactions that break a rule of splits. The parts add up to their transaction and
// copy it, one of them is the remainder, and every part belongs to a transaction.
const Unsound = `
	select t.id from transaction t left join lateral (
		select count(*) as n, coalesce(sum(p.amount), 0) as amount, count(*) filter (where p.remainder) as rest,
			bool_and((p.account_id, p.date, p.currency, p.descriptor_id, p.pending, p.excluded, p.transfer,
				p.deleted_at, p.origin, p.is_split) is not distinct from (t.account_id, t.date, t.currency,
				t.descriptor_id, t.pending, t.excluded, t.transfer, t.deleted_at, 'part', false)) as follow
		from transaction p where p.parent_id = t.id) p on true
	where t.is_split and (p.n < 2 or p.amount <> t.amount or p.rest <> 1 or not p.follow)
		or not t.is_split and p.n > 0
		or t.origin = 'part' and (t.parent_id is null) <> (t.deleted_at is not null)
			and not exists (select from transaction x where x.id = t.parent_id and x.deleted_at is not null)
	union all
	select null where exists (
		select currency from transaction t where t.deleted_at is null group by currency
		having sum(amount) filter (where ` + journal.Leaf + `) <> sum(amount) filter (where ` + journal.BankRow + `))`

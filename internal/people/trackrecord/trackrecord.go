// Package trackrecord reports the outcomes of the decisions of agents and rules, and how many
// writes a caller has left today. It reads the journal, and the limits of keys and consents; it
// writes nothing.
package trackrecord

import (
	"context"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Budget is a limit on writes, of a day or of a workflow run. If several limits apply, it is the
// one with the fewest writes left.
type Budget struct {
	Limit    int64    `json:"limit" db:"quota" doc:"Write limit for today or this run: one per changed transaction and record"`
	Used     int64    `json:"used" db:"used"`
	Left     int64    `json:"left" db:"remaining"`
	ResetsAt *pg.Time `json:"resets_at" db:"resets_at" doc:"When the limit resets: the household's next midnight; null for the limit of a workflow run"`
}

// BudgetOf returns what a key, assistant or workflow run may still change, or nil if it has no
// limit. An agent also shares the daily limit of all agents, which is counted under the zero id.
func BudgetOf(ctx context.Context, q pg.Querier, caller id.ID, agent bool) (*Budget, error) {
	all, err := pg.All[Budget](ctx, q, `
		with today as (
			select (now() at time zone time_zone)::date as day, writes_per_day,
				((now() at time zone time_zone)::date + 1)::timestamp at time zone time_zone as resets_at from setting),
		allowed (key_id, quota, day, resets_at) as (
			select id, max_writes_per_day, day, resets_at from token, today
				where id = $1 and max_writes_per_day is not null
			union all select id, max_writes_per_day, day, resets_at from consent, today where id = $1
			union all select id, max_writes, created_at::date, null from workflow_run where id = $1
			union all select '00000000-0000-0000-0000-000000000000', writes_per_day, day, resets_at from today where $2)
		select a.quota::bigint as quota, coalesce(b.used, 0) as used,
			greatest(a.quota - coalesce(b.used, 0), 0)::bigint as remaining, a.resets_at
		from allowed a left join write_budget b on b.key_id = a.key_id and b.day = a.day
		where a.quota is not null order by 3 limit 1`, caller, agent)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// recordMost is how many of the newest decisions a Record includes.
const recordMost = 200

// A Record counts the outcomes of decisions: categories, counterparties and tags that an agent or a
// rule gave to transactions.
type Record struct {
	Decisions int64 `json:"decisions" db:"decisions" doc:"From the last 90 days, at most the newest 200"`
	Kept      int64 `json:"kept" db:"kept" doc:"Kept: a person set the same value, or closed the review without changing it"`
	Corrected int64 `json:"corrected" db:"corrected" doc:"Corrected: a person set another value"`
	Reverted  int64 `json:"reverted" db:"reverted" doc:"The change was reverted"`
	Open      int64 `json:"open" db:"open" doc:"Not reviewed yet"`
}

type recordRow struct {
	Who id.ID `db:"who"`
	Record
}

// judged counts decisions by their verdict, which depends on the last entry for the same field by a
// person or a revert. A decision costs at most two look-ups in the index of a subject's fields:
// PostgreSQL has no other plan for a lateral limit, even if its statistics are wrong.
const judged = `
	select d.who, count(*) as decisions, count(*) filter (where v.verdict = 'kept') as kept,
		count(*) filter (where v.verdict = 'corrected') as corrected,
		count(*) filter (where v.verdict = 'reverted') as reverted,
		count(*) filter (where v.verdict = 'open') as open` + fromVerdicts + `
	group by d.who`

// fromVerdicts selects each decision d together with its verdict v.
const fromVerdicts = `
	from decision d
	left join lateral (
		select e.after is not distinct from d.after as same, c.cause = 'revert' as undoing
		from entry e join change c on c.id = e.change_id
		where e.subject_id = d.subject_id and e.field = d.field and e.id > d.id
			and (e.ref = d.ref or e.ref is null and d.ref is null) and (c.cause = 'revert' or c.actor_type = 'user')
		order by e.id desc limit 1) n on true
	left join lateral (
		select true as closed from entry e join change c on c.id = e.change_id
		where n.same is null and e.subject_id = d.subject_id and e.field = 'tag' and e.ref = $3 and e.id > d.id
			and c.actor_type = 'user' and c.cause <> 'revert' limit 1) r on true
	cross join lateral (select case
		when n.undoing and not n.same then 'reverted'
		when n.undoing then 'open'
		when n.same or r.closed then 'kept'
		when not n.same then 'corrected'
		else 'open' end as verdict) v`

// decided selects the entries that are decisions: values given to a transaction, except the tag
// that only asks for a review.
const decided = `e.subject = 'transaction' and e.after is not null
	and (e.field in ('category', 'counterparty') or e.field = 'tag' and e.ref <> $3)`

// OfAgents returns the records of keys and assistants, by their ids.
func OfAgents(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]Record, error) {
	review, err := reviewTag(ctx, q, ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return byWho(pg.All[recordRow](ctx, q, `
		with decision as materialized (
			select w.who, d.* from unnest($1::uuid[]) as w (who) cross join lateral (
				select e.id, e.subject_id, e.field, e.ref, e.after
				from (select c.id from change c where c.actor_id = w.who and c.cause <> 'revert'
					and c.created_at > now() - interval '90 days' order by c.seq desc limit $2) c
				cross join lateral (select * from entry e where e.change_id = c.id and e.rule_id is null and `+decided+`
					limit $2) e
				limit $2) d)`+judged, ids, recordMost, review))
}

// OfRules returns the records of rules, by their ids. Ids of changes begin with their time, so the
// index of a rule's changes gives the newest first.
func OfRules(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]Record, error) {
	review, err := reviewTag(ctx, q, ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	since := id.Numbered(time.Now().AddDate(0, 0, -90), 0)
	return byWho(pg.All[recordRow](ctx, q, `
		with decision as materialized (
			select w.who, d.* from unnest($1::uuid[]) as w (who) cross join lateral (
				select e.id, e.subject_id, e.field, e.ref, e.after from entry e
				where e.rule_id = w.who and e.change_id > $4 and `+decided+`
				order by e.change_id desc limit $2) d)`+judged, ids, recordMost, review, since))
}

// reviewTag returns the id of the tag that asks for a review.
func reviewTag(ctx context.Context, q pg.Querier, ids []id.ID) (id.ID, error) {
	if len(ids) == 0 {
		return id.ID{}, nil
	}
	return pg.Value[id.ID](ctx, q, `select id from tag where slug = 'needs-review' and deleted_at is null`)
}

func byWho(rows []recordRow, err error) (map[id.ID]Record, error) {
	out := make(map[id.ID]Record, len(rows))
	for _, r := range rows {
		out[r.Who] = r.Record
	}
	return out, err
}

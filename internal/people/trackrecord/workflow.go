package trackrecord

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A WorkflowRecord is the Record of a workflow's runs.
type WorkflowRecord struct {
	Record
	Dropped int64 `json:"dropped" db:"dropped" doc:"Discarded: a person skipped them when applying the plan, or dropped the plan"`
}

// recordRuns is how many of a workflow's newest runs a record includes.
const recordRuns = 200

// OfWorkflows returns the records of workflows, by their ids. The runs of a workflow are the actors
// of its changes.
func OfWorkflows(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]WorkflowRecord, error) {
	review, err := reviewTag(ctx, q, ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	records, err := byWho(pg.All[recordRow](ctx, q, `
		with decision as materialized (
			select w.who, d.* from unnest($1::uuid[]) as w (who) cross join lateral (
				select e.id, e.subject_id, e.field, e.ref, e.after
				from (select r.id from workflow_run r where r.workflow_id = w.who
					and r.created_at > now() - interval '90 days' order by r.id desc limit $4) r
				cross join lateral (select c.id from change c where c.actor_id = r.id and c.cause <> 'revert'
					order by c.seq desc limit $2) c
				cross join lateral (select * from entry e where e.change_id = c.id and e.rule_id is null and `+decided+`
					limit $2) e
				limit $2) d)`+judged, ids, recordMost, review, recordRuns))
	if err != nil {
		return nil, err
	}
	type dropped struct {
		Who     id.ID `db:"who"`
		Dropped int64 `db:"dropped"`
	}
	left, err := pg.All[dropped](ctx, q, `
		select w.who, count(*) as dropped from unnest($1::uuid[]) as w (who)
		cross join lateral (select r.id, r.plan_state from workflow_run r where r.workflow_id = w.who
			and r.created_at > now() - interval '90 days' order by r.id desc limit $4) r
		cross join lateral (select from workflow_plan e where e.run_id = r.id and `+decided+`
			and (e.state = 'excepted' or r.plan_state = 'dropped' and e.state = 'open') limit $2) p
		group by w.who`, ids, recordMost, review, recordRuns)
	if err != nil {
		return nil, err
	}
	out := make(map[id.ID]WorkflowRecord, len(ids))
	for who, r := range records {
		out[who] = WorkflowRecord{Record: r}
	}
	for _, d := range left {
		r := out[d.Who]
		r.Dropped = min(d.Dropped, recordMost)
		r.Decisions += r.Dropped
		out[d.Who] = r
	}
	return out, nil
}

// A Look counts the decisions of a workflow that people have looked at.
type Look struct {
	Looked int64 `db:"looked"` // decisions, at most lookedAt
	Wrong  int64 `db:"wrong"`  // how many of these were corrected, reverted, dropped or left out of a plan
}

// lookedAt is how many decisions a Look counts: the newest that somebody looked at.
const lookedAt = 50

// LookAt counts the newest decisions of a workflow that people have looked at, and how many of them
// were wrong. If since is given, it counts only decisions after that time. Ids of changes and runs
// begin with their time, so ordering by them puts decisions and dropped plans in time order.
func LookAt(ctx context.Context, q pg.Querier, workflow id.ID, since *pg.Time) (Look, error) {
	review, err := reviewTag(ctx, q, []id.ID{workflow})
	if err != nil {
		return Look{}, err
	}
	return pg.One[Look](ctx, q, `
		with run as materialized (
			select r.id, r.plan_state from workflow_run r where r.workflow_id = $1
				and r.created_at > greatest(now() - interval '90 days', $5) order by r.id desc limit $4),
		decision as materialized (
			select c.id as at, e.id, e.subject_id, e.field, e.ref, e.after
			from run r
			cross join lateral (select c.id from change c where c.actor_id = r.id and c.cause <> 'revert'
				order by c.seq desc limit $2) c
			cross join lateral (select * from entry e where e.change_id = c.id and e.rule_id is null and `+decided+`
				limit $2) e
			limit $2),
		looked as (
			select d.at, v.verdict <> 'kept' as wrong`+fromVerdicts+` where v.verdict <> 'open'
			union all
			select r.id, true from run r cross join lateral (select from workflow_plan e where e.run_id = r.id and `+
		decided+` and (e.state = 'excepted' or r.plan_state = 'dropped' and e.state = 'open') limit $2) p
			order by 1 desc limit $6)
		select count(*) as looked, count(*) filter (where wrong) as wrong from looked`,
		workflow, recordMost, review, recordRuns, since, lookedAt)
}

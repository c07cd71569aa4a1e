package overview

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/books/report"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// manyReviews is the largest number to which the pulse counts the review queue and the overview
// counts transactions without a category. Clients ask every few seconds, and at a glance nobody can
// distinguish larger numbers.
const manyReviews = 10_000

// A Pulse holds what changes from minute to minute. It is small enough to be requested often.
type Pulse struct {
	LastChangeID  *id.ID   `json:"last_change_id" doc:"The newest change; null if there is none"`
	LastChangeAt  *pg.Time `json:"last_change_at"`
	ReviewCount   int64    `json:"review_count" doc:"Transactions to review, counted as in GET /overview; 10,000 means that many or more"`
	UnreadReports int64    `json:"unread_reports"`
	PlansWaiting  int64    `json:"plans_waiting" doc:"Workflow plans that need a decision"`
	RunningJobs   int64    `json:"running_jobs" doc:"Jobs that are queued or running"`
	Attention     int64    `json:"connections_attention" doc:"Connections that fail, are overdue or need a person; GET /sync/health lists them"`
}

// Pulse returns the pulse. Every count reads an index, so it costs the same in large books.
func (o *Overviews) Pulse(ctx context.Context, q pg.Querier, _ op.None) (Pulse, error) {
	type row struct {
		ChangeID *id.ID   `db:"change_id"`
		ChangeAt *pg.Time `db:"change_at"`
		Jobs     int64    `db:"jobs"`
		Needy    int64    `db:"needy"`
		Plans    int64    `db:"plans"`
	}
	r, err := pg.One[row](ctx, q, `
		select c.id as change_id, c.created_at as change_at,
			(select count(*) from job where state in ('queued', 'running')) as jobs,
			(select count(*) from connection c cross join setting s
				where `+health+` not in ('ok', 'off')) as needy, (`+plans+`) as plans
		from (values (1)) one left join lateral (select id, created_at from change order by seq desc limit 1) c on true`)
	if err != nil {
		return Pulse{}, err
	}
	out := Pulse{
		LastChangeID: r.ChangeID, LastChangeAt: r.ChangeAt, RunningJobs: r.Jobs, Attention: r.Needy,
		PlansWaiting: r.Plans,
	}
	if out.ReviewCount, err = Reviews(ctx, q, manyReviews); err != nil {
		return Pulse{}, err
	}
	out.UnreadReports, err = report.Unread(ctx, q)
	return out, err
}

// plans counts the plans that wait for a person. A partial index has only these.
const plans = `select count(*) from workflow_run where plan_state = 'waiting'`

// Reviews counts the transactions that wait for review, up to maximum; 0 counts all of them.
// Duplicates that an account link excludes are not counted, because lists of reviews do not show
// them.
//
// Reviews looks up the id of the tag first, because the best plan depends on how frequent this tag
// is. It then counts all its rows in the tag's index, and subtracts the few deleted, split and
// excluded transactions. So no query reads a million transactions. The sort order is that of the
// index, which makes PostgreSQL use it whatever the statistics say.
func Reviews(ctx context.Context, q pg.Querier, maximum int64) (int64, error) {
	waiting, err := pg.Value[id.ID](ctx, q, `select id from tag where slug = 'needs-review' and deleted_at is null`)
	if err != nil {
		return 0, err
	}
	gone, err := pg.Value[int64](ctx, q, `select count(*) from transaction t join transaction_tag tt
		on tt.transaction_id = t.id and tt.tag_id = $1 and tt.present where t.deleted_at is not null`, waiting)
	if err != nil {
		return 0, err
	}
	split, err := pg.Value[int64](ctx, q, `select count(*) from transaction t join transaction_tag tt
		on tt.transaction_id = t.id and tt.tag_id = $1 and tt.present where (t.is_split or t.origin = 'part')
		and (t.is_split or t.excluded) and t.deleted_at is null`, waiting)
	if err != nil {
		return 0, err
	}
	// This counts only linked transactions, because a link excludes no others. The query above
	// already counts the parts of an excluded split.
	twice, err := pg.Value[int64](ctx, q, `select count(*) from transaction t join transaction_tag tt
		on tt.transaction_id = t.id and tt.tag_id = $1 and tt.present where t.linked_id is not null
		and t.excluded and t.deleted_at is null and `+journal.Ruled, waiting)
	if err != nil {
		return 0, err
	}
	gone += split + twice
	var limit *int64
	if maximum > 0 {
		limit = new(maximum + gone)
	}
	n, err := pg.Value[int64](ctx, q, `select count(*) from (select from transaction_tag
		where present and tag_id = $1 order by transaction_id limit $2) counted`, waiting, limit)
	return n - gone, err
}

// uncategorized counts the posted transactions in totals without a category. A partial index has
// only these. The sort order is that of the index, which makes PostgreSQL use it whatever the
// statistics say.
func uncategorized(ctx context.Context, q pg.Querier) (int64, error) {
	return pg.Value[int64](ctx, q, `select count(*) from (select from transaction t
		where category_id is null and deleted_at is null and not pending and not excluded
			and `+journal.Leaf+` and `+journal.NotLeftOut+`
		order by date desc, id desc limit $1) counted`, manyReviews)
}

package overview

import (
	"context"

	"coffer/internal/bank/all"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// syncs is the kind of job that syncs a connection.
const syncs = "feed.sync"

// SyncHealth is the state of syncing, for a person or a monitor.
type SyncHealth struct {
	Status        string             `json:"status" enum:"ok,degraded,failing" doc:"ok: every connection is up to date. degraded: some connection needs attention. failing: no connection that should sync can, or syncs are queued and no server runs them"`
	Connections   []ConnectionHealth `json:"connections"`
	Failing       int                `json:"failing" doc:"Connections whose syncs fail or that need a person"`
	Overdue       int                `json:"overdue" doc:"Connections that should have been synced by now"`
	Quarantined   int64              `json:"quarantined" doc:"Unreadable rows (quarantine)"`
	Queued        int64              `json:"queued" doc:"Syncs waiting to run"`
	Running       int64              `json:"running"`
	OldestQueued  *pg.Time           `json:"oldest_queued_at" doc:"When the longest waiting sync was queued"`
	LastSuccessAt *pg.Time           `json:"last_success_at" doc:"The last successful sync of any connection"`
	CheckedAt     pg.Time            `json:"checked_at"`
}

// A ConnectionHealth reports how fresh the data of one connection is.
type ConnectionHealth struct {
	ID                  id.ID           `json:"id" db:"id"`
	ShortID             string          `json:"short_id,omitempty" db:"short_id" required:"true"`
	Provider            all.Name        `json:"provider" db:"provider"`
	InstitutionName     *text.Untrusted `json:"institution_name" db:"institution_name" doc:"Untrusted: the bank's name from the provider"`
	Health              string          `json:"health" db:"health" enum:"ok,overdue,failing,needs_person,off" doc:"off: paused, disconnected, or a CSV connection; it has no scheduled syncs"`
	Status              string          `json:"status" db:"status" enum:"active,error,pending_reauth,disconnected"`
	StatusReason        *string         `json:"status_reason" db:"status_reason"`
	StatusMessage       *string         `json:"status_message" db:"status_message"`
	Paused              bool            `json:"paused" db:"paused"`
	LastSyncAt          *pg.Time        `json:"last_sync_at" db:"last_sync_at"`
	NextSyncAt          *pg.Time        `json:"next_sync_at" db:"next_sync_at"`
	ConsecutiveFailures int             `json:"consecutive_failures" db:"consecutive_failures"`
	Quarantined         int64           `json:"quarantined" db:"quarantined"`
	Covered             []CoveredDays   `json:"covered" db:"-" doc:"Days of the last 90 that its data covers: up to the last sync, or the days of imported files"`
}

// CoveredDays is a range of days that a connection's data covers, including both ends.
type CoveredDays struct {
	From pg.Date `json:"from" db:"from_day"`
	To   pg.Date `json:"to" db:"to_day"`
}

// health is the health of a connection c with the household's settings s.
const health = `case when c.provider = 'csv' or c.paused or c.status = 'disconnected' then 'off'
	when c.status = 'pending_reauth' then 'needs_person'
	when c.status = 'error' then 'failing'
	when coalesce(c.last_sync_at, c.created_at) < now() - interval '15 minutes'
		- 2 * coalesce(c.sync_interval_seconds, s.default_sync_interval_seconds) * interval '1 second' then 'overdue'
	else 'ok' end`

// Health returns the state of syncing. A connection is overdue if its last sync was more than twice
// its interval plus 15 minutes ago.
func (o *Overviews) Health(ctx context.Context, q pg.Querier, _ op.None) (SyncHealth, error) {
	type queue struct {
		Queued  int64    `db:"queued"`
		Running int64    `db:"running"`
		Oldest  *pg.Time `db:"oldest"`
		Stuck   bool     `db:"stuck"`
		Now     pg.Time  `db:"now"`
	}
	waiting, err := pg.One[queue](ctx, q, `
		select count(*) filter (where state = 'queued') as queued,
			count(*) filter (where state = 'running') as running,
			min(created_at) filter (where state = 'queued') as oldest,
			coalesce(min(created_at) filter (where state = 'queued') < now() - interval '15 minutes', false)
				and count(*) filter (where state = 'running') = 0 as stuck, now() as now
		from job where kind = $1 and state in ('queued', 'running')`, syncs)
	if err != nil {
		return SyncHealth{}, err
	}
	out := SyncHealth{
		Status: "ok", Queued: waiting.Queued, Running: waiting.Running, OldestQueued: waiting.Oldest,
		CheckedAt: waiting.Now,
	}
	out.Connections, err = pg.All[ConnectionHealth](ctx, q, `
		select c.id, c.short_id, c.provider, c.institution_name, c.status, c.status_reason, c.status_message,
			c.paused, c.last_sync_at, c.next_sync_at, c.consecutive_failures,
			coalesce(k.rows, 0) as quarantined,
			`+health+` as health
		from connection c cross join setting s left
			join (select connection_id, count(*) as rows from quarantine group by 1) k on k.connection_id = c.id
		order by c.id`)
	if err != nil {
		return SyncHealth{}, err
	}
	covered, err := coverage(ctx, q)
	expected := 0
	for i, c := range out.Connections {
		if out.Connections[i].Covered = covered[c.ID]; covered[c.ID] == nil {
			out.Connections[i].Covered = []CoveredDays{}
		}
		out.Quarantined += c.Quarantined
		if c.LastSyncAt != nil && (out.LastSuccessAt == nil || c.LastSyncAt.Time().After(out.LastSuccessAt.Time())) {
			out.LastSuccessAt = c.LastSyncAt
		}
		switch c.Health {
		case "off":
			continue
		case "overdue":
			out.Overdue++
		case "failing", "needs_person":
			out.Failing++
		}
		expected++
	}
	switch {
	case expected > 0 && out.Failing == expected || waiting.Stuck:
		out.Status = "failing"
	case out.Failing > 0 || out.Overdue > 0 || out.Quarantined > 0:
		out.Status = "degraded"
	}
	return out, err
}

// coverage returns which days of the 90 before today each connection's data covers. A sync brings
// everything up to its own day, so a bank's days are one range. Files can leave gaps: days with
// transactions at most ten days apart are in the same range.
func coverage(ctx context.Context, q pg.Querier) (map[id.ID][]CoveredDays, error) {
	type row struct {
		ID id.ID `db:"id"`
		CoveredDays
	}
	rows, err := pg.All[row](ctx, q, `
		with today as (select time_zone, (now() at time zone time_zone)::date as day from setting)
		select c.id, r.from_day, r.to_day from connection c cross join today t cross join lateral (
			select greatest(least(f.first, (c.created_at at time zone t.time_zone)::date), t.day - 89) as from_day,
				least((c.last_sync_at at time zone t.time_zone)::date, t.day) as to_day
			from (select min(l.date) as first from account a cross join lateral (
				select x.date from transaction x where x.account_id = a.id and x.deleted_at is null
				order by x.date, x.id limit 1) l where a.connection_id = c.id) f
			where c.provider <> 'csv'
			union all
			select min(i.date), max(i.date) from (
				select d.date, count(*) filter (where d.apart) over (order by d.date) as island from (
					select x.date, x.date - lag(x.date) over (order by x.date) > 10 as apart from (
						select distinct x.date from account a join transaction x on x.account_id = a.id
						where a.connection_id = c.id and x.deleted_at is null
							and x.date between t.day - 89 and t.day) x) d) i
			where c.provider = 'csv' group by i.island) r
		where r.to_day >= r.from_day order by c.id, r.from_day`)
	out := map[id.ID][]CoveredDays{}
	for _, r := range rows {
		out[r.ID] = append(out[r.ID], r.CoveredDays)
	}
	return out, err
}

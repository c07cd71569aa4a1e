package report

import (
	"context"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// definition is the journal's record of a report. It only records that the report exists, because
// the body never changes.
var definition = journal.Definition{
	Subject: journal.Report, Table: "report", Columns: []string{"title", "kind"},
	Fits: fits,
}

// Subjects returns the subjects that reverts restore.
func (r *Reports) Subjects() []journal.Subject { return []journal.Subject{definition} }

// fits returns the reports that cannot be deleted or restored. An agent can neither delete a
// person's report nor restore one that a person deleted.
func fits(ctx context.Context, _ pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var left []journal.Skipped
	for _, e := range entries {
		if journal.Held(e.BeforeSource, op.ActorOf(ctx), false) {
			left = append(left, journal.Skip(e, "held"))
		}
	}
	return left, nil
}

// The daily limits for one agent, by the household's days.
const (
	maxReports     = 20
	maxReportBytes = 1_000_000
)

// bound returns an error if an agent has reached its limit for today. Deleted reports count too,
// because they are still stored.
func bound(ctx context.Context, tx pg.Tx, actor op.Actor, size int) error {
	if actor.Type != op.Agent {
		return nil
	}
	// Calls of the same agent wait for each other here, so that the count is exact on any number of
	// servers.
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1,
		hashtext($2::text))`, reportLock, actor.ID); err != nil {
		return err
	}
	type used struct {
		Reports int64 `db:"reports"`
		Bytes   int64 `db:"bytes"`
		Ends    int64 `db:"ends"` // seconds until the day ends
	}
	u, err := pg.One[used](ctx, tx, `
		with today as (
			select date_trunc('day', now() at time zone time_zone) at time zone time_zone as begins,
				(date_trunc('day', now() at time zone time_zone) + interval '1 day') at time zone time_zone as ends
				from setting)
		select count(r.id) as reports, coalesce(sum(octet_length(r.title) + octet_length(r.body)),
			0)::bigint as bytes, extract(epoch from t.ends - now())::bigint as ends
		from today t left join report r on r.author_type = 'agent' and r.author_id = $1 and r.created_at >= t.begins
		group by t.ends`, actor.ID)
	if err != nil {
		return err
	}
	var e *errs.Error
	switch {
	case u.Reports >= maxReports:
		e = errs.New(errs.RateLimited,
			"agents can submit %d reports a day, and this limit is reached; submit one tomorrow, or ask a "+
				"person to submit it", maxReports)
	case u.Bytes+int64(size) > maxReportBytes:
		e = errs.New(errs.RateLimited,
			"agents can submit %d bytes of reports a day; %d are left today and this report has %d; shorten "+
				"it, or submit it tomorrow", maxReportBytes, max(maxReportBytes-u.Bytes, 0), size)
	default:
		return nil
	}
	e.After = time.Duration(u.Ends+1) * time.Second
	return e
}

// reportLock is the first key of the advisory locks of agents. It keeps them apart from other
// locks.
const reportLock = 0x7265706f

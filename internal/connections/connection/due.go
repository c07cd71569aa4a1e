package connection

import (
	"context"
	"errors"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// Tasks returns the scheduled work of connections. A database trigger wakes the task by its name.
func (f *Connections) Tasks() []schedule.Task {
	return []schedule.Task{{Name: "feed.sync", Next: nextSync, Do: f.syncDue, Fault: "due syncs not started"}}
}

// nextSync returns how long it is until a sync is due. An open log whose job has ended is due at
// once.
func nextSync(ctx context.Context, q pg.Querier) (time.Duration, error) {
	ms, err := pg.Value[*int64](ctx, q, `
		select case
			when exists (select from sync_log l left join job j on j.id = l.job_id where `+openLogs+`) then 0
			else (select ceil(extract(epoch from min(next_sync_at) - clock_timestamp()) * 1000)::bigint from connection
				where status in ('active', 'error') and not paused and provider <> 'csv') end`)
	return schedule.In(ms), err
}

// syncDue starts the syncs that are due, and closes the logs that ended jobs have left open.
func (f *Connections) syncDue(ctx context.Context) error {
	_, err := f.SweepDue(ctx)
	return errors.Join(err, f.EndLogs(ctx))
}

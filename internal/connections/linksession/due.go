package linksession

import (
	"context"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// Tasks returns the scheduled work of link sessions. A database trigger wakes the task by its name.
func (l *Sessions) Tasks() []schedule.Task {
	return []schedule.Task{{
		Name: "linksession", Next: next, Fault: "link sessions not updated",
		Do: func(ctx context.Context) error {
			_, err := l.Sweep(ctx)
			return err
		},
	}}
}

// next returns how long it is until an open session must be checked.
func next(ctx context.Context, q pg.Querier) (time.Duration, error) {
	ms, err := pg.Value[*int64](ctx, q, `
		select ceil(extract(epoch from min(look_at) - clock_timestamp()) * 1000)::bigint from link_session
		where state = 'pending'`)
	return schedule.In(ms), err
}

package job

import (
	"context"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// Served reports whether any server that runs jobs is alive. It looks for the connection of the
// server's clock, which closes when the process ends.
func (j *Jobs) Served(ctx context.Context) (bool, error) {
	return pg.Value[bool](ctx, j.db, `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = $1)`, schedule.Application)
}

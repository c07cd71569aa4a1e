package job

import (
	"context"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// Served reports whether a server that works on jobs is running: its clock has a connection, which
// ends with the process.
func (j *Jobs) Served(ctx context.Context) (bool, error) {
	return pg.Value[bool](ctx, j.db, `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = $1)`, schedule.Application)
}

package job

import (
	"context"

	"coffer/internal/pg"
)

// Served reports whether a server that works on jobs is running. River's leader renews its term as
// long as it lives, gives it up when it stops, and loses it some seconds after it was killed.
func (j *Jobs) Served(ctx context.Context) (bool, error) {
	return pg.Value[bool](ctx, j.db, `select exists (select from river.river_leader
		where expires_at > clock_timestamp())`)
}

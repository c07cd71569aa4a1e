package app

import (
	"context"

	"coffer/internal/errs"
	"coffer/internal/pg"
)

// opened makes the database ready for a single command. It sets an empty one up, and leaves an
// older schema to serve and migrate.
func (a *App) opened(ctx context.Context) error {
	if err := a.refuseOlderSchema(ctx); err != nil {
		return err
	}
	return a.ready(ctx, patience)
}

// refuseOlderSchema refuses a database that has a schema, but an older one: a single command must
// not change it under a running server.
func (a *App) refuseOlderSchema(ctx context.Context) error {
	at, err := a.DB.SchemaVersion(ctx)
	if err == nil && at > 0 && at < pg.Newest() {
		return errs.New(errs.Unavailable,
			"the database schema is older than this version of coffer; run coffer migrate, or restart the "+
				"server")
	}
	return nil // an unreachable database is ready's to report
}

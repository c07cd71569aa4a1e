package app

import (
	"context"
	"time"

	"coffer/internal/archive"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// opened prepares the database for a single command. It gives an empty database its schema. It does
// not migrate an older schema: only serve and migrate do.
func (a *App) opened(ctx context.Context) error {
	if err := a.openedUnchecked(ctx); err != nil {
		return err
	}
	return a.checkKey(ctx)
}

// openedUnchecked does the same as opened, but does not check the encryption key.
func (a *App) openedUnchecked(ctx context.Context) error {
	if err := a.reach(ctx, patience); err != nil {
		return err
	}
	at, err := a.DB.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if at > 0 && at < a.DB.Newest() {
		return errs.New(errs.Unavailable,
			"the database schema is older than this version of coffer; run coffer migrate, or restart the "+
				"server")
	}
	if err := a.migrate(ctx); err != nil {
		return err
	}
	return a.fillIn(ctx)
}

// upgraded prepares the database for serve and migrate: it waits until a starting database
// responds, migrates it and checks the encryption key. No other command migrates a database that
// already has a schema.
func (a *App) upgraded(ctx context.Context, patience time.Duration) error {
	if err := a.reach(ctx, patience); err != nil {
		return err
	}
	at, err := a.DB.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if at < a.DB.Newest() {
		tellSystemd(stillMigrating)
	}
	if at > 0 && at < a.DB.Newest() && a.Config.BackupDir != "" {
		err = archive.InTurn(ctx, a.DB, func(ctx context.Context) error {
			if err := a.backUpBefore(ctx); err != nil {
				return err
			}
			return a.migrate(ctx)
		})
	} else {
		err = a.migrate(ctx)
	}
	if err != nil {
		return err
	}
	if err := a.fillIn(ctx); err != nil {
		return err
	}
	return a.checkKey(ctx)
}

// reach waits for the database to respond.
func (a *App) reach(ctx context.Context, patience time.Duration) error {
	err := a.DB.Wait(ctx, patience, func(err error) {
		a.Log.Warn("waiting for PostgreSQL", "error", errs.LogText(err))
	})
	if err != nil {
		return errs.Wrap(err, errs.Unavailable,
			"PostgreSQL does not respond at COFFER_DATABASE_URL; run coffer doctor for details")
	}
	return nil
}

// many is the largest number of migration steps that the log lists one by one. Above it, the log
// reports progress only.
const many = 5

func (a *App) migrate(ctx context.Context) error {
	lastLogged := time.Now()
	_, err := a.DB.MigrateBy(ctx, pg.Migration{Progress: func(s pg.Step) {
		tellSystemd(stillMigrating)
		switch {
		case s.WaitingOn != nil:
			a.Log.Warn("waiting to migrate: another transaction holds a lock, such as a backup or a dump",
				"step", s.Name, "at", s.At, "of", s.Of)
		case s.Of <= many || s.At == s.Of || s.Took > time.Second || time.Since(lastLogged) > 5*time.Second:
			a.Log.Info("migrated", "step", s.Name, "at", s.At, "of", s.Of, "took", s.Took.Round(time.Millisecond))
			lastLogged = time.Now()
		}
	}})
	return err
}

// fillIn fills values that are missing in rows from an archive of a development version. It also
// stores the workflows that this version ships.
func (a *App) fillIn(ctx context.Context) error {
	filled, err := a.Books.FillPayees(ctx)
	if err != nil {
		return err
	}
	if filled > 0 {
		a.Log.Info("grouped wordings by payee", "wordings", filled)
	}
	if _, err = a.Journal.FillFacts(ctx); err != nil {
		return err
	}
	shipped, err := a.Workflows.FillPresets(ctx)
	if err != nil {
		return err
	}
	if shipped > 0 {
		a.Log.Info("stored shipped workflows", "texts", shipped)
	}
	return nil
}

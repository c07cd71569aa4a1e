package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/settings"
)

// around is what doctor reads from the database about PostgreSQL and the household.
type around struct {
	Max      int    `db:"max"`      // the database's limit of connections
	Reserved int    `db:"reserved"` // connections that only superusers can use
	Zone     string `db:"zone"`
	Bytes    int64  `db:"bytes"`
}

// surroundings checks connections, time zone, disk and backups.
func (a *App) surroundings(ctx context.Context, d *Diagnosis, note func(what, state, mend string)) {
	r, err := pg.One[around](ctx, a.DB, `
		select current_setting('max_connections')::int as max,
			current_setting('superuser_reserved_connections')::int as reserved,
			(select time_zone from setting) as zone, pg_database_size(current_database()) as bytes`)
	if err != nil {
		note("database", "does not say how it is set up: "+pingFault(err), "check the rights of the database user")
		return
	}
	own := a.Config.DatabaseMaxConns
	if own == 0 {
		own = 10
	}
	if free := r.Max - r.Reserved; own+1 > free {
		note("connections", fmt.Sprintf("COFFER_DATABASE_MAX_CONNS is %d, and PostgreSQL takes %d in all", own, free),
			"set COFFER_DATABASE_MAX_CONNS lower, or max_connections of PostgreSQL higher")
	} else {
		d.well("connections", "at most %d of PostgreSQL's %d", own+1, free)
	}
	if _, err := time.LoadLocation(r.Zone); err != nil {
		note("time zone", r.Zone+" is unknown on this machine", "install the time zones of the system (tzdata)")
	} else {
		d.well("time zone", "%s", r.Zone)
	}
	if a.DB.Full() {
		note("disk", "the database's disk is full", "free up space")
	} else {
		d.well("disk", "the database takes %d MB", r.Bytes/1_000_000)
	}
	a.checkBackups(ctx, d, note)
}

// checkBackups checks when the last backup was made and whether the next one is possible.
func (a *App) checkBackups(ctx context.Context, d *Diagnosis, note func(what, state, mend string)) {
	if dir := a.Config.BackupDir; dir != "" {
		if info, err := os.Stat(filepath.Clean(dir)); err == nil && !info.IsDir() {
			note("backups", "COFFER_BACKUP_DIR is not a folder", "set it to a folder that coffer can write to")
		}
	}
	b, err := settings.BackupOf(ctx, a.DB, a.Setting.Scheduled)
	switch {
	case err != nil:
		note("backups", "unknown: "+pingFault(err), "check the rights of the database user")
	case b.LastAt == nil:
		note("backups", "coffer has made none", "set COFFER_BACKUP_DIR, or run coffer backup every night; if you "+
			"back up PostgreSQL itself, all is well")
	case b.Due:
		note("backups", "the last one is from "+b.LastAt.String(), "look at the log of the backup, or set "+
			"COFFER_BACKUP_EVERY to how often you make one")
	default:
		d.well("backups", "the last one is from %s", b.LastAt)
	}
}

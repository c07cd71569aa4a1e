package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"coffer/internal/archive"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"coffer/internal/settings"
)

const (
	// backupEvery is the default if a program builds the Config itself.
	backupEvery = 24 * time.Hour
	backupKeep  = 30
	// backupPause is the longest that a server waits after a failed backup before it tries again.
	backupPause = 15 * time.Minute
)

// every returns the time between backups.
func (c Config) every() time.Duration {
	if c.BackupEvery == 0 {
		return backupEvery
	}
	return c.BackupEvery
}

// backupLock returns how backups are encrypted, unless a command says otherwise. Public keys come
// first, because the passphrase may be set only for restoring older backups.
func (c Config) backupLock() archive.Lock {
	if len(c.BackupRecipients) > 0 {
		return archive.Lock{Recipients: c.BackupRecipients}
	}
	return archive.Lock{Passphrase: c.BackupPassphrase.Reveal()}
}

// stamp is the time format in backup file names.
const stamp = "20060102T150405Z"

// ours matches the names of scheduled backups. Sorted by name, they are in the order of their
// times. Files with other names are never deleted.
var ours = regexp.MustCompile(`^coffer-\d{8}T\d{6}Z\.age$`)

// unfinished matches the names of backups that a server is writing, or was writing when it was
// killed.
var unfinished = regexp.MustCompile(`^\.coffer-\d{8}T\d{6}Z(-before-schema-\d+)?\.age\.\d+$`)

// unfinishedFor is how long after its last write an unfinished file counts as abandoned.
const unfinishedFor = 24 * time.Hour

// backupTasks returns the timed work of backups. If several servers have a backup folder, a lock in
// the database decides which of them makes the backup.
func (a *App) backupTasks() []schedule.Task {
	if a.Config.BackupDir == "" {
		return nil
	}
	// After a failed backup, the earliest time of the next try.
	var after atomic.Pointer[time.Time]
	return []schedule.Task{{
		Name: "backup", Fault: "no backup was made; coffer doctor says when the last one was",
		Next: func(ctx context.Context, q pg.Querier) (time.Duration, error) {
			left, err := settings.NextBackup(ctx, q, a.Config.every())
			if t := after.Load(); t != nil {
				left = max(left, time.Until(*t))
			}
			return left, err
		},
		Do: func(ctx context.Context) error {
			err := a.scheduledBackup(ctx)
			if err != nil {
				after.Store(new(time.Now().Add(min(a.Config.every(), backupPause))))
			}
			return err
		},
	}}
}

// scheduledBackup makes a backup unless another server is making one or has just made one.
func (a *App) scheduledBackup(ctx context.Context) error {
	_, err := archive.IfFree(ctx, a.DB, func(ctx context.Context) error {
		left, err := settings.NextBackup(ctx, a.DB, a.Config.every())
		if err != nil || left > 0 {
			return err
		}
		if err := a.backUpInto(ctx, "coffer-"+time.Now().UTC().Format(stamp)+".age", true); err != nil {
			return err
		}
		return a.pruneBackups()
	})
	return err
}

// backUpBefore makes a backup of a database that is about to be migrated, because a migration
// cannot be undone.
func (a *App) backUpBefore(ctx context.Context) error {
	at, err := a.DB.SchemaVersion(ctx)
	if err != nil || at >= a.DB.Newest() { // another server has migrated it in the meantime
		return err
	}
	name := fmt.Sprintf("coffer-%s-before-schema-%d.age", time.Now().UTC().Format(stamp), a.DB.Newest())
	if err := a.backUpInto(ctx, name, false); err != nil {
		return errs.Wrap(err, errs.Unavailable, "the database was not migrated, because the backup before it "+
			"failed (%s): make COFFER_BACKUP_DIR writable with enough room, or unset it if you have made "+
			"a backup yourself",
			errs.LogText(err))
	}
	return nil
}

func (a *App) backUpInto(ctx context.Context, name string, scheduled bool) error {
	if err := os.MkdirAll(a.Config.BackupDir, 0o700); err != nil {
		return errs.New(errs.ValidationError, "cannot write to COFFER_BACKUP_DIR: %v", err)
	}
	path := filepath.Join(a.Config.BackupDir, name)
	m, err := a.Archive.Backup(ctx, path, archive.Way{
		Lock: a.Config.backupLock(), Scheduled: scheduled, Every: a.Config.every(),
	}, nil)
	if err != nil {
		return err
	}
	a.Log.Info("backup written and verified", "file", path, "transactions", m.Transactions(), "schema", m.Schema)
	return nil
}

// pruneBackups deletes the oldest scheduled backups, and unfinished files that killed servers left.
func (a *App) pruneBackups() error {
	files, err := os.ReadDir(a.Config.BackupDir)
	if err != nil {
		return fmt.Errorf("old backups not deleted: %w", err)
	}
	var names []string
	for _, f := range files {
		switch {
		case !f.Type().IsRegular():
		case ours.MatchString(f.Name()):
			names = append(names, f.Name())
		case unfinished.MatchString(f.Name()):
			info, err := f.Info()
			if err == nil && time.Since(info.ModTime()) > unfinishedFor {
				_ = os.Remove(filepath.Join(a.Config.BackupDir, f.Name())) // if this fails, the next backup tries again
			}
		}
	}
	keep := a.Config.BackupKeep
	if keep == 0 {
		keep = backupKeep
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-keep)] {
		if err := os.Remove(filepath.Join(a.Config.BackupDir, name)); err != nil {
			return fmt.Errorf("old backup not deleted: %w", err)
		}
	}
	return nil
}

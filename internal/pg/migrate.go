package pg

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"coffer/internal/errs"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is the table in which goose records the migrations of a database. Development
// versions before the first release used goose's default name, with other migrations under the same
// numbers.
const versionTable = "schema_version"

// ErrDevelopment is the error for a database that a development version from before the first
// release created.
var ErrDevelopment = errs.New(errs.Unavailable,
	"this database was created by a development version of coffer from before the first release and can't be "+
		"migrated: export it with that version (coffer export > coffer.zip), set COFFER_DATABASE_URL to a "+
		"new, empty database, and import it with this version (coffer import coffer.zip)")

// Migrations returns the migrations that this program contains. They only go forward, in the order
// of their numbers.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return sub
}

// Newest returns the number of the last migration that this program contains.
func Newest() int64 {
	n, err := newest(Migrations())
	if err != nil {
		panic(err) // the files are embedded at build time
	}
	return n
}

func newest(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("no migrations: %w", err)
	}
	number, _, _ := strings.Cut(names[len(names)-1], "_")
	return strconv.ParseInt(number, 10, 64)
}

// SchemaVersion returns the number of the database's last migration, or 0 if it is empty. It fails
// with ErrDevelopment if the database's migrations are not those of a release.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	v, err := Value[int64](ctx, db, `select coalesce(max(version_id), 0) from schema_version`)
	if pe, ok := errors.AsType[*pgconn.PgError](err); !ok || pe.Code != "42P01" {
		return v, err
	}
	// The table does not exist: nothing was migrated, or a development version did it.
	old, err := Value[bool](ctx, db, `select to_regclass('goose_db_version') is not null`)
	if err == nil && old {
		err = ErrDevelopment
	}
	return 0, err
}

// Migrate brings the schema to Newest and returns the steps that it took. Several servers may start
// at once: one migrates, and the others wait for it.
func (db *DB) Migrate(ctx context.Context) ([]string, error) {
	return db.MigrateFiles(ctx, Migrations())
}

// MigrateFiles is Migrate with the given migrations instead of the program's own.
func (db *DB) MigrateFiles(ctx context.Context, files fs.FS) ([]string, error) {
	patient, err := db.patient(ctx)
	if err != nil {
		return nil, err
	}
	defer patient.Close()
	return patient.runFiles(ctx, files)
}

// patient returns the same database with separate connections that wait for locks without a
// timeout: a lock may be held by another server that migrates, or by calls of servers that still
// run. The connections are opened on use.
func (db *DB) patient(ctx context.Context) (*DB, error) {
	cfg := db.Config()
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["lock_timeout"] = "0"
	return newDB(ctx, cfg)
}

func (db *DB) runFiles(ctx context.Context, files fs.FS) ([]string, error) {
	last, err := newest(files)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	// The common case costs one query. Taking goose's lock on every start would make replicas queue
	// for nothing.
	at, err := db.SchemaVersion(ctx)
	switch {
	case errors.Is(err, ErrDevelopment):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("read schema version: %w", err)
	case at == last:
		return nil, nil
	case at > last:
		return nil, fmt.Errorf("the database has schema %d, but this version of coffer supports up to %d: "+
			"start the newer version that migrated it", at, last)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 30))
	if err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	conn := stdlib.OpenDBFromPool(db.Pool)
	defer conn.Close() //nolint:errcheck // closes the wrapper only; the pool stays open
	p, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithSessionLocker(locker),
		goose.WithTableName(versionTable))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	results, err := p.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	names := make([]string, 0, len(results))
	for _, r := range results {
		names = append(names, fmt.Sprintf("%s (%s)", r.Source.Path, r.Duration.Round(time.Millisecond)))
	}
	return names, nil
}

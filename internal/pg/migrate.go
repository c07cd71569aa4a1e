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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the schema's steps, forward only, in the order of their numbers; but for the one that is written in Go.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return sub
}

// Newest is the number of the last migration that this program carries.
func Newest() int64 {
	names, err := fs.Glob(Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		panic("pg: no migrations embedded")
	}
	number, _, _ := strings.Cut(names[len(names)-1], "_")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(err)
	}
	return max(n, foldedVersion)
}

// SchemaVersion is the number of the last migration that the database has, 0 when it is empty.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	v, err := Value[int64](ctx, db, `select coalesce(max(version_id), 0) from goose_db_version`)
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == "42P01" { // no such table: nothing was ever migrated
		return 0, nil
	}
	return v, err
}

// A Step is a part of the schema that a library brings and keeps up to date itself, after our own migrations.
type Step struct {
	Name    string // with its version, so that another version has another name
	Pending func(context.Context, Querier) (bool, error)
	Run     func(context.Context, *DB) error
}

// Migrate brings the schema to Newest, then runs what is pending of the libraries' steps, and answers what it did. Several servers may start at once: one migrates, the others wait for it.
func (db *DB) Migrate(ctx context.Context, steps ...Step) ([]string, error) {
	names, err := db.migrateFiles(ctx)
	for _, s := range steps {
		if err != nil {
			return names, err
		}
		var ran bool
		if ran, err = db.runStep(ctx, s); ran {
			names = append(names, s.Name)
		}
	}
	return names, err
}

// stepLock keeps two servers from running libraries' steps at once.
const stepLock = 7205759403793

// runStep holds the lock on a connection of its own, because a library commits as it goes: PostgreSQL lets some changes of a schema be used only after that.
func (db *DB) runStep(ctx context.Context, s Step) (ran bool, err error) {
	if pending, err := s.Pending(ctx, db); err != nil || !pending {
		return false, err
	}
	err = pgx.BeginFunc(ctx, db.Pool, func(tx pgx.Tx) error {
		if _, err := Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, stepLock); err != nil {
			return err
		}
		pending, err := s.Pending(ctx, db) // another server may have done it meanwhile
		if err != nil || !pending {
			return err
		}
		ran = true
		return s.Run(ctx, db)
	})
	if err != nil {
		return false, fmt.Errorf("migrate %s: %w", s.Name, err)
	}
	return ran, nil
}

func (db *DB) migrateFiles(ctx context.Context) ([]string, error) {
	// The common case costs one query; taking goose's lock on every start would make replicas queue for nothing.
	at, err := db.SchemaVersion(ctx)
	if err != nil {
		return nil, fmt.Errorf("read schema version: %w", err)
	}
	if at == Newest() {
		return nil, nil
	}
	if at > Newest() {
		return nil, fmt.Errorf("the database has schema %d, this coffer knows %d: it is older than the one that migrated the database; start the newer one", at, Newest())
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 30))
	if err != nil {
		return nil, fmt.Errorf("migration lock: %w", err)
	}
	conn := stdlib.OpenDBFromPool(db.Pool)
	defer conn.Close() //nolint:errcheck // closes the wrapper only; the pool lives on
	p, err := goose.NewProvider(goose.DialectPostgres, conn, Migrations(), goose.WithSessionLocker(locker), goose.WithGoMigrations(foldedStep()))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	results, err := p.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	names := make([]string, 0, len(results))
	for _, r := range results {
		name := r.Source.Path
		if name == "" {
			name = fmt.Sprintf("%05d in Go", r.Source.Version)
		}
		names = append(names, fmt.Sprintf("%s (%s)", name, r.Duration.Round(time.Millisecond)))
	}
	return names, nil
}

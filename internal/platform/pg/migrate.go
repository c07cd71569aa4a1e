package pg

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"coffer/internal/platform/errs"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrDevelopment is the error for a database that a development version of coffer migrated. Such a
// database has migrations that no release contains.
var ErrDevelopment = errs.New(errs.Unavailable,
	"this database was migrated by a development version of coffer, and this version can't use it: export it "+
		"with the version that migrated it (coffer export > coffer.zip), set COFFER_DATABASE_URL to a new, empty "+
		"database, and import it with this version (coffer import coffer.zip)")

// Migrations returns the migrations that this program contains. They only go forward, in the order
// of their numbers.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded at build time
	}
	return sub
}

// Newest returns the number of the program's last migration. The program works on the schema of
// that migration.
func (db *DB) Newest() int64 { return db.plan.last }

// SchemaVersion returns the number of the database's last migration, or 0 if it is empty. It fails
// with ErrDevelopment if one of the database's migrations differs from the program's migration with
// the same number.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	return db.plan.reached(ctx, db)
}

// A Migration says how far to migrate a database, and which function to notify. The zero value
// migrates to Newest.
type Migration struct {
	To int64 // the last migration to apply; 0 for all
	// Progress is called after each step, and each time that a step has to wait; it may be nil.
	Progress func(Step)
}

// A Step is one step of a migration.
type Step struct {
	Name      string
	At, Of    int // its place among the steps of this run
	Took      time.Duration
	WaitingOn error // set while the step waits for a lock that another transaction holds
}

// Migrate brings the schema to Newest and returns the migrations that it applied. Several servers
// may start at the same time: one migrates, and the others wait for it.
func (db *DB) Migrate(ctx context.Context) ([]string, error) {
	return db.MigrateBy(ctx, Migration{})
}

// MigrateBy migrates as far as m says and returns the migrations that it applied.
func (db *DB) MigrateBy(ctx context.Context, m Migration) ([]string, error) {
	last := db.Newest()
	if m.To > 0 {
		last = m.To
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
	return db.steps(ctx, m, last)
}

const (
	// stepLocks is how long a step waits for a lock. Other statements queue behind the waiting
	// step, so the step gives up soon and tries again.
	stepLocks = 2 * time.Second
	// stepPause is the pause between two tries. Statements that queued behind the step run then.
	stepPause = time.Second
	// stepPatience is how long a step is tried. A dump or a backup of a large household holds its
	// locks for minutes.
	stepPatience = 30 * time.Minute
)

// steps applies the migrations up to the last one. A migration that runs in a transaction gives way
// to other transactions (see stepLocks). A migration without a transaction builds an index while
// others read and write, and it waits for locks without a limit.
func (db *DB) steps(ctx context.Context, m Migration, last int64) ([]string, error) {
	hasty, endHasty, err := db.migrator(ctx, stepLocks)
	if err != nil {
		return nil, err
	}
	defer endHasty()
	patient, endPatient, err := db.migrator(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer endPatient()
	var names []string
	for total := 0; ; {
		at, err := db.SchemaVersion(ctx)
		if err != nil {
			return names, err
		}
		todo := slices.DeleteFunc(hasty.ListSources(), func(s *goose.Source) bool {
			return s.Version <= at || s.Version > last
		})
		if len(todo) == 0 { // all are applied, perhaps by another server
			return names, nil
		}
		total = max(total, len(todo))
		s := Step{Name: todo[0].Path, At: total - len(todo) + 1, Of: total}
		by := hasty
		text, err := fs.ReadFile(db.plan.files, s.Name)
		if err == nil && bytes.Contains(text, []byte("+goose NO TRANSACTION")) {
			by = patient
		}
		done, err := takeStep(ctx, by, s, m.Progress)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return names, nil
		}
		if err != nil {
			return names, fmt.Errorf("migrate: step %d of %d, %s: %w", s.At, s.Of, s.Name, err)
		}
		s.Name, s.Took = done.Source.Path, done.Duration
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, s.Took.Round(time.Millisecond)))
		if m.Progress != nil {
			m.Progress(s)
		}
	}
}

// takeStep applies the next migration. While another transaction holds a lock that the migration
// needs, takeStep tries again.
func takeStep(ctx context.Context, by *goose.Provider, s Step, report func(Step)) (*goose.MigrationResult, error) {
	for began := time.Now(); ; {
		done, err := by.UpByOne(ctx)
		pe, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || pe.Code != lockTimedOut {
			return done, err
		}
		if time.Since(began) > stepPatience {
			return nil, errs.Wrap(err, errs.Unavailable, "another transaction has held a lock for %s: let the backup "+
				"or query that runs on this database end, then migrate again", stepPatience)
		}
		if s.WaitingOn = err; report != nil {
			report(s)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(stepPause + rand.N(stepPause)): //nolint:gosec // jitter, no secret
		}
	}
}

// migrator returns a goose provider with its own connections, and a function that closes them.
// Statements on them have no time limit, and wait for a lock as long as locks says; 0 means without
// limit. The connections are opened on use.
func (db *DB) migrator(ctx context.Context, locks time.Duration) (*goose.Provider, func(), error) {
	cfg := db.Config()
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["lock_timeout"] = fmt.Sprint(locks.Milliseconds())
	cfg.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	apart, err := newDB(ctx, cfg, db.plan)
	if err != nil {
		return nil, nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 3600), lock.WithUnlockTimeout(1, 30))
	if err != nil {
		apart.Close()
		return nil, nil, fmt.Errorf("migration lock: %w", err)
	}
	conn := stdlib.OpenDBFromPool(apart.Pool)
	end := func() {
		_ = conn.Close() // the wrapper
		apart.Close()
	}
	record, err := db.plan.record()
	if err != nil {
		end()
		return nil, nil, err
	}
	p, err := goose.NewProvider(goose.DialectCustom, conn, db.plan.files, goose.WithSessionLocker(locker),
		goose.WithStore(record))
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, end, nil
}

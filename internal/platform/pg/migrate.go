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

// ErrDevelopment is the error for a database that a development version of coffer migrated: steps
// that no release has.
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

// Newest returns the number of the last migration of the program, which is the schema that it works
// on.
func (db *DB) Newest() int64 { return db.plan.last }

// SchemaVersion returns the number of the database's last migration, or 0 if it is empty. It fails
// with ErrDevelopment if a migration of the database is not the program's of that number.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	return db.plan.reached(ctx, db)
}

// A Migration is how far a database is migrated, and who hears of it. The zero value brings it to
// Newest.
type Migration struct {
	To int64 // the last step to take; 0 for all
	// Said is called after each step, and each time that a step has to wait; nil for nobody.
	Said func(Step)
}

// A Step is one step of a migration.
type Step struct {
	Name      string
	At, Of    int // its place among the steps of this run
	Took      time.Duration
	WaitingOn error // the step has not run yet: it waits for a lock that another transaction holds
}

// Migrate brings the schema to Newest and returns the steps that it took. Several servers may start
// at once: one migrates, and the others wait for it.
func (db *DB) Migrate(ctx context.Context) ([]string, error) {
	return db.MigrateBy(ctx, Migration{})
}

// MigrateBy migrates as m says.
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
	// stepLocks is how long a step waits for a lock. Statements after it wait behind it, so it
	// gives up soon and tries again.
	stepLocks = 2 * time.Second
	// stepPause is between two tries; those who waited behind the step go on meanwhile.
	stepPause = time.Second
	// stepPatience is how long a step is tried. A dump or a backup of a large household holds its
	// locks for minutes.
	stepPatience = 30 * time.Minute
)

// steps takes the steps up to the last one. A step that is a transaction gives way to others (see
// stepLocks). One that is none builds an index beside readers and writers, and waits as long as it
// must.
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
		if len(todo) == 0 { // done, or another server has taken the rest
			return names, nil
		}
		total = max(total, len(todo))
		s := Step{Name: todo[0].Path, At: total - len(todo) + 1, Of: total}
		by := hasty
		text, err := fs.ReadFile(db.plan.files, s.Name)
		if err == nil && bytes.Contains(text, []byte("+goose NO TRANSACTION")) {
			by = patient
		}
		done, err := takeStep(ctx, by, s, m.Said)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return names, nil
		}
		if err != nil {
			return names, fmt.Errorf("migrate: step %d of %d, %s: %w", s.At, s.Of, s.Name, err)
		}
		s.Name, s.Took = done.Source.Path, done.Duration
		names = append(names, fmt.Sprintf("%s (%s)", s.Name, s.Took.Round(time.Millisecond)))
		if m.Said != nil {
			m.Said(s)
		}
	}
}

// takeStep takes the next step, again and again while another transaction holds a lock that it
// needs.
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

// migrator returns what migrates over separate connections, whose statements have no time limit and
// wait that long for a lock; 0 means as long as it takes. The connections are opened on use.
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

package pg_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	var ran sync.Map
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 2})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			steps, err := db.Migrate(t.Context())
			if err != nil {
				t.Errorf("replica %d: %v", i, err)
			}
			for _, s := range steps {
				name, _, _ := strings.Cut(s, " ")
				if _, twice := ran.LoadOrStore(name, i); twice {
					t.Errorf("%s ran twice", name)
				}
			}
		})
	}
	group.Wait()
	db, err := pg.Open(t.Context(), url, pg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if at, err := db.SchemaVersion(t.Context()); err != nil || at != db.Newest() {
		t.Fatalf("schema is at %d (%v), want %d", at, err, db.Newest())
	}
}

// with returns the program's migrations and others.
func with(t *testing.T, others map[string]string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for name, script := range others {
		files[name] = &fstest.MapFile{Data: []byte(script)}
	}
	names, err := fs.Glob(pg.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(pg.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

func open(t *testing.T, url string, files fs.FS) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 2, Migrations: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// Invented migrations have numbers far above those of the program.
const (
	later   = "90001_later.sql"
	indexed = "90002_indexed.sql"
)

var madeUp = map[string]string{
	later:   "-- +goose Up\ncreate table later (n int);\n",
	indexed: "-- +goose NO TRANSACTION\n-- +goose Up\ncreate index concurrently later_n on later (n);\n",
}

// The database records the hash of each migration in the transaction of its step.
func TestMigrationsAreRecorded(t *testing.T) {
	t.Parallel()
	ctx, files := t.Context(), with(t, madeUp)
	db := open(t, pgtest.EmptyURL(t), files)
	steps, err := db.Migrate(ctx)
	if err != nil || len(steps) != len(files) {
		t.Fatal(steps, err)
	}
	stored, err := pg.Values[string](ctx, db, `select sha256 from schema_version where version_id > 0 order by id`)
	if err != nil || len(stored) != len(files) {
		t.Fatal(stored, err)
	}
	for i, name := range steps {
		name, _, _ = strings.Cut(name, " ")
		if want := fmt.Sprintf("%x", sha256.Sum256(files[name].Data)); stored[i] != want {
			t.Errorf("%s: stored %s, want %s", name, stored[i], want)
		}
	}
	// A step that fails leaves no row.
	files["90003_wrong.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table half (n int);\ncreate table half (n int);\n")}
	if _, err := open(t, db.Config().ConnString(), files).Migrate(ctx); err == nil {
		t.Error("a wrong migration succeeded")
	}
	if at, err := db.SchemaVersion(ctx); err != nil || at != 90002 {
		t.Errorf("schema %d, %v", at, err)
	}
}

// A database with other migrations than the program's is rejected with instructions, and is not
// changed. TestMigrateRefusesNewer covers the database of a newer program.
func TestMigrateRefusesDevelopment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string // of the program that migrated the database
		change string            // an additional difference
		mend   string            // what makes the database usable again, to check the test itself
		names  string            // what the error names
	}{
		"the first ones": {
			change: `drop schema public cascade; create schema public;
				create table goose_db_version (version_id bigint not null); insert into goose_db_version values (0), (28)`,
			mend: `drop table goose_db_version`,
		},
		"no hashes": {
			change: `insert into schema_version (version_id, is_applied) select n, true from generate_series(3, 51) n;
				alter table schema_version drop column sha256`,
			mend: `drop schema public cascade; create schema public`,
		},
		"another migration": {
			change: `alter table schema_version add was text; update schema_version set was = sha256;
				update schema_version set sha256 = repeat('0', 64) where version_id = 2`,
			mend: `update schema_version set sha256 = was`, names: "00002_seed.sql",
		},
		"one without a hash": {
			change: `alter table schema_version add was text; update schema_version set was = sha256;
				update schema_version set sha256 = null where version_id = 1`,
			mend: `update schema_version set sha256 = was`, names: "00001_schema.sql",
		},
		"one too few": {
			files: madeUp, change: `delete from schema_version where version_id = 90001`,
			mend: `drop schema public cascade; create schema public`, names: later,
		},
		"one too many": {
			files:  madeUp,
			change: `insert into schema_version (version_id, is_applied, sha256) values (90000, true, '0')`,
			mend:   `delete from schema_version where version_id = 90000`, names: "number 90000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := open(t, pgtest.EmptyURL(t), with(t, c.files))
			if _, err := db.Migrate(ctx); err != nil {
				t.Fatal(err)
			}
			tables := func() string {
				list, err := pg.Values[string](ctx, db, `select relname::text from pg_class
					where relnamespace = 'public'::regnamespace order by 1`)
				if err != nil {
					t.Fatal(err)
				}
				return strings.Join(list, " ")
			}
			change := func(script string) {
				conn, err := db.Acquire(ctx)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Release()
				if err := conn.Conn().PgConn().Exec(ctx, script).Close(); err != nil {
					t.Fatal(err)
				}
			}
			change(c.change)
			before := tables()
			db.Reset() // the connections' knowledge of the tables is outdated
			if at, err := db.SchemaVersion(ctx); !errors.Is(err, pg.ErrDevelopment) {
				t.Errorf("schema %d, %v", at, err)
			}
			steps, err := db.Migrate(ctx)
			if !errors.Is(err, pg.ErrDevelopment) || len(steps) > 0 || !errs.Is(err, errs.Unavailable) {
				t.Errorf("migrated %q, %v", steps, err)
			}
			for _, word := range []string{"coffer export", "COFFER_DATABASE_URL", "coffer import", c.names} {
				if !strings.Contains(fmt.Sprint(err), word) {
					t.Errorf("%q does not contain %q", err, word)
				}
			}
			if after := tables(); after != before {
				t.Errorf("before %s, after %s", before, after)
			}
			change(c.mend)
			db.Reset()
			if _, err := db.Migrate(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// A program does not change the database of a newer program, and rejects it if an earlier migration
// differs.
func TestMigrateRefusesNewer(t *testing.T) {
	t.Parallel()
	ctx, files := t.Context(), with(t, madeUp)
	db := open(t, pgtest.EmptyURL(t), files)
	if _, err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	older := maps.Clone(files)
	delete(older, indexed)
	if at, err := open(t, db.Config().ConnString(), older).SchemaVersion(ctx); err != nil || at != 90002 {
		t.Errorf("schema %d, %v", at, err)
	}
	if _, err := open(t, db.Config().ConnString(), older).Migrate(ctx); err == nil ||
		!strings.Contains(err.Error(), "start the newer version") {
		t.Error(err)
	}
	older[later] = &fstest.MapFile{Data: []byte(madeUp[later] + "-- edited\n")}
	if _, err := open(t, db.Config().ConnString(), older).Migrate(ctx); !errors.Is(err, pg.ErrDevelopment) ||
		!strings.Contains(err.Error(), later) {
		t.Error(err)
	}
}

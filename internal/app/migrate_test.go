package app_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// laterMigration is a migration of the kind that the next release may contain. It works on the
// large tables, fills what it adds, and reads before it locks.
const laterMigration = `-- +goose Up
create table later (transaction_id uuid primary key, amount numeric(12,2) not null);
insert into later select id, -amount from transaction;
create index later_change on change (actor_name);
alter table transaction add column later text not null default 'none';
`

// straySchema creates a table only in a household that has comments.
const straySchema = `
-- +goose StatementBegin
do $$ begin if exists (select from comment) then create table stray (); end if; end $$;
-- +goose StatementEnd
`

// with returns the program's migrations, followed by the given ones.
func with(t *testing.T, scripts ...string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for i, script := range scripts {
		files[fmt.Sprintf("%05d_later.sql", newest(t)+int64(i)+1)] = &fstest.MapFile{Data: []byte(script)}
	}
	names, err := fs.Glob(pg.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		content, err := fs.ReadFile(pg.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	return files
}

// newest returns the number of the program's last migration.
func newest(t *testing.T) int64 {
	t.Helper()
	return slices.Max(numbers(t, pg.Migrations(), 0))
}

// released returns the dumps of released versions' databases. Each was created, filled and changed
// by the program of that version (TestWriteRelease), then written by pg_dump. A file's name is the
// number of its schema.
func released(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/releases/*.sql.gz")
	if err != nil || len(found) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	return found
}

func openDB(t *testing.T, url string) *pg.DB {
	t.Helper()
	return openWith(t, url, nil)
}

// openWith opens a database as a program with these migrations.
func openWith(t *testing.T, url string, files fs.FS) *pg.DB {
	t.Helper()
	db, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 4, Migrations: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// restore restores the database of that release.
func restore(t *testing.T, file string) (url string, db *pg.DB) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	url = pgtest.EmptyURL(t)
	db = openDB(t, url)
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Conn().PgConn().Exec(t.Context(), string(script)).Close(); err != nil {
		t.Fatal(err)
	}
	_ = conn.Conn().Close(t.Context()) // the script changed settings of this session, so close it
	conn.Release()
	want, _, _ := strings.Cut(filepath.Base(file), ".")
	if at, err := db.SchemaVersion(t.Context()); err != nil || fmt.Sprintf("%05d", at) != want {
		t.Fatalf("%s is at %d, %v", file, at, err)
	}
	return url, db
}

var dumpToken = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

// schema returns the schema as pg_dump writes it.
func schema(t *testing.T, url string) string {
	t.Helper()
	return dumpToken.ReplaceAllString(string(pgtest.Dump(t, url, "--schema-only")), "")
}

// installed returns the schema of a fresh install.
func installed(t *testing.T, files fs.FS) string {
	t.Helper()
	url := pgtest.EmptyURL(t)
	if _, err := openWith(t, url, files).Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return schema(t, url)
}

func sameSchema(t *testing.T, url, want string) {
	t.Helper()
	if got := schema(t, url); got != want {
		t.Errorf("the schema is not that of a fresh install\n%s", firstDifference(want, got))
	}
}

// numbers returns the numbers of the migrations after that one.
func numbers(t *testing.T, files fs.FS, after int64) (list []int64) {
	t.Helper()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		n, err := strconv.ParseInt(name[:5], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n > after {
			list = append(list, n)
		}
	}
	return list
}

// rowCounts returns a line that changes if a migration loses rows or money.
func rowCounts(t *testing.T, db *pg.DB) string {
	t.Helper()
	n, err := pg.Value[string](t.Context(), db, `
		select concat_ws(' ', (select count(*) from transaction), (select sum(amount) from transaction),
			(select count(*) from account), (select count(*) from change), (select count(*) from entry),
			(select count(*) from transaction_tag), (select count(*) from comment), (select count(*) from report),
			(select count(*) from token), (select count(*) from member))`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMigrateReleases migrates the database of every release to the newest schema. The schema
// equals that of a fresh install, all rows still exist, and the program works with it.
func TestMigrateReleases(t *testing.T) {
	t.Parallel()
	want := installed(t, pg.Migrations())
	for _, file := range released(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			url, db := restore(t, file)
			at, err := db.SchemaVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if at < db.Newest() && schema(t, url) == want {
				t.Error("control: there is nothing to migrate")
			}
			before := rowCounts(t, db)
			steps, err := db.Migrate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sameSchema(t, url, want)
			if after := rowCounts(t, db); after != before {
				t.Errorf("before %s, after %s", before, after)
			}
			w := newWorldOn(t, url, app.Config{})
			for _, path := range []string{
				"/transactions?limit=500", "/changes", "/transactions/summary", "/accounts",
				"/rules", "/connections", "/users",
			} {
				if r := w.send(t, exchange{method: "GET", path: "/api/v1" + path, key: w.key}); r.status != 200 ||
					path == "/changes" && !strings.Contains(r.body, `"reverts":"`) {
					t.Errorf("%s: %d %.300s", path, r.status, r.body)
				}
			}
			t.Logf("rows %s, %d steps: %s", before, len(steps), strings.Join(steps, ", "))
		})
	}
}

// TestMigrateLater: the comparisons of TestMigrateReleases accept a good migration after the newest
// one, and notice two bad ones.
func TestMigrateLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script             string
		otherRows, another bool // otherRows: rows are lost; another: the schema differs from a fresh install
	}{
		"good":         {script: laterMigration},
		"loses rows":   {script: laterMigration + `delete from comment;`, otherRows: true},
		"goes by rows": {script: laterMigration + straySchema, another: true},
	} {
		files := with(t, c.script)
		want := installed(t, files)
		for _, file := range released(t) {
			t.Run(name+" "+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				url, db := restore(t, file)
				if schema(t, url) == want {
					t.Error("control: there is nothing to migrate")
				}
				before := rowCounts(t, db)
				steps, err := openWith(t, url, files).Migrate(t.Context())
				if err != nil || !strings.Contains(strings.Join(steps, " "), "_later.sql") {
					t.Fatal(steps, err)
				}
				if after := rowCounts(t, db); (after != before) != c.otherRows {
					t.Errorf("before %s, after %s", before, after)
				}
				if got := schema(t, url); (got != want) != c.another {
					t.Errorf("the schema against that of a fresh install:\n%s", firstDifference(want, got))
				}
				if _, err := db.Migrate(t.Context()); err == nil ||
					!strings.Contains(err.Error(), "start the newer version") {
					t.Errorf("the program takes the schema of a newer one: %v", err)
				}
			})
		}
	}
}

// stall makes the step with that number wait after its statements, right before it is recorded and
// committed.
func stall(ctx context.Context, db *pg.DB, step int64) error {
	_, err := db.Exec(ctx, fmt.Sprintf(`
		create or replace function stall() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(4242); return new; end';
		create or replace trigger stall before insert on schema_version for each row
			when (new.version_id = %d) execute function stall()`, step))
	return err
}

// TestMigrateKilled ends the connection in the middle of each step, from an empty database and from
// every release. It then migrates again. Nothing is left half done, and the result is the same.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	files := with(t, laterMigration)
	want := installed(t, files)
	start := map[string]func(t *testing.T) (string, *pg.DB){"empty": func(t *testing.T) (string, *pg.DB) {
		t.Helper()
		url := pgtest.EmptyURL(t)
		db := openDB(t, url)
		// Create the table as goose does at the first start, so that stall can add a trigger to it.
		_, err := db.Exec(t.Context(),
			`create table schema_version (id integer primary key generated by default as identity, version_id bigint not null, is_applied boolean not null, tstamp timestamp not null default now(), sha256 text);
			insert into schema_version (version_id, is_applied) values (0, true)`)
		if err != nil {
			t.Fatal(err)
		}
		return url, db
	}}
	for _, file := range released(t) {
		start[filepath.Base(file)] = func(t *testing.T) (string, *pg.DB) {
			t.Helper()
			return restore(t, file)
		}
	}
	for name, begin := range start {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, db := begin(t)
			at, err := db.SchemaVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range numbers(t, files, at) {
				killed(t, db, url, files, step)
			}
			if _, err := db.Exec(t.Context(),
				`drop trigger stall on schema_version; drop function stall()`); err != nil {
				t.Fatal(err)
			}
			if _, err := openWith(t, url, files).Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			sameSchema(t, url, want)
			t.Logf("%d steps ended in the middle", len(numbers(t, files, at)))
		})
	}
}

// TestMigrateKilledIsNoticed is the control: a migration without a transaction is left half done,
// and running it again fails.
func TestMigrateKilledIsNoticed(t *testing.T) {
	t.Parallel()
	files := with(t, "-- +goose NO TRANSACTION\n"+laterMigration)
	url, db := restore(t, slices.Max(released(t)))
	for _, step := range numbers(t, files, newest(t)) {
		killed(t, db, url, files, step)
	}
	if _, err := openWith(t, url, files).Migrate(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "already exists") {
		t.Errorf("half a migration was not noticed: %v", err)
	}
}

// killed migrates until that step and ends the connection during the step.
func killed(t *testing.T, db *pg.DB, url string, files fs.FS, step int64) {
	t.Helper()
	ctx := t.Context()
	if err := stall(ctx, db, step); err != nil {
		t.Fatal(err)
	}
	holder, err := db.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	if _, err := holder.Exec(ctx, `select pg_advisory_lock(4242)`); err != nil {
		t.Fatal(err)
	}
	other := openWith(t, url, files) // stands for a server that is about to lose its connection
	done := make(chan error, 1)
	go func() {
		_, err := other.Migrate(ctx)
		done <- err
	}()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		n, err := pg.Value[int](ctx, db, `select count(pg_terminate_backend(pid)) from pg_locks
			where locktype = 'advisory' and not granted and objid = 4242
			and database = (select oid from pg_database where datname = current_database())`)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("step %d does not come", step)
		}
	}
	if err := <-done; err == nil {
		t.Errorf("step %d: a migration that lost its connection says that it succeeded", step)
	}
	if _, err := holder.Exec(ctx, `select pg_advisory_unlock(4242)`); err != nil {
		t.Fatal(err)
	}
	if at, err := db.SchemaVersion(ctx); err != nil || at >= step {
		t.Errorf("step %d was ended, and the schema is at %d, %v", step, at, err)
	}
}

// Readers wait at most two seconds while a large household migrates.
func TestMigrateLetsReadersRead(t *testing.T) {
	t.Parallel()
	rows := 100_000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		rows = 1_000_000
	}
	files := with(t, laterMigration)
	for _, file := range released(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			url, db := restore(t, file)
			grow(t, db, rows)
			began := time.Now()
			for table, slowest := range slowestReads(t, url, db, files) {
				if slowest > 2*time.Second {
					t.Errorf("a reader of %s waited %s", table, slowest)
				}
				t.Logf("%s: slowest read %s", table, slowest.Round(time.Millisecond))
			}
			t.Logf("%d transactions migrated in %s", rows, time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestMigrateLockIsNoticed is the control: the test notices a migration that locks a table for
// long, at that table and nowhere else.
func TestMigrateLockIsNoticed(t *testing.T) {
	t.Parallel()
	files := with(t, laterMigration+"lock table member in access exclusive mode;\nselect pg_sleep(3);\n")
	url, db := restore(t, slices.Max(released(t)))
	worst := slowestReads(t, url, db, files)
	if worst["member"] <= 2*time.Second || worst["job"] > 2*time.Second {
		t.Errorf("member was locked for 3 s: %v", worst)
	}
}

// slowestReads migrates while readers read, and returns how long the slowest read of each table
// took.
func slowestReads(t *testing.T, url string, db *pg.DB, files fs.FS) map[string]time.Duration {
	t.Helper()
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex
	worst := map[string]time.Duration{}
	for _, table := range []string{
		"transaction", "change", "entry", "account", "token", "connection", "member",
		"job",
	} {
		reader := openDB(t, url)
		group.Go(func() {
			var slowest time.Duration
			for stop.Err() == nil {
				began := time.Now()
				if _, err := pg.Value[int](context.WithoutCancel(stop), reader, `select count(*) from (select
					from `+table+` limit 10) x`); err != nil {
					t.Errorf("%s: %v", table, err)
					break
				}
				slowest = max(slowest, time.Since(began))
				time.Sleep(2 * time.Millisecond)
			}
			mu.Lock()
			defer mu.Unlock()
			worst[table] = slowest
		})
	}
	steps, err := openWith(t, url, files).Migrate(t.Context())
	cancel()
	group.Wait()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(strings.Join(steps, ", "))
	return worst
}

// grow copies the release's transactions and changes until there are that many.
func grow(t *testing.T, db *pg.DB, rows int) {
	t.Helper()
	conn, err := db.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	_, err = conn.Exec(t.Context(), fmt.Sprintf(`
		set statement_timeout = 0;
		set session_replication_role = replica; -- rows that were checked once already
		insert into transaction select r.* from transaction t,
			generate_series(1, %[1]d / (select count(*) from transaction)) n,
			jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'short_id',
				substr(md5(n || t.id::text), 1, 8), 'provider_id', t.provider_id || '-' || n, 'linked_id', null)) r
				on conflict do nothing;
		insert into change overriding system value select r.*
			from change c, generate_series(1, %[1]d / (select count(*) from change)) n,
			jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'short_id',
				substr(md5(n || c.id::text), 1, 8),
				'seq', nextval(pg_get_serial_sequence('change', 'seq')))) r where c.reverts is null
					on conflict do nothing;
		analyze;
		set session_replication_role = default;
		set statement_timeout = default`, rows))
	if err != nil {
		t.Fatal(err)
	}
	n, err := pg.Value[int](t.Context(), db, `select least((select count(*) from transaction),
		(select count(*) from change) * 2)`)
	if err != nil || n < rows*9/10 {
		t.Fatalf("only %d rows, %v", n, err)
	}
}

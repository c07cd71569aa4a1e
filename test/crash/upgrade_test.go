package crash

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

const (
	// mainImports and mainCall are the program's main file.
	mainImports = "import (\n"
	mainCall    = "	os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))\n"
	// laterFolder names the folder with the migrations of the later release.
	laterFolder = "TEST_MIGRATIONS"
	// laterLock is the advisory lock that the later release's migration takes before it is
	// committed, so that a test decides whether it is.
	laterLock = 4243
)

// release is the program as that release, with the migrations that it has.
func release(version string) []apptest.Mutant {
	const file = "cmd/coffer/main.go"
	return []apptest.Mutant{
		{File: file, Old: mainImports, New: mainImports + "\t\"context\"\n\t\"os/signal\"\n\t\"syscall\"\n"},
		{File: file, Old: mainCall, New: `	app.Version = "` + version + `"
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	config, err := app.Load()
	if err != nil {
		panic(err)
	}
	if folder := os.Getenv("` + laterFolder + `"); app.Version != "v0.1.0" {
		config.Migrations = os.DirFS(folder)
	}
	os.Exit(app.Execute(ctx, app.CommandLine(config, os.Stdin, os.Stdout, os.Stderr), os.Args[1:]))
`},
	}
}

// laterMigrations writes the program's migrations and one more, which rewrites every transaction.
func laterMigrations(t *testing.T, newest int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, pg.Migrations()); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`-- +goose Up
alter table transaction add column later text not null default '';
update transaction set later = md5(id::text);
select pg_advisory_xact_lock(%d);
`, laterLock)
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d_later.sql", newest+1)), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// An install is a program at its place on a machine, with its settings.
type install struct {
	program, backups string
	settings         []string
}

// put replaces the program as a package manager does: under another name first.
func (i *install) put(t *testing.T, program string) {
	t.Helper()
	from, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // only read
	to, err := os.OpenFile(i.program+".new", os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(i.program+".new", i.program); err != nil {
		t.Fatal(err)
	}
}

// command runs a command of the installed program on the database.
func (i *install) command(t *testing.T, database string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), i.program, args...)
	c.Env = append(append(os.Environ(), i.settings...), "COFFER_DATABASE_URL="+database)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// saved returns the backups before the migration, the oldest first.
func (i *install) saved(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(i.backups, "coffer-*-before-schema-*.age"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// unfinished returns the files of backups that were never finished.
func (i *install) unfinished(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(i.backups, ".coffer-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// columns are the tables that a backup holds and their columns, as a release has them.
func columns(t *testing.T, db *pg.DB) map[string]string {
	t.Helper()
	type table struct {
		Name    string `db:"name"`
		Columns string `db:"columns"`
	}
	all, err := pg.All[table](t.Context(), db, `select c.table_name::text as name,
			string_agg(quote_ident(c.column_name), ', ' order by c.column_name) as columns
		from information_schema.columns c join pg_tables t on t.tablename = c.table_name and t.schemaname = 'public'
		where c.table_schema = 'public' and c.table_name not in ('schema_version', 'backup', 'proof', 'proof_due',
			'sighting', 'sighting_due', 'export', 'export_part', 'attempt', 'ticket', 'device')
		group by 1`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, x := range all {
		out[x.Name] = x.Columns
	}
	return out
}

// hashes returns the hash of those columns of every row, by table.
func hashes(t *testing.T, db *pg.DB, tables map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, list := range tables {
		hash, err := pg.Value[string](t.Context(), db, `
			select count(*) || ' ' || md5(coalesce(string_agg(h, '' order by h), ''))
			from (select md5(row(`+list+`)::text) as h from `+name+`) x`)
		if err != nil {
			t.Fatal(name, err)
		}
		out[name] = hash
	}
	return out
}

func sameHashes(t *testing.T, when string, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s, %s: %s, and %s before", when, name, got[name], want[name])
		}
	}
}

// The next release replaces the program and is killed again and again while it makes its backup and
// migrates, and while its migration waits. There is a backup before the first step, the data stays
// the same, and the first release gets it back from the backup.
func TestKilledUpgrade(t *testing.T) {
	t.Parallel()
	began := time.Now()
	rows, kills := 1_000, 3
	if long() {
		rows, kills = 100_000, 20
	}
	first, next := apptest.Program(t, release("v0.1.0")...), apptest.Program(t, release("v0.2.0")...)
	dir := t.TempDir()
	here := &install{program: filepath.Join(dir, "coffer"), backups: filepath.Join(dir, "backups")}
	here.put(t, first)
	url := pgtest.URL(t)
	look, err := pg.Open(t.Context(), url, pg.Options{MaxConns: 2, StatementTimeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(look.Close)
	older := look.Newest()
	here.settings = []string{
		"COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "COFFER_BACKUP_DIR=" + here.backups,
		"COFFER_BACKUP_PASSPHRASE=five random words are good", laterFolder + "=" + laterMigrations(t, older),
	}
	here.command(t, url, "dev", "seed", "--raw", "--transactions", fmt.Sprint(rows))
	h := open(t, here.program, url, here.settings...)
	var d diligent
	for n := range 20 {
		d.write(t.Context(), h, fmt.Sprintf("crash-%d", n))
	}
	h.runs(t, "v0.1.0")
	h.server.Stop(t)
	tables := columns(t, look)
	before := hashes(t, look, tables)

	here.put(t, next)
	holder, err := look.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release()
	if _, err := holder.Exec(t.Context(), `select pg_advisory_lock($1)`, laterLock); err != nil {
		t.Fatal(err)
	}
	moments := []struct {
		what string
		is   func() (bool, error)
	}{
		{"in the backup", func() (bool, error) { return len(here.unfinished(t)) > 0, nil }},
		{"in the step", func() (bool, error) {
			return pg.Value[bool](t.Context(), look, `select exists (select from pg_stat_activity
				where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
				and (query like '%set later%' or query like '%pg_advisory_xact_lock%'))`)
		}},
		{"before the commit", func() (bool, error) {
			return pg.Value[bool](t.Context(), look, `select exists (select from pg_locks where locktype = 'advisory'
				and not granted and objid = $1
				and database = (select oid from pg_database where datname = current_database()))`, laterLock)
		}},
	}
	dice := rand.New(rand.NewPCG(5, uint64(began.UnixNano())))
	for n := range kills {
		for _, file := range here.unfinished(t) { // of the kill before
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.server.Launch(); err != nil {
			t.Fatal(err)
		}
		m := moments[n%len(moments)]
		await(t, m.what, m.is)
		if n >= len(moments) {
			time.Sleep(time.Duration(dice.IntN(2000)) * time.Millisecond)
		}
		if err := h.server.Kill(); err != nil {
			t.Fatal(err)
		}
		await(t, "its connections end", func() (bool, error) {
			return pg.Value[bool](t.Context(), look, `select not exists (select from pg_stat_activity
				where datname = current_database() and pid <> pg_backend_pid() and application_name like 'coffer%'
				and query like '%later%')`)
		})
		if at, err := look.SchemaVersion(t.Context()); err != nil || at != older {
			t.Fatalf("killed %s: schema %d, %v", m.what, at, err)
		}
		if n%len(moments) > 0 && len(here.saved(t)) == 0 {
			t.Errorf("killed %s, and there is no backup", m.what)
		}
		sameHashes(t, "killed "+m.what, before, hashes(t, look, tables))
	}
	if _, err := holder.Exec(t.Context(), `select pg_advisory_unlock($1)`, laterLock); err != nil {
		t.Fatal(err)
	}
	upgrade := time.Now()
	here.command(t, url, "migrate") // a server would go on with its timed work
	took := time.Since(upgrade)
	n, err := pg.Value[int](t.Context(), look, `select count(*) from transaction where later = md5(id::text)`)
	if err != nil || n < rows {
		t.Errorf("%d of %d rows are rewritten, %v", n, rows, err)
	}
	sameHashes(t, "upgraded", before, hashes(t, look, tables))
	if err := h.server.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.runs(t, "v0.2.0")
	h.server.Stop(t)

	files := here.saved(t)
	if len(files) == 0 {
		t.Fatal("no backup was made before the migration")
	}
	here.put(t, first)
	for _, file := range []string{files[0], files[len(files)-1]} {
		old := pgtest.EmptyURL(t)
		here.command(t, old, "restore", file)
		back, err := pg.Open(t.Context(), old, pg.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(back.Close)
		sameHashes(t, "restored", before, hashes(t, back, tables))
		restored := open(t, here.program, old, here.settings...)
		restored.runs(t, "v0.1.0")
		restored.server.Stop(t)
	}
	t.Logf("%d kills in %.0f s, %d transactions, %d tables; %d backups before the migration; the upgrade that was not "+
		"killed took %v", kills, time.Since(began).Seconds(), rows, len(tables), len(files), round(took))
}

// runs checks that the server is ready, and of that version.
func (h *house) runs(t *testing.T, version string) {
	t.Helper()
	status, answer, err := h.send(t.Context(), http.MethodGet, "/health/ready", "")
	if err != nil || status != http.StatusOK || !strings.Contains(string(answer), `"version":"`+version+`"`) {
		t.Errorf("%s is not ready: %d %s %v", version, status, answer, err)
	}
}

func await(t *testing.T, what string, is func() (bool, error)) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		yes, err := is()
		if err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
	}
	t.Fatalf("%s: that does not come", what)
}

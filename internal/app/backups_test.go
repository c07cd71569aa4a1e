package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

const backupPassphrase = "five random words are good"

// keyOf returns an encryption key that repeats one letter.
func keyOf(letter string) seal.Secret {
	return seal.NewSecret(map[string]string{
		"a": "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=", "b": "YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI=",
	}[letter])
}

// runCommand runs a command on the database, and returns what it printed.
func runCommand(ctx context.Context, config app.Config, args ...string) (out, fail string, code int) {
	var o, f bytes.Buffer
	cmd := app.CommandLine(config, strings.NewReader(""), &o, &f) //nolint:contextcheck // Execute hands it on
	code = app.Execute(ctx, cmd, args)
	return o.String(), f.String(), code
}

func backupConfig(database string) app.Config {
	return app.Config{DatabaseURL: seal.NewSecret(database), BackupPassphrase: seal.NewSecret(backupPassphrase)}
}

// counts returns the number of rows in each table that a backup contains.
func counts(t *testing.T, db *pg.DB) map[string]int64 {
	t.Helper()
	names, err := pg.Values[string](t.Context(), db, `select tablename::text from pg_tables where schemaname = 'public'
		and tablename not in ('schema_version', 'backup', 'proof', 'proof_due', 'sighting', 'sighting_due', 'export',
			'export_part', 'attempt', 'ticket', 'device')`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, name := range names {
		if out[name], err = pg.Value[int64](t.Context(), db, `select count(*) from `+name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestBackupOfOlderSchemas: the program can back up a database of every older schema. A restore
// recreates that schema and then migrates it, with the same result as migrating the database
// itself.
func TestBackupOfOlderSchemas(t *testing.T) {
	t.Parallel()
	// The first made-up migration adds a column and fills rows. The second one drops a column and
	// renames another.
	files := with(t, laterMigration,
		"-- +goose Up\nalter table transaction drop column later;\nalter table comment rename column content to words;\n")
	of := func(url string) app.Config {
		c := backupConfig(url)
		c.Migrations = files
		return c
	}
	all := numbers(t, files, 1)
	want := installed(t, files)
	for _, at := range all[:len(all)-1] {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			url, _ := restore(t, "testdata/releases/00002.sql.gz")
			db := openWith(t, url, files)
			if _, err := db.MigrateBy(t.Context(), pg.Migration{To: at}); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "older.age")
			if out, fail, code := runCommand(t.Context(), of(url), "backup", file); code != 0 {
				t.Fatal(out, fail)
			}
			if now, err := db.SchemaVersion(t.Context()); err != nil || now != at {
				t.Errorf("the backup moved the schema from %d to %d, %v", at, now, err)
			}
			empty := pgtest.EmptyURL(t)
			if out, fail, code := runCommand(t.Context(), of(empty), "restore", file); code != 0 {
				t.Fatal(out, fail)
			}
			sameSchema(t, empty, want)
			if out, fail, code := runCommand(t.Context(), of(url), "migrate"); code != 0 {
				t.Fatal(out, fail)
			}
			got, control := counts(t, openDB(t, empty)), counts(t, db)
			for name, n := range control {
				if got[name] != n {
					t.Errorf("%s: %d rows, and %d in the database that was migrated itself", name, got[name], n)
				}
			}
			if control["transaction"] == 0 || len(control) < 40 {
				t.Errorf("the control has too little in it: %v", control)
			}
			// A restore into a database that already has a schema is refused.
			other := pgtest.EmptyURL(t)
			if _, err := openWith(t, other, files).Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, fail, code := runCommand(t.Context(), of(other), "restore", file); code == 0 ||
				!strings.Contains(fail, "new, empty database") {
				t.Errorf("restored into another schema: %s", fail)
			}
		})
	}
}

// TestBackupBeforeMigration: coffer serve and coffer migrate make a backup before the first
// migration step. If the backup fails, they do not migrate.
func TestBackupBeforeMigration(t *testing.T) {
	t.Parallel()
	older := newest(t)
	url, db := restore(t, slices.Max(released(t)))
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	config, dir := backupConfig(url), t.TempDir()
	config.Migrations = with(t, laterMigration)
	config.BackupDir = filepath.Join(dir, "no folder")
	if err := os.WriteFile(config.BackupDir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, fail, code := runCommand(t.Context(), config, "migrate")
	if code == 0 || !strings.Contains(fail, "was not migrated, because the backup before it failed") {
		t.Errorf("migrated without a backup: %s", fail)
	}
	if at, err := db.SchemaVersion(t.Context()); err != nil || at != older {
		t.Fatalf("schema %d, %v", at, err)
	}
	config.BackupDir = filepath.Join(dir, "backups")
	if out, fail, code := runCommand(t.Context(), config, "migrate"); code != 0 {
		t.Fatal(out, fail)
	}
	if at, err := db.SchemaVersion(t.Context()); err != nil || at != older+1 {
		t.Fatalf("schema %d, %v", at, err)
	}
	files, err := filepath.Glob(filepath.Join(config.BackupDir, "*"))
	if err != nil || len(files) != 1 || !strings.Contains(files[0], fmt.Sprintf("-before-schema-%d.age", older+1)) {
		t.Fatalf("%v, %v", files, err)
	}
	// The program before the migration can restore this backup.
	before := pgtest.EmptyURL(t)
	if out, fail, code := runCommand(t.Context(), backupConfig(before), "restore", files[0]); code != 0 {
		t.Error(out, fail)
	}
	if at, err := openDB(t, before).SchemaVersion(t.Context()); err != nil || at != older {
		t.Errorf("schema %d, %v", at, err)
	}
}

// TestMigrateYields: a migration step that waits for a long-running reader gives up its place for a
// while. Otherwise other readers would wait behind the step.
func TestMigrateYields(t *testing.T) {
	t.Parallel()
	files := with(t, laterMigration+"lock table account in access exclusive mode;\n")
	url, db := restore(t, slices.Max(released(t)))
	if _, err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader := openDB(t, url)
	tx, err := reader.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pg.Value[int](t.Context(), tx, `select count(*) from account`); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{}, 1000)
	done := make(chan error, 1)
	go func() {
		_, err := openWith(t, url, files).MigrateBy(t.Context(), pg.Migration{Progress: func(s pg.Step) {
			if s.WaitingOn != nil {
				waited <- struct{}{}
			}
		}})
		done <- err
	}()
	other, slowest := openDB(t, url), time.Duration(0)
	for range 3 {
		<-waited
		began := time.Now()
		if _, err := pg.Value[int](t.Context(), other, `select count(*) from account`); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 4*time.Second {
		t.Errorf("a reader behind the step waited %s", slowest)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestScheduledBackups: if two servers have a backup folder, only one of them makes each backup. It
// deletes the oldest backups, and files of backups that never finished.
func TestScheduledBackups(t *testing.T) {
	t.Parallel()
	url, dir := pgtest.URL(t), t.TempDir()
	const abandoned, writing = ".coffer-20260101T000000Z-before-schema-3.age.123", ".coffer-20260103T000000Z.age.456"
	for _, name := range []string{
		"coffer-20260101T000000Z.age", "coffer-20260102T000000Z.age", "mine.age", abandoned, writing,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := time.Now().AddDate(0, 0, -2)
	if err := os.Chtimes(filepath.Join(dir, abandoned), before, before); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c := backupConfig(url)
		c.Listen, c.BackupDir, c.BackupKeep, c.BackupEvery = "127.0.0.1:0", dir, 2, time.Hour
		apptest.Serve(t, func(ctx context.Context, ready func(string)) error {
			a, err := app.Build(ctx, c, slog.New(slog.DiscardHandler))
			if err != nil {
				return err
			}
			return a.Serve(ctx, ready)
		})
	}
	db := openDB(t, url)
	deadline := time.Now().Add(time.Minute)
	for n := 0; n == 0; time.Sleep(50 * time.Millisecond) {
		var err error
		if n, err = pg.Value[int](t.Context(), db, `select count(*) from backup where scheduled`); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("no backup is made")
		}
	}
	w := newWorldOn(t, url, app.Config{})
	overview := w.send(t, exchange{method: "GET", path: "/api/v1/overview", key: w.key})
	if !strings.Contains(overview.body, `"due":false`) || !strings.Contains(overview.body, `"verified_at":"`) {
		t.Errorf("the overview does not know of it: %.300s", overview.body)
	}
	// The second server had the same chance to make the backup. Ask both again, as the clock would:
	// no further backup is due.
	for _, c := range []int{1, 2} {
		if err := w.BackupNow(t.Context(), dir); err != nil {
			t.Fatal(c, err)
		}
	}
	if n, err := pg.Value[int](t.Context(), db, `select count(*) from backup`); err != nil || n != 1 {
		t.Errorf("%d backups were made, %v", n, err)
	}
	left, err := fs.Glob(os.DirFS(dir), "*")
	if err != nil || len(left) != 4 || slices.Contains(left, "coffer-20260101T000000Z.age") ||
		slices.Contains(left, abandoned) || !slices.Contains(left, "mine.age") || !slices.Contains(left, writing) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestBackupIntoPipe: coffer backup can write into a pipe. Two unencrypted backups of the same rows
// are almost the same bytes. Both kinds can be restored and verified.
func TestBackupIntoPipe(t *testing.T) {
	t.Parallel()
	url, dir := pgtest.URL(t), t.TempDir()
	w := newWorldOn(t, url, app.Config{})
	w.fillBooks(t)
	var first, second string
	for i, into := range []*string{&first, &second} {
		out, fail, code := runCommand(t.Context(), backupConfig(url), "backup", "-", "--plain", "--uncompressed")
		if code != 0 || !strings.Contains(fail, "written: ") {
			t.Fatal(i, fail)
		}
		*into = out
	}
	same := 0
	for i := range min(len(first), len(second)) {
		if first[i] == second[i] {
			same++
		}
	}
	if len(first) != len(second) || same < len(first)*99/100 {
		t.Errorf("of %d and %d bytes only %d are the same", len(first), len(second), same)
	}
	sealed, fail, code := runCommand(t.Context(), backupConfig(url), "backup", "-")
	if code != 0 || !strings.HasPrefix(sealed, "age-encryption.org") {
		t.Fatal(fail)
	}
	for name, content := range map[string]string{"plain.zip": first, "sealed.age": sealed} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, fail, code := runCommand(t.Context(), backupConfig(pgtest.EmptyURL(t)), "restore", file); code != 0 {
			t.Error(name, out, fail)
		}
		if out, fail, code := runCommand(t.Context(), backupConfig(url), "backup", "verify", file); code != 0 ||
			!strings.Contains(out, "restored on trial, every row is the same") {
			t.Error(name, out, fail)
		}
	}
	if n, err := pg.Value[int](t.Context(), w.DB, `select count(*) filter (where verified_at is not null) from backup`); err != nil || n != 2 {
		t.Errorf("%d backups count as verified, %v", n, err)
	}
	if n, err := pg.Value[int](t.Context(), w.DB, `select count(*) from pg_database where datname like 'coffer_verify_%'
		and datname not in (select datname from pg_stat_activity where datname is not null)`); err != nil || n > 0 {
		t.Errorf("%d databases were left behind, %v", n, err)
	}
	damaged := filepath.Join(dir, "damaged.zip")
	at := strings.Index(first, "needs-review")
	if err := os.WriteFile(damaged, []byte(first[:at]+"N"+first[at+1:]), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _, code := runCommand(t.Context(), backupConfig(url), "backup", "verify", damaged); code == 0 {
		t.Error("a damaged file was verified", out)
	}
}

// TestForgetLostKey: after the encryption key is lost, the command lists what it sealed and clears
// that on request. Everything else stays.
func TestForgetLostKey(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	config := backupConfig(url)
	config.EncryptionKey = keyOf("a")
	w := newWorldOn(t, url, config)
	w.fillBooks(t)
	w.synced(t)
	for _, x := range []exchange{
		{method: "POST", path: "/api/v1/notifications/endpoints", body: `{"url": "https://example.com/hook"}`},
		{method: "PUT", path: "/api/v1/settings/models", body: `{"provider": "anthropic", "key": "sk-secret"}`},
	} {
		x.key = w.key
		if r := w.send(t, x); r.status >= 300 {
			t.Fatal(r.status, r.body)
		}
	}
	if out, fail, code := runCommand(t.Context(), config, "doctor"); code != 0 {
		t.Fatal(out, fail)
	}
	before, err := pg.Value[int](t.Context(), w.DB, `select count(*) from transaction`)
	if err != nil {
		t.Fatal(err)
	}
	config.EncryptionKey = keyOf("b")
	out, _, code := runCommand(t.Context(), config, "doctor")
	if code == 0 || !strings.Contains(out, "coffer key forget") {
		t.Errorf("doctor names no way on: %s", out)
	}
	out, fail, code := runCommand(t.Context(), config, "key", "forget")
	if code != 0 || !strings.Contains(out, "Nothing was changed") || !strings.Contains(out, "coffer endpoint rotate") ||
		!strings.Contains(out, "coffer model set") {
		t.Errorf("%s %s", out, fail)
	}
	if _, _, code := runCommand(t.Context(), config, "doctor"); code == 0 {
		t.Error("a look has changed something")
	}
	if out, fail, code := runCommand(t.Context(), config, "key", "forget", "--old-key-is-lost"); code != 0 {
		t.Fatal(out, fail)
	}
	if out, fail, code := runCommand(t.Context(), config, "doctor"); code != 0 {
		t.Error(out, fail)
	}
	if out, fail, code := runCommand(t.Context(), config, "key", "rotate"); code != 0 {
		t.Error("something can still not be opened:", out, fail)
	}
	after, err := pg.Value[int](t.Context(), w.DB, `select count(*) from transaction`)
	if err != nil || after != before || before == 0 {
		t.Errorf("%d transactions, before %d, %v", after, before, err)
	}
	if n, err := pg.Value[int](t.Context(), w.DB, `select count(*) from connection where credentials is not null`); err != nil || n > 0 {
		t.Errorf("%d connections look alive, %v", n, err)
	}
	// Values that the current key can decrypt are not lost.
	if out, _, _ := runCommand(t.Context(), config, "key", "forget"); !strings.Contains(out, "Nothing has to be entered again") {
		t.Error(out)
	}
}

// TestReadyBesideNewerSchema: a server continues when another server has migrated the database to a
// newer schema, and its health check reports that.
func TestReadyBesideNewerSchema(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{})
	ready := exchange{method: "GET", path: "/api/v1/health/ready"}
	if r := w.send(t, ready); r.status != 200 || !strings.Contains(r.body, `"migrations":"ok"`) {
		t.Error(r.status, r.body)
	}
	if _, err := w.DB.Exec(t.Context(), `insert into schema_version (version_id, is_applied) values ($1, true)`,
		newest(t)+1); err != nil {
		t.Fatal(err)
	}
	if r := w.send(t, ready); r.status != 200 || !strings.Contains(r.body, `"migrations":"newer: `) {
		t.Error(r.status, r.body)
	}
}

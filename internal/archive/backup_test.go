package archive_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"coffer/internal/archive"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A backup restores every table unchanged. Without its key it cannot be opened, and corruption is
// detected.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	from := lived(t, 2000)
	path := filepath.Join(t.TempDir(), "coffer.age")
	lock := archive.Lock{Passphrase: "correct horse battery staple"}
	if _, err := from.Archive.Backup(t.Context(), path, archive.Way{Lock: lock}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Archive.Backup(t.Context(), path, archive.Way{Lock: lock}, nil); err == nil {
		t.Error("a backup was written over another")
	}
	to := house(t, pgtest.URL(t))
	if _, err := to.Archive.Restore(t.Context(), path, archive.Lock{Passphrase: "wrong"}, nil); err == nil {
		t.Fatal("opened with a wrong passphrase")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"transaction", "manifest", "ndjson"} {
		if bytes.Contains(whole, []byte(canary)) {
			t.Errorf("%q is in the backup in clear text", canary)
		}
	}
	if _, err := to.Archive.Restore(t.Context(), path, lock, nil); err != nil {
		t.Fatal(err)
	}
	if canonical(t, to.DB) != canonical(t, from.DB) {
		t.Error("the canonical hash is another one")
	}
	tables, err := pg.Values[string](t.Context(), from.DB, `select tablename::text from pg_tables
		where schemaname = 'public' and tablename not in ('schema_version', 'export', 'export_part',
			'proof_due', 'sighting', 'sighting_due', 'backup') order by 1`)
	// The left-out tables differ after a restore: checks and counts are due again, and the backup
	// is recorded only when it is complete.
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tables {
		rows := `select coalesce(string_agg(x::text, E'\n' order by x::text), '') from ` + name + ` x`
		want, err1 := pg.Value[string](t.Context(), from.DB, rows)
		got, err2 := pg.Value[string](t.Context(), to.DB, rows)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("%s is another one: %v %v", name, err1, err2)
		}
	}
}

func TestBackupForRecipients(t *testing.T) {
	t.Parallel()
	from := lived(t, 200)
	dir := t.TempDir()
	identity, recipient := ageKey(t)
	key := filepath.Join(dir, "key.txt")
	if err := os.WriteFile(key, []byte(identity), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "coffer.age")
	if _, err := from.Archive.Backup(t.Context(), path, archive.Way{Lock: archive.Lock{Recipients: []string{recipient}}},
		nil); err != nil {
		t.Fatal(err)
	}
	to := house(t, pgtest.URL(t))
	other, _ := ageKey(t)
	wrong := filepath.Join(dir, "wrong.txt")
	if err := os.WriteFile(wrong, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Archive.Restore(t.Context(), path, archive.Lock{Identities: wrong}, nil); err == nil {
		t.Error("opened with another's key")
	}
	if _, err := to.Archive.Restore(t.Context(), path, archive.Lock{Identities: key}, nil); err != nil {
		t.Error(err)
	}
	if canonical(t, to.DB) != canonical(t, from.DB) {
		t.Error("the canonical hash is another one")
	}
	for name, lock := range map[string]archive.Lock{
		"nothing": {}, "short": {Passphrase: "short"},
		"both": {Passphrase: "x", Recipients: []string{recipient}}, "nonsense": {Recipients: []string{"age1x"}},
	} {
		if _, err := from.Archive.Backup(t.Context(), filepath.Join(dir, "no.age"), archive.Way{Lock: lock}, nil); err == nil {
			t.Errorf("written with %s to lock it", name)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("files were left behind: %v %v", left, err)
	}
}

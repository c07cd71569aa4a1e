package app_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
)

// TestOnlyServeAndMigrateMigrate: a command on the database of an older coffer says so and does not
// change the schema, because another server may be running on it. Only serve and migrate migrate.
func TestOnlyServeAndMigrateMigrate(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{})
	if _, err := w.DB.Exec(t.Context(), `delete from schema_version
		where version_id = (select max(version_id) from schema_version)`); err != nil {
		t.Fatal(err)
	}
	was, err := w.DB.SchemaVersion(t.Context())
	if err != nil || was != w.DB.Newest()-1 {
		t.Fatal(was, err)
	}
	program := apptest.Program(t)
	ring := base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
	for name, args := range map[string][]string{
		"an assistant's program": {"mcp"}, "a new encryption key": {"key", "rotate"},
		"the first member": {"setup", "--name", "Kim", "--email", "kim@example.com"},
		"an invented one":  {"dev", "seed", "--transactions", "10"}, "a call": {"tag", "list"},
	} {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env = append(os.Environ(), "COFFER_DATABASE_URL="+w.Config.DatabaseURL.Reveal(), "COFFER_ENCRYPTION_KEY="+ring,
			"COFFER_API_KEY="+w.key)
		cmd.Stdin = strings.NewReader("a password that nobody guesses\n")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "schema is older than this version of coffer; run coffer migrate") {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	if now, err := w.DB.SchemaVersion(t.Context()); err != nil || now != was {
		t.Errorf("the schema went from %d to %d, %v", was, now, err)
	}
}

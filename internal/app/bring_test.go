package app_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/pg/pgtest"
)

// TestImportOnBothSides runs coffer import on the database and against a server, with a file of two
// accounts and a zip archive with one file for each day. The second import asks nothing and adds
// nothing.
func TestImportOnBothSides(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	for _, side := range []string{"database", "server"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			w := newWorldOn(t, database, app.Config{})
			w.work(t)
			env := []string{"COFFER_DATABASE_URL=" + database}
			if side == "server" {
				env = []string{"COFFER_SERVER=" + w.url, "COFFER_API_KEY=" + w.key}
			}
			bring := func(args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), binary, append([]string{"import"}, args...)...)
				cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Run(); err != nil {
					t.Errorf("coffer import %s: %v\n%s", args, err, out.String())
				}
				return out.String()
			}
			two := filepath.Join("..", "bank", "statement", "ofx", "testdata", "07-two-accounts.ofx")
			days := filepath.Join("testdata", "statements", "29-camt053.zip")
			if out := bring(two, "--new", "Mine"); strings.Count(out, "Imported 1 into Mine ") != 2 {
				t.Errorf("two accounts:\n%s", out)
			}
			if out := bring(days, "--new", "Giro"); !strings.Contains(out, "Imported 2 into Giro (") ||
				!strings.Contains(out, "Verified") {
				t.Errorf("a zip file:\n%s", out)
			}
			if out := bring(two, days); strings.Count(out, "Imported 0 into ") != 3 {
				t.Errorf("again:\n%s", out)
			}
		})
	}
}

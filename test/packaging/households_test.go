package packaging

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app/apptest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg/pgtest"
)

// systemd replaces systemctl: it runs a server for each unit, and records the calls. A unit in
// $BROKEN does not start.
const systemd = `#!/bin/bash
set -eu
echo "$*" >> "$HOUSEHOLDS_ROOT/asked"
unit=${!#}
name=${unit#coffer@}
pid=$HOUSEHOLDS_ROOT/$name.pid
if [[ $1 != enable ]] && [[ -e $pid ]]; then
  kill "$(cat "$pid")" 2>/dev/null || true
  while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.05; done
  rm "$pid"
fi
[[ $1 != disable ]] || exit 0
[[ ${BROKEN:-} != "$name" ]] || exit 1
file=$HOUSEHOLDS_ROOT/etc/coffer/$name.env
"$HOUSEHOLDS_COFFER" --env-file "$file" serve > "$HOUSEHOLDS_ROOT/$name.log" 2>&1 < /dev/null &
echo $! > "$pid"
for _ in $(seq 600); do
  ! "$HOUSEHOLDS_COFFER" --env-file "$file" health > /dev/null 2>&1 || exit 0
  sleep 0.1
done
exit 1
`

// plain returns the environment without settings of coffer, which would override those of a file.
func plain() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COFFER_") })
}

// TestHouseholds: the script adds households that cannot reach each other, backs them up, upgrades
// them in waves, and removes one without affecting the others. The test uses PostgreSQL, and a
// program in place of systemctl.
func TestHouseholds(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("NOT CHECKED: psql is not installed")
	}
	dir, program := t.TempDir(), apptest.Program(t)
	stand := filepath.Join(dir, "systemctl")
	if err := os.WriteFile(stand, []byte(systemd), 0o700); err != nil {
		t.Fatal(err)
	}
	admin := *server
	admin.Path = "/postgres"
	one, two := "one"+strings.ToLower(id.Base62(8)), "two"+strings.ToLower(id.Base62(8))
	environment := append(plain(), "HOUSEHOLDS_ROOT="+dir, "HOUSEHOLDS_COFFER="+program,
		"HOUSEHOLDS_SYSTEMCTL="+stand, "HOUSEHOLDS_SERVER="+server.Host, "HOUSEHOLDS_PSQL="+psql+" "+admin.String())
	script := func(more ...string) (string, error) {
		c := exec.CommandContext(t.Context(), filepath.Join(root, "packaging", "coffer-household"), more...)
		c.Env = environment
		out, err := c.CombinedOutput()
		return string(out), err
	}
	must := func(more ...string) string {
		t.Helper()
		out, err := script(more...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", more, err, out)
		}
		return out
	}
	t.Cleanup(func() {
		for _, name := range []string{one, two} {
			c := exec.Command(stand, "disable", "--now", "coffer@"+name)
			c.Env = environment
			_ = c.Run() // it may print nothing
			for _, what := range []string{"database if exists coffer_" + name + " with (force)", "role if exists coffer_" + name} {
				if out, err := exec.Command(psql, admin.String(), "-Xqc", "drop "+what).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			}
		}
	})
	files := func(name, pattern string) int {
		found, err := filepath.Glob(filepath.Join(dir, "var/lib/coffer-"+name+"/backups", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	connects := func(role, database string) bool {
		at := admin
		at.User, at.Path = url.User("coffer_"+role), "/coffer_"+database
		return exec.CommandContext(t.Context(), psql, at.String(), "-Xqc", "select").Run() == nil
	}
	healthy := func(name string) bool {
		c := exec.CommandContext(t.Context(), program, "--env-file", filepath.Join(dir, "etc", "coffer", name+".env"), "health")
		c.Env = environment
		return c.Run() == nil
	}

	for _, name := range []string{one, two} {
		must("add", name, strings.TrimPrefix(free(t), "127.0.0.1:"))
		file := filepath.Join(dir, "etc", "coffer", name+".env")
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		settings(t, file, string(b))
		if !strings.Contains(string(b), fmt.Sprintf("COFFER_BACKUP_DIR=%s/var/lib/coffer-%s/backups\n", dir, name)) {
			t.Errorf("%s has no folder for backups of its own", name)
		}
	}
	if out, err := script("add", one); err == nil || !strings.Contains(out, "is there already") {
		t.Errorf("added twice: %s", out)
	}
	if out, err := script("add", "../env"); err == nil {
		t.Errorf("added with a path for a name: %s", out)
	}
	if !connects(one, one) || !connects(two, two) || connects(one, two) || connects(two, one) {
		t.Error("a household reaches another's database, or not its own")
	}
	if got := must("list"); strings.Count(got, "\n") != 2 || !strings.Contains(got, one+"\t127.0.0.1:") {
		t.Errorf("list: %s", got)
	}

	must("backup")
	if files(one, "*-by-hand.age") != 1 || files(two, "*-by-hand.age") != 1 {
		t.Error("not every household has a backup")
	}

	environment = append(environment, "BROKEN="+one)
	out, err := script("upgrade", "--wave", "1")
	if err == nil || !strings.Contains(out, one+" does not start") || !strings.Contains(out, "not yet upgraded: "+two) {
		t.Errorf("the second wave followed a broken first: %v %s", err, out)
	}
	environment = append(environment, "BROKEN=")
	if out := must("upgrade"); strings.Count(out, " runs ") != 2 {
		t.Error(out)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || strings.Count(string(asked), "restart coffer@"+two) != 1 || files(two, "*-before-upgrade.age") != 1 {
		t.Errorf("%s, %v", asked, err)
	}

	if out, err := script("remove", one); err == nil || !strings.Contains(out, "--for-good") {
		t.Errorf("removed without a word: %s", out)
	}
	must("remove", one, "--for-good")
	if connects(one, one) || !healthy(two) || files(one, "*-last.age") != 1 {
		t.Error("it is still there, or its last backup is not, or the other server stopped too")
	}
	if _, err := os.Stat(filepath.Join(dir, "etc", "coffer", one+".removed")); err != nil {
		t.Error("its key is lost", err)
	}
}

// free returns an address of this machine on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its number was wanted
	return l.Addr().String()
}

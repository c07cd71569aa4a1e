package app_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/op"
	"coffer/internal/pg/pgtest"
)

// Every reading command works straight on the database and against a server, with the same answer; the menu that commands are made from has no database behind it.
func TestCommandsRunOnBothSides(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	database := pgtest.URL(t)
	w := newWorldOn(t, database, app.Config{})
	run := func(env []string, args ...string) (string, string, int) {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
		var out, fail bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &fail
		_ = cmd.Run()
		return out.String(), fail.String(), cmd.ProcessState.ExitCode()
	}
	local, remote := []string{"COFFER_DATABASE_URL=" + database}, []string{"COFFER_SERVER=" + w.url, "COFFER_API_KEY=" + w.key}
	oneOf := map[string]string{"rule.match": "--merchant=Shop"} // one of two must be given, which no schema says
	for _, o := range app.Menu() {
		if o.Route == "" || o.Writes || needsArguments(o) || o.Name == "key.me" {
			continue
		}
		args := strings.Split(o.Name, ".")
		if flag, ok := oneOf[o.Name]; ok {
			args = append(args, flag)
		}
		here, fail, code := run(local, args...)
		if code != 0 {
			t.Errorf("coffer %s on the database: exit %d, %s", strings.Join(args, " "), code, fail)
		}
		there, fail, code := run(remote, args...)
		if code != 0 || timeOfAnswer.ReplaceAllString(here, "") != timeOfAnswer.ReplaceAllString(there, "") {
			t.Errorf("coffer %s on a server: exit %d, %s\n%s\n%s", strings.Join(args, " "), code, fail, here, there)
		}
	}
	if _, fail, code := run(local, "tag", "get", "nothing"); code != 4 || !strings.Contains(fail, "NOT_FOUND") {
		t.Errorf("a missing tag: exit %d, %s", code, fail)
	}
	if out, fail, code := run(remote, "tag", "create", "--slug", "a b", "--json"); code != 2 || out != "" || !json.Valid([]byte(fail)) {
		t.Errorf("a bad slug: exit %d, %q, %s", code, out, fail)
	}
	if _, fail, code := run([]string{"COFFER_SERVER=" + w.url, "COFFER_API_KEY=wrong"}, "tag", "list"); code != 3 || !strings.Contains(fail, "INVALID_API_KEY") {
		t.Errorf("a wrong key: exit %d, %s", code, fail)
	}
	if _, fail, code := run(nil, "tag", "list"); code != 2 || !strings.Contains(fail, "COFFER_DATABASE_URL") {
		t.Errorf("nowhere to run: exit %d, %s", code, fail)
	}
}

// timeOfAnswer is when something was looked at, which two calls do not share.
var timeOfAnswer = regexp.MustCompile(`"checked_at": *"[^"]*"`)

func needsArguments(o *op.Op) bool {
	for _, p := range o.In.Props {
		if p.Required {
			return true
		}
	}
	return false
}

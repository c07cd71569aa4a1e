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
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg/pgtest"
)

// TestCommandsRunOnBothSides: every reading command prints the same directly on the database and
// against a server. The menu from which the commands are made has no database.
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
	local, remote := []string{"COFFER_DATABASE_URL=" + database}, []string{
		"COFFER_SERVER=" + w.url,
		"COFFER_API_KEY=" + w.key,
	}
	// The command requires one of two flags, which the schema cannot express.
	oneOf := map[string]string{"rule.match": "--merchant=Shop"}
	for _, o := range app.Menu() {
		if o.Route == "" || o.Own || o.Writes || needsArguments(o) || o.Name == "key.me" ||
			o.Name == "rule.suggest" /* for a payee that is there */ {
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
		if code != 0 || sameForAll(here) != sameForAll(there) {
			t.Errorf("coffer %s on a server: exit %d, %s\n%s\n%s", strings.Join(args, " "), code, fail, here, there)
		}
	}
	if _, fail, code := run(local, "tag", "get", "nothing"); code != 4 || !strings.Contains(fail, "NOT_FOUND") {
		t.Errorf("a missing tag: exit %d, %s", code, fail)
	}
	if out, fail, code := run(remote, "tag", "create", "--slug", "a b", "--json"); code != 2 || out != "" ||
		!json.Valid([]byte(fail)) {
		t.Errorf("a bad slug: exit %d, %q, %s", code, out, fail)
	}
	if _, fail, code := run([]string{"COFFER_SERVER=" + w.url, "COFFER_API_KEY=wrong"}, "tag", "list"); code != 3 ||
		!strings.Contains(fail, "INVALID_API_KEY") {
		t.Errorf("a wrong key: exit %d, %s", code, fail)
	}
	// German banks write files in windows-1252, not UTF-8.
	file := t.TempDir() + "/statement.csv"
	if err := os.WriteFile(file, []byte("Datum;Name;Betrag\r\n31.01.2026;B\xe4ckerei;-1,20\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{local, remote} {
		if out, fail, code := run(env, "csv", "preview", "--file", file); code != 0 ||
			!strings.Contains(out, "windows-1252") || !strings.Contains(out, "Bäckerei") {
			t.Errorf("a file in another encoding: exit %d, %s %s", code, out, fail)
		}
	}
	for _, env := range [][]string{local, remote} { // numbers as people write them
		if out, fail, code := run(env, "transaction", "list", "--min-amount", ".5", "--limit", "007"); code != 0 ||
			!json.Valid([]byte(out)) {
			t.Errorf("an amount of .5: exit %d, %s %s", code, out, fail)
		}
	}
	for _, wrong := range []struct{ call, says string }{
		{"transactions list", "did you mean coffer transaction"},
		{"report submit", "did you mean coffer report create"},
		{"setting list", "did you mean coffer setting get"},
		{"tag lst", "coffer tag --help"},
		{"tag list --limt 3", "coffer tag list --help"},
	} {
		if _, fail, code := run(local, strings.Fields(wrong.call)...); code != 2 ||
			!strings.Contains(fail, wrong.says) {
			t.Errorf("coffer %s: exit %d, %s", wrong.call, code, fail)
		}
	}
	for _, noun := range []string{"version", "overview"} {
		if out, fail, code := run(local, noun); code != 0 || !json.Valid([]byte(out)) {
			t.Errorf("coffer %s: exit %d, %s%s", noun, code, out, fail)
		}
	}
	for env, says := range map[string]string{
		"COFFER_LISTEN=8080":                                    "COFFER_LISTEN must be host:port",
		"COFFER_PUBLIC_URL=coffer.example.com":                  "COFFER_PUBLIC_URL must be a complete address",
		"COFFER_LOG_LEVEL=loud":                                 "COFFER_LOG_LEVEL must be DEBUG, INFO",
		"COFFER_LISTEN=" + strings.TrimPrefix(w.url, "http://"): "is already in use",
	} {
		if _, fail, code := run(append([]string{env}, local...), "serve"); code == 0 || !strings.Contains(fail, says) {
			t.Errorf("coffer serve with %s: exit %d, %s", env, code, fail)
		}
	}
	if out, fail, code := run([]string{"COFFER_SERVER=" + w.url + "/api/v1", "COFFER_API_KEY=" + w.key}, "tag",
		"list"); code != 0 {
		t.Errorf("the address of the API for that of the server: exit %d, %s%s", code, out, fail)
	}
	if _, fail, code := run([]string{"COFFER_SERVER=" + w.url}, "tag", "list"); code != 3 ||
		!strings.Contains(fail, "COFFER_API_KEY") {
		t.Errorf("no key: exit %d, %s", code, fail)
	}
	if _, fail, code := run(nil, "tag", "list"); code != 2 || !strings.Contains(fail, "COFFER_DATABASE_URL") {
		t.Errorf("nowhere to run: exit %d, %s", code, fail)
	}
}

// caller matches who asks: the operator on the database, and the key's owner on a server.
var caller = regexp.MustCompile(`"you":\{[^}]*\},`)

// sameForAll removes from an output what depends on the time and the caller.
func sameForAll(s string) string {
	return caller.ReplaceAllString(timeOfAnswer.ReplaceAllString(s, ""), "")
}

// timeOfAnswer matches the time of the call, which differs between two calls.
var timeOfAnswer = regexp.MustCompile(`"checked_at": *"[^"]*"`)

func needsArguments(o *op.Op) bool {
	for _, p := range o.In.Props {
		if p.Required {
			return true
		}
	}
	return false
}

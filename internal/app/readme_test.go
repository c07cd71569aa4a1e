package app_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

var (
	anyFence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?\n)```")
	asked    = regexp.MustCompile(`\$\(\./coffer (.*) \| jq -r '?\.([\w.\[\]]+)'?\)`)
	remark   = regexp.MustCompile(`\s+# .*$`)
	redirect = regexp.MustCompile(`^(.*) > (\S+)$`)
)

// shownDay is the day on which the guides were written, and the last day in their data.
const shownDay = "2026-10-30"

// TestReadme runs the commands of the README up to the section about connecting a bank, and
// compares the output that the README shows with what the commands print. Only ids may differ.
func TestReadme(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(page), "\n## Connect a bank")
	if !found {
		t.Fatal("the README has no section about connecting a bank")
	}
	shown, missing := playReadme(t, text)
	if shown < 20 {
		t.Errorf("only %d lines of output were compared", shown)
	}
	for _, line := range missing {
		t.Errorf("no command prints %q here", line)
	}
}

// TestReadmeControl shows that the comparison notices a wrong figure in the README.
func TestReadmeControl(t *testing.T) {
	t.Parallel()
	page := "```sh\n./coffer demo statement > statement.csv\n" +
		"bank=$(./coffer connection create --provider csv --institution-name Bank | jq -r .short_id)\n" +
		"./coffer csv import $bank --file statement.csv  # nine rows\n```\n\n" +
		"```\nDone: 8 added.\n```\n"
	if shown, missing := playReadme(t, page); shown != 1 || len(missing) != 1 {
		t.Errorf("compared %d lines and missed %q", shown, missing)
	}
}

// playReadme runs the commands of a page on a new household.
func playReadme(t *testing.T, page string) (shown int, missing []string) {
	t.Helper()
	r, _ := newReader(t)
	return r.play(page)
}

// newReader returns a reader with an empty household and a running server.
func newReader(t *testing.T) (reader, *world) {
	t.Helper()
	w := newWorldOn(t, pgtest.URL(t), app.Config{EncryptionKey: seal.NewSecret(testRing)})
	working(t, w)
	return reader{t, app.Config{
		DatabaseURL: w.Config.DatabaseURL, DatabaseMaxConns: 4,
		EncryptionKey: seal.NewSecret(testRing), Listen: "127.0.0.1:8080",
	}, map[string]string{}, t.TempDir()}, w
}

// play runs the commands of a page. It returns the number of output lines that the page shows, and
// the lines that the commands before them do not print in that order.
func (r reader) play(page string) (shown int, missing []string) {
	r.t.Helper()
	var printed []string
	for _, m := range anyFence.FindAllStringSubmatch(page, -1) {
		if m[1] == "sh" {
			printed = nil
			for line := range strings.Lines(m[2]) {
				printed = append(printed, r.line(remark.ReplaceAllString(strings.TrimSpace(line), ""))...)
			}
			continue
		}
		at := 0
		for line := range strings.Lines(m[2]) {
			want := maskedText(strings.TrimSpace(line))
			if want == "" {
				continue
			}
			shown++
			from := at
			for at < len(printed) && printed[at] != want {
				at++
			}
			if at == len(printed) {
				missing, at = append(missing, line), from
			}
		}
	}
	return shown, missing
}

// A reader follows a guide at a terminal.
type reader struct {
	t         *testing.T
	config    app.Config
	variables map[string]string
	dir       string // the directory of files that the commands write
}

// line runs one line of a shell script and returns its output without ids.
func (r reader) line(line string) []string {
	r.t.Helper()
	for name, value := range r.variables {
		line = strings.ReplaceAll(line, "$"+name, value)
	}
	line = strings.ReplaceAll(line, "$(date +%F)", shownDay)
	line = strings.ReplaceAll(line, "$(date +%Y-%m)", shownDay[:len("2026-10")])
	if m := asked.FindStringSubmatchIndex(line); m != nil {
		value := r.pick(r.run(0, line[m[2]:m[3]]), line[m[4]:m[5]])
		if name, ok := strings.CutSuffix(line[:m[0]], "="); ok {
			r.variables[name] = value
			return nil
		}
		line = line[:m[0]] + value + line[m[1]:]
	}
	command, ok := strings.CutPrefix(line, "./coffer ")
	if !ok || command == "serve" {
		return nil
	}
	if m := redirect.FindStringSubmatch(command); m != nil {
		r.write(m[2], r.run(0, m[1]))
		return nil
	}
	var out []string
	for l := range strings.Lines(r.run(92, command)) {
		out = append(out, maskedText(strings.TrimSpace(l)))
	}
	return out
}

// write writes a file to the reader's directory.
func (r reader) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// run runs one command at a terminal of that width; 0 means a pipe. Files are in the reader's
// directory, or in the repository if their path begins with docs/.
func (r reader) run(width int, command string) string {
	r.t.Helper()
	args := shellWords(command)
	if command == "demo statement" {
		args = append(args, "--end", shownDay)
	}
	for i := range args {
		if i == 0 || args[i-1] != "--file" {
			continue
		}
		dir := r.dir
		if strings.HasPrefix(args[i], "docs/") {
			dir = filepath.Join("..", "..")
		}
		args[i] = filepath.Join(dir, args[i])
	}
	var out, fail bytes.Buffer
	c := app.CommandLine(r.config, strings.NewReader("a sentence of Robin's own\n"), &out, &fail)
	c.Width = width
	if code := app.Execute(r.t.Context(), c, args); code != 0 {
		r.t.Errorf("coffer %s: exit %d, %s", command, code, fail.String())
	}
	return out.String()
}

// pick returns the value at a path such as changes[0].short_id.
func (r reader) pick(out, path string) string {
	r.t.Helper()
	var v any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.t.Fatalf("%s: %v", out, err)
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(strings.ReplaceAll(path, "[", ".["), "."), ".") {
		if i, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil {
			list, _ := v.([]any)
			if i >= len(list) {
				r.t.Fatalf("%s has no %s", out, path)
			}
			v = list[i]
			continue
		}
		record, _ := v.(map[string]any)
		v = record[step]
	}
	s, ok := v.(string)
	if !ok {
		r.t.Fatalf("%s has no text %s", out, path)
	}
	return s
}

package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A suite is the installed npm package and the Node program that runs it. The suite needs a newer
// Node than most machines have.
type suite struct{ node, pkg string }

// findSuite finds the suite that npm ci installs in this folder. Without it, the test is skipped,
// unless the suite is required: in CI, or by COFFER_TEST_CONFORMANCE.
func findSuite(t *testing.T) suite {
	t.Helper()
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	s := suite{
		node: filepath.Join(modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node"),
		pkg:  filepath.Join(modules, "@modelcontextprotocol", "conformance"),
	}
	for _, path := range []string{s.node, s.program()} {
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" || os.Getenv("COFFER_TEST_CONFORMANCE") == "required" {
			t.Fatalf("%s is missing; run npm ci in test/conformance", path)
		}
		t.Skipf("%s is missing; run npm ci in test/conformance", path)
	}
	return s
}

func (s suite) program() string { return filepath.Join(s.pkg, "dist", "index.js") }

// A check is one finding of a scenario.
type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	ErrorMessage string `json:"errorMessage"`
}

// undeclared are checks that the suite skips because the service does not declare the feature: its
// list of tools never changes.
var undeclared = []string{"sep-2575-server-sends-tools-list-changed-on-subscription"}

// ok reports whether the check passed. It is stricter than the suite, which accepts warnings and
// skipped checks.
func (c check) ok() bool {
	return c.Status == "SUCCESS" || c.Status == "INFO" || c.Status == "SKIPPED" && slices.Contains(undeclared, c.ID)
}

// A suiteRun is the result of the suite for one server.
type suiteRun struct {
	exit     int
	required []string
	checks   map[string][]check // by scenario
	output   string
}

func (s suite) run(t *testing.T, target, revision string) suiteRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, s.node, s.program(), "server", "--url", target, "--requirements", revision,
		"--output-dir", dir, "--timeout", "15000")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(s.node), "HOME=" + dir, "NO_COLOR=1"}
	output, err := cmd.CombinedOutput()
	run := suiteRun{required: s.requirements(t, revision), checks: readChecks(t, dir), output: string(output)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		run.exit = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("run the suite: %v\n%s", err, output)
	}
	return run
}

// requirements reads the names under "server:" in the revision's requirement set.
func (s suite) requirements(t *testing.T, revision string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.pkg, "requirements", revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	section := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n ")
		name, item := strings.CutPrefix(line, "  - ")
		switch {
		case item && section == "server:":
			names = append(names, name)
		case line != "" && line[0] != ' ' && line[0] != '#':
			section = line
		}
	}
	return names
}

var resultDir = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// readChecks reads the results. There is one folder for each scenario that ran.
func readChecks(t *testing.T, dir string) map[string][]check {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]check{}
	for _, file := range files {
		name := resultDir.FindStringSubmatch(filepath.Base(filepath.Dir(file)))
		if name == nil {
			t.Fatalf("unexpected result folder %s", file)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []check
		if err := json.Unmarshal(raw, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[name[1]] = append(all[name[1]], checks...)
	}
	return all
}

// ok reports whether all checks of the scenario passed, and at least one of them checked something.
func (r suiteRun) ok(scenario string) bool {
	succeeded := false
	for _, c := range r.checks[scenario] {
		if !c.ok() {
			return false
		}
		succeeded = succeeded || c.Status == "SUCCESS"
	}
	return succeeded
}

func (r suiteRun) passed() int {
	n := 0
	for _, name := range r.required {
		if r.ok(name) {
			n++
		}
	}
	return n
}

// passing returns all scenarios that passed, required or not.
func (r suiteRun) passing() []string {
	var names []string
	for name := range r.checks {
		if r.ok(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r suiteRun) failures() string {
	var b strings.Builder
	for _, name := range r.required {
		if !r.ok(name) {
			b.WriteString(r.report(name))
		}
	}
	if !strings.Contains(r.output, "=== SUMMARY ===") || b.Len() == 0 {
		b.WriteString(r.output) // the suite stopped early, or found something that the checks do not show
	}
	return b.String()
}

func (r suiteRun) report(scenario string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "✗ %s (%d checks)\n", scenario, len(r.checks[scenario]))
	for _, c := range r.checks[scenario] {
		if !c.ok() {
			fmt.Fprintf(&b, "    %s %s: %s\n", c.Status, c.ID, c.ErrorMessage)
		}
	}
	return b.String()
}

// unscored lists the scenarios that the suite ran in addition to the required ones.
func (r suiteRun) unscored() string {
	var names []string
	for name := range r.checks {
		if slices.Contains(r.required, name) {
			continue
		}
		mark := "✗ "
		if r.ok(name) {
			mark = "✓ "
		}
		names = append(names, mark+name)
	}
	slices.Sort(names)
	return "not scored: " + strings.Join(names, ", ")
}

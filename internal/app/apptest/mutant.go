package apptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A Mutant is a deliberate defect: one text of one file of the program, replaced by another. A test
// of safety has a control that runs against a mutant and must fail there, so the program itself
// needs no switch for it.
type Mutant struct {
	File string // from the root of the repository, such as internal/connections/connection/store.go
	Old  string // must be in the file exactly once
	New  string
}

// Program builds coffer with the mutants and returns its path. It builds as the Makefile does, so
// that the build cache is shared.
func Program(t testing.TB, mutants ...Mutant) string {
	t.Helper()
	return build(t, mutants, "build", "coffer/cmd/coffer")
}

// TestProgram builds the tests of a package, such as coffer/internal/platform/job, with the mutants
// and returns the path of that program.
func TestProgram(t testing.TB, pkg string, mutants ...Mutant) string {
	t.Helper()
	return build(t, mutants, "test", pkg, "-c", "-vet=off")
}

// build runs a go command that writes one program. It leaves out the tables that debuggers read,
// because writing them is almost half of the linker's work. Stack traces do not need them.
func build(t testing.TB, mutants []Mutant, command, pkg string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	args := append([]string{command, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path}, flags...)
	if len(mutants) > 0 {
		args = append(args, "-overlay", overlay(t, mutants))
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, pkg)...) //nolint:gosec // the test's own words
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// overlay writes the mutated files, and the list of them that go build takes. It fails the test if
// a mutant no longer fits the source.
func overlay(t testing.TB, mutants []Mutant) string {
	t.Helper()
	dir, root := t.TempDir(), repository(t)
	replace := map[string]string{} // file of the repository -> mutated copy
	for i, m := range mutants {
		file := filepath.Join(root, filepath.FromSlash(m.File))
		from := file
		if earlier, again := replace[file]; again {
			from = earlier // one file may have several mutants
		}
		text, err := os.ReadFile(from) //nolint:gosec // a file of the repository
		if err != nil {
			t.Fatalf("a mutant's file is not there: %v", err)
		}
		if n := strings.Count(string(text), m.Old); n != 1 {
			t.Fatalf("a mutant no longer fits: %s has this text %d times and must have it once:\n%s", m.File, n, m.Old)
		}
		replace[file] = filepath.Join(dir, strconv.Itoa(i)+"_"+filepath.Base(file))
		changed := strings.Replace(string(text), m.Old, m.New, 1)
		if err := os.WriteFile(replace[file], []byte(changed), 0o600); err != nil { //nolint:gosec // the test's own directory
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// repository returns the directory of go.mod.
func repository(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

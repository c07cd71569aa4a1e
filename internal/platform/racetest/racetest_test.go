package racetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A sequential test is skipped if the race detector is on, and only then.
func TestSequentialTestsAreSkippedUnderTheDetector(t *testing.T) { //nolint:tparallel // its end is waited for
	t.Parallel()
	reached := false
	t.Run("sequential", func(t *testing.T) {
		Sequential(t)
		reached = true
	})
	if reached == watching {
		t.Errorf("with the race detector %v, the test runs: %v", watching, reached)
	}
}

// Only tests that call Concurrent themselves are found. Tests that only mention it, and functions
// that such tests call, are not.
func TestConcurrentTestsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `package a
func TestB(t *testing.T) { t.Parallel(); racetest.Concurrent(t) }
func TestNot(t *testing.T) { other.Concurrent(t); Concurrent(t); racetest.Sequential(t) } // racetest.Concurrent(t)
func help(t *testing.T) { racetest.Concurrent(t) }
func TestNamesIt(t *testing.T) { t.Log("racetest.Concurrent(t)") }`,
		"b_test.go": "package a_test\nfunc TestA(t *testing.T) {\n\tracetest.Concurrent(t)\n}\n",
		"c.go":      "package a\nfunc TestC(t *testing.T) { racetest.Concurrent(t) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names, err := concurrent(dir)
	if got := strings.Join(names, " "); err != nil || got != "TestA TestB" {
		t.Errorf("%q, %v", got, err)
	}
}

// Package racetest decides which tests run under the race detector. A test marks itself with a
// call; there is no list of names. The package does not know the tests.
//
// The race detector makes tests several times slower. In a package, it watches all tests except
// those that call Sequential. A package whose tests run the whole service calls Main; there the
// detector watches only the tests that call Concurrent. It has already watched the code of the
// other tests in the packages that the code belongs to.
package racetest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Sequential skips a test under the race detector, because the test is one long computation. Such a
// test must also be run without the detector.
func Sequential(t testing.TB) {
	t.Helper()
	if watching {
		t.Skip("one long computation: runs without the race detector")
	}
}

// Concurrent marks a test of many callers, servers or jobs at once. Without the race detector, the
// test is skipped if COFFER_TEST_RACED is set, because it has already run with the detector.
func Concurrent(t testing.TB) {
	t.Helper()
	if !watching && os.Getenv("COFFER_TEST_RACED") != "" {
		t.Skip("ran with the race detector")
	}
}

// Main runs the tests of a package. With the race detector, it runs only those that call
// Concurrent, unless -run chooses others.
func Main(m *testing.M) {
	if err := choose("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func choose(dir string) error {
	flag.Parse()
	if run := flag.Lookup("test.run"); !watching || run.Value.String() != "" {
		return nil
	}
	names, err := concurrent(dir)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("racetest: no test in %s calls Concurrent", dir)
	}
	if err != nil {
		return err
	}
	return flag.Set("test.run", "^("+strings.Join(names, "|")+")$")
}

// concurrent returns the names of the tests of a directory that call Concurrent.
func concurrent(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && marked(f) {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// marked reports whether the function's body calls racetest.Concurrent as a statement of its own.
func marked(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Body.List, func(s ast.Stmt) bool {
		x, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		from, ok := called.X.(*ast.Ident)
		return ok && from.Name == "racetest" && called.Sel.Name == "Concurrent"
	})
}

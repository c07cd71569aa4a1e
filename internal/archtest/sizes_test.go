package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// sizes limits files, functions and packages. A package is measured by its exported names, which a
// reader must learn, and by its statements. A limit on its lines would reward long lines.
type sizes struct {
	// Lines of a file, and of a test: nobody reads a file of a thousand lines.
	file, test int
	// Lines between a function's braces without comment lines, as funlen counts. Tests may have
	// more.
	function int
	// Exported names of a package: types, functions, variables, constants, and methods of exported
	// types.
	exported int
	// Statements of a package without tests. For a block, the statements in it are counted.
	statements int
	// Statements of op, rest, mcp and cli together.
	surface int
	// The maximum percentage of all statements that may be in one package (share). It applies once
	// the repository has a minimum of statements (from).
	share, from int
}

// bounds are the limits of this repository. Only the ledger has more statements (see exceptions).
var bounds = sizes{
	file: 500, test: 500, function: 100, exported: 180, statements: 2400, surface: 5500, share: 18,
	from: 10_000,
}

// shelves are forbidden package names. They say nothing about the contents, so anything could be
// put there.
var shelves = []string{"util", "utils", "common", "helper", "helpers"}

// surfaces are packages that together must not grow into a framework.
var surfaces = []string{"op", "rest", "mcp", "cli"}

// check measures files, functions and packages, and prints the packages by size.
func (s sizes) check(t *testing.T, tr *tree) []finding {
	t.Helper()
	var out []finding
	for _, f := range tr.files {
		most := s.file
		if f.test {
			most = s.test
		}
		if n := len(f.lines); n > most {
			out = append(out, finding{
				path: f.path, key: "file " + f.path,
				what: fmt.Sprintf("has %d lines, at most %d are good to read: split it by what it is about", n,
					most),
			})
		}
	}
	packages := tr.packages()
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if slices.Contains(shelves, path.Base(dir)) || slices.Contains(shelves, packages[dir][0].syntax.Name.Name) {
			out = append(out, finding{
				path: dir, key: "name " + dir,
				what: "is named after nothing: name a package after what it knows",
			})
		}
	}
	statements, exported := map[string]int{}, map[string]int{}
	total, surface := 0, 0
	for _, f := range tr.shipped() {
		n := statementsIn(f.syntax)
		statements[f.dir] += n
		exported[f.dir] += exportedIn(f.syntax)
		total += n
		if slices.Contains(surfaces, short(f.dir)) {
			surface += n
		}
		out = append(out, s.functions(tr, f)...)
	}
	for _, dir := range slices.Sorted(maps.Keys(statements)) {
		n := statements[dir]
		if n > s.statements {
			out = append(out, finding{
				path: dir, key: "package " + dir,
				what: fmt.Sprintf("has %d statements without tests, at most %d are one thought: find the second one "+
					"in it", n, s.statements),
			})
		}
		if exported[dir] > s.exported {
			out = append(out, finding{
				path: dir, key: "exported " + dir,
				what: fmt.Sprintf("exports %d names, at most %d can be learned: hide some, or split it", exported[dir],
					s.exported),
			})
		}
		if total >= s.from && n*100 > total*s.share {
			out = append(out, finding{
				path: dir, key: "share " + dir,
				what: fmt.Sprintf("is %.1f %% of the code, at most %d %% may be one package", percent(n, total),
					s.share),
			})
		}
	}
	if surface >= s.surface {
		out = append(out, finding{
			path: "internal", key: "surface",
			what: fmt.Sprintf("%s have %d statements together, and must stay below %d: what needs a third special "+
				"option is a raw route", strings.Join(surfaces, ", "), surface, s.surface),
		})
	}
	s.print(t, statements, exported, total, surface)
	return out
}

// statementsIn counts the statements of a file.
func statementsIn(f *ast.File) int {
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		switch node.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt:
		case ast.Stmt:
			n++
		}
		return true
	})
	return n
}

// exportedIn counts the exported names of a file, with the methods of exported types.
func exportedIn(f *ast.File) int {
	n := 0
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && ast.IsExported(enclosing(d)) {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

func (s sizes) functions(tr *tree, f *file) []finding {
	var out []finding
	for _, d := range f.syntax.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		from, to := tr.fset.Position(fn.Body.Lbrace).Line, tr.fset.Position(fn.Body.Rbrace).Line
		n := 0
		for _, line := range f.lines[from:max(from, to-1)] {
			if !strings.HasPrefix(strings.TrimSpace(line), "//") {
				n++
			}
		}
		if n > s.function {
			out = append(out, finding{
				f.path, tr.line(fn),
				fmt.Sprintf("%s has %d lines, at most %d are one step: give a part of it a name", enclosing(fn), n,
					s.function), "func " + f.path + " " + enclosing(fn),
			})
		}
	}
	return out
}

// print logs the packages by size, so that growth is noticed before it exceeds a limit.
func (s sizes) print(t *testing.T, statements, exported map[string]int, total, surface int) {
	t.Helper()
	var b strings.Builder
	dirs := slices.SortedFunc(maps.Keys(statements), func(x, y string) int {
		return cmp.Or(cmp.Compare(statements[y], statements[x]), cmp.Compare(x, y))
	})
	for _, dir := range dirs {
		fmt.Fprintf(&b, "%7d %5.1f %% %5d  %s\n", statements[dir], percent(statements[dir], total), exported[dir], dir)
	}
	fmt.Fprintf(&b, "%7d         all, without tests; one package may be %d %% from %d on\n", total, s.share, s.from)
	fmt.Fprintf(&b, "%7d         %s together, below %d", surface, strings.Join(surfaces, " + "), s.surface)
	t.Log("statements and exported names by package\n" + b.String())
}

func percent(n, total int) float64 { return float64(n) * 100 / float64(max(total, 1)) }

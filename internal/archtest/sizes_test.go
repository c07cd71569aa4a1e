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

// sizes are the most lines that a thing may have. Lines are all lines of a file, comments and blank ones too, unless it says otherwise.
type sizes struct {
	file     int // tests too: nobody reads a file of a thousand lines
	function int // between its braces, without lines that are comments, as funlen counts; tests are stories and may be longer
	pkg      int // without tests
	surface  int // op, rest, mcp and cli together stay below this
	share    int // percent of all code that one package may be
	from     int // lines of all code from which share holds; until then it is only printed
}

// bounds are the sizes of the house.
var bounds = sizes{file: 500, function: 80, pkg: 3000, surface: 5000, share: 18, from: 20_000}

// shelves are names that say nothing, so that anything is put there.
var shelves = []string{"util", "utils", "common", "helper", "helpers", "models"}

// surfaces must together never grow into a framework.
var surfaces = []string{"op", "rest", "mcp", "cli"}

// check measures files, functions and packages, and prints the packages by size.
func (s sizes) check(t *testing.T, tr *tree) []finding {
	t.Helper()
	var out []finding
	for _, f := range tr.files {
		if n := len(f.lines); n > s.file {
			out = append(out, finding{path: f.path, key: "file " + f.path, what: fmt.Sprintf("has %d lines, at most %d are good to read: split it by what it is about", n, s.file)})
		}
	}
	packages := tr.packages()
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if slices.Contains(shelves, path.Base(dir)) || slices.Contains(shelves, packages[dir][0].syntax.Name.Name) {
			out = append(out, finding{path: dir, key: "name " + dir, what: "is named after nothing: name a package after what it knows"})
		}
	}
	lines := map[string]int{}
	total, surface := 0, 0
	for _, f := range tr.shipped() {
		lines[f.dir] += len(f.lines)
		total += len(f.lines)
		if slices.Contains(surfaces, short(f.dir)) {
			surface += len(f.lines)
		}
		out = append(out, s.functions(tr, f)...)
	}
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		n := lines[dir]
		if n > s.pkg {
			out = append(out, finding{path: dir, key: "package " + dir, what: fmt.Sprintf("has %d lines without tests, at most %d are one thought: find the second one in it", n, s.pkg)})
		}
		if total >= s.from && n*100 > total*s.share {
			out = append(out, finding{path: dir, key: "share " + dir, what: fmt.Sprintf("is %.1f %% of the code, at most %d %% may be one package", percent(n, total), s.share)})
		}
	}
	if surface >= s.surface {
		out = append(out, finding{path: "internal", key: "surface", what: fmt.Sprintf("%s have %d lines together, and must stay below %d: what needs a third special option is a raw route", strings.Join(surfaces, ", "), surface, s.surface)})
	}
	s.print(t, lines, total, surface)
	return out
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
			out = append(out, finding{f.path, tr.line(fn), fmt.Sprintf("%s has %d lines, at most %d are one step: give a part of it a name", enclosing(fn), n, s.function), "func " + f.path + " " + enclosing(fn)})
		}
	}
	return out
}

// print shows the packages by size in the test's log, so that growth is seen long before it breaks a bound.
func (s sizes) print(t *testing.T, lines map[string]int, total, surface int) {
	t.Helper()
	var b strings.Builder
	dirs := slices.SortedFunc(maps.Keys(lines), func(x, y string) int { return cmp.Or(cmp.Compare(lines[y], lines[x]), cmp.Compare(x, y)) })
	for _, dir := range dirs {
		fmt.Fprintf(&b, "%7d %5.1f %%  %s\n", lines[dir], percent(lines[dir], total), dir)
	}
	fmt.Fprintf(&b, "%7d         all, without tests; one package may be %d %% from %d on\n", total, s.share, s.from)
	fmt.Fprintf(&b, "%7d         %s together, below %d", surface, strings.Join(surfaces, " + "), s.surface)
	t.Log("lines by package\n" + b.String())
}

func percent(n, total int) float64 { return float64(n) * 100 / float64(max(total, 1)) }

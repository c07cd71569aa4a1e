package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A sentence ends with a stop before white space or the end; abbreviations do not end one.
var (
	sentence      = regexp.MustCompile(`[.!?]["')\]]*(?:\s|$)`)
	abbreviations = strings.NewReplacer("e.g.", "eg", "i.e.", "ie", "etc.", "etc", "vs.", "vs")
)

// comments checks that every package comment has a first sentence with the package's duty, and at
// least a second one, which should say what the package must not know. Another linter, revive,
// checks the doc comments of exported names.
func comments(_ *testing.T, tr *tree) []finding {
	var out []finding
	packages := tr.packages()
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		files := packages[dir]
		if slices.ContainsFunc(files, func(f *file) bool { return !f.test }) {
			// a package with tests only has its comment in one of them
			files = slices.DeleteFunc(files, func(f *file) bool { return f.test })
		}
		var docs []string
		for _, f := range files {
			if f.syntax.Doc != nil {
				docs = append(docs, f.syntax.Doc.Text())
			}
		}
		opening := "Package " + strings.TrimSuffix(files[0].syntax.Name.Name, "_test") + " "
		if files[0].syntax.Name.Name == "main" {
			opening = "Command " + dir[strings.LastIndex(dir, "/")+1:] + " "
		}
		why := ""
		switch {
		case len(docs) == 0:
			why = fmt.Sprintf("has no package comment: begin one with %q and its duty", opening)
		case len(docs) > 1:
			why = "has two package comments: keep the one in the file that a newcomer opens first"
		case !strings.HasPrefix(docs[0], opening):
			why = fmt.Sprintf("has a package comment that does not begin with %q", opening)
		case len(sentence.FindAllString(abbreviations.Replace(docs[0]), 2)) < 2:
			why = "has a package comment of one sentence: the first says its duty, a second what it must not know"
		}
		if why != "" {
			out = append(out, finding{path: dir, what: why, key: "comment " + dir})
		}
	}
	return out
}

// floats checks that no binary floating-point number is used where it could be an amount: 0.10 has
// no exact float.
func floats(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name, why := "", "amounts are decimal; use money.Amount, or an integer with its unit"
			switch n := n.(type) {
			case *ast.Ident:
				if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
					name = n.Name
				}
			case *ast.SelectorExpr: // such as n.Float64(), strconv.ParseFloat or big.NewFloat, which need no type name
				if strings.Contains(n.Sel.Name, "Float") {
					name = n.Sel.Name
				}
			}
			if name != "" {
				out = append(out, finding{f.path, tr.line(n), name + ": " + why, "float " + f.path})
			}
			return true
		})
	}
	return out
}

// counted matches the conditions that decide whether a split transaction or its parts count.
var counted = regexp.MustCompile(`not (\w+\.)?is_split\b|\borigin <> 'part'`)

// words checks code that is forbidden: init functions, text templates, external text that was not
// cleaned, and the conditions of counted outside their one place.
func words(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.files {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				out = append(out, finding{
					f.path, tr.line(fn),
					"init runs behind everybody's back: put what it registers into a list that a person can read",
					"init " + f.path,
				})
			}
		}
	}
	for _, f := range tr.shipped() {
		for _, i := range f.syntax.Imports {
			if unquote(i.Path) == "text/template" {
				out = append(out, finding{
					f.path, tr.line(i),
					"text/template escapes nothing: SQL takes arguments, HTML takes html/template",
					"template " + f.path,
				})
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && counted.MatchString(s.Value) && f.path != "internal/books/journal/rows.go" &&
				!isHelper(f.dir) {
				out = append(out, finding{
					f.path, tr.line(s),
					"which rows count of split transactions is said once: journal.Leaf, journal.BankRow",
					"rows " + f.path,
				})
			}
			return true
		})
		text := f.imported(module + "/internal/platform/text")
		if text == "" {
			continue // such as package text itself
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && converts(call.Fun, text) {
				out = append(out, finding{
					f.path, tr.line(call),
					text + ".Untrusted(…) cleans nothing: text.Name, text.Line and text.Prose do",
					"untrusted " + f.path,
				})
			}
			return true
		})
	}
	return out
}

// converts reports whether the function of a call is the type Untrusted, or a pointer to it, or a
// slice of it.
func converts(fun ast.Expr, text string) bool {
	switch x := fun.(type) {
	case *ast.ParenExpr:
		return converts(x.X, text)
	case *ast.StarExpr:
		return converts(x.X, text)
	case *ast.ArrayType:
		return converts(x.Elt, text)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && pkg.Name == text && x.Sel.Name == "Untrusted"
	}
	return false
}

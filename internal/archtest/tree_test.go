package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the import path prefix of this module's packages.
const module = "coffer"

// A finding is one breach of a rule.
type finding struct {
	path string // of the file, or of the folder if the finding is about a whole package
	line int    // 0 for none
	what string // says what is wrong and what to do
	key  string // identifies the breach in exceptions; it has no line number, so edits elsewhere do not change it
}

func (f finding) String() string {
	at := f.path
	if f.line > 0 {
		at += ":" + strconv.Itoa(f.line)
	}
	return fmt.Sprintf("%s: %s [%s]", at, f.what, f.key)
}

// A file is one Go file.
type file struct {
	path   string // from the repository's root, with slashes
	dir    string
	test   bool // its name ends in _test.go
	lines  []string
	syntax *ast.File
}

// in reports whether the file is in one of the folders or below.
func (f *file) in(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return f.dir == d || strings.HasPrefix(f.dir, d+"/") })
}

// imported returns the name by which the file refers to the package at that path, or "".
func (f *file) imported(pkg string) string {
	for _, i := range f.syntax.Imports {
		if unquote(i.Path) == pkg {
			if i.Name != nil {
				return i.Name.Name
			}
			return path.Base(pkg)
		}
	}
	return ""
}

// A tree is the source that the rules read: the repository, or a sample.
type tree struct {
	fset  *token.FileSet
	files []*file // by path

	constants map[string]map[string]constant // by folder and name
	carriers  carriers
}

func (tr *tree) line(n ast.Node) int { return tr.fset.Position(n.Pos()).Line }

// shipped returns the files of internal and cmd that are not tests. They are part of the program or
// of test helpers.
func (tr *tree) shipped(dirs ...string) []*file {
	if len(dirs) == 0 {
		dirs = []string{"internal", "cmd"}
	}
	var out []*file
	for _, f := range tr.files {
		if !f.test && f.in(dirs...) {
			out = append(out, f)
		}
	}
	return out
}

// packages returns the files by folder.
func (tr *tree) packages() map[string][]*file {
	out := map[string][]*file{}
	for _, f := range tr.files {
		out[f.dir] = append(out[f.dir], f)
	}
	return out
}

// newTree parses sources, by path. It ignores build constraints: files for any platform must follow
// the rules.
func newTree(sources map[string]string) (*tree, error) {
	tr := &tree{fset: token.NewFileSet()}
	for p, src := range sources {
		syntax, err := parser.ParseFile(tr.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		tr.files = append(tr.files, &file{
			path: p, dir: path.Dir(p), test: strings.HasSuffix(p, "_test.go"),
			lines: strings.Split(strings.TrimSuffix(src, "\n"), "\n"), syntax: syntax,
		})
	}
	slices.SortFunc(tr.files, func(a, b *file) int { return cmp.Compare(a.path, b.path) })
	tr.constants = collectConstants(tr.files)
	tr.carriers = collectCarriers(tr.files)
	return tr, nil
}

// repository returns the parsed source of this module. It is parsed once for all tests.
func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := theRepository()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

var theRepository = sync.OnceValues(func() (*tree, error) {
	root := os.DirFS(filepath.Join("..", ".."))
	if b, err := fs.ReadFile(root, "go.mod"); err != nil || !strings.HasPrefix(string(b), "module "+module+"\n") {
		return nil, fmt.Errorf("two folders up is no module %s", module)
	}
	sources := map[string]string{}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipped(root, p, d.Name())
		}
		if path.Ext(p) == ".go" {
			b, err := fs.ReadFile(root, p)
			sources[p] = string(b)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newTree(sources)
})

// skipped returns fs.SkipDir for folders that the go tool ignores, and for folders of npm.
func skipped(root fs.FS, p, name string) error {
	if p == "." {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, p+"/go.mod"); err == nil {
		return fs.SkipDir // a separate module
	}
	return nil
}

// sample parses a control. It begins with the expected findings, followed by files, each after a
// line "-- path --".
func sample(t *testing.T, text string) (head string, tr *tree) {
	t.Helper()
	sources, at := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			if name, ok = strings.CutSuffix(name, " --"); ok {
				at = name
				continue
			}
		}
		if at == "" {
			head += line
		} else {
			sources[at] += line
		}
	}
	tr, err := newTree(sources)
	if err != nil {
		t.Fatal(err)
	}
	return head, tr
}

// unquote returns the value of a string literal.
func unquote(l *ast.BasicLit) string {
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		panic(err) // the parser accepted it
	}
	return s
}

// enclosing returns the name of a function in the form F or T.F.
func enclosing(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

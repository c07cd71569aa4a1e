package archtest

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"coffer/internal/bank/all"
)

// namesOfProviders returns the internal names and the titles of the providers, in lower case.
func namesOfProviders() []string {
	var out []string
	for _, name := range all.Remote("").Enum() {
		spec, _ := all.Find(name) // every name of Enum is found
		out = append(out, name, strings.ToLower(spec.Title))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// providers checks that no file outside bank names a provider. The differences between providers
// are in their specs, so a new provider needs only a directory and a line. The simulators and the
// sample household may name providers, because they are made for certain ones.
func providers(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		if f.in("internal/bank") || f.in("internal/sim") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false // the rule imports checks imports
			}
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			for _, name := range namesOfProviders() {
				if strings.Contains(strings.ToLower(l.Value), name) {
					what := "names " + name + ": take it from all.Specs, or put it into the provider's own spec"
					out = append(out, finding{f.path, tr.line(n), what, "provider " + f.path})
				}
			}
			return true
		})
	}
	return out
}

// namedInWeb lists the files of the web app that name a provider. Its types are generated from the
// API, and its tests use providers as examples.
func namedInWeb(web fs.FS) (out []string, looked int, err error) {
	err = fs.WalkDir(web, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "api/schema.d.ts" || strings.Contains(path.Base(p), ".test.") {
			return err
		}
		b, err := fs.ReadFile(web, p)
		if err != nil {
			return err
		}
		looked++
		text := strings.ToLower(string(b))
		if slices.ContainsFunc(namesOfProviders(), func(name string) bool { return strings.Contains(text, name) }) {
			out = append(out, p)
		}
		return nil
	})
	return out, looked, err
}

// TestNoProviderInTheWebApp checks that a new provider needs no change in the web app, which shows
// providers with the data of GET /providers.
func TestNoProviderInTheWebApp(t *testing.T) {
	t.Parallel()
	named, looked, err := namedInWeb(os.DirFS(filepath.Join("..", "..", "web", "src")))
	if err != nil || looked < 100 {
		t.Fatalf("%d files, %v", looked, err)
	}
	for _, p := range named {
		t.Errorf("web/src/%s names a provider: take it from GET /providers", p)
	}
	named, _, err = namedInWeb(fstest.MapFS{ // the control
		"a.tsx": {Data: []byte("const way = provider === 'simplefin'")}, "b.json": {Data: []byte(`"Enable Banking"`)},
		"c.ts": {Data: []byte("provider.title")}, "d.test.ts": {Data: []byte("plaid")},
	})
	if err != nil || !slices.Equal(named, []string{"a.tsx", "b.json"}) {
		t.Errorf("control: %q, %v", named, err)
	}
}

package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"

	"coffer/internal/bank/all"
)

// providers checks that no file outside bank names a provider. The differences between providers
// are in their specs, so a new one is a directory and a line. The simulators and the sample
// household are props, made for certain providers.
func providers(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		if f.in("internal/bank") || f.in(inside(props)...) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false // imports has a rule of its own
			}
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			for _, name := range all.Remote("").Enum() {
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

// inside are the folders of packages.
func inside(packages []string) []string {
	out := make([]string, len(packages))
	for i, p := range packages {
		out[i] = "internal/" + p
	}
	return out
}

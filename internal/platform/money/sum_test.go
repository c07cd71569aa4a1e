package money_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"strings"
	"testing"

	"coffer/internal/platform/money"
)

func TestSum(t *testing.T) {
	t.Parallel()
	five := money.MustParse("5.00").Total()
	sum := five.In("EUR")
	if got, ok := sum.Of("EUR"); !ok || got != five {
		t.Errorf("got %s, %t", got, ok)
	}
	if got, ok := sum.Of("USD"); ok || !got.IsZero() {
		t.Errorf("euros became dollars: %s", got)
	}
	if a, err := five.Amount(); err != nil || a != money.MustParse("5.00") {
		t.Errorf("got %s, %v", a, err)
	}
	large := money.MustParse("9999999999.99").Total()
	if large, _ = large.Add(large); large.String() != "19999999999.98" {
		t.Fatal(large)
	}
	if _, err := large.Amount(); err == nil {
		t.Error("a total of eleven digits became an amount")
	}
}

// Code that adds, compares or takes apart sums of two currencies does not compile.
func TestSumsDoNotMix(t *testing.T) {
	t.Parallel()
	if build.Default.GOROOT == "" { // a test that is built with -trimpath does not know it
		root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	fset := token.NewFileSet()
	load := importer.ForCompiler(fset, "source", nil)
	compiles := func(expression string) bool {
		f, err := parser.ParseFile(fset, "x.go", `package x
			import "coffer/internal/platform/money"
			func x(a, b money.Sum, t money.Total, c money.Converted, r money.Rate) { _, _, _, _ = t, a, c, r; `+expression+` }`, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&types.Config{Importer: load}).Check("x", fset, []*ast.File{f}, nil)
		return err == nil
	}
	if !compiles(`_, _ = a.Of("EUR"); _ = t.In("EUR"); c, _ = a.Times(r); _, _ = c.Plus(b.Itself())`) {
		t.Fatal("what is right does not compile, so nothing was shown")
	}
	for _, wrong := range []string{
		`_ = a + b`, `_ = a - b`, `_ = a < b`, `_, _ = a.Add(b)`, `_, _ = t.Add(a)`, `_ = a.Cmp(b)`, `_ = a.total`,
		`var u money.Total = a; _ = u`, `_ = money.Total(a)`,
		// a converted amount is not money
		`_, _ = t.Add(c)`, `_, _ = c.Plus(t)`, `_, _ = c.Plus(a)`, `_ = money.Total(c)`, `_ = c.In("EUR")`, `_ = c + c`,
		`_, _ = c.Times(r)`, `var s money.Sum = c; _ = s`, `_, _ = t.Times(r)`, `_ = c.cents`,
	} {
		if compiles(wrong) {
			t.Errorf("%s compiles", wrong)
		}
	}
}

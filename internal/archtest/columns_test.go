package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

const (
	codeColumns    = 120
	commentColumns = 100
	tabColumns     = 4
)

// columns finds lines that are too wide. It accepts lines that are wide because of a raw string, a
// struct tag or a linter directive, which cannot be broken. It also accepts tests, whose tables of
// cases are easier to read in one line.
func columns(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.files {
		if f.test {
			continue
		}
		whole := tr.unbreakable(f)
		for i, line := range f.lines {
			wide, most := len([]rune(strings.ReplaceAll(line, "\t", strings.Repeat(" ", tabColumns)))), codeColumns
			comment := strings.HasPrefix(strings.TrimSpace(line), "//")
			if comment {
				most = commentColumns
			}
			if wide <= most || whole[i+1] || strings.Contains(line, "//nolint") || strings.Contains(line, "://") && comment {
				continue
			}
			out = append(out, finding{
				f.path, i + 1, fmt.Sprintf("is %d columns wide, at most %d are good to read: break it", wide, most),
				fmt.Sprintf("columns %s:%d", f.path, i+1),
			})
		}
	}
	return out
}

// unbreakable returns the numbers of the lines that contain part of a raw string.
func (tr *tree) unbreakable(f *file) map[int]bool {
	out := map[int]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		l, ok := n.(*ast.BasicLit)
		if ok && l.Kind == token.STRING && strings.HasPrefix(l.Value, "`") {
			for i := tr.fset.Position(l.Pos()).Line; i <= tr.fset.Position(l.End()).Line; i++ {
				out[i] = true
			}
		}
		return true
	})
	return out
}

package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A banned word must not appear in strings, package comments and comments of exported names.
type banned struct {
	pattern *regexp.Regexp
	instead string
}

var bannedWords = []banned{
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bshall\b`), "must or will"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "anyone who, or the noun"},
	{regexp.MustCompile(`(?i)\bways? in(?:[.,;:]|$| of\b)`), "sign-in method"},
	{regexp.MustCompile(`(?i)\b(?:this|that|it|which|what|login|file|answer) is no (?:[^l]|l[^o])`), "is not a"},
}

// functionsReturn is for comments alone: a question and its answer may be called so in a text.
var functionsReturn = banned{regexp.MustCompile(`\banswers\b`), "returns"}

// unspoken are the packages whose comments are not clean yet. It only gets shorter.
var unspoken = []string{
	"internal/account", "internal/cli", "internal/counterparty", "internal/filing", "internal/journal",
	"internal/ledger", "internal/mcp", "internal/op", "internal/pg", "internal/pg/pgtest", "internal/rest",
	"internal/rule", "internal/rulebook", "internal/text",
}

// voice checks that strings and exported comments of internal packages use plain words.
func voice(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		if !f.in("internal", "cmd") {
			continue
		}
		report := func(n ast.Node, text string, list ...banned) {
			for _, b := range list {
				if said := b.pattern.FindString(text); said != "" {
					what := fmt.Sprintf("%q: write %s", strings.Trim(said, " "), b.instead)
					out = append(out, finding{f.path, tr.line(n), what, "voice " + f.path})
				}
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				report(lit, strings.Trim(lit.Value, "`\""), bannedWords...)
			}
			return true
		})
		if slices.Contains(unspoken, f.dir) {
			continue
		}
		for _, doc := range exportedDocs(f.syntax) {
			report(doc, strings.Join(strings.Fields(doc.Text()), " "), append(bannedWords, functionsReturn)...)
		}
	}
	return out
}

// exportedDocs returns the package comment and the comments of exported names.
func exportedDocs(file *ast.File) []*ast.CommentGroup {
	var docs []*ast.CommentGroup
	add := func(doc *ast.CommentGroup, name string) {
		if doc != nil && ast.IsExported(name) {
			docs = append(docs, doc)
		}
	}
	if file.Doc != nil {
		docs = append(docs, file.Doc)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Doc, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok {
					add(d.Doc, t.Name.Name)
				}
			}
		}
	}
	return docs
}

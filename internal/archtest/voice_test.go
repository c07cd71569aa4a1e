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

// A banned pattern must not appear in strings or comments of shipped files.
type banned struct {
	pattern *regexp.Regexp
	instead string
}

var bannedWords = []banned{
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bshall\b`), "must or will"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "anyone who, or the noun"},
	{regexp.MustCompile(`(?i)\bheld against\b`), "locked, protected from or compared with"},
	{regexp.MustCompile(`(?i)\b(?:tell|tells|told|telling)\b`), "notify, report, return or state"},
	{regexp.MustCompile(`(?i)\bways? in(?:[.,;:]|$| of\b)`), "sign-in method"},
	{regexp.MustCompile(`(?i)\b(?:this|that|it|which|what|login|file|answer) is no (?:[^l]|l[^o])`), "is not a"},
}

// commentWords are banned in comments only. Models and people give answers; functions return.
var commentWords = []banned{
	{regexp.MustCompile(`(?:^|[Ii]t |, and |^Package \w+ )answers\b`), "returns"},
	{regexp.MustCompile(`(?:^|[.!?] )What\b[^.!?]*? is\b`), "a subject that is a noun"},
}

// spoken matches phrases in which a person or a model is informed, and the name of a page of the
// simulated banks. They are allowed in strings.
var spoken = regexp.MustCompile(
	`(?i)\btell (?:us|the household|the user)\b|\bthat tell whether\b|\bthe model is told\b|^told$|"told"`)

// voice checks that strings and comments of internal packages use plain words.
func voice(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, f := range tr.shipped() {
		report := func(n ast.Node, text string, list ...banned) {
			for _, b := range list {
				if said := b.pattern.FindString(text); said != "" {
					what := fmt.Sprintf("%q: write %s", strings.Trim(said, " ."), b.instead)
					out = append(out, finding{f.path, tr.line(n), what, "voice " + f.path})
				}
			}
		}
		names := map[string]bool{}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					report(n, spoken.ReplaceAllString(strings.Trim(n.Value, "`\""), ""), bannedWords...)
				}
			case *ast.Ident:
				names[n.Name] = true
			}
			return true
		})
		for _, c := range f.syntax.Comments {
			report(c, commentText(c, names), slices.Concat(bannedWords, commentWords)...)
		}
	}
	return out
}

// commentText returns a comment on one line. If it begins with a name of the code, as doc comments
// do, the name is left out, because names are not text.
func commentText(c *ast.CommentGroup, names map[string]bool) string {
	words := strings.Fields(c.Text())
	if len(words) > 0 && names[words[0]] {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

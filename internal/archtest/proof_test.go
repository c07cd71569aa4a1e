package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goTestName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	goTestFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	webTest    = regexp.MustCompile("`([\\w/.-]+\\.test\\.tsx?)`")
)

// TestDefectsNameTheirTests makes sure that every test that the page about defects names exists. A
// deleted test proves nothing.
func TestDefectsNameTheirTests(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	funcs, files := map[string]bool{}, []string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == ".git" || name == ".bin"):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range goTestFunc.FindAllStringSubmatch(string(text), -1) {
				funcs[m[1]] = true
			}
		case strings.HasSuffix(name, ".test.ts"), strings.HasSuffix(name, ".test.tsx"):
			files = append(files, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "proof", "defects.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(goTestName.FindAllString(string(page), -1)); n < 50 {
		t.Errorf("the page names %d tests, so they are not recognized", n)
	}
	for _, name := range missing(string(page), funcs, files) {
		t.Errorf("docs/proof/defects.md names %s, which does not exist: name the test that took its place", name)
	}
	control := "| a | `app` `TestHouse`, `TestNoSuchThing` | `lib/words.test.ts`, `lib/no-such.test.ts` |"
	want := []string{"TestNoSuchThing", "lib/no-such.test.ts"}
	if got := missing(control, funcs, files); !slices.Equal(got, want) {
		t.Errorf("control: %v", got)
	}
}

// missing returns the tests that a page names but that do not exist.
func missing(page string, funcs map[string]bool, files []string) []string {
	var out []string
	for _, name := range goTestName.FindAllString(page, -1) {
		if !funcs[name] {
			out = append(out, name)
		}
	}
	for _, m := range webTest.FindAllStringSubmatch(page, -1) {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+m[1]) }) {
			out = append(out, m[1])
		}
	}
	return out
}

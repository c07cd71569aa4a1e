package app_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/op"
	"coffer/internal/surface/rest"
)

var interfaceRow = regexp.MustCompile("(?m)^\\| (tool )?`([^`]+)` \\| ([\\w.-]+) \\| (\\S+) \\| (\\S+) \\|$")

// docs/building/interface.md lists routes and tools: each operation exists under its route or tool,
// its package exists, and its story plays it.
func TestInterfacePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/building/interface.md")
	if err != nil {
		t.Fatal(err)
	}
	menu := app.Menu()
	rows := interfaceRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 40 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	for _, r := range rows {
		tool, asked, name, where, story := r[1] != "", r[2], r[3], r[4], r[5]
		found := slices.ContainsFunc(menu, func(o *op.Op) bool {
			return o.ID() == name && (tool && o.Tool == asked || !tool && o.Method+" "+rest.Prefix+o.Path == asked)
		}) || !tool && slices.ContainsFunc(app.RawMenu(), func(raw rest.Raw) bool {
			return raw.Name == name &&
				raw.Route == asked
		})
		if !found {
			t.Errorf("%s is not served by %s", asked, name)
		}
		if _, err := os.Stat(filepath.Join("..", "..", where)); err != nil {
			t.Errorf("%s: %v", asked, err)
		}
		if strings.HasPrefix(story, "(") {
			continue
		}
		played, err := os.ReadFile(filepath.Join("testdata", "stories", story))
		if err != nil || !strings.Contains(string(played), "> "+name+" ") {
			t.Errorf("%s: %s does not play %s (%v)", asked, story, name, err)
		}
	}
}

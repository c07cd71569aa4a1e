package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFolderReadmes makes sure that the README of each folder lists its packages, and that the
// README of internal lists the folders. Newcomers read these files first.
func TestFolderReadmes(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	tr := repository(t)
	byFolder := map[string][]string{"internal": nil}
	for dir := range tr.packages() {
		rest, ours := strings.CutPrefix(dir, "internal/")
		if !ours {
			continue
		}
		folder, below, deeper := strings.Cut(rest, "/")
		byFolder["internal"] = append(byFolder["internal"], folder)
		if deeper && !strings.Contains(below, "/") && folder != "app" {
			byFolder["internal/"+folder] = append(byFolder["internal/"+folder], below)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		text, err := os.ReadFile(filepath.Join(root, folder, "README.md"))
		if err != nil {
			t.Errorf("%s has several packages and no README.md that says what they do", folder)
			continue
		}
		for _, name := range unlisted(string(text), byFolder[folder]) {
			t.Errorf("%s/README.md does not say what %s does: add a line", folder, name)
		}
	}
	if got := unlisted("| [ledger](ledger) | x |", []string{"ledger", "journal"}); !slices.Equal(got, []string{"journal"}) {
		t.Errorf("control: %v", got)
	}
}

// unlisted returns the packages that a README does not list.
func unlisted(readme string, packages []string) []string {
	var out []string
	for _, p := range packages {
		if !strings.Contains(readme, "["+p+"]("+p+")") && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

package app_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"coffer/internal/app"
	"github.com/spf13/cobra"
)

var (
	fenced    = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?\n) *```")
	inline    = regexp.MustCompile("`([^`\n]+)`")
	linked    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	invoked   = regexp.MustCompile(`(?:^|[\s;|(&/])coffer((?: [a-z][a-z-]*)+)([^;|&()#\n]*)`)
	flagged   = regexp.MustCompile(`(?:^| )--([a-z][a-z-]*)`)
	envName   = regexp.MustCompile(`COFFER_[A-Z_]+[A-Z]`)
)

// TestDocuments checks that links in documents lead somewhere, and that the commands, flags and
// variables they name exist.
func TestDocuments(t *testing.T) {
	t.Parallel()
	read := 0
	for _, f := range faults(t, os.DirFS("../.."), &read) {
		t.Error(f)
	}
	if read < 40 {
		t.Errorf("only %d documents were read", read)
	}
}

// TestDocumentsControl shows that each kind of fault is noticed.
func TestDocumentsControl(t *testing.T) {
	t.Parallel()
	page := "# One\n\n[a](gone.md) [b](#two) [c](#one)\n\n```sh\n./coffer tag lost\ncoffer tag list --nope | jq .\n" +
		"coffer tag list --json\n```\nSet `COFFER_LISTEM`, then `coffer tga list`.\n\n" +
		"| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n"
	read := 0
	got := faults(t, fstest.MapFS{"README.md": {Data: []byte(page)}}, &read)
	want := []string{
		"README.md: gone.md leads nowhere", "README.md: #two is not a heading of README.md",
		"README.md: a row without a table: | 3 | 4 |",
		"README.md: there is no command coffer tag lost", "README.md: coffer tag list has no flag --nope",
		"README.md: there is no command coffer tga", "README.md: COFFER_LISTEM is not a setting",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// composeNames are variables of compose.yaml and not of the program.
var composeNames = []string{"COFFER_IMAGE", "COFFER_VERSION", "COFFER_PORT"}

// faults reads every document of the tree and returns what is wrong in it.
func faults(t *testing.T, tree fs.FS, read *int) []string {
	t.Helper()
	root := app.CommandLine(app.Config{}, nil, io.Discard, io.Discard).Root()
	var settings []string
	for _, s := range app.Settings() {
		settings = append(settings, s.Name)
	}
	settings = append(settings, composeNames...)
	foreign := []string{"node_modules", "testdata"}
	var out []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (slices.Contains(foreign, d.Name()) || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md" || strings.HasPrefix(name, "internal/"):
			return nil
		}
		*read++
		page, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		for _, f := range slices.Concat(docLinks(tree, name, string(page)), docTables(string(page)),
			docWords(root, settings, string(page))) {
			out = append(out, name+": "+f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// docTables returns rows that no table shows: after a blank line a row begins a table, and its
// second line must be the rule below the heads.
func docTables(page string) []string {
	var out []string
	lines := strings.Split(fenced.ReplaceAllString(page, ""), "\n")
	for n, line := range lines {
		begins := strings.HasPrefix(line, "|") && (n == 0 || !strings.HasPrefix(lines[n-1], "|"))
		if begins && (n+1 == len(lines) || !strings.HasPrefix(lines[n+1], "|-")) {
			out = append(out, "a row without a table: "+line)
		}
	}
	return out
}

// docLinks returns the relative links of a page that lead to no file, or to no heading of one.
func docLinks(tree fs.FS, name, page string) []string {
	var out []string
	for _, m := range linked.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		if _, err := fs.Stat(tree, target); err != nil {
			out = append(out, m[1]+" leads nowhere")
			continue
		}
		if anchor == "" {
			continue
		}
		text, err := fs.ReadFile(tree, target)
		found := err != nil
		for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			found = found || strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ",
				"-") == anchor
		}
		if !found {
			out = append(out, fmt.Sprintf("%s is not a heading of %s", m[1], target))
		}
	}
	return out
}

// docWords returns the commands, flags and variables of a page that do not exist.
func docWords(root *cobra.Command, settings []string, page string) []string {
	var code []string
	for _, m := range fenced.FindAllStringSubmatch(page, -1) {
		if m[1] == "sh" || m[1] == "ini" {
			code = append(code, strings.Split(m[2], "\n")...)
		}
	}
	for _, m := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		code = append(code, m[1])
	}
	var out []string
	for _, line := range code {
		for _, m := range invoked.FindAllStringSubmatch(line, -1) {
			names := strings.Fields(m[1])
			if strings.HasPrefix(m[2], ":") { // an address, as in: claude mcp add coffer https://…
				names = names[:len(names)-1]
			}
			if len(names) > 0 && names[0] != "coffer" { // as in: createdb --owner coffer coffer
				out = append(out, docCommand(root, names, m[2])...)
			}
		}
	}
	for _, v := range envName.FindAllString(page, -1) {
		known := func(s string) bool { return s == v || strings.HasPrefix(s, v+"_") }
		if !slices.ContainsFunc(settings, known) && !strings.HasPrefix(v, "COFFER_TEST_") {
			out = append(out, v+" is not a setting")
		}
	}
	return out
}

// docCommand returns what does not exist of a command with its flags.
func docCommand(root *cobra.Command, names []string, rest string) []string {
	at := root
	for _, n := range names {
		next, _, err := at.Find([]string{n})
		if err != nil || next == at {
			if at.HasSubCommands() {
				return []string{fmt.Sprintf("there is no command %s %s", at.CommandPath(), n)}
			}
			break
		}
		at = next
	}
	at.InitDefaultHelpFlag()
	var out []string
	for _, m := range flagged.FindAllStringSubmatch(rest, -1) {
		if at.Flags().Lookup(m[1]) == nil && at.InheritedFlags().Lookup(m[1]) == nil {
			out = append(out, fmt.Sprintf("%s has no flag --%s", at.CommandPath(), m[1]))
		}
	}
	return out
}

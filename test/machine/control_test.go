package machine_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app/apptest"
)

// taken are fixes that a mutant removes again.
var taken = []struct {
	name   string
	mutant []apptest.Mutant
}{
	{"rows that an import restores are matched again", []apptest.Mutant{{
		File: "internal/books/ledger/merge.go",
		Old:  "if err := b.followed(ctx, tx, out.lifted); err != nil {",
		New:  "if err := b.followed(ctx, tx, nil); err != nil {",
	}}},
	{"agents leave what a person merged", []apptest.Mutant{{
		File: "internal/books/journal/change.go",
		Old:  "if whole && heldWhole(",
		New:  "if false && whole && heldWhole(",
	}, {
		File: "internal/books/journal/change.go",
		Old:  "; whole && left != nil {",
		New:  "; false && whole && left != nil {",
	}}},
	{"rows are moved back before they are judged", []apptest.Mutant{{
		File: "internal/books/ledger/move.go",
		Old:  "func (moves) Places() {}",
		New:  "func (moves) places() {}\n\nvar _ = moves.places",
	}, {
		File: "internal/books/journal/change.go",
		Old:  "; whole && left != nil {",
		New:  "; false && whole && left != nil {",
	}}},
	{"rows of files stay away when the bank has reported them", []apptest.Mutant{{
		File: "internal/books/ledger/since.go",
		Old:  "fedSince, reportedSince, inFormerAccount,",
		New:  "fedSince, inFormerAccount,",
	}, {
		File: "internal/books/ledger/since.go",
		Old:  "maps.Copy(out, found)",
		New:  "maps.Copy(out, found)\n\t\t_ = reportedSince",
	}}},
	{"mirrors form no circle", []apptest.Mutant{{
		File: "internal/books/accountlink/subject.go",
		Old:  "if err := noCircle(circles(ctx, tx, was, to)); err != nil {",
		New:  "if err := noCircle(false, nil); err != nil {",
	}}},
}

var found = regexp.MustCompile(`a law was broken after \d+ steps`)

// TestMachineFindsMutants is the control: without any one of these mends the ordinary search breaks
// a law.
func TestMachineFindsMutants(t *testing.T) { //nolint:paralleltest // each is a search of its own
	if os.Getenv("COFFER_TEST_LONG") == "" {
		t.Skip("each mutant is built and searched for a minute; COFFER_TEST_LONG=1 runs them")
	}
	for _, m := range taken { //nolint:paralleltest // they measure how soon
		t.Run(m.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), apptest.TestProgram(t, "coffer/test/machine", m.mutant...),
				"-test.v", "-test.run=^TestMachine$", "-rapid.shrinktime=1ms")
			cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COFFER_TEST_LONG=") })
			out, err := cmd.CombinedOutput()
			at := found.Find(out)
			if err == nil || at == nil {
				t.Fatalf("it is not found: %v\n%s", err, out[max(0, len(out)-2000):])
			}
			law := ""
			for line := range strings.Lines(string(out)) {
				if _, what, ok := strings.Cut(line, "tests: law: "); ok {
					law = strings.TrimSpace(what)
				}
			}
			t.Logf("%s: %s", at, law)
		})
	}
}

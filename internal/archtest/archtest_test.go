package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A rule is a convention that the whole repository must follow.
type rule struct {
	name  string // testdata/<name>.txt is its control: a sample that breaks the rule
	check check
	trial check // the control uses it if the real limits are too large for a sample; nil means check
}

// A check reads source and returns where it breaks the rule.
type check func(*testing.T, *tree) []finding

var rules = []rule{
	{name: "imports", check: imports},
	{name: "writes", check: writes},
	{name: "comments", check: comments},
	{name: "sizes", check: bounds.check, trial: sizes{
		file: 12, test: 12, function: 3, exported: 2, statements: 4, surface: 3,
		share: 60, from: 6,
	}.check},
	{name: "columns", check: columns},
	{name: "sql", check: prepared},
	{name: "floats", check: floats},
	{name: "words", check: words},
	{name: "voice", check: voice},
	{name: "providers", check: providers},
}

// exceptions are the intended breaches, by the key of their finding, each with its reason.
var exceptions = map[string]string{
	"write app instance": "the check of the encryption key is made at the start, and only app has " +
		"the key ring and the database in hand; pg owns the table and knows no household's ring",
	"write internal/platform/pg/reseal.go DB.Reseal": "rotation rewraps the columns that app lists as sealed, whoever owns " +
		"them: the wrapping changes, the value does not",

	"package internal/books/ledger": "imports and edits share private parts, and the one table of columns ties lists to " +
		"them, as design.md says",

	"unchecked internal/platform/pg/reseal.go DB.Reseal": "table and column are arguments; TestResealOnline runs it",
	"unchecked internal/platform/pg/reseal.go Unopened":  "the same; TestForgetLostKey runs it",
	"write internal/books/journal/definition.go Definition.set": "the owner of the table makes the Definition, and nothing " +
		"else can be written through it",
	"write internal/books/journal/definition.go Definition.Make": "the same",

	"unchecked internal/platform/job/enqueue.go Jobs.Put": "asks a question that its callers give as a " +
		"constant; every webhook runs it",
	"unchecked internal/books/journal/definition.go Definition.Lock": "the table is the owner's, named when the program " +
		"starts; stories revert each kind",
	"unchecked internal/books/journal/definition.go Definition.Read":  "the same",
	"unchecked internal/books/journal/definition.go Definition.set":   "the same",
	"unchecked internal/books/journal/definition.go Definition.Rows":  "the same; the rehearsal laws run each kind",
	"unchecked internal/books/journal/definition.go Definition.Make":  "the same; the rehearsal laws run each kind",
	"unchecked internal/books/journal/definition.go Definition.taken": "the same",
	"unchecked internal/books/journal/bind.go Definition.Standing":    "the same",
	"unchecked internal/books/journal/change.go newest":               "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/review/review.go Desk.waiting":          "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/payee/list.go Payees.rows":              "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/payee/get.go Payees.detail":             "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/analytics/timeline.go Totals.Timeline":  "composed of groupings; a story runs both",
	"unchecked internal/books/analytics/fixed.go Totals.paid":         "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/reviewgroup/group.go grouped": "a filtered list: its condition comes from pg.Where; " +
		"tests run it with and without a cursor",
	"unchecked internal/agents/workflow/worklist.go Definition.Take":  "a filtered list: its condition comes from pg.Where",
	"unchecked internal/agents/workflow/worklist.go Definition.known": "a filtered count: its condition comes from pg.Where",
	"unchecked internal/agents/workflow/worklist.go takePayees":       "a filtered list: its condition comes from pg.Where",
	"unchecked internal/agents/workflow/worklist.go Definition.Open":  "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/ledger/bulk.go Books.matching":          "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/ledger/filter.go Books.accounts":        "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/ledger/filter.go references": "a look-up that its callers give as a constant; the " +
		"walk over every filter runs them",
	"unchecked internal/books/sift/sift.go Wordings":       "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/ledger/list.go Books.totals": "a filtered sum: its condition comes from pg.Where",
	"unchecked internal/books/ledger/page.go reader.run": "the list of transactions is composed of filters, " +
		"sorts and page sizes; the walk over every filter runs them",
	"unchecked internal/books/ledger/transaction.go Books.single": "selects the columns of a transaction, which stand " +
		"in one table; every story runs it",
	"unchecked internal/books/ledger/list.go Books.count":               "a filtered count: its condition comes from pg.Where",
	"unchecked internal/books/analytics/pivot.go Totals.pivot":          "composed of groupings; a test runs every pair",
	"unchecked internal/books/analytics/summary.go Totals.sums":         "composed of groupings; a test runs every pair",
	"unchecked internal/books/analytics/summary.go Totals.Summary":      "a filtered count: its condition comes from pg.Where",
	"unchecked internal/books/analytics/note.go SummaryRequest.leftOut": "a filtered count: its condition comes from pg.Where",
	"unchecked internal/rules/rulebook/list.go Rulebook.Find":           "a filtered list: its condition comes from pg.Where",
	"unchecked internal/rules/ruleview/ruleview.go Lens.Read": "reads the columns that conditions need; a test " +
		"runs every field",
	"unchecked internal/rules/ruleview/narrow.go Words": "its condition comes from what a rule needs; the " +
		"laws run every kind of it",
	"unchecked internal/rules/rulebook/apply.go scope.count":                "a filtered count: its condition comes from pg.Where",
	"unchecked internal/app/demo.go administer":                             "creating, naming and dropping databases takes no arguments; the demo's test runs each",
	"unchecked internal/rules/rulebook/draft.go Rulebook.Rehearse":          "a filtered count: its condition comes from pg.Where",
	"unchecked internal/books/accountlink/link.go Links.List":               "a filtered list: its condition comes from pg.Where",
	"unchecked internal/books/accountlink/match.go Links.Matches":           "a filtered list: its condition comes from pg.Where",
	"unchecked internal/connections/connection/log.go Connections.SyncLogs": "a filtered list: its condition comes from pg.Where",
	"unchecked internal/platform/pg/resolve.go Names": "a look-up that its callers give as a constant; " +
		"stories run each",
	"unchecked internal/archive/load.go reader.empty": "every table that the catalog names; importing runs " +
		"it on each",
	"unchecked internal/archive/load.go table.clear":       "the same",
	"unchecked internal/archive/load.go reader.fill":       "the same",
	"unchecked internal/archive/load.go table.finishTable": "the same",
	"unchecked internal/archive/load.go references.drop":   "the same",
	"unchecked internal/archive/load.go references.add":    "the same",
	"unchecked internal/archive/erase.go target.count": "every table that the catalog says refers to what " +
		"goes; erasing runs it on each",
	"unchecked internal/archive/eraser.go eraser.some":         "the same, and those that stand in leftovers",
	"unchecked internal/archive/eraser.go eraser.transactions": "the same",
	"unchecked internal/archive/eraser.go eraser.root":         "the same",
	"unchecked internal/archive/write.go table.print": "every table that the catalog names; exporting runs " +
		"it on each",
	"unchecked bench/measure/measure.go NewScratch":   "create database takes no arguments",
	"unchecked bench/measure/measure.go Scratch.Drop": "drop database takes no arguments",

	"untrusted internal/books/ledger/decode.go": "reads back what was cleaned when it was stored",

	"unchecked bench/books/bare.go page":         "the bare program composes its pages as the ledger does",
	"sql bench/books/bare.go deepPage":           "the arguments are put together in page",
	"unchecked bench/books/bare.go grouping":     "the bare program composes its groupings as the ledger does",
	"unchecked bench/books/bare.go bareTrigram":  "its table is made by the program itself",
	"unchecked bench/books/world.go world.close": "drop schema takes no arguments",
	"unchecked bench/sync/bare.go cargo.merge":   "the columns are read from the database that it fills again",
	"unchecked bench/sync/bare.go cargo.stage":   "the same",
	"unchecked bench/sync/bare.go cargo.empty":   "truncate, vacuum and checkpoint take no arguments",

	"provider internal/app/sandbox.go": "runs banksim, which simulates these providers; no real bank is asked " +
		"there",

	"float internal/surface/rest/gate.go": "x/time/rate counts the tokens of a bucket in floats",
	"float internal/app/metrics.go":       "Prometheus measures in floats",
	"float internal/app/eyes.go":          "Prometheus measures in floats",
}

// TestHouse checks the repository with every rule.
func TestHouse(t *testing.T) {
	t.Parallel()
	tr := repository(t)
	var mu sync.Mutex
	excused, ran := map[string]bool{}, 0
	t.Cleanup(func() {
		if ran == len(rules) { // otherwise -run chose some rules, and exceptions of the others are not stale
			for _, key := range stale(exceptions, excused) {
				t.Errorf("exceptions[%q] excuses nothing any more: take it out", key)
			}
		}
	})
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			found := r.check(t, tr)
			mu.Lock()
			defer mu.Unlock()
			ran++
			for _, f := range found {
				if reason := exceptions[f.key]; reason != "" {
					excused[f.key] = true
					t.Logf("excused: %s: %s", f, reason)
				} else {
					t.Error(f)
				}
			}
		})
	}
}

// stale returns the exceptions that are no longer needed.
func stale(exceptions map[string]string, excused map[string]bool) []string {
	var out []string
	for key := range exceptions {
		if !excused[key] {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// TestStale checks that stale finds an unneeded exception.
func TestStale(t *testing.T) {
	t.Parallel()
	got := stale(map[string]string{"a": "needed", "b": "was needed once"}, map[string]bool{"a": true})
	if !slices.Equal(got, []string{"b"}) {
		t.Errorf("got %q", got)
	}
}

// TestControls proves that every rule can fail. Each sample begins with the findings that it must
// produce: all of them and no others.
func TestControls(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(filepath.Join("testdata", r.name+".txt"))
			if err != nil {
				t.Fatalf("a rule needs a control: %v", err)
			}
			head, tr := sample(t, string(b))
			var want, got []string
			for line := range strings.Lines(head) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					want = append(want, line)
				}
			}
			if len(want) == 0 {
				t.Fatal("the control expects nothing, so the rule is not shown to work")
			}
			run := r.check
			if r.trial != nil {
				run = r.trial
			}
			for _, f := range run(t, tr) {
				got = append(got, f.String())
			}
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("not found: %s", w)
				}
			}
			for _, g := range got {
				if !slices.Contains(want, g) {
					t.Errorf("found without reason: %s", g)
				}
			}
		})
	}
}

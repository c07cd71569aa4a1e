package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A floor is a folder of internal with its packages, by level. If the folder itself is a package,
// that package has the folder's name and is on level 0.
type floor struct {
	folder string
	levels [][]string
}

// floors are the layers of the repository, lowest first. A package may import packages of lower
// floors, and on its own floor those of lower levels. The README of each folder describes its
// packages.
var floors = []floor{
	{"platform", [][]string{
		{"errs", "money", "id", "text", "seal", "reach", "qr", "cron", "racetest"}, {"pg"}, {"op", "schedule"}, {"job"},
	}},
	{"sim", [][]string{{"household"}, {"banks", "models", "statements"}}},
	{"llm", [][]string{{"llm"}}},
	{"bank", [][]string{{"bank"}}},
	{"notify", [][]string{{"notify"}}},
	{"settings", [][]string{{"settings"}}},
	{"people", [][]string{{"trackrecord"}, {"auth"}}},
	{"books", [][]string{
		{"search", "payeename", "phrase"},
		{"sift"},
		{"journal"},
		{"category", "account"},
		{"ledger"},
		{"counterparty", "recurring", "reviewgroup", "review"},
		{"analytics", "finding"},
		{"report", "accountlink", "savedview", "target", "manual"},
		{"overview", "accountmerge", "payee"},
		{"alert"},
	}},
	{"rules", [][]string{{"engine"}, {"ruleview"}, {"rulebook"}}},
	{"connections", [][]string{{"connection"}, {"linksession", "statement"}, {"webhook"}}},
	{"agents", [][]string{{"eval", "guide"}, {"workflow"}, {"run"}}},
	{"archive", [][]string{{"archive"}}},
	{"surface", [][]string{{"web", "lan"}, {"htmlpage"}, {"rest", "mcp", "cli", "signin"}, {"linkpage"}}},
	{"app", [][]string{{"app"}}},
	{"archtest", [][]string{{"archtest"}}},
}

// rooms are packages below another package. They have its level and may import it.
var rooms = []string{
	"pg/pgtest", "job/jobtest", "engine/enginetest", "ledger/ledgertest", "bank/banktest", "bank/all",
	"bank/statement", "bank/statement/all", "bank/statement/reading",
	"llm/anthropic", "llm/openai", "llm/all", "llm/llmtest", "app/apptest", "app/dialog", "app/family", "signin/oauth",
	"signin/signintest",
}

var (
	kernel    = []string{"errs", "money", "id", "text", "seal", "reach"}
	pure      = []string{"errs", "money", "id", "text"}
	transport = append([]string{"op", "auth", "job"}, kernel...)
	provider  = append([]string{"bank"}, pure...)
	format    = append([]string{"bank/statement", "bank/statement/reading"}, pure...)
	modeler   = append([]string{"llm"}, pure...)
)

// only lists the packages that may import less than their level allows.
var only = map[string][]string{
	"cmd/coffer":         {"app"},
	"web":                {},
	"lan":                {},
	"qr":                 {},
	"racetest":           {},
	"reach":              {},
	"cron":               {},
	"engine":             pure,
	"search":             pure,
	"engine/enginetest":  append([]string{"engine"}, pure...),
	"bank":               append([]string{"reach"}, pure...),
	"bank/banktest":      provider,
	"bank/statement":     pure,
	"bank/statement/all": {"bank/statement"}, // and every format
	"bank/all":           {"bank"},           // and every provider

	"bank/statement/reading": append([]string{"bank/statement"}, pure...),

	"llm":           append([]string{"reach"}, pure...),
	"llm/anthropic": modeler,
	"llm/openai":    modeler,
	"llm/all":       append([]string{"llm/anthropic", "llm/openai"}, modeler...),
	"llm/llmtest":   append([]string{"models"}, modeler...), // the model server with which the clients are tested
	"household":     pure,
	"htmlpage":      {"errs", "web"}, // for the typeface
	"linkpage":      {"errs", "bank", "bank/all", "htmlpage", "linksession"},
	// It must not import bank, because it checks the clients and must not be built from their code.
	"banks":             append([]string{"household"}, pure...),
	"models":            append([]string{"household"}, pure...),
	"statements":        append([]string{"household"}, pure...),
	"rest":              append([]string{"htmlpage"}, transport...), // for its error pages
	"mcp":               transport,
	"cli":               transport,
	"signin":            append([]string{"htmlpage"}, transport...),
	"signin/oauth":      append([]string{"htmlpage", "signin"}, transport...),
	"signin/signintest": {},
	"app/dialog":        append([]string{"bank", "bank/all", "op", "cli"}, pure...),
	"app/family":        append([]string{"pg", "op", "schedule", "job", "household", "auth"}, pure...),
}

// also lists imports that the levels do not allow but are intended.
var also = map[string][]string{
	"app": {"archive", "app/dialog", "app/family"}, // app hands archive's commands to cli
}

// never lists imports that the levels allow but are forbidden.
var never = map[string][]string{
	"workflow": {"seal"}, // a manipulated agent must not get keys
	"run":      {"seal"},
	"eval":     {"seal"},
}

// seenBy lists the importers of packages that higher packages may not import freely. Tests, test/
// and bench/ may import them too.
var seenBy = map[string][]string{
	"app":                {"cmd/coffer"},
	"app/dialog":         {"app"},
	"app/family":         {"app"},
	"archive":            {"cmd/coffer", "app"},
	"web":                {"app", "htmlpage"},
	"bank/statement/all": {"app"},
	"llm/anthropic":      {"llm/all"},
	"llm/openai":         {"llm/all"},
	"llm/all":            {"settings", "app"},
	"household":          {"app", "app/family", "banks", "models", "statements"}, // tests, benchmarks and the demo
	"banks":              {"app"},
	"models":             {"app", "llm/llmtest"},
	"statements":         {},
	"archtest":           {},
}

// props are simulators and sample data for tests of every level. Besides tests, the demo uses them.
var props = []string{"household", "banks", "models", "statements"}

// tested lists packages of higher levels that a package's tests may import, because they implement
// an interface that the package uses.
var tested = map[string][]string{
	"manual":  {"rulebook"},
	"payee":   {"rulebook"},
	"archive": {"app"},
}

// A library is third-party code that only a few packages may import, so that it can be replaced
// easily.
type library struct {
	path  string
	users []string
	tests bool // any test may use it, as the other side of a protocol
}

var libraries = []library{
	{path: "github.com/pressly/goose", users: []string{"pg"}},
	{path: "github.com/spf13/cobra", users: []string{"cli", "app", "app/dialog"}},
	{path: "go.yaml.in/yaml", users: []string{"cli", "test"}},
	{path: "github.com/modelcontextprotocol/go-sdk", users: []string{"mcp", "test", "bench"}, tests: true},
	{path: "github.com/prometheus", users: []string{"app"}},
	{path: "github.com/govalues/decimal", users: []string{"money"}},
	{path: "github.com/go-webauthn/webauthn", users: []string{"signin"}, tests: true},
	{path: "github.com/coreos/go-oidc", users: []string{"signin"}},
	{path: "golang.org/x/crypto/argon2", users: []string{"auth"}},
	{path: "filippo.io/age", users: []string{"archive"}},
}

// short returns the name that the tables above use for a package's folder. It leaves out internal
// and the floor, because no two packages have the same name.
func short(dir string) string {
	name := strings.TrimPrefix(dir, "internal/")
	folder, rest, deeper := strings.Cut(name, "/")
	for _, f := range floors {
		if name != dir && deeper && f.folder == folder && f.levels[0][0] != folder {
			return rest
		}
	}
	return name
}

// levelOf returns a package's level as a number: the index of its floor times 100, plus the level
// on that floor. Programs are above all floors.
func levelOf(pkg string) (int, bool) {
	if pkg == "cmd/coffer" || pkg == "test" || pkg == "bench" || strings.HasPrefix(pkg, "test/") ||
		strings.HasPrefix(pkg, "bench/") {
		return 100 * len(floors), true
	}
	if slices.Contains(rooms, pkg) || isProvider(pkg) || isFormat(pkg) {
		pkg, _, _ = strings.Cut(pkg, "/")
	}
	for i, f := range floors {
		for n, names := range f.levels {
			if slices.Contains(names, pkg) {
				return 100*i + n, true
			}
		}
	}
	return 0, false
}

// place describes a level by its floor and the level on that floor.
func place(level int) string { return fmt.Sprintf("%s %d", floors[level/100].folder, level%100) }

// floorOf returns the folder in which a package must be.
func floorOf(pkg string) string {
	if at, ok := levelOf(pkg); ok && at < 100*len(floors) {
		return floors[at/100].folder
	}
	return ""
}

// isProvider reports whether a package is a provider: any package below bank that is not a room.
// The tables do not list providers, because a new provider must need only a directory and one line
// in bank/all.
func isProvider(pkg string) bool {
	return strings.HasPrefix(pkg, "bank/") && strings.Count(pkg, "/") == 1 && !slices.Contains(rooms, pkg)
}

// isFormat reports whether a package is a statement format: any package below bank/statement that
// is not a room. As with providers, a new one needs only a directory and one line in
// bank/statement/all.
func isFormat(pkg string) bool {
	return strings.HasPrefix(pkg, "bank/statement/") && strings.Count(pkg, "/") == 2 && !slices.Contains(rooms, pkg)
}

// isHelper reports whether a package exists for tests only.
func isHelper(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// imports checks that packages only import what the tables above allow.
func imports(_ *testing.T, tr *tree) []finding {
	var out []finding
	for _, dir := range slices.Sorted(maps.Keys(tr.packages())) {
		if _, ok := levelOf(short(dir)); !ok {
			out = append(out, finding{
				path: dir, key: "place " + dir,
				what: "stands nowhere in the picture of the house: if it is needed, give it a level on a floor in " +
					"archtest's floors (or a room below another package) and a line in its folder's README",
			})
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(tr.packages())) {
		if want := floorOf(short(dir)); want != "" && dir != "internal/"+want &&
			!strings.HasPrefix(dir, "internal/"+want+"/") {
			out = append(out, finding{path: dir, key: "floor " + dir, what: "belongs into internal/" + want})
		}
	}
	for _, f := range tr.files {
		for _, i := range f.syntax.Imports {
			target, why := unquote(i.Path), strange
			if ours, ok := strings.CutPrefix(target, module+"/"); ok {
				target, why = short(ours), refused
			}
			said := why(f, target)
			if said != "" {
				out = append(out, finding{f.path, tr.line(i), said, "import " + short(f.dir) + " " + target})
			}
		}
	}
	return out
}

// refused returns the reason why the file may not import a package of this module, or "".
func refused(f *file, to string) string {
	from := short(f.dir)
	at, known := levelOf(from)
	below, exists := levelOf(to)
	if from == to || !known || !exists {
		return "" // its own external test; or a package without a place, which is reported once
	}
	parent, _, _ := strings.Cut(from, "/")
	list, narrow := only[from]
	by, shy := seenBy[to]
	if isProvider(from) {
		list, narrow = provider, true
	}
	if isProvider(to) {
		by, shy = []string{"bank/all"}, true
	}
	if isFormat(from) {
		list, narrow = format, true
	}
	if isFormat(to) {
		by, shy = []string{"bank/statement/all"}, true
		if to == "bank/statement/csv" {
			by = append(by, "bank/statement/xlsx") // a sheet is also a table
		}
	}
	switch {
	case f.in("test", "bench"):
		return ""
	case f.test && (below <= at || isHelper(to) || slices.Contains(props, to) || slices.Contains(tested[from], to)):
		return "" // a test may import everything up to its own level
	case f.test:
		return fmt.Sprintf("a test of %s (%s) may not see %s (%s): what needs both belongs into the upper one's "+
			"tests or into test/", from, place(at), to, place(below))
	case isHelper(to) && !isHelper(from):
		return fmt.Sprintf("%s is for tests only", to)
	case shy && !slices.Contains(by, from):
		return fmt.Sprintf("%s may be seen by %s and tests only", to, listed(by))
	case isProvider(to) || isFormat(to): // of higher packages, only the list may import these
		return ""
	case narrow && !slices.Contains(list, to):
		return fmt.Sprintf("%s may see %s and nothing else of ours, so not %s", from, listed(list), to)
	case slices.Contains(never[from], to):
		return fmt.Sprintf("%s must never see %s", from, to)
	case narrow || slices.Contains(also[from], to) || below < at || slices.Contains(rooms, from) && to == parent:
		return ""
	}
	return fmt.Sprintf("%s (%s) may not see %s (%s): imports go down only; hand it in as a value or a small "+
		"interface", from, place(at), to, place(below))
}

// strange returns the reason why the file may not import a third-party package, or "".
func strange(f *file, target string) string {
	for _, l := range libraries {
		if target != l.path && !strings.HasPrefix(target, l.path+"/") || f.test && l.tests {
			continue
		}
		top, _, _ := strings.Cut(f.dir, "/")
		if !slices.Contains(l.users, short(f.dir)) && !slices.Contains(l.users, top) {
			return fmt.Sprintf("%s is known to %s only", l.path, listed(l.users))
		}
	}
	return ""
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// TestPicture makes sure that the tables name only packages that have a place. A misspelled name
// would forbid or allow nothing.
func TestPicture(t *testing.T) {
	t.Parallel()
	check := func(table string, names ...string) {
		for _, n := range names {
			if _, ok := levelOf(n); !ok {
				t.Errorf("%s names %s, which has no level", table, n)
			}
		}
	}
	for name, m := range map[string]map[string][]string{"only": only, "also": also, "never": never, "seenBy": seenBy} {
		for k, v := range m {
			check(name, append([]string{k}, v...)...)
		}
	}
	check("props", props...)
	for _, l := range libraries {
		check("libraries", l.users...)
	}
	seen := map[string]bool{}
	names := slices.Clone(rooms)
	for _, f := range floors {
		names = append(names, slices.Concat(f.levels...)...)
	}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s has two places", n)
		}
		seen[n] = true
	}
}

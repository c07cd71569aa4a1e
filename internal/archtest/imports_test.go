package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A floor is a folder of internal with its packages, by level. A folder that is one package has its
// own name on level 0.
type floor struct {
	folder string
	levels [][]string
}

// floors is the picture of the house, from the ground up: a package sees only floors below its own,
// and on its own floor only levels before its own. The README of each folder says what lives there.
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

// rooms are packages below another: they stand on its level and see it.
var rooms = []string{
	"pg/pgtest", "job/jobtest", "engine/enginetest", "ledger/ledgertest", "bank/banktest", "bank/all",
	"bank/statement", "bank/statement/all", "bank/statement/reading",
	"llm/anthropic", "llm/openai", "llm/all", "llm/llmtest", "app/apptest", "signin/oauth",
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

// only names those that see less than their level would let them.
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
	"llm/llmtest":   append([]string{"models"}, modeler...), // the server that the clients are tested with
	"household":     pure,
	"htmlpage":      {"errs", "web"}, // for the typeface
	"linkpage":      {"errs", "bank", "bank/all", "htmlpage", "linksession"},
	// It must not import bank, because it checks the clients and must not be built from their code.
	"banks":             append([]string{"household"}, pure...),
	"models":            append([]string{"household"}, pure...),
	"statements":        append([]string{"household"}, pure...),
	"rest":              append([]string{"htmlpage"}, transport...), // for people who are lost
	"mcp":               transport,
	"cli":               transport,
	"signin":            append([]string{"htmlpage"}, transport...),
	"signin/oauth":      append([]string{"htmlpage", "signin"}, transport...),
	"signin/signintest": {},
}

// also names what is seen beyond the levels.
var also = map[string][]string{
	"app": {"archive"}, // app hands archive's commands to cli
}

// never names what the levels would allow and must not be.
var never = map[string][]string{
	"workflow": {"seal"}, // a hijacked agent finds no key
	"run":      {"seal"},
	"eval":     {"seal"},
}

// seenBy lists the importers of packages that are not open to everyone above them; tests, test/ and
// bench/ may import them too.
var seenBy = map[string][]string{
	"app":                {"cmd/coffer"},
	"archive":            {"cmd/coffer", "app"},
	"web":                {"app", "htmlpage"},
	"bank/statement/all": {"app"},
	"llm/anthropic":      {"llm/all"},
	"llm/openai":         {"llm/all"},
	"llm/all":            {"settings", "app"},
	"household":          {"app", "banks", "models", "statements"}, // tests, benchmarks and the demo
	"banks":              {"app"},
	"models":             {"app", "llm/llmtest"},
	"statements":         {},
	"archtest":           {},
}

// props are what tests of every level play with; beside tests they serve the demo.
var props = []string{"household", "banks", "models", "statements"}

// tested names what tests of a package may see although it stands above: they play with the real
// counterpart of an interface.
var tested = map[string][]string{
	"manual":  {"rulebook"},
	"payee":   {"rulebook"},
	"archive": {"app"},
}

// A library is somebody else's code that few of our packages may know, so that replacing it stays
// small.
type library struct {
	path  string
	users []string
	tests bool // any test may use it too, as the counterpart that talks to us
}

var libraries = []library{
	{path: "github.com/pressly/goose", users: []string{"pg"}},
	{path: "github.com/spf13/cobra", users: []string{"cli", "app"}},
	{path: "go.yaml.in/yaml", users: []string{"cli", "test"}},
	{path: "github.com/modelcontextprotocol/go-sdk", users: []string{"mcp", "test", "bench"}, tests: true},
	{path: "github.com/prometheus", users: []string{"app"}},
	{path: "github.com/govalues/decimal", users: []string{"money"}},
	{path: "github.com/go-webauthn/webauthn", users: []string{"signin"}, tests: true},
	{path: "github.com/coreos/go-oidc", users: []string{"signin"}},
	{path: "golang.org/x/crypto/argon2", users: []string{"auth"}},
	{path: "filippo.io/age", users: []string{"archive"}},
}

// short is how the tables above name the package in that folder: without internal and its floor,
// because no two packages have the same name.
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

// levelOf is a package's level, as the index of its floor times a hundred and its level on it;
// programs stand above all of them.
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

// place names a level: its floor, and the level on it.
func place(level int) string { return fmt.Sprintf("%s %d", floors[level/100].folder, level%100) }

// floorOf is the folder in which a package must stand.
func floorOf(pkg string) string {
	if at, ok := levelOf(pkg); ok && at < 100*len(floors) {
		return floors[at/100].folder
	}
	return ""
}

// isProvider reports whether a package is a provider: any below bank that is not a room. The tables
// name none of them, because a new provider is a directory and one line in bank/all.
func isProvider(pkg string) bool {
	return strings.HasPrefix(pkg, "bank/") && strings.Count(pkg, "/") == 1 && !slices.Contains(rooms, pkg)
}

// isFormat reports whether a package is a format of statements: any below bank/statement that is not
// a room. As with providers, a new one is a directory and one line in bank/statement/all.
func isFormat(pkg string) bool {
	return strings.HasPrefix(pkg, "bank/statement/") && strings.Count(pkg, "/") == 2 && !slices.Contains(rooms, pkg)
}

// isHelper reports whether a package exists for tests only.
func isHelper(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// imports checks that imports go down only, by the tables above.
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

// refused says why the file may not see that package of ours, or "".
func refused(f *file, to string) string {
	from := short(f.dir)
	at, known := levelOf(from)
	below, exists := levelOf(to)
	if from == to || !known || !exists {
		return "" // its own external test; or no place, which is reported once for the package
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
			by = append(by, "bank/statement/xlsx") // a sheet is a table, too
		}
	}
	switch {
	case f.in("test", "bench"):
		return ""
	case f.test && (below <= at || isHelper(to) || slices.Contains(props, to) || slices.Contains(tested[from], to)):
		return "" // a test may know everything up to its own level
	case f.test:
		return fmt.Sprintf("a test of %s (%s) may not see %s (%s): what needs both belongs into the upper one's "+
			"tests or into test/", from, place(at), to, place(below))
	case isHelper(to) && !isHelper(from):
		return fmt.Sprintf("%s is for tests only", to)
	case shy && !slices.Contains(by, from):
		return fmt.Sprintf("%s may be seen by %s and tests only", to, listed(by))
	case isProvider(to) || isFormat(to): // the list alone comes this far
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

// strange says why the file may not know that foreign package, or "".
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

// TestPicture makes sure that the tables name only packages that have a place: a misspelled name
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

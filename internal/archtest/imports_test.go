package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// levels is the picture of the house: a package sees only levels before its own. Packages that are
// still to come have their place already.
var levels = [][]string{
	0:  {"errs", "money", "id", "text", "seal", "reach"},
	1:  {"pg", "rule", "bank", "model", "household", "web", "lan", "qr", "cron", "search", "payeename"},
	2:  {"op", "page", "due", "conduct", "ruleview", "sift", "banksim", "modelsim"},
	3:  {"auth", "job", "measure"},
	4:  {"journal", "notify"},
	5:  {"filing", "account", "phrase"},
	6:  {"ledger"},
	7:  {"counterparty", "pattern", "review"},
	8:  {"total"},
	9:  {"rulebook", "reference", "report", "accountlink", "setting", "view", "target", "byhand"},
	10: {"feed", "overview", "workflow", "removal", "payee"},
	11: {"linksession", "statement", "member", "watch"},
	12: {"webhook"},
	13: {"rest", "mcp", "cli", "signin", "linkpage"},
	14: {"app", "archive", "archtest"},
}

// rooms are packages below another: they stand on its level and see it.
var rooms = []string{
	"pg/pgtest", "job/jobtest", "rule/ruletest", "ledger/ledgertest", "bank/banktest", "bank/csvfile",
	"bank/all", "model/anthropic", "model/openai", "model/all", "model/modeltest", "app/apptest", "signin/oauth",
	"signin/signintest", "workflow/agent", "workflow/eval",
}

var (
	kernel    = levels[0]
	pure      = []string{"errs", "money", "id", "text"}
	transport = append([]string{"op", "auth", "job"}, kernel...)
	provider  = append([]string{"bank"}, pure...)
	modeler   = append([]string{"model"}, pure...)
)

// only names those that see less than their level would let them.
var only = map[string][]string{
	"cmd/coffer":      {"app"},
	"web":             {},
	"lan":             {},
	"qr":              {},
	"reach":           {},
	"cron":            {},
	"rule":            pure,
	"search":          pure,
	"rule/ruletest":   append([]string{"rule"}, pure...),
	"bank":            pure,
	"bank/banktest":   provider,
	"bank/csvfile":    provider,
	"bank/all":        {"bank"}, // and every provider
	"model":           append([]string{"reach"}, pure...),
	"model/anthropic": modeler,
	"model/openai":    modeler,
	"model/all":       append([]string{"model/anthropic", "model/openai"}, modeler...),
	"model/modeltest": append([]string{"modelsim"}, modeler...), // the server that the clients are tested with
	"household":       pure,
	"page":            {"errs", "web"}, // for the typeface
	"linkpage":        {"errs", "bank", "bank/all", "page", "linksession"},
	// It must not import bank, because it checks the clients and must not be built from their code.
	"banksim":           append([]string{"household"}, pure...),
	"modelsim":          append([]string{"household"}, pure...),
	"rest":              append([]string{"page"}, transport...), // for people who are lost
	"mcp":               transport,
	"cli":               transport,
	"signin":            append([]string{"page"}, transport...),
	"signin/oauth":      append([]string{"page", "signin"}, transport...),
	"signin/signintest": {},
}

// also names what is seen beyond the levels.
var also = map[string][]string{
	"app": {"archive"}, // app hands archive's commands to cli
}

// never names what the levels would allow and must not be.
var never = map[string][]string{
	"workflow":       {"seal"}, // a hijacked agent finds no key
	"workflow/agent": {"seal"},
	"workflow/eval":  {"seal"},
}

// seenBy lists the importers of packages that are not open to everyone above them; tests, test/ and
// bench/ may import them too.
var seenBy = map[string][]string{
	"app":             {"cmd/coffer"},
	"archive":         {"cmd/coffer", "app"},
	"web":             {"app", "page"},
	"bank/csvfile":    {"statement"}, // files come without a provider to ask
	"model/anthropic": {"model/all"},
	"model/openai":    {"model/all"},
	"model/all":       {"setting", "app"},
	"household":       {"app", "banksim", "modelsim"}, // tests, benchmarks and the demo
	"banksim":         {"app"},
	"modelsim":        {"app", "model/modeltest"},
	"archtest":        {},
}

// props are what tests of every level play with; beside tests they serve the demo.
var props = []string{"household", "banksim", "modelsim"}

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
	{path: "go.yaml.in/yaml", users: []string{"cli"}},
	{path: "github.com/modelcontextprotocol/go-sdk", users: []string{"mcp", "test", "bench"}, tests: true},
	{path: "github.com/prometheus", users: []string{"app"}},
	{path: "github.com/govalues/decimal", users: []string{"money"}},
	{path: "github.com/go-webauthn/webauthn", users: []string{"signin"}, tests: true},
	{path: "github.com/coreos/go-oidc", users: []string{"signin"}},
	{path: "golang.org/x/crypto/argon2", users: []string{"auth"}},
	{path: "filippo.io/age", users: []string{"archive"}},
}

// short is how the tables above name the package in that folder.
func short(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// levelOf is a package's level; programs stand above all of them.
func levelOf(pkg string) (int, bool) {
	if pkg == "cmd/coffer" || pkg == "test" || pkg == "bench" || strings.HasPrefix(pkg, "test/") ||
		strings.HasPrefix(pkg, "bench/") {
		return len(levels), true
	}
	if pkg == "web" {
		return 0, true
	}
	if slices.Contains(rooms, pkg) || isProvider(pkg) {
		pkg, _, _ = strings.Cut(pkg, "/")
	}
	for n, names := range levels {
		if slices.Contains(names, pkg) {
			return n, true
		}
	}
	return 0, false
}

// isProvider reports whether a package is a provider: any below bank that is not a room. The tables
// name none of them, because a new provider is a directory and one line in bank/all.
func isProvider(pkg string) bool {
	return strings.HasPrefix(pkg, "bank/") && strings.Count(pkg, "/") == 1 && !slices.Contains(rooms, pkg)
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
				what: "stands nowhere in the picture of the house: if it is needed, give it a level in archtest's " +
					"levels (or a room below another package) and a line in the design",
			})
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
	switch {
	case f.in("test", "bench"):
		return ""
	case f.test && (below <= at || isHelper(to) || slices.Contains(props, to)):
		return "" // a test may know everything up to its own level
	case f.test:
		return fmt.Sprintf("a test of %s (level %d) may not see %s (level %d): what needs both belongs into the "+
			"upper one's tests or into test/", from, at, to, below)
	case isHelper(to) && !isHelper(from):
		return fmt.Sprintf("%s is for tests only", to)
	case shy && !slices.Contains(by, from):
		return fmt.Sprintf("%s may be seen by %s and tests only", to, listed(by))
	case isProvider(to): // bank/all alone comes this far
		return ""
	case narrow && !slices.Contains(list, to):
		return fmt.Sprintf("%s may see %s and nothing else of ours, so not %s", from, listed(list), to)
	case slices.Contains(never[from], to):
		return fmt.Sprintf("%s must never see %s", from, to)
	case narrow || slices.Contains(also[from], to) || below < at || slices.Contains(rooms, from) && to == parent:
		return ""
	}
	return fmt.Sprintf("%s (level %d) may not see %s (level %d): imports go down only; hand it in as a value or a "+
		"small interface", from, at, to, below)
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
	for _, n := range slices.Concat(append(slices.Clone(levels), rooms)...) {
		if seen[n] {
			t.Errorf("%s has two places", n)
		}
		seen[n] = true
	}
}

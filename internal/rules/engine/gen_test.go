package engine_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/engine/enginetest"
)

// A few words in many spellings, so that rules often match drafts. Some letters fold in surprising
// ways (K, ſ, İ, ẞ, Σ).
var (
	modelWords = []string{
		"EDEKA", "edeka", "Rewe", "REWE", "Bücker", "BÜCKER", "\u212aaffee", "kaffee", "Straße",
		"STRAẞE", "ſpar", "SPAR", "İzmir", "izmir", "ΣΟΦΟΣ", "σοφος", "12", "4111", "a", "*", "REWE EDEKA", "",
	}
	modelPatterns = []string{
		"(?i)edeka", "^REWE", "(EDEKA|Rewe)", "(?i)^(rewe|spar) ", "[Kk]affee", `\d{2,4}`,
		"b.*r", "(?i)b[uü]cker", "", "K", "(?i)K", "(?i)stra(ß|ss)e", `\bEDEKA\b`, "(EDEKA)?$", "(?i)σοφοσ",
		"x{2,3}|4111", "(ab|cd)*EDEKA", "[a-z]+ 12", "(?i)(e|r)(d|e)(e|w)",
	}
	modelCategories = []string{"", "groceries", "coffee", "travel"}
	modelTags       = []string{"home", "needs-review", "trip:rome", "work"}
	modelIDs        = []string{"", "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058"}
	modelProviders  = []string{"plaid", "teller", "csv", "Plaid"}
)

var vocabulary = enginetest.Vocabulary{
	Words: modelWords, Patterns: modelPatterns, Categories: modelCategories, Tags: modelTags, Accounts: modelIDs,
	Users: modelIDs, Parts: []string{"BCCE", "8057", "", "-", "x"},
	Providers: modelProviders, Amounts: []string{
		"-100.00", "-0.01", "0.00", "0.01", "9.99", "10.00", "10.01",
		"9999999999.99",
	},
}

func pick[T any](r *rand.Rand, list []T) T { return enginetest.Pick(r, list) }

func phrase(r *rand.Rand) string { return vocabulary.Phrase(r) }

func someTags(r *rand.Rand) []string {
	var out []string
	for _, tag := range modelTags {
		if r.IntN(3) == 0 {
			out = append(out, tag)
		}
	}
	return out
}

func genDraft(r *rand.Rand) engine.Draft {
	return engine.Draft{
		Facts: engine.Facts{
			Name: phrase(r), MerchantName: phrase(r), Detail: phrase(r),
			Currency: pick(r, []string{"EUR", "USD"}), CategoryPrimary: pick(r, modelWords),
			CategoryDetailed: pick(r, modelWords),
			Provider:         pick(r, modelProviders), AccountName: pick(r, modelWords), UserName: pick(r, modelWords),
			AccountID: pick(r, modelIDs[1:]), UserID: pick(r, modelIDs), Cents: genCents(r), Pending: r.IntN(2) == 0,
		},
		Category: pick(r, modelCategories), Tags: someTags(r), Counterparty: r.IntN(3) == 0,
		HeldCategory: r.IntN(4) == 0, HeldCounterparty: r.IntN(4) == 0, HeldTags: someTags(r),
	}
}

func genCents(r *rand.Rand) int64 {
	return []int64{-100_00, -1, 0, 1, 9_99, 10_00, 10_01, 999_999_999_999}[r.IntN(8)]
}

func genLeaf(r *rand.Rand, field string) map[string]any {
	return vocabulary.Leaf(r, field, pick(r, enginetest.Operators(field)))
}

func genTree(r *rand.Rand, depth int) map[string]any { return vocabulary.Tree(r, depth) }

func genActions(r *rand.Rand) []engine.Action { return vocabulary.Actions(r) }

// A written rule is a rule with its condition as decoded JSON, which the model reads.
type written struct {
	engine.Rule
	condition map[string]any
}

// parsed parses a condition that must be valid.
func parsed(t testing.TB, condition any) engine.Tree {
	t.Helper()
	raw, err := json.Marshal(condition)
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := engine.ParseTree("conditions", raw)
	if len(faults) > 0 {
		t.Fatalf("%s: %+v", raw, faults)
	}
	return tree
}

// genSet returns random rules in the order of the pipeline.
func genSet(t testing.TB, r *rand.Rand, n int) []written {
	t.Helper()
	set := make([]written, n)
	for i := range set {
		c := genTree(r, 3)
		set[i] = written{engine.Rule{
			ID: id.Numbered(time.UnixMilli(1690000000000), int64(i)), Priority: i / 3,
			CreatedAt: time.Unix(int64(i/2), 0),
			Trigger:   pick(r, []engine.Trigger{engine.OnCreate, engine.OnChange, engine.Always, ""}), Conditions: parsed(t, c),
			Actions: genActions(r),
		}, c}
	}
	return set
}

// shuffled compiles the rules in random order, because the result must not depend on the caller's
// order.
func shuffled(r *rand.Rand, set []written) *engine.Set {
	rules := make([]engine.Rule, len(set))
	for i, at := range r.Perm(len(set)) {
		rules[at] = set[i].Rule
	}
	return engine.Compile(rules)
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 1)) }

func cloned(d engine.Draft) engine.Draft {
	d.Tags, d.HeldTags = slices.Clone(d.Tags), slices.Clone(d.HeldTags)
	return d
}

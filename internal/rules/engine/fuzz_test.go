package engine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/internal/rules/engine"
)

// corpus adds those lines of the case files that begin with the word.
func corpus(f *testing.F, word string) {
	f.Helper()
	files, _ := filepath.Glob("testdata/cases/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), word+" "); ok {
				f.Add([]byte(rest))
			}
		}
	}
}

// FuzzParseTree parses any bytes. They are either rejected with a path, or the accepted tree is the
// same after printing and parsing it.
func FuzzParseTree(f *testing.F) {
	corpus(f, "tree")
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, faults := engine.ParseTree("conditions", raw)
		checkFaults(t, faults, "conditions")
		if len(faults) > 0 {
			if tree.Needs().Kind != engine.NeedNone {
				t.Fatal("a faulty tree must match nothing")
			}
			return
		}
		var decoded any
		if len(raw) > 0 && json.Unmarshal(raw, &decoded) != nil {
			t.Fatal("input that is not JSON was accepted")
		}
		printed, err := tree.MarshalJSON()
		if err != nil || !json.Valid(printed) {
			t.Fatalf("%s %v", printed, err)
		}
		again, faults := engine.ParseTree("conditions", printed)
		if len(faults) > 0 || again.String() != string(printed) {
			t.Fatalf("%s reads back as %s, %v", printed, again, faults)
		}
		tree.Needs()
		d := engine.Draft{Facts: engine.Facts{Name: "EDEKA 4111", MerchantName: "Edeka"}, Tags: []string{"home"}}
		matches := tree.Eval(&d, engine.AllFields) == engine.True
		indexed := engine.Compile([]engine.Rule{{Conditions: tree}}).Match(&d, engine.AllFields, nil)
		if matches != (len(indexed) == 1) {
			t.Fatalf("%s: alone %v, in a set %v", tree, matches, indexed)
		}
	})
}

func checkFaults(t *testing.T, faults []engine.Fault, path string) {
	t.Helper()
	for _, f := range faults {
		if !strings.HasPrefix(f.Path, path) || f.Code == "" || f.Message == "" || !utf8.ValidString(f.Path) {
			t.Fatalf("the fault %+v is incomplete", f)
		}
	}
}

func FuzzParseActions(f *testing.F) {
	corpus(f, "actions")
	f.Fuzz(func(t *testing.T, raw []byte) {
		actions, faults := engine.ParseActions("actions", raw)
		checkFaults(t, faults, "actions")
		if len(faults) > 0 {
			return
		}
		printed, err := json.Marshal(actions)
		if err != nil {
			t.Fatal(err)
		}
		again, faults := engine.ParseActions("actions", printed)
		if len(faults) > 0 || !slices.Equal(actions, again) {
			t.Fatalf("%s reads back as %v, %v", printed, again, faults)
		}
	})
}

// FuzzEvaluate compares the results of a set and of the model, for any tree and any text.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []uint64{1, 2, 3, 4, 5, 6, 7, 8} {
		f.Add(seed, "EDEKA 4111", "Straße", "k", "(?i)k|S", int64(1000))
	}
	f.Fuzz(func(t *testing.T, seed uint64, name, merchant, value, pattern string, cents int64) {
		if !utf8.ValidString(name) || !utf8.ValidString(merchant) || !utf8.ValidString(value) ||
			!utf8.ValidString(pattern) || len(name)+len(merchant) > 1000 {
			return
		}
		r := seeded(seed)
		written := genSet(t, r, 5)
		written = with(t, written, map[string]any{"field": "name", "op": "contains", "value": value})
		written = with(t, written, map[string]any{"field": "merchant_name", "op": "eq", "value": value})
		written = with(t, written, map[string]any{"or": []any{map[string]any{
			"field": "name", "op": "matches",
			"value": pattern,
		}, genTree(r, 1)}})
		d := genDraft(r)
		d.Name, d.MerchantName, d.Cents = name, merchant, cents
		comparePass(t, written, shuffled(r, written), d,
			engine.Pass{Event: engine.Event(seed % 3), OverwriteManual: seed%5 == 0, Trace: true}, map[string]int{})
	})
}

// with appends a rule, unless its condition is rejected.
func with(t *testing.T, set []written, c map[string]any) []written {
	t.Helper()
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := engine.ParseTree("conditions", raw)
	if len(faults) > 0 {
		return set
	}
	return append(set, written{engine.Rule{Priority: 1000 + len(set), Conditions: tree, Trigger: engine.Always}, c})
}

package engine_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coffer/internal/rules/engine"
)

func tree(t testing.TB, raw string) engine.Tree {
	t.Helper()
	out, faults := engine.ParseTree("conditions", []byte(raw))
	if len(faults) > 0 {
		t.Fatalf("%s: %v", raw, faults)
	}
	return out
}

func TestRefs(t *testing.T) {
	t.Parallel()
	c := tree(t, `{"and":[
		{"field":"account_id","op":"eq","value":"Ab3dE6gH"},
		{"or":[{"field":"user_id","op":"in","value":["","01890A5D-AC96-774B-BCCE-B302099A8057"]},{"not":{"field":"category","op":"neq","value":"Groceries"}}]},
		{"field":"category","op":"eq","value":""},{"field":"category","op":"contains","value":"food"},{"field":"account_id","op":"contains","value":"ab"}]}`)
	want := []engine.Ref{
		{Path: "and[0].value", Field: "account_id", Value: "Ab3dE6gH"},
		{Path: "and[1].or[0].value[1]", Field: "user_id", Value: "01890a5d-ac96-774b-bcce-b302099a8057"},
		{Path: "and[1].or[1].not.value", Field: "category", Value: "Groceries"},
	}
	if diff := cmp.Diff(want, c.Refs()); diff != "" {
		t.Error(diff)
	}
	before := c.String()
	account := "01890a5d-ac96-774b-bcce-b302099a8058"
	var asked []engine.Ref
	resolved := c.Resolved(func(r engine.Ref) string {
		asked = append(asked, r)
		switch r.Field {
		case "account_id":
			return account
		case "category":
			return "groceries"
		}
		return r.Value
	})
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if got := resolved.String(); got != strings.NewReplacer("Ab3dE6gH", account, "Groceries",
		"groceries").Replace(before) {
		t.Error(got)
	}
	if c.String() != before {
		t.Error("resolving changed the tree itself")
	}
	d := engine.Draft{Facts: engine.Facts{AccountID: account}}
	eq := tree(t, `{"field":"account_id","op":"eq","value":"Ab3dE6gH"}`)
	if eq.Eval(&d, engine.AllFields) != engine.False || eq.Resolved(func(engine.Ref) string { return account }).Eval(&d,
		engine.AllFields) != engine.True {
		t.Error("the resolved value is not the one that is compared")
	}
	if (engine.Tree{}).Refs() != nil || (engine.Tree{}).Resolved(nil).String() != "{}" {
		t.Error("{} has references")
	}
}

func TestReadsAndMatchesAll(t *testing.T) {
	t.Parallel()
	for raw, c := range map[string]struct {
		reads string
		all   bool
	}{
		``:                                {"", true},
		`{"and":[{},{"not":{"not":{}}}]}`: {"", true},
		`{"not":{}}`:                      {"", false},
		`{"or":[{},{"field":"name","op":"eq","value":"x"}]}`: {
			"name", true,
		},
		`{"and":[{},{"field":"name","op":"eq","value":"x"}]}`: {
			"name", false,
		},
		`{"or":[{"field":"amount","op":"gt","value":1},{"not":{"field":"tags","op":"contains","value":"x"}}]}`: {
			"amount,tags", false,
		},
		`{"and":[{"field":"user_id","op":"eq","value":""},{"field":"merchant_name","op":"matches","value":""}]}`: {
			"merchant_name,user_id", false,
		},
	} {
		c0 := tree(t, raw)
		if got := strings.Join(c0.Reads().Names(), ","); got != c.reads {
			t.Errorf("%s reads %s", raw, got)
		}
		if c0.MatchesAll() != c.all {
			t.Errorf("%s matches all: %v", raw, c0.MatchesAll())
		}
	}
}

// TestUnknown uses an example from the specification: with only a merchant's text, conditions on
// amounts are undecided.
func TestUnknown(t *testing.T) {
	t.Parallel()
	d := engine.Draft{Facts: engine.Facts{Name: "EDEKA", MerchantName: "EDEKA"}}
	for raw, want := range map[string]engine.Verdict{
		`{"field":"amount","op":"gt","value":10}`:                                                                         engine.Unknown,
		`{"not":{"field":"amount","op":"gt","value":10}}`:                                                                 engine.Unknown,
		`{"field":"name","op":"contains","value":"edeka"}`:                                                                engine.True,
		`{"or":[{"field":"amount","op":"gt","value":10},{"field":"name","op":"contains","value":"edeka"}]}`:               engine.True,
		`{"and":[{"field":"amount","op":"gt","value":10},{"field":"name","op":"contains","value":"edeka"}]}`:              engine.Unknown,
		`{"and":[{"field":"amount","op":"gt","value":10},{"field":"name","op":"contains","value":"rewe"}]}`:               engine.False,
		`{"field":"category","op":"eq","value":""}`:                                                                       engine.Unknown,
		`{"or":[{"field":"pending","op":"eq","value":true},{"field":"pending","op":"eq","value":false}]}`:                 engine.Unknown,
		`{"and":[{"field":"name","op":"eq","value":"edeka"},{"not":{"field":"merchant_name","op":"eq","value":"rewe"}}]}`: engine.True,
	} {
		if got := tree(t, raw).Eval(&d, engine.NameFields); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}

func TestTriggersAndStages(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]engine.Trigger{
		"on_create": engine.OnCreate, "on_change": engine.OnChange,
		"always": engine.Always, "on_update": engine.OnChange,
	} {
		if got, ok := engine.ParseTrigger(name); !ok || got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	for _, name := range []string{"", "ALWAYS", "never"} {
		if got, ok := engine.ParseTrigger(name); ok {
			t.Errorf("%s is %s", name, got)
		}
	}
	for name, want := range map[string]int{"baseline": 0, "standard": 10, "refinement": 50, "override": 100} {
		if s, ok := engine.StageNamed(name); !ok || s.Name != name || s.Priority != want {
			t.Errorf("%s is %+v", name, s)
		}
	}
	if s, ok := engine.StageNamed("first"); ok {
		t.Errorf("first is %+v", s)
	}
	if s, ok := engine.StageNamed(engine.DefaultStage); !ok || s.Priority != 10 {
		t.Error(s)
	}
}

// TestConcurrentUse runs one set from several goroutines, for the race detector, and compares their
// results.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := seeded(5)
	set := shuffled(r, genSet(t, r, 150))
	list := make([]engine.Draft, 200)
	want := make([]string, len(list))
	for i := range list {
		list[i] = genDraft(r)
		d := list[i]
		want[i] = show(t, set.Run(&d, engine.Pass{Trace: true}))
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range list {
				i = (i*7 + worker) % len(list)
				d := list[i]
				if got := set.Run(&d, engine.Pass{Trace: true}); show(t, got) != want[i] {
					t.Errorf("draft %d: a different outcome", i)
				}
				set.Match(&list[i], engine.AllFields, nil)
				set.Rules()[i%150].Conditions.Eval(&list[i], engine.AllFields)
			}
		})
	}
	wg.Wait()
}

// TestGoldenReference compares the reference with a golden file, so that a review shows changes to
// what agents read.
func TestGoldenReference(t *testing.T) {
	t.Parallel()
	const file = "testdata/reference.md"
	old, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	golden(t, file, string(old), engine.Reference())
}

// TestReferenceExamples parses every example of the reference.
func TestReferenceExamples(t *testing.T) {
	t.Parallel()
	_, examples, _ := strings.Cut(engine.Reference(), "\n## Examples\n")
	var blocks strings.Builder
	for line := range strings.Lines(examples) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			blocks.WriteString(code)
		}
	}
	n := 0
	for d := json.NewDecoder(strings.NewReader(blocks.String())); d.More(); n++ {
		var example struct {
			Stage               string
			Conditions, Actions json.RawMessage
		}
		if err := d.Decode(&example); err != nil {
			t.Fatal(err)
		}
		_, faults := engine.ParseTree("conditions", example.Conditions)
		_, more := engine.ParseActions("actions", example.Actions)
		if _, ok := engine.StageNamed(example.Stage); len(faults)+len(more) > 0 || !ok && example.Stage != "" {
			t.Errorf("example %d: %v %v", n, faults, more)
		}
	}
	if n < 5 {
		t.Errorf("only %d examples", n)
	}
	for code := range strings.SplitSeq(engine.Reference(), "`") {
		if strings.HasPrefix(code, `{"field"`) && !strings.Contains(code, "…") {
			tree(t, code)
		}
	}
}

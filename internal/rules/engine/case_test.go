package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/rules/engine"
)

var update = flag.Bool("update", false, "write the goldens anew")

// TestGoldenCases runs the files under testdata/cases. A case is a line with a word and JSON. The
// indented lines below it are the expected result: the printed form, or each fault with path, code
// and message.
func TestGoldenCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	good, bad := 0, 0
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now strings.Builder
		for line := range strings.Lines(string(old)) {
			if strings.HasPrefix(line, "  ") {
				continue
			}
			now.WriteString(line)
			word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			for _, said := range play(t, word, rest) {
				fmt.Fprintln(&now, "  "+said)
				if strings.HasPrefix(said, "ok") {
					good++
				} else if word != "needs" {
					bad++
				}
			}
		}
		golden(t, file, string(old), now.String())
	}
	if good < 75 || bad < 75 {
		t.Errorf("only %d good cases and %d faults", good, bad)
	}
}

func golden(t *testing.T, file, old, now string) {
	t.Helper()
	if old == now {
		return
	}
	if !*update {
		t.Errorf("%s: the result changed; run with -update and review the diff", file)
		return
	}
	if err := os.WriteFile(file, []byte(now), 0o600); err != nil {
		t.Fatal(err)
	}
}

func play(t *testing.T, word, rest string) []string {
	t.Helper()
	var printed []byte
	var faults []engine.Fault
	switch word {
	case "tree":
		var tree engine.Tree
		tree, faults = engine.ParseTree("conditions", []byte(rest))
		printed, _ = tree.MarshalJSON()
	case "actions":
		var actions []engine.Action
		actions, faults = engine.ParseActions("actions", []byte(rest))
		printed, _ = json.Marshal(actions)
	case "needs":
		tree, faults := engine.ParseTree("conditions", []byte(rest))
		if len(faults) > 0 {
			t.Errorf("%s: %v", rest, faults)
		}
		return []string{spelledOut(tree.Needs())}
	default:
		if word != "" && !strings.HasPrefix(word, "#") {
			t.Errorf("%s: unknown word", word)
		}
		return nil
	}
	if len(faults) == 0 {
		return []string{"ok " + string(printed)}
	}
	var out []string
	for _, f := range faults {
		out = append(out, f.Path+" "+f.Code+": "+f.Message)
	}
	return out
}

// spelledOut returns a need as text.
func spelledOut(n engine.Need) string {
	of := make([]string, len(n.Of))
	for i := range n.Of {
		of[i] = spelledOut(n.Of[i])
	}
	switch n.Kind {
	case engine.NeedAny:
		return "anything"
	case engine.NeedNone:
		return "nothing"
	case engine.NeedAnd:
		return "(" + strings.Join(of, " and ") + ")"
	case engine.NeedOr:
		return "(" + strings.Join(of, " or ") + ")"
	case engine.NeedText:
		return fmt.Sprintf("%s has %q", n.Field, n.Literal)
	case engine.NeedOneOf:
		return fmt.Sprintf("%s is of %q", n.Field, n.Values)
	case engine.NeedFlag:
		return fmt.Sprintf("%s is %v", n.Field, n.Flag)
	}
	bound := func(c int64) string {
		if c == math.MinInt64 || c == math.MaxInt64 {
			return "…"
		}
		return fmt.Sprint(c)
	}
	return "cents are " + bound(n.Low) + " to " + bound(n.High)
}

// TestLimits tests limits whose inputs are too long for a case file: the largest accepted size, and
// one more.
func TestLimits(t *testing.T) {
	t.Parallel()
	leaf := `{"field":"name","op":"eq","value":"x"}`
	list := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	quoted := func(s string) string { return `{"field":"name","op":"matches","value":"` + s + `"}` }
	for name, c := range map[string]struct{ fits, code, path, not string }{
		"leaves": {`{"or":[` + list(leaf, 500) + `]}`, "length", "conditions", `{"or":[` + list(leaf, 501) + `]}`},
		"spread": {
			`{"and":[{"or":[` + list(leaf, 250) + `]},{"or":[` + list(leaf, 250) + `]}]}`, "length",
			"conditions", `{"and":[{"or":[` + list(leaf, 400) + `]},{"or":[` + list(leaf, 400) + `]}]}`,
		},
		"values": {
			`{"field":"name","op":"in","value":[` + list(`"x"`, 1000) + `]}`, "length", "conditions.value",
			`{"field":"name","op":"in","value":[` + list(`"x"`, 1001) + `]}`,
		},
		"pattern": {quoted(strings.Repeat("ü", 1000)), "length", "conditions.value", quoted(strings.Repeat("ü", 1001))},
		"steps": {
			`{"or":[` + list(quoted("(?:[a-z]?){999}"), 6) + `]}`, "length", "conditions",
			`{"or":[` + list(quoted("(?:[a-z]?){999}"), 7) + `]}`,
		},
		"text": {
			`{"field":"name","op":"eq","value":"` + strings.Repeat("ü", 1000) + `"}`, "length",
			"conditions.value", `{"field":"name","op":"eq","value":"` + strings.Repeat("ü", 1001) + `"}`,
		},
	} {
		if _, faults := engine.ParseTree("conditions", []byte(c.fits)); len(faults) > 0 {
			t.Errorf("%s: the largest size is rejected: %v", name, faults)
		}
		_, faults := engine.ParseTree("conditions", []byte(c.not))
		if len(faults) != 1 || faults[0].Code != c.code || faults[0].Path != c.path {
			t.Errorf("%s: one more gives %v", name, faults)
		}
	}
	comment := func(n int) []byte {
		return []byte(`[{"type":"add_comment","content":"` + strings.Repeat("é", n) + `"}]`)
	}
	if _, faults := engine.ParseActions("actions", comment(engine.MaxComment)); len(faults) > 0 {
		t.Error(faults)
	}
	if _, faults := engine.ParseActions("actions", comment(engine.MaxComment+1)); len(faults) != 1 ||
		faults[0].Code != "length" {
		t.Error(faults)
	}
	actions := func(n int) []byte { return []byte("[" + list(`{"type":"add_tag","tag_slug":"x"}`, n) + "]") }
	if _, faults := engine.ParseActions("actions", actions(engine.MaxActions)); len(faults) > 0 {
		t.Error(faults)
	}
	if _, faults := engine.ParseActions("actions", actions(engine.MaxActions+1)); len(faults) != 1 ||
		faults[0].Code != "length" {
		t.Error(faults)
	}
}

// A stored rule can be read even if its regular expressions have more steps than a new rule may
// have.
func TestStoredSteps(t *testing.T) {
	t.Parallel()
	leaf := `{"field":"name","op":"matches","value":"(?:[a-z]?){999}"}`
	raw := `{"or":[` + strings.TrimSuffix(strings.Repeat(leaf+",", 30), ",") + `]}`
	if _, faults := engine.ParseTree("conditions", []byte(raw)); len(faults) == 0 {
		t.Error("a new rule of that size was accepted")
	}
	var stored engine.Tree
	if err := stored.UnmarshalJSON([]byte(raw)); err != nil || stored.String() != raw {
		t.Errorf("a stored rule: %v", err)
	}
}

// TestHostile parses inputs that would be expensive without limits.
func TestHostile(t *testing.T) {
	t.Parallel()
	const deep = 200_000
	for name, raw := range map[string]string{
		"arrays": strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"nots":   strings.Repeat(`{"not":`, deep) + "{}" + strings.Repeat("}", deep),
		"ands":   strings.Repeat(`{"and":[`, 9000/2) + "{}" + strings.Repeat("]}", 9000/2),
		"value": `{"field":"name","op":"eq","value":` + strings.Repeat("[", 9000) + strings.Repeat("]",
			9000) + `}`,
		"wide":       `{"or":[` + strings.Repeat(`{},`, deep) + `{}]}`,
		"numbers":    `{"or":[` + strings.Repeat(`5,`, deep) + `{}]}`,
		"open":       strings.Repeat(`{"a":`, deep),
		"no UTF-8":   "{\"field\":\"name\",\"op\":\"eq\",\"value\":\"\xff\"}",
		"expression": `{"field":"name","op":"matches","value":"` + strings.Repeat("(x{1,30}){1,30}", 60) + `"}`,
	} {
		_, faults := engine.ParseTree("conditions", []byte(raw))
		if len(faults) == 0 || len(faults) > 1000 {
			t.Errorf("%s: %d faults", name, len(faults))
		}
	}
}

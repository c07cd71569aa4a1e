package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/surface/cli"
)

type thing struct {
	Name   string   `json:"name" format:"line"`
	Amount *string  `json:"amount,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

type makeThings struct {
	Owner  string          `json:"owner" in:"path"`
	Things []thing         `json:"things" minItems:"1"`
	Rest   json.RawMessage `json:"rest,omitempty" object:"any"`
	Since  *pg.Date        `json:"since,omitempty"`
	Words  []string        `json:"words,omitempty"`
}

// recorder stores the arguments that a command would send.
type recorder struct{ args map[string]any }

func (r *recorder) Call(_ context.Context, _ *op.Op, args map[string]any) ([]byte, error) {
	r.args = args
	return []byte(`{"made":1}`), nil
}

func things() *op.Op {
	type made struct {
		Made int `json:"made"`
	}
	return op.Writing(op.Spec{Name: "thing.make", Route: "POST /owners/{owner}/things", Summary: "Makes things."},
		func(context.Context, pg.Tx, makeThings) (made, error) { return made{}, nil })
}

type patchThing struct {
	ID     string          `json:"id" in:"path"`
	Note   op.Null[string] `json:"note,omitzero" minLength:"1"`
	Free   op.Null[string] `json:"free,omitzero"`
	Part   op.Null[thing]  `json:"part,omitzero"`
	Words  *[]string       `json:"words,omitempty"`
	Things *[]thing        `json:"things,omitempty"`
	Needed *[]string       `json:"needed,omitempty" minItems:"1"`
}

// patching runs an update and returns the arguments that it would send as JSON, and its help.
func patching(t *testing.T, args ...string) string {
	t.Helper()
	r := &recorder{}
	var out bytes.Buffer
	c := &cli.CLI{
		Ops: []*op.Op{op.Writing(op.Spec{Name: "thing.update", Route: "PATCH /things/{id}", Summary: "Changes one."},
			func(context.Context, pg.Tx, patchThing) (op.None, error) { return op.None{}, nil })},
		Database: true, Out: &out, Err: &out,
		Local: func(context.Context) (cli.Caller, func(), error) { return r, func() {}, nil },
	}
	root := c.Root()
	root.SetArgs(append([]string{"thing", "update"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(args, err)
	}
	if r.args == nil {
		return out.String()
	}
	b, err := json.Marshal(r.args)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// null and an empty value clear a nullable value and a list that an update replaces.
func TestClearing(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"--note=null": `"note":null`, "--note=": `"note":null`, "--note=a": `"note":"a"`,
		"--free=null": `"free":null`, "--free=": `"free":""`,
		"--part=null": `"part":null`, "--part=": `"part":null`, `--part={"name":"a"}`: `"part":{"name":"a"}`,
		"--words=null": `"words":[]`, "--words=": `"words":[]`, "--words=a,b": `"words":["a","b"]`,
		"--things=null": `"things":[]`, "--things=": `"things":[]`,
		"--needed=": `"needed":[""]`, // validation then rejects it
	} {
		if got := patching(t, "x", flag); !strings.Contains(got, want) {
			t.Errorf("%s sends %s, want %s", flag, got, want)
		}
	}
	help := patching(t, "--help")
	for _, flag := range []string{"note string", "part object", "words strings", "things objects"} {
		if line := lineWith(help, "--"+flag); !strings.Contains(line, "(null clears)") {
			t.Errorf("help does not show how to clear: %q", line)
		}
	}
	if line := lineWith(help, "--needed"); strings.Contains(line, "clears") {
		t.Errorf("help shows how to clear a list that must have items: %q", line)
	}
	// A command that is not an update keeps the given value, because an empty list may mean
	// everything there.
	if got, err := play(t, "", "--things", `{"name":"c"}`, "--words", ""); err != nil || !strings.Contains(got, `"words":[""]`) {
		t.Error(got, err)
	}
}

func lineWith(text, part string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// play runs a command and returns the arguments that it would send as JSON, or the error.
func play(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	r := &recorder{}
	var out bytes.Buffer
	c := &cli.CLI{
		Ops: []*op.Op{things()}, Database: true, In: strings.NewReader(stdin), Out: &out, Err: &out,
		Local: func(context.Context) (cli.Caller, func(), error) { return r, func() {}, nil },
	}
	root := c.Root()
	root.SetArgs(append([]string{"thing", "make", "me"}, args...))
	if err := root.ExecuteContext(t.Context()); err != nil {
		return "", err
	}
	b, err := json.Marshal(r.args)
	return string(b), err
}

// Objects and lists of objects give the same input as repeated flags, as one JSON list, and in JSON
// or YAML files.
func TestInputsOfEveryShape(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	two := `{"owner":"me","things":[{"amount":"3.50","name":"a, \"b\""},{"name":"c","tags":["x","y"]}]}`
	one := `{"owner":"me","things":[{"name":"c","tags":["x","y"]}]}`
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"a flag for each": {"", []string{
			"--things", `{"name":"a, \"b\"","amount":"3.50"}`, "--things",
			`{"name":"c","tags":["x","y"]}`,
		}, two},
		"one flag": {"", []string{
			"--things",
			`[{"name":"a, \"b\"","amount":"3.50"},{"name":"c","tags":["x","y"]}]`,
		}, two},
		"a JSON file": {"", []string{"--file", file("a.json",
			`{"things":[{"name":"a, \"b\"","amount":"3.50"},{"name":"c","tags":["x","y"]}]}`)}, two},
		"a list in YAML": {"", []string{"--file", file("b.yaml",
			"- name: 'a, \"b\"'\n  amount: \"3.50\"\n- name: c\n  tags: [x, y]\n")}, two},
		"one item": {"name: c\ntags:\n  - x\n  - y\n", []string{"--file", "-"}, one},
		"flags win": {
			"things: [{name: b}]",
			[]string{"--file", "-", "--things", `{"name":"c","tags":["x","y"]}`},
			one,
		},
		"YAML's types": {
			"things: [{name: no}]\nsince: 2026-11-15\nwords: [yes, 'on', 1]\nrest: {n: 3.50, t: true, z: ~, h: 0x10}\n",
			[]string{"--file", "-"},
			`{"owner":"me","rest":{"h":"0x10","n":3.50,"t":true,"z":null},"since":"2026-11-15","things":[{"name":"no"}],"words":["yes","on",1]}`,
		},
		"an object": {
			"",
			[]string{"--things", `{"name":"c"}`, "--rest", `{"a":[1,2]}`, "--words", "u,v", "--words", "w"},
			`{"owner":"me","rest":{"a":[1,2]},"things":[{"name":"c"}],"words":["u","v","w"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := play(t, c.stdin, c.args...)
			if err != nil || got != c.want {
				t.Errorf("sent %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestInputsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for _, next := range "bcdefghi" {
		last := string(next - 1)
		bomb += string(next) + ": &" + string(next) + " [" + strings.Repeat("*"+last+",", 9) + "*" + last + "]\n"
	}
	for stdin, c := range map[string]struct{ arg, says string }{
		"":                          {"--file=-", "the file is empty"},
		"just text":                 {"--file=-", "must contain an object with any of: things"},
		"{\"things\": [":            {"--file=-", "neither valid JSON nor YAML"},
		"a: [":                      {"--file=-", "not valid YAML: line 1"},
		"owner: you":                {"--file=-", "pass owner on the command line"},
		"things: []\nthings: []":    {"--file=-", "appear once"},
		"things: []\n---\nmore: 1":  {"--file=-", "more than one document"},
		bomb:                        {"--file=-", "too large"},
		"nothing of this is read":   {"--things=rewe", "must be JSON in single quotes, such as '{\"name\": …}'"},
		"nothing of this is read 2": {"--file=/nowhere/at/all", "cannot read the file"},
	} {
		if _, err := play(t, stdin, c.arg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %.20q: %v, want: %s", c.arg, stdin, err, c.says)
		}
	}
}

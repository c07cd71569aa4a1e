package app_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

// speakers matches the packages that may write paths of the REST interface.
var speakers = regexp.MustCompile(
	`^\.\./(surface/(rest|cli|mcp|signin/oauth)|app|sim/banks)/|^\.\./platform/op/words\.go$|` +
		`^\.\./people/auth/consent\.go$`)

// TestMessagesNameOps: errors name ops, and each surface inserts its own words for them. So no
// other package writes a path of the REST interface, and every op that a message names exists.
func TestMessagesNameOps(t *testing.T) {
	t.Parallel()
	words := op.WordsOf(app.Menu())
	named := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			speakers.MatchString(path) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, tag := n.(*ast.Field); tag {
				// Every surface shows a field's description, which may explain a route.
				return false
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, _ := strconv.Unquote(lit.Value)
			if strings.Contains(s, op.Prefix) {
				t.Errorf("%s: %q names a path of the REST interface; name the op in braces, such as {tag.list}", path,
					s)
			}
			for _, name := range errs.Named(s) {
				if named++; words[name] == nil && !strings.Contains(name, "%") {
					t.Errorf("%s: there is no op %s", path, name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < 40 {
		t.Errorf("only %d messages name an op; does the test still read them?", named)
	}
}

// nothing is a name that no record has.
const nothing = "no-such-thing-anywhere"

// wrongCalls returns arguments with which an op fails: a name that nothing has in each field, and
// no arguments at all.
func wrongCalls(in *op.Schema) []map[string]any {
	calls := []map[string]any{{}}
	for _, p := range in.Props {
		args := map[string]any{}
		for _, q := range in.Props {
			if q.Required || q.Name == p.Name {
				args[q.Name] = sample(q.Schema)
			}
		}
		calls = append(calls, args)
	}
	return calls
}

func sample(s *op.Schema) any {
	switch {
	case s.Type == "array":
		return []any{sample(s.Items)}
	case s.Type == "object" && len(s.Props) > 0:
		m := map[string]any{}
		for _, p := range s.Props {
			if p.Required || strings.Contains(p.Name, "category") || strings.HasSuffix(p.Name, "_id") {
				m[p.Name] = sample(p.Schema)
			}
		}
		return m
	case s.Type == "object", s.Type == "":
		return map[string]any{"field": "category", "op": "eq", "value": nothing}
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "boolean":
		return true
	case s.Type == "integer", s.Type == "number":
		return json.Number("1")
	case s.Format == "date":
		return "2026-01-01"
	case s.Format == "date-time":
		return "2026-01-01T00:00:00Z"
	}
	return nothing
}

// TestErrorsSpeakTheirSurface: every error of every op uses the words of its surface. A tool's
// error contains no path and no command, and a command's error contains no path.
func TestErrorsSpeakTheirSurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work(t) // tools wait for the jobs that they start
	errors := map[op.Surface]int{}
	for _, o := range w.Ops() {
		for _, surface := range []op.Surface{op.REST, op.Tool, op.Command} {
			if surface == op.Tool && o.Tool == "" || surface != op.Tool && o.Route == "" {
				continue
			}
			for _, args := range wrongCalls(o.In) {
				_, err := w.call(t.Context(), o, surface, args)
				if err == nil {
					continue
				}
				errors[surface]++
				if text := err.Error(); foreign(surface, text) {
					t.Errorf("%s as %s with %v: %s", o.ID(), surface, args, text)
				}
			}
		}
	}
	if errors[op.REST] < 100 || errors[op.Tool] < 50 || errors[op.Command] < 100 {
		t.Errorf("too few errors were seen: %v", errors)
	}
}

// foreign reports whether a text contains words of another surface or an op's internal name.
func foreign(s op.Surface, text string) bool {
	path, command := strings.Contains(text, op.Prefix), strings.Contains(text, "coffer ") &&
		!strings.Contains(text, "coffer doctor")
	return len(errs.Named(text)) > 0 || path && s != op.REST || command && s == op.Tool
}

// TestForeignWordsAreNoticed is the control: the check above finds errors in another surface's
// words.
func TestForeignWordsAreNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, o := range w.Ops() {
		if o.Name != "tag.update" {
			continue
		}
		_, err := w.Runner.Call(t.Context(), o, op.Call{
			Actor: op.Actor{Type: op.User, Scope: op.Full}, Surface: op.Tool, Words: op.REST,
			Args: map[string]any{"slug": nothing, "name": "x"},
		})
		if err == nil || !foreign(op.Tool, err.Error()) {
			t.Errorf("a tool's error in the words of REST passes: %v", err)
		}
		raw := errs.Missing("", "tag", "{tag.list} lists them")
		if !foreign(op.REST, raw.Message) {
			t.Errorf("a name that nobody put into words passes: %v", raw)
		}
	}
}

func TestErrorsSuggest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	category := `{"error":{"code":"NOT_FOUND","message":"category not found; did you mean food_and_drink_groceries? `
	for _, c := range []struct{ surface, want string }{
		{"", category + `GET /api/v1/categories lists them","lookup":"category","details":[{"field":"id","code":"reference","message":"not found","lookup":"category","suggestions":["food_and_drink_groceries"]}]}}`},
		{"command", category +
			`coffer category list lists them","lookup":"category","details":[{"field":"id","code":"reference","message":"not found","lookup":"category","suggestions":["food_and_drink_groceries"]}]}}`},
	} {
		got := w.send(t, exchange{
			method: http.MethodGet, path: "/api/v1/categories/groceries", key: w.key,
			header: map[string]string{op.SurfaceHeader: c.surface},
		})
		if got.body != c.want {
			t.Errorf("with surface %q:\n%s\nwant\n%s", c.surface, got.body, c.want)
		}
	}
	for path, want := range map[string]string{
		"/api/v1/transactions?category=food_and_drink_grocerys": `"suggestions":["food_and_drink_groceries"`,
		"/api/v1/transactions?tags=need-review":                 `did you mean needs-review`,
		"/api/v1/transactions?sort_by=amunt":                    `"suggestions":["amount"]`,
		"/api/v1/categories/quite-another-thing":                `"message":"category not found; GET /api/v1/categories lists them"`,
	} {
		if got := w.send(t, exchange{method: http.MethodGet, path: path, key: w.key}); !strings.Contains(got.body,
			want) {
			t.Errorf("%s: %s\nwant %s", path, got.body, want)
		}
	}
	w.fillBooks(t)
	var list struct{ Transactions []struct{ ID string } }
	r := w.send(t, exchange{method: http.MethodGet, path: "/api/v1/transactions?limit=1", key: w.key})
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list.Transactions) == 0 {
		t.Fatal(err, r.body)
	}
	if got := w.send(t, exchange{
		method: http.MethodPatch, path: "/api/v1/transactions/" + list.Transactions[0].ID, key: w.key,
		body: `{"category":"groceries"}`,
	}); got.status != http.StatusBadRequest || !strings.Contains(got.body, "did you mean food_and_drink_groceries?") {
		t.Errorf("a wrong category of a payment: %d %s", got.status, got.body)
	}
}

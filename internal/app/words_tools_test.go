package app_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

// restPath matches a path of the REST interface, which a model cannot call.
var restPath = regexp.MustCompile(`/api/v1|\b(GET|POST|PUT|PATCH|DELETE|HEAD) /`)

// wrongValues returns values of every kind that a field of this schema may refuse.
func wrongValues(s *op.Schema) []any {
	long := strings.Repeat("x", 20_000)
	switch s.Type {
	case "array":
		many := make([]any, 2_000)
		for i := range many {
			many[i] = sample(s.Items)
		}
		return []any{"x", nil, map[string]any{"x": json.Number("1")}, []any{}, []any{nil}, []any{sample(s.Items)}, many}
	case "object":
		return []any{"x", nil, []any{}, map[string]any{}, map[string]any{"x": json.Number("1")}, sample(s)}
	case "boolean":
		return []any{"yes", nil, json.Number("2"), true}
	case "integer", "number":
		return []any{"many", nil, json.Number("-1"), json.Number("1.005"), json.Number("1e300"), []any{}}
	}
	return []any{nothing, "", " ", long, "2026-02-30", nil, json.Number("7"), map[string]any{}, []any{nothing}}
}

// TestToolAnswersNameNoPath: whatever a model gets wrong, the result uses the words of tools: no
// path of the REST interface, and no command. The test calls every tool with every argument wrong
// in every way, and with missing and unknown arguments.
func TestToolAnswersNameNoPath(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 60)
	calls, refused := 0, map[errs.Code]int{}
	try := func(o *op.Op, args map[string]any) {
		t.Helper()
		a := b.callTool(t, o, args)
		calls++
		if a.fault.Code != "" {
			refused[a.fault.Code]++
		}
		if at := restPath.FindString(a.block); at != "" || foreign(op.Tool, a.block) {
			shown, _ := json.Marshal(args)
			t.Errorf("%s with %.300s names %q: %.400s", o.Tool, shown, at, a.block)
		}
	}
	for _, o := range b.ops {
		if o.Tool == "" {
			continue
		}
		fill := b.cast(o).valid(t)
		good := formPlace{op: o, path: []string{""}}.args(nil, fill)
		if o.IsLong() { // no worker runs the jobs
			good["wait_seconds"] = json.Number("0")
		}
		bare := map[string]any{}
		if o.IsLong() {
			bare["wait_seconds"] = json.Number("0")
		}
		try(o, bare)
		unknown := maps.Clone(good)
		unknown["unheard_of"] = "x"
		try(o, unknown)
		for _, p := range o.In.Props {
			for _, wrong := range wrongValues(p.Schema) {
				if args := maps.Clone(good); p.Name != "wait_seconds" || wrong != nil {
					args[p.Name] = wrong
					try(o, args)
				}
			}
		}
	}
	t.Logf("%d calls of tools; refused: %v", calls, refused)
	if calls < 2_000 || len(refused) < 4 || refused[errs.InternalError] > 0 {
		t.Errorf("%d calls, refused %v: too few, or broken", calls, refused)
	}
}

// TestPathsAreNoticed is the control: the check above finds each form of a path.
func TestPathsAreNoticed(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 1)
	for _, o := range b.ops {
		if o.Name != "tag.update" {
			continue
		}
		_, err := b.Runner.Call(t.Context(), o, op.Call{
			Actor: op.Actor{Type: op.Agent, Scope: op.Full}, Surface: op.Tool, Words: op.REST,
			Args: map[string]any{"slug": nothing, "name": "x"},
		})
		if err == nil || !restPath.MatchString(err.Error()) {
			t.Errorf("a tool's error in the words of REST passes: %v", err)
		}
	}
	for text, want := range map[string]bool{
		"see GET /rules": true, "PUT /settings/providers/plaid": true, "at /api/v1/tags": true,
		"call list_tags": false, "get /etc": false, "WIDGET /x": false,
	} {
		if restPath.MatchString(text) != want {
			t.Errorf("%q: found %v", text, !want)
		}
	}
}

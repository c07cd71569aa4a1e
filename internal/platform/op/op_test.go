package op

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Name  string   `json:"name" minLength:"1" maxLength:"5"`
	Tags  []string `json:"tags,omitempty" maxItems:"2" pattern:"^[a-z]+$" hint:"be lower case"`
	Limit int      `json:"limit,omitempty" minimum:"1" maximum:"10"`
}

type patchThing struct {
	ID    string       `json:"id" minLength:"1"`
	Name  *string      `json:"name,omitempty" minLength:"1"`
	Note  Null[string] `json:"note,omitzero" maxLength:"3"`
	Count int          `json:"count,omitempty" default:"7"`
	Kind  *string      `json:"kind,omitempty" enum:"a,b"`
	Flag  bool         `json:"flag,omitempty" in:"query"`
	Items []inner      `json:"items,omitempty" maxItems:"3"`
}

type thing struct {
	ID      id.ID  `json:"id"`
	ShortID string `json:"short_id,omitempty" required:"true"`
	Owner   *id.ID `json:"owner_id"`
	Parts   []struct {
		Of id.ID `json:"of_id"`
	} `json:"parts"`
}

func patch(got *patchThing) *Op {
	return Writing(Spec{
		Name: "thing.update", Route: "PATCH /things/{id}", Tool: "update_thing",
		Summary: "Changes a thing.",
	},
		func(_ context.Context, _ pg.Tx, in patchThing) (thing, error) {
			*got = in
			return thing{}, nil
		})
}

// All faults are found at once, each with its path. Their messages state what is expected and never
// repeat the given value.
func TestAcceptFindsEveryFault(t *testing.T) {
	t.Parallel()
	o := patch(new(patchThing))
	for args, want := range map[string][]string{
		`{"id":"x","name":"n"}`:    nil,
		`{"id":"x","note":null}`:   nil,
		`{"name":"n"}`:             {"id required"},
		`{"id":"x"}`:               {" "},
		`{"id":"","name":""}`:      {"id empty", "name empty"},
		`{"id":"x","name":null}`:   {"name type"},
		`{"id":"x","note":"long"}`: {"note length"},
		`{"id":"x","nmae":"n"}`:    {"nmae unknown"},
		`{"id":"x","kind":"c"}`:    {"kind enum"},
		`{"id":"x","count":1.5}`:   {"count type"},
		`{"id":"x","count":"1"}`:   {"count type"},
		`{"id":"x","flag":"yes"}`:  {"flag type"},
		`{"id":"x","items":{}}`:    {"items type"},
		`{"id":"x","items":[{},{},{},{}]}`: {
			"items length", "items[0].name required", "items[1].name required",
			"items[2].name required", "items[3].name required",
		},
		`{"id":"x","items":[{"name":"n"},1]}`: {"items[1] type"},
		`{"id":"x","items":[{"name":"toolong","tags":["a","B","c"],"limit":11,"x":1}]}`: {
			"items[0].name length", "items[0].tags length", "items[0].tags[1] pattern", "items[0].limit range",
			"items[0].x unknown",
		},
	} {
		given, err := ParseObject([]byte(args))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = o.accept(&Call{Args: given, Surface: REST})
		var got []string
		if e, ok := errors.AsType[*errs.Error](err); ok {
			for _, d := range e.Details {
				got = append(got, d.Field+" "+d.Code)
			}
			if e.Details == nil {
				got = []string{" "}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
		if err != nil && strings.Contains(err.Error(), "toolong") {
			t.Errorf("the error repeats the given value: %v", err)
		}
	}
}

func TestUnknownNamesGetAHint(t *testing.T) {
	t.Parallel()
	s := SchemaOf[patchThing]()
	for name, want := range map[string]string{
		"nmae": "did you mean name?", "Name": "did you mean name?",
		"totally_else": "expected one of: id, name",
	} {
		if got := s.unknown(name); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPatchTellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	var got patchThing
	o := patch(&got)
	run := func(text string) patchThing {
		given, err := ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		args, _, err := o.accept(&Call{Args: given, Surface: REST})
		if err != nil {
			t.Fatal(err)
		}
		got = patchThing{}
		if _, err := o.run(t.Context(), fakeTx{}, args); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if in := run(`{"id":"x","name":"n"}`); in.Note.Set || in.Name == nil || in.Count != 7 {
		t.Errorf("absent: %+v", in)
	}
	if in := run(`{"id":"x","note":null}`); !in.Note.Set || in.Note.Value != nil {
		t.Errorf("null: %+v", in)
	}
	if in := run(`{"id":"x","note":""}`); !in.Note.Set || in.Note.Value == nil || *in.Note.Value != "" {
		t.Errorf("value: %+v", in)
	}
}

// A fakeTx is passed where a pg.Tx is needed. Nothing calls its methods.
type fakeTx struct{ pg.Tx }

func TestFromText(t *testing.T) {
	t.Parallel()
	o := patch(new(patchThing))
	args := map[string]any{}
	err := o.FromText(args, map[string][]string{
		"count": {"3"}, "flag": {"true"}, "note": {"null"},
		"items": {`{"name":"a"}`}, "name": {"3"}, "other": {"x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"count": json.Number("3"), "flag": true, "note": nil, "name": "3", "other": "x",
		"items": []any{map[string]any{"name": "a"}},
	}
	if diff := cmp.Diff(want, args); diff != "" {
		t.Error(diff)
	}
	if err := o.FromText(map[string]any{}, map[string][]string{"count": {"1", "2"}}); !errs.Is(err,
		errs.ValidationError) {
		t.Errorf("a number given twice: %v", err)
	}
}

func TestToolsGetShortIDs(t *testing.T) {
	t.Parallel()
	a, b := id.New(), id.New()
	v := thing{ID: a, ShortID: a.Short(), Owner: &b}
	v.Parts = append(v.Parts, struct {
		Of id.ID `json:"of_id"`
	}{b})
	full, err := encode(v, false)
	if err != nil || !strings.Contains(string(full), a.String()) ||
		!strings.Contains(string(full), `"short_id":"`+a.Short()) {
		t.Errorf("REST: %s %v", full, err)
	}
	lean, err := encode(v, true)
	want := `{"id":"` + a.Short() + `","owner_id":"` + b.Short() + `","parts":[{"of_id":"` + b.Short() + `"}]}`
	if err != nil || string(lean) != want {
		t.Errorf("tool: %s, want %s (%v)", lean, want, err)
	}
	raw := json.RawMessage(`{"id":"` + a.String() + `"}`)
	lean, err = encode(map[string]id.ID{"x": b}, true)
	if err != nil || string(lean) != `{"x":"`+b.Short()+`"}` {
		t.Errorf("in a map: %s (%v)", lean, err)
	}
	lean, err = encode(map[string]json.RawMessage{"x": raw}, true)
	if err != nil || string(lean) != `{"x":{"id":"`+a.Short()+`"}}` {
		t.Errorf("printed before, in a map: %s (%v)", lean, err)
	}
	printed, _ := json.Marshal(patch(new(patchThing)).ToolOutput())
	if strings.Contains(string(printed), "short_id") || strings.Contains(string(printed), "uuid") {
		t.Errorf("the tool's schema has fields that it does not send: %s", printed)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for need, want := range map[Scope][3]errs.Code{ // without key, read_only, full_access
		Open:   {"", "", ""},
		AnyKey: {errs.MissingAPIKey, "", ""},
		Read:   {errs.MissingAPIKey, "", ""},
		Full:   {errs.MissingAPIKey, errs.InsufficientScope, ""},
	} {
		for i, has := range []Scope{0, Read, Full} {
			err := Allowed(need, Actor{Scope: has})
			if want[i] == "" && err != nil || want[i] != "" && !errs.Is(err, want[i]) {
				t.Errorf("need %s, have %s: %v", need, has, err)
			}
		}
	}
}

// A fault in a Spec, or in the type of an op's input, stops the program at its start, and not only
// when the op is called.
func TestBadMenuLines(t *testing.T) {
	t.Parallel()
	read := func(context.Context, pg.Querier, None) (thing, error) { return thing{}, nil }
	write := func(context.Context, pg.Tx, None) (thing, error) { return thing{}, nil }
	for name, make := range map[string]func(){
		"no sentence": func() { Reading(Spec{Name: "a.b", Route: "GET /a", Summary: "no full stop"}, read) },
		"no field":    func() { Reading(Spec{Name: "a.b", Route: "GET /a/{id}", Summary: "Reads."}, read) },
		"writing GET": func() { Writing(Spec{Name: "a.b", Route: "GET /a", Summary: "Writes."}, write) },
		"nameless":    func() { Reading(Spec{Route: "GET /a", Summary: "Reads."}, read) },
		"float": func() {
			SchemaOf[struct {
				A float64 `json:"a"`
			}]()
		},
		"no json name": func() { SchemaOf[struct{ A string }]() },
		"broken number": func() {
			SchemaOf[struct {
				A int `json:"a" minimum:"x"`
			}]()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", name)
				}
			}()
			make()
		}()
	}
}

func TestYAMLIsTheSameDocument(t *testing.T) {
	t.Parallel()
	tree := Tree{
		{"a", "x: y"},
		{"$b", []string{"1", "null"}},
		{"c", Tree{{"d", 1}, {"e", []Tree{{{"f", true}, {"g", Tree{{"h", nil}}}}, {{"i", "j"}}}}}},
		{"empty", Tree{}},
	}
	want := "a: \"x: y\"\n\"$b\": [\"1\",\"null\"]\nc:\n  d: 1\n  e:\n    - f: true\n      g:\n        h: null\n    " +
		"- i: \"j\"\nempty: {}\n"
	if got := tree.YAML(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func FuzzParseObject(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `[`, "{\"a\":\"\xff\"}",
		strings.Repeat("[", 100),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseObject(raw)
		if err != nil {
			if !errs.Is(err, errs.InvalidBody) {
				t.Fatalf("not an INVALID_BODY: %v", err)
			}
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("the parsed value cannot be printed: %v", err)
		}
		if _, err := ParseObject(again); err != nil {
			t.Fatalf("the printed value cannot be parsed: %v", err)
		}
	})
}

// Every input is rejected with a validation error, or fits into the struct.
func FuzzAccept(f *testing.F) {
	f.Add([]byte(`{"id":"x","note":null,"items":[{"name":"a","tags":["b"],"limit":3}]}`))
	f.Add([]byte(`{"id":"x","count":99999999999999999999}`))
	f.Add([]byte(`{"id":"x","count":1e5,"flag":true}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		given, err := ParseObject(raw)
		if err != nil {
			return
		}
		var got patchThing
		o := patch(&got)
		args, _, err := o.accept(&Call{Args: given, Surface: REST})
		if err != nil {
			if errs.Public(err, "").Code != errs.ValidationError {
				t.Fatalf("not a VALIDATION_ERROR: %v", err)
			}
			return
		}
		if _, err := o.run(t.Context(), fakeTx{}, args); err != nil {
			t.Fatalf("accepted, but the struct cannot hold it: %v", err)
		}
	})
}

func FuzzFromText(f *testing.F) {
	f.Add("count", "7")
	f.Add("items", `{"name":"a"},{"name":"b"}`)
	f.Fuzz(func(t *testing.T, name, value string) {
		o := patch(new(patchThing))
		args := map[string]any{"id": "x"}
		if err := o.FromText(args, map[string][]string{name: {value}}); err != nil {
			return
		}
		if accepted, _, err := o.accept(&Call{Args: args, Surface: REST}); err == nil {
			if _, err := o.run(t.Context(), fakeTx{}, accepted); err != nil {
				t.Fatalf("accepted, but the struct cannot hold it: %v", err)
			}
		}
	})
}

// A body with very many faults costs no more than one with fifty, because nobody reads the rest.
func TestValidationStopsCounting(t *testing.T) {
	t.Parallel()
	o := patch(new(patchThing))
	strange, items := map[string]any{"id": "x"}, []any{}
	for i := range 80_000 {
		strange["n"+strconv.Itoa(i)] = true
		items = append(items, true)
	}
	for name, args := range map[string]map[string]any{
		"unknown names": strange,
		"bad items":     {"id": "x", "items": items},
	} {
		var faults []errs.Detail
		o.In.validate(args, "", &faults)
		if len(faults) != errs.MaxFaults+1 {
			t.Errorf("%s: %d faults were collected", name, len(faults))
		}
		if err, ok := errors.AsType[*errs.Error](errs.Faults(faults)); !ok || len(err.Details) != errs.MaxFaults ||
			err.Message != "more than 50 fields are invalid; details lists the first 50" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type planet string

func (planet) Enum() []string { return []string{"mars", "venus"} }

type bag map[string]string

func (bag) Schema() *Schema {
	return &Schema{Type: "object", Props: []Prop{{Schema: SchemaOf[planet](), Name: "home", Required: true}}}
}

// A type can list its values or return its whole schema, so that tags need not repeat a list that
// the program has anyway.
func TestTypesThatDescribeThemselves(t *testing.T) {
	t.Parallel()
	s := SchemaOf[struct {
		Planet planet   `json:"planet"`
		Other  *planet  `json:"other,omitempty"`
		More   []planet `json:"more"`
		Bag    bag      `json:"bag" doc:"What it holds"`
	}]()
	want := []string{"mars", "venus"}
	for name, got := range map[string]*Schema{
		"planet": s.Prop("planet").Schema, "other": s.Prop("other").Schema, "more": s.Prop("more").Items,
		"bag": s.Prop("bag").Prop("home").Schema,
	} {
		if got.Type != "string" || !slices.Equal(got.Enum, want) {
			t.Errorf("%s: %s of %q", name, got.Type, got.Enum)
		}
	}
	if b := s.Prop("bag"); b.Description != "What it holds" || s.Prop("other").Required {
		t.Errorf("tags have no effect: %+v", b)
	}
}

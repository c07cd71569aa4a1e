package op

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// JSON prints the schema as JSON Schema 2020-12, the dialect of both OpenAPI 3.1 and MCP. ref
// returns the component of a struct, or "" to print the struct in place.
func (s *Schema) JSON(ref func(*Schema) string) Tree {
	return s.print(ref, false, true)
}

// Inside prints the schema itself in place, and the structs within it as ref decides. Strict closes
// its objects to unknown names.
func (s *Schema) Inside(ref func(*Schema) string, strict bool) Tree {
	unnamed := *s
	unnamed.Name = ""
	return unnamed.print(ref, false, strict)
}

// ToolInput prints the op's input for the tool list, every part in place. A model pays for every
// character of it with every request, so it has only what helps to choose arguments. Lengths,
// maxima, formats and patterns are still checked, and an error explains what is wrong.
func (o *Op) ToolInput() Tree { return o.input(Tool).brief() }

// brief prints a schema as ToolInput does. Objects are not closed, because some take more than is
// printed.
func (s *Schema) brief() Tree {
	t := Tree{}
	if s.Nullable && s.Type != "" {
		t.Add("type", []string{s.Type, "null"})
	} else {
		t.Add("type", s.Type)
	}
	switch s.Agent {
	case "-":
	case "":
		if !familiar.MatchString(s.Description) {
			t.Add("description", s.Description)
		}
	default:
		t.Add("description", s.Agent)
	}
	if len(s.Enum) > 0 && len(s.Enum) <= manyValues {
		t.Add("enum", s.Enum)
	}
	if s.Default != nil && s.Default != json.Number("0") {
		t.Add("default", s.Default)
	}
	switch {
	case s.Referred:
	case s.Type == "array":
		t.Add("items", s.Items.brief())
	case s.Type == "object" && s.Values == nil:
		props, required := Tree{}, []string{}
		for _, p := range s.Props {
			if p.Quiet || strings.HasPrefix(p.Description, alias) {
				continue
			}
			props = append(props, Member{p.Name, p.brief()})
			if p.Required {
				required = append(required, p.Name)
			}
		}
		t = append(t, Member{"properties", props})
		t.Add("required", required)
	}
	return t
}

// familiar matches descriptions of arguments that mean the same in every tool. The server's
// instructions explain once that ids are short ids, and how to get the next page.
var familiar = regexp.MustCompile(`^(The [a-z ]+'s (UUID or short id|short id or UUID|slug)|UUID or short id|` +
	`Short ids or UUIDs|Page size|next_cursor of the previous page.*)$`)

// alias is how the description of an argument's second name begins. A tool accepts the second name
// without printing it.
const alias = "The same as "

// Quiet omits arguments from the printed tool, which still accepts them. The tool's description
// refers to where they are explained.
func Quiet(o *Op, names ...string) *Op {
	o.toolIn = new(*o.input(Tool))
	o.toolIn.Props = slices.Clone(o.toolIn.Props)
	for _, name := range names {
		o.toolIn.Prop(name).Quiet = true
	}
	return o
}

// Exact removes from the op's tool the arguments that only people's devices send. The arguments
// that they can replace become required again.
func Exact(o *Op, removed, required []string) *Op {
	o.toolIn = new(*o.input(Tool))
	o.toolIn.Props = slices.DeleteFunc(slices.Clone(o.toolIn.Props), func(p Prop) bool {
		return slices.Contains(removed, p.Name)
	})
	for _, name := range required {
		o.toolIn.Prop(name).Required = true
	}
	return o
}

// ToolOutput prints the op's answer for the tool list. MCP allows only objects there, so a list is
// wrapped under ToolList's key.
func (o *Op) ToolOutput() Tree {
	out := o.ToolOut().print(inline, true, false)
	if key := o.ToolList(); key != "" {
		out = Tree{{"type", "object"}, {"properties", Tree{{key, out}}}, {"required", []string{key}}}
	}
	if o.TextOut != "" {
		return out
	}
	for i, m := range out {
		props, ok := m.Value.(Tree)
		if m.Key != "properties" || !ok {
			continue
		}
		tree, strangers := Tree{}, false
		o.ToolOut().strangers(func(string) { strangers = true })
		if strangers {
			tree = Tree{{"untrusted", Tree{
				{"type", "string"}, {"description", "Fields written by third parties, if any"},
			}}}
		}
		tree = append(tree, props...)
		paged := func(m Member) bool { return m.Key == "notes" || m.Key == "next_cursor" }
		if !o.Whole && !slices.ContainsFunc(props, paged) { // it may be cut
			tree = append(tree, Member{"notes", SchemaOf[[]Note]().print(inline, true, false)})
		}
		out[i].Value = tree
	}
	return out
}

func inline(*Schema) string { return "" }

// manyValues is the number of values above which a tool omits an enumeration: error codes would
// fill the list.
const manyValues = 32

func (s *Schema) print(ref func(*Schema) string, lean, strict bool) Tree {
	if s.Name != "" {
		if r := ref(s); r != "" {
			t := Tree{{"$ref", r}}
			if s.Nullable {
				return Tree{{"anyOf", []Tree{t, {{"type", "null"}}}}}
			}
			return t
		}
	}
	if s.Single && !lean {
		list := *s
		list.Single, list.Description = false, ""
		return Tree{
			{"description", s.Description}, {"anyOf", []Tree{
				s.Items.print(ref, lean, strict), list.print(ref, lean, strict),
			}},
		}
	}
	t := Tree{}
	switch {
	case s.Type != "" && s.Nullable:
		t.Add("type", []string{s.Type, "null"})
	default:
		t.Add("type", s.Type)
	}
	t.Add("description", s.Description)
	format := s.Format
	if lean && format == "uuid" || format == "line" || format == "file" || format == momentFormat {
		format = "" // tools print ids short; line, file and moment are not standard formats
	}
	t.Add("format", format)
	if len(s.Enum) > 0 && (!lean || len(s.Enum) <= manyValues) {
		values := make([]any, 0, len(s.Enum)+1)
		for _, e := range s.Enum {
			values = append(values, e)
		}
		if s.Nullable {
			values = append(values, nil)
		}
		t.Add("enum", values)
	}
	if s.Pattern != nil {
		t.Add("pattern", s.Pattern.String())
	}
	t.Add("minimum", s.Min)
	t.Add("maximum", s.Max)
	if s.Type == "array" {
		t.Add("items", s.Items.print(ref, lean, strict))
		t.Add("minItems", s.MinLen)
		t.Add("maxItems", s.MaxLen)
	} else {
		t.Add("minLength", s.MinLen)
		t.Add("maxLength", s.MaxLen)
	}
	t.Add("default", s.Default)
	if s.Example != nil {
		t.Add("examples", []any{s.Example})
	}
	if s.Type == "object" {
		s.printProps(&t, ref, lean, strict)
	}
	return t
}

func (s *Schema) printProps(t *Tree, ref func(*Schema) string, lean, strict bool) {
	if s.Values != nil {
		if values := s.Values.print(ref, lean, strict); len(values) > 0 {
			t.Add("additionalProperties", values)
		} else {
			t.Add("additionalProperties", true)
		}
		return
	}
	props, required := Tree{}, []string{}
	for _, p := range s.Props {
		if lean && p.Repeats {
			continue
		}
		props.Add(p.Name, p.print(ref, lean, strict))
		if len(props) == 0 || props[len(props)-1].Key != p.Name {
			props = append(props, Member{p.Name, Tree{}}) // any value
		}
		if p.Required {
			required = append(required, p.Name)
		}
	}
	*t = append(*t, Member{"properties", props})
	t.Add("required", required)
	if strict {
		// Inputs are closed, so that typos are rejected. Answers stay open, so that a new field
		// breaks nobody.
		t.Add("additionalProperties", false)
	}
}

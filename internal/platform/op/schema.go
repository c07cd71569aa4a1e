package op

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Where HTTP carries an input.
const (
	InPath  = "path"
	InQuery = "query"
	InBody  = "body"
	InText  = "text"
)

// A Schema is the JSON Schema of a Go type, limited to the features that coffer's types need. One
// schema validates every surface and is printed into the OpenAPI document and the tool list.
type Schema struct {
	Name        string // of the Go struct; "" for everything else
	Type        string // string, integer, number, boolean, object, array; "" for any
	Nullable    bool
	Format      string
	Description string
	Pattern     *regexp.Regexp
	Hint        string // the requirement of Pattern, in words
	Enum        []string
	Default     any
	Example     any
	// Screen of an input is the value that a command uses on a terminal if none is given. Screen of
	// an output is how a command prints it there.
	Screen    string
	Min, Max  *int // of a number
	MinLen    *int // of a string in characters, of an array in items
	MaxLen    *int
	Items     *Schema
	Props     []Prop  // of an object, in the order of the struct
	Values    *Schema // of a map
	Unchecked bool    // only documented here; its reader validates it
	Stranger  bool    // text that someone outside the household wrote
	Single    bool    // for an array: one string is accepted instead of a list, because the field used to be a string
	// Agent is the description that a tool prints, if it differs; "-" for none.
	Agent string
	// Referred means that the description refers to a place where the schema's parts are explained.
	// A tool then prints none of the parts.
	Referred bool
	// Spelled are the components that the OpenAPI document shows for this schema, the schema's own
	// first. It is set if they contain more than is validated here.
	Spelled []Member
	// Whole is the schema of the complete record, if a caller chose only some of its fields.
	Whole *Schema

	number *numeral // how a number is read; nil: as an amount
}

// A Prop is a named part of an object.
type Prop struct {
	*Schema
	Name     string
	Required bool
	In       string // where HTTP carries it; "" for parts of answers and of nested objects
	Repeats  bool   // a short id beside an id; tools omit it, because they print ids short
	Quiet    bool   // a tool takes it without printing it
}

// Prop returns the property of that name, or nil.
func (s *Schema) Prop(name string) *Prop {
	for i := range s.Props {
		if s.Props[i].Name == name {
			return &s.Props[i]
		}
	}
	return nil
}

// A Null is an optional field of a PATCH that can also be cleared: absent leaves it, null clears
// it, a value sets it. If null makes no sense, the field is a pointer with omitempty.
type Null[T any] struct {
	Set   bool // given, even as null
	Value *T   // nil if null or absent
}

// UnmarshalJSON implements json.Unmarshaler; encoding/json calls it for null too.
func (n *Null[T]) UnmarshalJSON(b []byte) error {
	n.Set = true
	return json.Unmarshal(b, &n.Value)
}

// MarshalJSON implements json.Marshaler.
func (n Null[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// IsZero makes omitzero omit an absent field.
func (n Null[T]) IsZero() bool { return !n.Set }

func (Null[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

type nullable interface{ inner() reflect.Type }

// known lists types whose JSON differs from what their Go kind suggests.
var known = map[reflect.Type]Schema{
	reflect.TypeFor[id.ID]():     {Type: "string", Format: "uuid"},
	reflect.TypeFor[id.Key]():    {Type: "string", Example: "I0HKmjMnaXA"},
	reflect.TypeFor[pg.Time]():   {Type: "string", Format: "date-time", Example: "2026-11-15T09:30:00.000000Z"},
	reflect.TypeFor[pg.Date]():   {Type: "string", Format: "date", Example: "2026-11-15"},
	reflect.TypeFor[pg.Moment](): {Type: "string", Format: momentFormat, Example: "2026-11-15"},
	reflect.TypeFor[money.Amount](): {
		Type: "number", Format: "decimal",
		Description: "Exact, two decimals; positive is money out",
	},
	reflect.TypeFor[money.Total](): {Type: "number", Format: "decimal", Description: "Exact, two decimals"},
	reflect.TypeFor[money.Micros](): {
		Type: "number", Format: "decimal", Description: "Exact, up to six decimals", number: &micros,
	},
	reflect.TypeFor[money.Rate](): {
		Type: "number", Format: "decimal", Description: "Exact, up to nine decimals", number: &rates,
	},
	reflect.TypeFor[money.Converted](): {Type: "number", Format: "decimal", Description: "An estimate, two decimals"},
	reflect.TypeFor[text.Untrusted]():  {Type: "string", Stranger: true},
	reflect.TypeFor[File]():            {Type: "string", Format: "file"},
	reflect.TypeFor[json.RawMessage](): {},
}

// A numeral defines how the numbers of a type are read. The type can hold every number that parse
// accepts.
type numeral struct {
	parse func(string) (fmt.Stringer, error)
	form  string // its description for errors
}

var (
	amounts = numeral{
		reading(money.Parse), "a number with at most ten digits before and two after the decimal point, such as 12.50",
	}
	micros = numeral{reading(money.ParseMicros), "a number from 0 on with at most six decimals"}
	rates  = numeral{reading(money.ParseRate), "a number above zero with at most nine digits before and nine after " +
		"the decimal point, such as 1.0845"}
)

func reading[T fmt.Stringer](parse func(string) (T, error)) func(string) (fmt.Stringer, error) {
	return func(s string) (fmt.Stringer, error) { return parse(s) }
}

// numbers returns how a number of the schema is read; most are amounts.
func (s *Schema) numbers() *numeral {
	if s.number == nil {
		return &amounts
	}
	return s.number
}

// momentFormat is the format of a date or a time. No standard has a name for it, so the OpenAPI
// document and tools show a plain string.
const momentFormat = "moment"

// A schemer returns its own schema: its parts come from a list in the program and not from a
// struct.
type schemer interface{ Schema() *Schema }

// A speller is a type whose component in the OpenAPI document contains more than its schema. It
// returns the type's own component first, then those that it refers to.
type speller interface{ Spell() []Member }

// An enumerated type is a string type that lists its values.
type enumerated interface{ Enum() []string }

// SchemaOf returns the schema of T. The schemas of its parts are shared with all other schemas that
// have them, and must not be changed.
func SchemaOf[T any]() *Schema { return schemaFor(reflect.TypeFor[T]()) }

// structs caches the schemas of named structs, so that each is inferred once per process: most of
// the memory of the idle program is schemas.
var structs sync.Map // of reflect.Type to *Schema

func schemaFor(t reflect.Type) *Schema {
	if t.Kind() != reflect.Struct || t.Name() == "" {
		return infer(t)
	}
	s, ok := structs.Load(t)
	if !ok {
		s, _ = structs.LoadOrStore(t, infer(t))
	}
	mine := *s.(*Schema) //nolint:forcetypeassert // nothing else is stored
	mine.Props = slices.Clip(mine.Props)
	return &mine
}

func infer(t reflect.Type) *Schema {
	s := inferPlain(t)
	if own, ok := reflect.TypeAssert[speller](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
		s.Spelled = own.Spell()
		s.Name = s.Spelled[0].Key
	}
	return s
}

func inferPlain(t reflect.Type) *Schema {
	if s, ok := known[t]; ok {
		return &s
	}
	if n, ok := reflect.TypeAssert[nullable](reflect.Zero(t)); ok {
		s := schemaFor(n.inner())
		s.Nullable = true
		return s
	}
	if l, ok := reflect.TypeAssert[looser](reflect.Zero(t)); ok {
		s := schemaFor(l.loose())
		s.Unchecked = true
		return s
	}
	if own, ok := reflect.TypeAssert[schemer](reflect.Zero(t)); ok && t.Kind() != reflect.Pointer {
		return own.Schema()
	}
	s := &Schema{}
	if e, ok := reflect.TypeAssert[enumerated](reflect.Zero(t)); ok && t.Kind() == reflect.String {
		s.Enum = e.Enum()
	}
	switch t.Kind() {
	case reflect.Pointer:
		s = schemaFor(t.Elem())
		s.Nullable = true
	case reflect.String:
		s.Type = "string"
	case reflect.Bool:
		s.Type = "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		s.Type = "integer"
	case reflect.Slice:
		s.Type, s.Items = "array", schemaFor(t.Elem())
	case reflect.Map:
		s.Type, s.Values = "object", schemaFor(t.Elem())
	case reflect.Struct:
		s.Type, s.Name = "object", t.Name()
		s.addFields(t)
	case reflect.Interface:
	default:
		// A float could hold an amount; no type of ours may have one.
		panic(fmt.Sprintf("op: %s is not supported in a schema", t))
	}
	return s
}

func (s *Schema) addFields(t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			s.addPart(f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("op: %s.%s needs a json name", t, f.Name))
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		fs := schemaFor(f.Type)
		if f.Type.Kind() == reflect.Pointer && optional {
			fs.Nullable = false // absent or a value; only Null allows null
		}
		fs.describe(f)
		if keep := f.Tag.Get("partial"); keep != "" {
			fs.Items = fs.Items.partial(keep)
		}
		_, forced := f.Tag.Lookup("required")
		s.Props = append(s.Props, Prop{
			Schema: fs, Name: name, In: f.Tag.Get("in"), Repeats: name == "short_id" && optional,
			Required: (!optional || forced) && fs.Default == nil,
		})
	}
}

// addPart adds the fields of an embedded struct. The fields of an embedded pointer are present all
// together or not at all.
func (s *Schema) addPart(t reflect.Type) {
	if t.Kind() != reflect.Pointer {
		s.addFields(t)
		return
	}
	before := len(s.Props)
	s.addFields(t.Elem())
	for i := range s.Props[before:] {
		s.Props[before+i].Required = false
	}
}

// partial returns the schema of a record whose fields a caller may choose: only those in keep are
// always present.
func (s *Schema) partial(keep string) *Schema {
	p := *s
	p.Name += "Fields"
	p.Whole = s
	p.Props = slices.Clone(s.Props)
	for i := range p.Props {
		p.Props[i].Required = slices.Contains(strings.Split(keep, ","), p.Props[i].Name)
	}
	return &p
}

// describe reads the tags of a field. On a list, limits of a single value apply to each item.
func (s *Schema) describe(f reflect.StructField) {
	get := f.Tag.Get
	if d := get("doc"); d != "" {
		s.Description = d
	}
	if get("object") == "any" { // JSON from elsewhere: an object with any fields, or null
		s.Type, s.Nullable, s.Values = "object", true, &Schema{}
	}
	if get("stranger") != "" { // an object that contains text of strangers
		s.Stranger = true
	}
	one := s
	if s.Items != nil {
		one = s.Items
		s.MinLen, s.MaxLen = number(f, "minItems"), number(f, "maxItems")
	}
	if m := number(f, "minLength"); m != nil {
		one.MinLen = m
	}
	if m := number(f, "maxLength"); m != nil {
		one.MaxLen = m
	}
	one.Min, one.Max = number(f, "minimum"), number(f, "maximum")
	if p := get("pattern"); p != "" {
		one.Pattern, one.Hint = regexp.MustCompile(p), get("hint")
	}
	if e := get("enum"); e != "" {
		one.Enum = strings.Split(e, ",")
	}
	if v := get("format"); v != "" {
		one.Format = v
	}
	s.Screen, s.Single, s.Referred = get("screen"), get("single") != "", get("parts") == "elsewhere"
	s.Agent = get("agent")
	s.Default, s.Example = literal(s, get("default")), literal(s, get("example"))
}

func number(f reflect.StructField, tag string) *int {
	v := f.Tag.Get(tag)
	if v == "" {
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(fmt.Sprintf("op: tag %s of %s is not a number", tag, f.Name))
	}
	return &n
}

// literal reads a tag as a value of the schema's type: text for strings, JSON for all others.
func literal(s *Schema, tag string) any {
	if tag == "" {
		return nil
	}
	if s.Type == "string" {
		return tag
	}
	v, err := parse([]byte(tag))
	if err != nil {
		panic(fmt.Sprintf("op: tag value %s is not JSON", tag))
	}
	return v
}

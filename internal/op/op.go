// Package op makes a use case a value: its name, route, tool, scope, schemas and call, so that REST, MCP and the command line are three loops over one list.
// It knows no use case and no transport; it must never grow into a framework.
package op

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/id"
	"coffer/internal/pg"
)

// A Scope is what a caller must be allowed to do.
type Scope int

// The scopes, each including those before it. Auto stands in a Spec for the usual one: Read for a reading use case, Full for a writing one.
const (
	Auto   Scope = iota
	Open         // nobody needs to say who they are
	AnyKey       // any valid credential
	Read         // read_only suffices
	Full         // full_access
)

// String is the contract's word for the scope.
func (s Scope) String() string {
	switch s {
	case Open:
		return "none"
	case AnyKey:
		return "any"
	case Read:
		return "read_only"
	case Full:
		return "full_access"
	}
	return "auto"
}

// A Spec is a line of a domain's menu: everything about a use case but its code.
type Spec struct {
	Name    string // noun.verb, such as tag.create: the operation's id and the command "tag create"; "" for a use case that is only a tool
	Route   string // "POST /tags", below /api/v1; "" when it has none
	Tool    string // "create_tag"; "" when it is none
	Scope   Scope
	Summary string // one sentence for people
	Agent   string // what an agent must know to choose the tool and use it well; "" repeats Summary

	Record      bool   // the answer is one record, with an ETag, although it has no id
	Seals       bool   // it keeps a secret, which a server without an encryption key cannot
	Destructive bool   // a tool that removes or merges something (even though it can be undone)
	TextIn      string // "field media/type": the raw body of that type fills that field; the other fields come from the query
	TextOut     string // media type: the answer is a string, sent as it is
}

// An Op is a use case that any surface can serve.
type Op struct {
	Spec
	Method, Path string
	Status       int // of success over HTTP
	Writes       bool
	Admin        bool // of members only admins may, where it needs full_access; who is no member needs the scope alone
	Proof        bool // a member who is signed in must have proven who they are within the last minutes
	In, Out      *Schema
	bodyField    string
	bodyType     string
	record       bool // the answer is one record and has an ETag
	toolOut      *Schema
	shape        func(any) any // the tool's own shape of an answer; nil for the same
	toolIn       *Schema       // what the tool takes where that differs; nil for the same
	wait         func(context.Context, Answer, time.Duration) (any, bool)
	ask          func(context.Context, pg.Querier, []byte) (any, error) // before the transaction; nil for most
	run          func(context.Context, pg.Querier, []byte) (any, error)
}

// Reading makes an Op of a use case that changes nothing.
func Reading[In, Out any](s Spec, f func(context.Context, pg.Querier, In) (Out, error)) *Op {
	return define[In, Out](s, false, f)
}

// Writing makes an Op of a use case that runs in the transaction which Call opens.
func Writing[In, Out any](s Spec, f func(context.Context, pg.Tx, In) (Out, error)) *Op {
	return define[In, Out](s, true, func(ctx context.Context, q pg.Querier, in In) (Out, error) {
		tx, ok := q.(pg.Tx)
		if !ok {
			panic("op: a writing use case was called without a transaction")
		}
		return f(ctx, tx, in)
	})
}

// None is the input of a use case that takes none.
type None struct{}

// Deleted is the answer of a deletion: REST sends 204 instead, tools and commands show it.
type Deleted struct {
	Deleted bool  `json:"deleted"`
	ID      id.ID `json:"id" doc:"What was deleted"`
}

func define[In, Out any](s Spec, writes bool, f func(context.Context, pg.Querier, In) (Out, error)) *Op {
	o := &Op{Spec: s, Writes: writes, In: SchemaOf[In](), Out: SchemaOf[Out]()}
	o.Method, o.Path, _ = strings.Cut(s.Route, " ")
	if o.Scope == Auto {
		o.Scope = Read
		if writes {
			o.Scope = Full
		}
	}
	if o.Agent == "" {
		o.Agent = o.Summary
	}
	o.bodyField, o.bodyType, _ = strings.Cut(s.TextIn, " ")
	switch {
	case o.Method == http.MethodDelete:
		o.Status = http.StatusNoContent
	case o.Method == http.MethodPost && strings.HasSuffix(o.Name, ".create"):
		o.Status = http.StatusCreated
	default:
		o.Status = http.StatusOK
	}
	o.record = s.Record || o.Out.Prop("id") != nil && o.Out.Prop("deleted") == nil
	o.place()
	o.run = func(ctx context.Context, q pg.Querier, args []byte) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fmt.Errorf("op %s: the schema let through what the struct cannot hold: %w", o.ID(), err)
		}
		return f(ctx, q, in)
	}
	o.check()
	return o
}

// ID is the operation's name: its own, or its tool's.
func (o *Op) ID() string {
	if o.Name != "" {
		return o.Name
	}
	return o.Tool
}

// Group is the noun of the op's name, under which documents and commands list it.
func (o *Op) Group() string {
	noun, _, _ := strings.Cut(o.Name, ".")
	return noun
}

// IsRecord reports whether the answer is one record, which has an ETag.
func (o *Op) IsRecord() bool { return o.record }

// ToolOut is the schema of the answer as the tool gives it.
func (o *Op) ToolOut() *Schema {
	if o.toolOut != nil {
		return o.toolOut
	}
	return o.Out
}

// ToolList is the key under which a tool's structured content wraps an answer that is a list: the tool's name without its verb. It is "" for other answers.
func (o *Op) ToolList() string {
	if o.ToolOut().Type != "array" {
		return ""
	}
	_, plural, _ := strings.Cut(o.Tool, "_")
	return plural
}

// TextBody tells which field a raw body fills and of which media type it is, or two empty strings.
func (o *Op) TextBody() (field, mediaType string) { return o.bodyField, o.bodyType }

// TakesFile reports whether the raw body is a file in any encoding, which may also come within JSON.
func (o *Op) TakesFile() bool {
	p := o.In.Prop(o.bodyField)
	return p != nil && p.Format == "file"
}

// FileText is a raw body as the field that takes it: a file that is in another encoding than JSON has comes as a data URL.
func (o *Op) FileText(raw []byte) string {
	if o.TakesFile() && (!utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0) {
		return "data:" + o.bodyType + ";base64," + base64.StdEncoding.EncodeToString(raw)
	}
	return string(raw)
}

// place decides for every input where HTTP carries it. Names are one flat set: a path variable, a query parameter or a field of the body, never two of them.
func (o *Op) place() {
	if o.Route == "" {
		return
	}
	for i := range o.In.Props {
		p := &o.In.Props[i]
		switch {
		case strings.Contains(o.Path, "{"+p.Name+"}"):
			p.In, p.Required = InPath, true
		case p.In == InQuery:
		case p.Name == o.bodyField:
			p.In = InText
		case o.bodyField != "" || o.Method == http.MethodGet || o.Method == http.MethodDelete:
			p.In = InQuery
		default:
			p.In = InBody
		}
	}
}

// check refuses a menu line that contradicts itself, at start-up, with the line's name.
func (o *Op) check() {
	bad := func(why string) { panic("op " + o.ID() + ": " + why) }
	if o.In.Type != "object" {
		bad("the input must be a struct")
	}
	if o.Summary == "" || !strings.HasSuffix(o.Summary, ".") {
		bad("the summary must be a sentence")
	}
	if o.Name == "" && (o.Tool == "" || o.Route != "") {
		bad("an op with a route needs a name")
	}
	for rest := o.Path; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			break
		}
		var name string
		name, rest, _ = strings.Cut(after, "}")
		if o.In.Prop(name) == nil {
			bad("no input field for path variable " + name)
		}
	}
	if o.Method == http.MethodGet && o.Writes {
		bad("a GET must not write")
	}
}

// Shaped gives the op's tool the shape that the contract has for it, where that is another one than the route's.
func Shaped[Out, Shape any](o *Op, shape func(Out) Shape) *Op {
	o.toolOut = SchemaOf[Shape]()
	o.shape = func(v any) any {
		return shape(v.(Out)) //nolint:forcetypeassert // the op's own answer; another type is a mistake in the menu and shall panic
	}
	return o
}

// IsShaped reports whether the tool answers in a shape of its own.
func (o *Op) IsShaped() bool { return o.shape != nil }

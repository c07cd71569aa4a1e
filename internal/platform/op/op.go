package op

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A Scope is the permission that a call requires.
type Scope int

// The scopes, each including those before it. Auto in a Spec means the default: Read for a reading
// use case, Full for a writing one.
const (
	Auto   Scope = iota
	Open         // no credential needed
	AnyKey       // any valid credential
	Read         // read_only suffices
	Full         // full_access
)

// String returns the scope's name in the API.
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

// A Spec describes a use case: everything about it except its code.
type Spec struct {
	// Name is noun.verb, such as tag.create: the operation's id and the command "tag create". It is
	// "" for a use case that is only a tool.
	Name  string
	Route string // "POST /tags", below /api/v1; "" if it has none
	Tool  string // "create_tag"; "" if it is not a tool
	// Core: the tool is in the set "core": enough to answer questions, review, write rules and
	// undo, in about half of the bytes of all tools.
	Core    bool
	Scope   Scope
	Summary string // one sentence for people
	// Agent explains to an agent when to choose the tool and how to use it; "" repeats Summary.
	Agent string
	// People declares what agents may not do; the zero value means no restriction.
	People People

	// Runs is what a workflow's run may do with the tool. By default a run's calls are planned, and
	// a person decides whether they are made.
	Runs Runs

	// Adds is set if a key that may only add transactions may call the op too; see Adding.
	Adds *Adding

	// Own: it works on the signed-in member's own records. Callers without a session get 404, and
	// it is not a command, because commands have no session.
	Own bool
	// Heavy: a call may keep a core busy for seconds, so few run at a time, and fewer for one
	// caller.
	Heavy bool
	// Whole: the tool's list has no pages and is never cut, because the API promises the complete
	// list.
	Whole bool
	// Record: the answer has an ETag, although it is not one record with an id. A list that is sent
	// row by row has one only if it is short enough to be sent whole.
	Record bool
	// Seals: it stores a secret, which a server without an encryption key cannot do.
	Seals bool
	// Provided: it needs a configured provider or model, and fails with 422 without one.
	Provided bool
	// Destructive: the tool removes or merges something (even if it can be undone).
	Destructive bool
	// Overwrites: the tool replaces values that somebody may have set. Clients also see it as
	// destructive, because it does more than add.
	Overwrites bool
	// Idempotent: a second call with the same arguments changes nothing. PUT, PATCH and DELETE
	// always are.
	Idempotent bool
	// OpenWorld: it calls a service outside the household's own server.
	OpenWorld bool
	// Outside is how long an outside service that the op asks may take, in addition to the call's
	// own time.
	Outside time.Duration
	// TextIn is "field media/type": the raw body of that type fills that field; the other fields
	// come from the query.
	TextIn  string
	TextOut string // media type: the answer is a string, sent unchanged
}

// An Op is a use case that any surface can serve.
type Op struct {
	Spec
	Method, Path string
	Status       int // of success over HTTP
	Writes       bool
	// Admin: among members, only admins may run it, if it requires full_access. Other callers need
	// only the scope.
	Admin bool
	// Proof: a signed-in member must have proved their identity within the last minutes.
	Proof     bool
	In, Out   *Schema
	bodyField string
	bodyType  string
	record    bool // the answer has an ETag
	toolOut   *Schema
	shape     func(any) any // converts the answer to the tool's own shape; nil if it has none
	toolIn    *Schema       // the tool's own input; nil if it has none
	wait      func(context.Context, Answer, time.Duration) (any, bool)
	ask       func(context.Context, pg.Querier, input) (any, error) // before the transaction; nil for most
	run       func(context.Context, pg.Querier, input) (any, error)
	stream    *stream // sends the answer row by row; nil for most
}

// Reading returns an Op for a use case that changes nothing.
func Reading[In, Out any](s Spec, f func(context.Context, pg.Querier, In) (Out, error)) *Op {
	return define[In, Out](s, false, f)
}

// Writing returns an Op for a use case that runs in the transaction that Call opens.
func Writing[In, Out any](s Spec, f func(context.Context, pg.Tx, In) (Out, error)) *Op {
	return define[In, Out](s, true, func(ctx context.Context, q pg.Querier, in In) (Out, error) {
		tx, ok := q.(pg.Tx)
		if !ok {
			panic("op: a writing op was called without a transaction")
		}
		return f(ctx, tx, in)
	})
}

// None is the input of a use case that takes no input.
type None struct{}

// Deleted is the result of a deletion: tools and commands show it, REST sends 204 instead.
type Deleted struct {
	Deleted bool  `json:"deleted"`
	ID      id.ID `json:"id" doc:"Id of the deleted record"`
}

func define[In, Out any](s Spec, writes bool, f func(context.Context, pg.Querier, In) (Out, error)) *Op {
	o := &Op{Spec: s, Writes: writes, In: SchemaOf[In](), Out: SchemaOf[Out]()}
	o.In.Props = slices.Clone(o.In.Props) // where HTTP carries them differs by op
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
	o.Idempotent = s.Idempotent || slices.Contains([]string{
		http.MethodPut, http.MethodPatch, http.MethodDelete,
	}, o.Method)
	o.assignInputs()
	o.run = func(ctx context.Context, q pg.Querier, args input) (any, error) {
		var in In
		if err := o.read(args, &in); err != nil {
			return nil, fmt.Errorf("op %s: the schema accepted arguments that the struct cannot hold: %w", o.ID(), err)
		}
		return f(ctx, q, in)
	}
	o.check()
	return o
}

// ID returns the operation's name, or its tool's name if it has none.
func (o *Op) ID() string {
	if o.Name != "" {
		return o.Name
	}
	return o.Tool
}

// Group returns the noun of the op's name, under which documents and commands list it.
func (o *Op) Group() string {
	noun, _, _ := strings.Cut(o.Name, ".")
	return noun
}

// AdminsOnly reports whether, among members, only admins may run the op.
func (o *Op) AdminsOnly() bool { return o.Admin && o.Scope == Full }

// IsRecord reports whether the answer has an ETag: it is one record, or its Spec sets Record.
func (o *Op) IsRecord() bool { return o.record }

// ToolOut returns the schema of the tool's answer.
func (o *Op) ToolOut() *Schema {
	if o.toolOut != nil {
		return o.toolOut
	}
	return o.Out
}

// ToolList returns the key under which a tool's structured content wraps an answer that is a list:
// the tool's name without its verb. It is "" for any other answer.
func (o *Op) ToolList() string {
	if o.ToolOut().Type != "array" {
		return ""
	}
	_, plural, _ := strings.Cut(o.Tool, "_")
	return plural
}

// TextBody returns the field that a raw body fills and its media type, or two empty strings.
func (o *Op) TextBody() (field, mediaType string) { return o.bodyField, o.bodyType }

// TakesFile reports whether the raw body is a file in any encoding, which may also come within
// JSON.
func (o *Op) TakesFile() bool {
	p := o.In.Prop(o.bodyField)
	return p != nil && p.Format == "file"
}

// FromBody returns a raw body as the value of the field that takes it.
func (o *Op) FromBody(raw []byte) any {
	if o.TakesFile() {
		return File(raw)
	}
	return string(raw)
}

// assignInputs determines where HTTP carries each input. Names are one flat set: a path variable, a
// query parameter or a field of the body, never two of them.
func (o *Op) assignInputs() {
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

// check panics at start-up, with the op's name, if a Spec contradicts itself.
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
	o.checkPeople(bad)
}

// Shaped gives the op's tool an output shape of its own, different from the route's.
func Shaped[Out, Shape any](o *Op, shape func(Out) Shape) *Op {
	o.toolOut = SchemaOf[Shape]()
	o.shape = func(v any) any {
		return shape(v.(Out)) //nolint:forcetypeassert // the op's own answer; another type is a mistake in its declaration and must panic
	}
	return o
}

// IsShaped reports whether the tool has an output shape of its own.
func (o *Op) IsShaped() bool { return o.shape != nil }

package op

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
)

// People declares which parts of an op only people may use. With full_access an agent may make
// every change that can be reverted. Anything that cannot be reverted, costs money, or lets data or
// access in or out is declared with one of the values below, on the op and nowhere else. A person
// can lift this for one key, which then has Actor.Administers.
type People struct {
	kind   string
	fields []string
	dry    bool // agents may call it with dry_run
	strict bool // applies even if the key may administer
}

// The declarations without a list: the whole op, the whole op unless dry_run is true, or the op on
// another caller's records. Each op defines its own dry_run: that of a workflow is stored.
var (
	PeopleAlways    = People{kind: "always"}
	PeopleUnlessDry = People{kind: "always", dry: true}
	PeopleOthers    = People{kind: "others"}
	// PeopleStrictly is PeopleAlways, but a key with Actor.Administers is rejected too.
	PeopleStrictly = People{kind: "always", strict: true}
)

// PeopleFields reserves single inputs for people: "name" reserves the input with any value,
// "name=value" only that value.
func PeopleFields(fields ...string) People { return People{kind: "fields", fields: fields} }

// String returns the declaration as api/access.txt prints it, or "" if the op is open to agents.
func (p People) String() string {
	if p.kind == "fields" {
		return "fields " + strings.Join(p.fields, ", ")
	}
	return p.kind
}

// Strict reports whether the declaration also applies to agents whose key may administer.
func (p People) Strict() bool { return p.strict }

// JSON returns the declaration as the OpenAPI document prints it, or nil if the op is open to
// agents.
func (p People) JSON() any {
	switch p.kind {
	case "":
		return nil
	case "fields":
		return Tree{{Key: "fields", Value: p.fields}}
	}
	return p.kind
}

// Fields returns the inputs that PeopleFields names, without values.
func (p People) Fields() []string {
	names := make([]string, len(p.fields))
	for i, f := range p.fields {
		names[i], _, _ = strings.Cut(f, "=")
	}
	return names
}

// Bound reports whether declarations of People apply to the actor: it is an agent, and no person
// gave its key the right to administer. A run has no key that could have this right.
func (a Actor) Bound() bool { return a.Type == Agent && (!a.Administers || a.Run != nil) }

const dryRun = "dry_run"

// ForAgents describes what the declaration means for agents, or returns "" if the op is open to
// them.
func (o *Op) ForAgents() string {
	switch o.People.kind {
	case "always":
		if o.People.dry {
			return "agents can only do this with dry_run: true"
		}
		return "agents can't do this"
	case "fields":
		return "agents can't set " + strings.ReplaceAll(strings.Join(o.People.fields, ", "), "=", " to ")
	case "others":
		return "agents can only do this to their own records"
	}
	return ""
}

// forPeople rejects an agent if the whole op is for people, before any argument is read. If dry
// runs are open to agents, the decision depends on the arguments and is left to forPeopleGiven.
func (o *Op) forPeople(a Actor) error {
	if o.People.strict && a.Type == Agent {
		return errs.New(errs.Forbidden, "%s; ask a member of the household", o.ForAgents())
	}
	if a.Bound() && o.People.kind == "always" && !o.People.dry {
		return peopleOnly(a, o.ForAgents())
	}
	return nil
}

// forPeopleGiven rejects an agent if the arguments ask for something that is reserved for people.
func (o *Op) forPeopleGiven(a Actor, given map[string]any) error {
	if !a.Bound() || o.People.dry && given[dryRun] == true {
		return nil
	}
	if o.People.kind == "always" {
		return peopleOnly(a, o.ForAgents())
	}
	for _, f := range o.People.fields {
		name, value, exact := strings.Cut(f, "=")
		if v, ok := given[name]; ok && (!exact || v == value) {
			return peopleOnly(a, "agents can't set "+strings.Replace(f, "=", " to ", 1))
		}
	}
	return nil
}

// Owned rejects an agent that acts on another caller's record. The use case of an op that declares
// PeopleOthers calls it with the record's owner, which only the use case knows; rule states what
// the agent may do instead.
func Owned(ctx context.Context, owner *id.ID, rule string) error {
	if c, ok := ctx.Value(callKey{}).(*Call); ok && c.op != nil && c.op.People.kind != PeopleOthers.kind {
		return fmt.Errorf("op %s checks a record's owner but does not declare PeopleOthers", c.op.ID())
	}
	a := ActorOf(ctx)
	if !a.Bound() || owner != nil && *owner == a.ID {
		return nil
	}
	return peopleOnly(a, rule)
}

// peopleOnly returns the error of all these checks. An assistant or a run cannot be given the right
// to administer, so its error does not mention it.
func peopleOnly(a Actor, why string) error {
	if a.Key == nil {
		return errs.New(errs.Forbidden, "%s; ask a member of the household", why)
	}
	return errs.New(errs.Forbidden,
		`%s; ask a member of the household, or ask an admin for a key that can administer (may: ["administer"])`,
		why)
}

// checkPeople panics on a meaningless declaration.
func (o *Op) checkPeople(bad func(string)) {
	if o.People.kind != "" && !o.Writes {
		bad("an op that only reads must not declare People")
	}
	if o.People.dry && o.In.Prop(dryRun) == nil {
		bad("an op without dry_run must not declare PeopleUnlessDry")
	}
	for _, f := range o.People.Fields() {
		if o.In.Prop(f) == nil {
			bad("People names no input: " + f)
		}
	}
	if o.People.kind == "fields" && len(slices.Compact(slices.Sorted(slices.Values(o.People.fields)))) != max(1,
		len(o.People.fields)) {
		bad("People must name inputs, each once")
	}
}

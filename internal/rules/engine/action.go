package engine

import (
	"slices"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
)

// An Action is one change that a rule makes to a transaction that it matches. The table of actions
// lists the payload of each type.
type Action struct {
	Type             string `json:"type"`
	CategorySlug     string `json:"category_slug,omitempty"`
	TagSlug          string `json:"tag_slug,omitempty"`
	Content          string `json:"content,omitempty"`
	CounterpartyID   string `json:"counterparty_id,omitempty"`
	CounterpartyName string `json:"counterparty_name,omitempty"`
}

// The types of actions.
const (
	SetCategory        = "set_category"
	AddTag             = "add_tag"
	RemoveTag          = "remove_tag"
	AddComment         = "add_comment"
	AssignCounterparty = "assign_counterparty"
)

// MaxActions is the most actions that a rule may have.
const MaxActions = 100

// An effect is a line in the table of actions.
type effect struct {
	name    string
	payload []string // the possible members beside type; exactly one is required
	once    bool     // a rule may have at most one
	sets    Fields   // the live field to which the payload is written or added
	check   func(f *faults, path string, a *Action)
	do      func(r *run, a *Action)
	doc     string
}

// effects is the table. Each has its own file.
var effects = []effect{setCategory, addTag, removeTag, addComment, assignCounterparty}

func effectNamed(name string) (effect, bool) {
	i := slices.IndexFunc(effects, func(e effect) bool { return e.name == name })
	if i < 0 {
		return effect{}, false
	}
	return effects[i], true
}

// member returns the field of an Action that holds a member of its JSON.
func (a *Action) member(key string) *string {
	switch key {
	case "category_slug":
		return &a.CategorySlug
	case "tag_slug":
		return &a.TagSlug
	case "content":
		return &a.Content
	case "counterparty_id":
		return &a.CounterpartyID
	default:
		return &a.CounterpartyName
	}
}

// ParseActions reads the actions of a rule and collects all their faults. If there are none, the
// actions are valid.
func ParseActions(path string, raw []byte) ([]Action, []Fault) {
	var f faults
	v, ok := readJSON(raw)
	switch {
	case !ok || v.kind != '[':
		f.add(path, "type", "must be an array of actions")
	case len(v.items) == 0:
		f.add(path, "empty", "must have at least one action")
	case len(v.items) > MaxActions:
		f.add(path, "length", "must have at most %d actions", MaxActions)
	}
	if len(f) > 0 {
		return nil, f
	}
	out := make([]Action, len(v.items))
	for i, item := range v.items {
		out[i] = f.action(nth(path, i), item)
	}
	f.together(path, out)
	if len(f) > 0 {
		return nil, f
	}
	return out, nil
}

func (f *faults) action(path string, v value) Action {
	var a Action
	if v.kind != '{' {
		f.add(path, "type", "must be an object with a type")
		return a
	}
	kind := ""
	for _, m := range v.members {
		if m.key == "type" && m.kind == '"' {
			kind = m.text
		}
	}
	e, known := effectNamed(kind)
	if !known {
		f.unknownAction(path, v)
		return a
	}
	given := f.members(path, v, append([]string{"type"}, e.payload...)...)
	a.Type = e.name
	found, sound := 0, true
	for _, key := range e.payload {
		m, ok := given[key]
		if !ok {
			continue
		}
		found++
		switch {
		case m.kind != '"':
			f.add(at(path, key), "type", "must be a string")
			sound = false
		case m.text == "":
			f.add(at(path, key), "empty", "must not be empty")
			sound = false
		default:
			*a.member(key) = m.text
		}
	}
	switch {
	case found == 0 && len(e.payload) == 1:
		f.add(at(path, e.payload[0]), "required", "is required for %s", e.name)
	case found != 1:
		f.add(path, "conflict", "must have exactly one of %s", strings.Join(e.payload, ", "))
	case sound:
		e.check(f, path, &a)
	}
	return a
}

func (f *faults) unknownAction(path string, v value) {
	names := make([]string, 0, len(effects))
	for _, e := range effects {
		names = append(names, e.name)
	}
	i := slices.IndexFunc(v.members, func(m member) bool { return m.key == "type" })
	switch {
	case i < 0:
		f.add(at(path, "type"), "required", "must be one of: %s", strings.Join(names, ", "))
	case v.members[i].kind != '"':
		f.add(at(path, "type"), "type", "must be a string")
	default:
		f.add(at(path, "type"), "enum", "must be one of: %s", strings.Join(names, ", "))
	}
}

// together finds actions that conflict with each other.
func (f *faults) together(path string, actions []Action) {
	seen := map[Action]int{}
	for i, a := range actions {
		if a.Type == "" {
			continue
		}
		e, _ := effectNamed(a.Type)
		if e.once && slices.ContainsFunc(actions[:i], func(b Action) bool { return b.Type == a.Type }) {
			f.add(nth(path, i), "conflict", "must be the only %s of the rule", a.Type)
		}
		if a.TagSlug == "" {
			continue
		}
		opposite := Action{Type: AddTag, TagSlug: a.TagSlug}
		if a.Type == AddTag {
			opposite.Type = RemoveTag
		}
		if _, both := seen[opposite]; both {
			f.add(nth(path, i), "conflict", "must not name a tag that the rule both adds and removes")
		}
		seen[a] = i
	}
}

const tagSlugHint = text.TagSlugHint + ", at most 64 characters, and not a UUID"

// isTagSlug reports whether s has the form of a tag's slug. Something in the form of a UUID is not
// a slug, because everywhere else a UUID is a reference to a record.
func isTagSlug(s string) bool {
	_, err := id.Parse(s)
	return err != nil && len(s) <= text.MaxSlug && text.TagSlug.MatchString(s)
}

package engine

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// The limits of a condition.
const (
	MaxDepth   = 10   // combinators above a leaf
	MaxLeaves  = 500  // of a tree; {} counts as one
	MaxPattern = 1000 // characters of a regular expression
	MaxValues  = 1000 // of the operator in
	MaxText    = 1000 // characters of a text to compare with

	// maxProgram limits the size to which a short regular expression can expand ((…){1000}), and so
	// the time of a match.
	maxProgram = 4000

	// maxPrograms limits the sum of a tree's regular expressions, because each of them is tried on
	// every text.
	maxPrograms = 20_000
)

// ParseTree reads a condition and returns all its faults. If there is a fault, the Tree matches
// nothing. Empty input and null mean {}. The paths of faults begin with path. Any input is safe.
func ParseTree(path string, raw []byte) (Tree, []Fault) {
	return parseTree(path, raw, maxPrograms)
}

// parseTree is ParseTree with a limit on the steps of all regular expressions together.
func parseTree(path string, raw []byte, steps int) (Tree, []Fault) {
	if len(raw) == 0 {
		return Tree{}, nil
	}
	v, ok := readJSON(raw)
	if !ok {
		return never, []Fault{{path, "type", "must be a JSON object"}}
	}
	if v.kind == 'n' {
		return Tree{}, nil
	}
	var p parser
	root := p.node(path, v, 0)
	if p.leaves > MaxLeaves {
		p.add(path, "length", "must have at most %d comparisons; use `in`, or several rules", MaxLeaves)
	}
	if p.steps > steps {
		p.add(path, "length",
			"the regular expressions must not expand to more than %d steps in total; use smaller repetitions or "+
				"several rules", steps)
	}
	if len(p.faults) > 0 {
		return never, p.faults
	}
	if root.kind == nodeTrue {
		root = nil
	}
	return Tree{root}, nil
}

// never is the negation of {}.
var never = Tree{&node{kind: nodeNot, kids: []*node{{kind: nodeTrue}}}}

type parser struct {
	faults
	leaves int
	steps  int // of all regular expressions
}

const nodeHint = "a comparison {field, op, value}, one of {and: […]}, {or: […]}, {not: {…}}, or {} for everything"

// node reads one node. depth is the number of combinators above it. The result is valid only if
// there are no faults.
func (p *parser) node(path string, v value, depth int) *node {
	if v.kind != '{' {
		p.leaves++
		p.add(path, "type", "must be an object: %s", nodeHint)
		return nil
	}
	given := p.members(path, v, "field", "op", "value", "and", "or", "not")
	var out *node
	combinators := 0
	for _, key := range []string{"and", "or", "not"} {
		if inner, ok := given[key]; ok {
			combinators++
			out = p.combinator(path, key, inner, depth+1)
		}
	}
	parts := len(given) - combinators
	switch {
	case combinators > 1:
		p.add(path, "conflict", "must have only one of and, or, not; nest them instead")
	case combinators == 1 && parts > 0:
		p.add(path, "conflict", "must be a comparison or a combinator, not both; join them with and")
	}
	if combinators > 0 && parts == 0 {
		return out
	}
	if p.leaves++; p.leaves > MaxLeaves || parts == 0 {
		return &node{kind: nodeTrue}
	}
	return &node{kind: nodeLeaf, leaf: p.leaf(path, given)}
}

// members returns the members of an object by key. Duplicate and unknown members are faults.
func (f *faults) members(path string, v value, known ...string) map[string]value {
	given := make(map[string]value, len(v.members))
	for _, m := range v.members {
		if !slices.Contains(known, m.key) {
			f.add(at(path, printable(m.key)), "unknown", "unknown field; expected one of: %s", strings.Join(known,
				", "))
			continue
		}
		if _, twice := given[m.key]; twice {
			f.add(at(path, m.key), "conflict", "must appear only once")
		}
		given[m.key] = m.value
	}
	return given
}

func (p *parser) combinator(path, key string, v value, depth int) *node {
	path = at(path, key)
	if depth > MaxDepth {
		p.add(path, "range", "must not nest more than %d combinators", MaxDepth)
		return nil
	}
	if key == "not" {
		return &node{kind: nodeNot, kids: []*node{p.node(path, v, depth)}}
	}
	out := &node{kind: nodeAnd}
	if key == "or" {
		out.kind = nodeOr
	}
	switch {
	case v.kind != '[':
		p.add(path, "type", "must be an array of conditions")
	case len(v.items) == 0:
		p.add(path, "empty", "must have at least one condition; to match everything use {}")
	}
	for i, item := range v.items {
		out.kids = append(out.kids, p.node(nth(path, i), item, depth))
		if p.leaves > MaxLeaves {
			break
		}
	}
	return out
}

func (p *parser) leaf(path string, given map[string]value) *leaf {
	l := &leaf{field: -1}
	if name, ok := p.word(path, "field", given); ok {
		i, found := fieldNamed(name)
		if found {
			l.field = i
		} else {
			p.add(at(path, "field"), "enum", "must be one of: %s", strings.Join(AllFields.Names(), ", "))
		}
	}
	name, ok := p.word(path, "op", given)
	if ok && l.field >= 0 {
		k := fields[l.field].kind
		if l.op = operatorOf(name, k); l.op == nil {
			p.add(at(path, "op"), "enum", "must be one of these for %s: %s", fields[l.field].name,
				strings.Join(operatorsFor(k), ", "))
		}
	}
	if ok && l.field < 0 && !slices.ContainsFunc(operators, func(o operator) bool { return o.name == name }) {
		p.add(at(path, "op"), "enum", "must be an operator of the field")
	}
	v, ok := given["value"]
	switch {
	case !ok:
		p.add(at(path, "value"), "required", "is required")
	case l.op != nil:
		p.value(at(path, "value"), v, l)
	}
	return l
}

// word reads a member that must be a string.
func (p *parser) word(path, key string, given map[string]value) (string, bool) {
	v, ok := given[key]
	switch {
	case !ok:
		p.add(at(path, key), "required", "is required")
	case v.kind != '"':
		p.add(at(path, key), "type", "must be a string")
	default:
		return v.text, true
	}
	return "", false
}

func (p *parser) value(path string, v value, l *leaf) {
	switch l.op.form {
	case formText:
		if s, ok := p.text(path, v, l); ok {
			l.setValues([]string{s})
		}
	case formTexts:
		p.texts(path, v, l)
	case formPattern:
		p.pattern(path, v, l)
	case formAmount:
		p.amount(path, v, l)
	case formBool:
		if v.kind != 't' && v.kind != 'f' {
			p.add(path, "type", "must be true or false")
		}
		l.truth = v.kind == 't'
	}
}

func (p *parser) texts(path string, v value, l *leaf) {
	switch {
	case v.kind != '[':
		p.add(path, "type", "must be an array of strings")
		return
	case len(v.items) == 0:
		p.add(path, "empty", "must have at least one value")
		return
	case len(v.items) > MaxValues:
		p.add(path, "length", "must have at most %d values", MaxValues)
		return
	}
	values := make([]string, 0, len(v.items))
	for i, item := range v.items {
		if s, ok := p.text(nth(path, i), item, l); ok {
			values = append(values, s)
		}
	}
	l.setValues(values)
}

// text reads one text to compare with, in the form in which it is stored.
func (p *parser) text(path string, v value, l *leaf) (string, bool) {
	if v.kind != '"' {
		p.add(path, "type", "must be a string")
		return "", false
	}
	if !p.storable(path, v.text, MaxText) {
		return "", false
	}
	switch k := fields[l.field].kind; {
	case k == kindTags:
		slug := strings.ToLower(v.text)
		if !isTagSlug(slug) {
			p.add(path, "pattern", "must be a tag's slug: %s", tagSlugHint)
			return "", false
		}
		return slug, true
	case k == kindIdentity && l.op.test == testIn && v.text != "":
		if u, err := id.Parse(v.text); err == nil {
			return u.String(), true
		}
		if !id.IsShort(v.text) {
			p.add(path, "pattern", "must be a UUID or a short id of 8 letters and digits")
			return "", false
		}
	}
	return v.text, true
}

// storable rejects text that is too long or that no stored text can contain. A rule with such text
// would silently never match, and the text could contain characters that readers cannot see.
func (f *faults) storable(path, s string, limit int) bool {
	switch {
	case utf8.RuneCountInString(s) > limit:
		f.add(path, "length", "must have at most %d characters", limit)
	case !text.Seen(s):
		f.add(path, "pattern",
			"must not contain control or invisible characters: stored text has none, so nothing would match")
	default:
		return true
	}
	return false
}

func (p *parser) amount(path string, v value, l *leaf) {
	if v.kind != '0' && v.kind != '"' {
		p.add(path, "type", "must be a number with at most two decimals")
		return
	}
	a, err := money.Parse(v.text)
	if err != nil {
		p.add(path, "pattern",
			"must be a plain number with at most two decimals and ten digits before them, such as -12.50")
		return
	}
	l.cents = a.Cents()
	l.low, l.high = l.op.span(l.cents)
}

func (p *parser) pattern(path string, v value, l *leaf) {
	if v.kind != '"' {
		p.add(path, "type", "must be a string with a regular expression")
		return
	}
	if !p.storable(path, v.text, MaxPattern) {
		return
	}
	tree, err := syntax.Parse(v.text, syntax.Perl)
	if err != nil {
		p.add(path, "pattern", "must be an RE2 regular expression: %s", wrong(err))
		return
	}
	steps := unfolded(tree)
	p.steps += steps
	if steps > maxProgram {
		p.add(path, "length", "must not expand to more than %d steps; use smaller repetitions", maxProgram)
		return
	}
	pattern, err := regexp.Compile(v.text)
	if err != nil {
		p.add(path, "pattern", "must be an RE2 regular expression")
		return
	}
	l.pattern, l.values = pattern, []string{v.text}
}

// wrong returns the library's message about a regular expression, without the quoted part of the
// expression.
func wrong(err error) string {
	if e, ok := err.(*syntax.Error); ok { //nolint:errorlint // syntax.Parse wraps nothing
		return e.Code.String()
	}
	return "it can't be read"
}

// unfolded estimates the number of instructions that an expression compiles to, with its
// repetitions expanded.
func unfolded(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += unfolded(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

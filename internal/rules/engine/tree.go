package engine

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A Tree is a parsed, valid condition. The zero Tree is {}: it matches everything.
type Tree struct{ root *node }

type nodeKind uint8

const (
	nodeTrue nodeKind = iota // {}
	nodeLeaf
	nodeAnd
	nodeOr
	nodeNot
)

// A node is never changed once it is part of a Tree, so trees may share nodes.
type node struct {
	kind nodeKind
	kids []*node
	leaf *leaf
}

type leaf struct {
	field     int
	op        *operator
	values    []string // as written, or resolved
	keys      []string // values, folded
	many      map[string]struct{}
	needle    []byte // the first key, for contains
	cents     int64
	low, high int64
	truth     bool
	pattern   *regexp.Regexp
}

// fewKeys is the largest number of values that are compared one by one.
const fewKeys = 8

// setValues sets the leaf's values, and the folded keys that are compared instead of them.
func (l *leaf) setValues(values []string) {
	l.values, l.keys, l.many = values, make([]string, len(values)), nil
	for i, v := range values {
		l.keys[i] = text.Fold(v)
	}
	if l.op.test == testContains {
		l.needle = []byte(l.keys[0])
	}
	if len(values) > fewKeys {
		l.many = make(map[string]struct{}, len(values))
		for _, k := range l.keys {
			l.many[k] = struct{}{}
		}
	}
}

// MarshalJSON prints the tree in its canonical form: a leaf has field, op and value in this order,
// and an amount has two decimals.
func (t Tree) MarshalJSON() ([]byte, error) { return t.root.print(nil), nil }

// UnmarshalJSON reads the output of MarshalJSON. It also accepts rules that were stored before
// there was a limit on all regular expressions of a tree together.
func (t *Tree) UnmarshalJSON(raw []byte) error {
	tree, faults := parseTree("conditions", raw, MaxLeaves*maxProgram)
	if len(faults) > 0 {
		return errors.New("stored " + faults[0].Path + ": " + faults[0].Message)
	}
	*t = tree
	return nil
}

// String returns the printed tree, for tests and examples.
func (t Tree) String() string { return string(t.root.print(nil)) }

// Equal reports whether both trees print the same.
func (t Tree) Equal(u Tree) bool { return bytes.Equal(t.root.print(nil), u.root.print(nil)) }

func (n *node) print(b []byte) []byte {
	if n == nil || n.kind == nodeTrue {
		return append(b, "{}"...)
	}
	switch n.kind {
	case nodeLeaf:
		return n.leaf.print(b)
	case nodeNot:
		return append(n.kids[0].print(append(b, `{"not":`...)), '}')
	case nodeAnd:
		b = append(b, `{"and":[`...)
	default:
		b = append(b, `{"or":[`...)
	}
	for i, k := range n.kids {
		if i > 0 {
			b = append(b, ',')
		}
		b = k.print(b)
	}
	return append(b, "]}"...)
}

func (l *leaf) print(b []byte) []byte {
	b = append(b, `{"field":"`...)
	b = append(b, fields[l.field].name...)
	b = append(b, `","op":"`...)
	b = append(b, l.op.name...)
	b = append(b, `","value":`...)
	switch l.op.form {
	case formAmount:
		amount, err := money.FromCents(l.cents)
		if err != nil {
			panic(err) // it was an amount when it was parsed
		}
		b = append(b, amount.String()...)
	case formBool:
		b = strconv.AppendBool(b, l.truth)
	case formTexts:
		b = append(b, '[')
		for i, v := range l.values {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, v)
		}
		b = append(b, ']')
	default:
		b = appendText(b, l.values[0])
	}
	return append(b, '}')
}

// leaves calls visit for every leaf with its path, relative to the tree.
func (n *node) leaves(path string, visit func(path string, l *leaf)) {
	if n == nil {
		return
	}
	switch n.kind {
	case nodeLeaf:
		visit(path, n.leaf)
	case nodeNot:
		n.kids[0].leaves(at(path, "not"), visit)
	case nodeAnd, nodeOr:
		for i, k := range n.kids {
			k.leaves(nth(at(path, n.kind.word()), i), visit)
		}
	}
}

func (k nodeKind) word() string {
	if k == nodeAnd {
		return "and"
	}
	return "or"
}

// MatchesAll reports whether the tree holds for every transaction, as {} does.
func (t Tree) MatchesAll() bool { return t.root.constant() == True }

// constant returns the verdict of a node that does not depend on the draft. For any other node it
// returns Unknown.
func (n *node) constant() Verdict { return n.eval(nil, 0) }

// Reads returns the fields that the tree reads.
func (t Tree) Reads() Fields {
	var out Fields
	t.root.leaves("", func(_ string, l *leaf) { out |= fields[l.field].bit })
	return out
}

// A Ref is a value in a condition that refers to a record, for the store to look up.
type Ref struct {
	Path  string // of the value, below that of the tree: and[1].value, or[0].value[3]
	Field string // account_id, user_id or category
	Value string // a UUID, a short id or a slug, as written
}

// refers reports whether the leaf's values refer to records.
func (l *leaf) refers() bool {
	k := fields[l.field].kind
	return l.op.test == testIn && (k == kindIdentity || k == kindCategory)
}

func (l *leaf) ref(path string, i int) Ref {
	path = at(path, "value")
	if l.op.form == formTexts {
		path = nth(path, i)
	}
	return Ref{path, fields[l.field].name, l.values[i]}
}

// Refs lists the values that the store must look up: accounts, members and categories that a leaf
// compares for equality. The empty value is not included, because it means none.
func (t Tree) Refs() []Ref {
	var out []Ref
	t.root.leaves("", func(path string, l *leaf) {
		for i, v := range l.values {
			if v != "" && l.refers() {
				out = append(out, l.ref(path, i))
			}
		}
	})
	return out
}

// Resolved returns the tree with each value of Refs replaced by the value that name returns.
func (t Tree) Resolved(name func(Ref) string) Tree { return Tree{t.root.resolved("", name)} }

func (n *node) resolved(path string, name func(Ref) string) *node {
	if n == nil || n.kind == nodeTrue {
		return n
	}
	out := &node{kind: n.kind}
	switch n.kind {
	case nodeLeaf:
		out.leaf = n.leaf
		if n.leaf.refers() {
			l := *n.leaf
			values := make([]string, len(l.values))
			for i, v := range l.values {
				if v != "" {
					values[i] = name(l.ref(path, i))
				}
			}
			l.setValues(values)
			out.leaf = &l
		}
	case nodeNot:
		out.kids = []*node{n.kids[0].resolved(at(path, "not"), name)}
	default:
		for i, k := range n.kids {
			out.kids = append(out.kids, k.resolved(nth(at(path, n.kind.word()), i), name))
		}
	}
	return out
}

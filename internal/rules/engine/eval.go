package engine

import (
	"bytes"
	"slices"
	"sync"

	"coffer/internal/platform/text"
)

// A Verdict is the result of a condition for a draft. It is Unknown if it depends on a field whose
// value is not known (Kleene's logic). True and False hold for all values of the unknown fields.
type Verdict int8

// The verdicts, in their order: `and` takes the smallest, `or` the largest, and `not` reverses the
// order.
const (
	False Verdict = iota - 1
	Unknown
	True
)

// Eval returns the verdict for a draft with only some fields known.
func (t Tree) Eval(d *Draft, known Fields) Verdict {
	v := views.Get().(*view) //nolint:forcetypeassert // the pool holds nothing else
	v.look(d)
	out := t.root.eval(v, known)
	v.look(nil)
	views.Put(v)
	return out
}

var views = sync.Pool{New: func() any { return new(view) }}

// A view is a draft with its texts folded, each at most once.
type view struct {
	*Draft
	done   Fields
	folded [fieldCount][]byte // of the fields in done; memory is kept for the next draft
}

func (v *view) look(d *Draft) { v.Draft, v.done = d, 0 }

// forget makes the view fold a changed field again.
func (v *view) forget(f Fields) { v.done &^= f }

// text returns the folded text of a field, valid until the view looks at another draft.
func (v *view) text(i int) []byte {
	f := &fields[i]
	if v.done&f.bit == 0 {
		v.folded[i] = text.AppendFold(v.folded[i][:0], f.text(v.Draft))
		v.done |= f.bit
	}
	return v.folded[i]
}

func (n *node) eval(v *view, known Fields) Verdict {
	if n == nil {
		return True
	}
	switch n.kind {
	case nodeLeaf:
		if known&fields[n.leaf.field].bit == 0 {
			return Unknown
		}
		if n.leaf.holds(v) != n.leaf.op.negate {
			return True
		}
		return False
	case nodeAnd:
		out := True
		for _, k := range n.kids {
			if out = min(out, k.eval(v, known)); out == False {
				break
			}
		}
		return out
	case nodeOr:
		out := False
		for _, k := range n.kids {
			if out = max(out, k.eval(v, known)); out == True {
				break
			}
		}
		return out
	case nodeNot:
		return -n.kids[0].eval(v, known)
	}
	return True
}

// holds returns the result of the leaf's test, before a possible negation.
func (l *leaf) holds(v *view) bool {
	switch l.op.test {
	case testIn:
		return is(l, v.text(l.field))
	case testContains:
		return bytes.Contains(v.text(l.field), l.needle)
	case testMatches:
		return l.pattern.MatchString(fields[l.field].text(v.Draft))
	case testRange:
		return l.low <= v.Cents && v.Cents <= l.high
	case testTruth:
		return v.Pending == l.truth
	default:
		return slices.ContainsFunc(v.Tags, func(tag string) bool { return is(l, tag) })
	}
}

// is reports whether a folded text is one of the leaf's values.
func is[T string | []byte](l *leaf, s T) bool {
	if l.many != nil {
		_, ok := l.many[string(s)]
		return ok
	}
	// This compares without allocating a string.
	return slices.ContainsFunc(l.keys, func(k string) bool { return k == string(s) })
}

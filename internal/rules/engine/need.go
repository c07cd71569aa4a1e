package engine

import (
	"math"
	"slices"
)

// A NeedKind is the kind of a Need.
type NeedKind uint8

// The kinds of needs.
const (
	NeedAny    NeedKind = iota // no restriction: every transaction could match
	NeedNone                   // nothing can match
	NeedAnd                    // every need in Of holds
	NeedOr                     // at least one need in Of holds
	NeedText                   // the folded text of Field (name, merchant_name or detail) contains Literal
	NeedAmount                 // the amount lies between Low and High, in cents, both included
	NeedOneOf                  // Field (an id, provider, category or iso_currency_code), folded, is one of Values
	NeedFlag                   // pending is Flag
)

// A Need is a condition that holds for every draft that a rule's condition can match, and perhaps
// for other drafts too. A store searches by the need first, and then the evaluator decides. A need
// for category is about the category when the condition is evaluated.
type Need struct {
	Kind      NeedKind
	Of        []Need
	Field     string
	Literal   string   // folded, at least MinLiteral bytes
	Low, High int64    // math.MinInt64 and math.MaxInt64 without a bound
	Values    []string // folded, sorted; "" means none
	Flag      bool
}

// MinLiteral is the smallest number of bytes in a literal of a Need. A shorter literal would not
// narrow a search by trigrams.
const MinLiteral = 3

// Needs returns a need that holds for every draft that the tree matches.
func (t Tree) Needs() Need { return t.root.needs(false, AllFields) }

// NeedsOf returns a need for the rules that chosen selects by their index. It holds, before a pass
// begins, for every draft that one of these rules matches during the pass. The pass still runs the
// other rules.
func (s *Set) NeedsOf(chosen func(int) bool) Need {
	usable := AllFields
	for i := range s.rules {
		for _, a := range s.rules[i].Actions {
			if a.Type == SetCategory {
				usable &^= FieldCategory // an earlier rule may have changed the stored category
			}
		}
	}
	var all []Need
	for i := range s.rules {
		if chosen(i) {
			all = append(all, s.rules[i].Conditions.root.needs(false, usable))
		}
	}
	return either(all)
}

// needs returns the need of the node, or of its negation if turned is set. It uses only usable
// fields.
func (n *node) needs(turned bool, usable Fields) Need {
	if n == nil || n.kind == nodeTrue {
		if turned {
			return Need{Kind: NeedNone}
		}
		return Need{}
	}
	switch n.kind {
	case nodeLeaf:
		if !usable.Has(fields[n.leaf.field].bit) {
			return Need{}
		}
		return n.leaf.needs(turned)
	case nodeNot:
		return n.kids[0].needs(!turned, usable)
	}
	all := make([]Need, len(n.kids))
	for i, k := range n.kids {
		all[i] = k.needs(turned, usable)
	}
	if (n.kind == nodeAnd) == turned {
		return either(all)
	}
	return both(all)
}

func (l *leaf) needs(turned bool) Need {
	f := &fields[l.field]
	negated := l.op.negate != turned
	switch {
	case l.op.test == testRange && !negated:
		return Need{Kind: NeedAmount, Low: l.low, High: l.high}
	case l.op.test == testRange:
		return l.outside()
	case l.op.test == testTruth:
		return Need{Kind: NeedFlag, Field: f.name, Flag: l.truth != negated}
	case negated:
		return Need{}
	case l.op.test == testIn:
		return l.oneOf()
	case !WordingFields.Has(f.bit):
		return Need{}
	case l.op.test == testContains:
		return wanted(f.name, l.keys)
	}
	return wanted(f.name, requiredLiterals(l.pattern.String()))
}

// outside returns the need for amounts outside the leaf's bounds. If both sides are possible, as
// for "not a certain amount", the need does not narrow the search.
func (l *leaf) outside() Need {
	switch {
	case l.low == math.MinInt64:
		return Need{Kind: NeedAmount, Low: l.high + 1, High: math.MaxInt64}
	case l.high == math.MaxInt64:
		return Need{Kind: NeedAmount, Low: math.MinInt64, High: l.low - 1}
	}
	return Need{}
}

func (l *leaf) oneOf() Need {
	f := &fields[l.field]
	switch {
	case WordingFields.Has(f.bit):
		return wanted(f.name, l.keys)
	case f.kind == kindIdentity, f.kind == kindCategory, f.bit == FieldProvider, f.bit == FieldCurrency:
		values := slices.Clone(l.keys)
		slices.Sort(values)
		return Need{Kind: NeedOneOf, Field: f.name, Values: slices.Compact(values)}
	}
	return Need{}
}

// wanted returns the need that the field contains at least one of the literals. If one of them is
// too short to search for, the need has no restriction.
func wanted(field string, literals []string) Need {
	if shortest(literals) < MinLiteral {
		return Need{}
	}
	all := make([]Need, len(literals))
	for i, s := range literals {
		all[i] = Need{Kind: NeedText, Field: field, Literal: s}
	}
	return either(all)
}

// either returns the need that at least one of the given needs holds.
func either(all []Need) Need {
	out := Need{Kind: NeedOr}
	for _, n := range all {
		switch n.Kind {
		case NeedAny:
			return Need{}
		case NeedNone:
		case NeedOr:
			out.Of = append(out.Of, n.Of...)
		default:
			out.Of = append(out.Of, n)
		}
	}
	return out.plain(NeedNone)
}

// both returns the need that every given need holds.
func both(all []Need) Need {
	out := Need{Kind: NeedAnd}
	for _, n := range all {
		switch n.Kind {
		case NeedAny:
		case NeedNone:
			return n
		case NeedAnd:
			out.Of = append(out.Of, n.Of...)
		default:
			out.Of = append(out.Of, n)
		}
	}
	return out.plain(NeedAny)
}

// plain replaces a combinator with one need by that need, and a combinator without needs by empty.
func (n Need) plain(empty NeedKind) Need {
	switch len(n.Of) {
	case 0:
		return Need{Kind: empty}
	case 1:
		return n.Of[0]
	}
	return n
}

package engine

import (
	"math"
	"slices"
)

// An atom is a condition that is cheap to check. Whenever a rule matches a draft, at least one atom
// of its guard holds.
type atom struct {
	kind      atomKind
	field     int
	text      string // folded
	low, high int64
	truth     bool
	sure      bool // if the atom holds, the rule matches
}

type atomKind uint8

const (
	atomLiteral atomKind = iota // the field's text contains the literal
	atomKey                     // the field's text is the key, or the tag is set
	atomSpan                    // the amount lies between two bounds
	atomFlag                    // pending has this value
)

// A guard holds the atoms of a condition. If it has none, the condition never holds.
type guard struct {
	atoms []atom
	cost  int // a rough estimate of how many transactions it lets through
}

// maxAtoms limits the size of one rule's index.
const maxAtoms = 4096

// guard returns a guard for the node: whenever the node holds, at least one of its atoms holds. If
// turned is set, that is so whenever the node fails. Not every node has a guard.
func (n *node) guard(turned bool) (guard, bool) {
	if n == nil || n.kind == nodeTrue {
		return guard{}, turned
	}
	switch n.kind {
	case nodeLeaf:
		return n.leaf.guard(turned)
	case nodeNot:
		return n.kids[0].guard(!turned)
	}
	if (n.kind == nodeAnd) == turned {
		return n.either(turned)
	}
	return n.every(turned)
}

// every returns the guard of nodes that must all hold: the cheapest of their guards. It first
// combines bounds of the amount.
func (n *node) every(turned bool) (guard, bool) {
	best, found := guard{}, false
	low, high, spans := int64(math.MinInt64), int64(math.MaxInt64), 0
	for _, k := range n.kids {
		g, ok := k.guard(turned)
		if ok && len(g.atoms) == 1 && g.atoms[0].kind == atomSpan && g.atoms[0].sure {
			low, high, spans = max(low, g.atoms[0].low), min(high, g.atoms[0].high), spans+1
			continue
		}
		if ok && (!found || g.cost < best.cost) {
			best, found = g, true
		}
	}
	if spans > 0 {
		var between guard
		if low <= high {
			between.span(low, high)
		}
		if !found || between.cost < best.cost {
			best, found = between, true
		}
	}
	if len(n.kids) > max(spans, 1) {
		for i := range best.atoms {
			best.atoms[i].sure = false
		}
	}
	return best, found
}

// either returns the guard for the case that one of several nodes must hold: all atoms of their
// guards.
func (n *node) either(turned bool) (guard, bool) {
	var all guard
	for _, k := range n.kids {
		g, ok := k.guard(turned)
		if !ok || len(all.atoms)+len(g.atoms) > maxAtoms {
			return guard{}, false
		}
		all.atoms = append(all.atoms, g.atoms...)
		all.cost += g.cost
	}
	return all, true
}

func (l *leaf) guard(turned bool) (guard, bool) {
	var g guard
	f := &fields[l.field]
	live := LiveFields.Has(f.bit)
	negated := l.op.negate != turned
	switch {
	case l.op.test == testRange && negated:
		if l.low != math.MinInt64 {
			g.span(math.MinInt64, l.low-1)
		}
		if l.high != math.MaxInt64 {
			g.span(l.high+1, math.MaxInt64)
		}
	case l.op.test == testRange:
		g.span(l.low, l.high)
	case l.op.test == testTruth:
		g.add(atom{kind: atomFlag, field: l.field, truth: l.truth != negated, sure: true}, 50)
	case negated:
		return g, false
	case l.op.test == testIn, l.op.test == testTags:
		for _, k := range l.keys {
			g.add(atom{kind: atomKey, field: l.field, text: k, sure: !live}, keyCost(f))
		}
	case live:
		return g, false
	case l.op.test == testContains:
		g.literal(l.field, l.keys[0], true)
	default:
		literals := requiredLiterals(l.pattern.String())
		for _, s := range literals {
			g.literal(l.field, s, false)
		}
	}
	return g, len(g.atoms) > 0 && len(g.atoms) <= maxAtoms
}

func (g *guard) add(a atom, cost int) {
	g.atoms = append(g.atoms, a)
	g.cost += cost
}

func (g *guard) span(low, high int64) {
	cost := 50
	switch {
	case low == high:
		cost = 2
	case low != math.MinInt64 && high != math.MaxInt64:
		cost = 20
	}
	g.add(atom{kind: atomSpan, low: low, high: high, sure: true}, cost)
}

// literal adds a literal to the guard. It ignores the empty text, which every text contains.
func (g *guard) literal(field int, s string, sure bool) {
	if s == "" {
		return
	}
	cost := []int{30, 8, 3, 2}[min(len(s), 4)-1]
	if !WordingFields.Has(fields[field].bit) {
		cost += 20 // the same few texts occur again and again
	}
	g.add(atom{kind: atomLiteral, field: field, text: s, sure: sure}, cost)
}

func keyCost(f *field) int {
	switch {
	case WordingFields.Has(f.bit):
		return 1
	case f.kind == kindTags:
		return 4
	}
	return 10
}

// A builder puts the guards of rules into the indexes of a set.
type builder struct {
	set      *Set
	patterns map[string]int
	texts    []string
	postings [][]posting
}

func (b *builder) add(i int) {
	s, root := b.set, b.set.rules[i].Conditions.root
	g, ok := root.guard(false)
	if !ok {
		s.always[i>>6] |= 1 << (i & 63)
		if root.constant() == True {
			s.surely[i>>6] |= 1 << (i & 63)
		}
		return
	}
	for _, a := range g.atoms {
		p := posting{fields[a.field].bit, int32(i), a.sure}
		switch a.kind {
		case atomLiteral:
			n, known := b.patterns[a.text]
			if !known {
				n = len(b.texts)
				b.patterns[a.text], b.texts, b.postings = n, append(b.texts, a.text), append(b.postings, nil)
			}
			b.postings[n] = append(b.postings[n], p)
			b.set.scanned = with(b.set.scanned, a.field)
		case atomKey:
			k := key{p.field, a.text}
			s.keyed[k] = append(s.keyed[k], p)
			s.looked = with(s.looked, a.field)
		case atomSpan:
			s.spans = append(s.spans, span{a.low, a.high, p})
		case atomFlag:
			at := 0
			if a.truth {
				at = 1
			}
			s.flagged[at] = append(s.flagged[at], p)
		}
	}
}

func with(list []int, i int) []int {
	if slices.Contains(list, i) {
		return list
	}
	return append(list, i)
}

func (b *builder) finish() { b.set.literals = newAutomaton(b.texts, b.postings) }

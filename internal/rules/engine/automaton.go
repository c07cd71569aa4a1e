package engine

import (
	"slices"
	"unicode/utf8"
)

// An automaton finds all occurrences of many literals in a text, in one walk over its bytes
// (Aho–Corasick). All bytes that no literal contains are in one class. Both cases of an ASCII
// letter are also in one class, so ASCII text need not be folded first.
//
// States are numbered by their depth in the trie, and the children of a state are consecutive. A
// walk spends most of its time in the shallow states, so these have a table row with the next state
// for every class. The many deep states only have a list of children, mostly one. If no child fits,
// the walk continues from the state's suffix.
type automaton struct {
	class  [256]uint8
	shift  uint     // a row of next has 1<<shift entries
	next   []uint32 // by shallow state and class
	states []state
	posts  [][]posting // by literal
}

type state struct {
	kids    uint32 // the first child
	suffix  uint32 // the longest proper suffix that is a prefix of a literal
	other   uint32 // the longest proper suffix that is a literal, or 0
	literal int32  // the literal that ends here, or none
	degree  uint8  // number of children
	class   uint8  // the class that leads here
	found   bool   // a literal ends here: that of this state or of a suffix
}

// shallow is the greatest depth at which states have rows.
const shallow = 2

// newAutomaton takes folded literals, each once and none empty, with the postings of each.
func newAutomaton(literals []string, posts [][]posting) *automaton {
	a := &automaton{posts: posts}
	width := a.classify(literals)
	for 1<<a.shift < width {
		a.shift++
	}
	rows := a.build(literals)
	a.link()
	a.fill(rows)
	return a
}

// classify numbers the bytes that occur in literals; 0 stands for all other bytes. A byte is enough
// for the numbers, because UTF-8 never uses 13 of the 256 bytes.
func (a *automaton) classify(literals []string) int {
	width := 1
	for _, s := range literals {
		for i := range len(s) {
			if a.class[s[i]] == 0 {
				a.class[s[i]] = uint8(width)
				width++
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	return width
}

// build makes the trie level by level and returns the number of shallow states. It sorts the
// literals, so that those below a state are adjacent.
func (a *automaton) build(literals []string) int {
	order := make([]int32, len(literals))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		if literals[x] < literals[y] {
			return -1
		}
		return 1
	})
	type stretch struct{ from, to int32 }
	below := []stretch{{0, int32(len(order))}}
	a.states = append(a.states, state{literal: none})
	rows, level, depth := 1, 1, 0
	for i := 0; i < len(a.states); i++ {
		if i == level {
			depth, level = depth+1, len(a.states)
			if depth <= shallow {
				rows = level
			}
		}
		from, to := below[i].from, below[i].to
		if from < to && len(literals[order[from]]) == depth {
			a.states[i].literal = order[from]
			from++
		}
		a.states[i].kids = uint32(len(a.states))
		for from < to {
			c, first := literals[order[from]][depth], from
			for from < to && literals[order[from]][depth] == c {
				from++
			}
			a.states = append(a.states, state{literal: none, class: a.class[c]})
			below = append(below, stretch{first, from})
			a.states[i].degree++
		}
	}
	a.states = slices.Clip(a.states)
	return min(rows, len(a.states))
}

// kid returns the child of a state for a class, or 0.
func (a *automaton) kid(n uint32, class uint8) uint32 {
	s := &a.states[n]
	for k := s.kids; k < s.kids+uint32(s.degree); k++ {
		if a.states[k].class == class {
			return k
		}
	}
	return 0
}

// link sets the suffixes of all states. Those of shorter texts come first, because longer ones
// depend on them.
func (a *automaton) link() {
	for n := range a.states {
		s := a.states[n]
		for k := s.kids; k < s.kids+uint32(s.degree); k++ {
			kid := &a.states[k]
			if n > 0 {
				at := s.suffix
				for kid.suffix = a.kid(at, kid.class); kid.suffix == 0 && at != 0; kid.suffix = a.kid(at, kid.class) {
					at = a.states[at].suffix
				}
			}
			if to := &a.states[kid.suffix]; to.literal != none {
				kid.other = kid.suffix
			} else {
				kid.other = to.other
			}
			kid.found = kid.literal != none || kid.other != 0
		}
	}
}

// fill writes the rows of the shallow states. If a state has no child for a class, its row has the
// next state of its suffix.
func (a *automaton) fill(rows int) {
	a.next = make([]uint32, rows<<a.shift)
	for n := range rows {
		s, row := &a.states[n], a.next[n<<a.shift:(n+1)<<a.shift]
		if n > 0 {
			copy(row, a.next[s.suffix<<a.shift:(s.suffix+1)<<a.shift])
		}
		for k := s.kids; k < s.kids+uint32(s.degree); k++ {
			row[a.states[k].class] = k
		}
	}
}

// deep returns the next state for a byte of that class. It is for states without a row.
func (a *automaton) deep(n uint32, class uint8) uint32 {
	for int(n)<<a.shift >= len(a.next) {
		if k := a.kid(n, class); k != 0 {
			return k
		}
		n = a.states[n].suffix
	}
	return a.next[n<<a.shift|uint32(class)]
}

// scan marks the rules whose literals are in a field's text.
func (a *automaton) scan(sc *scratch, field int) {
	f := &fields[field]
	s := f.text(sc.Draft)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			walk(a, sc, f.bit, sc.text(field))
			return
		}
	}
	walk(a, sc, f.bit, s)
}

// walk walks over a text, which must be ASCII or folded.
func walk[T string | []byte](a *automaton, sc *scratch, f Fields, s T) {
	n, next, shift := uint32(0), a.next, a.shift
	for i := range len(s) {
		class := a.class[s[i]]
		if at := int(n)<<shift | int(class); at < len(next) {
			n = next[at]
		} else {
			n = a.deep(n, class)
		}
		if n != 0 && a.states[n].found {
			a.mark(sc, f, n)
		}
	}
}

// mark marks the rules of every literal that ends in state n.
func (a *automaton) mark(sc *scratch, f Fields, n uint32) {
	for ; n != 0; n = a.states[n].other {
		if a.states[n].literal == none {
			continue
		}
		for _, p := range a.posts[a.states[n].literal] {
			if p.field == f {
				sc.mark(p)
			}
		}
	}
}

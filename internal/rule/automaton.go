package rule

import (
	"unicode/utf8"
)

// An automaton finds every one of many literals in a text in one walk over its bytes (Aho and Corasick). Bytes that no literal
// contains share a class, and both cases of an ASCII letter do, so that text in ASCII need not be folded first.
type automaton struct {
	class [256]uint8
	shift uint     // a state's row is 1<<shift long
	next  []uint32 // by state and class: the next state's row, with found set where a literal ends there
	ends  []int32  // by state: the literal that ends there, or none
	other []uint32 // by state: the longest proper suffix that is a literal too; 0 is none
	posts [][]posting
}

const found = 1 << 31

// newAutomaton takes folded literals, each once and none empty, with the postings of each.
func newAutomaton(literals []string, posts [][]posting) *automaton {
	a := &automaton{posts: posts}
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
	for 1<<a.shift < width {
		a.shift++
	}
	a.grow()
	for i, s := range literals {
		a.insert(s, int32(i))
	}
	a.link()
	return a
}

func (a *automaton) grow() uint32 {
	n := uint32(len(a.ends))
	a.next = append(a.next, make([]uint32, 1<<a.shift)...)
	a.ends = append(a.ends, none)
	return n
}

func (a *automaton) insert(s string, literal int32) {
	state := uint32(0)
	for i := range len(s) {
		at := state<<a.shift | uint32(a.class[s[i]])
		if a.next[at] == 0 {
			n := a.grow()
			a.next[at] = n
		}
		state = a.next[at]
	}
	a.ends[state] = literal
}

// link turns the trie into an automaton: a byte that leads nowhere leads where it does from the longest suffix that is a prefix.
func (a *automaton) link() {
	states := len(a.ends)
	suffix := make([]uint32, states)
	a.other = make([]uint32, states)
	queue := make([]uint32, 0, states)
	queue = append(queue, 0)
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		row, from := a.row(state), a.row(suffix[state])
		for c, n := range row {
			switch {
			case n == 0:
				if state != 0 {
					row[c] = from[c]
				}
				continue
			case state != 0:
				suffix[n] = from[c]
			}
			if to := suffix[n]; a.ends[to] != none {
				a.other[n] = to
			} else {
				a.other[n] = a.other[to]
			}
			queue = append(queue, n)
		}
	}
	for i, n := range a.next {
		if a.ends[n] != none || a.other[n] != 0 {
			a.next[i] = n<<a.shift | found
		} else {
			a.next[i] = n << a.shift
		}
	}
}

func (a *automaton) row(state uint32) []uint32 {
	return a.next[state<<a.shift : (state+1)<<a.shift]
}

// scan marks the rules whose literals are in a field's text.
func (a *automaton) scan(sc *scratch, field int) {
	f := &fields[field]
	s := f.text(sc.Draft)
	state := uint32(0)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			a.scanFolded(sc, f.bit, sc.text(field))
			return
		}
		state = a.next[state&^found|uint32(a.class[s[i]])]
		if state&found != 0 {
			a.mark(sc, f.bit, state)
		}
	}
}

func (a *automaton) scanFolded(sc *scratch, f Fields, s []byte) {
	state := uint32(0)
	for _, c := range s {
		state = a.next[state&^found|uint32(a.class[c])]
		if state&found != 0 {
			a.mark(sc, f, state)
		}
	}
}

// mark marks the rules of every literal that ends where the state stands.
func (a *automaton) mark(sc *scratch, f Fields, state uint32) {
	for n := state &^ found >> a.shift; n != 0; n = a.other[n] {
		if a.ends[n] == none {
			continue
		}
		for _, p := range a.posts[a.ends[n]] {
			if p.field == f {
				sc.mark(p)
			}
		}
	}
}


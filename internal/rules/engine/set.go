package engine

import (
	"math/bits"
	"slices"
	"sync"

	"coffer/internal/platform/text"
)

// A Set holds rules in the order of the pipeline. They are compiled, so that only rules that could
// match a transaction are evaluated. The results are the same as if every rule were evaluated in
// turn. A Set is safe for concurrent use.
type Set struct {
	rules  []Rule
	steps  [][]step
	fires  [events][]uint64 // the rules that take part, by event
	always []uint64         // rules that must be evaluated for every transaction
	surely []uint64         // rules in always that match every transaction
	recent []uint64         // rules that do not match history

	scanned  []int // fields whose text the automaton scans
	literals *automaton
	looked   []int // fields whose whole text or tags are looked up
	keyed    map[key][]posting
	spans    []span
	flagged  [2][]posting // by whether the transaction is pending

	pool sync.Pool
}

// A step is an action of a rule, prepared for a run.
type step struct {
	do     func(r *run, a *Action)
	action *Action
	wakes  []posting // rules that wait for the value that it sets
}

// A posting refers to a rule that may match if an atom holds. If it is sure, the rule matches.
type posting struct {
	field Fields
	rule  int32
	sure  bool
}

// A key is a whole folded text, or one tag.
type key struct {
	field Fields
	text  string
}

// A span is a posting for amounts between two bounds.
type span struct {
	low, high int64
	posting
}

// A scratch is the memory of one evaluation, reused for the next.
type scratch struct {
	view
	maybe, sure []uint64 // rules to evaluate; rules known to match
	run         run
}

// Compile sorts rules into the order of the pipeline (priority, then age, then id) and prepares
// them for runs.
func Compile(rules []Rule) *Set {
	s := &Set{rules: slices.Clone(rules), keyed: map[key][]posting{}}
	slices.SortStableFunc(s.rules, before)
	words := (len(rules) + 63) / 64
	s.always, s.surely, s.recent = make([]uint64, words), make([]uint64, words), make([]uint64, words)
	for e := range s.fires {
		s.fires[e] = make([]uint64, words)
	}
	b := builder{set: s, patterns: map[string]int{}}
	for i := range s.rules {
		if s.rules[i].Recent {
			s.recent[i>>6] |= 1 << (i & 63)
		}
		for e := range s.fires {
			if s.rules[i].Trigger.fires(Event(e)) {
				s.fires[e][i>>6] |= 1 << (i & 63)
			}
		}
		b.add(i)
	}
	b.finish()
	s.prepare()
	s.pool.New = func() any {
		sc := &scratch{maybe: make([]uint64, words), sure: make([]uint64, words)}
		sc.run.scratch = sc
		return sc
	}
	return s
}

// prepare prepares the actions of all rules. It must run after all conditions are indexed, because
// it looks up which rules wait for which values.
func (s *Set) prepare() {
	s.steps = make([][]step, len(s.rules))
	for i := range s.rules {
		actions := s.rules[i].Actions
		s.steps[i] = make([]step, 0, len(actions))
		for n := range actions {
			a := &actions[n]
			e, known := effectNamed(a.Type)
			if !known {
				continue
			}
			var wakes []posting
			if e.sets != 0 {
				wakes = s.keyed[key{e.sets, text.Fold(*a.member(e.payload[0]))}]
			}
			s.steps[i] = append(s.steps[i], step{e.do, a, wakes})
		}
	}
}

// Rules returns the rules in the order of the pipeline. Indexes in outcomes refer to it.
func (s *Set) Rules() []Rule { return s.rules }

// Match appends to into the indexes of the rules that certainly match the draft as it is. Each rule
// is evaluated alone, regardless of triggers and without the effects of other rules.
func (s *Set) Match(d *Draft, known Fields, into []int) []int {
	if !known.Has(AllFields) {
		return s.inTurn(d, known, into)
	}
	sc := s.scratch(d)
	for w, word := range sc.maybe {
		word &= s.eligible(d, w)
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			i := w<<6 | bit
			if sc.sure[w]>>bit&1 == 1 || s.rules[i].Conditions.root.eval(&sc.view, AllFields) == True {
				into = append(into, i)
			}
		}
	}
	s.release(sc)
	return into
}

// inTurn is Match without the index, because the index works only if all fields are known.
func (s *Set) inTurn(d *Draft, known Fields, into []int) []int {
	var v view
	v.look(d)
	for i := range s.rules {
		if s.eligible(d, i>>6)>>(i&63)&1 == 1 && s.rules[i].Conditions.root.eval(&v, known) == True {
			into = append(into, i)
		}
	}
	return into
}

// eligible returns, as the bits of one 64-bit word, the rules that may match the draft at all.
func (s *Set) eligible(d *Draft, word int) uint64 {
	if d.History {
		return ^s.recent[word]
	}
	return ^uint64(0)
}

func (s *Set) scratch(d *Draft) *scratch {
	sc := s.pool.Get().(*scratch) //nolint:forcetypeassert // the pool holds nothing else
	sc.look(d)
	s.find(sc)
	return sc
}

func (s *Set) release(sc *scratch) {
	sc.look(nil)
	s.pool.Put(sc)
}

func (sc *scratch) mark(p posting) {
	bit := uint64(1) << (p.rule & 63)
	sc.maybe[p.rule>>6] |= bit
	if p.sure {
		sc.sure[p.rule>>6] |= bit
	}
}

// find marks the rules that could match the draft of the scratch.
func (s *Set) find(sc *scratch) {
	copy(sc.maybe, s.always)
	copy(sc.sure, s.surely)
	for _, i := range s.scanned {
		s.literals.scan(sc, i)
	}
	for _, i := range s.looked {
		f := &fields[i]
		if f.kind == kindTags {
			for _, tag := range sc.Tags {
				for _, p := range s.keyed[key{f.bit, tag}] {
					sc.mark(p)
				}
			}
			continue
		}
		for _, p := range s.keyed[key{f.bit, string(sc.text(i))}] {
			sc.mark(p)
		}
	}
	for i := range s.spans {
		if x := &s.spans[i]; x.low <= sc.Cents && sc.Cents <= x.high {
			sc.mark(x.posting)
		}
	}
	flag := 0
	if sc.Pending {
		flag = 1
	}
	for _, p := range s.flagged[flag] {
		sc.mark(p)
	}
}

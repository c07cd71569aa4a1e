package rule

import (
	"math/bits"
	"slices"
	"strings"

	"coffer/internal/text"
)

// Run takes the draft through the pipeline: each rule sees what earlier ones did. Afterwards the draft's category and tags are as the
// rules left them; its other fields, and the slice of tags that the caller gave, are as they were.
func (s *Set) Run(d *Draft, p Pass) Outcome {
	var out Outcome
	sc := s.scratch(d)
	r := run{
		set: s, scratch: sc, draft: d, pass: p, out: &out,
		start: d.Category, startTags: d.Tags, category: none, counterparty: Effect{Rule: none}, tags: sc.tags[:0],
	}
	hits := sc.hits[:0]
	fires := s.fires[p.Event]
	for w := range sc.maybe {
		ahead := ^uint64(0)
		for {
			word := sc.maybe[w] & fires[w] & ahead // read anew: a rule may have woken later ones
			if word == 0 {
				break
			}
			bit := bits.TrailingZeros64(word)
			ahead = ^uint64(1) << bit
			r.rule = w<<6 | bit
			if sc.sure[w]>>bit&1 == 0 && s.rules[r.rule].Conditions.root.eval(&sc.view, AllFields) != True {
				continue
			}
			hits = append(hits, r.rule)
			for _, step := range s.steps[r.rule] {
				step.do(&r, step.action)
			}
		}
	}
	if len(hits) > 0 {
		out.Hits = slices.Clone(hits)
		r.settle()
	}
	sc.hits, sc.tags = hits, r.tags
	s.release(sc)
	return out
}

// none stands where an index names no rule.
const none = -1

// A run is one transaction on its way through the pipeline.
type run struct {
	set          *Set
	scratch      *scratch
	draft        *Draft
	pass         Pass
	out          *Outcome
	rule         int // whose actions are being done
	start        string
	startTags    []string
	ownTags      bool
	category     int // the last rule that set it
	counterparty Effect
	tags         []Effect // the last of each tag
}

// wake looks again at later rules that wait for a live field to take that value.
func (r *run) wake(f Fields, value string) {
	r.scratch.view.forget(f)
	for _, i := range r.set.keyed[key{f, text.Fold(value)}] {
		r.scratch.maybe[i.rule>>6] |= 1 << (i.rule & 63)
	}
}

// keep notes an action that cannot be done.
func (r *run) keep(field string, want Effect, already bool) {
	if !r.pass.Trace {
		return
	}
	fate := Held
	if already {
		fate = AlreadySo
	}
	r.out.Attempts = append(r.out.Attempts, Attempt{want, field, fate})
}

// try notes an action that was done, whose fate the end of the pass decides.
func (r *run) try(field string, want Effect) {
	if r.pass.Trace {
		r.out.Attempts = append(r.out.Attempts, Attempt{want, field, ""})
	}
}

// settle compares the draft with what it was.
func (r *run) settle() {
	if r.category != none && r.draft.Category != r.start {
		r.out.Category = &Effect{Rule: r.category, Value: r.draft.Category}
	}
	if r.counterparty.Rule != none {
		r.out.Counterparty = &r.counterparty
	}
	for _, e := range r.tags {
		if slices.Contains(r.startTags, e.Tag) == e.Removed {
			r.out.Tags = append(r.out.Tags, e)
		}
	}
	slices.SortFunc(r.out.Tags, func(a, b Effect) int { return strings.Compare(a.Tag, b.Tag) })
	r.decide()
}

// decide gives every attempt its fate, the last of each field first.
func (r *run) decide() {
	type about struct{ field, tag string }
	later := map[about]bool{}
	for i := len(r.out.Attempts) - 1; i >= 0; i-- {
		a := &r.out.Attempts[i]
		if a.Fate != "" {
			continue
		}
		so := false // before, and now
		switch a.Field {
		case AboutCategory:
			so = r.start == a.Value && r.draft.Category == a.Value
		case AboutTag:
			so = slices.Contains(r.startTags, a.Tag) != a.Removed && slices.Contains(r.draft.Tags, a.Tag) != a.Removed
		}
		field := about{a.Field, a.Tag}
		switch {
		case so:
			a.Fate = AlreadySo
		case later[field] && a.Field != AboutComment:
			a.Fate = Overridden
		default:
			a.Fate = Applied
		}
		later[field] = true
	}
}

package engine

import (
	"math/bits"
	"slices"
	"strings"
)

// Run applies the pipeline to the draft: each rule sees the changes of earlier ones. Afterwards the
// draft has the category and tags from the rules. All other fields stay unchanged, and so does the
// caller's slice of tags.
func (s *Set) Run(d *Draft, p Pass) Outcome {
	sc := s.scratch(d)
	r := &sc.run
	r.begin(d, p)
	fires := s.fires[p.Event]
	for w := range sc.maybe {
		ahead, eligible := ^uint64(0), s.eligible(d, w)
		for {
			word := sc.maybe[w] & fires[w] & eligible & ahead // read again, because a rule may have woken later ones
			if word == 0 {
				break
			}
			bit := bits.TrailingZeros64(word)
			ahead = ^uint64(1) << bit
			r.rule = w<<6 | bit
			if sc.sure[w]>>bit&1 == 0 && s.rules[r.rule].Conditions.root.eval(&sc.view, AllFields) != True {
				continue
			}
			r.hits = append(r.hits, r.rule)
			for i := range s.steps[r.rule] {
				step := &s.steps[r.rule][i]
				r.wakes = step.wakes
				step.do(r, step.action)
			}
		}
	}
	out := r.end()
	s.release(sc)
	return out
}

// none means that an index refers to no rule.
const none = -1

// A run is the state of one transaction's pass through the pipeline. Its slices are reused for the
// next transaction.
type run struct {
	scratch      *scratch
	draft        *Draft
	pass         Pass
	rule         int       // the rule whose actions are running
	wakes        []posting // the rules that wait for the value of the action
	hits         []int
	start        string // the draft has its own slice of tags, no longer the caller's
	startTags    []string
	ownTags      bool // the draft's slice is no longer the caller's
	category     int  // the last rule that set it
	counterparty ruled
	tags         []ruled // the last action for each tag
	comments     []ruled
	attempts     []Attempt
}

// ruled is an action and its rule.
type ruled struct {
	rule   int
	action *Action
}

func (r *run) begin(d *Draft, p Pass) {
	r.draft, r.pass = d, p
	r.start, r.startTags, r.ownTags = d.Category, d.Tags, false
	r.category, r.counterparty = none, ruled{rule: none}
	r.hits, r.tags, r.comments, r.attempts = r.hits[:0], r.tags[:0], r.comments[:0], nil
}

// wake makes later rules run again if they depend on a live field having the value of this action.
func (r *run) wake(f Fields) {
	r.scratch.forget(f)
	for _, p := range r.wakes {
		r.scratch.mark(p)
	}
}

// keep records an action that changes nothing, because the field is held or already has the value.
func (r *run) keep(field string, a *Action, already bool) {
	fate := Held
	if already {
		fate = AlreadySo
	}
	r.note(field, a, fate)
}

// note records an action for the trace. An action without a fate gets one at the end of the pass.
func (r *run) note(field string, a *Action, fate Fate) {
	if r.pass.Trace {
		r.attempts = append(r.attempts, Attempt{Effect: ruled{r.rule, a}.effect(), Field: field, Fate: fate})
	}
}

// effect returns the effect of the action.
func (s ruled) effect() Effect {
	a := s.action
	e := Effect{Rule: s.rule, Tag: a.TagSlug, CounterpartyID: a.CounterpartyID, CounterpartyName: a.CounterpartyName}
	e.Value = a.CategorySlug + a.Content // one of them is empty
	e.Removed = a.Type == RemoveTag
	return e
}

// end returns the differences between the draft and its initial state.
func (r *run) end() Outcome {
	var out Outcome
	if len(r.hits) > 0 {
		out.Hits = slices.Clone(r.hits)
	}
	if r.category != none && r.draft.Category != r.start {
		out.Category = &Effect{Rule: r.category, Value: r.draft.Category}
	}
	if r.counterparty.rule != none {
		out.Counterparty = new(r.counterparty.effect())
	}
	for _, s := range r.comments {
		out.Comments = append(out.Comments, s.effect())
	}
	r.tags = slices.DeleteFunc(r.tags, func(s ruled) bool {
		return slices.Contains(r.startTags, s.action.TagSlug) == slices.Contains(r.draft.Tags, s.action.TagSlug)
	})
	if len(r.tags) > 0 {
		slices.SortFunc(r.tags, func(x, y ruled) int { return strings.Compare(x.action.TagSlug, y.action.TagSlug) })
		out.Tags = make([]Effect, len(r.tags))
		for i, s := range r.tags {
			out.Tags[i] = s.effect()
		}
	}
	r.decide()
	out.Attempts = r.attempts
	r.draft, r.startTags, r.attempts = nil, nil, nil
	return out
}

// decide gives a fate to every attempt without one. It goes backward, because the last attempt for
// a field prevails.
func (r *run) decide() {
	if len(r.attempts) == 0 {
		return
	}
	type about struct{ field, tag string }
	last := map[about]int{} // the rule that prevails
	for i := len(r.attempts) - 1; i >= 0; i-- {
		a := &r.attempts[i]
		if a.Fate != "" {
			continue
		}
		so := false // the field had the value before and has it now
		switch a.Field {
		case AboutCategory:
			so = r.start == a.Value && r.draft.Category == a.Value
		case AboutTag:
			so = slices.Contains(r.startTags, a.Tag) != a.Removed && slices.Contains(r.draft.Tags, a.Tag) != a.Removed
		}
		field := about{a.Field, a.Tag}
		by, later := last[field]
		switch {
		case so:
			a.Fate = AlreadySo
		case later && a.Field != AboutComment:
			a.Fate, a.By = Overridden, by
		default:
			a.Fate = Applied
		}
		if !later {
			last[field] = a.Rule
		}
	}
}

package engine

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"

	"coffer/internal/platform/text"
)

// Limits for the analysis of a regular expression. Beyond them the analysis finds no literals, but
// its result is never wrong.
const (
	maxLiterals = 64 // alternatives
	maxClass    = 12 // runes of a character class that are listed one by one
)

// requiredLiterals returns folded literals, or nil. Every text that the expression matches contains
// at least one of them once it is folded.
func requiredLiterals(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return analyze(re.Simplify()).required()
}

// A wording describes the folded texts that a part of an expression matches.
type wording struct {
	exact []string // all the texts if there are few, else nil
	must  []string // each text contains one of these; nil if nothing is known
}

// required returns the better of must and exact.
func (w wording) required() []string { return better(w.must, w.exact) }

var emptyWording = wording{exact: []string{""}}

func analyze(re *syntax.Regexp) wording {
	switch re.Op {
	case syntax.OpLiteral:
		return wording{exact: []string{text.Fold(string(re.Rune))}}
	case syntax.OpCharClass:
		return wording{exact: spelled(re.Rune)}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return emptyWording
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpPlus:
		return wording{must: analyze(re.Sub[0]).required()}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return wording{must: analyze(re.Sub[0]).required()}
		}
	case syntax.OpQuest:
		if w := analyze(re.Sub[0]); w.exact != nil {
			return wording{exact: union(w.exact, []string{""})}
		}
	case syntax.OpConcat:
		return concatenated(re.Sub)
	case syntax.OpAlternate:
		return alternated(re.Sub)
	}
	return wording{}
}

// concatenated returns the wording of consecutive parts. It keeps the best run of parts whose texts
// are known exactly.
func concatenated(parts []*syntax.Regexp) wording {
	var must []string
	whole, stretch := true, []string{""}
	for _, part := range parts {
		w := analyze(part)
		must = better(must, w.must)
		if joined := product(stretch, w.exact); joined != nil {
			stretch = joined
			continue
		}
		whole = false
		must = better(must, stretch)
		stretch = []string{""}
		if w.exact != nil {
			stretch = w.exact
		}
	}
	if whole {
		return wording{exact: stretch, must: must}
	}
	return wording{must: better(must, stretch)}
}

func alternated(parts []*syntax.Regexp) wording {
	var exact, must []string
	spelledOut, known := true, true
	for _, part := range parts {
		w := analyze(part)
		if exact = union(exact, w.exact); w.exact == nil || exact == nil {
			spelledOut = false
		}
		r := w.required()
		if must = union(must, r); r == nil || must == nil {
			known = false
		}
	}
	var out wording
	if spelledOut {
		out.exact = exact
	}
	if known {
		out.must = must
	}
	return out
}

// spelled lists the runes of a small character class, folded.
func spelled(ranges []rune) []string {
	var out []string
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 2*maxClass {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r > unicode.MaxRune || !utf8.ValidRune(r) {
				return nil
			}
			if out = union(out, []string{text.Fold(string(r))}); len(out) > maxClass {
				return nil
			}
		}
	}
	return out
}

// product returns each of a followed by each of b, or nil if there are too many or b is not known.
func product(a, b []string) []string {
	if b == nil || len(a)*len(b) > maxLiterals {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// union returns both lists, or nil if there are too many.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > maxLiterals {
		return nil
	}
	return out
}

// better returns the list that narrows a search more: the one whose shortest text is longer, or the
// one with fewer texts if these are equally long.
func better(a, b []string) []string {
	x, y := shortest(a), shortest(b)
	switch {
	case y == 0:
		if x == 0 {
			return nil
		}
		return a
	case x > y || x == y && len(a) <= len(b):
		return a
	}
	return b
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

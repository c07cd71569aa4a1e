package errs

import (
	"regexp"
	"slices"
	"strings"
)

// named matches the name of an op in an error, in braces: "tag not found; {tag.list} lists them".
// Worded replaces the braces with the surface's name of the op: a route, a tool or a command. The
// code that knows the surface calls it.
var named = regexp.MustCompile(`(; )?\{([a-z][a-z-]*\.[a-z]+)\}( lists them| lists those that are)?`)

// Worded returns the error with its ops named in a surface's own words. If the surface has no name
// for an op that lists records, the hint is dropped. Any other op without a name there is named by
// its command.
func (e *Error) Worded(word func(op string) string) *Error {
	worded := *e
	worded.Message = inWords(e.Message, word)
	worded.Details = slices.Clone(e.Details)
	for i, d := range worded.Details {
		worded.Details[i].Message = inWords(d.Message, word)
	}
	return &worded
}

func inWords(text string, word func(op string) string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return named.ReplaceAllStringFunc(text, func(found string) string {
		m := named.FindStringSubmatch(found)
		w := word(m[2])
		if w == "" && m[1] != "" && m[3] != "" {
			return ""
		}
		if w == "" {
			w = command(m[2])
		}
		return m[1] + w + m[3]
	})
}

// command returns an op as the command line names it.
func command(op string) string { return "coffer " + strings.Replace(op, ".", " ", 1) }

// Named returns the ops that a message names.
func Named(text string) []string {
	var ops []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		ops = append(ops, m[2])
	}
	return ops
}

// Missing returns the error for a reference to a record that does not exist. kind is the kind of
// record, and hint says where such records are listed. field is set if the reference is in an
// input.
func Missing(field, kind, hint string) *Error {
	lookup := ""
	if ops := Named(hint); len(ops) > 0 {
		noun, _, _ := strings.Cut(ops[0], ".")
		lookup = strings.ReplaceAll(noun, "-", "_")
	}
	if field == "" {
		e := New(NotFound, "%s not found; %s", kind, hint)
		e.Lookup = lookup
		return e
	}
	e := New(InvalidReference, "%s: %s not found; %s", field, kind, hint)
	e.Lookup = lookup
	e.Details = []Detail{{Field: field, Code: "reference", Message: kind + " not found", Lookup: lookup}}
	return e
}

package op

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// Prefix is the path prefix of the REST API.
const Prefix = "/api/v1"

// SurfaceHeader is the header with which a command that runs on a server requests errors in its own
// words.
const SurfaceHeader = "Coffer-Surface"

// Words maps the names of ops that errors may mention to the ops, so that each surface can use its
// own words for them.
type Words map[string]*Op

// WordsOf returns the Words of a list of ops.
func WordsOf(ops []*Op) Words {
	w := Words{}
	for _, o := range ops {
		if o.Name != "" {
			w[o.Name] = o
		} else {
			w[o.Tool] = o
		}
	}
	return w
}

// On returns an error in the words of a surface. An error that is not an errs.Error is returned
// unchanged.
func (w Words) On(s Surface, err error) error {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	return e.Worded(func(name string) string { return w.name(s, name) })
}

// name returns the name of an op on a surface, or "" if the surface does not have it.
func (w Words) name(s Surface, name string) string {
	o := w[name]
	switch {
	case o == nil:
		return ""
	case s == Tool && o.Tool == "" && strings.HasSuffix(name, ".list"): // the tool may be a separate op
		if list := "list_" + o.Group() + "s"; w[list] != nil {
			return list
		}
		return ""
	case s == Tool:
		return o.Tool
	case s == Command:
		return o.Command()
	}
	return o.Method + " " + Prefix + o.Path
}

// See returns the name of an op on the surface of the call in ctx, for a note in an answer. It is
// "" if that surface does not have the op.
func See(ctx context.Context, name string) string {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c.words.name(c.reader(), name)
	}
	return ""
}

// Command returns the op's command line, with its positional arguments.
func (o *Op) Command() string {
	words := []string{"coffer", strings.Replace(o.Name, ".", " ", 1)}
	for _, p := range o.In.Props {
		if p.In == InPath {
			words = append(words, "<"+p.Name+">")
		}
	}
	return strings.Join(words, " ")
}

// Public is errs.Public for an error that becomes part of an answer. It uses the words of the
// surface of the call in ctx.
func Public(ctx context.Context, err error) *errs.Error {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		err = c.words.On(c.reader(), err)
	}
	return errs.Public(err, "")
}

// reader returns the surface whose words errors use: a command that runs on a server arrives over
// REST.
func (c *Call) reader() Surface {
	if c.Words != "" {
		return c.Words
	}
	return c.Surface
}

// A Candidate is a record that a caller may have meant: its slug or id, and its name.
type Candidate struct {
	Value string `db:"value"`
	Name  string `db:"name"`
}

// suggest adds records with similar names to an error about a missing record.
func (r *Runner) suggest(ctx context.Context, q pg.Querier, o *Op, args map[string]any, err error) error {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || r.Candidates == nil {
		return err
	}
	if e.Lookup != "" && len(e.Details) == 0 { // the record that the call addresses
		for _, p := range slices.Backward(o.In.Props) {
			if p.In == InPath {
				if found := r.near(ctx, q, e.Lookup, wordsAt(args, p.Name)); len(found) > 0 {
					e.Details = []errs.Detail{{
						Field: p.Name, Code: "reference", Message: "not found",
						Lookup: e.Lookup, Suggestions: values(found),
					}}
					e.Message = meant(e.Message, found)
				}
				break
			}
		}
		return err
	}
	for i, d := range e.Details {
		if d.Lookup != "" {
			if found := r.near(ctx, q, d.Lookup, wordsAt(args, d.Field)); len(found) > 0 {
				e.Details[i].Suggestions, e.Details[i].Message = values(found), meant(d.Message, found)
				if len(e.Details) == 1 {
					e.Message = meant(e.Message, found)
				}
			}
		}
	}
	return err
}

// near returns the records of a kind that are close to the first unknown word.
func (r *Runner) near(ctx context.Context, q pg.Querier, lookup string, given []string) []Candidate {
	look := r.Candidates[lookup]
	if look == nil {
		return nil
	}
	all, err := look(ctx, q)
	if err != nil {
		return nil // the error itself is clear enough
	}
	for _, word := range given {
		if !slices.ContainsFunc(all, func(c Candidate) bool { return c.Value == word }) {
			return unrepeated(word, Nearest(word, all))
		}
	}
	return nil
}

// unrepeated drops names that contain the given word, or a long part of it: an error never repeats
// it, because it could be a secret.
func unrepeated(word string, found []Candidate) []Candidate {
	given := []rune(strings.ToLower(strings.TrimSpace(word)))
	part := min(len(given), longPart)
	for i, c := range found {
		name := strings.ToLower(c.Name)
		for at := 0; at+part <= len(given); at++ {
			if !strings.Contains(name, string(given[at:at+part])) {
				continue
			}
			found[i].Name = ""
			break
		}
	}
	return found
}

// longPart is the number of consecutive characters that a name may not share with the given word.
const longPart = 12

// meant inserts "did you mean" before the hint of a message.
func meant(message string, found []Candidate) string {
	var words []string
	for _, c := range found {
		w := c.Value
		if c.Name != "" && !strings.EqualFold(c.Name, c.Value) {
			w += " (" + c.Name + ")"
		}
		words = append(words, w)
	}
	head, hint, ok := strings.Cut(message, "; {")
	text := head + "; did you mean " + strings.Join(words, " or ") + "?"
	if ok {
		text += " {" + hint
	}
	return text
}

func values(found []Candidate) []string {
	out := make([]string, len(found))
	for i, c := range found {
		out[i] = c.Value
	}
	return out
}

// Candidates reads the possible names of one kind of record.
type Candidates func(ctx context.Context, q pg.Querier) ([]Candidate, error)

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// failing wraps an error of an op's command, so that its fields can be named as flags.
type failing struct {
	error
	op *op.Op
}

// Unwrap returns the wrapped error.
func (f failing) Unwrap() error { return f.error }

// Fail prints an error and returns the exit code: 2 for a wrong call, 3 for a missing permission, 4
// for not found, 5 for a conflict, 1 for the rest.
func (c *CLI) Fail(err error, asJSON bool) int {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		fmt.Fprintf(c.Err, "coffer: %v\n", err)
		return 1
	}
	if asJSON {
		b, _ := json.Marshal(e.Face()) //nolint:errchkjson // strings always encode
		fmt.Fprintln(c.Err, string(b))
	} else {
		c.explain(err, e)
	}
	codes := map[errs.Kind]int{
		errs.KindInvalid: 2, errs.KindUnauthenticated: 3, errs.KindForbidden: 3, errs.KindNotFound: 4,
		errs.KindConflict: 5, errs.KindPrecondition: 5,
	}
	return max(codes[e.Kind()], 1)
}

// explain prints an error for a person, with flags instead of fields.
func (c *CLI) explain(err error, e *errs.Error) {
	var o *op.Op
	if f, ok := errors.AsType[failing](err); ok {
		o = f.op
	}
	message := e.Message
	if len(e.Details) == 1 {
		d := e.Details[0]
		if rest, ok := strings.CutPrefix(message, d.Field+": "); ok && d.Field != "" {
			message = flagOf(o, d.Field) + ": " + rest
		}
		if len(d.Suggestions) > 0 && !strings.Contains(message, "did you mean") {
			message += "; did you mean " + strings.Join(d.Suggestions, " or ") + "?"
		}
	}
	if len(e.Details) > 1 {
		message, _, _ = strings.Cut(message, "; see details")
		message, _, _ = strings.Cut(message, "; details lists")
	}
	fmt.Fprintf(c.Err, "coffer: %s (%s)\n", message, e.Code)
	if len(e.Details) > 1 {
		for _, d := range e.Details {
			line := d.Message
			if len(d.Suggestions) > 0 && !strings.Contains(line, "did you mean") {
				line += "; did you mean " + strings.Join(d.Suggestions, " or ") + "?"
			}
			fmt.Fprintf(c.Err, "  %s: %s\n", flagOf(o, d.Field), line)
		}
	}
}

// flagOf returns the flag of a field: rules[0].name is --rules[0].name.
func flagOf(o *op.Op, field string) string {
	end := strings.IndexAny(field, ".[")
	if end < 0 {
		end = len(field)
	}
	name := field[:end]
	if o == nil {
		return field
	}
	switch p := o.In.Prop(name); {
	case p == nil:
		return field
	case p.In == op.InPath:
		return "<" + name + ">" + field[end:]
	case p.Format == "file":
		return "--" + fileFlag
	}
	return "--" + flagName(name) + field[end:]
}

// misuse returns the error for a command that was called wrongly; it refers to the command's help.
func misuse(cmd *cobra.Command, format string, args ...any) error {
	see := "; see: %s --help"
	if strings.HasSuffix(format, "?") {
		see = " See: %s --help"
	}
	return errs.New(errs.ValidationError, format+see, append(args, cmd.CommandPath())...)
}

// badFlag returns the error for an unknown flag, with the flags that may have been meant.
func badFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return misuse(cmd, "%v", err)
	}
	var all []op.Candidate
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, op.Candidate{Value: f.Name}) })
	near := op.Nearest(unknown.GetSpecifiedName(), all)
	if len(near) == 0 {
		return misuse(cmd, "unknown flag %s", unknown.GetSpecifiedName())
	}
	names := make([]string, len(near))
	for i, n := range near {
		names[i] = "--" + n.Value
	}
	return misuse(cmd, "unknown flag --%s; did you mean %s?", unknown.GetSpecifiedName(),
		strings.Join(names, " or "))
}

// noSuchCommand returns an error for an unknown command, with the commands that may have been
// meant.
func (c *CLI) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := strings.ToLower(args[0])
	if !cmd.HasParent() {
		if meant, ok := c.Meant[word]; ok {
			return misuse(cmd, "unknown command %q; did you mean %s?", args[0], meant)
		}
	}
	if near := nearCommands(cmd, word); len(near) > 0 {
		return misuse(cmd, "unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return misuse(cmd, "unknown command %q", args[0])
}

// alike maps verbs that people try to the verbs that exist.
var alike = map[string][]string{
	"list": {"get", "show"}, "ls": {"list", "get"}, "show": {"get"}, "get": {"show", "list"}, "view": {"get", "list"},
	"submit": {"create"}, "add": {"create"}, "new": {"create"}, "make": {"create"},
	"remove": {"delete", "revoke"}, "rm": {"delete", "revoke"}, "edit": {"update", "set"}, "set": {"update"},
	"change": {"update", "set"}, "send": {"resend", "test"}, "undo": {"revert"},
}

// nearCommands returns the commands below cmd that a word may stand for: its singular, a similar
// name, or, at the top level, a verb of some noun.
func nearCommands(cmd *cobra.Command, word string) []string {
	var all []op.Candidate
	var verbs []string
	singular := strings.TrimSuffix(word, "s")
	if stem, ok := strings.CutSuffix(word, "ies"); ok {
		singular = stem + "y"
	}
	for _, sub := range cmd.Commands() {
		if sub.Hidden {
			continue
		}
		if sub.Name() == singular {
			return []string{sub.CommandPath()}
		}
		all = append(all, op.Candidate{Value: sub.CommandPath(), Name: sub.Name()})
		for _, verb := range sub.Commands() {
			if verb.Name() == word {
				verbs = append(verbs, verb.CommandPath())
			}
		}
	}
	if !cmd.HasParent() && len(verbs) > 0 && len(verbs) <= 4 {
		return verbs
	}
	var names []string
	for _, n := range op.Nearest(word, all) {
		names = append(names, n.Value)
	}
	if len(names) > 0 {
		return names
	}
	for _, sub := range cmd.Commands() {
		if slices.Contains(alike[word], sub.Name()) {
			return []string{sub.CommandPath()}
		}
	}
	cmd.SuggestionsMinimumDistance = 2
	for _, n := range cmd.SuggestionsFor(word) {
		names = append(names, cmd.CommandPath()+" "+n)
	}
	return names
}

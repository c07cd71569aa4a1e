package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"coffer/internal/platform/op"
	"github.com/spf13/cobra"
)

// call runs the op. With --all it fetches every page and returns them as one list.
func (c *CLI) call(ctx context.Context, cmd *cobra.Command, caller Caller, o *op.Op, args map[string]any) ([]byte,
	error,
) {
	answer, err := caller.Call(ctx, o, args)
	if all, _ := cmd.Flags().GetBool("all"); !all || err != nil {
		return answer, err
	}
	var whole []json.RawMessage
	for {
		var head struct {
			Next string `json:"next_cursor"`
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(answer, &m); err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		if err := json.Unmarshal(answer, &head); err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		list := listOf(o.Out)
		var items []json.RawMessage
		if err := json.Unmarshal(m[list], &items); err != nil {
			return nil, fmt.Errorf("read response: %w", err)
		}
		whole = append(whole, items...)
		if head.Next == "" {
			if m[list], err = json.Marshal(whole); err != nil {
				return nil, fmt.Errorf("print response: %w", err)
			}
			return json.Marshal(m)
		}
		args["cursor"] = head.Next
		if answer, err = caller.Call(ctx, o, args); err != nil {
			return nil, err
		}
	}
}

// listOf returns the name of the list in a page, or "" if the output is not a page.
func listOf(s *op.Schema) string {
	if s.Prop("next_cursor") == nil {
		return ""
	}
	for _, p := range s.Props {
		if p.Type == "array" && p.Items.Type == "object" {
			return p.Name
		}
	}
	return ""
}

// pages reports whether the op returns a list in pages, with a cursor for the next one.
func pages(o *op.Op) bool { return o.In.Prop("cursor") != nil && listOf(o.Out) != "" && !o.Writes }

func (c *CLI) print(ctx context.Context, caller Caller, o *op.Op, args map[string]any, answer []byte,
	asJSON bool,
) error {
	switch {
	// Over REST the response is empty. A call directly on the database must print the same.
	case o.Status == http.StatusNoContent:
		return c.confirm(o, args, asJSON)
	case o.TextOut != "":
		_, err := c.Out.Write(answer)
		return err
	case asJSON:
		return c.PrintJSON(answer)
	}
	if n, ok := length(o, answer); ok && n == 0 {
		return c.nothing(o, args)
	}
	s := c.screen(ctx, caller, answer)
	_, s.Changed = args["changed_since"]
	for _, v := range args {
		if list, ok := v.([]any); ok {
			for _, item := range list {
				s.Order = append(s.Order, fmt.Sprint(item))
			}
		}
	}
	if err := s.Print(o.Out, answer); err != nil {
		return err
	}
	if err := c.foot(s, o, answer); err != nil {
		return err
	}
	if next := c.Next[o.Name]; next != nil {
		if _, err := fmt.Fprint(c.Out, next(args, answer)); err != nil {
			return err
		}
	}
	if c.Also[o.Name] == "" {
		return nil
	}
	return c.below(ctx, caller, c.op(c.Also[o.Name]), args)
}

// below prints related rows that are not part of the record itself, such as a change's entries.
func (c *CLI) below(ctx context.Context, caller Caller, o *op.Op, args map[string]any) error {
	given := map[string]any{}
	for _, p := range o.In.Props {
		if v, ok := args[p.Name]; ok && p.In == op.InPath {
			given[p.Name] = v
		}
	}
	answer, err := caller.Call(ctx, o, given)
	if err != nil {
		return failing{err, o}
	}
	if n, ok := length(o, answer); !ok || n == 0 {
		return nil
	}
	fmt.Fprintln(c.Out)
	s := c.screen(ctx, caller, answer)
	if err := s.Print(o.Out, answer); err != nil {
		return err
	}
	return c.foot(s, o, answer)
}

// screen returns a Screen for the terminal.
func (c *CLI) screen(ctx context.Context, caller Caller, answer []byte) *Screen {
	s := &Screen{Out: c.Out, Width: c.width(), Color: IsTerminal(c.Out) && os.Getenv("NO_COLOR") == ""}
	if IsTerminal(c.Out) {
		s.Locale = Locale(os.Getenv)
	}
	if c.Zone != nil && bytes.Contains(answer, []byte(`Z"`)) {
		s.Zone = c.Zone(ctx, caller)
	}
	return s
}

// length returns the number of rows in a list; ok is false if the response is a record.
func length(o *op.Op, answer []byte) (n int, ok bool) {
	var list []json.RawMessage
	if o.Out.Type == "array" {
		err := json.Unmarshal(answer, &list)
		return len(list), err == nil
	}
	var m map[string]any
	if json.Unmarshal(answer, &m) != nil {
		return 0, false
	}
	if _, rows, ok := tableOf(m); ok {
		return len(rows), true
	}
	p := page(o.Out, m)
	if p == nil {
		return 0, false
	}
	items, _ := m[p.Name].([]any)
	return len(items), true
}

// nothing prints that a list is empty and what to do about it.
func (c *CLI) nothing(o *op.Op, args map[string]any) error {
	noun := o.Group()
	what := strings.ReplaceAll(noun, "-", " ") + "s"
	if stem, ok := strings.CutSuffix(what, "ys"); ok {
		what = stem + "ies"
	}
	if list := listOf(o.Out); list != "" {
		what = strings.ReplaceAll(list, "_", " ")
	}
	filtered := false
	for name := range args {
		p := o.In.Prop(name)
		filtered = filtered || p != nil && p.In == op.InQuery && p.Screen == "" &&
			!slices.Contains([]string{"limit", "cursor", "sort_by", "sort_order", "fields"}, name)
	}
	line := "No " + what + " yet."
	switch hint := c.Empty[o.Name]; {
	case filtered:
		line = "No matching " + what + ". Try fewer filters."
	case hint != "":
		line += " " + hint
	case slices.ContainsFunc(c.Ops, func(other *op.Op) bool { return other.Name == noun+".create" }):
		line += fmt.Sprintf(" Create one: coffer %s create --help", noun)
	}
	_, err := fmt.Fprintln(c.Out, line)
	return err
}

// foot prints what goes below a list: how to get more rows, what a plus means, and the hidden
// columns.
func (c *CLI) foot(s *Screen, o *op.Op, answer []byte) error {
	var m struct {
		More  bool  `json:"has_more"`
		Page  int   `json:"page"`
		Pages int   `json:"total_pages"`
		Notes []any `json:"notes"`
	}
	_ = json.Unmarshal(answer, &m) // a plain list has none of these fields
	n, _ := length(o, answer)
	var parts []string
	switch {
	case m.More && pages(o):
		parts = append(parts, fmt.Sprintf("Showing %d. Use --limit or --all to see more.", n))
	case m.More:
		parts = append(parts, fmt.Sprintf("Showing the first %d.", n))
	case m.Pages > m.Page:
		parts = append(parts, fmt.Sprintf("Page %d of %d. Next: --page %d", m.Page, m.Pages, m.Page+1))
	}
	if s.incoming && n > 0 {
		parts = append(parts, "+ means money in.")
	}
	if s.partial && n > 0 {
		parts = append(parts, "* incomplete month, not in the average.")
	}
	if len(s.dropped) > 0 {
		hidden := "Hidden columns: " + strings.ToLower(strings.Join(s.dropped, ", ")) + " (use --json)."
		if len(hidden) > s.Width {
			hidden = fmt.Sprintf("%d columns hidden (use --json).", len(s.dropped))
		}
		parts = append(parts, hidden)
	}
	var lines []string
	for _, part := range parts {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(part) <= s.Width {
			lines[last] += " " + part
		} else {
			lines = append(lines, part)
		}
	}
	if o.Out.Type == "object" && n > 0 { // a record prints its notes itself
		lines = append(lines, s.notes(m.Notes, "")...)
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(c.Out, "\n%s\n", strings.Join(lines, "\n"))
	return err
}

// PrintJSON prints JSON indented on a terminal, and unchanged otherwise.
func (c *CLI) PrintJSON(answer []byte) error {
	if c.onScreen() {
		var b bytes.Buffer
		if json.Indent(&b, answer, "", "  ") == nil {
			answer = b.Bytes()
		}
	}
	_, err := fmt.Fprintln(c.Out, strings.TrimRight(string(answer), "\n"))
	return err
}

// Say prints the result of a command that is not an op: the text, or the value if --json is set. It
// prints text into a pipe too, because such commands are for people and shells.
func (c *CLI) Say(cmd *cobra.Command, text string, value any) error {
	if asked, _ := cmd.Flags().GetBool("json"); asked {
		answer, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("print response: %w", err)
		}
		return c.PrintJSON(answer)
	}
	_, err := fmt.Fprint(c.Out, text)
	return err
}

// confirm prints what was deleted, because the response itself is empty.
func (c *CLI) confirm(o *op.Op, args map[string]any, asJSON bool) error {
	if asJSON {
		return c.PrintJSON([]byte(`{"deleted":true}`))
	}
	noun, verb, _ := strings.Cut(o.Name, ".")
	done := cmp.Or(confirmations[verb], "Done:")
	var what []string
	for _, p := range o.In.Props {
		if p.In == op.InPath {
			kind := strings.TrimSuffix(strings.TrimSuffix(p.Name, "_id"), "_slug")
			if kind == "id" || kind == "slug" {
				kind = noun
			}
			if value := fmt.Sprint(args[p.Name]); kind != noun || kind != value {
				what = append(what, strings.NewReplacer("-", " ", "_", " ").Replace(kind)+" "+value)
			}
		}
	}
	slices.Reverse(what)
	_, err := fmt.Fprintf(c.Out, "%s %s.\n", done, strings.Join(what, " from "))
	return err
}

// confirmations are the words that confirm begins with, by the op's verb.
var confirmations = map[string]string{
	"delete": "Deleted", "revoke": "Revoked", "unset": "Cleared", "untag": "Removed", "unlink": "Removed",
	"uninvite": "Canceled any invitation of", "unread": "Marked as unread:",
}

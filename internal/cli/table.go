package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"coffer/internal/op"
)

// Table prints an answer for a person: a list as rows, a record as lines. Columns follow the schema; the short id stands for the long one.
func Table(w io.Writer, s *op.Schema, answer []byte, width int) error {
	var v any
	d := json.NewDecoder(strings.NewReader(string(answer)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if m, ok := v.(map[string]any); ok {
		for _, p := range s.Props {
			if list, isList := m[p.Name].([]any); isList && p.Items.Type == "object" {
				rows(w, p.Items, list, width)
				return foot(w, m)
			}
		}
		return record(w, s, m)
	}
	if list, ok := v.([]any); ok && s.Items.Type == "object" {
		rows(w, s.Items, list, width)
		return nil
	}
	_, err := fmt.Fprintln(w, string(answer))
	return err
}

// foot says what a page of a list says beside its rows.
func foot(w io.Writer, m map[string]any) error {
	if m["has_more"] == true {
		_, err := fmt.Fprintf(w, "\nThere are more: --cursor %v\n", m["next_cursor"])
		return err
	}
	return nil
}

func record(w io.Writer, s *op.Schema, m map[string]any) error {
	longest := 0
	for _, p := range s.Props {
		longest = max(longest, len(p.Name))
	}
	for _, p := range s.Props {
		if v, ok := m[p.Name]; ok {
			if _, err := fmt.Fprintf(w, "%-*s  %s\n", longest, p.Name, cell(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown are the columns worth a person's screen: no long ids where there are short ones, no bookkeeping.
func shown(s *op.Schema) []op.Prop {
	var cols []op.Prop
	for _, p := range s.Props {
		switch {
		case p.Type == "array" && p.Items.Type == "object" || p.Type == "object" && p.Values == nil || p.Format == "uuid", p.Name == "updated_at", strings.HasPrefix(p.Name, "parent_"):
		case p.Name == "short_id":
			cols = append([]op.Prop{p}, cols...)
		default:
			cols = append(cols, p)
		}
	}
	return cols
}

func rows(w io.Writer, s *op.Schema, list []any, width int) {
	cols := slices.DeleteFunc(shown(s), func(p op.Prop) bool { return !anyHas(list, p.Name) })
	grid := [][]string{{}}
	for _, c := range cols {
		grid[0] = append(grid[0], strings.ToUpper(strings.ReplaceAll(c.Name, "_", " ")))
	}
	var add func(list []any, indent string)
	add = func(list []any, indent string) {
		for _, item := range list {
			m, _ := item.(map[string]any)
			row := make([]string, len(cols))
			for i, c := range cols {
				row[i] = cell(m[c.Name])
			}
			if len(row) > 1 {
				row[1] = indent + row[1]
			}
			grid = append(grid, row)
			if children, ok := m["children"].([]any); ok {
				add(children, indent+"  ")
			}
		}
	}
	add(list, "")
	printGrid(w, grid, width)
}

// anyHas reports whether any row has the field: a caller may have chosen fields.
func anyHas(list []any, field string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(item any) bool {
		m, _ := item.(map[string]any)
		_, ok := m[field]
		return ok
	})
}

// printGrid aligns the columns and cuts the last ones where the screen ends.
func printGrid(w io.Writer, grid [][]string, width int) {
	const most, gap = 40, 2
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, c := range row {
			widths[i] = min(max(widths[i], utf8.RuneCountInString(c)), most)
		}
	}
	for _, row := range grid {
		var line strings.Builder
		used := 0
		for i, c := range row {
			room := min(widths[i], width-used)
			if room < 4 && room < widths[i] {
				break
			}
			c = fit(c, room)
			line.WriteString(c + strings.Repeat(" ", room-utf8.RuneCountInString(c)+gap))
			used += room + gap
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

func fit(s string, room int) string {
	r := []rune(s)
	if len(r) <= room {
		return s
	}
	return string(r[:room-1]) + "…"
}

// cell is a value as text on a screen; what could steer a terminal was never let in, but a second look costs nothing.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if len(v) == 27 && strings.HasSuffix(v, "Z") && v[10] == 'T' { // a timestamp: to the second is enough for a person
			return v[:10] + " " + v[11:19]
		}
		return strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = cell(item)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range sortedKeys(v) {
			parts = append(parts, k+": "+cell(v[k]))
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

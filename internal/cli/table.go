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

// Table prints an answer for a person: a list as rows, a record as lines, with the lists in it as rows below. Columns follow the schema; the short id stands for the long one.
func Table(w io.Writer, s *op.Schema, answer []byte, width int) error {
	var v any
	d := json.NewDecoder(strings.NewReader(string(answer)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if m, ok := v.(map[string]any); ok {
		if p := page(s, m); p != nil {
			list, _ := m[p.Name].([]any)
			rows(w, p.Items, list, width)
			return foot(w, m)
		}
		record(w, s, m, "", width)
		return nil
	}
	if list, ok := v.([]any); ok && s.Items.Type == "object" {
		rows(w, s.Items, list, width)
		return nil
	}
	_, err := fmt.Fprintln(w, string(answer))
	return err
}

// page is the list that an answer is there for: the only thing in it, but for where the list goes on.
func page(s *op.Schema, m map[string]any) *op.Prop {
	var found *op.Prop
	_, paged := m["has_more"]
	_, numbered := m["total_pages"]
	for i, p := range s.Props {
		if _, ok := m[p.Name]; !ok {
			continue
		}
		if p.Type == "array" && p.Items.Type == "object" && found == nil {
			found = &s.Props[i]
		} else if !paged && !numbered {
			return nil
		}
	}
	return found
}

// foot says what a page of a list says beside its rows.
func foot(w io.Writer, m map[string]any) error {
	if m["has_more"] == true {
		_, err := fmt.Fprintf(w, "\nThere are more: --cursor %v\n", m["next_cursor"])
		return err
	}
	return nil
}

// record prints a line for each field. What has fields of its own, and lists of such, follow with their names above them.
func record(w io.Writer, s *op.Schema, m map[string]any, indent string, width int) {
	props := fields(s, m)
	longest := 0
	for _, p := range props {
		if !structured(m[p.Name]) {
			longest = max(longest, utf8.RuneCountInString(p.Name))
		}
	}
	for _, p := range props {
		if !structured(m[p.Name]) {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s%-*s  %s", indent, longest, p.Name, cell(m[p.Name])), " "))
		}
	}
	for _, p := range props {
		switch v := m[p.Name].(type) {
		case map[string]any:
			if structured(v) {
				fmt.Fprintf(w, "%s%s\n", indent, p.Name)
				record(w, p.Schema, v, indent+"  ", width)
			}
		case []any:
			if structured(v) {
				fmt.Fprintf(w, "\n%s\n", p.Name)
				item := p.Items
				if first, ok := v[0].(map[string]any); ok && (item == nil || len(item.Props) == 0) {
					item = &op.Schema{Type: "object", Props: fields(nil, first)}
				}
				rows(w, item, v[:min(len(v), most)], width)
				if len(v) > most {
					fmt.Fprintf(w, "and %d more; --json shows them all\n", len(v)-most)
				}
			}
		}
	}
}

// most is how many rows of a list inside a record a person is shown.
const most = 25

// structured reports whether a value needs lines of its own: an object, or a list of them. A flat object of a few values is one line.
func structured(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if _, list := inner.([]any); list || structured(inner) {
				return true
			}
		}
		return len(v) > 3
	case []any:
		if len(v) == 0 {
			return false
		}
		_, ok := v[0].(map[string]any)
		return ok
	}
	return false
}

// fields are what an object has, in the order of its schema; by name where the schema leaves it open.
func fields(s *op.Schema, m map[string]any) []op.Prop {
	var out []op.Prop
	if s != nil && len(s.Props) > 0 {
		for _, p := range s.Props {
			if _, ok := m[p.Name]; ok {
				out = append(out, p)
			}
		}
		return out
	}
	for _, name := range sortedKeys(m) {
		out = append(out, op.Prop{Name: name, Schema: &op.Schema{}})
	}
	return out
}

// bookkeeping is what a record shows and a list does not.
var bookkeeping = map[string]bool{"updated_at": true, "official_name": true, "institution_id": true, "raw_payload_hash": true}

// shown are the columns worth a person's screen: no long ids where there are short ones, no bookkeeping.
func shown(s *op.Schema) []op.Prop {
	var cols []op.Prop
	for _, p := range s.Props {
		switch {
		case p.Type == "object" && (p.Values == nil || p.Values.Type == "" || p.Values.Type == "object"), p.Name == "children", p.Format == "uuid", bookkeeping[p.Name], strings.HasPrefix(p.Name, "parent_"):
		case p.Name == "short_id":
			cols = append([]op.Prop{p}, cols...)
		default:
			cols = append(cols, p)
		}
	}
	return cols
}

func rows(w io.Writer, s *op.Schema, list []any, width int) {
	cols := columns(s, list)
	grid := [][]string{{}}
	right := make([]bool, len(cols))
	for i, c := range cols {
		grid[0] = append(grid[0], heading(c.name))
		right[i] = c.number
	}
	var add func(list []any, indent string)
	add = func(list []any, indent string) {
		for _, item := range list {
			m, _ := item.(map[string]any)
			row := make([]string, len(cols))
			for i, c := range cols {
				row[i] = cell(c.of(m))
			}
			if len(row) > 1 && !right[1] {
				row[1] = indent + row[1]
			}
			grid = append(grid, row)
			if children, ok := m["children"].([]any); ok {
				add(children, indent+"  ")
			}
		}
	}
	add(list, "")
	printGrid(w, grid, right, width)
}

func heading(field string) string {
	if field == "iso_currency_code" { // three letters below seventeen
		return "CURRENCY"
	}
	return strings.ToUpper(strings.ReplaceAll(field, "_", " "))
}

// A column is a field of the rows, or what a map in them has under one key.
type column struct {
	name, in string // in names the map, "" for a field of the row itself
	number   bool
}

func (c column) of(m map[string]any) any {
	if c.in == "" {
		return m[c.name]
	}
	inner, _ := m[c.in].(map[string]any)
	return inner[c.name]
}

// columns are those with something in them: a screen is narrow, and what is empty everywhere would push out what is not. A map gives a column for each of its keys.
func columns(s *op.Schema, list []any) []column {
	var out []column
	for _, p := range shown(s) {
		if p.Type == "object" {
			keys := map[string]bool{}
			for _, item := range list {
				m, _ := item.(map[string]any)
				inner, _ := m[p.Name].(map[string]any)
				for k := range inner {
					keys[k] = true
				}
			}
			for _, k := range sortedKeys(keys) {
				out = append(out, column{name: k, in: p.Name})
			}
			continue
		}
		out = append(out, column{name: p.Name})
	}
	out = slices.DeleteFunc(out, func(c column) bool {
		return len(list) > 0 && !some(list, func(m map[string]any) bool { return cell(c.of(m)) != "" })
	})
	for i, c := range out {
		out[i].number = len(list) > 0 && !some(list, func(m map[string]any) bool {
			_, number := c.of(m).(json.Number)
			return !number && cell(c.of(m)) != ""
		})
	}
	return out
}

// some reports whether any row, or any row below one, is so.
func some(list []any, so func(map[string]any) bool) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		m, _ := item.(map[string]any)
		children, _ := m["children"].([]any)
		return so(m) || some(children, so)
	})
}

// printGrid aligns the columns, numbers by their ends, and cuts the last ones where the screen ends.
func printGrid(w io.Writer, grid [][]string, right []bool, width int) {
	const widest, gap = 40, 2
	widths, total := make([]int, len(grid[0])), 0
	measure := func(grid [][]string) {
		for _, row := range grid {
			for i, c := range row {
				widths[i] = max(widths[i], utf8.RuneCountInString(c))
				if i < len(row)-1 { // the last one may have what is left of the screen
					widths[i] = min(widths[i], widest)
				}
			}
		}
	}
	measure(grid[1:])
	bare := slices.Clone(widths)
	measure(grid[:1])
	for _, n := range widths {
		total += n + gap
	}
	if total > width+gap { // then a heading gives way to what stands below it
		for i, c := range grid[0] {
			widths[i] = min(max(bare[i], min(utf8.RuneCountInString(c), 8)), widths[i])
		}
	}
	for _, row := range grid {
		var line strings.Builder
		used := 0
		for i, c := range row {
			room := min(widths[i], width-used)
			if room < widths[i] && (right[i] || room < 10) { // a number that is cut is another number
				break
			}
			c = fit(c, room)
			pad := strings.Repeat(" ", room-utf8.RuneCountInString(c))
			if right[i] {
				c = pad + c
			} else {
				c += pad
			}
			line.WriteString(c + strings.Repeat(" ", gap))
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
			if v[k] != false && cell(v[k]) != "" {
				parts = append(parts, k+": "+cell(v[k]))
			}
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

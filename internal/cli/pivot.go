package cli

import (
	"encoding/json"
	"slices"
	"strings"
)

// tableOf returns the table that an answer holds instead of groups.
func tableOf(m map[string]any) (table map[string]any, rows []any, ok bool) {
	table, ok = m["pivot"].(map[string]any)
	rows, _ = table["rows"].([]any)
	return table, rows, ok
}

// pivot prints a table with a column for each period, the newest first: where the screen is too
// narrow, columns are dropped from the end, and the oldest matter least.
func (s *Screen) pivot(table map[string]any, rows []any) {
	columns, _ := table["columns"].([]any)
	g := grid{head: []string{"", "CUR", "TOTAL", "AVERAGE"}, cols: []column{
		{name: "name"}, {name: "iso_currency_code"}, {name: "total", number: true}, {name: "average", number: true},
	}}
	for _, item := range slices.Backward(columns) {
		c, _ := item.(map[string]any)
		key, _ := c["key"].(string)
		if c["complete"] == false { // it has days that are not counted, or are still to come
			key, s.partial = key+"*", true
		}
		g.cols, g.head = append(g.cols, column{name: key, number: true}), append(g.head, key)
	}
	for _, item := range append(slices.Clone(rows), of(table, "other")...) {
		m, _ := item.(map[string]any)
		name := "(other)"
		if keys, ok := m["keys"].(map[string]any); ok {
			for key, v := range keys {
				name = s.cell(column{name: key, in: "keys"}, v, false)
				if g.head[0] == "" {
					g.head[0] = heading(column{name: key})
				}
			}
		}
		row := []string{name, s.cell(g.cols[1], m["iso_currency_code"], false)}
		numbers := append([]any{m["total"], m["average"]}, backward(of(m, "values"))...)
		for i, v := range numbers {
			text := s.cell(g.cols[i+2], v, false)
			if table["measure"] == "count" && i != 1 {
				text = strings.TrimSuffix(text, ".00")
			}
			if n, ok := v.(json.Number); ok && n.String() == "0.00" {
				text = "·" // an empty cell of a wide table is read faster than a zero
			}
			row = append(row, text)
		}
		g.rows = append(g.rows, row)
	}
	s.dropped = g.print(s.Out, s.Width, "", s.Color)
}

func of(m map[string]any, name string) []any {
	list, _ := m[name].([]any)
	return list
}

func backward(list []any) []any {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

package cli

import (
	"encoding/json"
	"slices"
	"strings"
)

// tableOf returns the pivot table of a response that has one instead of groups.
func tableOf(m map[string]any) (table map[string]any, rows []any, ok bool) {
	table, ok = m["pivot"].(map[string]any)
	rows, _ = table["rows"].([]any)
	return table, rows, ok
}

// pivot prints a table with a column for each period, newest first. On a narrow screen columns are
// dropped from the end, and the oldest matter least.
func (s *Screen) pivot(table map[string]any, rows []any) {
	columns, _ := table["columns"].([]any)
	g := grid{head: []string{"", "CUR", "TOTAL", "AVERAGE"}, cols: []column{
		{name: "name"}, {name: "iso_currency_code"}, {name: "total", number: true}, {name: "average", number: true},
	}}
	for _, item := range slices.Backward(columns) {
		c, _ := item.(map[string]any)
		key, _ := c["key"].(string)
		if c["complete"] == false { // some of its days are not counted or still to come
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
					g.head[0] = heading(column{name: key, in: "keys"})
				}
			}
		}
		row := []string{name, s.cell(g.cols[1], m["iso_currency_code"], false)}
		numbers := append([]any{m["total"], m["average"]}, backward(of(m, "values"))...)
		for i, v := range numbers {
			n, _ := v.(json.Number)
			if table["measure"] == "count" && i != 1 {
				v = json.Number(strings.TrimSuffix(n.String(), ".00"))
			}
			text := s.cell(g.cols[i+2], v, false)
			if n == "0.00" {
				text = "·" // a nearly empty cell is easier to scan than a zero
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

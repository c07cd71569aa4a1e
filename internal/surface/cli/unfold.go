package cli

import (
	"maps"
	"slices"

	"coffer/internal/platform/op"
)

// unfold turns list items that contain transactions into rows. If an item has one transaction, the
// item's row gets its columns. If it has two, such as a pair to confirm, each gets its own row, and
// the second omits the item's fields.
func unfold(schema *op.Schema, list []any) (*op.Schema, []any) {
	var inside []op.Prop
	for _, p := range schema.Props {
		if p.Type == "object" && p.Values == nil && p.Prop("amount") != nil && p.Prop("date") != nil {
			inside = append(inside, p)
		}
	}
	if len(inside) == 0 {
		return schema, list
	}
	whole := *schema
	whole.Props = slices.Clone(schema.Props)
	for _, p := range inside[0].Props {
		if whole.Prop(p.Name) == nil {
			whole.Props = append(whole.Props, p)
		}
	}
	var rows []any
	for _, item := range list {
		outer, _ := item.(map[string]any)
		for i, p := range inside {
			row := map[string]any{}
			if i == 0 {
				row = maps.Clone(outer)
			}
			inner, _ := outer[p.Name].(map[string]any)
			for k, v := range inner {
				if _, taken := row[k]; !taken && (i == 0 || schema.Prop(k) == nil) {
					row[k] = v
				}
			}
			rows = append(rows, row)
		}
	}
	return &whole, rows
}

// spread turns the lists inside items into rows, each with the fields of its item, such as the day
// of the totals. The last list that any item has is the most detailed.
func spread(schema *op.Schema, list []any) (*op.Schema, []any) {
	var inside op.Prop
	whole := op.Schema{Type: "object"}
	for _, p := range schema.Props {
		filled := func(item any) bool {
			m, _ := item.(map[string]any)
			return len(of(m, p.Name)) > 0
		}
		switch {
		case p.Type != "array":
			whole.Props = append(whole.Props, p)
		case slices.ContainsFunc(list, filled):
			inside = p
		}
	}
	if inside.Schema == nil {
		return schema, list
	}
	whole.Props = append(whole.Props, inside.Items.Props...)
	var rows []any
	for _, item := range list {
		outer, _ := item.(map[string]any)
		for _, each := range of(outer, inside.Name) {
			inner, _ := each.(map[string]any)
			row := maps.Clone(outer)
			maps.Copy(row, inner)
			rows = append(rows, row)
		}
	}
	return &whole, rows
}

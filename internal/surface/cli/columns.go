package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"coffer/internal/platform/op"
)

// bookkeeping lists fields that a record shows and a list does not.
var bookkeeping = map[string]bool{
	"updated_at": true, "official_name": true, "institution_id": true, "raw_payload_hash": true,
	"authorized_date": true, "datetime": true, "prompt": true, "prompt_blocks": true, "definition_hash": true,
	"workflow_name": true, "expected_amount": true,
}

// usual lists the columns whose normal value is yes. A person looks for a no in them, so it is
// printed, and the column stays if all rows have no. In other columns a no is left blank.
var usual = map[string]bool{"enabled": true, "has_login": true, "shared": true, "certain": true, "retryable": true}

// further is the lowest rank of fields that are shown only if there is room.
const further = 9

// rank returns a field's position in a row: the id, dates, amounts, names, the rest, and
// timestamps.
func rank(p op.Prop) int {
	switch {
	case p.Name == "short_id", p.Name == "transaction_id":
		return 0
	case p.Type == "object" && (p.Prop("net") != nil || p.Prop("balance") != nil):
		return 3
	case p.Screen == screenTotals:
		return 3
	case p.Type == "object" && !brief(p):
		return 1
	case p.Name == "first_date", p.Name == "last_date", p.Name == "balance_available", p.Name == "balance_limit":
		return further
	case p.Name == "balance_source", p.Name == "balance_date": // the source and day of the balance
		return 6
	case p.Format == "date", p.Name == "balance_today":
		return 2
	case p.Format == "decimal":
		return 3
	case p.Name == "iso_currency_code":
		return 4
	case p.Name == "name", p.Name == "slug", p.Name == "workflow_slug", p.Name == "title",
		p.Name == "payee_name", p.Name == "cadence", p.Name == "before", p.Name == "after":
		return 5
	case p.Name == "category", p.Name == "kind", p.Name == "type", brief(p):
		return 6
	case p.Name == "detail", p.Name == "tags":
		return 7
	case p.Name == "account_name", p.Name == "confidence", p.Name == "status", p.Name == "state", p.Name == "enabled",
		p.Name == "created_by_name",
		p.Name == "trigger", p.Name == "dry_run":
		return 8
	case p.Format == "date-time":
		return 10
	case p.Name == "merchant_name", p.Name == "category_display_name": // usually the same as another column
		return 11
	case p.Name == "payee": // a key, of the payee whose name is another column
		return 12
	}
	return further
}

// brief reports whether a row summarizes an object or a list of objects.
func brief(p op.Prop) bool {
	return p.Screen == screenNewest || p.Screen == screenTree || p.Screen == screenTotals || p.Screen == screenPick
}

// owed lists the types of accounts whose balance is a debt.
var owed = map[string]bool{"credit": true, "loan": true}

// shown returns the columns that are worth showing to a person: without UUIDs if there are short
// ids, and without bookkeeping.
func shown(s *op.Schema) []op.Prop {
	var cols []op.Prop
	named := s.Prop("name") != nil
	for _, p := range s.Props {
		if p.Name == "transaction_id" && s.Prop("short_id") == nil { // the subject of the row
			cols = append(cols, p)
			continue
		}
		if p.Screen == screenNone {
			continue
		}
		if brief(p) {
			cols = append(cols, p)
			continue
		}
		flat := p.Type != "object" || p.Prop("net") != nil || p.Prop("balance") != nil ||
			p.Values != nil && p.Values.Type != "" && p.Values.Type != "object"
		// Left out: repetitions of another column, and values that mean nothing to a person.
		omitted := p.Name == "display_name" && named || p.Name == "balance_current" && s.Prop("balance_today") != nil ||
			p.Name == "children" || p.Format == "uuid" || bookkeeping[p.Name] || strings.HasPrefix(p.Name, "parent_")
		if flat && !omitted && (p.Type != "array" || p.Items.Type != "object") {
			cols = append(cols, p)
		}
	}
	slices.SortStableFunc(cols, func(a, b op.Prop) int { return cmp.Compare(rank(a), rank(b)) })
	return cols
}

// A column is a field of the rows, or one key of a map in them.
type column struct {
	name, in string // in names the map, "" for a field of the row itself
	number   bool
	further  bool   // shown only if the other columns leave enough room
	all      bool   // a list that means everything if it is empty
	brief    string // how an object or a list of objects is summarized, if it is
	better   string // the field whose value is shown instead, in rows that have it
}

// better returns the field that is shown in place of each field of these rows. The replacement has
// people's words, while the field itself has those of a bank or of the API.
func better(props []op.Prop, list []any) map[string]string {
	out := map[string]string{}
	for _, p := range props {
		instead, ok := strings.CutPrefix(p.Screen, screenInstead)
		if ok && some(list, func(m map[string]any) bool { return m[instead] != nil }) {
			out[instead] = p.Name
		}
	}
	return out
}

// actor is the column with the name and type of an actor.
const actor = "by"

// change holds a row's values before and after as one value.
type change struct{ before, after any }

func (c column) of(m map[string]any) any {
	if c.in != "" {
		inner, ok := m[c.in].(map[string]any)
		if !ok {
			return false
		}
		return inner[c.name]
	}
	if shown, _ := m["display_name"].(string); c.name == "name" && shown != "" {
		return shown
	}
	if shown, _ := m[c.better].(string); shown != "" {
		return shown
	}
	if kind, _ := m["type"].(string); c.name == "balance_today" && owed[kind] {
		return negative(m[c.name])
	}
	if c.name == actor {
		name, _ := m["actor_name"].(string)
		kind, _ := m["actor_type"].(string)
		if name == "" || kind == "" {
			return name + kind
		}
		return name + " (" + kind + ")"
	}
	if after, ok := m["after"]; ok && c.name == "before" {
		return change{m[c.name], after}
	}
	return m[c.name]
}

// negative returns an amount with the other sign: a list shows a debt as a negative balance.
func negative(v any) any {
	n, ok := v.(json.Number)
	if !ok || strings.Trim(n.String(), "-0.") == "" {
		return v
	}
	if less, ok := strings.CutPrefix(n.String(), "-"); ok {
		return json.Number(less)
	}
	return json.Number("-" + n.String())
}

// columns returns the columns that have a value in any row. A screen is narrow, and an empty column
// would push out others. A map gets one column for each of its keys.
func (s *Screen) columns(schema *op.Schema, list []any) []column {
	var out []column
	props := shown(schema)
	words := better(schema.Props, list)
	acted := schema.Prop("actor_type") != nil && (schema.Prop("cause") != nil || schema.Prop("action") != nil)
	for _, p := range props {
		if acted && p.Name == "actor_type" {
			continue // shown next to the name
		}
		if acted && p.Name == "actor_name" {
			out = append(out, column{name: actor, further: true})
			continue
		}
		if p.Name == "after" && schema.Prop("before") != nil {
			continue // shown next to the value before
		}
		if instead, ok := strings.CutPrefix(p.Screen, screenInstead); ok && words[instead] != "" {
			continue // shown in the column of the field that it replaces
		}
		if p.Type != "object" || brief(p) {
			out = append(out, column{
				name: p.Name, further: rank(p) >= further, all: p.Screen == screenAll, brief: p.Screen,
				better: words[p.Name],
			})
			continue
		}
		if p.Prop("balance") != nil { // a balance of another day
			out = append(out, column{name: "balance", in: p.Name}, column{name: "date", in: p.Name})
			continue
		}
		if p.Values == nil { // sums of another period
			out = append(out, column{name: "net", in: p.Name})
			continue
		}
		keys := map[string]bool{}
		for _, item := range list {
			m, _ := item.(map[string]any)
			inner, _ := m[p.Name].(map[string]any)
			for k := range inner {
				if p.Name != "ids" || !strings.HasSuffix(k, "category") { // the slug names it as well
					keys[k] = true
				}
			}
		}
		for _, k := range slices.Concat(s.Order, sortedKeys(keys)) {
			if keys[k] {
				out = append(out, column{name: k, in: p.Name})
				delete(keys, k)
			}
		}
	}
	out = s.changes(out)
	out = slices.DeleteFunc(out, func(c column) bool {
		return !some(list, func(m map[string]any) bool { return s.cellText(c, m) != "" })
	})
	for i, c := range out {
		out[i].number = !some(list, func(m map[string]any) bool {
			v := c.of(m)
			_, number := v.(json.Number)
			return !number && v != nil && (v != false || c.in == "") // false: the row has no such map
		})
	}
	return out
}

// changes moves the column with the newest change before the amounts, if the rows were selected by
// it, because it includes the amount and a date. Otherwise the column is dropped for lack of room.
func (s *Screen) changes(cols []column) []column {
	at := slices.IndexFunc(cols, func(c column) bool { return c.brief == screenNewest })
	if at < 0 {
		return cols
	}
	newest := cols[at]
	cols = slices.Delete(cols, at, at+1)
	if !s.Changed {
		return cols
	}
	later := map[string]bool{"next_date": true, "amount": true, "yearly_amount": true}
	place := func(c column) int {
		switch {
		case c.name == "short_id":
			return 0
		case later[c.name]:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(cols, func(a, b column) int { return cmp.Compare(place(a), place(b)) })
	return slices.Insert(cols, 1, newest)
}

// some reports whether a condition is true for any row, or any row below one.
func some(list []any, so func(map[string]any) bool) bool {
	return slices.ContainsFunc(list, func(item any) bool {
		m, _ := item.(map[string]any)
		children, _ := m["children"].([]any)
		return so(m) || some(children, so)
	})
}

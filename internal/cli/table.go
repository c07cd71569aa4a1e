package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/id"
	"coffer/internal/op"
)

// A Screen prints answers for a person: lists as rows, records as lines with their lists below.
type Screen struct {
	Out   io.Writer
	Width int
	Zone  *time.Location // of the household; nil for UTC
	Color bool
	Order []string // the keys of groups, in the order in which they were asked for

	incoming bool     // money in was printed, which the foot explains
	dropped  []string // columns that did not fit
	partial  bool     // a column was marked as not complete, which the foot explains
}

// Print prints an answer.
func (s *Screen) Print(schema *op.Schema, answer []byte) error {
	var v any
	d := json.NewDecoder(strings.NewReader(string(answer)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	if m, ok := v.(map[string]any); ok {
		if table, rows, ok := tableOf(m); ok {
			s.pivot(table, rows)
			return nil
		}
		if p := page(schema, m); p != nil {
			list, _ := m[p.Name].([]any)
			items := p.Items
			if p.Screen == screenSpread {
				items, list = spread(items, list)
			}
			s.rows(items, list, "")
			return nil
		}
		s.record(schema, m, "")
		return nil
	}
	if list, ok := v.([]any); ok && schema.Items.Type == "object" {
		s.rows(schema.Items, list, "")
		return nil
	}
	_, err := fmt.Fprintln(s.Out, string(answer))
	return err
}

// What a field of an answer says about how it is printed.
const (
	screenRows    = "rows"    // it is the answer; the rest is for programs
	screenRecords = "records" // its items are records with lists of their own
	screenSpread  = "spread"  // it is the answer, and the lists of its items are the rows
	screenUnroll  = "unroll"  // the lists of its items are its rows
	screenNone    = "none"    // it is for programs
	screenAll     = "all"     // a list that means everything if it is empty
)

// page returns the list of an answer that is a page: its only content besides the cursor, or what
// its schema says is the answer.
func page(s *op.Schema, m map[string]any) *op.Prop {
	var found *op.Prop
	_, paged := m["has_more"]
	_, numbered := m["total_pages"]
	for i, p := range s.Props {
		if _, ok := m[p.Name]; !ok {
			continue
		}
		if p.Screen == screenRows || p.Screen == screenSpread {
			return &s.Props[i]
		}
		if p.Type == "array" && p.Items.Type == "object" && found == nil {
			found = &s.Props[i]
		} else if !paged && !numbered {
			return nil
		}
	}
	return found
}

// record prints a line for each field. What has fields of its own follows, indented below its name;
// text of several lines last.
func (s *Screen) record(schema *op.Schema, m map[string]any, indent string) {
	var lines, blocks, texts []op.Prop
	longest := 0
	_, short := m["short_id"]
	for _, p := range fields(schema, m) {
		v := m[p.Name]
		switch text, isText := v.(string); {
		case v == nil, p.Screen == screenNone, p.Name == "id" && short,
			p.Name == "iso_currency_code" && hasMoney(schema, m):
		case isText && strings.Contains(strings.TrimSpace(text), "\n"):
			texts = append(texts, p)
		case structured(v):
			blocks = append(blocks, p)
		default:
			lines = append(lines, p)
			longest = max(longest, utf8.RuneCountInString(label(p.Name)))
		}
	}
	for _, p := range lines {
		v := s.cell(column{name: p.Name, all: p.Screen == screenAll}, m[p.Name], true)
		if p.Name == "amount" && strings.HasPrefix(v, "+") {
			v += " (money in)"
		}
		if c, ok := m["iso_currency_code"].(string); ok && p.Format == "decimal" {
			v += " " + c
		}
		fmt.Fprintln(s.Out, strings.TrimRight(fmt.Sprintf("%s%-*s  %s", indent, longest, label(p.Name), v), " "))
	}
	for i, p := range blocks {
		s.block(p, m[p.Name], indent, len(lines) > 0 || i > 0)
	}
	for _, p := range texts {
		fmt.Fprintf(s.Out, "\n%s%s\n\n", indent, label(p.Name))
		text, _ := m[p.Name].(string)
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			fmt.Fprintln(s.Out, strings.TrimRight(indent+clean(line), " "))
		}
	}
}

// block prints what has fields of its own.
func (s *Screen) block(p op.Prop, v any, indent string, below bool) {
	if list, ok := v.([]any); ok && p.Screen == screenRecords {
		for i, item := range list {
			if below || i > 0 {
				fmt.Fprintln(s.Out)
			}
			m, _ := item.(map[string]any)
			s.record(p.Items, m, indent)
		}
		return
	}
	fmt.Fprintf(s.Out, "\n%s%s\n", indent, label(p.Name))
	switch v := v.(type) {
	case map[string]any:
		s.record(p.Schema, v, indent+"  ")
	case []any:
		if p.Name == "notes" {
			for _, line := range s.notes(v, indent+"  ") {
				fmt.Fprintln(s.Out, line)
			}
			return
		}
		items := p.Items
		if p.Screen == screenUnroll {
			items, v = spread(items, v)
		}
		s.inner(items, v, indent+"  ")
	}
}

// notes are sentences for a person, each with what to call to see more, in lines that fit.
func (s *Screen) notes(list []any, indent string) []string {
	var out []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		text, _ := m["message"].(string)
		if see, ok := m["see"].(string); ok {
			text += ": " + see
		}
		line := indent
		for word := range strings.FieldsSeq(clean(text)) {
			if line != indent && utf8.RuneCountInString(line+" "+word) > s.Width {
				out, line = append(out, line), indent
			}
			if line != indent {
				line += " "
			}
			line += word
		}
		out = append(out, line)
	}
	return out
}

// hasMoney reports whether a record shows an amount, which its currency then stands beside.
func hasMoney(s *op.Schema, m map[string]any) bool {
	return slices.ContainsFunc(fields(s, m), func(p op.Prop) bool { return p.Format == "decimal" && m[p.Name] != nil })
}

// most is how many rows of a list inside a record a person is shown.
const most = 25

// inner prints a list inside a record.
func (s *Screen) inner(items *op.Schema, list []any, indent string) {
	if first, ok := list[0].(map[string]any); ok && (items == nil || len(items.Props) == 0) {
		items = &op.Schema{Type: "object", Props: fields(nil, first)}
	}
	s.rows(items, list[:min(len(list), most)], indent)
	if len(list) > most {
		fmt.Fprintf(s.Out, "%sand %d more; --json shows them all\n", indent, len(list)-most)
	}
}

// label is a field's name for a person.
func label(field string) string {
	switch field {
	case "short_id":
		return "id"
	case "iso_currency_code":
		return "currency"
	case "detail":
		return "purpose"
	}
	return strings.ReplaceAll(field, "_", " ")
}

// structured reports whether a value needs lines of its own: an object, or a list of them. A flat
// object of a few values is one line.
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

// fields are what an object has, in the order of its schema; by name where the schema leaves it
// open.
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
		out = append(out, op.Prop{Name: name, Schema: guessed(m[name])})
	}
	return out
}

// guessed returns the schema of a value that no schema describes.
func guessed(v any) *op.Schema {
	if n, ok := v.(json.Number); ok && strings.Contains(n.String(), ".") {
		return &op.Schema{Type: "number", Format: "decimal"}
	}
	if t, ok := v.(string); ok {
		if _, err := time.Parse(time.DateOnly, t); err == nil {
			return &op.Schema{Type: "string", Format: "date"}
		}
		if _, err := id.Parse(t); err == nil {
			return &op.Schema{Type: "string", Format: "uuid"}
		}
	}
	return &op.Schema{}
}

// bookkeeping is what a record shows and a list does not.
var bookkeeping = map[string]bool{
	"updated_at": true, "official_name": true, "institution_id": true, "raw_payload_hash": true,
	"authorized_date": true, "datetime": true, "prompt": true, "prompt_blocks": true, "definition_hash": true,
	"workflow_name": true, "expected_amount": true,
}

// usual are the columns whose usual value is yes. A person looks for a no in them, so it is
// printed, and the column stays if all rows say no. In other columns a no is left blank.
var usual = map[string]bool{"enabled": true, "has_login": true, "shared": true, "certain": true, "retryable": true}

// further is the rank from which on a field is shown only where there is room.
const further = 9

// rank is where a field stands in a row: what identifies it, when, how much money, what it is
// called, the rest, and when it was noted.
func rank(p op.Prop) int {
	switch {
	case p.Name == "short_id", p.Name == "transaction_id":
		return 0
	case p.Type == "object" && (p.Prop("net") != nil || p.Prop("balance") != nil):
		return 3
	case p.Type == "object":
		return 1
	case p.Name == "first_date", p.Name == "last_date", p.Name == "balance_available", p.Name == "balance_limit":
		return further
	case p.Name == "balance_source", p.Name == "balance_date": // who stated the balance, and of which day
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
	case p.Name == "category":
		return 6
	case p.Name == "detail", p.Name == "tags":
		return 7
	case p.Name == "account_name", p.Name == "confidence", p.Name == "status", p.Name == "state", p.Name == "enabled",
		p.Name == "trigger", p.Name == "dry_run":
		return 8
	case p.Format == "date-time":
		return 10
	case p.Name == "merchant_name", p.Name == "category_display_name": // mostly what another column says
		return 11
	}
	return further
}

// shown are the columns worth a person's screen: no long ids where there are short ones, no
// bookkeeping.
func shown(s *op.Schema) []op.Prop {
	var cols []op.Prop
	named := s.Prop("name") != nil
	for _, p := range s.Props {
		if p.Name == "transaction_id" && s.Prop("short_id") == nil { // what the row is about
			cols = append(cols, p)
			continue
		}
		flat := p.Type != "object" || p.Prop("net") != nil || p.Prop("balance") != nil ||
			p.Values != nil && p.Values.Type != "" && p.Values.Type != "object"
		// left out: what another column says, and what says nothing to a person
		told := p.Name == "display_name" && named || p.Name == "balance_current" && s.Prop("balance_today") != nil ||
			p.Name == "children" || p.Format == "uuid" || bookkeeping[p.Name] || strings.HasPrefix(p.Name, "parent_")
		if flat && !told && (p.Type != "array" || p.Items.Type != "object") {
			cols = append(cols, p)
		}
	}
	slices.SortStableFunc(cols, func(a, b op.Prop) int { return cmp.Compare(rank(a), rank(b)) })
	return cols
}

func (s *Screen) rows(schema *op.Schema, list []any, indent string) {
	schema, list = unfold(schema, list)
	cols := s.columns(schema, list)
	g := grid{cols: cols}
	for _, c := range cols {
		g.head = append(g.head, heading(c))
	}
	var add func(list []any, indent string)
	add = func(list []any, indent string) {
		for _, item := range list {
			m, _ := item.(map[string]any)
			row := make([]string, len(cols))
			for i, c := range cols {
				row[i] = s.said(c, m)
			}
			if len(row) > 1 && !cols[1].number {
				row[1] = indent + row[1]
			}
			g.rows = append(g.rows, row)
			if children, ok := m["children"].([]any); ok {
				add(children, indent+"  ")
			}
		}
	}
	add(list, "")
	s.dropped = g.print(s.Out, s.Width-len(indent), indent, s.Color)
}

// said is what a row says in a column: "" for nothing, and for a no that is usual.
func (s *Screen) said(c column, m map[string]any) string {
	v := c.of(m)
	if v == false && (c.in != "" || !usual[c.name]) {
		return ""
	}
	return s.cell(c, v, false)
}

func heading(c column) string {
	switch c.name {
	case "net", "balance":
		return strings.ToUpper(cmp.Or(c.in, c.name))
	case "date":
		if c.in != "" {
			return "ON"
		}
	case "short_id":
		return "ID"
	case "balance_today":
		return "BALANCE"
	case "transaction_id":
		return "TRANSACTION"
	case "iso_currency_code": // three letters below seventeen
		return "CUR"
	case "before":
		return "BEFORE → AFTER"
	}
	name := strings.TrimSuffix(strings.TrimPrefix(c.name, "balance_"), "_name")
	return strings.ToUpper(label(cmp.Or(name, c.name)))
}

// A column is a field of the rows, or what a map in them has under one key.
type column struct {
	name, in string // in names the map, "" for a field of the row itself
	number   bool
	further  bool // it is shown only where the others have room enough
	all      bool // a list that means everything if it is empty
}

// change is what a row says before and after, as one value.
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
	if after, ok := m["after"]; ok && c.name == "before" {
		return change{m[c.name], after}
	}
	return m[c.name]
}

// columns are those with something in them: a screen is narrow, and what is empty everywhere would
// push out what is not. A map gives a column for each of its keys.
func (s *Screen) columns(schema *op.Schema, list []any) []column {
	var out []column
	props := shown(schema)
	for _, p := range props {
		if p.Name == "after" && schema.Prop("before") != nil {
			continue // it stands beside what was before
		}
		if p.Type != "object" {
			out = append(out, column{name: p.Name, further: rank(p) >= further, all: p.Screen == screenAll})
			continue
		}
		if p.Prop("balance") != nil { // of another day
			out = append(out, column{name: "balance", in: p.Name}, column{name: "date", in: p.Name})
			continue
		}
		if p.Values == nil { // sums of another time
			out = append(out, column{name: "net", in: p.Name})
			continue
		}
		keys := map[string]bool{}
		for _, item := range list {
			m, _ := item.(map[string]any)
			inner, _ := m[p.Name].(map[string]any)
			for k := range inner {
				if p.Name != "ids" || !strings.HasSuffix(k, "category") { // a slug names it as well
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
	out = slices.DeleteFunc(out, func(c column) bool {
		return !some(list, func(m map[string]any) bool { return s.said(c, m) != "" })
	})
	for i, c := range out {
		out[i].number = !some(list, func(m map[string]any) bool {
			_, number := c.of(m).(json.Number)
			return !number && c.of(m) != nil
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

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

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// A Screen prints responses for a person: lists as rows, records as lines with their lists below.
type Screen struct {
	Out   io.Writer
	Width int
	Zone  *time.Location // of the household; nil for UTC
	Color bool
	// Locale is the locale for numbers, such as de_DE.UTF-8; "" is plain.
	Locale string
	Order  []string // the keys of groups, in the requested order

	// Changed means that the rows were selected because they changed. The change is then shown
	// first.
	Changed bool

	numbers  *figures // number format of the locale, once needed
	incoming bool     // money in was printed; the foot explains the plus sign
	dropped  []string // columns that did not fit
	partial  bool     // a column was marked as incomplete; the foot explains the mark
}

// Print prints a response.
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

// Values of a field's screen tag, which set how it is printed.
const (
	screenRows    = "rows"     // the field is the whole output; the other fields are for programs
	screenRecords = "records"  // the field's items are records with lists of their own
	screenSpread  = "spread"   // the field is the whole output, and the lists in its items are the rows
	screenUnroll  = "unroll"   // the lists in the field's items are its rows
	screenNone    = "none"     // only for programs
	screenAll     = "all"      // a list that means everything if it is empty
	screenNewest  = "newest"   // a row summarizes the first item of this list
	screenTree    = "tree"     // a row summarizes this object
	screenTotals  = "totals"   // a row shows the total of each item of this list, by currency
	screenInstead = "instead " // with the name of a field: a row shows this one in its column
	screenPick    = "category" // a row shows the category of this object
)

// page returns the list of a response that is a page: its only list besides the cursor, or the
// field that its schema marks as the output.
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

// record prints one line per field. Objects and lists follow, indented below their names; texts of
// several lines come last.
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
			fmt.Fprintln(s.Out, strings.TrimRight(indent+Clean(line), " "))
		}
	}
}

// block prints an object or a list of objects.
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

// notes formats notes as sentences, each with the call that shows more, wrapped to the screen's
// width.
func (s *Screen) notes(list []any, indent string) []string {
	var out []string
	for _, item := range list {
		m, _ := item.(map[string]any)
		text, _ := m["message"].(string)
		if see, ok := m["see"].(string); ok {
			text += ": " + see
		}
		line := indent
		for word := range strings.FieldsSeq(Clean(text)) {
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

// hasMoney reports whether a record shows an amount. Its currency is then printed beside the
// amount.
func hasMoney(s *op.Schema, m map[string]any) bool {
	return slices.ContainsFunc(fields(s, m), func(p op.Prop) bool { return p.Format == "decimal" && m[p.Name] != nil })
}

// maxInnerRows is the maximum number of rows that are printed of a list inside a record.
const maxInnerRows = 25

// inner prints a list inside a record.
func (s *Screen) inner(items *op.Schema, list []any, indent string) {
	if first, ok := list[0].(map[string]any); ok && (items == nil || len(items.Props) == 0) {
		items = &op.Schema{Type: "object", Props: fields(nil, first)}
	}
	s.rows(items, list[:min(len(list), maxInnerRows)], indent)
	if len(list) > maxInnerRows {
		fmt.Fprintf(s.Out, "%sand %d more (use --json)\n", indent, len(list)-maxInnerRows)
	}
}

// label returns a field's name for a person.
func label(field string) string {
	switch field {
	case "short_id":
		return "id"
	case "iso_currency_code":
		return "currency"
	case "detail":
		return "memo"
	}
	return strings.ReplaceAll(field, "_", " ")
}

// structured reports whether a value needs several lines: an object, or a list of objects. A flat
// object with a few values is one line.
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

// fields returns an object's fields in the order of its schema, or sorted by name if the schema is
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

// guessed returns a schema for a value that no schema describes.
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
				row[i] = s.cellText(c, m)
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

// cellText returns a row's text in a column: "" for no value, and for a no that need not be shown.
func (s *Screen) cellText(c column, m map[string]any) string {
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
	case "iso_currency_code": // three letters do not need a heading of seventeen
		return "CUR"
	case "before":
		return "BEFORE → AFTER"
	case "cause":
		return "SOURCE"
	case "entries":
		return "FIELDS"
	case "pace":
		return "PACE %"
	case "payee":
		if c.in == "" {
			return "PAYEE KEY"
		}
	case "stated_from":
		return "START BALANCE"
	case "stated_to":
		return "END BALANCE"
	case "moved":
		return "AMOUNT"
	case "price_changes":
		return "NEW PRICE"
	}
	name := strings.TrimSuffix(strings.TrimPrefix(c.name, "balance_"), "_name")
	return strings.ToUpper(label(cmp.Or(name, c.name)))
}

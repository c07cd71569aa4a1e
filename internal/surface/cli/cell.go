package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"coffer/internal/platform/id"
)

// paid lists the columns that hold payments, which are positive for money out.
var paid = map[string]bool{"amount": true, "yearly_amount": true, "usual": true, "moved": true}

// cell formats a value for the screen. The API's amounts are positive for money out; on the screen
// money in has a plus sign.
func (s *Screen) cell(c column, v any, whole bool) string {
	switch c.brief {
	case screenNewest:
		return s.newest(v)
	case screenTree:
		return s.tree(v, false)
	case screenTotals:
		return s.totals(v)
	case screenPick:
		m, _ := v.(map[string]any)
		return s.cell(column{}, m["category"], whole)
	}
	switch v := v.(type) {
	case change:
		before, after := s.cell(column{}, v.before, false), s.cell(column{}, v.after, false)
		if before == after {
			return after
		}
		return cmp.Or(before, "–") + " → " + cmp.Or(after, "–")
	case nil:
		if c.in != "" {
			return "(none)"
		}
		return ""
	case string:
		return s.text(v, whole)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case json.Number:
		if in, ok := strings.CutPrefix(v.String(), "-"); ok && paid[c.name] {
			s.incoming = true
			return "+" + s.figures().write(in)
		}
		return s.figures().write(v.String())
	case []any:
		if len(v) == 0 && c.all {
			return "all"
		}
		if len(v) == 0 && whole {
			return "none"
		}
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = s.cell(column{}, item, whole)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, k := range sortedKeys(v) {
			if _, short := v["short_id"]; k == "qr" || k == "id" && short { // an image; the short id says it
				continue
			}
			if text := s.cell(column{name: k}, v[k], whole); v[k] != false && text != "" {
				parts = append(parts, label(k)+": "+text)
			}
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

// totals formats the totals of a list of sums: 12.50 EUR, +3.00 USD.
func (s *Screen) totals(v any) string {
	list, _ := v.([]any)
	parts := make([]string, len(list))
	for i, item := range list {
		m, _ := item.(map[string]any)
		parts[i] = s.cell(column{name: "amount"}, m["total"], false) + " " +
			s.cell(column{}, m["iso_currency_code"], false)
	}
	return strings.Join(parts, ", ")
}

// newest formats the first item of a list of changes: both values and the date.
func (s *Screen) newest(v any) string {
	list, _ := v.([]any)
	if len(list) == 0 {
		return ""
	}
	m, _ := list[0].(map[string]any)
	price := column{name: "amount"}
	return s.cell(price, m["before"], false) + " → " + s.cell(price, m["after"], false) + " on " +
		s.cell(column{}, m["date"], false)
}

// tree formats a condition in a few words: name contains rewe and amount gt 10.
func (s *Screen) tree(v any, inside bool) string {
	m, _ := v.(map[string]any)
	if name, ok := m["field"].(string); ok {
		return strings.TrimRight(name+" "+s.cell(column{}, m["op"], false)+" "+s.cell(column{}, m["value"], false), " ")
	}
	for _, word := range []string{"and", "or"} {
		list, ok := m[word].([]any)
		if !ok {
			continue
		}
		parts := make([]string, len(list))
		for i, item := range list {
			parts[i] = s.tree(item, true)
		}
		text := strings.Join(parts, " "+word+" ")
		if inside && len(parts) > 1 {
			return "(" + text + ")"
		}
		return text
	}
	if not, ok := m["not"]; ok {
		return "not " + s.tree(not, true)
	}
	if v != nil && len(m) == 0 {
		return "everything"
	}
	return ""
}

// text formats a string for the screen: times in the household's time zone, UUIDs as short ids.
func (s *Screen) text(v string, whole bool) string {
	if len(v) >= 20 && v[10] == 'T' && strings.HasSuffix(v, "Z") {
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			at = at.In(cmp.Or(s.Zone, time.UTC))
			if whole {
				return at.Format("2006-01-02 15:04:05 MST")
			}
			return at.Format("2006-01-02 15:04")
		}
	}
	if len(v) == 36 {
		return shortID(v)
	}
	return Clean(v)
}

// shortID returns the short form of a UUID; any other value stays.
func shortID(v any) string {
	t, _ := v.(string)
	if u, err := id.Parse(t); err == nil {
		return u.Short()
	}
	return Clean(t)
}

// Clean removes characters that could control a terminal. Stored text never contains them, but a
// second check costs nothing.
func Clean(v string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, v)
}

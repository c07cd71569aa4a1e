package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// A toolPage is one page of a tool's result.
type toolPage struct {
	Transactions, Rules, Annotations []struct{ ID string }
	NextCursor                       string `json:"next_cursor"`
	HasMore                          bool   `json:"has_more"`
	Notes                            []op.Note
}

func (p toolPage) ids() (out []string) {
	for _, list := range [][]struct{ ID string }{p.Transactions, p.Rules, p.Annotations} {
		for _, r := range list {
			out = append(out, r.ID)
		}
	}
	return out
}

// reach calls a tool until there are no more pages. It returns the ids of all rows, the number of
// pages, and the first page.
func (b *formBook) reach(t *testing.T, tool string, args map[string]any) (rows map[string]bool, pages int,
	first toolPage,
) {
	t.Helper()
	rows = map[string]bool{}
	for {
		a := b.tool(t, b.toolNamed(t, tool), args)
		var p toolPage
		if err := json.Unmarshal([]byte(a.block), &p); err != nil || a.fault.Code != "" {
			t.Fatalf("%s: %v %s %s", tool, err, a.body, b.log.String()[max(0, len(b.log.String())-9000):])
		}
		if pages++; pages == 1 {
			first = p
		}
		for _, u := range p.ids() {
			if rows[u] {
				t.Errorf("%s: row %s was returned twice", tool, u)
			}
			rows[u] = true
		}
		_, sorted := args["sort_by"]
		_, limited := args["limit"]
		// With both sort_by and limit, the caller asked for the first rows only, so there is no
		// next page.
		if p.HasMore != (p.NextCursor != "") && len(p.Notes) == 0 && (!sorted || !limited) {
			t.Errorf("%s %v: has_more is %t, next_cursor is %q, and there is no note", tool, args, p.HasMore,
				p.NextCursor)
		}
		if p.NextCursor == "" {
			return rows, pages, first
		}
		args["cursor"] = p.NextCursor
	}
}

func (b *formBook) toolNamed(t *testing.T, tool string) *op.Op {
	t.Helper()
	for _, o := range b.ops {
		if o.Tool == tool {
			return o
		}
	}
	t.Fatalf("there is no tool %s", tool)
	return nil
}

// A tool never drops rows silently. A page that ends early has a cursor. With sort_by there are no
// pages: the tool returns as many rows as the limit asks for, and a note says if it left any out.
func TestToolsCutNothingOutOfReach(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 300)
	if _, err := b.DB.Exec(t.Context(), `update descriptor set name = repeat('long ', 300)`); err != nil {
		t.Fatal(err)
	}
	b.rulesOf(t, 200, strings.Repeat("x", 400))
	whole := json.Number("500")
	for _, c := range []struct {
		tool        string
		args        map[string]any
		rows, pages int // rows is a minimum; 0 pages means at least two
		note        bool
	}{
		{"query_transactions", map[string]any{"limit": whole, "fields": "all"}, 300, 0, false},
		{"query_transactions", map[string]any{"limit": whole, "fields": "all", "sort_by": "amount"}, 300, 1, false},
		{"query_transactions", map[string]any{"fields": "all", "sort_by": "name"}, -1, 1, true},
		{
			"query_transactions",
			map[string]any{"fields": "minimal", "sort_by": "created_at", "limit": json.Number("5")},
			5, 1, false,
		},
		{"query_transaction_rules", map[string]any{"limit": whole, "fields": "all"}, 201, 0, false},
		{"query_transaction_rules", map[string]any{"limit": whole, "fields": "all", "sort_by": "name"}, 201, 1, false},
		{"list_transaction_rules", map[string]any{"limit": whole}, 201, 0, false},
		{"list_annotations", map[string]any{"transaction_id": b.wordy(t, 12), "limit": whole}, 12, 0, false},
	} {
		name := fmt.Sprint(c.tool, c.args)
		rows, pages, first := b.reach(t, c.tool, c.args)
		if len(rows) < c.rows || c.pages == 0 && pages < 2 || c.pages > 0 && pages != c.pages {
			t.Errorf("%s: %d rows on %d pages, want %d on %d", name, len(rows), pages, c.rows, c.pages)
		}
		if c.note != (len(first.Notes) == 1 && first.Notes[0].Code == "truncated") || c.note && !first.HasMore {
			t.Errorf("%s: has_more %t, notes %v", name, first.HasMore, first.Notes)
		}
	}
}

// rulesOf creates n rules that have words in their conditions.
func (b *formBook) rulesOf(t *testing.T, n int, words string) {
	t.Helper()
	for made := 0; made < n; made += 100 {
		var rules []any
		for i := range 100 {
			rules = append(rules, map[string]any{
				"name": fmt.Sprintf("Rule %03d", made+i), "category_slug": "home",
				"conditions": map[string]any{"field": "name", "op": "eq", "value": fmt.Sprint(words, made+i)},
			})
		}
		b.do(t, "rule.create", map[string]any{"rules": rules})
	}
}

// wordy adds n long comments to a transaction and returns its id.
func (b *formBook) wordy(t *testing.T, n int) string {
	t.Helper()
	subject := b.rows[0].String()
	for range n {
		b.do(t, "comment.create", map[string]any{"transaction_id": subject, "content": strings.Repeat("word ", 1900)})
	}
	return subject
}

package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"coffer/internal/platform/op"
)

// TestResultsOfTools calls every reading tool with its defaults, on books with long texts and long
// lists. The result fits into a model's context. It states what it leaves out, and first names the
// fields that contain text from strangers.
func TestResultsOfTools(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 400)
	for _, sql := range []string{
		`update descriptor set name = repeat('long & wide ', 20) || id, detail = repeat('purpose ', 60)`,
		`insert into counterparty (id, short_id, name) select gen_random_uuid(), 'zz' || lpad(n::text, 6, '0'),
			'Shop number ' || n from generate_series(1, 900) n`,
	} {
		if _, err := b.DB.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	b.rulesOf(t, 200, strings.Repeat("x", 400))
	row := b.wordy(t, 12)
	for i := range 20 {
		b.do(t, "report.create", map[string]any{"title": fmt.Sprint("Report ", i), "body": strings.Repeat("word ", 9_000)})
	}
	bodies := b.callTool(t, b.toolNamed(t, "list_reports"), map[string]any{"bodies": true})
	if n := strings.Count(bodies.block, `"title":"Report `); n != 20 || len(bodies.block) > op.ToolBytes ||
		!strings.Contains(bodies.block, "pass an id") {
		t.Errorf("%d reports with their bodies, in %d bytes", n, len(bodies.block))
	}
	one := b.do(t, "counterparty.create", map[string]any{"name": "Corner Bakery"})["id"]
	args := map[string]map[string]any{
		"get_job": nil, "get_sync_status": nil, // syncs create these records; other tests cover them
		"get_transaction": {"transaction_id": row}, "explain_transaction": {"transaction_id": row},
		"list_annotations": {"transaction_id": row}, "find_matching_rules": {"transaction_id": row},
		"suggest_rule": {"transaction_id": row}, "get_counterparty": {"id": one},
		"preview_rule": {"conditions": map[string]any{}}, "get_reference": {"kind": "rule-dsl"},
		"get_finances": {"view": "net_worth", "by": "account"}, "find_patterns": {"kind": "recurring"},
		"preview_statement": {"csv": "Date,Name,Amount\n" +
			strings.Repeat("2026-03-01,"+strings.Repeat("long & wide ", 20)+",-4.80\n", 1000) +
			strings.Repeat("2026-03-0O,Nothing,-4.80\n", 300)},
	}
	marked, cut := 0, 0
	for _, o := range b.ops {
		given, listed := args[o.Tool]
		if o.Tool == "" || o.Writes || listed && given == nil {
			continue
		}
		if given == nil {
			given = map[string]any{}
		}
		a := b.callTool(t, o, given)
		if a.fault.Code != "" {
			t.Errorf("%s: %v", o.Tool, a.fault)
			continue
		}
		if len(a.block) > op.ToolBytes && !o.Whole {
			t.Errorf("%s: %d bytes", o.Tool, len(a.block))
		}
		value, _ := a.value.(map[string]any)
		said, _ := value["untrusted"].(string)
		if wide := strings.Contains(a.block, "long & wide"); wide && said == "" ||
			strings.Contains(a.block, `\u0026`) {
			t.Errorf("%s: the mark is %q; %.200s", o.Tool, said, a.block)
		}
		if said != "" {
			marked++
			if a.block[0] == '{' && !strings.HasPrefix(a.block, `{"untrusted":`) {
				t.Errorf("%s: the mark is not the first key: %.100s", o.Tool, a.block)
			}
		}
		if notes, _ := json.Marshal(value["notes"]); strings.Contains(string(notes), "truncated") {
			cut++
		}
	}
	if marked < 10 || cut == 0 {
		t.Errorf("%d results name what strangers wrote, %d were cut; want 10 and some", marked, cut)
	}
}

// TestTables: a table has the same rows as objects, in about half the space.
func TestTables(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 60)
	list := b.toolNamed(t, "query_transactions")
	objects := b.callTool(t, list, map[string]any{"limit": json.Number("50"), "fields": "review"})
	table := b.callTool(t, list, map[string]any{"limit": json.Number("50"), "fields": "review", "format": "table"})
	var got struct {
		Columns    []string
		Rows       [][]any
		NextCursor string `json:"next_cursor"`
	}
	var want struct {
		Transactions []map[string]any
		NextCursor   string `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(table.block), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(objects.block), &want); err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) != len(want.Transactions) || len(got.Rows) != 50 || (got.NextCursor == "") != (want.NextCursor == "") {
		t.Fatalf("%d rows, %d objects", len(got.Rows), len(want.Transactions))
	}
	for i, row := range got.Rows {
		for at, column := range got.Columns {
			if fmt.Sprint(row[at]) != fmt.Sprint(want.Transactions[i][column]) {
				t.Fatalf("row %d, %s: %v, want %v", i, column, row[at], want.Transactions[i][column])
			}
		}
	}
	t.Logf("%d rows: %d bytes as objects, %d as a table", len(got.Rows), len(objects.block), len(table.block))
	if 10*len(table.block) > 7*len(objects.block) {
		t.Errorf("%d bytes as a table, %d as objects", len(table.block), len(objects.block))
	}
}

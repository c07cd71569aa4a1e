package app_test

import (
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestResultsOnLargeBooks: with many transactions, every reading tool, and every dry run that
// covers many records, gives a result that fits into a model's context. COFFER_TEST_ROWS sets the
// number of transactions; the default is a million.
func TestResultsOnLargeBooks(t *testing.T) {
	t.Parallel()
	if os.Getenv("COFFER_TEST_LONG") == "" {
		t.Skip("it fills a database with a million transactions; COFFER_TEST_LONG=1 runs it")
	}
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("COFFER_TEST_ROWS")); err == nil {
		rows = n
	}
	w := newToolWorld(t, nil)
	today := time.Now()
	made := household.New(household.Options{Seed: 5, Transactions: rows, Years: 10, End: today})
	from := time.Now()
	if err := w.Seed(t.Context(), made, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(t.Context(), `vacuum analyze`); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.InTx(t.Context(), func(tx pg.Tx) error { return w.Recurring.Sweep(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	w.work(t)
	waiting := w.queue(t, rows/10)
	t.Logf("%d transactions, %d of which wait for review, in %.0f s", rows, waiting, time.Since(from).Seconds())
	newest := func(sql string) string {
		s, err := pg.Value[string](t.Context(), w.DB, sql)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	session := w.connect(t, w.key, modernEra)
	row := newest(`select short_id from transaction where not pending order by date desc, id desc limit 1`)
	connection := newest(`select short_id from connection order by id limit 1`)
	shop := callTool(t, session, "assign_counterparty", map[string]any{"name": "Shop", "transaction_ids": []any{row}})
	callTool(t, session, "create_transaction_rule", map[string]any{"rules": []any{map[string]any{
		"name": "Card payments", "category_slug": "food_and_drink_groceries",
		"conditions": map[string]any{"field": "amount", "op": "gt", "value": 20},
	}}})
	one, _ := shop.StructuredContent.(map[string]any)["id"].(string)
	args := map[string][]map[string]any{
		"get_transaction": {{"transaction_id": row}}, "explain_transaction": {{"transaction_id": row}},
		"list_annotations": {{"transaction_id": row}}, "find_matching_rules": {{"transaction_id": row}},
		"suggest_rule": {{"transaction_id": row}}, "get_counterparty": {{"id": one}},
		"preview_rule": {{"conditions": map[string]any{}}}, "get_sync_status": {{"id": connection}},
		"apply_rules": {{"dry_run": true, "wait_seconds": 30}, {"dry_run": true, "rows": true, "wait_seconds": 30}},
		"update_transactions": {{
			"filter": map[string]any{"start_date": today.AddDate(0, 0, -3).Format("2006-01-02")},
			"set":    map[string]any{"category": "food_and_drink_groceries"}, "dry_run": true,
		}},
		"revert_change": {{"mine": true, "since": "2026-01-01", "dry_run": true}},
		"transaction_summary": {
			{},
			{"group_by": []string{"merchant", "month"}},
			// For ten years and a million transactions, this call would exceed its deadline.
			{"group_by": []string{"payee", "day"}, "limit": 200, "start_date": today.AddDate(-1, 0, 0).Format("2006-01-02")},
		},
	}
	for _, kind := range []string{"recurring", "price_change", "missed", "duplicate", "refund", "unusual"} {
		args["find_patterns"] = append(args["find_patterns"], map[string]any{"kind": kind})
	}
	for _, view := range []string{"balances", "net_worth", "cash_flow", "upcoming", "targets"} {
		args["get_finances"] = append(args["get_finances"], map[string]any{"view": view})
	}
	for _, kind := range []string{"rule-dsl", "instructions", "review-guidelines", "report-format", "categories"} {
		args["get_reference"] = append(args["get_reference"], map[string]any{"kind": kind})
	}
	called := 0
	for _, o := range w.Ops() {
		given := args[o.Tool]
		if o.Tool == "" || o.Writes && given == nil || o.Tool == "get_job" {
			continue
		}
		if given == nil {
			given = []map[string]any{{}}
		}
		for _, one := range given {
			from := time.Now()
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: o.Tool, Arguments: one})
			if err != nil {
				t.Fatalf("%s: %v", o.Tool, err)
			}
			called++
			block := blockOf(t, res)
			t.Logf("%-24s %6d bytes %6d ms", o.Tool, len(block), time.Since(from).Milliseconds())
			if res.IsError {
				t.Errorf("%s with %v: %.300s", o.Tool, one, block)
			}
			if len(block) > op.ToolBytes && !o.Whole {
				t.Errorf("%s with %v: %d bytes", o.Tool, one, len(block))
			}
		}
	}
	if called < 40 {
		t.Errorf("only %d calls", called)
	}
}

package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// An assistant does the jobs that households ask for, and counts what they cost. Four characters
// count as one token.
type assistant struct {
	t       *testing.T
	session *sdk.ClientSession
	calls   int
	bytes   int
}

// call returns a tool's result.
func (a *assistant) call(tool string, args map[string]any) (out map[string]any) {
	a.t.Helper()
	a.read(a.text(tool, args), &out)
	return out
}

// list returns the result of a tool that lists everything.
func (a *assistant) list(tool string) (out []any) {
	a.t.Helper()
	a.read(a.text(tool, nil), &out)
	return out
}

func (a *assistant) read(block string, into any) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(block), into); err != nil {
		a.t.Fatal(err)
	}
}

// text returns a tool's result as text.
func (a *assistant) text(tool string, args map[string]any) string {
	a.t.Helper()
	res := callTool(a.t, a.session, tool, args)
	block := blockOf(a.t, res)
	if res.IsError {
		a.t.Fatalf("%s: %s", tool, block)
	}
	a.calls++
	a.bytes += len(block)
	return block
}

// spent logs what a job cost, and fails the test if it cost more than the limits.
func (a *assistant) spent(job string, calls, tokens int) {
	a.t.Helper()
	a.t.Logf("%-32s %2d calls (at most %2d), %6d tokens (at most %6d)", job, a.calls, calls, a.bytes/4, tokens)
	if a.calls > calls || a.bytes/4 > tokens {
		a.t.Errorf("%s: %d calls and %d tokens, at most %d and %d", job, a.calls, a.bytes/4, calls, tokens)
	}
	a.calls, a.bytes = 0, 0
}

// TestEconomyOfJobs: the jobs that households ask for cost an assistant few calls and few tokens,
// with three years of transactions.
func TestEconomyOfJobs(t *testing.T) {
	t.Parallel()
	w := newToolWorld(t, nil)
	today := time.Now()
	if err := w.Seed(t.Context(), household.New(household.Options{Seed: 1, End: today}), io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.InTx(t.Context(), func(tx pg.Tx) error { return w.Recurring.Sweep(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	a := &assistant{t: t, session: w.connect(t, w.key, modernEra)}
	day := func(days int) string { return today.AddDate(0, 0, -days).Format("2006-01-02") }

	a.call("transaction_summary", map[string]any{
		"group_by": []string{"primary_category", "month"}, "pivot": true, "start_date": day(92), "end_date": day(0),
	})
	a.spent("three months compared", 3, 2_000)

	found := a.call("find_patterns", map[string]any{"kind": "recurring", "direction": "out", "limit": 25})
	if n := len(found["patterns"].([]any)); n < 8 {
		t.Errorf("%d recurring payments", n)
	}
	a.call("find_patterns", map[string]any{"kind": "price_change", "direction": "out", "limit": 5})
	a.spent("subscriptions and price changes", 2, 2_000)

	a.call("find_patterns", map[string]any{"kind": "duplicate"})
	a.call("find_patterns", map[string]any{"kind": "refund", "limit": 20})
	a.spent("duplicates and refunds", 2, 2_000)

	waiting := w.queue(t, 288)
	a.call("get_overview", nil)
	review := map[string]any{
		"tags": []string{"needs-review"}, "fields": "date,amount,name,category", "format": "table", "limit": 500,
	}
	var rows [][]any
	for {
		page := a.call("query_transactions", review)
		for _, row := range page["rows"].([]any) {
			rows = append(rows, row.([]any))
		}
		next, _ := page["next_cursor"].(string)
		if review["cursor"] = next; next == "" {
			break
		}
	}
	if len(rows) != waiting {
		t.Fatalf("%d rows of %d", len(rows), waiting)
	}
	for done := 0; done < len(rows); done += 50 {
		var ops []map[string]any
		for _, row := range rows[done:min(done+50, len(rows))] {
			ops = append(ops, map[string]any{
				"transaction_id": row[0], "category": "food_and_drink_groceries", "tags_to_remove": []string{"needs-review"},
			})
		}
		a.call("update_transactions", map[string]any{"operations": ops})
	}
	a.spent(fmt.Sprintf("a review of %d", waiting), 12, 15_000)
	if left := w.waiting(t); left != 0 {
		t.Errorf("%d still wait", left)
	}

	a.call("revert_change", map[string]any{"mine": true, "since": day(1)})
	a.spent("undo of the day", 1, 2_000)
	if left := w.waiting(t); left != waiting {
		t.Errorf("%d wait again, want %d", left, waiting)
	}
}

// queue puts the newest transactions into the review queue, as if a sync had brought them.
func (w *toolWorld) queue(t *testing.T, n int) int {
	t.Helper()
	if _, err := w.DB.Exec(t.Context(), `update transaction_tag x set present = false from tag g
		where g.id = x.tag_id and g.slug = 'needs-review'`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(t.Context(), `insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from tag g, lateral (select id from transaction where deleted_at is null and not pending
			order by date desc, id desc limit $1) t where g.slug = 'needs-review'
		on conflict (transaction_id, tag_id) do update set present = true`, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (w *toolWorld) waiting(t *testing.T) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), w.DB, `select count(*) from transaction_tag x join tag g on g.id = x.tag_id
		where g.slug = 'needs-review' and x.present`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package agents_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// A question is a tool call that a script always makes, whatever the results are.
type question struct {
	tool string
	args map[string]any
}

// asks returns a model that makes these calls, one after the other, and then ends.
func asks(list []question, then models.Script) models.Script {
	return func(r models.Request) models.Answer {
		if n := r.Turn(); n < len(list) {
			return models.Use(list[n].tool, list[n].args)
		}
		return then(r)
	}
}

func done(models.Request) models.Answer { return models.Say("Nothing changed.") }

// TestPresetsAskForPatterns: workflows that search for patterns let the server search, which costs
// less than reading rows. Reading rows is the control. The sentinel marks exactly the planted
// transactions.
func TestPresetsAskForPatterns(t *testing.T) {
	t.Parallel()
	h := &house{t: t, models: &modelServer{}, end: time.Now()}
	h.replace(models.Options{})
	h.build(6_000, func() {})
	if _, err := h.Workflows.FillPresets(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI),
		"prices": []any{map[string]any{"model": "sim", "input_usd": "0", "output_usd": "0"}},
	}, nil)
	h.must("agent.update", map[string]any{"default_provider": "openai_compatible", "default_model": "sim"}, nil)
	odd := h.plant(t)
	h.tag(100)
	if err := h.DB.InTx(t.Context(), func(tx pg.Tx) error { return h.Recurring.Sweep(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	day := func(days int) string { return h.end.AddDate(0, 0, -days).Format("2006-01-02") }
	first := time.Date(h.end.Year(), h.end.Month()-1, 1, 0, 0, 0, 0, time.UTC)
	month := map[string]any{
		"start_date": first.Format("2006-01-02"), "end_date": first.AddDate(0, 1, -1).Format("2006-01-02"),
		"compare": "previous_period",
	}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		for _, part := range []map[string]any{month, more} {
			maps.Copy(out, part)
		}
		return out
	}
	plain := func(more map[string]any) map[string]any {
		out := with(more)
		delete(out, "compare")
		return out
	}
	for _, c := range []struct {
		slug        string
		rows, finds []question // calls that read rows, and calls of the workflow's own tools
		then        models.Script
		most        int // the most bytes in all requests of a run
	}{
		{
			"subscription-watch",
			[]question{
				{"transaction_summary", map[string]any{
					"group_by": []string{"merchant", "month"}, "start_date": day(183), "limit": 200, "direction": "out",
				}},
				{"query_transactions", map[string]any{"start_date": day(62), "direction": "out", "limit": 100}},
			},
			[]question{
				{"find_patterns", map[string]any{"kind": "price_change", "direction": "out", "start_date": month["start_date"]}},
				{"find_patterns", map[string]any{"kind": "recurring", "direction": "out", "start_date": day(122)}},
				{"find_patterns", map[string]any{"kind": "missed", "direction": "out"}},
				{"find_patterns", map[string]any{"kind": "recurring", "direction": "out", "ended": true}},
			},
			done, 45_000,
		},
		{
			"large-charge-sentinel",
			[]question{
				{"query_transactions", map[string]any{
					"start_date": day(7), "direction": "out", "sort_by": "amount", "sort_order": "desc", "limit": 50,
				}},
				{"transaction_summary", map[string]any{"group_by": []string{"merchant"}, "start_date": day(365), "limit": 200}},
			},
			[]question{
				{"find_patterns", map[string]any{"kind": "unusual", "start_date": day(7)}},
				{"find_patterns", map[string]any{"kind": "duplicate", "start_date": day(7)}},
			},
			marks, 30_000,
		},
		{
			"monthly-close",
			[]question{
				{"list_accounts", map[string]any{}},
				{"query_transactions", plain(map[string]any{"tags": []string{"needs-review"}})},
				{"query_transactions", plain(map[string]any{"uncategorized": true})},
				{"transaction_summary", with(map[string]any{"group_by": []string{"category"}})},
			},
			[]question{
				{"get_overview", map[string]any{}},
				{"transaction_summary", plain(map[string]any{"uncategorized": true, "group_by": []string{"payee"}, "limit": 5})},
				{"find_patterns", map[string]any{"kind": "missed"}},
				{"find_patterns", map[string]any{"kind": "duplicate", "start_date": month["start_date"]}},
				{"transaction_summary", with(map[string]any{"group_by": []string{"category"}, "sort_by": "change", "limit": 8})},
			},
			done, 100_000,
		},
	} {
		before := h.cost(t, c.slug, true, asks(c.rows, done))
		after := h.cost(t, c.slug, false, asks(c.finds, c.then))
		t.Logf("%-22s reading rows: %6d bytes in results, %6d in all requests; asking for patterns: %6d and %6d",
			c.slug, before.results, before.requests, after.results, after.requests)
		if after.requests > c.most {
			t.Errorf("%s: its requests have %d bytes, at most %d are good", c.slug, after.requests, c.most)
		}
		if after.results >= before.results {
			t.Errorf("%s: asking for patterns costs as much as reading rows", c.slug)
		}
	}
	h.marked(t, odd)
}

// plant adds two charges that a person should know about: one of ten times the payee's usual
// amount, and a duplicate. It returns the charges that must be marked.
func (h *house) plant(t *testing.T) (odd []string) {
	t.Helper()
	type payee struct {
		Account  string `db:"account"`
		Name     string `db:"name"`
		Merchant string `db:"merchant"`
		Most     string `db:"most"`
	}
	usual, err := pg.One[payee](t.Context(), h.DB, `
		select a.short_id as account, min(d.name) as name, d.merchant_name as merchant, (10 * max(t.amount))::text as most
		from transaction t join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id
		where t.amount > 5 and not t.pending and d.merchant_name <> '' and t.date > current_date - 300
		group by 1, 3 having count(*) >= 20 and max(t.amount) < 400 order by count(*) desc, 3 limit 1`)
	if err != nil {
		t.Fatal(err)
	}
	enter := func(args map[string]any) string {
		var made struct {
			ID string `json:"id"`
		}
		h.must("transaction.create", args, &made)
		return made.ID
	}
	day := func(days int) string { return h.end.AddDate(0, 0, -days).Format("2006-01-02") }
	odd = append(odd, enter(map[string]any{
		"account_id": usual.Account, "date": day(2), "amount": json.Number(usual.Most), "name": usual.Name,
		"merchant_name": usual.Merchant,
	}))
	twice := map[string]any{
		"account_id": usual.Account, "date": day(3), "amount": json.Number("219.37"), "name": "VELO WERKSTATT NORD",
	}
	enter(twice)
	twice["date"] = day(2)
	return append(odd, enter(twice))
}

// marks returns a model that adds the tag question to the findings, as the sentinel's prompt asks.
func marks(r models.Request) models.Answer {
	a := models.Answer{}
	for _, m := range r.Messages {
		for _, result := range m.Results {
			var found struct {
				Patterns []struct {
					Reason       string   `json:"reason"`
					Transactions []string `json:"transaction_ids"`
				} `json:"patterns"`
			}
			if json.Unmarshal([]byte(result.Content), &found) != nil {
				continue
			}
			for _, p := range found.Patterns {
				a = a.Use("add_transaction_tag", map[string]any{"transaction_id": p.Transactions[0], "tag_slug": "question"})
			}
		}
	}
	if last := r.Messages[len(r.Messages)-2]; len(a.Calls) == 0 ||
		slices.ContainsFunc(last.Calls, func(c models.Call) bool { return c.Tool == "add_transaction_tag" }) {
		return models.Say("nothing found")
	}
	return a
}

// A cost is the size of what a run sent to its model.
type cost struct{ requests, results int }

// cost runs a preset with a script, or with tools that read rows instead.
func (h *house) cost(t *testing.T, slug string, rows bool, script models.Script) (c cost) {
	t.Helper()
	if rows {
		h.must("workflow.create", map[string]any{
			"slug": "rows-" + slug, "name": "Rows", "prompt": "Look.", "scope": "read_only", "report": "message",
			"tools": []any{"transaction_summary", "query_transactions", "list_accounts"},
		}, nil)
		slug = "rows-" + slug
	}
	h.sim.Play(script)
	before := len(h.sim.Requests())
	var run struct {
		Status string  `json:"status"`
		Error  *string `json:"error_message"`
	}
	h.play(slug, &run)
	requests := h.sim.Requests()[before:]
	if run.Status != "succeeded" || len(requests) == 0 {
		t.Fatalf("%s: %+v after %d requests", slug, run, len(requests))
	}
	for _, r := range requests {
		c.requests += len(r.Body)
	}
	for _, m := range requests[len(requests)-1].Messages {
		for _, result := range m.Results {
			c.results += len(result.Content)
			if strings.Contains(result.Content, `{"error":`) {
				t.Errorf("%s: %.300s", slug, result.Content)
			}
		}
	}
	return c
}

// marked compares the sentinel's plan with the planted transactions.
func (h *house) marked(t *testing.T, odd []string) {
	t.Helper()
	planned, err := pg.Values[string](t.Context(), h.DB, `select distinct t.id::text from workflow_plan p
		join workflow_run r on r.id = p.run_id join transaction t on t.id = p.subject_id
		where r.workflow_slug = 'large-charge-sentinel' and p.subject = 'transaction' and p.field = 'tag'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range odd {
		if !slices.Contains(planned, one) {
			t.Errorf("the charge %s is not marked; %v are", one, planned)
		}
	}
	t.Logf("the sentinel marks %d charges, %d of which were put there", len(planned), len(odd))
	if len(planned) > len(odd)+3 {
		t.Errorf("%d charges are marked, %d are odd", len(planned), len(odd))
	}
}

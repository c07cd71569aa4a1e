package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/agents/eval"
	"coffer/internal/agents/run"
	"coffer/internal/agents/workflow"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// blind is the control: evals that show the books as they are now.
type blind struct{ *eval.Evals }

func (b blind) Windows(labels []eval.Label, windows int) []eval.Window {
	out := b.Evals.Windows(labels, windows)
	for i := range out {
		out[i].AsOf = pg.At(time.Now().Add(time.Hour))
	}
	return out
}

func (b blind) Items(ctx context.Context, q pg.Querier, labels []eval.Label, _ []string) ([]eval.EvaluationItem,
	error,
) {
	var out []eval.EvaluationItem
	for _, l := range labels {
		slug, err := pg.Value[string](ctx, q, `select slug from category where id = $1`, l.CategoryID)
		if err != nil {
			return nil, err
		}
		out = append(out, eval.EvaluationItem{
			TransactionID: l.TransactionID, Kind: l.Kind, Label: slug, Currency: "EUR",
		})
	}
	return out, nil
}

// cheat returns a model that has every tool and looks for people's decisions: it searches for each
// row by day and amount, and uses whatever else the tools show. It is sure of categories that a
// person set.
func cheat(t *testing.T, used map[string]bool) models.Script {
	t.Helper()
	return func(r models.Request) models.Answer {
		s, ok := r.Sheet()
		if !ok {
			return models.Say("There is no sheet.")
		}
		if r.Turn() == 0 {
			return looks(t, r, s, used)
		}
		held := map[string]string{}
		for _, x := range r.Results() {
			var page struct {
				Transactions []struct {
					Date     string          `json:"date"`
					Amount   json.RawMessage `json:"amount"`
					Name     string          `json:"name"`
					Account  string          `json:"account_name"`
					Category *string         `json:"category"`
					Source   *string         `json:"category_source"`
				} `json:"transactions"`
			}
			if json.Unmarshal([]byte(x.Content), &page) != nil {
				continue
			}
			for _, f := range page.Transactions {
				if f.Source != nil && *f.Source == "user" && f.Category != nil {
					held[rowKey(f.Date, string(f.Amount), f.Name, f.Account)] = *f.Category
				}
			}
		}
		return decides(func(_ models.Sheet, row models.Row) string {
			return held[rowKey(row.Date, string(row.Amount), row.Name, row.Account)]
		})(r)
	}
}

// looks calls every tool that the model has.
func looks(t *testing.T, r models.Request, s models.Sheet, used map[string]bool) models.Answer {
	t.Helper()
	args := map[string][]map[string]any{
		"get_reference": {{"kind": "categories"}, {"kind": "tags"}},
		"preview_rule":  {{"conditions": map[string]any{}}},
		"query_transactions": {
			{"held": true, "limit": 50}, {"has_comments": true}, {"search": "canary"}, {"category_source": "user", "limit": 50},
		},
		"transaction_summary": {{"group_by": "category"}, {"group_by": "tag"}},
		"find_matching_rules": {{"merchant": s.Rows[0].Name}},
	}
	for _, row := range s.Rows {
		args["query_transactions"] = append(args["query_transactions"], map[string]any{
			"start_date": row.Date, "end_date": row.Date, "min_amount": row.Amount, "max_amount": row.Amount,
			"fields": "date,amount,name,account_name,category,category_source",
		})
	}
	// These tools take an id, which the model must know first.
	byID := []string{"get_transaction", "get_counterparty", "get_sync_status"}
	var out models.Answer
	for _, tool := range r.Tools {
		if tool.Name == "decide" || slices.Contains(byID, tool.Name) {
			continue
		}
		used[tool.Name] = true
		if args[tool.Name] == nil {
			args[tool.Name] = []map[string]any{{}}
		}
		for _, a := range args[tool.Name] {
			out = out.Use(tool.Name, a)
		}
	}
	return out
}

// windowed decides four times ten transactions. After each ten, it leaves traces in everything that
// a person can name. Each ten become a window of the eval.
func (d *diary) windowed() {
	d.t.Helper()
	for b := range 4 {
		d.decide(10)
		word := fmt.Sprintf("canary%d", b+1)
		some := d.rows[b].ID.String()
		d.must("tag.create", map[string]any{"slug": word, "display_name": word}, nil)
		d.must("category.create", map[string]any{"slug": word, "display_name": word}, nil)
		d.must("transaction.tag", map[string]any{"transaction_id": some, "tag_slug": word}, nil)
		d.must("add_transaction_comment", map[string]any{"transaction_id": some, "content": word}, nil)
		d.must("assign_counterparty", map[string]any{"name": word, "transaction_ids": []any{some}}, nil)
		d.must("create_transaction_rule", map[string]any{"rules": []any{map[string]any{
			"name": word, "conditions": map[string]any{"field": "name", "op": "contains", "value": word},
			"category_slug": word,
		}}}, nil)
	}
}

// traces counts words in all tool results: those written after the sheet's window began, and those
// from before. Each window is one sheet here.
func (d *diary) traces(run workflow.Run) (younger, older int) {
	d.t.Helper()
	sheet := 0
	for _, l := range d.lines(run.ID) {
		var b struct {
			Sheet   int    `json:"sheet"`
			Text    string `json:"text"`
			Content string `json:"content"`
		}
		if err := json.Unmarshal(l.Body, &b); err != nil {
			d.t.Fatal(err)
		}
		if l.Kind == workflow.LineUser {
			sheet = b.Sheet
		} else if l.Kind != workflow.LineResult {
			continue
		}
		for n := 1; n <= 4; n++ {
			found := strings.Count(b.Content+b.Text, fmt.Sprintf("canary%d", n))
			if n >= sheet {
				younger += found
			} else {
				older += found
			}
		}
	}
	return younger, older
}

// TestEvalCheat: a model that uses every tool to find people's decisions finds nothing newer than
// its window: no decision, tag, category, comment, counterparty or rule. The control shows the
// current books, in which the model finds all of it.
func TestEvalCheat(t *testing.T) {
	t.Parallel()
	args := map[string]any{"slug": "talker", "sample": json.Number("40")}
	d := newDiary(t, 60)
	d.windowed()
	used := map[string]bool{}
	got := d.eval(cheat(t, used), maps.Clone(args))
	e := got.Result
	if got.Status != workflow.Succeeded || e == nil || e.N != 40 || e.Score.Answered != 0 {
		t.Fatalf("%s %+v: %+v", got.Status, got.Error, e)
	}
	younger, older := d.traces(got)
	t.Logf("%d tools (%v), %d traces of later, %d of before", len(used), slices.Sorted(maps.Keys(used)), younger, older)
	if younger != 0 || older < 20 || len(used) < 14 {
		t.Errorf("%d traces of what came later, %d of before, %d tools", younger, older, len(used))
	}
	for _, name := range []string{"list_changes", "list_annotations", "explain_transaction", "list_reports"} {
		if used[name] {
			t.Errorf("the model has %s", name)
		}
	}
	c := newDiaryOf(t, 60, func(h *house) run.Evals { return blind{eval.New(h.Rules)} })
	c.windowed()
	got = c.eval(cheat(t, used), maps.Clone(args))
	younger, _ = c.traces(got)
	if e := got.Result; e == nil || e.Score.Right != 40 || younger == 0 {
		t.Errorf("control: %s %+v: %+v, %d traces", got.Status, got.Error, e, younger)
	}
}

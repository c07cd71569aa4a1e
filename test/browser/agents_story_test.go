package browser_test

import (
	"fmt"
	"maps"
	"regexp"
	"testing"
	"time"

	"coffer/internal/sim/models"
)

// TestAgentsStory sets up a model, has it plan, applies a part of the plan, reads what was said, undoes
// the run, and stops another one while it spends.
func TestAgentsStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	h.furnish(t)
	sim, err := models.New(models.Options{Key: "sim-key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	if !t.Run("a model is set up", func(t *testing.T) { modelSetUp(t, h, axe, sim) }) {
		return // nothing runs without it
	}
	t.Run("a plan is applied in part", func(t *testing.T) { planInPart(t, h, axe, sim) }) //nolint:paralleltest // as above
	t.Run("a run is stopped", func(t *testing.T) { runStopped(t, h, axe, sim) })          //nolint:paralleltest // as above
	t.Run("a workflow is measured", func(t *testing.T) { measured(t, h, axe, sim) })      //nolint:paralleltest // as above
}

// modelSetUp chooses a model with its prices, including those of its cache, and tests it: first a
// model that cannot call tools, then one that can.
func modelSetUp(t *testing.T, h *house, axe string, sim *models.Server) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/settings/models", "No transaction data is sent to a model")
	b.do(t, step{Do: "press", Name: "Add key: OpenAI-compatible"})
	b.fill(t, "API key", "sim-key")
	b.fill(t, "Base URL", sim.Base(models.OpenAI))
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "Key ****"})
	b.do(t, step{Do: "click", Name: "Choose model"})
	b.do(t, step{Do: "choose", Name: "Provider", Value: "OpenAI-compatible"})
	b.do(t, step{Do: "write", Name: "Model", Value: "sim"})
	for name, price := range map[string]string{
		"Input price": "3", "Output price": "15",
		"Cache read price": "0.3", "Cache write price": "3.75",
	} {
		b.do(t, step{Do: "write", Name: name, Value: price})
	}
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Save"})
	b.do(t, step{Do: "see", Text: "sim · OpenAI-compatible"})
	stored := get[map[string]struct {
		Prices []map[string]string `json:"prices"`
	}](t, h, "/api/v1/settings/models")
	want := map[string]string{
		"model": "sim", "input_usd": "3", "output_usd": "15", "cache_read_usd": "0.3", "cache_write_usd": "3.75",
	}
	if got := stored["openai_compatible"].Prices; len(got) != 1 || !maps.Equal(got[0], want) {
		t.Errorf("the prices are %v, not %v", got, want)
	}

	sim.Play(func(models.Request) models.Answer { return models.Say("Hello!") })
	b.do(t, step{Do: "press", Name: "Test: OpenAI-compatible"})
	b.do(t, step{Do: "click", Name: "Test model"})
	b.do(t, step{Do: "see", Text: "Not ready for workflows"})
	b.do(t, step{Do: "see", Text: "instead of calling the tool"})
	sim.Play(models.Dictionary)
	b.do(t, step{Do: "click", Name: "Test again"})
	b.do(t, step{Do: "see", Text: "Tool callYes"}) // a fact with its value
	b.whole(t, axe)
}

// A planned is an item of a plan.
type planned struct {
	Field         string  `json:"field"`
	TransactionID string  `json:"transaction_id"`
	After         *string `json:"after"`
	Transaction   *struct {
		PayeeName string `json:"payee_name"`
	} `json:"transaction"`
}

// planInPart runs a workflow that plans, leaves two categories of the plan out, applies the rest,
// reads the results of the rows in the transcript, and undoes it all.
func planInPart(t *testing.T, h *house, axe string, sim *models.Server) {
	t.Helper()
	sim.Play(fileFirst(4, "health_pharmacy"))
	h.leaveInbox(t, 10)
	before := h.filed(t)
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/workflows/review-queue", "Transactions per run")
	b.do(t, step{Do: "click", Name: "Run now"})
	b.do(t, step{Do: "see", Text: "Proposed changes"})
	b.whole(t, axe)
	if now := h.filed(t); !maps.Equal(before, now) {
		t.Fatal("a plan changes categories before it is applied")
	}
	run := h.last(t, "review-queue")
	want, out := maps.Clone(before), 0
	pressed := map[string]bool{} // a payee that comes twice has two controls of one name, of which the first is pressed
	for _, p := range h.plan(t, run.ID) {
		switch {
		case p.Field != "category":
		case out < 2 && !pressed[p.Transaction.PayeeName]:
			pressed[p.Transaction.PayeeName] = true
			b.do(t, step{Do: "click", Name: "Apply Category for " + regexp.QuoteMeta(p.Transaction.PayeeName)})
			out++
		default:
			want[p.TransactionID] = *p.After
		}
	}
	if out != 2 || maps.Equal(before, want) {
		t.Fatalf("the plan leaves nothing to choose: %d left out", out)
	}
	b.do(t, step{Do: "click", Name: fmt.Sprintf(`Apply %d of %d`, run.Plan.Entries-2, run.Plan.Entries)})
	b.do(t, step{Do: "see", Text: "Applied changes"})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d changes applied", run.Plan.Entries-2)})
	if now := h.filed(t); !maps.Equal(want, now) {
		t.Error("what was applied is not what was chosen")
	}

	b.do(t, step{Do: "see", Text: "transactions to decide"})
	b.do(t, step{Do: "click", Name: `Batch 1: 4 need approval, \d+ left for you`})
	b.do(t, step{Do: "see", Text: "Needs approval: Pharmacy"})
	b.do(t, step{Do: "see", Text: "Not sure, left for you"})
	b.whole(t, axe)

	b.screen(t, "/runs/"+run.ID, "Undo run") // without the message that offers to undo the application
	b.do(t, step{Do: "click", Name: "Undo run"})
	b.do(t, step{Do: "see", Text: "will be undone"})
	b.do(t, step{Do: "click", Name: "Undo"})
	b.do(t, step{Do: "see", Text: "Undid"})
	if now := h.filed(t); !maps.Equal(before, now) {
		t.Error("undoing the run leaves other categories behind")
	}
}

// runStopped stops a run that asks for more and more, from its page, and sees that it asks no more.
func runStopped(t *testing.T, h *house, axe string, sim *models.Server) {
	t.Helper()
	sim.Play(func(r models.Request) models.Answer {
		time.Sleep(1500 * time.Millisecond)
		return models.Use("query_transactions", map[string]any{"limit": r.Turn() + 1})
	})
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/workflows/large-charge-sentinel", "Transactions per run")
	b.do(t, step{Do: "click", Name: "Run now"})
	b.do(t, step{Do: "see", Text: "Tool call: query transactions"})
	b.do(t, step{Do: "see", Text: "Cost so far"})
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Stop run"})
	b.do(t, step{Do: "see", Text: "Its changes are kept"})
	b.do(t, step{Do: "see", Text: "Finished: Stopped"})
	run := h.last(t, "large-charge-sentinel")
	if run.Status != "cancelled" || run.Cost <= 0 {
		t.Errorf("the run is %s and cost %v", run.Status, run.Cost)
	}
	asked := sim.Count()
	time.Sleep(2 * time.Second)
	if now := sim.Count(); now != asked {
		t.Errorf("a run that was stopped asked %d times more", now-asked)
	}
}

// measured has a workflow measured on what people filed, and reads its figures beside those that are
// reached without a model.
func measured(t *testing.T, h *house, axe string, sim *models.Server) {
	t.Helper()
	const n = 40
	h.bulk(t, map[string]any{"transaction_ids": h.newest(t, n)}, map[string]any{"category": "home_rent"})
	sim.Play(func(r models.Request) models.Answer {
		s, _ := r.Sheet()
		var rows []models.Decision
		for i, row := range s.Rows {
			d := models.Decision{Row: row.Row, Category: "home_rent", Note: "rent", Sure: i%4 != 0}
			if i%4 == 1 {
				d.Category = "health_pharmacy"
			}
			rows = append(rows, d)
		}
		return s.Decide(rows...)
	})
	before := h.filed(t)
	b := newBrowser(t, "phone light")
	b.enterAt(t, h, "/workflows/review-queue", "Transactions per run")
	b.do(t, step{Do: "click", Name: "Test accuracy"})
	b.fill(t, "Transactions to test", fmt.Sprint(n))
	b.fill(t, "Points in time", "1")
	b.fill(t, "Cost limit (USD)", "1")
	b.whole(t, axe)
	b.do(t, step{Do: "click", Name: "Start test"})
	b.do(t, step{Do: "see", Text: "Correct main category"})
	b.do(t, step{Do: "see", Text: "of 100 right"})
	b.do(t, step{Do: "see", Text: "This workflow"})
	b.do(t, step{Do: "see", Text: "Previous category for payee"})
	b.do(t, step{Do: "click", Name: "Show table"})
	b.do(t, step{Do: "see", Text: "Method"})
	b.do(t, step{Do: "see", Text: "Pharmacy"}) // what it took for rent
	b.whole(t, axe)
	if now := h.filed(t); !maps.Equal(before, now) {
		t.Error("measuring changes categories")
	}
}

// fileFirst is a model that files the first rows of the first sheet under a category and is not sure
// about any other.
func fileFirst(n int, category string) models.Script {
	sure := true
	return func(r models.Request) models.Answer {
		s, ok := r.Sheet()
		if !ok {
			return models.Say("There is no sheet.")
		}
		var rows []models.Decision
		for i, row := range s.Rows {
			d := models.Decision{Row: row.Row, Category: category, Note: "could be something else"}
			if sure && i < n {
				d.Sure, d.Note = true, "<b>sure</b> of it"
			}
			rows = append(rows, d)
		}
		sure = false
		return s.Decide(rows...)
	}
}

// leaveInbox leaves that many payments to review.
func (h *house) leaveInbox(t *testing.T, n int) {
	t.Helper()
	var ids []string
	for _, tx := range h.list(t, "limit=500&tags=needs-review")[n:] {
		ids = append(ids, tx.ID)
	}
	h.bulk(t, map[string]any{"transaction_ids": ids}, map[string]any{"tags_to_remove": []string{"needs-review"}})
}

// A lastRun is the newest run of a workflow.
type lastRun struct {
	ID     string  `json:"id"`
	Status string  `json:"status"`
	Cost   float64 `json:"cost_usd"`
	Plan   struct {
		Entries int `json:"entries"`
	} `json:"plan"`
}

func (h *house) last(t *testing.T, slug string) lastRun {
	t.Helper()
	return get[struct{ Runs []lastRun }](t, h, "/api/v1/workflows/"+slug+"/runs?limit=1").Runs[0]
}

func (h *house) plan(t *testing.T, run string) []planned {
	t.Helper()
	return get[struct{ Items []planned }](t, h, "/api/v1/workflow-runs/"+run+"/plan?limit=500").Items
}

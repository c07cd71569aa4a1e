package agents_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// queue returns a workflow that works through the review queue.
func queue() workflow.Definition {
	return workflow.Definition{
		Slug: "review-queue", Name: "Auto-categorize", Version: 1, System: "You look after a household's books.",
		Prompt: "Decide each row.", Provider: "openai_compatible", Model: "sim", Scope: "full_access",
		MaxTurns: 40, MaxMinutes: 30, MaxWrites: new(200), Report: "server",
		Worklist: &workflow.Worklist{
			Filter: ledger.Filter{Tags: []string{ledger.NeedsReview}}, Size: 25,
			Sets: []string{workflow.SetsCategory, workflow.SetsComment},
		},
	}
}

// of creates a run of a stored workflow, because only a stored workflow remembers what it has seen.
func (h *house) of(d workflow.Definition) id.ID {
	h.t.Helper()
	found, err := pg.Values[id.ID](h.t.Context(), h.DB, `
		insert into workflow (id, short_id, slug, name, description, prompt, scope, trigger)
		values (gen_random_uuid(), left(md5($1), 8), $1, 'W', '', 'p', 'full_access', 'manual')
		on conflict (slug) do update set name = excluded.name returning id`, d.Slug)
	if err != nil || len(found) != 1 {
		h.t.Fatal(err)
	}
	return found[0]
}

// sheets runs a workflow of the household to its end.
func (h *house) sheets(d workflow.Definition) (told, []workflow.Line, id.ID) {
	h.t.Helper()
	run := h.startOf(d, new(h.of(d)))
	got, lines := h.wait(run)
	return got, lines, run
}

// books returns the books as lines that can be compared.
func (h *house) books() string {
	h.t.Helper()
	out, err := ledgertest.Canonical(h.t.Context(), h.DB, nil, "")
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (h *house) value(sql string, args ...any) int {
	h.t.Helper()
	n, err := pg.Value[int](h.t.Context(), h.DB, sql, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// tag puts n transactions into the review queue, and no others.
func (h *house) tag(n int) {
	h.t.Helper()
	if _, err := pg.Exec(h.t.Context(), h.DB, `
		with gone as (delete from transaction_tag where tag_id = (select id from tag where slug = 'needs-review'))
		select 1`); err != nil {
		h.t.Fatal(err)
	}
	if _, err := pg.Exec(h.t.Context(), h.DB, `insert into transaction_tag
		select t.id, g.id, true, 'rule' from (select id from transaction where deleted_at is null and not pending
			and not excluded order by date, id limit $1) t, tag g where g.slug = 'needs-review'`, n); err != nil {
		h.t.Fatal(err)
	}
}

const waiting = `select count(*) from transaction_tag x join tag g on g.id = x.tag_id where g.slug = 'needs-review' and x.present`

// revert undoes everything that a run did.
func (h *house) revert(run id.ID) {
	h.t.Helper()
	if _, err := h.call("workflow-run.revert", map[string]any{"id": run.String()}); err != nil {
		h.t.Fatal(err)
	}
}

// TestReviewQueue: a workflow works through the review queue one sheet at a time. If the model is
// sure of a decision, it is written and closes the review. The other transactions stay in review,
// get the reason as a comment, and are skipped until something changes. Reverting the run restores
// the books.
func TestReviewQueue(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.tag(200)
	before := h.books()
	got, lines, run := h.sheets(queue())
	if got.Status != workflow.Succeeded {
		t.Fatalf("%+v %s %v", got, deref(got.Error), kinds(lines))
	}
	asked := h.sim.Count()
	left, closed := h.value(waiting), h.value(`select count(*) from transaction_tag x join tag g on g.id = x.tag_id
		where g.slug = 'needs-review' and not x.present and x.source = 'agent'`)
	t.Logf("%d calls, %d closed, %d left", asked, closed, left)
	if asked > 12 || closed+left != 200 || closed < 50 || left == 0 {
		t.Errorf("%d calls, %d closed, %d left", asked, closed, left)
	}
	if n := h.value(`select count(distinct transaction_id) from comment where author_type = 'agent' and author_id = $1`,
		run); n != left {
		t.Errorf("%d comments for %d that were left", n, left)
	}
	t.Log(deref(got.Report))
	for _, want := range []string{fmt.Sprintf("Categorized %d of 200 transactions.", closed), "## Left for you", "It cost $"} {
		if !strings.Contains(deref(got.Report), want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	// Nothing has changed, so the workflow does not ask the model.
	if got, lines, _ := h.sheets(queue()); got.Status != workflow.Succeeded || h.sim.Count() != asked || got.Report != nil {
		t.Errorf("asked %d times more: %+v %v", h.sim.Count()-asked, got, kinds(lines))
	}
	// One of the skipped transactions gets another tag. The workflow asks about that one only, and
	// adds no second comment.
	one := h.shorts(`select t.short_id from transaction t join transaction_tag x on x.transaction_id = t.id and x.present
		join tag g on g.id = x.tag_id and g.slug = 'needs-review' order by t.id limit 1`)[0]
	tagged, err := h.call("transaction.tag", map[string]any{"transaction_id": one, "tag_slug": "question"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, again := h.sheets(queue())
	requests := h.sim.Requests()
	s, _ := requests[len(requests)-1].Sheet()
	if h.sim.Count() != asked+1 || len(s.Rows) != 1 {
		t.Errorf("asked %d times about %d rows", h.sim.Count()-asked, len(s.Rows))
	}
	if n := h.value(`select count(*) from comment c join transaction t on t.id = c.transaction_id
		where t.short_id = $1`, one); n != 1 {
		t.Errorf("%d comments", n)
	}
	h.revert(again)
	if _, err := h.call("change.revert", map[string]any{"change_id": tagged.Change.String()}); err != nil {
		t.Fatal(err)
	}
	h.revert(run)
	if after := h.books(); after != before {
		t.Errorf("the books are not what they were: %s", difference(before, after))
	}
	// The workflow does not decide reverted transactions again, except the one that was tagged in
	// between.
	h.sheets(queue())
	requests = h.sim.Requests()
	if s, _ := requests[len(requests)-1].Sheet(); h.sim.Count() != asked+2 || len(s.Rows) != 1 {
		t.Errorf("asked %d times after the revert, at last about %d rows", h.sim.Count()-asked-1, len(s.Rows))
	}
	// The control: a workflow without memory asks about all of them again.
	if _, err := pg.Exec(t.Context(), h.DB, `delete from workflow_seen`); err != nil {
		t.Fatal(err)
	}
	if h.sheets(queue()); h.sim.Count() != asked+2+8 {
		t.Errorf("asked %d times without a memory", h.sim.Count()-asked-2)
	}
}

func difference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	var out []string
	for _, l := range right {
		if !slices.Contains(left, l) {
			out = append(out, "+ "+l)
		}
	}
	for _, l := range left {
		if !slices.Contains(right, l) {
			out = append(out, "- "+l)
		}
	}
	return strings.Join(out[:min(len(out), 6)], "\n")
}

func (h *house) shorts(sql string, args ...any) []string {
	h.t.Helper()
	out, err := pg.Values[string](h.t.Context(), h.DB, sql, args...)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// TestSheetsPlan: a dry run writes only a plan and its report. While the plan waits, another run
// does not plan the same again.
func TestSheetsPlan(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.tag(60)
	d := queue()
	d.DryRun, d.Report = true, "none"
	before := h.books()
	got, lines, run := h.sheets(d)
	if got.Status != workflow.Succeeded || got.PlanState != "waiting" {
		t.Fatalf("%+v %s %v", got, deref(got.Error), kinds(lines))
	}
	if after := h.books(); after != before || got.Changes != 0 {
		t.Errorf("%d changes, %s", got.Changes, difference(before, after))
	}
	entries := h.value(`select count(*) from workflow_plan where run_id = $1 and field = 'category'`, run)
	comments := h.value(`select count(*) from workflow_plan where run_id = $1 and field = 'comment'`, run)
	if all := h.value(`select count(distinct subject_id) from workflow_plan where run_id = $1`, run); entries == 0 ||
		comments == 0 || all != 60 {
		t.Errorf("%d categories and %d comments are planned, for %d transactions", entries, comments, all)
	}
	asked := h.sim.Count()
	if got, _, _ := h.sheets(d); h.sim.Count() != asked || got.PlanState != "none" {
		t.Errorf("asked %d times more; plan %s", h.sim.Count()-asked, got.PlanState)
	}
	// Without dry_run, the same responses write the planned changes.
	d.DryRun = false
	if _, err := pg.Exec(t.Context(), h.DB, `delete from workflow_seen`); err != nil {
		t.Fatal(err)
	}
	_, _, run = h.sheets(d)
	if n := h.value(`select count(*) from entry e join change c on c.id = e.change_id where c.actor_id = $1
		and e.field = 'category'`, run); n != entries {
		t.Errorf("%d categories planned and %d written", entries, n)
	}
}

// TestSheetsLimit: a run that reaches the daily limit of writes plans the rest of its sheets.
func TestSheetsLimit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.tag(75)
	if _, err := pg.Exec(t.Context(), h.DB, `update setting set writes_per_day = 30`); err != nil {
		t.Fatal(err)
	}
	got, lines, run := h.sheets(queue())
	if got.Status != workflow.LimitReached || deref(got.Limit) != workflow.LimitDay || got.PlanState != "waiting" {
		t.Fatalf("%+v %s %v", got, deref(got.Error), kinds(lines))
	}
	wrote := h.value(`select count(distinct e.subject_id) from entry e join change c on c.id = e.change_id
		where c.actor_id = $1 and e.subject = 'transaction'`, run)
	plan := h.value(`select count(distinct subject_id) from workflow_plan where run_id = $1`, run)
	if wrote != 25 || plan != 50 {
		t.Errorf("%d written, %d planned", wrote, plan)
	}
	if !strings.Contains(deref(got.Report), "Proposed changes for") {
		t.Error(deref(got.Report))
	}
}

// TestSheetsCode: a model that does not repeat the code has not read its instructions. The workflow
// does not use its response and asks once more.
func TestSheetsCode(t *testing.T) {
	t.Parallel()
	wrong := func(r models.Request) models.Answer {
		s, _ := r.Sheet()
		s.Code = "ABCD"
		return s.Decide(models.ByDictionary(s)...)
	}
	h := newHouse(t, wrong)
	h.tag(30)
	before := h.books()
	got, lines, _ := h.sheets(queue())
	if got.Status != workflow.Failed || h.sim.Count() != 2 || !strings.Contains(deref(got.Error), "num_ctx") {
		t.Errorf("%+v after %d calls: %s %v", got, h.sim.Count(), deref(got.Error), kinds(lines))
	}
	if after := h.books(); after != before {
		t.Errorf("written: %s", difference(before, after))
	}
	// The second time, the model repeats the code.
	h.sim.Play(func(r models.Request) models.Answer {
		if r.Turn() == 0 {
			return wrong(r)
		}
		return models.Dictionary(r)
	})
	if got, _, _ := h.sheets(queue()); got.Status != workflow.Succeeded || got.Turns != 4 || h.value(waiting) == 30 {
		t.Errorf("%+v %s", got, deref(got.Error))
	}
}

// TestSheetsCut: the workflow detects a server that silently cuts off the beginning of a prompt,
// whether or not the server reports the correct token count.
func TestSheetsCut(t *testing.T) {
	t.Parallel()
	for name, counted := range map[string]*models.Usage{"honest": nil, "lying": {Input: 5000, Output: 500}} {
		h := newHouse(t, nil)
		h.tag(30)
		before := h.books()
		h.replace(models.Options{Context: 1200, Silent: true, Script: func(r models.Request) models.Answer {
			s, _ := r.Sheet()
			a := s.Decide(models.ByDictionary(s)...)
			if counted != nil {
				a = a.Counted(*counted)
			}
			return a
		}})
		got, lines, _ := h.sheets(queue())
		if got.Status != workflow.Failed || !strings.Contains(deref(got.Error), "OLLAMA_CONTEXT_LENGTH") {
			t.Errorf("%s: %+v %s %v", name, got, deref(got.Error), kinds(lines))
		}
		if after := h.books(); after != before {
			t.Errorf("%s: written: %s", name, difference(before, after))
		}
	}
}

// TestSheetsUnusable: after an unusable response, the workflow asks twice more and then leaves the
// rows to people.
func TestSheetsUnusable(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(r models.Request) models.Answer {
		s, _ := r.Sheet()
		rows := models.ByDictionary(s)
		for i := range rows {
			rows[i].Category, rows[i].Sure = "food_and_drink_groceries", true
		}
		rows[2].Category = "no_such_category"
		if r.Turn() > 0 {
			return s.Decide(rows[2])
		}
		return s.Decide(rows[:10]...)
	})
	h.tag(20)
	got, lines, _ := h.sheets(queue())
	if got.Status != workflow.Succeeded || got.Turns != 3 || h.value(waiting) != 11 {
		t.Errorf("%+v, %d left; %s %v", got, h.value(waiting), deref(got.Error), kinds(lines))
	}
	if !strings.Contains(deref(got.Report), "Categorized 9 of 20 transactions") ||
		!strings.Contains(deref(got.Report), "the model gave no usable answer") {
		t.Error(deref(got.Report))
	}
	// If a model never calls the tool, the workflow stops before it has asked about all sheets.
	h.tag(200)
	h.sim.Play(func(models.Request) models.Answer { return models.Say("I have decided all rows.") })
	asked := h.sim.Count()
	if got, _, _ := h.sheets(queue()); got.Status != workflow.Failed || h.sim.Count() != asked+6 {
		t.Errorf("%+v after %d calls: %s", got, h.sim.Count()-asked, deref(got.Error))
	}
}

// TestSheetsMeanwhile: a decision that a person makes while the model is working is not
// overwritten.
func TestSheetsMeanwhile(t *testing.T) {
	t.Parallel()
	var h *house
	h = newHouse(t, func(r models.Request) models.Answer {
		for i, one := range h.shorts(`select t.short_id from transaction t join transaction_tag x on x.transaction_id = t.id
			and x.present join tag g on g.id = x.tag_id and g.slug = 'needs-review' order by t.date, t.id limit 2`) {
			operation := map[string]any{"transaction_id": one, "category": "home_rent"}
			if i == 0 {
				operation["tags_to_remove"] = []any{"needs-review"}
			}
			if _, err := h.call("transaction.change", map[string]any{"operations": []any{operation}}); err != nil {
				h.t.Error(err)
			}
		}
		s, _ := r.Sheet()
		rows := models.ByDictionary(s)
		for i := range rows {
			rows[i].Category, rows[i].Sure = "food_and_drink_groceries", true
		}
		return s.Decide(rows...)
	})
	h.tag(10)
	got, _, run := h.sheets(queue())
	if n := h.value(`select count(*) from entry e join change c on c.id = e.change_id where c.actor_id = $1
		and e.field = 'category'`, run); n != 8 {
		t.Errorf("%d filed", n)
	}
	if n := h.value(`select count(*) from transaction where category_source = 'user'`); n != 2 {
		t.Errorf("%d are the person's", n)
	}
	for _, want := range []string{"1 transaction changed by someone else in the meantime", "category (1)"} {
		if !strings.Contains(deref(got.Report), want) {
			t.Errorf("%q is not in %s", want, deref(got.Report))
		}
	}
}

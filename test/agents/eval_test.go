package agents_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/agents/eval"
	"coffer/internal/agents/run"
	"coffer/internal/agents/workflow"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/models"
)

// A filing has those parts of a transaction on which a person's habits depend.
type filing struct {
	ID       id.ID   `db:"id"`
	Date     pg.Date `db:"date"`
	Amount   string  `db:"amount"`
	Cents    int64   `db:"cents"`
	Name     string  `db:"name"`
	Account  string  `db:"account"`
	Category *string `db:"category"`
	Weekend  bool    `db:"weekend"`
}

// habit returns the category that the person in these tests gives a transaction. It is the bank's
// category, with five exceptions.
func (f filing) habit() string {
	bank := "shopping_other"
	if f.Category != nil {
		bank = *f.Category
	}
	switch low := strings.ToLower(f.Name); {
	case strings.Contains(low, "lidl"): // the lunch at work comes from there
		return "food_and_drink_takeaway"
	case bank == "food_and_drink_groceries" && f.Cents > 6000: // shopping for guests
		return "entertainment_other"
	case bank == "transport_fuel" && f.Weekend: // fuel for trips
		return "travel_other"
	case strings.Contains(low, "amazon"): // always for the house
		return "home_furniture_and_appliances"
	case f.Cents < 0: // money in
		return "income_other"
	}
	return bank
}

const filings = `select t.id, t.date, t.amount::text as amount, (t.amount * 100)::bigint as cents, d.name,
	coalesce(nullif(a.display_name, ''), a.name) as account, c.slug as category,
	extract(isodow from t.date) > 5 as weekend
	from transaction t join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id
	left join category c on c.id = t.category_id
	where t.deleted_at is null and not t.pending and not t.excluded and not a.hidden
	order by t.date, t.id`

// A diary is a household whose person categorizes transactions by habit.
type diary struct {
	*house
	rows   []filing
	next   int               // index in rows of the first transaction without a decision
	labels map[string]string // the correct category, by what a row shows
}

func rowKey(date, amount, name, account string) string {
	return date + " " + amount + " " + name[:min(len(name), 60)] + " " + account
}

func newDiary(t *testing.T, n int) *diary {
	t.Helper()
	return newDiaryOf(t, n, nil)
}

// newDiaryOf does the same as newDiary, with other evals than the service's own.
func newDiaryOf(t *testing.T, n int, evals func(*house) run.Evals) *diary {
	t.Helper()
	h := &house{t: t, models: &modelServer{}}
	h.replace(models.Options{})
	h.build(400, func() {
		if evals == nil {
			return
		}
		a := run.New(run.Config{
			DB: h.DB, Store: &workflow.Store{Journal: h.Journal, Reports: h.Reports}, Journal: h.Journal, Books: h.Books,
			Reports: h.Reports, Models: h.Setting, Evals: evals(h),
		})
		a.Use(h.Runner, h.Ops())
		h.Jobs.Add(h.Workflows.Kind(a.Work))
	})
	d := &diary{house: h, labels: map[string]string{}}
	d.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": d.sim.Base(models.OpenAI),
		"prices": []any{map[string]any{"model": "sim", "input_usd": "1", "output_usd": "5"}},
	}, nil)
	d.must("agent.update", map[string]any{"default_provider": "openai_compatible", "default_model": "sim"}, nil)
	for slug, more := range map[string]map[string]any{
		"filer": {"worklist": map[string]any{
			"filter": map[string]any{"tags": []any{"needs-review"}}, "sets": []any{"category"},
		}},
		"talker": {}, // has every tool
	} {
		args := map[string]any{
			"slug": slug, "name": "Filer", "prompt": "Decide each row.", "scope": "full_access",
			"max_cost_usd": json.Number("5"),
		}
		maps.Copy(args, more)
		d.must("workflow.create", args, nil)
	}
	rows, err := pg.All[filing](t.Context(), d.DB, filings)
	if err != nil {
		t.Fatal(err)
	}
	d.rows = rows
	for d.next < n {
		d.decide(min(20, n-d.next))
	}
	return d
}

// decide categorizes the next n transactions by habit, as one change.
func (d *diary) decide(n int) {
	d.t.Helper()
	var operations []any
	for _, f := range d.rows[d.next : d.next+n] {
		operations = append(operations, map[string]any{"transaction_id": f.ID.String(), "category": f.habit()})
		d.labels[rowKey(f.Date.String(), f.Amount, f.Name, f.Account)] = f.habit()
	}
	d.must("update_transactions", map[string]any{"operations": operations}, nil)
	d.next += n
}

// eval tests the workflow's accuracy with a script as the model.
func (d *diary) eval(script models.Script, args map[string]any) workflow.Run {
	d.t.Helper()
	d.sim.Play(script)
	if args["slug"] == nil {
		args["slug"] = "filer"
	}
	var run workflow.Run
	d.must("workflow.eval", args, &run)
	d.wait(run.ID)
	d.must("workflow-run.get", map[string]any{"id": run.ID.String()}, &run)
	return run
}

// decides returns a model that decides each row separately; "" leaves a row to a person.
func decides(f func(s models.Sheet, row models.Row) string) models.Script {
	return func(r models.Request) models.Answer {
		s, ok := r.Sheet()
		if !ok {
			return models.Say("There is no sheet.")
		}
		var out []models.Decision
		for _, row := range s.Rows {
			said := f(s, row)
			out = append(out, models.Decision{Row: row.Row, Category: said, Note: "a script", Sure: said != ""})
		}
		return s.Decide(out...)
	}
}

// knows returns the correct category for a row.
func (d *diary) knows(row models.Row) string {
	return d.labels[rowKey(row.Date, string(row.Amount), row.Name, row.Account)]
}

func (d *diary) oracle() models.Script {
	return decides(func(_ models.Sheet, row models.Row) string { return d.knows(row) })
}

// wrong returns a category that is not the correct one.
func (d *diary) wrong(row models.Row) string {
	if d.knows(row) == "services_software" {
		return "health_pharmacy"
	}
	return "services_software"
}

// TestEvalKnownModels: for models with known behavior, an eval reports exactly the known figures.
// One model knows everything, one knows everything and gives wrong answers, one decides nothing,
// and one follows people's earlier decisions. No eval changes the books, and each costs money.
func TestEvalKnownModels(t *testing.T) {
	t.Parallel()
	d := newDiary(t, 260)
	books, changes := d.books(), d.value(`select count(*) from change`)
	began := time.Now()
	run := d.eval(d.oracle(), map[string]any{})
	t.Logf("an eval of 200 items took %s", time.Since(began))
	e := run.Result
	if run.Status != workflow.Succeeded || e == nil || e.N != 200 || e.Labels.Held != 200 || e.Score.Right != 200 ||
		e.Score.Coverage != 1000 || e.Score.Accuracy.Percent != 1000 || e.Score.Accuracy.Low != 981 ||
		e.Verdict != eval.Better || e.Score.HarmPer100 != 0 || len(e.Items) != 200 || e.Previous != nil ||
		e.Per100.CostUSD == nil || len(e.Confusions) != 0 {
		t.Fatalf("oracle: %s %+v", run.Status, e)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
	e = d.eval(decides(func(_ models.Sheet, row models.Row) string { return d.wrong(row) }), map[string]any{}).Result
	if e.Score.Right != 0 || e.Score.Wrong != 200 || e.Score.Accuracy.Percent != 0 || e.Verdict != eval.Worse ||
		e.Previous.RunID != run.ID || e.Previous.N != 200 || e.Previous.Lost != 200 || e.Previous.Gained != 0 ||
		len(e.Confusions) != 10 || e.Money[0].Percent == nil || *e.Money[0].Percent != 1000 {
		t.Errorf("contrarian: %+v", e)
	}
	e = d.eval(decides(func(models.Sheet, models.Row) string { return "" }), map[string]any{}).Result
	if e.Score.Answered != 0 || e.Score.Coverage != 0 || e.Score.Accuracy != nil || e.N != 200 {
		t.Errorf("lazy: %+v", e)
	}
	e = d.eval(decides(func(_ models.Sheet, row models.Row) string { return row.Precedent() }), map[string]any{}).Result
	followed := 0
	for _, i := range e.Items {
		if (i.Answer == nil) != (i.Precedent == nil) || i.Answer != nil && *i.Answer != *i.Precedent {
			t.Errorf("follower: %+v", i)
		}
		if i.Answer != nil {
			followed++
		}
	}
	if by := e.Baselines[2]; by.Name != eval.ByPrecedent || !reflect.DeepEqual(by.EvaluationScore, e.Score) ||
		followed < 30 || e.Score.Wrong == 0 || e.Score.Right == 0 {
		t.Errorf("follower of %d: %+v", followed, e)
	}
	t.Logf("precedents: %+v", e.Score)
	if d.books() != books || d.value(`select count(*) from change`) != changes ||
		d.value(`select count(*) from workflow_plan`) != 0 || d.value(`select count(*) from workflow_seen`) != 0 {
		t.Error("an eval wrote something")
	}
	if spent := d.value(`select spent_micros from model_month`); spent == 0 ||
		spent != d.value(`select sum(cost_micros)::bigint from workflow_run`) {
		t.Errorf("%d millionths are spent", spent)
	}
}

// TestEvalGoesOnAndStops: a server failure in the middle does not change the figures, because the
// run continues from its lines. An eval stops at its cost limit, with the figures of the rows
// decided so far.
func TestEvalGoesOnAndStops(t *testing.T) {
	t.Parallel()
	d := newDiary(t, 120)
	asked, play := 0, d.oracle()
	run := d.eval(func(r models.Request) models.Answer {
		if asked++; asked >= 3 && asked <= 6 { // more failures than the client's own retries
			return play(r).With(models.Fault{Status: 503})
		}
		return play(r)
	}, map[string]any{"sample": json.Number("100")})
	if e := run.Result; run.Status != workflow.Succeeded || e.N != 100 || e.Score.Right != 100 || asked != 8 {
		t.Errorf("%s after %d calls: %+v", run.Status, asked, e)
	}
	if !slices.ContainsFunc(d.lines(run.ID), func(l workflow.Line) bool {
		return strings.Contains(string(l.Body), "The run was resumed.")
	}) {
		t.Error("control: it was not resumed")
	}
	run = d.eval(d.oracle(), map[string]any{"sample": json.Number("100"), "max_cost_usd": json.Number("0.02")})
	e := run.Result
	if run.Status != workflow.LimitReached || run.Limit == nil || *run.Limit != workflow.LimitCost || e == nil ||
		e.N == 0 || e.N == 100 || e.Score.Right != e.N || *run.CostUSD > 20_000 {
		t.Errorf("%s %+v", run.Status, e)
	}
	if e := d.eval(d.oracle(), map[string]any{"sample": json.Number("20")}).Result; e.Verdict != eval.TooFew ||
		!strings.Contains(e.Message, "Only 20 of your decisions") {
		t.Errorf("%+v", e)
	}
}

// TestEvalLabels: the labels are categories that people set, and categories that they kept when
// they closed a review. A category that was created later cannot be chosen. A reverted decision is
// not a label.
func TestEvalLabels(t *testing.T) {
	t.Parallel()
	d := newDiary(t, 40)
	d.tag(400)
	var waiting []string
	for _, f := range d.rows[40:] {
		if f.Category != nil && len(waiting) < 3 {
			waiting = append(waiting, f.ID.String())
			d.labels[rowKey(f.Date.String(), f.Amount, f.Name, f.Account)] = *f.Category
		}
	}
	for _, u := range waiting {
		d.must("transaction.untag", map[string]any{"transaction_id": u, "tag_slug": "needs-review"}, nil)
	}
	d.must("category.create", map[string]any{"slug": "our-boat", "display_name": "Our boat"}, nil)
	file := func(row int, category string) op.Answer {
		t.Helper()
		answer, err := d.call("update_transactions", map[string]any{"operations": []any{
			map[string]any{"transaction_id": d.rows[row].ID.String(), "category": category},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	file(300, "our-boat")
	file(301, "our-boat")
	if answer := file(302, "travel_other"); answer.Change == nil {
		t.Fatal("no change")
	} else {
		d.must("change.revert", map[string]any{"change_id": answer.Change.String()}, nil)
	}
	e := d.eval(d.oracle(), map[string]any{"windows": json.Number("1")}).Result
	want := eval.EvaluationLabels{Held: 40, Confirmed: 3, Unanswerable: 2}
	if e.Labels != want || e.N != 43 || e.Score.Right != 43 {
		t.Errorf("%+v, want %+v: %+v", e.Labels, want, e.Score)
	}
	// In a window of its own, the category boat existed already.
	e = d.eval(d.oracle(), map[string]any{"sample": json.Number("1"), "windows": json.Number("1")}).Result
	if e.Labels.Unanswerable != 0 || e.N != 1 || e.Items[0].Label != "our-boat" {
		t.Errorf("%+v %+v", e.Labels, e.Items)
	}
}

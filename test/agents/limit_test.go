package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/platform/errs"
	"coffer/internal/sim/models"
)

// TestLimits: a run ends at each of its limits, names the limit, and makes no further model call.
func TestLimits(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	different := func() models.Script {
		n := 0
		return func(models.Request) models.Answer {
			n++
			return models.Use("query_transactions", map[string]any{"limit": n%50 + 1})
		}
	}
	large := func() models.Script {
		n := 0
		return func(models.Request) models.Answer {
			n++
			return models.Use("query_transactions", map[string]any{"limit": 100 + n, "fields": "all"})
		}
	}
	for _, c := range []struct {
		name   string
		script models.Script
		change func(*workflow.Definition)
		limit  string
		most   int // the largest number of model calls
	}{
		{"turns", different(), func(d *workflow.Definition) { d.MaxTurns = 3 }, workflow.LimitTurns, 3},
		{
			"repeats", models.Sequence(models.Use("get_overview", map[string]any{})),
			func(*workflow.Definition) {}, workflow.LimitRepeated, 6,
		},
		{"context", large(), func(d *workflow.Definition) { d.MaxTurns = 30 }, workflow.LimitContext, 30},
		{
			"cost", different(), func(d *workflow.Definition) { d.MaxTurns, d.MaxCostMicros = 100, new(int64(60_000)) },
			workflow.LimitCost, 90,
		},
		{"minutes", different(), func(d *workflow.Definition) { d.MaxMinutes = 0 }, workflow.LimitMinutes, 0},
		{"no money", different(), func(d *workflow.Definition) { d.MaxCostMicros = new(int64(1000)) }, workflow.LimitCost, 0},
	} {
		h.sim.Play(c.script)
		before := h.sim.Count()
		d := reader()
		c.change(&d)
		got, lines := h.run(d)
		asked := h.sim.Count() - before
		if got.Status != workflow.LimitReached || deref(got.Limit) != c.limit || asked > c.most || asked != got.Turns {
			t.Errorf("%s: %+v, limit %s, %d calls, error %s", c.name, got, deref(got.Limit), asked, deref(got.Error))
		}
		if got.Report != nil {
			t.Errorf("%s: a run that was broken off left a report", c.name)
		}
		if d.MaxCostMicros != nil && *got.Cost > *d.MaxCostMicros {
			t.Errorf("%s: cost %d", c.name, *got.Cost)
		}
		last := lines[len(lines)-2]
		if last.Kind != "limit" || !strings.Contains(string(last.Body), c.limit) {
			t.Errorf("%s: %s %s", c.name, last.Kind, last.Body)
		}
	}
}

// TestUnknownPrice: without a price, a run with a cost limit does not start. The cost of a run
// without a limit is then unknown, not zero.
func TestUnknownPrice(t *testing.T) {
	t.Parallel()
	h := newHouse(t, models.Sequence(models.Say("Nothing happened.")))
	h.models.price = nil
	d := reader()
	if got, _ := h.run(d); got.Status != workflow.Succeeded || got.Cost != nil {
		t.Errorf("without a limit: %+v", got)
	}
	d.MaxCostMicros = new(int64(1_000_000))
	before := h.sim.Count()
	got, _ := h.run(d)
	if !strings.Contains(deref(got.Error), "price") || h.sim.Count() != before {
		t.Errorf("with a limit: %+v %s", got, deref(got.Error))
	}
}

// TestLiar: if a server reports more than a call can have cost, the run ends at once. The reserved
// amount is recorded, whatever the server reports, so the month's budget is not used up.
func TestLiar(t *testing.T) {
	t.Parallel()
	for _, output := range []int64{1_000_000_000, math.MaxInt64} {
		h := newHouse(t, models.Sequence(models.Use("get_overview", map[string]any{}).
			Counted(models.Usage{Input: 1000, Output: output})))
		got, lines := h.run(reader())
		if !strings.Contains(deref(got.Error), "for a call that can have cost at most $0.") || *got.Cost > 1_000_000 ||
			*got.Cost == 0 || h.sim.Count() != 1 {
			t.Errorf("%+v %s", got, deref(got.Error))
		}
		if n := h.value(`select count(*) from model_month m join model_call c on c.cost_micros = c.reserved_micros
				and c.month = m.month where m.spent_micros = c.cost_micros and m.reserved_micros = 0`); n != 1 {
			t.Errorf("%d months have what was reserved, and that as spent", n)
		}
		if n := h.value(`select count(*) from workflow_run where output_tokens > 100000`); n > 0 {
			t.Error("the tokens are booked as they were claimed")
		}
		claimed := false
		for _, l := range lines {
			claimed = claimed || l.Kind == workflow.LineNote && strings.Contains(string(l.Body), "more than the call can have cost")
			if l.Kind == workflow.LineCall {
				t.Errorf("a call of the liar was run: %s", l.Body)
			}
		}
		if !claimed {
			t.Errorf("the claim is not in the transcript: %v", kinds(lines))
		}
	}
}

// TestCutCalls: a tool call that was cut off at any byte is not run.
func TestCutCalls(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	ids := h.ids(1)
	args := update(ids, nil)
	printed, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	// A run tolerates 4 cut responses in a row. A complete one then follows.
	cuts := len(printed)
	var at int
	h.sim.Play(func(r models.Request) models.Answer {
		if r.Turn()%5 == 4 {
			return models.Use("query_transactions", map[string]any{"limit": r.Turn() + 1})
		}
		if at >= 2*cuts {
			return models.Say("done")
		}
		stop := "length"
		if at%2 == 1 {
			stop = "tool_calls" // Ollama's spelling
		}
		at++
		return models.Use("update_transactions", args).Cut((at-1)/2, stop)
	})
	d := writer()
	d.MaxTurns = 100
	d.Tools = []string{"update_transactions", "query_transactions"}
	runs := 0
	for at < 2*cuts {
		got, _ := h.run(d)
		runs++
		if got.Changes != 0 || h.filed("agent") != 0 {
			t.Fatalf("a cut call was run at byte %d: %+v", at/2, got)
		}
		if got.Status != workflow.LimitReached && got.Status != workflow.Succeeded {
			t.Fatalf("%+v %s", got, deref(got.Error))
		}
	}
	t.Logf("%d cuts in %d runs, 0 run", 2*cuts, runs)
	// The control: the complete call is run.
	h.sim.Play(models.Sequence(models.Use("update_transactions", args), models.Say("done")))
	if got, _ := h.run(d); got.Changes != 1 || h.filed("agent") != 1 {
		t.Errorf("control: %+v", got)
	}
}

// TestFailures: unusable responses, rejections and permanent server errors end a run as failed,
// with a message that says what to do.
func TestFailures(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	for _, c := range []struct {
		name   string
		script models.Script
		want   string
		calls  int
	}{
		{"empty", models.Sequence(models.Say("")), "5 model responses in a row", 5},
		{"cut", models.Sequence(models.Use("get_overview", map[string]any{}).Cut(1, "length")), "5 model responses in a row", 5},
		{"refusal", models.Sequence(models.Answer{Text: "I would rather not", Stop: "content_filter"}), "declined", 1},
		{
			"the key", models.Sequence(models.Say("x").With(models.Fault{Status: 401})), "rejects the API key", 1,
		},
	} {
		h.sim.Play(c.script)
		before := h.sim.Count()
		got, lines := h.run(reader())
		if asked := h.sim.Count() - before; got.Status != workflow.Failed ||
			!strings.Contains(deref(got.Error), c.want) || asked != c.calls {
			t.Errorf("%s: %d calls, %s; %v", c.name, asked, deref(got.Error), kinds(lines))
		}
	}
}

// TestServerRecovers: a run retries while a server fails temporarily, and then continues where it
// was.
func TestServerRecovers(t *testing.T) {
	t.Parallel()
	n := 0
	h := newHouse(t, func(models.Request) models.Answer {
		n++
		switch n {
		case 1:
			return models.Use("get_overview", map[string]any{})
		case 2:
			return models.Say("half an ans").With(models.Fault{After: 40, End: models.Reset})
		}
		return models.Say(fmt.Sprint("All is well after ", n))
	})
	got, lines := h.run(reader())
	if got.Status != workflow.Succeeded || got.Turns != 2 {
		t.Errorf("%+v %s %v", got, deref(got.Error), kinds(lines))
	}
}

// TestTranscriptLimit: if a model writes without end, the run ends when its transcript is full, so
// the disk does not fill. Earlier decisions stay.
func TestTranscriptLimit(t *testing.T) {
	t.Parallel()
	const chatter = 3_000_000
	h := newHouse(t, nil)
	// Send large pieces. With small ones, the protocol around them would be the larger part.
	h.replace(models.Options{Piece: 64 << 10, Script: func(r models.Request) models.Answer {
		s, _ := r.Sheet()
		rows := models.ByDictionary(s)
		for i := range rows {
			rows[i].Category, rows[i].Sure = "food_and_drink_groceries", true
		}
		a := s.Decide(rows...)
		a.Text = strings.Repeat("x", chatter)
		return a.Counted(models.Usage{Input: r.PromptTokens, Output: 4000})
	}})
	h.tag(200)
	got, lines, _ := h.sheets(queue())
	if got.Status != workflow.LimitReached || deref(got.Limit) != workflow.LimitLines || got.Turns != h.sim.Count() {
		t.Fatalf("%+v, limit %s, %d calls, error %s", got, deref(got.Limit), h.sim.Count(), deref(got.Error))
	}
	size := 0
	for _, l := range lines {
		size += len(l.Body)
	}
	// Each text is stored twice: as received and as shown.
	if size < 16_000_000 || size > 16_000_000+2*chatter+100_000 {
		t.Errorf("the transcript has %d bytes", size)
	}
	filed := 25 * got.Turns
	if n := h.value(waiting); n != 200-filed || got.Turns < 2 || got.Turns > 6 {
		t.Errorf("%d wait after %d sheets", n, got.Turns)
	}
	t.Logf("%d sheets of %d bytes each, %d bytes of transcript", got.Turns, chatter, size)
}

// TestTranscriptLimitWithinAnAnswer: calls without end in one response cannot exceed the
// transcript's limit either. When it is reached, the remaining calls are not made.
func TestTranscriptLimitWithinAnAnswer(t *testing.T) {
	t.Parallel()
	const calls, full = 200, 16_000_000
	h := newHouse(t, nil)
	answer := models.Answer{}
	for i := range calls {
		answer = answer.Use("query_transactions", map[string]any{"limit": 150 + i%2, "fields": "all"})
	}
	h.sim.Play(func(models.Request) models.Answer {
		// Pretend that the transcript is almost full: filling all of it with calls takes a minute.
		if _, err := h.DB.Exec(t.Context(), `update workflow_run set bytes = $1`, full-1_000_000); err != nil {
			t.Error(err)
		}
		return answer
	})
	got, lines := h.run(reader())
	size := full - 1_000_000
	before, made := 0, 0 // the transcript's size before the last call, and the number of calls
	for _, l := range lines[slices.Index(kinds(lines), workflow.LineAssistant):] {
		if l.Kind == workflow.LineCall {
			before = size
			made++
		}
		size += len(l.Body)
	}
	if got.Status != workflow.LimitReached || deref(got.Limit) != workflow.LimitLines || got.Turns != 1 {
		t.Errorf("%+v, limit %s, error %s", got, deref(got.Limit), deref(got.Error))
	}
	if size < full || before > full+calls*100 || made >= calls { // stored bodies have more spaces than the counted ones
		t.Errorf("the transcript has %d bytes, %d before the last of %d calls", size, before, made)
	}
	t.Logf("%d of %d calls were made, %d bytes of transcript", made, calls, size)
}

// TestMonthlyCeiling: a run ends exactly at the monthly ceiling. A report warns at 80 % and at the
// ceiling, and no run starts until the ceiling is raised.
func TestMonthlyCeiling(t *testing.T) {
	t.Parallel()
	h := ownHouse(t)
	n := 0
	h.sim.Play(func(r models.Request) models.Answer {
		n++
		// Every call costs the maximum. With one token more, it would be cut off.
		return models.Use("query_transactions", map[string]any{"limit": n%50 + 1}).
			Counted(models.Usage{Input: r.PromptTokens, Output: int64(r.MaxTokens) - 1})
	})
	h.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI),
		"prices": []any{map[string]any{"model": "sim", "input_usd": "1", "output_usd": "5"}},
	}, nil)
	h.must("agent.update", map[string]any{
		"default_provider": "openai_compatible", "default_model": "sim", "monthly_ceiling_usd": json.Number("0.40"),
	}, nil)
	h.must("workflow.create", map[string]any{
		"slug": "reader", "name": "Reader", "prompt": "Read.", "scope": "read_only", "tools": []any{"query_transactions"},
		"max_turns": json.Number("6"),
	}, nil)
	type ran struct {
		Status string      `json:"status"`
		Limit  string      `json:"limit"`
		Turns  int         `json:"turns"`
		Cost   json.Number `json:"cost_usd"`
		Error  any         `json:"error"`
	}
	run := func() (out ran) {
		t.Helper()
		h.play("reader", &out)
		return out
	}
	alerts := func() (titles []string) {
		t.Helper()
		var list []struct{ Title, Kind string }
		h.must("report.list", map[string]any{}, &list)
		for _, r := range list {
			if r.Kind == "alert" {
				titles = append([]string{r.Title}, titles...) // oldest first
			}
		}
		return titles
	}
	spent := func() int {
		t.Helper()
		return h.value(`select spent_micros from model_month`)
	}
	// 6 calls of 8,192 tokens and their prompts cost less than 80 % of the ceiling.
	if got := run(); got.Limit != workflow.LimitTurns || spent() < 240_000 || spent() > 310_000 || len(alerts()) != 0 {
		t.Fatalf("%+v, %d spent, %q", got, spent(), alerts())
	}
	// The next call exceeds 80 %. The run continues to the ceiling and ends there.
	got := run()
	if got.Status != workflow.LimitReached || got.Limit != workflow.LimitCeiling {
		t.Errorf("%+v", got)
	}
	used := spent()
	if used < 370_000 || used > 400_000 {
		t.Errorf("%d of 400,000 were spent", used)
	}
	want := []string{"AI spending is at 80% of this month's limit", "AI spending limit reached"}
	if !slices.Equal(alerts(), want) {
		t.Errorf("%q", alerts())
	}
	// When the ceiling is used up, runs are rejected, and the error states when the next month
	// begins. A higher ceiling allows runs again.
	h.must("agent.update", map[string]any{"monthly_ceiling_usd": json.Number("0.37")}, nil)
	_, err := h.call("workflow.run", map[string]any{"slug": "reader"})
	if fault, ok := errors.AsType[*errs.Error](err); !ok || fault.Code != errs.RunLimit {
		t.Errorf("above the ceiling: %v", err)
	}
	if !slices.Equal(alerts(), want) || spent() != used {
		t.Errorf("%d spent, %q", spent(), alerts())
	}
	h.must("agent.update", map[string]any{"monthly_ceiling_usd": json.Number("10")}, nil)
	if got := run(); got.Limit != workflow.LimitTurns {
		t.Errorf("with a higher ceiling: %+v", got)
	}
}

// Package llmtest is the conformance suite for clients of model servers, with sim/models as the
// server. It must not know any client: each client's test passes in a function that creates the
// client.
package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/llm"
	"coffer/internal/sim/models"
)

// A Subject is a client under test.
type Subject struct {
	Format models.Format
	New    func(llm.Config) (llm.Client, error)
}

const key = "key-canary-5f1d"

// quick are limits that are short enough for a test.
var quick = llm.Limits{
	First: 2 * time.Second, Between: time.Second, Whole: 4 * time.Second, Bytes: 256 << 10, Retries: 3,
	Patience: 2 * time.Second, Pause: time.Millisecond,
}

// A bench is a simulated server and a client of it.
type bench struct {
	Subject
	sim    *models.Server
	client llm.Client
}

func (s Subject) bench(t *testing.T, o models.Options) *bench {
	t.Helper()
	if o.Key == "" {
		o.Key = key
	}
	sim, err := models.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	c, err := s.New(llm.Config{BaseURL: sim.Base(s.Format), Key: key, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{s, sim, c}
}

// decide is a tool that requires an argument; ping is one that does not.
var (
	decide = llm.Tool{
		Name: "decide", Description: "Decides rows.",
		Schema: json.RawMessage(`{"type":"object","properties":{"rows":{"type":"array"}},"required":["rows"]}`),
	}
	ping = llm.Tool{Name: "ping", Description: "Pings.", Schema: json.RawMessage(`{"type":"object"}`)}
)

func ask(text string) llm.Request {
	return llm.Request{
		Model: "m", System: "You file.", Tools: []llm.Tool{decide, ping}, MaxTokens: 1000,
		Turns: []llm.Turn{{User: text}},
	}
}

// follow returns the request after a reply, with a result for each of its calls.
func follow(r llm.Request, reply llm.Reply, isError bool) llm.Request {
	turn := llm.Turn{Results: []llm.Result{}}
	for _, c := range reply.Calls {
		turn.Results = append(turn.Results, llm.Result{Call: c.ID, Content: "<done> & “well”", IsError: isError})
	}
	r.Turns = append(append([]llm.Turn{}, r.Turns...), llm.Turn{Model: reply.Raw}, turn)
	return r
}

// must sends a request and fails the test unless there is a reply.
func (b *bench) must(t *testing.T, r llm.Request) llm.Reply {
	t.Helper()
	out, err := b.client.Ask(t.Context(), r)
	if err != nil {
		t.Fatalf("%v, server said %q", err, messageOf(err))
	}
	if !json.Valid(out.Raw) {
		t.Fatalf("raw is not JSON: %s", out.Raw)
	}
	return out
}

// fails sends a request and fails the test unless the error has that class and code.
func (b *bench) fails(t *testing.T, class llm.Class, code string) *llm.Error {
	t.Helper()
	out, err := b.client.Ask(t.Context(), ask("hello"))
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("want %s (%s), got %+v, %v", code, class, out, err)
	}
	if e.Class != class || e.Code != code {
		t.Errorf("want %s (%s), got %v, server said %q", code, class, e, messageOf(err))
	}
	if e.Advice == "" || strings.Contains(fmt.Sprintf("%+v %v", e, e), key) ||
		strings.Contains(e.Reply.Plain(), key) {
		t.Errorf("advice %q, said %q", e.Advice, e.Reply.Plain())
	}
	return e
}

func messageOf(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Reply.Plain()
	}
	return ""
}

// Run tests a client against the simulator.
func Run(t *testing.T, s Subject) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"conversation", conversation},
		{"echo", echo},
		{"sent", sent},
		{"odd replies", odd},
		{"cut", cut},
		{"broken off", brokenOff},
		{"usage", usage},
		{"refusals", refusals},
		{"retries", retries},
		{"connection", connection},
		{"limits", limits},
		{"context", contextSize},
		{"cancel", cancel},
		{"hidden", hidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
}

// conversation tests a conversation of text, several calls, their results and an end, both streamed
// and not streamed.
func conversation(t *testing.T, s Subject) {
	t.Helper()
	for _, whole := range []bool{false, true} {
		b := s.bench(t, models.Options{Whole: whole, Script: func(r models.Request) models.Answer {
			if got := r.Results(); len(got) == 2 && got[0].Content == "<done> & “well”" && !got[0].IsError {
				return models.Say("Filed “ä”.")
			}
			if r.System != "You file." || r.User() != "rows <1> & 2" || len(r.Tools) != 2 || r.MaxTokens != 1000 {
				return models.Say(fmt.Sprintf("unexpected %+v", r))
			}
			return models.Answer{Text: "Let me see."}.Use("decide", map[string]any{"rows": []string{"ü"}}).
				Use("ping", map[string]any{})
		}})
		first := b.must(t, ask("rows <1> & 2"))
		if first.Text != "Let me see." || first.Stop != llm.Calls || len(first.Calls) != 2 ||
			first.Calls[0].Tool != "decide" || string(first.Calls[0].Arguments) != `{"rows":["ü"]}` ||
			first.Calls[0].Broken != "" || string(first.Calls[1].Arguments) != `{}` || first.Calls[1].Broken != "" ||
			first.Calls[0].ID == first.Calls[1].ID || !first.Usage.Known || first.RequestID == "" {
			t.Fatalf("whole %v: %+v %s", whole, first, first.Calls)
		}
		last := b.must(t, follow(ask("rows <1> & 2"), first, false))
		if last.Text != "Filed “ä”." || last.Stop != llm.End || len(last.Calls) != 0 {
			t.Errorf("whole %v: %+v", whole, last)
		}
		// A conversation can continue after its end.
		again := ask("rows <1> & 2")
		again.Turns = append(again.Turns, llm.Turn{Model: last.Raw}, llm.Turn{User: "and now?"})
		b.must(t, again)
	}
}

// echo tests that the model's messages are sent back unchanged, including signatures. The simulator
// rejects anything else.
func echo(t *testing.T, s Subject) {
	t.Helper()
	for _, whole := range []bool{false, true} {
		call := models.Answer{Thinking: true, Text: "Hm."}.Use("decide", map[string]any{"rows": []int{1}})
		b := s.bench(t, models.Options{Whole: whole, Script: models.Sequence(call, call, models.Say("done"))})
		r := ask("go")
		for range 2 {
			r = follow(r, b.must(t, r), true)
		}
		if got := b.must(t, r); got.Text != "done" {
			t.Errorf("%+v", got)
		}
		// Check the simulator: it must reject a client that drops a signature.
		r.Turns[1].Model = json.RawMessage(strings.Replace(string(r.Turns[1].Model), "c2lt", "", 1))
		if _, err := b.client.Ask(t.Context(), r); err == nil {
			t.Error("a changed signature was accepted")
		}
		// A call without its result is rejected too.
		r = ask("go")
		r.Turns = append(r.Turns, llm.Turn{Model: b.must(t, ask("go")).Raw}, llm.Turn{User: "never mind"})
		b.sim.Play(models.Sequence(call))
		r.Turns[1].Model = b.must(t, ask("go")).Raw
		if _, err := b.client.Ask(t.Context(), r); err == nil {
			t.Error("a call without a result was accepted")
		}
	}
}

// sent tests that requests contain nothing that a model could reject, and nothing about this
// machine.
func sent(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, models.Options{Script: models.Sequence(models.Say("ok"))})
	b.must(t, ask("hello"))
	r := b.sim.Requests()[0]
	var body map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for name := range body {
		switch name {
		case "model", "stream", "stream_options", "max_tokens", "messages", "tools", "system":
		default:
			t.Errorf("%s is sent", name)
		}
	}
	for name := range r.Header {
		switch name {
		case "Accept", "Content-Type", "Content-Length", "User-Agent", "X-Api-Key", "Authorization",
			"Anthropic-Version", "Connection":
		default:
			t.Errorf("header %s is sent", name)
		}
	}
	if got := r.Header.Get("User-Agent"); got != "coffer" {
		t.Errorf("user agent %q", got)
	}
}

// odd tests replies that are unusual but complete.
func odd(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, models.Options{})
	play := func(a models.Answer) llm.Reply {
		b.sim.Play(models.Sequence(a))
		return b.must(t, ask("hello"))
	}
	if got := play(models.Answer{}); got.Stop != llm.End || got.Text != "" || len(got.Calls) != 0 {
		t.Errorf("empty: %+v", got)
	} else {
		r := ask("hello")
		r.Turns = append(r.Turns, llm.Turn{Model: got.Raw}, llm.Turn{User: "again"})
		b.must(t, r)
	}
	broken := models.Answer{Calls: []models.Call{
		{Tool: "decide", Arguments: `{"rows":[1,]}`},
		{Tool: "decide", Arguments: `[1]`},
		{Tool: "decide", Arguments: ``},
		{Tool: "ping", Arguments: ``},
		{Tool: "nothing_of_ours", Arguments: `{"a":1}`},
	}}
	got := play(broken)
	if len(got.Calls) != 5 || got.Calls[0].Broken == "" || got.Calls[1].Broken == "" || got.Calls[2].Broken == "" ||
		got.Calls[3].Broken != "" || got.Calls[4].Broken != "" || got.Calls[4].Tool != "nothing_of_ours" {
		t.Errorf("%+v", got.Calls)
	}
	b.sim.Play(models.Sequence(models.Say("ok")))
	b.must(t, follow(ask("hello"), got, true)) // the model accepts its own message back
	end := map[models.Format]string{models.Anthropic: "end_turn", models.OpenAI: "stop"}[s.Format]
	call := models.Use("ping", map[string]any{})
	call.Stop = end
	if got := play(call); got.Stop != llm.Calls || len(got.Calls) != 1 || got.Calls[0].Broken != "" {
		t.Errorf("calls with the reason of an end: %+v", got)
	}
	refused := models.Say("I cannot.")
	refused.Stop = map[models.Format]string{
		models.Anthropic: "refusal", models.OpenAI: "content_filter",
	}[s.Format]
	if got := play(refused); got.Stop != llm.Refused {
		t.Errorf("a refusal: %+v", got)
	}
	unknown := models.Say("hm")
	unknown.Stop = "whatever"
	if got := play(unknown); got.Stop != llm.End {
		t.Errorf("an unknown reason: %+v", got)
	}
}

// cut tests that a tool call which a limit cuts off at any byte is never returned as runnable, even
// if the server hides the limit.
func cut(t *testing.T, s Subject) {
	t.Helper()
	whole := models.Answer{Text: "So."}.Use("ping", map[string]any{}).
		Use("decide", map[string]any{"rows": []any{map[string]any{"row": 1, "category": "x"}}})
	full := len(whole.Calls[1].Arguments)
	b := s.bench(t, models.Options{Piece: 3})
	calls := map[models.Format]string{models.Anthropic: "tool_use", models.OpenAI: "tool_calls"}[s.Format]
	for n := range full + 1 {
		b.sim.Play(models.Sequence(whole.Cut(n, "")))
		got := b.must(t, ask("hello"))
		if got.Stop != llm.Cut {
			t.Errorf("cut at %d: stopped with %s", n, got.Stop)
		}
		for _, c := range got.Calls {
			if c.Broken == "" || string(c.Arguments) != "{}" {
				t.Errorf("cut at %d: %s may be run with %s", n, c.Tool, c.Arguments)
			}
		}
		b.sim.Play(models.Sequence(models.Say("ok")))
		b.must(t, follow(ask("hello"), got, true)) // the model can be notified
		if n == full {
			break // without a visible limit, this is a complete call
		}
		b.sim.Play(models.Sequence(whole.Cut(n, calls)))
		got = b.must(t, ask("hello"))
		for _, c := range got.Calls {
			if c.Tool == "decide" && (c.Broken == "" || string(c.Arguments) != "{}") {
				t.Errorf("cut at %d, hidden: may be run with %s", n, c.Arguments)
			}
		}
	}
	// The opposite: without a cut, both calls may be run.
	b.sim.Play(models.Sequence(whole))
	if got := b.must(t, ask("hello")); len(got.Calls) != 2 || got.Calls[0].Broken+got.Calls[1].Broken != "" {
		t.Errorf("uncut: %+v", got)
	}
	// A limit that only the count of tokens reveals.
	b.sim.Play(models.Sequence(whole.Counted(models.Usage{Input: 10, Output: 1000})))
	if got := b.must(t, ask("hello")); got.Stop != llm.Cut || got.Calls[0].Broken == "" {
		t.Errorf("as many tokens as were allowed: %+v", got)
	}
}

// brokenOff tests that a stream which ends at any byte returns nothing runnable, unless the server
// has already said why it ended.
func brokenOff(t *testing.T, s Subject) {
	t.Helper()
	whole := models.Use("decide", map[string]any{"rows": []int{1, 2}})
	b := s.bench(t, models.Options{})
	ended := 0
	for n := 1; ended < 3; n += 7 {
		if n > 20_000 {
			t.Fatal("the stream never ends well")
		}
		for _, end := range []models.End{models.Close, models.Drop, models.Reset} {
			b.sim.Play(models.Sequence(whole.With(models.Fault{After: n, End: end})))
			got, err := b.client.Ask(t.Context(), ask("hello"))
			if err != nil {
				if e, ok := errors.AsType[*llm.Error](err); !ok || e.Class != llm.Broken || !e.Billed {
					t.Errorf("ended at %d (%d): %v", n, end, err)
				}
				continue
			}
			if len(got.Calls) != 1 || string(got.Calls[0].Arguments) != `{"rows":[1,2]}` || got.Stop != llm.Calls {
				t.Errorf("ended at %d (%d): %+v", n, end, got)
			}
			ended++
		}
	}
}

func usage(t *testing.T, s Subject) {
	t.Helper()
	b := s.bench(t, models.Options{})
	for _, c := range []struct {
		reported models.Usage
		want     llm.Usage
	}{
		{models.Usage{Input: 5, CacheRead: 70, CacheWrite: 20, Output: 9}, llm.NewUsage(5, 70, 20, 9)},
		{models.Usage{Input: 100, Output: 9}, llm.NewUsage(100, 0, 0, 9)},
		{models.Usage{}, llm.NewUsage(0, 0, 0, 0)},
		{models.Usage{Input: 1e9, Output: 1e9}, llm.NewUsage(1e9, 0, 0, 1e9)},
		{models.Usage{Input: -5, Output: 9}, llm.Usage{}},
		{models.Usage{Missing: true}, llm.Usage{}},
	} {
		b.sim.Play(models.Sequence(models.Say("ok").Counted(c.reported)))
		if got := b.must(t, ask("hello")); got.Usage != c.want {
			t.Errorf("%+v: got %+v", c.reported, got.Usage)
		}
	}
	if got := llm.NewUsage(5, 70, 20, 9).Prompt(); got != 95 {
		t.Errorf("a prompt of %d tokens", got)
	}
}

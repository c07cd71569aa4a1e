package settings

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// testPatience is the timeout of a model test. Commands wait two minutes for the server.
const testPatience = 80 * time.Second

// TestModel is the input of TestModel.
type TestModel struct {
	Provider string  `json:"provider" enum:"anthropic,openai_compatible"`
	Model    *string `json:"model,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Defaults to the household default model, if it is of this provider" example:"qwen3:14b"`
}

// A ModelTest is the result of a test.
type ModelTest struct {
	OK           bool          `json:"ok" doc:"Whether workflows can use this model"`
	Model        string        `json:"model"`
	ToolCall     bool          `json:"tool_call" doc:"Whether the model called the given tool"`
	CodeSeen     bool          `json:"code_seen" doc:"Whether it saw the code at the very beginning of the prompt; if not, the server's context is too small and it dropped the beginning"`
	InputTokens  *int64        `json:"input_tokens" doc:"null if the server did not report it"`
	OutputTokens *int64        `json:"output_tokens" doc:"null if the server did not report it"`
	Cost         *money.Micros `json:"cost_usd,omitempty" doc:"Cost of the test; omitted if the model has no price or the server did not count tokens"`
	TookMS       int64         `json:"took_ms"`
	Message      string        `json:"message" doc:"What the result means, and what to do"`
}

// tryModel sends a test request to the model. A rejection is a result, not an error.
func (s *Settings) tryModel(ctx context.Context, q pg.Querier, in TestModel) (ModelTest, error) {
	out := ModelTest{}
	agents, err := s.Agents(ctx, q, op.None{})
	if err != nil {
		return out, err
	}
	switch {
	case in.Model != nil:
		out.Model = *in.Model
	case agents.DefaultModel != nil && *agents.DefaultProvider == in.Provider:
		out.Model = *agents.DefaultModel
	default:
		return out, errs.Field("model", "required",
			"is required: the household has no default model for this provider")
	}
	price, priced, err := s.Price(ctx, q, in.Provider, out.Model)
	if err != nil {
		return out, err
	}
	client, err := s.Model(ctx, in.Provider)
	if err != nil {
		return out, err
	}
	code := newCode()
	r := testRequest(out.Model, code)
	ctx, cancel := context.WithTimeout(ctx, testPatience)
	defer cancel()
	from := time.Now()
	reply, err := client.Ask(ctx, r)
	out.TookMS = time.Since(from).Milliseconds()
	if err != nil {
		out.Message = failure(err)
		return out, nil // the failure is the result
	}
	if reply.Usage.Known {
		out.InputTokens, out.OutputTokens = new(reply.Usage.Prompt()), &reply.Usage.Output
		if priced {
			out.Cost = new(price.Cost(reply.Usage))
		}
	}
	out.judge(r, reply, code, priced)
	return out, nil
}

// failure explains a failed call.
func failure(err error) string {
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok && errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the model did not respond within %d seconds. Runs wait up to ten minutes for the "+
			"first word; if the model was still loading, test it again", int(testPatience.Seconds()))
	case !ok:
		return "the test was stopped; try again"
	case e.Reply != "":
		return e.Advice + ". The server said: " + e.Reply.Plain()
	}
	return e.Advice
}

// judge evaluates a reply.
func (t *ModelTest) judge(r llm.Request, reply llm.Reply, code string, priced bool) {
	returned := ""
	for _, c := range reply.Calls {
		var args struct {
			Code string `json:"code"`
		}
		if c.Tool == r.Tools[0].Name && c.Broken == "" && json.Unmarshal(c.Arguments, &args) == nil {
			t.ToolCall, returned = true, args.Code
		}
	}
	t.CodeSeen = strings.EqualFold(strings.TrimSpace(returned), code) || strings.Contains(reply.Text, code)
	cut := reply.Usage.Known && llm.WasCut(llm.Prompt{Bytes: r.Bytes(), Tokens: reply.Usage.Prompt()})
	switch {
	case cut && !t.CodeSeen:
		t.Message = fmt.Sprintf("the server read only %d tokens of a %d-byte prompt: its context is too "+
			"small, so it dropped the beginning without an error. Set the context to at least 16,384 tokens "+
			"(Ollama: OLLAMA_CONTEXT_LENGTH=16384, llama.cpp: -c 16384) and test again", *t.InputTokens, r.Bytes())
	case reply.Stop == llm.Cut:
		t.Message = "the model used up its tokens before it called the tool; choose a model with less " +
			"reasoning, or a larger context"
	case reply.Stop == llm.Refused:
		t.Message = "the model refused to respond; choose another model"
	case !t.ToolCall:
		t.Message = "the model replied with text instead of calling the tool; choose a model that can call " +
			"tools, and check that its server has tool calls enabled"
	case !t.CodeSeen:
		t.Message = "the model called the tool with a wrong code: it didn't see the beginning of the prompt, " +
			"or is too small to follow it. Set the server's context to at least 16,384 tokens, or choose " +
			"another model"
	default:
		t.OK = true
		t.Message = "the model read the whole prompt and called the tool"
		if !reply.Usage.Known {
			t.Message += "; its server doesn't count tokens, so each run counts at its maximum cost"
		}
		if !priced {
			t.Message += "; it has no price yet, so it can't run while a cost limit is set (set a price, 0 " +
				"for a local model)"
		}
	}
	for _, n := range reply.Notes {
		t.Message += ". Note: " + n
	}
}

// TryDefault tests the household default model. It returns false if there is none.
func (s *Settings) TryDefault(ctx context.Context) (ModelTest, bool, error) {
	agents, err := s.Agents(ctx, s.db, op.None{})
	if err != nil || agents.DefaultProvider == nil {
		return ModelTest{}, false, err
	}
	t, err := s.tryModel(ctx, s.db, TestModel{Provider: *agents.DefaultProvider})
	return t, true, err
}

// TestModel returns the result of a test. It stores nothing.
func (s *Settings) TestModel(_ context.Context, _ pg.Tx, _ TestModel, t ModelTest) (ModelTest, error) {
	return t, nil
}

// newCode returns four capital letters that do not form a word.
func newCode() string {
	const letters = "BCDFGHJKLMNPQRSTVWXZ"
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}

// testRows is the number of invented rows that make the prompt as long as one with 25 transactions.
// A test sends no data of the household.
const testRows = 125

// testRequest returns a prompt that is as long as a real one. A code is at its very beginning.
func testRequest(name, code string) llm.Request {
	var b strings.Builder
	b.WriteString("These rows are only here to make the prompt as long as a real one; do nothing with them.\n")
	for i := range testRows {
		fmt.Fprintf(&b, `{"row":%d,"date":"2026-01-%02d","amount":"%d.%02d","cur":"EUR","name":"EXAMPLE SHOP %d",`+
			`"account":"Example account"}`+"\n", i+1, i%28+1, i*7%90+1, i*13%100, i*37%1000)
	}
	b.WriteString("\nCall the tool confirm_code now, with the code from the first line of your instructions.")
	return llm.Request{
		Model: name, MaxTokens: 2048, Once: true,
		System: "The code is " + code + ".\nYou are being tested: can you read a long prompt and call a tool? Call " +
			"the tool confirm_code once, with the code of four letters from the line above, and say nothing else.",
		Tools: []llm.Tool{{
			Name: "confirm_code", Description: "Confirms that the beginning of the prompt was read. Call it once.",
			Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","description":` +
				`"The code of four letters from the first line of the instructions"}},"required":["code"]}`),
		}},
		Turns: []llm.Turn{{User: b.String()}},
	}
}

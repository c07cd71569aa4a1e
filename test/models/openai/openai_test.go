// Package openai uses OpenAI's official Go SDK with the simulator models: the SDK must understand
// it as it does the real service. The package must not know coffer's own client.
package openai

import (
	"errors"
	"net/http"
	"testing"

	"coffer/internal/sim/models"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const key = "key"

func start(t *testing.T, o models.Options) (*models.Server, sdk.Client) {
	t.Helper()
	o.Key = key
	sim, err := models.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim, sdk.NewClient(option.WithAPIKey(key), option.WithBaseURL(sim.URL()+"/v1"), option.WithMaxRetries(2))
}

func params(messages ...sdk.ChatCompletionMessageParamUnion) sdk.ChatCompletionNewParams {
	return sdk.ChatCompletionNewParams{
		Model: "m", MaxTokens: sdk.Int(1000),
		Messages:      append([]sdk.ChatCompletionMessageParamUnion{sdk.SystemMessage("You file.")}, messages...),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
		Tools: []sdk.ChatCompletionToolUnionParam{sdk.ChatCompletionFunctionTool(sdk.FunctionDefinitionParam{
			Name: "decide", Parameters: sdk.FunctionParameters{"type": "object"},
		})},
	}
}

// ask sends a request and returns the whole completion. If streamed, the SDK puts it together from
// a stream.
func ask(t *testing.T, c sdk.Client, streamed bool, p sdk.ChatCompletionNewParams) (*sdk.ChatCompletion, error) {
	t.Helper()
	if !streamed {
		p.StreamOptions = sdk.ChatCompletionStreamOptionsParam{}
		return c.Chat.Completions.New(t.Context(), p)
	}
	var all sdk.ChatCompletionAccumulator
	s := c.Chat.Completions.NewStreaming(t.Context(), p)
	for s.Next() {
		if !all.AddChunk(s.Current()) {
			t.Fatalf("a chunk that does not fit: %s", s.Current().RawJSON())
		}
	}
	return &all.ChatCompletion, s.Err()
}

func each(t *testing.T, run func(t *testing.T, streamed bool)) {
	t.Helper()
	for name, streamed := range map[string]bool{"whole": false, "streamed": true} {
		t.Run(name, func(t *testing.T) { run(t, streamed) })
	}
}

// TestConversation goes through text, tool calls, their results and an end.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		_, c := start(t, models.Options{Script: func(r models.Request) models.Answer {
			if got := r.Results(); len(got) == 2 && got[0].Content == "well" && got[1].IsError {
				return models.Say("Filed “ä”.")
			}
			return models.Answer{Text: "Let me see."}.
				Use("decide", map[string]any{"rows": []string{"ü"}}).Use("decide", map[string]any{}).
				Counted(models.Usage{Input: 25, CacheRead: 70, Output: 9})
		}})
		user := sdk.UserMessage("rows")
		first, err := ask(t, c, streamed, params(user))
		if err != nil {
			t.Fatal(err)
		}
		m := first.Choices[0].Message
		if first.Choices[0].FinishReason != "tool_calls" || len(m.ToolCalls) != 2 || m.Content != "Let me see." ||
			m.ToolCalls[0].Function.Name != "decide" || m.ToolCalls[0].Function.Arguments != `{"rows":["ü"]}` ||
			first.Usage.PromptTokens != 95 || first.Usage.CompletionTokens != 9 ||
			first.Usage.PromptTokensDetails.CachedTokens != 70 {
			t.Fatalf("%+v", first)
		}
		last, err := ask(t, c, streamed, params(user, m.ToParam(),
			sdk.ToolMessage("well", m.ToolCalls[0].ID), sdk.ToolMessage("error: no", m.ToolCalls[1].ID)))
		if err != nil || last.Choices[0].FinishReason != "stop" || last.Choices[0].Message.Content != "Filed “ä”." {
			t.Errorf("%+v, %v", last, err)
		}
		if _, err := ask(t, c, streamed, params(user, m.ToParam(), user)); err == nil {
			t.Error("a call without its result is accepted")
		}
	})
}

// TestStops: the SDK knows every finish reason.
func TestStops(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		sim, c := start(t, models.Options{})
		call := models.Use("decide", map[string]any{"rows": []int{1, 2}})
		for want, a := range map[string]models.Answer{
			"stop": models.Say("ok"), "tool_calls": call, "length": call.Cut(5, ""),
			"content_filter": {Text: "no", Stop: "content_filter"},
		} {
			sim.Play(models.Sequence(a))
			m, err := ask(t, c, streamed, params(sdk.UserMessage("u")))
			if err != nil || m.Choices[0].FinishReason != want {
				t.Errorf("%s: %+v, %v", want, m, err)
			}
		}
	})
}

// Errors have the status and the shape that the SDK reads, and it retries after temporary ones.
func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		for status, code := range map[int]string{
			400: "context_length_exceeded", 401: "invalid_api_key", 404: "model_not_found",
		} {
			sim, c := start(t, models.Options{})
			sim.Fail(models.Fault{Status: status, Code: code})
			_, err := ask(t, c, streamed, params(sdk.UserMessage("u")))
			if e, ok := errors.AsType[*sdk.Error](err); !ok || e.StatusCode != status || e.Code != code {
				t.Errorf("%d: %v", status, err)
			}
		}
		for _, status := range []int{429, 500, 503} {
			sim, c := start(t, models.Options{Script: models.Sequence(models.Say("ok"))})
			sim.Fail(models.Fault{Status: status, Times: 2, Header: http.Header{"Retry-After-Ms": {"5"}}})
			m, err := ask(t, c, streamed, params(sdk.UserMessage("u")))
			if err != nil || m.Choices[0].Message.Content != "ok" || sim.Count() != 3 {
				t.Errorf("%d: %v after %d", status, err, sim.Count())
			}
		}
	})
	_, c := start(t, models.Options{Script: models.Sequence(
		models.Say("x").With(models.Fault{Event: "server_error"}))})
	if _, err := ask(t, c, true, params(sdk.UserMessage("u"))); err == nil {
		t.Error("an error in the stream is not seen")
	}
}

func TestModels(t *testing.T) {
	_, c := start(t, models.Options{Models: []string{"one", "two"}})
	page, err := c.Models.List(t.Context())
	if err != nil || len(page.Data) != 2 || page.Data[0].ID != "one" {
		t.Errorf("%+v, %v", page, err)
	}
}

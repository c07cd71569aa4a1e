// Package anthropic uses Anthropic's official Go SDK with the simulator models: the SDK must
// understand it as it does the real service. The package must not know coffer's own client.
package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"coffer/internal/sim/models"
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
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
	return sim, sdk.NewClient(option.WithAPIKey(key), option.WithBaseURL(sim.URL()), option.WithMaxRetries(2))
}

func params(messages ...sdk.MessageParam) sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: "claude-opus-5-5", MaxTokens: 1000, Messages: messages,
		System: []sdk.TextBlockParam{{Text: "You file."}},
		Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: "decide", Description: sdk.String("Decides."),
			InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{"rows": map[string]any{"type": "array"}}},
		}}},
	}
}

// ask sends a request and returns the whole message. If streamed, the SDK puts it together from a
// stream.
func ask(t *testing.T, c sdk.Client, streamed bool, p sdk.MessageNewParams) (*sdk.Message, error) {
	t.Helper()
	if !streamed {
		return c.Messages.New(t.Context(), p)
	}
	var m sdk.Message
	s := c.Messages.NewStreaming(t.Context(), p)
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	return &m, s.Err()
}

func each(t *testing.T, run func(t *testing.T, streamed bool)) {
	t.Helper()
	for name, streamed := range map[string]bool{"whole": false, "streamed": true} {
		t.Run(name, func(t *testing.T) { run(t, streamed) })
	}
}

// TestConversation goes through text, thinking, tool calls, their results and an end.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		_, c := start(t, models.Options{Script: func(r models.Request) models.Answer {
			if got := r.Results(); len(got) == 2 && got[0].Content == "well" && got[1].IsError {
				return models.Say("Filed “ä”.")
			}
			return models.Answer{Thinking: true, Text: "Let me see."}.
				Use("decide", map[string]any{"rows": []string{"ü"}}).Use("decide", map[string]any{}).
				Counted(models.Usage{Input: 5, CacheRead: 70, CacheWrite: 20, Output: 9})
		}})
		user := sdk.NewUserMessage(sdk.NewTextBlock("rows"))
		first, err := ask(t, c, streamed, params(user))
		if err != nil {
			t.Fatal(err)
		}
		if first.StopReason != sdk.StopReasonToolUse || len(first.Content) != 4 || first.Usage.OutputTokens != 9 ||
			first.Usage.CacheReadInputTokens != 70 || first.Usage.InputTokens != 5 ||
			first.Content[0].AsThinking().Signature == "" || first.Content[1].Text != "Let me see." {
			t.Fatalf("%+v", first)
		}
		var in struct{ Rows []string }
		call := first.Content[2].AsToolUse()
		if err := json.Unmarshal(call.Input, &in); err != nil || call.Name != "decide" || len(in.Rows) != 1 ||
			in.Rows[0] != "ü" {
			t.Fatalf("%+v, %v", call, err)
		}
		results := sdk.NewUserMessage(
			sdk.NewToolResultBlock(call.ID, "well", false),
			sdk.NewToolResultBlock(first.Content[3].AsToolUse().ID, "no", true))
		last, err := ask(t, c, streamed, params(user, first.ToParam(), results))
		if err != nil || last.StopReason != sdk.StopReasonEndTurn || last.Content[0].Text != "Filed “ä”." {
			t.Errorf("%+v, %v", last, err)
		}
		if _, err := ask(t, c, streamed, params(user, first.ToParam(), user)); err == nil {
			t.Error("a call without its result is accepted")
		}
	})
}

// TestStops: the SDK knows every stop reason.
func TestStops(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		sim, c := start(t, models.Options{})
		call := models.Use("decide", map[string]any{"rows": []int{1, 2}})
		for want, a := range map[sdk.StopReason]models.Answer{
			sdk.StopReasonEndTurn:   models.Say("ok"),
			sdk.StopReasonToolUse:   call,
			sdk.StopReasonMaxTokens: call.Cut(5, ""),
			sdk.StopReasonRefusal:   {Text: "no", Stop: "refusal"},
		} {
			sim.Play(models.Sequence(a))
			m, err := ask(t, c, streamed, params(sdk.NewUserMessage(sdk.NewTextBlock("u"))))
			if err != nil || m.StopReason != want {
				t.Errorf("%s: %+v, %v", want, m, err)
			}
		}
	})
}

// TestErrors: errors have the status and the shape that the SDK reads, and the SDK retries after
// temporary ones.
func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, streamed bool) {
		for status, kind := range map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 404: "not_found_error",
			413: "request_too_large",
		} {
			sim, c := start(t, models.Options{})
			sim.Fail(models.Fault{Status: status})
			_, err := ask(t, c, streamed, params(sdk.NewUserMessage(sdk.NewTextBlock("u"))))
			e, ok := errors.AsType[*sdk.Error](err)
			if !ok || e.StatusCode != status || string(e.Type()) != kind || e.RequestID != "req_sim" {
				t.Errorf("%d: %v", status, err)
			}
		}
		for _, f := range []models.Fault{
			{Status: 429, Header: http.Header{"Retry-After-Ms": {"5"}}}, {Status: 529}, {Status: 500}, {Status: 503},
		} {
			sim, c := start(t, models.Options{Script: models.Sequence(models.Say("ok"))})
			f.Times = 2
			f.Header = http.Header{"Retry-After-Ms": {"5"}}
			sim.Fail(f)
			m, err := ask(t, c, streamed, params(sdk.NewUserMessage(sdk.NewTextBlock("u"))))
			if err != nil || m.Content[0].Text != "ok" || sim.Count() != 3 {
				t.Errorf("%+v: %v after %d", f, err, sim.Count())
			}
		}
	})
	sim, c := start(t, models.Options{Script: models.Sequence(
		models.Say("x").With(models.Fault{Event: "overloaded_error"}))})
	if _, err := ask(t, c, true, params(sdk.NewUserMessage(sdk.NewTextBlock("u")))); err == nil || sim.Count() != 1 {
		t.Errorf("an error in the stream: %v", err)
	}
}

func TestModels(t *testing.T) {
	_, c := start(t, models.Options{Models: []string{"one", "two"}})
	page, err := c.Models.List(t.Context(), sdk.ModelListParams{})
	if err != nil || len(page.Data) != 2 || page.Data[0].ID != "one" {
		t.Errorf("%+v, %v", page, err)
	}
}

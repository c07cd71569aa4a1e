package openai

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"coffer/internal/llm"
	"coffer/internal/llm/llmtest"
	"coffer/internal/sim/models"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Subject{Format: models.OpenAI, New: New})
}

var simple = llm.Request{
	System: "s", MaxTokens: 10, Turns: []llm.Turn{{User: "u"}},
	Tools: []llm.Tool{{Name: "a", Description: "A.", Schema: json.RawMessage(`{"type":"object"}`)}},
}

// The client adapts to each complaint once, reports it, and remembers it.
func TestAdaptions(t *testing.T) {
	t.Parallel()
	sim, err := models.New(models.Options{Script: models.Sequence(models.Say("ok"))})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	c, err := New(llm.Config{BaseURL: sim.URL()}) // without /v1
	if err != nil {
		t.Fatal(err)
	}
	for name, changes := range map[string]int{"m": 0, "gpt-5": 1, "gpt-5.4": 2, "plain": 1} {
		r, before := simple, sim.Count()
		r.Model = name
		got, err := c.Ask(t.Context(), r)
		if err != nil || len(got.Notes) != changes || sim.Count()-before != changes+1 {
			t.Errorf("%s: %+v, %v, asked %d times", name, got, err, sim.Count()-before)
		}
		if got, err = c.Ask(t.Context(), r); err != nil || len(got.Notes) != 0 || sim.Count()-before != changes+2 {
			t.Errorf("%s again: %+v, %v, asked %d times", name, got, err, sim.Count()-before)
		}
		if last := sim.Requests()[sim.Count()-1]; last.MaxTokens != 10 {
			t.Errorf("%s: a limit of %d", name, last.MaxTokens)
		}
	}
}

// answers serves the same body to every request.
func answers(t *testing.T, body string) llm.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	c, err := New(llm.Config{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Servers send calls in different forms: all with the same index, without ids, with objects instead
// of texts, with repeated names, or with unknown members.
func TestVariants(t *testing.T) {
	t.Parallel()
	chunk := func(calls, finish string) string {
		return `data: {"choices":[{"index":0,"delta":{"reasoning":"h","tool_calls":` + calls + `},"finish_reason":` +
			finish + `}]}` + "\r\n\r\n"
	}
	for name, c := range map[string]struct {
		body string
		ids  []string
		raw  string // a part of the message that is sent back
	}{
		"the same index": {
			chunk(`[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}]`, `null`) +
				chunk(`[{"index":0,"id":"y","function":{"name":"a","arguments":"{\"b\":1}"}}]`, `"stop"`),
			[]string{"x", "y"},
			`"reasoning":"hh"`,
		},
		"no index, no id": {
			chunk(`[{"function":{"name":"a","arguments":"{}"}},{"function":{"name":"a","arguments":{"b":1}}}]`, `"tool_calls"`),
			[]string{"call_1", "call_2"},
			`"arguments":"{\"b\":1}"`,
		},
		"the same id": {
			chunk(`[{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}},`+
				`{"index":1,"id":"x","function":{"name":"a","arguments":"{}"}}]`, `"tool_calls"`),
			[]string{"x", "call_2"},
			`"id":"call_2"`,
		},
		"repeated names and unknown members": {
			chunk(`[{"index":0,"id":"x","type":"function","function":{"name":"a","arguments":"{\"b\""},"extra":{"c":[1]}}]`, `null`) +
				chunk(`[{"index":0,"id":"x","type":"function","function":{"name":"a","arguments":":1}"}}]`, `"tool_calls"`),
			[]string{"x"},
			`"extra":{"c":[1]}`,
		},
	} {
		r := simple
		got, err := answers(t, c.body).Ask(t.Context(), r)
		if err != nil || got.Stop != llm.Calls || len(got.Calls) != len(c.ids) || !strings.Contains(string(got.Raw), c.raw) {
			t.Errorf("%s: %+v, %v, %s", name, got, err, got.Raw)
			continue
		}
		for i, id := range c.ids {
			if call := got.Calls[i]; call.ID != id || call.Tool != "a" || call.Broken != "" {
				t.Errorf("%s: %+v", name, call)
			}
		}
		if got.Usage.Known {
			t.Errorf("%s: usage out of nothing: %+v", name, got.Usage)
		}
	}
}

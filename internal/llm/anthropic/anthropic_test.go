package anthropic

import (
	"strings"
	"testing"

	"coffer/internal/llm"
	"coffer/internal/llm/llmtest"
	"coffer/internal/sim/models"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	llmtest.Run(t, llmtest.Subject{Format: models.Anthropic, New: New})
}

func newClient(t *testing.T, o models.Options) (*models.Server, llm.Client) {
	t.Helper()
	sim, err := models.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	c, err := New(llm.Config{BaseURL: sim.URL() + "/v1/"}) // as people copy it
	if err != nil {
		t.Fatal(err)
	}
	return sim, c
}

func TestSystemPromptIsCached(t *testing.T) {
	t.Parallel()
	sim, c := newClient(t, models.Options{Script: models.Sequence(models.Say("ok"))})
	r := llm.Request{Model: "m", System: "s", MaxTokens: 10, Turns: []llm.Turn{{User: "u"}}}
	if _, err := c.Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(sim.Requests()[0].Body); !strings.Contains(body, `"cache_control":{"type":"ephemeral"}`) {
		t.Error(body)
	}
	r.Model = "no-cache"
	got, err := c.Ask(t.Context(), r)
	if err != nil || len(got.Notes) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = c.Ask(t.Context(), r); err != nil || len(got.Notes) != 0 || sim.Count() != 4 {
		t.Errorf("the adaption is not remembered: %+v, %v, %d", got, err, sim.Count())
	}
}

// The client sends no options, because some models reject them.
func TestStrictModel(t *testing.T) {
	t.Parallel()
	_, c := newClient(t, models.Options{Script: models.Sequence(models.Say("ok"))})
	r := llm.Request{Model: "claude-opus-5-5", System: "s", MaxTokens: 10, Turns: []llm.Turn{{User: "u"}}}
	if _, err := c.Ask(t.Context(), r); err != nil {
		t.Error(err)
	}
}

package agents_test

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/sim/models"
)

// TestEconomyOfPresets limits the data that each included workflow sends with every model call,
// because the household pays for it each time. The data is the tools and the whole first request.
func TestEconomyOfPresets(t *testing.T) {
	t.Parallel()
	const most = 16_000
	h := ownHouse(t)
	if _, err := h.Workflows.FillPresets(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.must("model.set", map[string]any{
		"provider": "openai_compatible", "base_url": h.sim.Base(models.OpenAI),
		"prices": []any{map[string]any{"model": "sim", "input_usd": "0", "output_usd": "0"}},
	}, nil)
	h.must("agent.update", map[string]any{"default_provider": "openai_compatible", "default_model": "sim"}, nil)
	// The control: all tools that a workflow can have exceed the limit.
	h.must("workflow.create", map[string]any{
		"slug": "everything", "name": "Everything", "prompt": "Look.", "scope": "full_access",
	}, nil)
	var list struct {
		Workflows []struct {
			Slug     string `json:"slug"`
			Worklist any    `json:"worklist"`
		} `json:"workflows"`
	}
	h.must("workflow.list", map[string]any{}, &list)
	if len(list.Workflows) != 8 {
		t.Fatalf("%d workflows", len(list.Workflows))
	}
	h.tag(200)
	for _, w := range list.Workflows {
		before := len(h.sim.Requests())
		h.play(w.Slug, nil)
		requests := h.sim.Requests()[before:]
		if len(requests) == 0 {
			t.Errorf("%s asked nothing", w.Slug)
			continue
		}
		var sent struct {
			Tools json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(requests[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		largest := 0
		for _, r := range requests {
			if _, ok := r.Sheet(); ok || w.Worklist == nil && r.Turn() == 0 {
				largest = max(largest, len(r.Body))
			}
		}
		t.Logf("%-22s %2d tools of %5d bytes; the largest first request has %5d bytes", w.Slug,
			strings.Count(string(sent.Tools), `"function":{`), len(sent.Tools), largest)
		switch over := len(sent.Tools) > most; {
		case w.Slug == "everything" && !over:
			t.Error("all tools are within the bound, so the test proves nothing")
		case w.Slug != "everything" && over:
			t.Errorf("the tools of %s have %d bytes, at most %d are good", w.Slug, len(sent.Tools), most)
		case w.Worklist != nil && largest > most:
			t.Errorf("a sheet of %s has %d bytes, at most %d are good", w.Slug, largest, most)
		}
	}
}

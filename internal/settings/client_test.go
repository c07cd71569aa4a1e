package settings

import (
	"strings"
	"testing"

	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/sim/models"
)

func simulator(t *testing.T, o models.Options) *models.Server {
	t.Helper()
	sim, err := models.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

// A client is created again when its configuration has changed, and only then.
func TestModelFollowsTheSettings(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	if _, err := s.Model(t.Context(), "anthropic"); !errs.Is(err, errs.ProviderNotConfig) {
		t.Errorf("nothing is configured: %v", err)
	}
	sim := simulator(t, models.Options{Key: "right-key-0123", Script: models.Sequence(models.Say("ok"))})
	ask := func() error {
		c, err := s.Model(t.Context(), "anthropic")
		if err != nil {
			return err
		}
		_, err = c.Ask(t.Context(), llm.Request{Model: "m", MaxTokens: 9, Turns: []llm.Turn{{User: "u"}}})
		return err
	}
	set := func(in SetModel) {
		t.Helper()
		in.Provider = "anthropic"
		if _, err := s.setModel(t, in); err != nil {
			t.Fatal(err)
		}
	}
	set(SetModel{BaseURL: given(sim.URL()), Key: given("wrong-key-0123")})
	if err := ask(); !errs.Is(err, errs.ProviderError) {
		t.Errorf("a wrong key: %v", err)
	}
	first, err := s.Model(t.Context(), "anthropic")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Model(t.Context(), "anthropic"); again != first {
		t.Error("a client is made for each use")
	}
	set(SetModel{Key: given("right-key-0123")})
	if err := ask(); err != nil {
		t.Errorf("the right key: %v", err)
	}
	s.ring = nil
	s.clients = nil
	if err := ask(); !errs.Is(err, errs.EncryptionKeyNeeded) {
		t.Errorf("without the encryption key: %v", err)
	}
}

// The environment completely replaces the stored address and key; stored prices still apply.
func TestModelEnvironmentWins(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	if _, err := s.setModel(t, SetModel{Provider: "openai_compatible", Key: given("stored-key-0123")}); err != nil {
		t.Fatal(err)
	}
	s.envModel = func(provider string) llm.Config {
		if provider == "openai_compatible" {
			return llm.Config{BaseURL: "http://127.0.0.1:1/v1"}
		}
		return llm.Config{}
	}
	got, err := s.Models(t.Context(), s.db, op.None{})
	if m := got.OpenAICompatible; err != nil || m.Source != "env" || m.Key.Set || !m.Configured ||
		*m.BaseURL != "http://127.0.0.1:1/v1" {
		t.Errorf("%+v, %v", m, err)
	}
	if m := got.Anthropic; m.Source != "none" || m.Configured {
		t.Errorf("%+v", m)
	}
	_, err = s.setModel(t, SetModel{Provider: "openai_compatible", Key: given("another-key-0123")})
	if !errs.Is(err, errs.Conflict) || !strings.Contains(err.Error(), "COFFER_OPENAI_URL") {
		t.Errorf("a key that would not be used: %v", err)
	}
	prices := []Price{{Model: "m", Input: "0", Output: "0"}}
	if _, err := s.setModel(t, SetModel{Provider: "openai_compatible", Prices: &prices}); err != nil {
		t.Errorf("prices: %v", err)
	}
}

// A model test distinguishes the possible problems of a model.
func TestModelTest(t *testing.T) {
	t.Parallel()
	const key = "right-key-0123"
	stored := newSettings(t)
	prices := []Price{{Model: "m", Input: "1", Output: "2"}}
	for _, provider := range []models.Format{models.Anthropic, models.OpenAI} {
		if _, err := stored.setModel(t, SetModel{Provider: string(provider), Prices: &prices}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		options  models.Options
		model    string
		ok       bool
		tool     bool
		seen     bool
		contains string
	}{
		"well":       {models.Options{}, "m", true, true, true, "called the tool"},
		"wrong key":  {models.Options{Key: "another"}, "m", false, false, false, "rejects the API key"},
		"no model":   {models.Options{Models: []string{"n"}}, "m", false, false, false, "does not have this model"},
		"no tools":   {models.Options{}, "no-tools", false, false, false, "cannot call tools"},
		"cut":        {models.Options{Context: 4096, Silent: true}, "m", false, false, false, "OLLAMA_CONTEXT_LENGTH"},
		"too long":   {models.Options{Context: 2048}, "m", false, false, false, "larger context"},
		"in words":   {models.Options{Script: models.Sequence(models.Say("Sure!"))}, "m", false, false, false, "replied with text"},
		"wrong code": {models.Options{Script: models.Sequence(models.Use("confirm_code", map[string]string{"code": "ABCD"}))}, "m", false, true, false, "wrong code"},
		"cut answer": {models.Options{Script: models.Sequence(models.Use("confirm_code", map[string]string{"code": "ABCD"}).Cut(5, ""))}, "m", false, false, false, "used up its tokens"},
		"uncounted":  {models.Options{Script: uncounted}, "m", true, true, true, "count tokens"},
	} {
		for _, provider := range []models.Format{models.Anthropic, models.OpenAI} {
			t.Run(name+" "+string(provider), func(t *testing.T) {
				t.Parallel()
				options := c.options
				if options.Key == "" {
					options.Key = key
				}
				sim := simulator(t, options)
				s := &Settings{db: stored.db, envModel: func(string) llm.Config {
					return llm.Config{BaseURL: sim.Base(provider), Key: key}
				}}
				got, err := s.tryModel(t.Context(), s.db, TestModel{string(provider), &c.model})
				if err != nil || got.OK != c.ok || got.ToolCall != c.tool || got.CodeSeen != c.seen ||
					!strings.Contains(got.Message, c.contains) || strings.Contains(got.Message, key) {
					t.Errorf("%+v, %v", got, err)
				}
				if name == "well" && (got.Cost == nil || *got.Cost < 3000 || *got.InputTokens < 3000) {
					t.Errorf("%+v", got)
				}
			})
		}
	}
	r := testRequest("m", "QXTF")
	if n := r.Bytes(); n < 12_000 || n > 15_000 {
		t.Errorf("a prompt of %d bytes is not as long as a sheet", n)
	}
	_, err := stored.tryModel(t.Context(), stored.db, TestModel{Provider: "anthropic"})
	if !errs.Is(err, errs.ValidationError) {
		t.Errorf("no model is named: %v", err)
	}
}

func uncounted(r models.Request) models.Answer {
	return models.Dictionary(r).Counted(models.Usage{Missing: true})
}

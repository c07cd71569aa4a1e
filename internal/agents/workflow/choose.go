package workflow

import (
	"context"

	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/settings"
)

// The sources of a workflow's model.
const (
	OwnModel     = "own"
	DefaultModel = "default"
	NoModel      = "none"
)

// A Choice is the model that a workflow uses.
type Choice struct {
	Source          string
	Provider, Model string
	Configured      bool       // there is a server to ask
	Price           *llm.Price // nil if it is not known
}

// models are the household's model settings.
type models struct {
	all    settings.Models
	agents settings.Agents
}

func (w *Workflows) models(ctx context.Context, q pg.Querier) (m models, err error) {
	if m.all, err = w.settings.Models(ctx, q, op.None{}); err != nil {
		return m, err
	}
	m.agents, err = w.settings.Agents(ctx, q, op.None{})
	return m, err
}

// of returns the model that a workflow with this provider and model name uses.
func (m models) of(provider, name *string) (Choice, error) {
	source := OwnModel
	if provider == nil || name == nil {
		source, provider, name = DefaultModel, m.agents.DefaultProvider, m.agents.DefaultModel
	}
	if provider == nil || name == nil {
		return Choice{Source: NoModel}, nil
	}
	c := Choice{Source: source, Provider: *provider, Model: *name}
	server := m.all.Anthropic
	if c.Provider != "anthropic" {
		server = m.all.OpenAICompatible
	}
	c.Configured = server.Configured
	for _, p := range server.Prices {
		if p.Model != c.Model {
			continue
		}
		price, known, err := p.Parse()
		if err != nil {
			return Choice{}, err
		}
		if known {
			c.Price = &price
		}
	}
	return c, nil
}

// usable returns the reason why a run with this choice cannot start: no model, no server, or an
// unknown price although something limits the cost.
func (c Choice) usable(limited bool) error {
	switch {
	case c.Source == NoModel:
		return errs.New(errs.ProviderNotConfig,
			"this workflow has no model and the household has no default; set provider and model with "+
				"{workflow.update}, or default_provider and default_model with {agent.update}")
	case !c.Configured:
		return errs.New(errs.ProviderNotConfig, "the model provider %s is not configured; use {model.set}", c.Provider)
	case limited && c.Price == nil:
		return errs.New(errs.ProviderNotConfig,
			"the price of this model is unknown, so a cost limit can't be enforced; add the price with "+
				"{model.set} (0 for a local model), or remove max_cost_usd and monthly_ceiling_usd")
	}
	return nil
}

// free reports whether the model costs nothing, such as a model on the household's own machine.
func (c Choice) free() bool { return c.Price != nil && *c.Price == llm.Price{} }

// cost returns the cost of that many tokens, or nil if the price is not known.
func (c Choice) cost(input, output int64) *money.Micros {
	if c.Price == nil {
		return nil
	}
	return new(c.Price.Cost(llm.NewUsage(input, 0, 0, output)))
}

// Estimates for a first run. A token is about four bytes.
const (
	bytesPerToken = 4
	guessedTurns  = 8     // of a conversation
	toolTokens    = 4_000 // the descriptions of some tools
	turnTokens    = 1_500 // what a call and its result add to the conversation
	answerTokens  = 300   // of a turn
	sheetTokens   = 3_200 // rows, categories and the tool
	rowTokens     = 40    // of an answer
	guessedRows   = 200
)

// estimate returns the mean of the last runs, or a guess from the definition if there are none.
func (s stored) estimate(c Choice) *Estimate {
	if s.MeanRuns > 0 {
		e := &Estimate{s.MeanRuns, s.MeanIn, s.MeanOut, (*money.Micros)(s.MeanCost)}
		if e.CostUSD == nil {
			e.CostUSD = c.cost(s.MeanIn, s.MeanOut)
		}
		return e
	}
	prompt := int64(len(s.Prompt)/bytesPerToken) + int64(len(s.PromptBlocks))*turnTokens/3
	e := &Estimate{}
	if s.Worklist != nil {
		rows := guessedRows
		if s.MaxWrites != nil {
			rows = min(rows, *s.MaxWrites)
		}
		size := max(1, s.Worklist.Size)
		sheets := int64(min(s.MaxTurns, (rows+size-1)/size))
		e.InputTokens, e.OutputTokens = sheets*(prompt+sheetTokens), sheets*int64(size)*rowTokens
	} else {
		turns := int64(min(s.MaxTurns, guessedTurns))
		e.InputTokens = turns*(prompt+toolTokens) + turnTokens*turns*(turns-1)/2
		e.OutputTokens = turns * answerTokens
	}
	e.CostUSD = c.cost(e.InputTokens, e.OutputTokens)
	return e
}

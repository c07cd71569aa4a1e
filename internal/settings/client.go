package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"coffer/internal/llm"
	"coffer/internal/llm/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// A client was built from one version of the stored configuration.
type client struct {
	version int64
	llm.Client
}

// inheritedModel is the address and the key of a model provider in the server's environment.
func (s *Settings) inheritedModel(provider string) llm.Config {
	if s.envModel == nil {
		return llm.Config{}
	}
	return s.envModel(provider)
}

// Model returns a client of the model provider with its current configuration, even if another
// server has changed it. Callers must ask before each use and not keep the client.
func (s *Settings) Model(ctx context.Context, provider string) (llm.Client, error) {
	spec, err := all.Find(provider)
	if err != nil {
		return nil, err
	}
	config, version := s.inheritedModel(provider), int64(-1) // the environment changes only with a restart
	if config == (llm.Config{}) {
		rows, err := pg.All[modelRow](ctx, s.db, modelRows+` where provider = $1`, provider)
		if err != nil {
			return nil, err
		}
		if len(rows) == 1 {
			version = rows[0].Version
			if config, err = s.openModel(rows[0]); err != nil {
				return nil, err
			}
		}
	}
	if config.Key == "" && (!spec.Keyless || config.BaseURL == "") {
		return nil, errs.New(errs.ProviderNotConfig,
			"the model provider %[1]s is not configured; use {model.set}, or set COFFER_%[2]s_API_KEY or "+
				"COFFER_%[2]s_URL in the server's environment and restart it", provider, spec.Variable)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.clients[provider]; ok && c.version == version {
		return c.Client, nil
	}
	c, err := spec.New(config)
	if err != nil {
		return nil, err
	}
	if s.clients == nil {
		s.clients = map[string]client{}
	}
	s.clients[provider] = client{version, c}
	return c, nil
}

// openModel reads the stored address and key.
func (s *Settings) openModel(row modelRow) (llm.Config, error) {
	var c llm.Config
	if row.BaseURL != nil {
		c.BaseURL = *row.BaseURL
	}
	if row.Key == nil {
		return c, nil
	}
	plain, err := s.ring.Open(modelPlace(row.Provider), row.Key)
	if errors.Is(err, seal.ErrNoKey) {
		return c, keyNeeded()
	}
	if err != nil {
		return c, fmt.Errorf("settings of %s: %w", row.Provider, err)
	}
	c.Key = string(plain)
	return c, nil
}

// Price returns the price of a model that the household entered, or false if there is none.
func (s *Settings) Price(ctx context.Context, q pg.Querier, provider, name string) (llm.Price, bool, error) {
	raw, err := pg.Value[[]byte](ctx, q, `select coalesce((select prices from model_setting
		where provider = $1), '[]')`, provider)
	if err != nil {
		return llm.Price{}, false, err
	}
	var prices []Price
	if err := json.Unmarshal(raw, &prices); err != nil {
		return llm.Price{}, false, fmt.Errorf("stored prices: %w", err)
	}
	for _, p := range prices {
		if p.Model == name {
			return p.Parse()
		}
	}
	return llm.Price{}, false, nil
}

// Parse converts a price. If there is no price for cached tokens, the price of input applies.
func (p Price) Parse() (llm.Price, bool, error) {
	var out llm.Price
	for _, x := range []struct {
		to   *money.Micros
		from string
	}{{&out.Input, p.Input}, {&out.CacheRead, p.CacheRead}, {&out.CacheWrite, p.CacheWrite}, {&out.Output, p.Output}} {
		if x.from == "" {
			x.from = p.Input
		}
		n, err := money.ParseMicros(x.from)
		if err != nil {
			return llm.Price{}, false, fmt.Errorf("the stored price of %s: %w", p.Model, err)
		}
		*x.to = n
	}
	return out, true, nil
}

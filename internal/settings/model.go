package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"

	"coffer/internal/llm"
	"coffer/internal/llm/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// Models are the configured model providers, by kind of server.
type Models struct {
	Anthropic        Model `json:"anthropic"`
	OpenAICompatible Model `json:"openai_compatible"`
}

// A Model is the address and the prices of one model provider.
type Model struct {
	Configured bool     `json:"configured" doc:"Whether it can be used: Anthropic needs a key, a compatible server a key or a URL"`
	Source     string   `json:"source" enum:"env,stored,none" doc:"Source of URL and key. env: environment variables of the server, which take precedence over stored settings"`
	BaseURL    *string  `json:"base_url" doc:"null means the provider's own URL"`
	Key        Field    `json:"key"`
	Prices     []Price  `json:"prices"`
	UpdatedAt  *pg.Time `json:"updated_at" doc:"null if nothing is stored"`
}

// A Price is what a model costs per million tokens, in US dollars. Prices have more decimals than
// amounts of money, so they are exact text.
type Price struct {
	Model  string `json:"model" minLength:"1" maxLength:"200" format:"line"`
	Input  string `json:"input_usd" pattern:"^[0-9]{1,6}(\\.[0-9]{1,6})?$" hint:"be dollars, such as 3 or 0.075" doc:"Per million tokens" example:"3.00"`
	Output string `json:"output_usd" pattern:"^[0-9]{1,6}(\\.[0-9]{1,6})?$" hint:"be dollars, such as 15 or 0.3" doc:"Per million tokens" example:"15.00"`
	// The ratio of these prices to the input's price differs from model to model.
	CacheRead  string `json:"cache_read_usd,omitempty" pattern:"^[0-9]{1,6}(\\.[0-9]{1,6})?$" hint:"be dollars, such as 0.3" doc:"Per million tokens that the provider reads from its cache; if omitted, they cost as much as input" example:"0.30"`
	CacheWrite string `json:"cache_write_usd,omitempty" pattern:"^[0-9]{1,6}(\\.[0-9]{1,6})?$" hint:"be dollars, such as 3.75" doc:"Per million tokens that the provider writes to its cache; if omitted, they cost as much as input" example:"3.75"`
}

type modelRow struct {
	Provider  string   `db:"provider"`
	BaseURL   *string  `db:"base_url"`
	Key       []byte   `db:"key"`
	Prices    []byte   `db:"prices"`
	UpdatedAt *pg.Time `db:"updated_at"`
	Version   int64    `db:"version"`
}

const modelRows = `select provider, base_url, key, prices, updated_at, version from model_setting`

func modelPlace(provider string) seal.Place {
	return seal.Place{Table: "model_setting", Column: "key", Row: provider}
}

// Models returns the configured model providers.
func (s *Settings) Models(ctx context.Context, q pg.Querier, _ op.None) (Models, error) {
	rows, err := pg.All[modelRow](ctx, q, modelRows)
	if err != nil {
		return Models{}, err
	}
	var out Models
	for _, x := range []struct {
		name string
		to   *Model
	}{{"anthropic", &out.Anthropic}, {"openai_compatible", &out.OpenAICompatible}} {
		row := modelRow{Provider: x.name, Prices: []byte(`[]`)}
		if i := slices.IndexFunc(rows, func(r modelRow) bool { return r.Provider == x.name }); i >= 0 {
			row = rows[i]
		}
		if *x.to, err = s.showModel(row); err != nil {
			return Models{}, err
		}
	}
	return out, nil
}

// showModel returns the visible part of a model provider's configuration.
func (s *Settings) showModel(r modelRow) (Model, error) {
	m := Model{Source: "none", BaseURL: r.BaseURL, UpdatedAt: r.UpdatedAt}
	if err := json.Unmarshal(r.Prices, &m.Prices); err != nil {
		return Model{}, fmt.Errorf("stored prices: %w", err)
	}
	spec, err := all.Find(r.Provider)
	if err != nil {
		return Model{}, err
	}
	if given := s.inheritedModel(r.Provider); given != (llm.Config{}) {
		m.Source, m.BaseURL, m.Key = "env", nil, Field{}
		if given.BaseURL != "" {
			m.BaseURL = &given.BaseURL
		}
		if given.Key != "" {
			m.Key = Field{Set: true, Masked: masked(given.Key)}
		}
	} else if r.Key != nil || r.BaseURL != nil {
		m.Source = "stored"
		if r.Key != nil {
			m.Key.Set = true
			// without the encryption key, the secret's end cannot be shown
			if plain, err := s.ring.Open(modelPlace(r.Provider), r.Key); err == nil {
				m.Key.Masked = masked(string(plain))
			}
		}
	}
	m.Configured = m.Key.Set || spec.Keyless && m.BaseURL != nil
	return m, nil
}

// SetModel is the input of SetModel.
type SetModel struct {
	Provider string          `json:"provider" enum:"anthropic,openai_compatible"`
	BaseURL  op.Null[string] `json:"base_url,omitzero" minLength:"1" maxLength:"500" format:"line" doc:"null means the provider's own URL; a different URL requires the key again"`
	Key      op.Null[string] `json:"key,omitzero" minLength:"1" maxLength:"1000" format:"line" doc:"Stored encrypted and never shown again; omit it to keep it, null removes it"`
	Prices   *[]Price        `json:"prices,omitempty" maxItems:"200" doc:"Replaces all prices of this provider; omit to keep them"`
}

// SetModel stores the configuration of one model provider.
func (s *Settings) SetModel(ctx context.Context, tx pg.Tx, in SetModel) (Models, error) {
	// lock one common row, because the rows of the two providers may not exist yet
	if _, err := pg.Exec(ctx, tx, `select from setting for update`); err != nil {
		return Models{}, err
	}
	now, err := s.Models(ctx, tx, op.None{})
	if err != nil {
		return Models{}, err
	}
	if err := op.Match(ctx, now); err != nil {
		return Models{}, err
	}
	if in.BaseURL.Value != nil && !isHTTP(*in.BaseURL.Value) {
		return Models{}, errs.Field("base_url", "format",
			"must be an https:// or http:// URL without a user name, query or fragment")
	}
	if s.inheritedModel(in.Provider) != (llm.Config{}) && (in.BaseURL.Set || in.Key.Set) {
		spec, err := all.Find(in.Provider)
		if err != nil {
			return Models{}, err
		}
		return Models{}, errs.New(errs.Conflict,
			"%[1]s is configured in the server's environment, which takes precedence; change "+
				"COFFER_%[2]s_API_KEY and COFFER_%[2]s_URL there, or remove them and restart the server. "+
				"Prices can be set here",
			in.Provider, spec.Variable)
	}
	stored := now.Anthropic
	if in.Provider != "anthropic" {
		stored = now.OpenAICompatible
	}
	if in.BaseURL.Set && stored.Key.Set && !in.Key.Set && !reflect.DeepEqual(in.BaseURL.Value, stored.BaseURL) {
		return Models{}, errs.Field("key", "required",
			"is required again with a new base_url, or must be null: otherwise the stored key would be sent "+
				"to the new address")
	}
	var sealed, prices []byte
	if in.Key.Value != nil {
		sealed, err = s.ring.Seal(modelPlace(in.Provider), []byte(*in.Key.Value))
		if errors.Is(err, seal.ErrNoKey) {
			return Models{}, keyNeeded()
		}
		if err != nil {
			return Models{}, err
		}
	}
	if in.Prices != nil {
		seen := map[string]bool{}
		for i, p := range *in.Prices {
			if seen[p.Model] {
				return Models{}, errs.Field(fmt.Sprintf("prices[%d].model", i), "conflict",
					"is listed twice; pass one price per model")
			}
			seen[p.Model] = true
		}
		if prices, err = json.Marshal(*in.Prices); err != nil {
			return Models{}, fmt.Errorf("print prices: %w", err)
		}
	}
	_, err = pg.Exec(ctx, tx, `
		insert into model_setting as m (provider, base_url, key, prices)
			values (@provider, @url, @key, coalesce(@prices::jsonb, '[]'))
		on conflict (provider) do update set
			base_url = case when @url_given then @url else m.base_url end, key = case when @key_given then @key
				else m.key end, prices = coalesce(@prices::jsonb, m.prices), updated_at = clock_timestamp(),
			version = m.version + 1`, pg.Args{
		"provider": in.Provider, "url": in.BaseURL.Value, "url_given": in.BaseURL.Set, "key": sealed,
		"key_given": in.Key.Set, "prices": prices,
	})
	if err != nil {
		return Models{}, err
	}
	return s.Models(ctx, tx, op.None{})
}

func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

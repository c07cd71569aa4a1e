package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/llm"
	models "coffer/internal/llm/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/seal"
	"coffer/internal/settings"
)

// Providers holds the values from the environment for each provider, by the provider's name and the
// names of its fields. For a PEM field the value is the path of a file.
type Providers map[string]bank.Values

// providerValues reads the variables of every provider.
func providerValues(get func(string) string) Providers {
	out := Providers{}
	for _, s := range all.Specs {
		out[s.Name] = bank.Values{}
		for _, f := range s.Fields {
			out[s.Name][f.Name] = get(prefix + s.Variable(f))
		}
	}
	return out
}

// providerSettings lists the variables of every provider.
func providerSettings() []Setting {
	var out []Setting
	for _, s := range all.Specs {
		for _, f := range s.Fields {
			doc := s.Title + ": " + f.Doc
			switch {
			case f.PEM:
				doc += "; path of a PEM file"
			case f.Values != nil:
				doc += ": " + oneOf(f.Values)
			}
			out = append(out, Setting{prefix + s.Variable(f), f.Default(), doc})
		}
	}
	return out
}

// oneOf joins values into a phrase such as "a, b or c".
func oneOf(values []string) string {
	last := len(values) - 1
	if last < 1 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// environment returns the settings that the server was started with.
func (c Config) environment(ring *seal.Ring) (settings.Config, error) {
	e := settings.Config{Ring: ring, PublicURL: c.PublicURL, Fields: map[string]bank.Values{}, Models: c.model}
	for _, s := range models.Specs {
		if given := c.model(s.Name); given != (llm.Config{}) {
			if _, err := s.New(given); err != nil {
				return e, errs.New(errs.ValidationError, "%s%s_URL must begin with https:// or http:// and have no "+
					"user, query or fragment", prefix, s.Variable)
			}
		}
	}
	for _, s := range all.Specs {
		values := bank.Values{}
		for _, f := range s.Fields {
			value, err := fieldValue(s, f, c.Providers[s.Name][f.Name])
			if err != nil {
				return e, err
			}
			values[f.Name] = value
		}
		e.Fields[s.Name] = values
	}
	var err error
	e.Providers, err = all.Configured(e.Fields)
	return e, err
}

// model returns the environment's configuration of a model provider.
func (c Config) model(provider string) llm.Config {
	for _, s := range models.Specs {
		if s.Name == provider {
			return map[string]llm.Config{
				"ANTHROPIC": {BaseURL: c.AnthropicURL, Key: c.AnthropicKey.Reveal()},
				"OPENAI":    {BaseURL: c.OpenAIURL, Key: c.OpenAIKey.Reveal()},
			}[s.Variable]
		}
	}
	return llm.Config{}
}

// fieldValue returns the value of a field whose variable is set to given.
func fieldValue(s bank.Spec, f bank.Field, given string) (string, error) {
	if given == "" {
		return f.Default(), nil
	}
	if !f.PEM {
		return given, nil
	}
	pem, err := os.ReadFile(given) //nolint:gosec // a file that the operator names in a setting
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			// Leave out the path: someone may have entered the key itself in its place.
			err = p.Err
		}
		return "", fmt.Errorf("%s%s must name a file that coffer can read: %w", prefix, s.Variable(f), err)
	}
	return string(pem), nil
}

package settings

import (
	"context"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A BankProvider is a provider's description of itself, so that clients need no code for single
// providers.
type BankProvider struct {
	Name         all.Name          `json:"name"`
	Title        string            `json:"title"`
	Kind         bank.Kind         `json:"kind" doc:"aggregator: a company that reads banks for you. open_banking: the bank's own interface. token: a token that you paste. files: statements that you upload"`
	Countries    []string          `json:"countries" doc:"Where its banks are (ISO 3166); empty means everywhere" example:"[\"US\"]"`
	Configured   bool              `json:"configured" doc:"Whether banks can be connected through it; files need no configuration"`
	Environment  *string           `json:"environment,omitempty" doc:"sandbox, development or production"`
	Fields       []BankField       `json:"fields" doc:"What its configuration consists of"`
	Link         *BankLink         `json:"link" doc:"How a bank is connected; null for files"`
	Capabilities []bank.Capability `json:"capabilities" doc:"balances: can get current balances from the bank. webhooks: notifies coffer of new transactions. test: its configuration can be tested"`
	MinInterval  int               `json:"min_interval_minutes" doc:"Syncing more often brings nothing new; 0 for files"`
	Guide        *string           `json:"guide" doc:"Address of the page with the values of its fields; null if it needs none"`
}

// A BankField is a value that a form requests.
type BankField struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Secret   bool     `json:"secret" doc:"Its value is never shown"`
	Required bool     `json:"required" doc:"It cannot be cleared"`
	Help     string   `json:"help"`
	Lines    bool     `json:"lines,omitempty" doc:"A text of several lines (PEM)"`
	Values   []string `json:"values,omitempty" doc:"The allowed values; the first is the default"`
}

// A BankLink describes how a bank is connected.
type BankLink struct {
	Way          bank.Way    `json:"way" doc:"page: a page with the provider's widget, which a link session opens. form: values that a member enters. redirect: the bank's own page, which leads back"`
	Fields       []BankField `json:"fields,omitempty" doc:"What the member enters"`
	Institutions bool        `json:"institutions" doc:"The member chooses the bank in a list first"`
}

// Describe returns the providers that this version of coffer supports.
func (s *Settings) Describe(ctx context.Context, q pg.Querier, _ op.None) ([]BankProvider, error) {
	out := []BankProvider{}
	for _, spec := range all.Specs {
		p := BankProvider{
			Name: all.Name(spec.Name), Title: spec.Title, Kind: spec.Kind,
			Countries:  append([]string{}, spec.Countries...),
			Configured: !spec.Remote(), Fields: offered(spec.Fields), Capabilities: spec.Capabilities(),
			MinInterval: int(spec.MinInterval() / time.Minute),
		}
		if guide := spec.GuideOf(s.inherited(spec.Name)); guide != "" {
			p.Guide = &guide
		}
		if spec.Link.Way != "" {
			p.Link = &BankLink{spec.Link.Way, offered(spec.Link.Fields), spec.Link.Institutions}
		}
		if spec.Remote() {
			now, err := s.ProviderSetting(ctx, q, ProviderRef{all.Remote(spec.Name)})
			if err != nil {
				return nil, err
			}
			p.Configured, p.Environment = now.Configured, now.Environment
		}
		out = append(out, p)
	}
	return out, nil
}

// offered returns the fields that can be set through the API.
func offered(fields []bank.Field) []BankField {
	out := []BankField{}
	for _, f := range fields {
		if !f.Local {
			out = append(out, BankField{f.Name, f.Title, f.Secret(), f.Required, f.Doc, f.PEM, f.Values})
		}
	}
	return out
}

// Package plaid reads accounts and transactions from Plaid. It must not know what happens to
// them: it translates between Plaid's protocol and the terms of package bank.
package plaid

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
)

const (
	name     = "plaid"
	title    = "Plaid"
	version  = "2020-09-14"
	pageSize = 500 // Plaid's maximum
	// The history length must be set when an item is created: it cannot be raised later.
	historyDays = 730
	liveTimeout = 60 * time.Second // timeout of calls that wait for the bank
)

// A Config is an installation's configuration of Plaid.
type Config struct {
	Environment string // sandbox or production
	BaseURL     string // the environment's own if empty
	ClientID    string
	Secret      string
	ClientName  string           // what Link shows, at most 30 characters; coffer if empty
	Countries   []string         // US if empty
	Language    string           // en if empty
	Now         func() time.Time // time.Now if nil
}

// A Plaid is the provider.
type Plaid struct {
	client      *bank.Client
	sign        func(http.Header) // a closure, so that printing a Plaid does not print its secret
	environment string
	title       string
	countries   []string
	language    string
	now         func() time.Time
	keys        keyring
}

var (
	_ bank.Provider  = (*Plaid)(nil)
	_ bank.Linker    = (*Plaid)(nil)
	_ bank.Hoster    = (*Plaid)(nil)
	_ bank.Embedder  = (*Plaid)(nil)
	_ bank.Glimpser  = (*Plaid)(nil)
	_ bank.Relinker  = (*Plaid)(nil)
	_ bank.Revoker   = (*Plaid)(nil)
	_ bank.Balancer  = (*Plaid)(nil)
	_ bank.Rereader  = (*Plaid)(nil)
	_ bank.Tester    = (*Plaid)(nil)
	_ bank.Webhooker = (*Plaid)(nil)
)

// New returns the provider for the configuration.
func New(c Config) (*Plaid, error) {
	if c.Environment != "sandbox" && c.Environment != "production" {
		return nil, errs.New(errs.ProviderNotConfig, "the environment of Plaid must be sandbox or production")
	}
	if c.ClientID == "" || c.Secret == "" {
		return nil, errs.New(errs.ProviderNotConfig,
			"Plaid needs a client id and a secret: both are in its dashboard under Keys")
	}
	if c.BaseURL == "" {
		c.BaseURL = "https://" + c.Environment + ".plaid.com"
	}
	if c.ClientName == "" {
		c.ClientName = "coffer"
	}
	if len(c.Countries) == 0 {
		c.Countries = []string{"US"}
	}
	if c.Language == "" {
		c.Language = "en"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	client, err := bank.NewClient(name, c.BaseURL, nil)
	if err != nil {
		return nil, err
	}
	return &Plaid{
		client: client, environment: c.Environment, title: c.ClientName, countries: c.Countries, language: c.Language,
		now: c.Now,
		sign: func(h http.Header) {
			h.Set("PLAID-CLIENT-ID", c.ClientID)
			h.Set("PLAID-SECRET", c.Secret)
		},
	}, nil
}

// Name implements [bank.Provider].
func (p *Plaid) Name() string { return name }

// Traits implements [bank.Provider].
func (p *Plaid) Traits() bank.Traits {
	return bank.Traits{
		Title: title, Shape: bank.Delta, PageSize: pageSize, HasPendingLink: true, HistoryDays: historyDays,
		MinInterval: 15 * time.Minute, PaidBalances: true,
	}
}

// credentials is the stored form of a connection.
type credentials struct {
	AccessToken string `json:"access_token"`
	ItemID      string `json:"item_id"`
}

// open reads stored credentials.
func (p *Plaid) open(c bank.Credentials) (out credentials, err error) {
	err = c.Open(name, &out, func() bool { return out.AccessToken != "" })
	return out, err
}

// post makes one call and decodes the response into out.
func (p *Plaid) post(ctx context.Context, path string, in, out any, timeout time.Duration) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Plaid-Version": {version}}
	p.sign(header)
	answer, err := p.client.Do(ctx, bank.Call{
		Method: http.MethodPost, Path: path, Header: header, Body: body,
		Timeout: timeout,
	})
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return p.refused(answer)
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return p.client.Malformed()
	}
	return nil
}

// read is post for calls about an item. It distinguishes a token of another environment from a dead
// token.
func (p *Plaid) read(ctx context.Context, path string, c credentials, in, out any, timeout time.Duration) error {
	err := p.post(ctx, path, in, out, timeout)
	if e := bank.Classify(err); err != nil && e.Code == "INVALID_ACCESS_TOKEN" &&
		!strings.HasPrefix(c.AccessToken, "access-"+p.environment+"-") {
		e.Class, e.Advice = bank.Ours, "this connection belongs to another Plaid environment; change the "+
			"environment back, or connect the bank again"
	}
	return err
}

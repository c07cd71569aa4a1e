// Package teller reads accounts and transactions from Teller. It must not know what happens to
// them: it translates between Teller's protocol and the terms of package bank.
package teller

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
)

const (
	name     = "teller"
	title    = "Teller"
	baseURL  = "https://api.teller.io"
	version  = "2020-10-12"
	pageSize = 250
	// A pending row posts within days, and its date changes then.
	windowDays = 10
	// These days before a window are read too: otherwise a row that moved to just before the window
	// would seem removed.
	marginDays = 7
)

// A Config is an installation's configuration of Teller.
type Config struct {
	Environment    string           // sandbox, development or production
	BaseURL        string           // Teller's own if empty
	ApplicationID  string           //
	Certificate    []byte           // the client certificate, PEM; none in the sandbox
	Key            []byte           // its key, PEM
	RootCA         []byte           // the CA to trust instead of the system's, PEM; for a simulator
	SigningKey     string           // the token signing key of the dashboard; if "", signatures are not checked
	WebhookSecrets []string         // the secrets that have not expired
	Now            func() time.Time // time.Now if nil
}

// A Teller is the provider.
type Teller struct {
	client      *bank.Client
	environment string
	application string
	signingKey  []byte
	secrets     func() []string // a closure, so that printing a Teller does not print the secrets
	now         func() time.Time
	widget      bank.Widget
}

var (
	_ bank.Provider  = (*Teller)(nil)
	_ bank.Linker    = (*Teller)(nil)
	_ bank.Embedder  = (*Teller)(nil)
	_ bank.Relinker  = (*Teller)(nil)
	_ bank.Revoker   = (*Teller)(nil)
	_ bank.Balancer  = (*Teller)(nil)
	_ bank.Rereader  = (*Teller)(nil)
	_ bank.Tester    = (*Teller)(nil)
	_ bank.Webhooker = (*Teller)(nil)
)

// New returns the provider for the configuration.
func New(c Config) (*Teller, error) {
	switch {
	case c.Environment != "sandbox" && c.Environment != "development" && c.Environment != "production":
		return nil, errs.New(errs.ProviderNotConfig,
			"the environment of Teller must be sandbox, development or production")
	case c.ApplicationID == "":
		return nil, errs.New(errs.ProviderNotConfig, "Teller needs an application id, which is in its dashboard")
	case c.Environment != "sandbox" && (len(c.Certificate) == 0 || len(c.Key) == 0):
		return nil, errs.New(errs.ProviderNotConfig,
			"Teller needs a client certificate and its key outside the sandbox: both are in the teller.zip of its "+
				"dashboard")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(c.Certificate) > 0 {
		pair, err := tls.X509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, errs.New(errs.ProviderNotConfig,
				"the client certificate of Teller and its key do not belong together, or are not PEM")
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	if len(c.RootCA) > 0 {
		secure.RootCAs = x509.NewCertPool()
		if !secure.RootCAs.AppendCertsFromPEM(c.RootCA) {
			return nil, errs.New(errs.ProviderNotConfig, "the root certificate for Teller is not PEM")
		}
	}
	var signing []byte
	if c.SigningKey != "" {
		if signing = signingKey(c.SigningKey); signing == nil {
			return nil, errs.New(errs.ProviderNotConfig,
				"the token signing key of Teller must be 32 bytes in base64 or hex")
		}
	}
	widget := bank.Widget{
		Script: "https://cdn.teller.io/connect/connect.js", Frames: []string{"https://teller.io/"},
		Connect: name,
	}
	if c.BaseURL == "" {
		c.BaseURL = baseURL
	} else { // a simulator has its own widget, or none
		host := strings.TrimSuffix(c.BaseURL, "/") + "/"
		widget.Script, widget.Frames = host+"connect/connect.js", []string{host}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	client, err := bank.NewClient(name, c.BaseURL, secure)
	if err != nil {
		return nil, err
	}
	return &Teller{
		client: client, environment: c.Environment, application: c.ApplicationID, signingKey: signing, now: c.Now,
		widget:  widget,
		secrets: func() []string { return c.WebhookSecrets },
	}, nil
}

// Name implements [bank.Provider].
func (t *Teller) Name() string { return name }

// Traits implements [bank.Provider].
func (t *Teller) Traits() bank.Traits {
	return bank.Traits{
		Title: title, Shape: bank.Window, PageSize: pageSize, WindowDays: windowDays, MinInterval: 15 * time.Minute,
		PaidBalances: true, PaidPerAccount: true,
	}
}

// credentials is the stored form of a connection.
type credentials struct {
	AccessToken  string `json:"access_token"`
	EnrollmentID string `json:"enrollment_id"`
}

// open reads stored credentials.
func (t *Teller) open(c bank.Credentials) (out credentials, err error) {
	err = c.Open(name, &out, func() bool { return out.AccessToken != "" })
	return out, err
}

// call makes one call and decodes its answer into out, unless out is nil.
func (t *Teller) call(ctx context.Context, method, path string, c credentials, out any) error {
	// The token is the user name of HTTP's basic authentication, and there is no password.
	req := http.Request{Header: http.Header{"Teller-Version": {version}}}
	req.SetBasicAuth(c.AccessToken, "")
	answer, err := t.client.Do(ctx, bank.Call{Method: method, Path: path, Header: req.Header})
	if err != nil {
		return err
	}
	if answer.Status < 200 || answer.Status > 299 {
		return t.refused(answer)
	}
	if out == nil {
		return nil
	}
	if json.Unmarshal(answer.Body, out) != nil {
		return t.client.Malformed()
	}
	return nil
}

func (t *Teller) get(ctx context.Context, path string, c credentials, out any) error {
	return t.call(ctx, http.MethodGet, path, c, out)
}

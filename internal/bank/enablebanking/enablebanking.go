// Package enablebanking reads accounts and transactions of banks in Europe through Enable Banking.
// It must not know what happens to them: it translates between Enable Banking's API and the terms
// of package bank.
package enablebanking

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
)

const (
	name    = "enablebanking"
	title   = "Enable Banking"
	baseURL = "https://api.enablebanking.com"
	// Rows may appear late, so these days are read again.
	windowDays = 30
	// These days before a window are read too: otherwise a row whose date moved to just before the
	// window would seem removed.
	marginDays = 3
	// By law a program may request each account's data four times a day, and a person any number of
	// times.
	dailyLoops = 4
	// The bank is called while coffer's call waits.
	callTimeout = 2 * time.Minute
	tokenLife   = time.Hour
)

// A Config is an installation's configuration of Enable Banking.
type Config struct {
	Application string           // the application's id
	Key         []byte           // the application's RSA key, in PEM
	Redirect    string           // the registered redirect address; "" if it is coffer's own
	BaseURL     string           // the address of a simulator; "" for Enable Banking
	Now         func() time.Time // time.Now if nil
}

// An EnableBanking is the provider.
type EnableBanking struct {
	client      *bank.Client
	application string
	key         *rsa.PrivateKey
	redirect    string
	plain       bool // whether pages may use plain HTTP, as a simulator's do
	now         func() time.Time
}

var (
	_ bank.Provider = (*EnableBanking)(nil)
	_ bank.Linker   = (*EnableBanking)(nil)
	_ bank.Chooser  = (*EnableBanking)(nil)
	_ bank.Relinker = (*EnableBanking)(nil)
	_ bank.Revoker  = (*EnableBanking)(nil)
	_ bank.Rereader = (*EnableBanking)(nil)
	_ bank.Tester   = (*EnableBanking)(nil)
)

// New returns the provider for the configuration.
func New(c Config) (*EnableBanking, error) {
	key, err := readKey(c.Key)
	if err != nil {
		return nil, err
	}
	if c.BaseURL == "" {
		c.BaseURL = baseURL
	}
	client, err := bank.NewClient(name, c.BaseURL, nil)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &EnableBanking{
		client, strings.TrimSpace(c.Application), key, strings.TrimSpace(c.Redirect),
		strings.HasPrefix(c.BaseURL, "http://"), c.Now,
	}, nil
}

// readKey reads an RSA key in the formats of the control panel and openssl.
func readKey(text []byte) (*rsa.PrivateKey, error) {
	wrong := errs.New(errs.ProviderNotConfig,
		"the private key of %s must be an RSA key in PEM format: the file that the control panel gave you", title)
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, wrong
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(*rsa.PrivateKey); err == nil && ok {
		return key, nil
	}
	return nil, wrong
}

// Name implements [bank.Provider].
func (e *EnableBanking) Name() string { return name }

// Traits implements [bank.Provider].
func (e *EnableBanking) Traits() bank.Traits {
	return bank.Traits{
		Title: title, Shape: bank.Window, WindowDays: windowDays, MinInterval: 6 * time.Hour, Lists: true,
		DailyCalls: dailyLoops, PerLoop: true,
	}
}

// token returns the JWT that authenticates a call of the application.
func (e *EnableBanking) token() (string, error) {
	now := e.now()
	head, err := json.Marshal(map[string]string{"typ": "JWT", "alg": "RS256", "kid": e.application})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": "enablebanking.com", "aud": "api.enablebanking.com", "iat": now.Unix(), "exp": now.Add(tokenLife).Unix(),
	})
	if err != nil {
		return "", err
	}
	plain := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sum := sha256.Sum256([]byte(plain))
	signature, err := rsa.SignPKCS1v15(rand.Reader, e.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", &bank.Error{
			Provider: name, Class: bank.Ours, Code: "PRIVATE_KEY", Cause: err,
			Advice: "the private key of the application cannot sign; set it again under Settings › Bank providers",
		}
	}
	return plain + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// call calls Enable Banking and decodes the response. Some banks require more data about a person
// than coffer sends, or none. If a bank rejects the data as incomplete, the call is repeated
// without the person.
func (e *EnableBanking) call(ctx context.Context, method, path string, person *bank.Person, in, out any) error {
	token, err := e.token()
	if err != nil {
		return err
	}
	c := bank.Call{
		Method: method, Path: path, Timeout: callTimeout, Header: http.Header{"Authorization": {"Bearer " + token}},
	}
	if in != nil {
		if c.Body, err = json.Marshal(in); err != nil {
			return err
		}
		c.Header.Set("Content-Type", "application/json")
	}
	if person != nil {
		c.Header.Set("Psu-Ip-Address", person.Address.String())
		c.Header.Set("Psu-User-Agent", person.Agent)
	}
	got, err := e.client.Do(ctx, c)
	if err != nil {
		return err
	}
	if got.Status < 200 || got.Status > 299 {
		err := e.refused(got)
		if person != nil && bank.Classify(err).Code == "PSU_HEADER_NOT_PROVIDED" {
			return e.call(ctx, method, path, nil, in, out)
		}
		return err
	}
	if out != nil && json.Unmarshal(got.Body, out) != nil {
		return e.client.Malformed()
	}
	return nil
}

// Test implements [bank.Tester].
func (e *EnableBanking) Test(ctx context.Context) error {
	var out struct {
		Name *string `json:"name"`
	}
	if err := e.call(ctx, http.MethodGet, "/application", nil, nil, &out); err != nil {
		return err
	}
	if out.Name == nil {
		return e.client.Malformed()
	}
	return nil
}

// credentials is the stored form of a connection. Each session has its own ids for the accounts; in
// the next session, an account is recognized by its hash.
type credentials struct {
	Session  string    `json:"session_id"`
	Bank     string    `json:"aspsp"`
	Country  string    `json:"country"`
	Accounts []account `json:"accounts"`
}

// open reads stored credentials.
func (e *EnableBanking) open(c bank.Credentials) (stored credentials, err error) {
	err = c.Open(name, &stored, func() bool { return stored.Session != "" })
	return stored, err
}

// Package all is the list of data providers: one line for each that coffer can speak to.
// It knows their settings and nothing of how they work.
package all

import (
	"fmt"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/plaid"
	"coffer/internal/bank/teller"
)

// Settings are what providers are made from. A provider without settings is left out.
type Settings struct {
	PlaidClientID, PlaidSecret, PlaidEnvironment, PlaidURL string
	TellerApplication, TellerEnvironment, TellerURL        string
	TellerCertificate, TellerKey, TellerCA                 string // PEM
	TellerSigningKey                                       string
	TellerWebhookSecrets                                   string // comma-separated
}

// Configured are the providers that have settings.
func Configured(s Settings) ([]bank.Provider, error) {
	var out []bank.Provider
	if s.PlaidClientID != "" || s.PlaidSecret != "" {
		p, err := plaid.New(plaid.Config{Environment: s.PlaidEnvironment, BaseURL: s.PlaidURL, ClientID: s.PlaidClientID, Secret: s.PlaidSecret})
		if err != nil {
			return nil, fmt.Errorf("plaid: %w", err)
		}
		out = append(out, p)
	}
	if s.TellerApplication != "" {
		t, err := teller.New(teller.Config{
			Environment: s.TellerEnvironment, BaseURL: s.TellerURL, ApplicationID: s.TellerApplication, Certificate: []byte(s.TellerCertificate), Key: []byte(s.TellerKey), RootCA: []byte(s.TellerCA),
			SigningKey: s.TellerSigningKey, WebhookSecrets: strings.FieldsFunc(s.TellerWebhookSecrets, func(r rune) bool { return r == ',' || r == ' ' }),
		})
		if err != nil {
			return nil, fmt.Errorf("teller: %w", err)
		}
		out = append(out, t)
	}
	return out, nil
}

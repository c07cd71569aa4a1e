package app

import (
	"fmt"
	"os"

	"coffer/internal/bank"
	"coffer/internal/bank/plaid"
	"coffer/internal/bank/teller"
)

// providers are the banks' providers that are configured.
func (c Config) providers() ([]bank.Provider, error) {
	var out []bank.Provider
	if c.PlaidClientID != "" || !c.PlaidSecret.IsZero() {
		p, err := plaid.New(plaid.Config{Environment: c.PlaidEnvironment, BaseURL: c.PlaidURL, ClientID: c.PlaidClientID, Secret: c.PlaidSecret.Reveal()})
		if err != nil {
			return nil, fmt.Errorf("COFFER_PLAID_…: %w", err)
		}
		out = append(out, p)
	}
	if c.TellerApplication == "" {
		return out, nil
	}
	settings := teller.Config{Environment: c.TellerEnvironment, BaseURL: c.TellerURL, ApplicationID: c.TellerApplication}
	for path, into := range map[string]*[]byte{c.TellerCertificate: &settings.Certificate, c.TellerKey: &settings.Key, c.TellerCA: &settings.RootCA} {
		if path == "" {
			continue
		}
		pem, err := os.ReadFile(path) //nolint:gosec // the operator says where it is
		if err != nil {
			return nil, fmt.Errorf("COFFER_TELLER_…: %w", err)
		}
		*into = pem
	}
	t, err := teller.New(settings)
	if err != nil {
		return nil, fmt.Errorf("COFFER_TELLER_…: %w", err)
	}
	return append(out, t), nil
}

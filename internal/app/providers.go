package app

import (
	"fmt"
	"os"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
)

// providers are the banks' providers that are configured.
func (c Config) providers() ([]bank.Provider, error) {
	s := all.Settings{
		PlaidClientID: c.PlaidClientID, PlaidSecret: c.PlaidSecret.Reveal(), PlaidEnvironment: c.PlaidEnvironment, PlaidURL: c.PlaidURL,
		TellerApplication: c.TellerApplication, TellerEnvironment: c.TellerEnvironment, TellerURL: c.TellerURL,
	}
	for _, f := range []struct {
		path string
		into *[]byte
	}{{c.TellerCertificate, &s.TellerCertificate}, {c.TellerKey, &s.TellerKey}, {c.TellerCA, &s.TellerCA}} {
		if f.path == "" {
			continue
		}
		pem, err := os.ReadFile(f.path)
		if err != nil {
			return nil, fmt.Errorf("a file of Teller's: %w", err)
		}
		*f.into = pem
	}
	return all.Configured(s)
}

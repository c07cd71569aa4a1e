package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"coffer/internal/bank/all"
	"coffer/internal/seal"
	"coffer/internal/setting"
)

// environment is what the server was started with, as far as settings go.
func (c Config) environment(ring *seal.Ring) (setting.Environment, error) {
	e := setting.Environment{Ring: ring, PublicURL: c.PublicURL, Fields: all.Settings{
		PlaidClientID: c.PlaidClientID, PlaidSecret: c.PlaidSecret.Reveal(), PlaidEnvironment: c.PlaidEnvironment, PlaidURL: c.PlaidURL,
		TellerApplication: c.TellerApplication, TellerEnvironment: c.TellerEnvironment, TellerURL: c.TellerURL,
		TellerSigningKey: c.TellerSigningKey.Reveal(), TellerWebhookSecrets: c.TellerWebhooks.Reveal(),
	}}
	for _, f := range []struct {
		name, path string
		into       *string
	}{{"TELLER_CERTIFICATE", c.TellerCertificate, &e.Fields.TellerCertificate}, {"TELLER_PRIVATE_KEY", c.TellerKey, &e.Fields.TellerKey}, {"TELLER_CA", c.TellerCA, &e.Fields.TellerCA}} {
		if f.path == "" {
			continue
		}
		pem, err := os.ReadFile(f.path)
		if err != nil {
			if p, ok := errors.AsType[*fs.PathError](err); ok {
				err = p.Err // without the path: someone may have put the key itself there
			}
			return e, fmt.Errorf("%s%s must name a file that coffer can read: %w", prefix, f.name, err)
		}
		*f.into = string(pem)
	}
	var err error
	e.Providers, err = all.Configured(e.Fields)
	return e, err
}

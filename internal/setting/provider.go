package setting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/errs"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/seal"
)

// A field is one thing that a provider is configured with.
type field struct {
	name  string
	place func(*all.Settings) *string
}

// kinds are the fields of each provider. An address is none of them: whoever could set it would be sent the secrets.
var kinds = map[string][]field{
	"plaid": {
		{"client_id", func(s *all.Settings) *string { return &s.PlaidClientID }},
		{"secret", func(s *all.Settings) *string { return &s.PlaidSecret }},
		{environment, func(s *all.Settings) *string { return &s.PlaidEnvironment }},
	},
	"teller": {
		{"application_id", func(s *all.Settings) *string { return &s.TellerApplication }},
		{"certificate", func(s *all.Settings) *string { return &s.TellerCertificate }},
		{"private_key", func(s *all.Settings) *string { return &s.TellerKey }},
		{"signing_key", func(s *all.Settings) *string { return &s.TellerSigningKey }},
		{"webhook_secrets", func(s *all.Settings) *string { return &s.TellerWebhookSecrets }},
		{environment, func(s *all.Settings) *string { return &s.TellerEnvironment }},
	},
}

const environment = "environment"

// Providers are the data providers, each as it is configured.
type Providers struct {
	Plaid  Provider `json:"plaid"`
	Teller Provider `json:"teller"`
}

// A Provider is how a data provider is configured.
type Provider struct {
	Configured  bool             `json:"configured" doc:"Banks can be linked through it"`
	Environment *string          `json:"environment" doc:"sandbox, development or production"`
	Source      string           `json:"source" enum:"env,stored,none" doc:"env: by variables of the server's environment, which win over what is stored"`
	Fields      map[string]Field `json:"fields"`
	WebhookURL  *string          `json:"webhook_url" doc:"Where the provider is to send its webhooks; null while COFFER_PUBLIC_URL is not set"`
	LastTest    *Tested          `json:"last_test"`
}

// A Field says whether a secret is set, and how it ends.
type Field struct {
	Set    bool   `json:"set"`
	Masked string `json:"masked,omitempty" doc:"Its last four characters, where it is long enough to show them" example:"****6f3a"`
}

// A Tested is what came of the last test.
type Tested struct {
	OK      bool    `json:"ok"`
	Code    string  `json:"code" doc:"OK, or a stable code of what went wrong"`
	Message string  `json:"message" doc:"What a person can do"`
	At      pg.Time `json:"at"`
}

// masked shows how a secret ends. A short one would be shown in half by that, and the end of a PEM file is the same for all of them.
func masked(secret string) string {
	const hidden, shown = "****", 4
	secret = strings.TrimSpace(secret)
	if len(secret) < 3*shown || strings.HasSuffix(secret, "-----") {
		return hidden
	}
	return hidden + secret[len(secret)-shown:]
}

func keyNeeded() error {
	return errs.New(errs.EncryptionKeyNeeded, "set COFFER_ENCRYPTION_KEY on the server first: without it secrets cannot be kept (make one with: openssl rand -base64 32)")
}

func fieldsPlace(provider string) seal.Place {
	return seal.Place{Table: "provider_setting", Column: "fields", Row: provider}
}

type providerRow struct {
	Provider string   `db:"provider"`
	Fields   []byte   `db:"fields"`
	Version  int64    `db:"version"`
	TestedAt *pg.Time `db:"tested_at"`
	Code     *string  `db:"test_code"`
	Message  *string  `db:"test_message"`
}

const providerRows = `select provider, fields, version, tested_at, test_code, test_message from provider_setting`

// A made provider belongs to one version of what is stored.
type made struct {
	version  int64
	provider bank.Provider
}

// Provider is the provider of that name as it is configured now, on whichever server that was done. It is asked for at the start of each use and not kept.
func (s *Settings) Provider(ctx context.Context, name string) (bank.Provider, error) {
	if p := s.inherited(name); p != nil {
		if s.ring == nil {
			return nil, keyNeeded()
		}
		return p, nil
	}
	rows, err := pg.All[providerRow](ctx, s.db, providerRows+` where provider = $1 and fields is not null`, name)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errs.New(errs.ProviderNotConfig, "%s is not configured; PUT /api/v1/settings/providers/%s does it, or set COFFER_%s_… in the server's environment and start it anew (coffer doctor --settings lists the variables)",
			name, name, strings.ToUpper(name))
	}
	row := rows[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.made[name]; ok && m.version == row.Version {
		return m.provider, nil
	}
	stored, err := s.open(row)
	if err != nil {
		return nil, err
	}
	p, err := s.make(name, stored)
	if err != nil {
		return nil, err
	}
	s.made[name] = made{row.Version, p}
	return p, nil
}

// inherited is the provider that the environment configures, or nil.
func (s *Settings) inherited(name string) bank.Provider {
	for _, p := range s.inherit {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// open reads what is stored.
func (s *Settings) open(row providerRow) (map[string]string, error) {
	out := map[string]string{}
	if row.Fields == nil {
		return out, nil
	}
	plain, err := s.ring.Open(fieldsPlace(row.Provider), row.Fields)
	if errors.Is(err, seal.ErrNoKey) {
		return nil, keyNeeded()
	}
	if err != nil {
		return nil, fmt.Errorf("settings of %s: %w", row.Provider, err)
	}
	if err := json.Unmarshal(plain, &out); err != nil {
		return nil, fmt.Errorf("settings of %s cannot be read", row.Provider) // the cause could quote a secret
	}
	return out, nil
}

// make builds a provider of its fields; where simulators are is the environment's to say.
func (s *Settings) make(name string, fields map[string]string) (bank.Provider, error) {
	env := s.env()
	in := all.Settings{PlaidURL: env.PlaidURL, TellerURL: env.TellerURL, TellerCA: env.TellerCA}
	for _, f := range kinds[name] {
		*f.place(&in) = fields[f.name]
	}
	made, err := all.Configured(in)
	if err != nil {
		return nil, err
	}
	if len(made) == 0 {
		return nil, errs.New(errs.ProviderNotConfig, "%s needs at least %s", name, kinds[name][0].name)
	}
	return made[0], nil
}

// Providers are all data providers.
func (s *Settings) Providers(ctx context.Context, q pg.Querier, _ op.None) (Providers, error) {
	plaid, err := s.ProviderSetting(ctx, q, ProviderRef{"plaid"})
	if err != nil {
		return Providers{}, err
	}
	teller, err := s.ProviderSetting(ctx, q, ProviderRef{"teller"})
	return Providers{plaid, teller}, err
}

// A ProviderRef names a data provider.
type ProviderRef struct {
	Provider string `json:"provider" enum:"plaid,teller"`
}

// ProviderSetting is how one data provider is configured.
func (s *Settings) ProviderSetting(ctx context.Context, q pg.Querier, in ProviderRef) (Provider, error) {
	rows, err := pg.All[providerRow](ctx, q, providerRows+` where provider = $1`, in.Provider)
	if err != nil {
		return Provider{}, err
	}
	row := providerRow{Provider: in.Provider}
	if len(rows) > 0 {
		row = rows[0]
	}
	return s.show(row)
}

// show is what may be seen of a provider's configuration.
func (s *Settings) show(row providerRow) (Provider, error) {
	out := Provider{Source: "none", Fields: map[string]Field{}}
	fields, err := s.open(row)
	switch {
	case s.inherited(row.Provider) != nil:
		out.Source, out.Configured, fields = "env", s.ring != nil, map[string]string{}
		env := s.env()
		for _, f := range kinds[row.Provider] {
			fields[f.name] = *f.place(&env)
		}
	case errs.Is(err, errs.EncryptionKeyNeeded):
		out.Source = "stored" // which nobody can open on a server without the key
	case err != nil:
		return Provider{}, err
	case row.Fields != nil:
		out.Source, out.Configured = "stored", true
	}
	for _, f := range kinds[row.Provider] {
		value := fields[f.name]
		if f.name == environment {
			if out.Source != "none" && value != "" {
				out.Environment = &value
			}
			continue
		}
		out.Fields[f.name] = Field{}
		if value != "" {
			out.Fields[f.name] = Field{Set: true, Masked: masked(value)}
		}
	}
	if s.public != "" {
		out.WebhookURL = new(strings.TrimSuffix(s.public, "/") + "/webhooks/" + row.Provider)
	}
	if row.TestedAt != nil && row.Code != nil && row.Message != nil {
		out.LastTest = &Tested{OK: *row.Code == passed, Code: *row.Code, Message: *row.Message, At: *row.TestedAt}
	}
	return out, nil
}

// SetProvider is the input of SetProvider.
type SetProvider struct {
	Provider       string          `json:"provider" enum:"plaid,teller"`
	Environment    *string         `json:"environment,omitempty" enum:"sandbox,development,production" doc:"sandbox if never set"`
	ClientID       *string         `json:"client_id,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Of Plaid, from its dashboard"`
	Secret         *string         `json:"secret,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Of Plaid, of that environment"`
	ApplicationID  *string         `json:"application_id,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Of Teller, from its dashboard"`
	Certificate    op.Null[string] `json:"certificate,omitzero" minLength:"1" maxLength:"20000" doc:"Of Teller: the client certificate, PEM; needed outside the sandbox"`
	PrivateKey     op.Null[string] `json:"private_key,omitzero" minLength:"1" maxLength:"20000" doc:"Of Teller: its key, PEM"`
	SigningKey     op.Null[string] `json:"signing_key,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"Of Teller: the token signing key"`
	WebhookSecrets op.Null[string] `json:"webhook_secrets,omitzero" minLength:"1" maxLength:"1000" format:"line" doc:"Of Teller: the secrets that sign webhooks, comma-separated"`
}

// given are the fields that the input sets; a null sets "".
func (in SetProvider) given() map[string]string {
	out := map[string]string{}
	for name, v := range map[string]*string{environment: in.Environment, "client_id": in.ClientID, "secret": in.Secret, "application_id": in.ApplicationID} {
		if v != nil {
			out[name] = strings.TrimSpace(*v)
		}
	}
	for name, v := range map[string]op.Null[string]{"certificate": in.Certificate, "private_key": in.PrivateKey, "signing_key": in.SigningKey, "webhook_secrets": in.WebhookSecrets} {
		if v.Set {
			out[name] = ""
			if v.Value != nil {
				out[name] = strings.TrimSpace(*v.Value)
			}
		}
	}
	return out
}

// SetProvider stores how a data provider is configured. What is left out stays as it is, because secrets cannot be read and sent back.
func (s *Settings) SetProvider(ctx context.Context, tx pg.Tx, in SetProvider) (Provider, error) {
	row, err := s.lock(ctx, tx, in.Provider)
	if err != nil {
		return Provider{}, err
	}
	fields, err := s.open(row)
	if err != nil {
		return Provider{}, err
	}
	given := in.given()
	for _, f := range kinds[in.Provider] {
		if v, ok := given[f.name]; ok {
			fields[f.name] = v
			delete(given, f.name)
		}
	}
	for name := range given {
		return Provider{}, errs.Field(name, "unknown", "is no field of %s", in.Provider)
	}
	if fields[environment] == "" {
		fields[environment] = "sandbox"
	}
	if _, err := s.make(in.Provider, fields); err != nil {
		if e, ok := errors.AsType[*errs.Error](err); ok {
			return Provider{}, errs.New(errs.ValidationError, "%s", e.Message)
		}
		return Provider{}, err
	}
	plain, err := json.Marshal(fields)
	if err != nil {
		return Provider{}, fmt.Errorf("print settings: %w", err)
	}
	sealed, err := s.ring.Seal(fieldsPlace(in.Provider), plain)
	if errors.Is(err, seal.ErrNoKey) {
		return Provider{}, keyNeeded()
	}
	if err != nil {
		return Provider{}, err
	}
	return s.write(ctx, tx, in.Provider, sealed)
}

// lock is a provider's row, with nobody else changing it until the transaction ends; where there is none it is made.
func (s *Settings) lock(ctx context.Context, tx pg.Tx, name string) (providerRow, error) {
	if err := peopleOnly(ctx); err != nil {
		return providerRow{}, err
	}
	if s.inherited(name) != nil {
		return providerRow{}, errs.New(errs.Conflict, "%s is configured by the server's environment, which wins; remove the COFFER_%s_… variables there and start it anew, or change them there", name, strings.ToUpper(name))
	}
	if _, err := pg.Exec(ctx, tx, `insert into provider_setting (provider) values ($1) on conflict do nothing`, name); err != nil {
		return providerRow{}, err
	}
	row, err := pg.One[providerRow](ctx, tx, providerRows+` where provider = $1 for update`, name)
	if err != nil {
		return providerRow{}, err
	}
	shown, err := s.show(row)
	if err != nil {
		return providerRow{}, err
	}
	return row, op.Match(ctx, shown)
}

// write stores the fields; what a test said of others says nothing of these.
func (s *Settings) write(ctx context.Context, tx pg.Tx, name string, sealed []byte) (Provider, error) {
	row, err := pg.One[providerRow](ctx, tx, `
		update provider_setting set fields = $2, version = version + 1, tested_at = null, test_code = null, test_message = null where provider = $1
		returning provider, fields, version, tested_at, test_code, test_message`, name, sealed)
	if err != nil {
		return Provider{}, err
	}
	return s.show(row)
}

// An Unset says what was forgotten.
type Unset struct {
	Deleted  bool   `json:"deleted"`
	Provider string `json:"provider"`
}

// UnsetProvider forgets what is stored. Connections stay and cannot be synced until it is configured again.
func (s *Settings) UnsetProvider(ctx context.Context, tx pg.Tx, in ProviderRef) (Unset, error) {
	row, err := s.lock(ctx, tx, in.Provider)
	if err != nil {
		return Unset{}, err
	}
	if row.Fields == nil {
		return Unset{}, errs.New(errs.NotFound, "nothing is stored about %s", in.Provider)
	}
	_, err = s.write(ctx, tx, in.Provider, nil)
	return Unset{true, in.Provider}, err
}

const passed = "OK"

// A trial is a test, and the version of the configuration that was tested.
type trial struct {
	Tested
	version int64
}

// try asks the provider. That it refuses is no failure of the test, which shall say so.
func (s *Settings) try(ctx context.Context, q pg.Querier, in ProviderRef) (trial, error) {
	version, err := pg.Value[int64](ctx, q, `select coalesce((select version from provider_setting where provider = $1), 0)`, in.Provider) // before it is used: one that is set meanwhile is noticed
	if err != nil {
		return trial{}, err
	}
	p, err := s.Provider(ctx, in.Provider)
	if err != nil {
		return trial{}, err
	}
	tester, ok := p.(bank.Tester)
	if !ok {
		return trial{}, errs.New(errs.Conflict, "%s cannot be tested; link a bank to see whether it works", in.Provider)
	}
	if err := tester.Test(ctx); err != nil {
		e := bank.Classify(err)
		return trial{Tested{Code: e.Code, Message: e.Advice}, version}, nil
	}
	return trial{Tested{OK: true, Code: passed, Message: p.Traits().Title + " accepts this configuration"}, version}, nil
}

// TestProvider remembers what the provider answered, of the configuration that it was asked with.
func (s *Settings) TestProvider(ctx context.Context, tx pg.Tx, in ProviderRef, t trial) (Tested, error) {
	at, err := pg.Value[pg.Time](ctx, tx, `
		insert into provider_setting as p (provider, tested_at, test_code, test_message) values ($1, clock_timestamp(), $2, $3)
		on conflict (provider) do update set tested_at = excluded.tested_at, test_code = excluded.test_code, test_message = excluded.test_message where p.version = $4
		returning p.tested_at`, in.Provider, t.Code, t.Message, t.version)
	if errors.Is(err, pg.ErrNoRow) {
		return Tested{}, errs.New(errs.Conflict, "the configuration of %s was changed while it was tested; test it again", in.Provider)
	}
	t.At = at
	return t.Tested, err
}

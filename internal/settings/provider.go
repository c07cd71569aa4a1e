package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// Providers holds the configuration of each data provider, by name.
type Providers map[string]Provider

// Schema lists the supported providers.
func (Providers) Schema() *op.Schema {
	s := &op.Schema{Name: "Providers", Type: "object"}
	for _, name := range all.Remote("").Enum() {
		s.Props = append(s.Props, op.Prop{Schema: op.SchemaOf[Provider](), Name: name, Required: true})
	}
	return s
}

// A Provider is the configuration of a data provider.
type Provider struct {
	Configured  bool             `json:"configured" doc:"Whether banks can be connected through it"`
	Environment *string          `json:"environment" doc:"sandbox, development or production"`
	Source      string           `json:"source" enum:"env,stored,none" doc:"env: by environment variables of the server, which take precedence over stored settings"`
	Fields      map[string]Field `json:"fields"`
	WebhookURL  *string          `json:"webhook_url" doc:"Where the provider must send its webhooks; null while COFFER_PUBLIC_URL is not set"`
	LastTest    *Tested          `json:"last_test"`
}

// A Field shows whether a secret is set, and its last characters.
type Field struct {
	Set    bool   `json:"set"`
	Masked string `json:"masked,omitempty" doc:"Its last four characters, if it is long enough to show them" example:"****6f3a"`
}

// A Tested is the result of the last test.
type Tested struct {
	OK      bool    `json:"ok"`
	Code    string  `json:"code" doc:"OK, or a stable error code"`
	Message string  `json:"message" doc:"What to do about it"`
	At      pg.Time `json:"at"`
}

// masked shows the last characters of a secret. It shows none of a short secret, because they would
// be a large part of it, and none of a PEM file, because the ends of all PEM files are alike.
func masked(secret string) string {
	const hidden, shown = "****", 4
	secret = strings.TrimSpace(secret)
	if len(secret) < 3*shown || strings.HasSuffix(secret, "-----") {
		return hidden
	}
	return hidden + secret[len(secret)-shown:]
}

func keyNeeded() error {
	return errs.New(errs.EncryptionKeyNeeded,
		"set COFFER_ENCRYPTION_KEY on the server first: secrets cannot be stored without it (create one: "+
			"openssl rand -base64 32)")
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

// A made provider was built from one version of the stored settings.
type made struct {
	version  int64
	provider bank.Provider
}

// Provider returns the provider with this name and its current configuration, even if another
// server has changed it. Callers must ask before each use and not keep the provider.
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
		return nil, errs.New(errs.ProviderNotConfig,
			"%s is not configured; use {provider.set}, or set COFFER_%s_… in the server's environment and restart it "+
				"(coffer doctor --settings lists the variables)",
			name, strings.ToUpper(name))
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

// inherited returns the provider that is configured in the environment, or nil.
func (s *Settings) inherited(name string) bank.Provider {
	for _, p := range s.inherit {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// open reads the stored fields.
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
		return nil, fmt.Errorf("the settings of %s are damaged; set them again",
			row.Provider) // the cause could quote a secret
	}
	return out, nil
}

// make builds a provider from its fields. Local fields, such as a simulator's address, come from
// the environment.
func (s *Settings) make(name string, fields map[string]string) (bank.Provider, error) {
	spec, ok := all.Find(name)
	if !ok {
		return nil, errs.New(errs.ProviderNotConfig, "this version of coffer does not support the provider %s", name)
	}
	values := bank.Values{}
	for _, f := range spec.Fields {
		if f.Local {
			values[f.Name] = s.env(name)[f.Name]
		} else {
			values[f.Name] = fields[f.Name]
		}
	}
	if !spec.Configured(values) {
		return nil, errs.New(errs.ProviderNotConfig, "%s needs at least %s", name, spec.Fields[0].Name)
	}
	return spec.New(values)
}

// Providers returns all data providers.
func (s *Settings) Providers(ctx context.Context, q pg.Querier, _ op.None) (Providers, error) {
	out := Providers{}
	for _, name := range all.Remote("").Enum() {
		p, err := s.ProviderSetting(ctx, q, ProviderRef{all.Remote(name)})
		if err != nil {
			return nil, err
		}
		out[name] = p
	}
	return out, nil
}

// A ProviderRef names a data provider.
type ProviderRef struct {
	Provider all.Remote `json:"provider"`
}

// ProviderSetting returns the configuration of one data provider.
func (s *Settings) ProviderSetting(ctx context.Context, q pg.Querier, in ProviderRef) (Provider, error) {
	rows, err := pg.All[providerRow](ctx, q, providerRows+` where provider = $1`, in.Provider)
	if err != nil {
		return Provider{}, err
	}
	row := providerRow{Provider: string(in.Provider)}
	if len(rows) > 0 {
		row = rows[0]
	}
	return s.show(row)
}

// show returns the visible part of a provider's configuration.
func (s *Settings) show(row providerRow) (Provider, error) {
	out := Provider{Source: "none", Fields: map[string]Field{}}
	spec, _ := all.Find(row.Provider)
	fields, err := s.open(row)
	switch {
	case spec.Ready():
		out.Configured = s.ring != nil
	case s.inherited(row.Provider) != nil:
		out.Source, out.Configured, fields = "env", s.ring != nil, s.env(row.Provider)
	case errs.Is(err, errs.EncryptionKeyNeeded):
		out.Source = "stored" // a server without the key cannot open the fields
	case err != nil:
		return Provider{}, err
	case row.Fields != nil:
		out.Source, out.Configured = "stored", true
	}
	for _, f := range spec.Fields {
		value := fields[f.Name]
		switch {
		case f.Local:
		case f.Name == bank.Environment:
			if out.Source != "none" && value != "" {
				out.Environment = &value
			}
		case value == "":
			out.Fields[f.Name] = Field{}
		default:
			out.Fields[f.Name] = Field{Set: true, Masked: masked(value)}
		}
	}
	if s.public != "" && spec.Webhooks() {
		out.WebhookURL = new(strings.TrimSuffix(s.public, "/") + "/webhooks/" + row.Provider)
	}
	if row.TestedAt != nil && row.Code != nil && row.Message != nil {
		out.LastTest = &Tested{OK: *row.Code == passed, Code: *row.Code, Message: *row.Message, At: *row.TestedAt}
	}
	return out, nil
}

// SetProvider is the input of SetProvider: a provider, and any of its fields.
type SetProvider struct {
	Provider all.Remote
	Given    map[string]string // by name; "" clears the field
}

// Schema contains the fields of all providers. If two providers have the same field, the first one
// describes it.
func (SetProvider) Schema() *op.Schema {
	s := op.SchemaOf[struct {
		Provider    all.Remote `json:"provider"`
		Environment *string    `json:"environment,omitempty" doc:"Defaults to sandbox"`
	}]()
	s.Name = "SetProvider"
	s.Prop(bank.Environment).Enum = bank.Environments
	for _, spec := range all.Specs {
		for _, f := range spec.Fields {
			if !f.Local && s.Prop(f.Name) == nil {
				s.Props = append(s.Props, op.Prop{Schema: fieldSchema(spec, f), Name: f.Name})
			}
		}
	}
	return s
}

func fieldSchema(spec bank.Spec, f bank.Field) *op.Schema {
	s := &op.Schema{Type: "string", Nullable: !f.Required, MinLen: new(1), MaxLen: new(f.Limit())}
	s.Description = spec.Title + ": " + f.Doc
	if f.PEM {
		s.Description += "; PEM"
	} else {
		s.Format = "line"
	}
	return s
}

// UnmarshalJSON implements json.Unmarshaler. A null clears a field.
func (in *SetProvider) UnmarshalJSON(b []byte) error {
	var given map[string]*string
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	in.Given = map[string]string{}
	for name, v := range given {
		value := ""
		if v != nil {
			value = strings.TrimSpace(*v)
		}
		in.Given[name] = value
	}
	in.Provider = all.Remote(in.Given["provider"])
	delete(in.Given, "provider")
	return nil
}

// SetProvider stores the configuration of a data provider. Omitted fields are kept, because secrets
// can't be read and sent back.
func (s *Settings) SetProvider(ctx context.Context, tx pg.Tx, in SetProvider) (Provider, error) {
	name := string(in.Provider)
	row, err := s.lock(ctx, tx, name)
	if err != nil {
		return Provider{}, err
	}
	fields, err := s.open(row)
	if err != nil {
		return Provider{}, err
	}
	spec, _ := all.Find(name)
	for field, value := range in.Given {
		if f, ok := spec.Field(field); !ok || f.Local {
			return Provider{}, errs.Field(field, "unknown", "is not a field of %s", name)
		}
		fields[field] = value
	}
	for _, f := range spec.Fields {
		if fields[f.Name] == "" && f.Default() != "" {
			fields[f.Name] = f.Default()
		}
	}
	if _, err := s.make(name, fields); err != nil {
		if e, ok := errors.AsType[*errs.Error](err); ok {
			return Provider{}, errs.New(errs.ValidationError, "%s", e.Message)
		}
		return Provider{}, err
	}
	plain, err := json.Marshal(fields)
	if err != nil {
		return Provider{}, fmt.Errorf("print settings: %w", err)
	}
	sealed, err := s.ring.Seal(fieldsPlace(name), plain)
	if errors.Is(err, seal.ErrNoKey) {
		return Provider{}, keyNeeded()
	}
	if err != nil {
		return Provider{}, err
	}
	return s.write(ctx, tx, name, sealed)
}

// lock returns a provider's row and creates it if there is none. Nobody else can change the row
// until the transaction ends.
func (s *Settings) lock(ctx context.Context, tx pg.Tx, name string) (providerRow, error) {
	if spec, _ := all.Find(name); spec.Ready() {
		return providerRow{}, errs.New(errs.Conflict, "%s needs no configuration; connect a bank", name)
	}
	if s.inherited(name) != nil {
		return providerRow{}, errs.New(errs.Conflict,
			"%s is configured in the server's environment, which takes precedence; change the COFFER_%s_… "+
				"variables there, or remove them and restart the server", name, strings.ToUpper(name))
	}
	if _, err := pg.Exec(ctx, tx, `insert into provider_setting (provider) values ($1)
		on conflict do nothing`, name); err != nil {
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

// write stores the fields and clears the test result, which was for the former fields.
func (s *Settings) write(ctx context.Context, tx pg.Tx, name string, sealed []byte) (Provider, error) {
	row, err := pg.One[providerRow](ctx, tx, `
		update provider_setting set fields = $2, version = version + 1, tested_at = null, test_code = null,
			test_message = null where provider = $1
		returning provider, fields, version, tested_at, test_code, test_message`, name, sealed)
	if err != nil {
		return Provider{}, err
	}
	return s.show(row)
}

// An Unset names the provider whose settings were deleted.
type Unset struct {
	Deleted  bool   `json:"deleted"`
	Provider string `json:"provider"`
}

// UnsetProvider deletes the stored configuration. Connections are kept, and cannot be synced until
// the provider is configured again.
func (s *Settings) UnsetProvider(ctx context.Context, tx pg.Tx, in ProviderRef) (Unset, error) {
	row, err := s.lock(ctx, tx, string(in.Provider))
	if err != nil {
		return Unset{}, err
	}
	if row.Fields == nil {
		return Unset{}, errs.New(errs.NotFound, "%s has no stored configuration", in.Provider)
	}
	_, err = s.write(ctx, tx, string(in.Provider), nil)
	return Unset{true, string(in.Provider)}, err
}

const passed = "OK"

// A trial is a test, and the version of the configuration that was tested.
type trial struct {
	Tested
	version int64
}

// try calls the provider with the current configuration. A rejection is a result, not an error.
func (s *Settings) try(ctx context.Context, q pg.Querier, in ProviderRef) (trial, error) {
	// Read the version before using the configuration, so that a change in between is detected.
	version, err := pg.Value[int64](ctx, q, `select coalesce((select version from provider_setting
		where provider = $1), 0)`, in.Provider)
	if err != nil {
		return trial{}, err
	}
	p, err := s.Provider(ctx, string(in.Provider))
	if err != nil {
		return trial{}, err
	}
	tester, ok := p.(bank.Tester)
	if !ok {
		return trial{}, errs.New(errs.Conflict, "%s can't be tested; connect a bank to see whether it works",
			in.Provider)
	}
	if err := tester.Test(ctx); err != nil {
		e := bank.Classify(err)
		return trial{Tested{Code: e.Code, Message: e.Advice}, version}, nil
	}
	return trial{Tested{OK: true, Code: passed, Message: p.Traits().Title + " accepts this configuration"}, version},
		nil
}

// TestProvider stores the result of a test together with the configuration that was tested.
func (s *Settings) TestProvider(ctx context.Context, tx pg.Tx, in ProviderRef, t trial) (Tested, error) {
	at, err := pg.Value[pg.Time](ctx, tx, `
		insert into provider_setting as p (provider, tested_at, test_code, test_message)
			values ($1, clock_timestamp(), $2, $3)
		on conflict (provider) do update set tested_at = excluded.tested_at, test_code = excluded.test_code,
			test_message = excluded.test_message where p.version = $4
		returning p.tested_at`, in.Provider, t.Code, t.Message, t.version)
	if errors.Is(err, pg.ErrNoRow) {
		return Tested{}, errs.New(errs.Conflict,
			"the configuration of %s was changed while it was tested; test it again", in.Provider)
	}
	t.At = at
	return t.Tested, err
}

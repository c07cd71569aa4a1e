// Package setting keeps what the household has configured: its own preferences, its data providers, its models and what agents may do.
// It must not know what anyone does with a setting; it answers the provider of a name as it is configured now, and never what a secret is.
package setting

import (
	"context"
	"sync"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/errs"
	"coffer/internal/money"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/seal"
)

// Settings are the settings of one household.
type Settings struct {
	db      *pg.DB
	ring    *seal.Ring          // nil without an encryption key
	env     func() all.Settings // what this server's environment says; a function, so that nothing that prints Settings prints it
	public  string              // the address under which others reach the server; "" if only this machine does
	inherit []bank.Provider     // the providers that the environment configures

	mu   sync.Mutex
	made map[string]made // providers that were made of what is stored
}

// New makes the Settings on that database.
func New(db *pg.DB) *Settings {
	return &Settings{db: db, env: func() all.Settings { return all.Settings{} }, made: map[string]made{}}
}

// An Environment is what the server was started with.
type Environment struct {
	Ring      *seal.Ring
	Fields    all.Settings
	Providers []bank.Provider // those that Fields configure
	PublicURL string
}

// Connect gives the settings what the server was started with. It is called while the service is put together, never later.
func (s *Settings) Connect(e Environment) {
	s.ring, s.inherit, s.public = e.Ring, e.Providers, e.PublicURL
	s.env = func() all.Settings { return e.Fields }
}

// Ops is setting's menu. No tool is on it: what agents may do is not theirs to change.
func (s *Settings) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "setting.get", Route: "GET /settings", Record: true, Summary: "Shows the household's own settings."}, s.Get),
		op.Writing(op.Spec{Name: "setting.update", Route: "PATCH /settings", Record: true, Summary: "Changes the household's name, currency, time zone, sync interval or retention."}, s.Patch),
		op.Reading(op.Spec{Name: "agent.get", Route: "GET /settings/agents", Record: true, Summary: "Shows what agents may spend and change, and when they rest."}, s.Agents),
		op.Writing(op.Spec{Name: "agent.update", Route: "PATCH /settings/agents", Record: true, Summary: "Changes what agents may spend and change, and when they rest."}, s.PatchAgents),
		op.Reading(op.Spec{Name: "model.get", Route: "GET /settings/models", Record: true, Summary: "Shows where models are asked and what they cost; keys are masked."}, s.Models),
		op.Writing(op.Spec{Name: "model.set", Route: "PUT /settings/models", Record: true, Seals: true, Summary: "Sets where one provider's models are asked, with which key, and what they cost."}, s.SetModel),
		op.Reading(op.Spec{Name: "provider.list", Route: "GET /settings/providers", Record: true, Summary: "Shows how the data providers are configured; secrets are masked."}, s.Providers),
		op.Reading(op.Spec{Name: "provider.get", Route: "GET /settings/providers/{provider}", Record: true, Summary: "Shows how one data provider is configured; secrets are masked."}, s.ProviderSetting),
		op.Writing(op.Spec{Name: "provider.set", Route: "PUT /settings/providers/{provider}", Record: true, Seals: true, Summary: "Configures a data provider, for all servers from now on; what is left out stays."}, s.SetProvider),
		op.Writing(op.Spec{Name: "provider.unset", Route: "DELETE /settings/providers/{provider}", Summary: "Forgets what is stored about a data provider."}, s.UnsetProvider),
		op.Calling(op.Spec{Name: "provider.test", Route: "POST /settings/providers/{provider}/test", Summary: "Asks a data provider something cheap, to see whether it accepts its configuration."}, s.try, s.TestProvider),
	}
}

// A Household is what the household has decided about itself.
type Household struct {
	Name                string         `json:"household_name" db:"household_name"`
	DefaultCurrency     money.Currency `json:"default_currency" db:"default_currency" doc:"Of an account that a file makes, where neither the file nor the caller says one"`
	TimeZone            string         `json:"time_zone" db:"time_zone" doc:"By which days and months begin" example:"Europe/Berlin"`
	SyncIntervalSeconds int            `json:"default_sync_interval_seconds" db:"default_sync_interval_seconds" doc:"How often a connection is synced that says nothing else"`
	RetentionDays       *int           `json:"retention_days" db:"retention_days" doc:"How long the logs of syncs are kept; null is for ever. Transactions and the journal stay in any case"`
	UpdatedAt           pg.Time        `json:"updated_at" db:"updated_at"`
}

const householdRow = `select household_name, default_currency, time_zone, default_sync_interval_seconds, retention_days, updated_at from setting`

// Get is what the household has decided.
func (s *Settings) Get(ctx context.Context, q pg.Querier, _ op.None) (Household, error) {
	return pg.One[Household](ctx, q, householdRow)
}

// PatchHousehold is the input of Patch.
type PatchHousehold struct {
	Name                *string         `json:"household_name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	DefaultCurrency     *money.Currency `json:"default_currency,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	TimeZone            *string         `json:"time_zone,omitempty" minLength:"1" maxLength:"64" format:"line" doc:"A name of the IANA database" example:"Europe/Berlin"`
	SyncIntervalSeconds *int            `json:"default_sync_interval_seconds,omitempty" minimum:"900" maximum:"2592000" doc:"Of each connection from its next sync on"`
	RetentionDays       op.Null[int]    `json:"retention_days,omitzero" minimum:"30" maximum:"3650" doc:"null is for ever"`
}

// Patch changes what the household has decided.
func (s *Settings) Patch(ctx context.Context, tx pg.Tx, in PatchHousehold) (Household, error) {
	if err := peopleOnly(ctx); err != nil {
		return Household{}, err
	}
	now, err := pg.One[Household](ctx, tx, householdRow+` for update`)
	if err != nil {
		return Household{}, err
	}
	if err := op.Match(ctx, now); err != nil {
		return Household{}, err
	}
	if in.TimeZone != nil {
		known, err := pg.Value[bool](ctx, tx, `select exists (select from pg_timezone_names where name = $1)`, *in.TimeZone)
		if err != nil {
			return Household{}, err
		}
		if !known {
			return Household{}, errs.Field("time_zone", "unknown", "must be a name of the IANA database, such as Europe/Berlin or America/New_York")
		}
	}
	return pg.One[Household](ctx, tx, `
		update setting set
			household_name = coalesce(@name, household_name), default_currency = coalesce(@currency, default_currency), time_zone = coalesce(@zone, time_zone),
			default_sync_interval_seconds = coalesce(@interval, default_sync_interval_seconds), retention_days = case when @given then @retention else retention_days end,
			updated_at = clock_timestamp()
		returning household_name, default_currency, time_zone, default_sync_interval_seconds, retention_days, updated_at`, pg.Args{
		"name": in.Name, "currency": in.DefaultCurrency, "zone": in.TimeZone, "interval": in.SyncIntervalSeconds, "given": in.RetentionDays.Set, "retention": in.RetentionDays.Value,
	})
}

// peopleOnly refuses agents: whoever steers one must not give it more than a person gave.
func peopleOnly(ctx context.Context) error {
	return op.ForPeople(ctx, "settings are for people to change")
}

// Package settings stores the household's configuration: its own preferences, its data providers,
// its models and the limits of agents. It must not know what a setting is used for. It returns
// providers with their current configuration, and never reveals a secret.
package settings

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"coffer/internal/bank"
	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

// Settings reads and changes the settings of one household.
type Settings struct {
	// Scheduled means that a server makes backups.
	Scheduled bool

	db   *pg.DB
	ring *seal.Ring // nil without an encryption key
	// env returns a provider's configuration from the server's environment. It is a function
	// because fmt would print the secrets in a map: fmt does not call the methods that mask them if
	// the field is unexported.
	env      func(provider string) bank.Values
	envModel func(provider string) llm.Config   // the same for a model provider; zero if none
	public   string                             // the server's public address; "" if only this machine can reach it
	inherit  []bank.Provider                    // the providers that the environment configures
	rezoned  func(context.Context, pg.Tx) error // may be nil

	mu   sync.Mutex
	made map[string]made // providers built from the stored configuration
	// clients of models, built from the stored configuration or the environment
	clients map[string]client
}

// A Config holds what New needs: the database, and the configuration with which the server was
// started.
type Config struct {
	DB        *pg.DB
	Ring      *seal.Ring             // nil without an encryption key
	Fields    map[string]bank.Values // by the provider's name
	Providers []bank.Provider        // those that Fields configure
	// Models returns the address and the key of a model provider in the server's environment. It is
	// nil if the environment has none. It is a function for the same reason as Settings.env.
	Models    func(provider string) llm.Config
	PublicURL string
	// Rezoned is called in the transaction that changes the household's time zone. It may be nil.
	Rezoned func(context.Context, pg.Tx) error
}

// New returns the Settings of a household.
func New(c Config) *Settings {
	if c.Models == nil {
		c.Models = func(string) llm.Config { return llm.Config{} }
	}
	return &Settings{
		envModel: c.Models, clients: map[string]client{}, rezoned: c.Rezoned,
		db: c.DB, ring: c.Ring, inherit: c.Providers, public: c.PublicURL,
		env: func(provider string) bank.Values { return c.Fields[provider] }, made: map[string]made{},
	}
}

// Ops returns the operations of settings. None of them is a tool, because agents must not change
// their own limits.
func (s *Settings) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "setting.get", Route: "GET /settings", Record: true,
			Summary: "Shows the household's settings.",
		}, s.Get),
		op.Writing(op.Spec{
			Name: "setting.update", Route: "PATCH /settings", People: op.PeopleAlways, Record: true,
			Summary: "Changes the household's name, currency, time zone, sync interval, retention, review or " +
				"paid balance refreshes.",
		}, s.Patch),
		op.Reading(op.Spec{
			Name: "agent.get", Route: "GET /settings/agents", Record: true,
			Summary: "Shows the settings for agents: limits on cost and changes, rule approval, quiet hours " +
				"and default model.",
		}, s.Agents),
		op.Writing(op.Spec{
			Name: "agent.update", Route: "PATCH /settings/agents", People: op.PeopleAlways, Record: true,
			Summary: "Changes the settings for agents: limits on cost and changes, rule approval, quiet " +
				"hours or default model.",
		}, s.PatchAgents),
		op.Reading(op.Spec{
			Name: "model.get", Route: "GET /settings/models", Record: true,
			Summary: "Shows the URLs and prices of the model providers; keys are masked.",
		}, s.Models),
		op.Writing(op.Spec{
			Name: "model.set", Route: "PUT /settings/models", People: op.PeopleAlways, Record: true,
			Seals: true, Summary: "Sets one model provider's URL, key and prices.",
		}, s.SetModel),
		op.Calling(op.Spec{
			Name: "model.test", Route: "POST /settings/models/test", People: op.PeopleAlways, Outside: testPatience,
			Summary: "Tests a model: key, tool calls and context size.",
		}, s.tryModel, s.TestModel),
		op.Reading(op.Spec{
			Name: "provider.describe", Route: "GET /providers", Record: true,
			Summary: "Lists the bank providers that coffer supports: what each needs and how banks are connected.",
		}, s.Describe),
		op.Reading(op.Spec{
			Name: "provider.list", Route: "GET /settings/providers", Record: true,
			Summary: "Shows the bank providers' configuration; secrets are masked.",
		}, s.Providers),
		op.Reading(op.Spec{
			Name: "provider.get", Route: "GET /settings/providers/{provider}", Record: true,
			Summary: "Shows one bank provider's configuration; secrets are masked.",
		}, s.ProviderSetting),
		op.Writing(op.Spec{
			Name: "provider.set", Route: "PUT /settings/providers/{provider}", People: op.PeopleAlways,
			Record: true, Seals: true,
			Summary: "Configures a bank provider for all servers; omitted fields keep their values.",
		},
			s.SetProvider),
		op.Writing(op.Spec{
			Name: "provider.unset", Route: "DELETE /settings/providers/{provider}",
			People: op.PeopleAlways, Summary: "Deletes a bank provider's stored configuration.",
		}, s.UnsetProvider),
		op.Calling(op.Spec{
			Name: "provider.test", Route: "POST /settings/providers/{provider}/test",
			People:  op.PeopleAlways,
			Summary: "Tests a bank provider's configuration with one cheap call.",
		}, s.try,
			s.TestProvider),
	}
}

// A Household holds the household's preferences.
type Household struct {
	Name                string         `json:"household_name" db:"household_name"`
	DefaultCurrency     money.Currency `json:"default_currency" db:"default_currency" doc:"For a new account from a file, if neither the file nor the caller sets a currency"`
	TimeZone            string         `json:"time_zone" db:"time_zone" doc:"Determines when days and months begin" example:"Europe/Berlin"`
	SyncIntervalSeconds int            `json:"default_sync_interval_seconds" db:"default_sync_interval_seconds" doc:"How often a connection is synced unless it has its own interval"`
	RetentionDays       *int           `json:"retention_days" db:"retention_days" doc:"Retention of sync logs, in days; null means forever. Transactions and the journal are always kept"`
	ReviewHistory       string         `json:"review_history" db:"review_history" enum:"all,from_link" doc:"What to review on a new account: all transactions, or those dated from the day it is added"`
	PaidBalances        string         `json:"paid_balances" db:"paid_balances" enum:"manual,daily,never" doc:"When to refresh balances from banks, which may cost money: on request, also once a day per connection, or never"`
	LargeCharge         []LargeCharge  `json:"large_charge" db:"large_charge" doc:"Large-charge threshold per currency for notifications; empty means off"`
	ReviewDigest        *ReviewDigest  `json:"review_digest" db:"review_digest" doc:"When to notify about the review queue; null means never"`
	UpdatedAt           pg.Time        `json:"updated_at" db:"updated_at"`
	Backup              *Backup        `json:"backup,omitempty" db:"-" doc:"Only for admins"`
}

// A LargeCharge is the minimum amount of a large charge in a currency.
type LargeCharge struct {
	Currency money.Currency `json:"iso_currency_code" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	Amount   money.Amount   `json:"amount"`
}

// A ReviewDigest configures the notification about transactions that need review. It is sent once a
// day, at the given hour or later.
type ReviewDigest struct {
	Hour int `json:"hour" minimum:"0" maximum:"23" doc:"In the household's time zone"`
	Min  int `json:"min_count" minimum:"1" maximum:"100000" doc:"Only if at least this many transactions need review"`
}

const householdColumns = `household_name, default_currency, time_zone, default_sync_interval_seconds,
	retention_days, review_history, paid_balances, large_charge, case when review_digest_hour is not null
		then jsonb_build_object('hour', review_digest_hour, 'min_count', review_digest_min) end as review_digest,
	updated_at`

// Get returns the household's preferences.
func (s *Settings) Get(ctx context.Context, q pg.Querier, _ op.None) (Household, error) {
	out, err := pg.One[Household](ctx, q, `select `+householdColumns+` from setting`)
	if err != nil {
		return Household{}, err
	}
	out.Backup, err = BackupFor(ctx, q, s.Scheduled)
	return out, err
}

// Begin sets the currency of a new household. It does nothing if there is an account or somebody
// has changed the settings: until then, the row is as old as the household. Changes of agents'
// limits don't count, because they may be set before.
func (s *Settings) Begin(ctx context.Context, tx pg.Tx, currency money.Currency) error {
	_, err := pg.Exec(ctx, tx, `update setting set default_currency = $1, updated_at = clock_timestamp()
		where default_currency <> $1 and updated_at = (select created_at from instance) and not exists (select from account)`,
		currency)
	return err
}

// checkCharges rejects limits that are not positive, and two limits for one currency.
func checkCharges(list []LargeCharge) error {
	seen := map[money.Currency]bool{}
	for i, l := range list {
		switch {
		case seen[l.Currency]:
			return errs.Field(fmt.Sprintf("large_charge[%d].iso_currency_code", i), "conflict", "is listed twice")
		case l.Amount.IsNeg() || l.Amount.IsZero():
			return errs.Field(fmt.Sprintf("large_charge[%d].amount", i), "range", "must be more than 0")
		}
		seen[l.Currency] = true
	}
	return nil
}

// PatchHousehold is the input of Patch.
type PatchHousehold struct {
	Name                *string               `json:"household_name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	DefaultCurrency     *money.Currency       `json:"default_currency,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	TimeZone            *string               `json:"time_zone,omitempty" minLength:"1" maxLength:"64" format:"line" doc:"A name from the IANA time zone database" example:"Europe/Berlin"`
	SyncIntervalSeconds *int                  `json:"default_sync_interval_seconds,omitempty" minimum:"900" maximum:"2592000" doc:"Applies to each connection from its next sync"`
	RetentionDays       op.Null[int]          `json:"retention_days,omitzero" minimum:"30" maximum:"3650" doc:"null means forever"`
	ReviewHistory       *string               `json:"review_history,omitempty" enum:"all,from_link" doc:"Applies to accounts that are added from now on"`
	LargeCharge         *[]LargeCharge        `json:"large_charge,omitempty" maxItems:"20" doc:"Replaces all; empty means off"`
	ReviewDigest        op.Null[ReviewDigest] `json:"review_digest,omitzero" doc:"null means never"`
	PaidBalances        *string               `json:"paid_balances,omitempty" enum:"manual,daily,never" doc:"manual: only on a person's request. daily: also with the first sync of a day, once per connection"`
}

// Patch changes the household's preferences.
func (s *Settings) Patch(ctx context.Context, tx pg.Tx, in PatchHousehold) (Household, error) {
	now, err := pg.One[Household](ctx, tx, `select `+householdColumns+` from setting for update`)
	if err != nil {
		return Household{}, err
	}
	if now.Backup, err = BackupFor(ctx, tx, s.Scheduled); err != nil {
		return Household{}, err
	}
	if err := op.Match(ctx, now); err != nil {
		return Household{}, err
	}
	if in.TimeZone != nil {
		known, err := pg.Value[bool](ctx, tx, `select exists (select from pg_timezone_names
			where name = $1)`, *in.TimeZone)
		if err != nil {
			return Household{}, err
		}
		if !known {
			return Household{}, errs.Field("time_zone", "unknown",
				"must be a name from the IANA time zone database, such as Europe/Berlin or America/New_York")
		}
	}
	var charges *string
	if in.LargeCharge != nil {
		if err := checkCharges(*in.LargeCharge); err != nil {
			return Household{}, err
		}
		b, err := json.Marshal(*in.LargeCharge)
		if err != nil {
			return Household{}, fmt.Errorf("print limits: %w", err)
		}
		charges = new(string(b))
	}
	var hour, least *int
	if d := in.ReviewDigest.Value; d != nil {
		hour, least = &d.Hour, &d.Min
	}
	out, err := pg.One[Household](ctx, tx, `
		update setting set
			household_name = coalesce(@name, household_name),
				default_currency = coalesce(@currency, default_currency), time_zone = coalesce(@zone, time_zone),
			default_sync_interval_seconds = coalesce(@interval, default_sync_interval_seconds), retention_days = case
				when @given then @retention else retention_days end,
			review_history = coalesce(@review, review_history), paid_balances = coalesce(@paid, paid_balances),
			large_charge = coalesce(@charges::jsonb, large_charge),
			review_digest_hour = case when @digest then @hour else review_digest_hour end,
			review_digest_min = case when @digest then @least else review_digest_min end,
			updated_at = clock_timestamp()
		returning `+householdColumns, pg.Args{
		"name": in.Name, "currency": in.DefaultCurrency, "zone": in.TimeZone, "interval": in.SyncIntervalSeconds,
		"given": in.RetentionDays.Set, "retention": in.RetentionDays.Value,
		"review": in.ReviewHistory, "paid": in.PaidBalances, "charges": charges, "digest": in.ReviewDigest.Set,
		"hour": hour, "least": least,
	})
	out.Backup = now.Backup
	if err != nil || out.TimeZone == now.TimeZone || s.rezoned == nil {
		return out, err
	}
	return out, s.rezoned(ctx, tx)
}

package settings

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Agents holds the limits of all agents in this household together.
type Agents struct {
	MonthlyCeiling  *money.Amount `json:"monthly_ceiling_usd" db:"monthly_ceiling_usd" doc:"Monthly AI limit in US dollars; null means no limit"`
	WritesPerDay    *int          `json:"writes_per_day" db:"writes_per_day" doc:"Daily write limit for all agents together, one write per transaction and record; null means only the limit of each key applies"`
	QuietHours      *QuietHours   `json:"quiet_hours" db:"-" doc:"Hours without automatic starts of agents; null means none"`
	DefaultProvider *string       `json:"default_provider" db:"default_provider" doc:"Model provider of workflows without their own: anthropic or openai_compatible"`
	DefaultModel    *string       `json:"default_model" db:"default_model" doc:"Model of workflows without their own"`
	ProposeRules    bool          `json:"propose_rules" db:"propose_rules" doc:"true: rules created by agents are only suggestions and stay disabled until a person enables them"`
	TranscriptDays  int           `json:"transcript_days" db:"transcript_days" doc:"How long transcripts of runs are kept"`
	UpdatedAt       pg.Time       `json:"updated_at" db:"agents_updated_at"`
}

// QuietHours is a part of each day, in the household's time zone. It may continue past midnight.
type QuietHours struct {
	Start string `json:"start" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" hint:"be a time of day, such as 22:00" example:"22:00"`
	End   string `json:"end" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" hint:"be a time of day, such as 07:00" example:"07:00"`
}

type agentsRow struct {
	Agents
	From  *string `db:"quiet_from"`
	Until *string `db:"quiet_until"`
}

func (r agentsRow) agents() Agents {
	if r.From != nil && r.Until != nil {
		r.QuietHours = &QuietHours{*r.From, *r.Until}
	}
	return r.Agents
}

const agentColumns = `monthly_ceiling_usd, writes_per_day, quiet_from, quiet_until, default_provider, default_model,
	propose_rules, transcript_days, agents_updated_at`

// Agents returns the limits of agents.
func (s *Settings) Agents(ctx context.Context, q pg.Querier, _ op.None) (Agents, error) {
	row, err := pg.One[agentsRow](ctx, q, `select `+agentColumns+` from setting`)
	return row.agents(), err
}

// PatchAgents is the input of PatchAgents.
type PatchAgents struct {
	MonthlyCeiling  op.Null[money.Amount] `json:"monthly_ceiling_usd,omitzero" doc:"In US dollars; null means no limit"`
	WritesPerDay    op.Null[int]          `json:"writes_per_day,omitzero" minimum:"0" maximum:"1000000" doc:"null means only the limit of each key applies"`
	QuietHours      op.Null[QuietHours]   `json:"quiet_hours,omitzero" doc:"null means no quiet hours"`
	DefaultProvider op.Null[string]       `json:"default_provider,omitzero" enum:"anthropic,openai_compatible" doc:"Set it together with default_model; null means none"`
	DefaultModel    op.Null[string]       `json:"default_model,omitzero" minLength:"1" maxLength:"200" format:"line" doc:"As the provider names it; null means none"`
	ProposeRules    *bool                 `json:"propose_rules,omitempty" doc:"Applies to rules that agents create from now on"`
	TranscriptDays  *int                  `json:"transcript_days,omitempty" minimum:"1" maximum:"3650"`
}

// PatchAgents changes the limits of agents.
func (s *Settings) PatchAgents(ctx context.Context, tx pg.Tx, in PatchAgents) (Agents, error) {
	now, err := pg.One[agentsRow](ctx, tx, `select `+agentColumns+` from setting for update`)
	if err != nil {
		return Agents{}, err
	}
	if err := op.Match(ctx, now.agents()); err != nil {
		return Agents{}, err
	}
	if in.MonthlyCeiling.Value != nil && in.MonthlyCeiling.Value.IsNeg() {
		return Agents{}, errs.Field("monthly_ceiling_usd", "range", "must not be negative; null means no limit")
	}
	provider, name := now.DefaultProvider, now.DefaultModel
	if in.DefaultProvider.Set {
		provider = in.DefaultProvider.Value
	}
	if in.DefaultModel.Set {
		name = in.DefaultModel.Value
	}
	if (provider == nil) != (name == nil) {
		return Agents{}, errs.Field("default_model", "conflict",
			"must be set, or be null, together with default_provider")
	}
	var from, until *string
	if q := in.QuietHours.Value; q != nil {
		if q.Start == q.End {
			return Agents{}, errs.Field("quiet_hours.end", "conflict",
				"must differ from start; null means no quiet hours")
		}
		from, until = &q.Start, &q.End
	}
	row, err := pg.One[agentsRow](ctx, tx, `
		update setting set
			monthly_ceiling_usd = case when @ceiling_given then @ceiling
				else monthly_ceiling_usd end, writes_per_day = case when @writes_given then @writes
				else writes_per_day end,
			quiet_from = case when @quiet_given then @from else quiet_from end, quiet_until = case
				when @quiet_given then @until else quiet_until end,
			default_provider = @provider, default_model = @model,
			propose_rules = coalesce(@propose, propose_rules), transcript_days = coalesce(@days, transcript_days),
			agents_updated_at = clock_timestamp()
		returning `+agentColumns, pg.Args{
		"ceiling_given": in.MonthlyCeiling.Set, "ceiling": in.MonthlyCeiling.Value, "writes_given": in.WritesPerDay.Set,
		"writes":      in.WritesPerDay.Value,
		"quiet_given": in.QuietHours.Set, "from": from, "until": until,
		"provider": provider, "model": name, "days": in.TranscriptDays, "propose": in.ProposeRules,
	})
	return row.agents(), err
}

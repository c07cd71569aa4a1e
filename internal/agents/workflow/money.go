package workflow

import (
	"context"
	"fmt"

	"coffer/internal/books/report"
	"coffer/internal/llm"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	// UsualTokens is the maximum length of a model's answer, unless the money is only enough for
	// less.
	UsualTokens = 8192
	// FewestTokens is the smallest maximum length with which a model is asked. A shorter answer
	// would be cut off in the middle of a call, and cost money for nothing.
	FewestTokens = 1024
	// mostMicros is the highest cost that is booked for one call: a billion dollars. A server may
	// report any number, and sums must not overflow.
	mostMicros money.Micros = 1_000_000_000_000_000
)

// An Ask is a model call that is about to be made.
type Ask struct {
	Run             Live
	Cap             *money.Micros // the maximum cost of the run
	Provider, Model string
	Prompt          int64      // the maximum number of tokens of the request
	Price           *llm.Price // nil if it is unknown
}

// A Reservation is money that is set aside for a model call.
type Reservation struct {
	Call      id.ID
	MaxTokens int
	Micros    *money.Micros // nil if the price is unknown and the cost has no limit
	Limit     string        // the limit that keeps the call from being made; "" if it may be
	Most      *money.Micros // the amount of Limit
}

// Reserve sets aside the maximum cost of a model call before the call is made. It locks the month's
// row, so it is exact across servers: spent and reserved money together never exceed the month's
// limit, and the run's own cost never exceeds its cap. If the rest of the money is not enough for
// an answer of the usual length, the answer is limited to fewer tokens. If it is not even enough
// for a useful answer, the limit is reached.
func (s *Store) Reserve(ctx context.Context, tx pg.Tx, a Ask) (Reservation, error) {
	m, err := lockMonth(ctx, tx)
	if err != nil {
		return Reservation{}, err
	}
	out := Reservation{Call: id.New(), MaxTokens: UsualTokens}
	if a.Price == nil {
		if a.Cap != nil || m.Ceiling != nil {
			return Reservation{}, notPriced(a.Provider, a.Model)
		}
		// An unknown price is not zero: from now on the run's cost is unknown.
		if _, err := pg.Exec(ctx, tx, `update workflow_run set cost_micros = null where id = $1`, a.Run.ID); err != nil {
			return Reservation{}, err
		}
		return out, s.asking(ctx, tx, a, m, out)
	}
	rest, limit, maximum := mostMicros, "", (*money.Micros)(nil)
	if m.Ceiling != nil {
		rest, limit, maximum = *m.Ceiling-m.Spent-m.Reserved, LimitCeiling, m.Ceiling
	}
	if a.Cap != nil {
		if a.Run.CostMicros == nil { // an earlier call had no price
			return Reservation{}, notPriced(a.Provider, a.Model)
		}
		if own := *a.Cap - *a.Run.CostMicros; own <= rest {
			rest, limit, maximum = own, LimitCost, a.Cap
		}
	}
	out.MaxTokens = int(min(a.Price.Affordable(a.Prompt, max(rest, 0)), UsualTokens))
	bound := a.Price.Bound(a.Prompt, int64(out.MaxTokens))
	if out.MaxTokens < FewestTokens || bound > rest && bound > 0 {
		out.Limit, out.Most = limit, maximum
		if limit == LimitCeiling {
			return out, s.warn(ctx, tx, m, 100)
		}
		return out, nil
	}
	out.Micros = &bound
	return out, s.asking(ctx, tx, a, m, out)
}

// asking stores that a call is being made.
func (s *Store) asking(ctx context.Context, tx pg.Tx, a Ask, m month, r Reservation) error {
	_, err := pg.Exec(ctx, tx, `
		with held as (update model_month set reserved_micros = reserved_micros + coalesce(@micros::bigint, 0)
			where month = @month::date)
		insert into model_call (id, run_id, turn, state, provider, model, month, reserved_micros)
		values (@id, @run, @turn, 'asking', @provider, @model, @month, @micros)`, pg.Args{
		"id": r.Call, "run": a.Run.ID, "turn": a.Run.Turns + 1, "provider": a.Provider, "model": a.Model,
		"month": m.Month, "micros": r.Micros,
	})
	return err
}

// A month holds the costs of models in a month of the household, locked until the transaction ends.
type month struct {
	Month    pg.Date       `db:"month"`
	Spent    money.Micros  `db:"spent_micros"`
	Reserved money.Micros  `db:"reserved_micros"`
	Warned   int           `db:"warned"`
	Ceiling  *money.Micros `db:"ceiling"`
}

func lockMonth(ctx context.Context, tx pg.Tx) (month, error) {
	return pg.One[month](ctx, tx, `
		insert into model_month as m (month)
			select date_trunc('month', now() at time zone time_zone)::date from setting
		on conflict (month) do update set month = excluded.month
		returning month, spent_micros, reserved_micros, warned,
			(select (monthly_ceiling_usd * 1000000)::bigint from setting) as ceiling`)
}

// A Settlement is the result of a model call.
type Settlement struct {
	Call      id.ID
	State     string        // answered or failed
	Micros    *money.Micros // the cost; nil if it is unknown
	Usage     llm.Usage
	RequestID string
	Stop      string
}

// The final states of a model call. Lost is written when a run is resumed or ends.
const (
	CallAnswered = "answered"
	CallFailed   = "failed"
)

// Settle replaces the money that was reserved for a model call by the call's cost. A call that is
// already settled is not changed.
func (s *Store) Settle(ctx context.Context, tx pg.Tx, run id.ID, e Settlement) error {
	if e.Micros != nil {
		e.Micros = new(min(*e.Micros, mostMicros))
	}
	type booked struct {
		Month    pg.Date       `db:"month"`
		Reserved *money.Micros `db:"reserved_micros"`
	}
	was, err := pg.All[booked](ctx, tx, `
		update model_call set state = @state, cost_micros = @micros, input_tokens = @input, output_tokens = @output,
			request_id = nullif(@request, ''), stop = nullif(@stop, ''), ended_at = clock_timestamp()
		where id = @id and run_id = @run and state = 'asking' returning month, reserved_micros`, pg.Args{
		"id": e.Call, "run": run, "state": e.State, "micros": e.Micros, "input": e.Usage.Prompt(),
		"output": e.Usage.Output, "request": e.RequestID, "stop": e.Stop,
	})
	if err != nil {
		return err
	}
	if len(was) != 1 {
		return fmt.Errorf("settle a model call: %d calls are open", len(was))
	}
	m, err := pg.One[month](ctx, tx, `
		update model_month set reserved_micros = reserved_micros - coalesce($2::bigint, 0),
			spent_micros = spent_micros + coalesce($3::bigint, 0)
		where month = $1 returning month, spent_micros, reserved_micros, warned,
			(select (monthly_ceiling_usd * 1000000)::bigint from setting) as ceiling`,
		was[0].Month, was[0].Reserved, e.Micros)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		update workflow_run set turns = turns + case when @state = 'answered' then 1 else 0 end,
			input_tokens = input_tokens + @input, cache_read_tokens = cache_read_tokens + @read,
			cache_write_tokens = cache_write_tokens + @write, output_tokens = output_tokens + @output,
			cost_micros = cost_micros + @micros::bigint
		where id = @run`, pg.Args{
		"run": run, "state": e.State, "input": e.Usage.Input, "read": e.Usage.CacheRead,
		"write": e.Usage.CacheWrite, "output": e.Usage.Output, "micros": e.Micros,
	})
	if err != nil || m.Ceiling == nil {
		return err
	}
	switch {
	case m.Spent >= *m.Ceiling:
		return s.warn(ctx, tx, m, 100)
	case 5*m.Spent >= 4**m.Ceiling: // 80 %
		return s.warn(ctx, tx, m, 80)
	}
	return nil
}

// warn writes a report once a month for each percentage of the limit.
func (s *Store) warn(ctx context.Context, tx pg.Tx, m month, percent int) error {
	if m.Warned >= percent || m.Ceiling == nil {
		return nil
	}
	n, err := pg.Exec(ctx, tx, `update model_month set warned = $2 where month = $1 and warned < $2`, m.Month, percent)
	if err != nil || n == 0 {
		return err
	}
	title := fmt.Sprintf("AI spending is at %d%% of this month's limit", percent)
	body := fmt.Sprintf("$%s of $%s spent in %s. ", m.Spent, *m.Ceiling, m.Month.String()[:7])
	if percent >= 100 {
		title = "AI spending limit reached"
		body += "Workflows are paused until next month unless an admin raises the limit under AI agents."
	} else {
		body += "At 100%, workflows pause until next month."
	}
	ctx = op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"})
	_, err = s.Reports.Create(ctx, tx, report.CreateReport{Title: title, Body: body, Kind: "alert"})
	return err
}

package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/report"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Store writes the effects of a run: its lines, its counts, its model calls and its plan. Each
// method is part of a batch of the run's job. So an effect commits together with the line that
// records it, and only while the worker owns the job.
type Store struct {
	Journal *journal.Journal
	Reports *report.Reports
}

// A Live is a run as its worker sees it.
type Live struct {
	ID           id.ID           `db:"id"`
	WorkflowID   *id.ID          `db:"workflow_id"`
	Slug         string          `db:"workflow_slug"`
	Trigger      string          `db:"trigger"`
	Status       string          `db:"status"`
	Mode         string          `db:"mode"`
	Definition   json.RawMessage `db:"definition"`
	Hash         string          `db:"definition_hash"`
	MaxWrites    *int            `db:"max_writes"`
	Turns        int             `db:"turns"`
	InputTokens  int64           `db:"input_tokens"` // cached ones included
	OutputTokens int64           `db:"output_tokens"`
	CostMicros   *money.Micros   `db:"cost_micros"`
	Made         int             `db:"made"`
	MadeRules    int             `db:"made_rules"`
	Bytes        int64           `db:"bytes"`
	LimitName    *string         `db:"limit_name"`
	PlanState    string          `db:"plan_state"`
	ReportID     *id.ID          `db:"report_id"`
	ElapsedMS    int64           `db:"elapsed_ms"` // since it started
	LastLine     int             `db:"last_line"`
	FailedInARow int             `db:"failed_in_a_row"` // failed model calls since the last answer
	LostInARow   int             `db:"lost_in_a_row"`
	Today        string          `db:"today"` // in the household's time zone
	Zone         string          `db:"zone"`
}

// Actor returns the actor of a run. It has no credential: it exists only within its job.
func (r Live) Actor(d Definition) op.Actor {
	a := op.Actor{Type: op.Agent, ID: r.ID, Name: d.Name, Scope: op.Read, Run: &r.ID}
	if d.Scope == op.Full.String() {
		a.Scope = op.Full
	}
	return a
}

// Ended reports whether the run has ended.
func (r Live) Ended() bool { return r.Status != Queued && r.Status != Running }

// Load returns a run.
func (s *Store) Load(ctx context.Context, q pg.Querier, run id.ID) (Live, error) {
	out, err := pg.One[Live](ctx, q, `
		with answered as (
			select coalesce(max(asked_at), '-infinity') as at from model_call where run_id = $1 and state = 'answered')
		select r.id, workflow_id, workflow_slug, r.trigger, status, mode, definition, definition_hash, max_writes, turns,
			r.input_tokens + r.cache_read_tokens + r.cache_write_tokens as input_tokens, r.output_tokens,
			cost_micros, made, made_rules, bytes, limit_name, plan_state, report_id,
			coalesce(extract(epoch from clock_timestamp() - started_at) * 1000, 0)::bigint as elapsed_ms,
			(select coalesce(max(seq), 0) from workflow_line where run_id = r.id) as last_line,
			(select count(*) from model_call c, answered a where c.run_id = r.id and c.state = 'failed'
				and c.asked_at > a.at) as failed_in_a_row,
			(select count(*) from model_call c, answered a where c.run_id = r.id and c.state = 'lost'
				and c.asked_at > a.at) as lost_in_a_row,
			to_char(now() at time zone s.time_zone, 'FMDay, YYYY-MM-DD') as today, s.time_zone as zone
		from workflow_run r cross join setting s where r.id = $1`, run)
	if err != nil {
		return out, fmt.Errorf("read the run: %w", err)
	}
	return out, nil
}

// Start begins or resumes a run, and returns it. Model calls of a dead worker count as made, at
// their maximum cost. A run that has ended is not changed.
func (s *Store) Start(ctx context.Context, tx pg.Tx, run id.ID, priced bool) (now Live, resumed bool, err error) {
	was, err := s.Load(ctx, tx, run)
	if err != nil || was.Ended() {
		return was, false, err
	}
	if err := loseCalls(ctx, tx, run); err != nil {
		return was, false, err
	}
	_, err = pg.Exec(ctx, tx, `update workflow_run set status = $2, started_at = coalesce(started_at, clock_timestamp()),
		cost_micros = case when status = $3 and $4 then 0 else cost_micros end
		where id = $1`, run, Running, Queued, priced)
	if err != nil {
		return was, false, err
	}
	now, err = s.Load(ctx, tx, run)
	return now, was.Status == Running, err
}

// Lines returns the whole transcript of a run.
func (s *Store) Lines(ctx context.Context, q pg.Querier, run id.ID) ([]Line, error) {
	return pg.All[Line](ctx, q, `select seq, at, kind, body from workflow_line where run_id = $1 order by seq`, run)
}

// A Say is a line that will be added to the transcript.
type Say struct {
	Kind string
	Body any
}

// Append adds lines to the transcript of a run, and returns the stored lines.
func (s *Store) Append(ctx context.Context, tx pg.Tx, run id.ID, lines ...Say) ([]Line, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	kinds, bodies := make([]string, len(lines)), make([]string, len(lines))
	size := 0
	for i, l := range lines {
		b, err := json.Marshal(l.Body)
		if err != nil {
			return nil, fmt.Errorf("print a line: %w", err)
		}
		kinds[i], bodies[i] = l.Kind, string(b)
		size += len(b)
	}
	out, err := pg.All[Line](ctx, tx, `
		with made as (
			insert into workflow_line (run_id, seq, kind, body)
			select $1, (select coalesce(max(seq), 0) from workflow_line where run_id = $1) + v.n, v.kind, v.body::jsonb
			from unnest($2::text[], $3::text[]) with ordinality v (kind, body, n)
			returning seq, at, kind, body)
		select seq, at, kind, body from made order by seq`, run, kinds, bodies)
	if err != nil {
		return nil, err
	}
	_, err = pg.Exec(ctx, tx, `update workflow_run set bytes = bytes + $2 where id = $1`, run, size)
	return out, err
}

// Made counts the records that a call of a run created. Rules also counts changes of rules.
type Made struct {
	Tags           int `db:"tags"`
	Counterparties int `db:"counterparties"`
	Rules          int `db:"rules"`
	// Other counts entries that change or remove existing data, such as the deletion of a
	// transaction. Other changes of transactions and new reports do not count.
	Other int `db:"other"`
}

// MadeBy returns what a change created. It reads only the journal's entries, so it works for every
// tool.
func (s *Store) MadeBy(ctx context.Context, q pg.Querier, change *id.ID) (Made, error) {
	if change == nil {
		return Made{}, nil
	}
	return pg.One[Made](ctx, q, `
		select count(*) filter (where created and subject = 'tag') as tags,
			count(*) filter (where created and subject = 'counterparty') as counterparties,
			count(*) filter (where subject = 'rule') as rules,
			count(*) filter (where not (created and subject in ('tag', 'counterparty', 'report'))
				and subject not in ('rule') and (subject <> 'transaction' or field = 'deleted')) as other
		from (select subject, field, before is null and field = 'record' as created from entry where change_id = $1) e`,
		change)
}

// Count adds to the run's counts of created records.
func (s *Store) Count(ctx context.Context, tx pg.Tx, run id.ID, m Made) error {
	if m.Tags+m.Counterparties+m.Rules == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `update workflow_run set made = made + $2, made_rules = made_rules + $3 where id = $1`,
		run, m.Tags+m.Counterparties, m.Rules)
	return err
}

// LeaveOpen counts transactions that the run was not sure about.
func (s *Store) LeaveOpen(ctx context.Context, tx pg.Tx, run id.ID, n int) error {
	_, err := pg.Exec(ctx, tx, `update workflow_run set left_open = left_open + $2 where id = $1`, run, n)
	return err
}

// Reported sets the report of a run.
func (s *Store) Reported(ctx context.Context, tx pg.Tx, run, report id.ID) error {
	_, err := pg.Exec(ctx, tx, `update workflow_run set report_id = $2 where id = $1`, run, report)
	return err
}

// StartPlanning makes a run plan from now on, because it has reached a limit on its writes.
func (s *Store) StartPlanning(ctx context.Context, tx pg.Tx, run id.ID, limit string) error {
	_, err := pg.Exec(ctx, tx, `update workflow_run set mode = $2, limit_name = coalesce(limit_name, $3) where id = $1`,
		run, Planning, limit)
	return err
}

// An Ending is the end of a run that ended by itself or at a limit. Other ends are written together
// with the end of the job.
type Ending struct {
	Limit string // "" if the model ended by itself
}

// An EndLine is the last line of a transcript.
type EndLine struct {
	Status   string        `json:"status"`
	Limit    string        `json:"limit,omitempty"`
	CostUSD  *money.Micros `json:"cost_usd,omitempty"`
	Changes  int64         `json:"changes"`
	Plan     string        `json:"plan,omitempty"`
	LeftOpen int           `json:"left_open,omitempty"`
}

// End ends a run. If a limit made the run plan, the run has reached that limit.
func (s *Store) End(ctx context.Context, tx pg.Tx, run id.ID, e Ending) ([]Line, error) {
	type ended struct {
		Status   string        `db:"status"`
		Limit    *string       `db:"limit_name"`
		Cost     *money.Micros `db:"cost_micros"`
		Plan     string        `db:"plan_state"`
		LeftOpen int           `db:"left_open"`
		Changes  int64         `db:"changes"`
	}
	now, err := pg.One[ended](ctx, tx, `
		update workflow_run r set limit_name = coalesce(nullif($2, ''), limit_name), finished_at = clock_timestamp(),
			status = case when coalesce(nullif($2, ''), limit_name) is null then $3 else $4 end
		where id = $1
		returning status, limit_name, cost_micros, plan_state, left_open,
			(select count(*) from change c where c.actor_id = r.id) as changes`, run, e.Limit, Succeeded, LimitReached)
	if err != nil {
		return nil, err
	}
	line := EndLine{Status: now.Status, CostUSD: now.Cost, Changes: now.Changes, LeftOpen: now.LeftOpen}
	if now.Limit != nil {
		line.Limit = *now.Limit
	}
	if now.Plan != planNone {
		line.Plan = now.Plan
	}
	return s.Append(ctx, tx, run, Say{LineEnd, line})
}

// Left returns how much of its time a run had left when it was loaded. It uses the database's
// clock, which is the same for all servers.
func (r Live) Left(d Definition) time.Duration {
	return time.Duration(d.MaxMinutes)*time.Minute - time.Duration(r.ElapsedMS)*time.Millisecond
}

// Read returns the definition that was frozen with the run.
func (r Live) Read() (Definition, error) {
	var d Definition
	if err := json.Unmarshal(r.Definition, &d); err != nil {
		return d, fmt.Errorf("read the definition of a run: %w", err)
	}
	return d, nil
}

// notPriced returns the error of a run whose cost is limited although its model has no known price.
func notPriced(provider, model string) error {
	return errs.New(errs.ProviderNotConfig,
		"the price of %s at %s is unknown, so the cost limit can't be enforced; set the price with "+
			"{model.set} (0 for a local model), or remove the limit", model, provider)
}

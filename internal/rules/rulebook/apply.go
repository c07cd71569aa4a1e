package rulebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// ApplyKind is the job that applies rules to stored transactions.
const ApplyKind = "rule.apply"

// Kinds returns the kinds of jobs of the rulebook.
func (b *Rulebook) Kinds() []job.Kind {
	return []job.Kind{{Name: ApplyKind, Unit: "transactions", Work: b.work, Retries: 5, Results: []*op.Schema{
		op.SchemaOf[Applied](), op.SchemaOf[Rehearsal](),
	}}}
}

// ApplyRules is the input of Apply.
type ApplyRules struct {
	RuleIDs         []string       `json:"rule_ids,omitempty" minItems:"1" maxItems:"100" minLength:"1" doc:"Only these rules, in execution order: UUIDs or short ids; if omitted, all enabled rules except the built-in one"`
	Filter          *ledger.Filter `json:"filter,omitempty" doc:"Only these transactions: the filters of the transaction list"`
	DryRun          bool           `json:"dry_run,omitempty" doc:"Only show what would change; write nothing"`
	OverwriteManual bool           `json:"overwrite_manual,omitempty" doc:"Override values set by a person"`
	WithOthers      bool           `json:"with_others,omitempty" doc:"Run all enabled rules, and write only what those in rule_ids (required) decide: where another rule overrides them, nothing changes"`
}

// ApplyRule is the input of ApplyOne.
type ApplyRule struct {
	ID              string         `json:"id" minLength:"1" doc:"The rule's UUID or short id"`
	Filter          *ledger.Filter `json:"filter,omitempty" doc:"Only these transactions: the filters of the transaction list"`
	DryRun          bool           `json:"dry_run,omitempty" doc:"Only show what would change; write nothing"`
	OverwriteManual bool           `json:"overwrite_manual,omitempty" doc:"Override values set by a person"`
	WithOthers      bool           `json:"with_others,omitempty" doc:"Run all enabled rules, and write only what this one decides: where another rule overrides it, nothing changes"`
}

// ApplyAsAgent is the input of the tool apply_rules, which never overrides a person.
type ApplyAsAgent struct {
	RuleIDs []string       `json:"rule_ids,omitempty" minItems:"1" maxItems:"100" minLength:"1" doc:"Only these rules, in execution order; if omitted, all enabled rules except the built-in one" agent:"In execution order; else all enabled rules"`
	Filter  *ledger.Filter `json:"filter,omitempty" parts:"elsewhere" doc:"Only these transactions: query_transactions filters"`
	DryRun  bool           `json:"dry_run,omitempty" doc:"Only show what would change; write nothing" agent:"-"`
	Rows    bool           `json:"rows,omitempty" doc:"With dry_run: also the transactions" agent:"With dry_run"`
}

// Apply queues the job that applies rules to stored transactions.
func (b *Rulebook) Apply(ctx context.Context, tx pg.Tx, in ApplyRules) (job.Job, error) {
	return b.apply(ctx, tx, in, false)
}

func (b *Rulebook) apply(ctx context.Context, tx pg.Tx, in ApplyRules, brief bool) (job.Job, error) {
	if in.WithOthers && len(in.RuleIDs) == 0 {
		return job.Job{}, errs.Field("with_others", "conflict",
			"can only be used with rule_ids: pass the rules to write, or omit with_others to apply all rules")
	}
	rules, err := b.toApply(ctx, tx, in.RuleIDs)
	if err != nil {
		return job.Job{}, err
	}
	a := application{Rules: rules, Filter: in.Filter, DryRun: in.DryRun, Overwrite: in.OverwriteManual, Brief: brief}
	if in.WithOthers {
		for _, r := range rules {
			a.Mine = append(a.Mine, r.ID)
		}
		if a.Rules, err = b.toApply(ctx, tx, nil); err != nil {
			return job.Job{}, err
		}
	}
	return b.enqueue(ctx, tx, a)
}

// ApplyOne is Apply for one rule.
func (b *Rulebook) ApplyOne(ctx context.Context, tx pg.Tx, in ApplyRule) (job.Job, error) {
	r, err := b.Get(ctx, tx, Ref{in.ID})
	if err != nil {
		return job.Job{}, err
	}
	return b.Apply(ctx, tx, ApplyRules{
		RuleIDs: []string{r.ID.String()}, Filter: in.Filter, DryRun: in.DryRun,
		OverwriteManual: in.OverwriteManual, WithOthers: in.WithOthers,
	})
}

// ApplyAsAgent is Apply for agents.
func (b *Rulebook) ApplyAsAgent(ctx context.Context, tx pg.Tx, in ApplyAsAgent) (job.Job, error) {
	return b.apply(ctx, tx, ApplyRules{RuleIDs: in.RuleIDs, Filter: in.Filter, DryRun: in.DryRun}, !in.Rows)
}

// An application holds the rules to apply as they were when it was requested. A later edit of a
// rule only affects the next application, so no transaction sees half of an edit.
type application struct {
	Rules     []frozen       `json:"rules"`
	Mine      []id.ID        `json:"mine,omitempty"` // of these, those whose decisions are written; empty: all
	Filter    *ledger.Filter `json:"filter,omitempty"`
	DryRun    bool           `json:"dry_run,omitempty"`
	Overwrite bool           `json:"overwrite_manual,omitempty"`
	Brief     bool           `json:"brief,omitempty"` // a dry run reports changes by rule, without rows
}

// A frozen is a rule as it was at one moment.
type frozen struct {
	ID         id.ID           `json:"id" db:"id"`
	Name       string          `json:"name" db:"name"`
	Priority   int             `json:"priority" db:"priority"`
	CreatedAt  pg.Time         `json:"created_at" db:"created_at"`
	Trigger    string          `json:"trigger" db:"trigger"`
	Conditions json.RawMessage `json:"conditions" db:"conditions"`
	Actions    json.RawMessage `json:"actions" db:"actions"`
}

const frozenRows = `
	select r.id, r.name, r.priority, r.created_at, r.trigger, r.conditions, r.actions from rule r
	where r.deleted_at is null and r.enabled and (r.expires_at is null or r.expires_at > clock_timestamp())`

func (a application) pipeline() (*pipeline, error) {
	rules, names := make([]engine.Rule, len(a.Rules)), make(map[id.ID]string, len(a.Rules))
	for i, f := range a.Rules {
		r, err := loaded{
			ID: f.ID, Conditions: f.Conditions, Actions: f.Actions, Trigger: f.Trigger,
			Priority: f.Priority, CreatedAt: f.CreatedAt,
		}.rule()
		if err != nil {
			return nil, err
		}
		rules[i], names[f.ID] = r, f.Name
	}
	p := compile(rules, names)
	for _, u := range a.Mine {
		if p.mine == nil {
			p.mine = make(map[id.ID]bool, len(a.Mine))
		}
		p.mine[u] = true
	}
	return p, nil
}

// toApply returns the rules that a caller named, or else all enabled rules. It leaves out the
// built-in rule, which would reopen every review.
func (b *Rulebook) toApply(ctx context.Context, q pg.Querier, refs []string) ([]frozen, error) {
	if len(refs) == 0 {
		return pg.All[frozen](ctx, q, frozenRows+` and not r.is_system`)
	}
	found, err := pg.Names(ctx, q, refs, `select id, id::text as name, short_id from rule
		where deleted_at is null and (id = any($1::uuid[]) or short_id = any($2))`)
	if err != nil {
		return nil, err
	}
	ids := map[id.ID]bool{}
	var list []id.ID
	for i, ref := range refs {
		u, ok := found[ref]
		if !ok {
			return nil, pg.Named(pg.ErrNoRow, fmt.Sprintf("rule_ids[%d]", i), "rule", lister)
		}
		if !ids[u] {
			ids[u], list = true, append(list, u)
		}
	}
	rules, err := pg.All[frozen](ctx, q, frozenRows+` and r.id = any($1)`, list)
	if err == nil && len(rules) < len(list) {
		return nil, errs.New(errs.Conflict,
			"disabled and expired rules are not applied; enable the rule first (enabled: true); only a "+
				"person can enable a suggested rule")
	}
	return rules, err
}

func (b *Rulebook) enqueue(ctx context.Context, tx pg.Tx, a application) (job.Job, error) {
	if a.Filter != nil {
		if _, _, err := b.books.Where(ctx, tx, *a.Filter); err != nil {
			return job.Job{}, errs.Within("filter", err)
		}
	}
	return b.jobs.Enqueue(ctx, tx, ApplyKind, a, job.Options{})
}

// Applied is the result of an application.
type Applied struct {
	Scanned   int64   `json:"scanned" doc:"Transactions checked"`
	Matched   int64   `json:"matched" doc:"Of these, transactions that a rule matched"`
	Changed   int64   `json:"changed" doc:"Of these, transactions that changed"`
	ChangeID  *id.ID  `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
	ChangeIDs []id.ID `json:"change_ids" doc:"Every change it made: more than one if others wrote to the same transactions or reverted part of it while it ran"`
}

// A position is the progress of an application.
type position struct {
	Applied
	Begun bool  `json:"begun"`
	After id.ID `json:"after"` // the last transaction that was read
	Ended bool  `json:"ended"`
}

// work runs the job: it reads batches of transactions in the order of their ids, each transaction
// once, and records all changes as one change.
func (b *Rulebook) work(ctx context.Context, run *job.Run) (any, error) {
	var a application
	if err := run.Args(&a); err != nil {
		return nil, err
	}
	p, err := a.pipeline()
	if err != nil {
		return nil, err
	}
	if a.DryRun {
		return b.rehearse(ctx, run, p, a)
	}
	at := position{Applied: Applied{ChangeIDs: []id.ID{}}}
	if _, err := run.Position(&at); err != nil {
		return nil, err
	}
	for !at.Ended {
		var next position
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (step job.Step, err error) {
			next = at
			step, err = b.batch(ctx, tx, p, a, &next)
			step.Position = next
			return step, err
		})
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at.Applied, nil
}

// batchSize is the number of transactions in one database transaction, which takes some tenths of a
// second if all of them change.
const batchSize = 5000

// batch reads the next transactions and writes the effects of the rules.
func (b *Rulebook) batch(ctx context.Context, tx pg.Tx, p *pipeline, a application, at *position) (job.Step, error) {
	s, err := b.scope(ctx, tx, p, a)
	if err != nil {
		return job.Step{}, err
	}
	var step job.Step
	if !at.Begun {
		if at.Scanned, step.Total, err = s.count(ctx, tx); err != nil {
			return job.Step{}, err
		}
		at.Begun = true
	}
	if at.ChangeID, err = journal.Continue(ctx, tx, at.ChangeID); err != nil {
		return job.Step{}, err
	}
	hits, last, n, err := s.next(ctx, tx, p, at.After)
	if err != nil {
		return job.Step{}, err
	}
	at.Matched += int64(len(hits))
	at.Ended = n < b.size
	if n > 0 {
		at.After = last
	}
	step.Done = int64(n)
	changed, entries, err := b.applyToLocked(ctx, tx, p, hits, a.Overwrite)
	if err != nil {
		return job.Step{}, err
	}
	at.Changed += int64(changed)
	var beside *id.ID
	at.ChangeID, beside, err = journal.Extend(ctx, tx, at.ChangeID,
		a.note(), entries)
	at.made(at.ChangeID)
	at.made(beside)
	return step, err
}

// made records a change.
func (a *Applied) made(change *id.ID) {
	if change != nil && !slices.Contains(a.ChangeIDs, *change) {
		a.ChangeIDs = append(a.ChangeIDs, *change)
	}
}

// note says which rule was applied, or how many.
func (a application) note() journal.Note {
	applied := a.Mine
	if len(applied) == 0 {
		for _, r := range a.Rules {
			applied = append(applied, r.ID)
		}
	}
	if len(applied) == 1 {
		return journal.Note{
			Cause: journal.Rule, Did: journal.Facts{With: map[string]id.ID{journal.WithRule: applied[0]}},
		}
	}
	return journal.Note{Cause: journal.Rule, Summary: fmt.Sprintf("Applied %d rules", len(applied))}
}

// applyToLocked runs the rules on transactions that a rule matched, and writes the effects. It
// locks the transactions that would change and then reads them again, because someone may have
// edited them before the lock.
func (b *Rulebook) applyToLocked(ctx context.Context, tx pg.Tx, p *pipeline, ids []id.ID, overwrite bool) (int,
	[]journal.Entry, error,
) {
	if len(ids) == 0 {
		return 0, nil, nil
	}
	l, err := ruleview.New(ctx, tx, p.reads(), true)
	if err != nil {
		return 0, nil, err
	}
	pass := engine.Pass{Event: engine.Retroactive, OverwriteManual: overwrite}
	read := func(ids []id.ID) (verdicts []verdict, changing []id.ID, err error) {
		err = l.Read(ctx, tx, `where t.id = any($1) and t.deleted_at is null and `+journal.Ruled+`
			order by t.id`, []any{ids}, func(s *ruleview.Stored) error {
			if v := (verdict{s.ID, p.own(p.set.Run(&s.Draft, pass))}); v.changes() {
				verdicts, changing = append(verdicts, v), append(changing, v.id)
			}
			return nil
		})
		return verdicts, changing, err
	}
	_, changing, err := read(ids)
	if err != nil || len(changing) == 0 {
		return 0, nil, err
	}
	if err := b.books.Lock(ctx, tx, changing); err != nil {
		return 0, nil, err
	}
	verdicts, _, err := read(changing)
	if err != nil {
		return 0, nil, err
	}
	to, _, err := categories(ctx, tx, verdicts) // leave out categories that were deleted since the application began
	if err != nil {
		return 0, nil, err
	}
	entries, err := b.write(ctx, tx, judged{look{verdicts: verdicts}, p, to}, overwrite)
	return journal.Touched(entries), entries, err
}

// A scope selects the transactions of an application, and those of them that a rule could match.
type scope struct {
	meant pg.Where // the condition of the filter
	could pg.Where // the conditions of the filter and of the rules' needs
	reads engine.Fields
	lens  *ruleview.Lens
	none  bool
	size  int // the batch size
	pass  engine.Pass
}

// manyNeeds is the largest number of conditions in needs that narrow the query. With more, reading
// all transactions is cheaper.
const manyNeeds = 200

func (b *Rulebook) scope(ctx context.Context, q pg.Querier, p *pipeline, a application) (*scope, error) {
	return b.scopeFor(ctx, q, p, a, p.set.NeedsOf(p.decides))
}

// scopeFor is scope for a given need.
func (b *Rulebook) scopeFor(ctx context.Context, q pg.Querier, p *pipeline, a application, need engine.Need) (*scope,
	error,
) {
	// If only some rules decide, the lens must read holds here. Holds determine which of the other
	// rules have an effect, and so what the deciding rules read. If all rules decide, a single
	// match is enough to read the transaction again with its holds.
	l, err := ruleview.New(ctx, q, p.reads(), p.mine != nil)
	if err != nil {
		return nil, err
	}
	s := &scope{
		reads: p.reads(), lens: l, size: b.size,
		pass: engine.Pass{Event: engine.Retroactive, OverwriteManual: a.Overwrite},
	}
	var f ledger.Filter
	if a.Filter != nil {
		f = *a.Filter
	}
	f.Deleted = ""
	where, none, err := b.books.Where(ctx, q, f)
	if err != nil {
		return nil, errs.Within("filter", err)
	}
	where.And(journal.Ruled)
	s.meant, s.none = *where, none
	s.could = s.meant.Clone()
	if leaves(need) <= manyNeeds {
		l.Narrow(&s.could, need, true)
	}
	return s, nil
}

// leaves returns the number of conditions in a need.
func leaves(n engine.Need) int {
	sum := 1
	for _, k := range n.Of {
		sum += leaves(k)
	}
	return sum
}

// count returns how many transactions the filter selects, and how many of them a rule could match.
func (s *scope) count(ctx context.Context, q pg.Querier) (meant, could int64, err error) {
	if s.none {
		return 0, 0, nil
	}
	if meant, err = pg.Value[int64](ctx, q, `select count(*) from transaction t `+s.meant.SQL(),
		s.meant.Args()...); err != nil {
		return 0, 0, err
	}
	could, err = pg.Value[int64](ctx, q, `select count(*) from transaction t `+s.could.SQL(), s.could.Args()...)
	return meant, could, err
}

// next reads the batch of transactions after the given one. It returns those that a rule matches,
// the last one that it read, and the number that it read.
func (s *scope) next(ctx context.Context, q pg.Querier, p *pipeline, after id.ID) (hits []id.ID, last id.ID, n int,
	err error,
) {
	if s.none {
		return nil, last, 0, nil
	}
	w := s.could.Clone()
	w.And("t.id > $?", after)
	err = s.lens.Read(ctx, q, fmt.Sprintf(`%s order by t.id limit %d`, w.SQL(), s.size), w.Args(),
		func(t *ruleview.Stored) error {
			n++
			last = t.ID
			if out := p.set.Run(&t.Draft, s.pass); slices.ContainsFunc(out.Hits, p.decides) {
				hits = append(hits, t.ID)
			}
			return nil
		})
	return hits, last, n, err
}

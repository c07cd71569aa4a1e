package rulebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A RuleSpec is a rule to create.
type RuleSpec struct {
	Name               string     `json:"name" minLength:"1" maxLength:"200" format:"line" doc:"By convention the matched text, an arrow and the category" example:"name contains corner bakery → food_and_drink_groceries" agent:"Such as: name contains corner bakery → food_and_drink_groceries"`
	Conditions         Conditions `json:"conditions,omitempty" doc:"A leaf {field, op, value}, or {and: […]}, {or: […]}, {not: {…}}; omitted or {} matches every transaction" agent:"As rule-dsl; {} matches everything"`
	Actions            []Action   `json:"actions,omitempty" maxItems:"50" parts:"elsewhere" doc:"Actions on a match, such as {type: add_tag, tag_slug}; pass actions, category_slug or both" agent:"As rule-dsl, such as {type: add_tag, tag_slug}"`
	CategorySlug       *string    `json:"category_slug,omitempty" minLength:"1" maxLength:"64" doc:"Short for one set_category action" agent:"Short for one set_category"`
	Trigger            string     `json:"trigger,omitempty" enum:"on_create,on_change,on_update,always" default:"on_create" doc:"on_create: new transactions; on_change (or on_update): transactions that the bank changed; always: both" agent:"on_change: changed by the bank"`
	Stage              *string    `json:"stage,omitempty" enum:"baseline,standard,refinement,override" doc:"Priority by name: baseline 0, standard 10, refinement 50, override 100" agent:"Priority by name: 0, 10, 50, 100"`
	Priority           *int       `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"Lower runs first; 10 if omitted; takes precedence over stage" agent:"Lower runs first"`
	Enabled            *bool      `json:"enabled,omitempty" doc:"false: stored, but not run" agent:"-"`
	ExpiresIn          *string    `json:"expires_in,omitempty" pattern:"^[1-9][0-9]{0,4}[mhdw]$" hint:"be a duration such as 24h, 30d or 1w" doc:"The rule stops running after this time" agent:"Such as 30d"`
	ApplyRetroactively bool       `json:"apply_retroactively,omitempty" doc:"Also apply it to stored transactions (without adding comments)" agent:"Also to stored transactions"`
}

// CreateRules is the input of Create.
type CreateRules struct {
	Rules []op.Deferred[RuleSpec] `json:"rules" minItems:"1" maxItems:"100" doc:"For a single rule, pass a list of one" agent:"-"`
}

// A MadeRule is a rule that was just created.
type MadeRule struct {
	ID                 id.ID   `json:"id"`
	ShortID            string  `json:"short_id,omitempty" required:"true"`
	Name               string  `json:"name"`
	Priority           int     `json:"priority"`
	Proposed           bool    `json:"proposed,omitempty" doc:"true: a suggestion; it stays disabled until a person enables it"`
	RetroactiveMatches *int64  `json:"retroactive_matches,omitempty" doc:"With apply_retroactively: the number of stored transactions it matches"`
	RetroactiveJobID   *id.ID  `json:"retroactive_job_id,omitempty" doc:"The job that applies it, if it is still running"`
	RetroactiveChange  *id.ID  `json:"retroactive_change_id,omitempty" doc:"The change that applied it, with the other rules of the call"`
	RetroactiveError   *string `json:"retroactive_error,omitempty" doc:"Why the rule was created but not applied"`
}

// A SpecError is the reason why a rule was not created.
type SpecError struct {
	Index   int           `json:"index" doc:"Index in rules, from 0"`
	Name    string        `json:"name"`
	Code    errs.Code     `json:"code"`
	Message string        `json:"message"`
	Path    string        `json:"path,omitempty" doc:"Path of the first problem in the rule"`
	Details []errs.Detail `json:"details,omitempty" doc:"All problems"`
}

// Made is the result of Create.
type Made struct {
	Created  int         `json:"created"`
	Failed   int         `json:"failed"`
	Rules    []MadeRule  `json:"rules"`
	Errors   []SpecError `json:"errors" doc:"One for each rule that was not created"`
	ChangeID *id.ID      `json:"change_id,omitempty" doc:"Id of the change; pass it to revert to remove the rules again"`
}

// MaxRules is the maximum number of rules of a household.
const MaxRules = 10_000

// newRule is a spec that may become a rule.
type newRule struct {
	RuleSpec
	draftRule
	index    int
	id       id.ID
	priority int
	lasts    *int64 // seconds until the rule disables itself
	enabled  bool
	proposed bool
}

// Create creates every valid rule and returns an error for each invalid one. Over REST, if no rule
// is valid, nothing is created and the call fails.
func (b *Rulebook) Create(ctx context.Context, tx pg.Tx, in CreateRules) (Made, error) {
	if err := changing(ctx, tx); err != nil {
		return Made{}, err
	}
	out := Made{Rules: []MadeRule{}, Errors: []SpecError{}}
	rules, err := b.sound(ctx, tx, in.Rules, &out)
	if err != nil {
		return Made{}, err
	}
	out.Created, out.Failed = len(rules), len(out.Errors)
	if out.Created == 0 {
		if op.SurfaceOf(ctx) == op.Tool {
			return out, nil
		}
		return Made{}, out.refusal()
	}
	now, err := pg.Value[int](ctx, tx, `select count(*) from rule where deleted_at is null`)
	if err != nil {
		return Made{}, err
	}
	if now+len(rules) > MaxRules {
		return Made{}, errs.New(errs.Conflict,
			"limit of %d rules reached (there are %d); delete or merge some first", MaxRules, now)
	}
	if err := propose(ctx, tx, rules); err != nil {
		return Made{}, err
	}
	if out.ChangeID, err = b.insert(ctx, tx, rules); err != nil {
		return Made{}, err
	}
	for _, r := range rules {
		out.Rules = append(out.Rules, MadeRule{
			ID: r.id, ShortID: r.id.Short(), Name: r.Name, Priority: r.priority, Proposed: r.proposed,
		})
	}
	if err := tellProposed(ctx, tx, rules); err != nil {
		return Made{}, err
	}
	return out, b.backfill(ctx, tx, rules, out.Rules)
}

// AddPayeeRule creates a rule that assigns a counterparty, as part of the caller's change. It
// returns the rule, its entries, and whether the rule is enabled. An agent's rule may have to wait
// for a person.
func (b *Rulebook) AddPayeeRule(ctx context.Context, tx pg.Tx, name string, conditions json.RawMessage, into id.ID) (
	rule id.ID, made []journal.Entry, runs bool, err error,
) {
	n := &newRule{RuleSpec: RuleSpec{
		Name: name, Trigger: "always",
		Actions: []Action{{Type: "assign_counterparty", CounterpartyID: into.String()}},
	}}
	if err := json.Unmarshal(conditions, &n.Conditions); err != nil {
		return rule, nil, false, fmt.Errorf("read a condition: %w", err)
	}
	if err := changing(ctx, tx); err != nil {
		return rule, nil, false, err
	}
	if err := n.read(); err != nil {
		return rule, nil, false, err
	}
	if err := b.resolve(ctx, tx, []*draftRule{&n.draftRule}); err != nil {
		return rule, nil, false, err
	}
	if err := errs.Faults(n.faults); err != nil {
		return rule, nil, false, err
	}
	if err := propose(ctx, tx, []*newRule{n}); err != nil {
		return rule, nil, false, err
	}
	if made, err = b.store(ctx, tx, []*newRule{n}); err != nil {
		return rule, nil, false, err
	}
	return n.id, made, n.enabled, tellProposed(ctx, tx, []*newRule{n})
}

// sound reads the specs, returns the valid ones, and adds the others to out.
func (b *Rulebook) sound(ctx context.Context, q pg.Querier, specs []op.Deferred[RuleSpec], out *Made) ([]*newRule,
	error,
) {
	var all []*newRule
	for i, part := range specs {
		n := &newRule{index: i}
		var err error
		if n.RuleSpec, err = part.Read(); err != nil {
			e, ok := errors.AsType[*errs.Error](err)
			if !ok {
				return nil, err
			}
			n.faults, n.Name = e.Details, part.Line("name")
		} else if err := n.read(); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	drafts := make([]*draftRule, len(all))
	for i := range all {
		drafts[i] = &all[i].draftRule
	}
	if err := b.resolve(ctx, q, drafts); err != nil {
		return nil, err
	}
	var fit []*newRule
	for _, n := range all {
		if len(n.faults) == 0 {
			fit = append(fit, n)
			continue
		}
		e := op.Public(ctx, errs.Faults(n.faults))
		out.Errors = append(out.Errors, SpecError{
			Index: n.index, Name: n.Name, Code: e.Code, Message: e.Message,
			Path: n.faults[0].Field, Details: e.Details,
		})
	}
	return fit, nil
}

// read parses a spec, whose structure the schema has checked.
func (n *newRule) read() error {
	if n.CategorySlug == nil && n.Actions == nil {
		n.fault("actions", "required", "is required unless category_slug is given")
		return nil
	}
	if n.Conditions == nil {
		n.Conditions = Conditions{}
	}
	if err := n.parse(n.Conditions, n.Actions); err != nil {
		return err
	}
	for _, a := range n.actions {
		if a.CategorySlug != "" && n.CategorySlug != nil && a.CategorySlug != *n.CategorySlug {
			n.fault("category_slug", "conflict",
				"means a set_category action, but actions already has one; pass only one of them")
		}
	}
	if n.CategorySlug != nil {
		n.categorize(*n.CategorySlug)
	}
	n.Trigger = trigger(n.Trigger)
	n.priority = 10
	if p := priority(n.Stage, n.Priority); p != nil {
		n.priority = *p
	}
	if n.enabled = n.Enabled == nil || *n.Enabled; !n.enabled && n.ApplyRetroactively {
		n.fault("apply_retroactively", "conflict", "is for rules that run, but enabled is false; pass only "+
			"one of them")
	}
	if n.ExpiresIn != nil {
		// The expiry is calculated by the database's clock, which also decides when the rule ends.
		n.lasts = new(int64(span(*n.ExpiresIn).Seconds()))
	}
	return nil
}

var spanShape = regexp.MustCompile(`^([0-9]+)([mhdw])$`)

// span parses a duration such as 24h, 30d or 1w. The schema has checked the format.
func span(s string) time.Duration {
	m := spanShape.FindStringSubmatch(s)
	n, _ := strconv.Atoi(m[1])
	unit := map[string]time.Duration{
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
		"w": 7 * 24 * time.Hour,
	}[m[2]]
	return time.Duration(n) * unit
}

// refusal returns the error of a call that created nothing.
func (out Made) refusal() error {
	var faults []errs.Detail
	for _, e := range out.Errors {
		for _, d := range e.Details {
			at := fmt.Sprintf("rules[%d]", e.Index)
			if d.Field != "" {
				at += "." + d.Field
			}
			faults = append(faults, errs.Detail{Field: at, Code: d.Code, Message: d.Message})
		}
	}
	return errs.Faults(faults)
}

// store stores the rules, creates the tags that they add, and returns the entries of both. The
// rules keep the order in which they were written: created_at increases with their position.
func (b *Rulebook) store(ctx context.Context, tx pg.Tx, rules []*newRule) ([]journal.Entry, error) {
	actor := op.ActorOf(ctx)
	var tags []string
	for _, r := range rules {
		tags = append(tags, added(r.actions)...)
	}
	made, err := b.categories.Register(ctx, tx, tags)
	if err != nil {
		return nil, err
	}
	n := len(rules)
	ids, shorts, labels, conditions, actions := make([]id.ID, n), make([]string, n), make([]string, n), make([]string,
		n), make([]string, n)
	triggers, priorities, lasts := make([]string, n), make([]int, n), make([]*int64, n)
	enabled, proposed := make([]bool, n), make([]bool, n)
	err = pg.Redraw(ctx, tx, "rule_short_id", func(tx pg.Tx) error {
		for i, r := range rules {
			r.id = id.New()
			tree, acts, err := r.stored()
			if err != nil {
				return err
			}
			ids[i], shorts[i], labels[i], conditions[i], actions[i] = r.id, r.id.Short(), r.Name, string(tree), string(
				acts)
			triggers[i], priorities[i], lasts[i] = r.Trigger, r.priority, r.lasts
			enabled[i], proposed[i] = r.enabled, r.proposed
		}
		_, err := pg.Exec(ctx, tx, `
			insert into rule (id, short_id, name, conditions, actions, trigger, priority, enabled, proposed, expires_at,
				created_by_type, created_by_id, created_by_name, created_at, updated_at)
			select v.id, v.short_id, v.name, v.conditions::jsonb, v.actions::jsonb, v.trigger, v.priority, v.enabled, v.proposed,
				clock_timestamp() + v.lasts * interval '1 second', @type, @actor, @actor_name,
				statement_timestamp() + v.place * interval '1 microsecond',
					statement_timestamp() + v.place * interval '1 microsecond'
			from unnest(@ids::uuid[], @shorts::text[], @names::text[], @conditions::text[], @actions::text[],
				@triggers::text[], @priorities::int[], @enabled::boolean[], @proposed::boolean[], @lasts::bigint[])
				with ordinality v (id, short_id, name, conditions, actions, trigger, priority, enabled, proposed, lasts,
					place)`, pg.Args{
			"ids": ids, "shorts": shorts, "names": labels, "conditions": conditions, "actions": actions,
			"triggers": triggers, "priorities": priorities, "lasts": lasts,
			"enabled": enabled, "proposed": proposed,
			"type": actor.Type, "actor": present(actor.ID), "actor_name": actor.Name,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	records, err := definition.Read(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	source := journal.Source(actor)
	for _, u := range ids {
		made = append(made, journal.Entry{
			Subject: journal.RuleSubject, SubjectID: u, Field: journal.FieldRecord,
			After: records[u], AfterSource: &source,
		})
	}
	return made, nil
}

// insert stores rules and records that as one change.
func (b *Rulebook) insert(ctx context.Context, tx pg.Tx, rules []*newRule) (*id.ID, error) {
	made, err := b.store(ctx, tx, rules)
	if err != nil {
		return nil, err
	}
	return journal.Record(ctx, tx, journal.Note{}, made)
}

func present(u id.ID) *id.ID {
	if u.IsZero() {
		return nil
	}
	return &u
}

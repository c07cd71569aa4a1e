package rulebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

// A pipeline is a compiled set of rules that run together.
type pipeline struct {
	set     *engine.Set
	names   map[id.ID]string
	mine    map[id.ID]bool // the rules whose decisions count; nil means all
	version id.ID          // the version of the rules, if the pipeline has all enabled ones
}

// decides reports whether the effects of the rule at index i are written. The other rules run too,
// because a deciding rule may read the fields that they set, or be overridden by them.
func (p *pipeline) decides(i int) bool { return p.mine == nil || p.mine[p.set.Rules()[i].ID] }

// own reduces an outcome to the effects of the deciding rules.
func (p *pipeline) own(o engine.Outcome) engine.Outcome {
	if p.mine == nil {
		return o
	}
	others := func(e engine.Effect) bool { return !p.decides(e.Rule) }
	if o.Category != nil && others(*o.Category) {
		o.Category = nil
	}
	if o.Counterparty != nil && others(*o.Counterparty) {
		o.Counterparty = nil
	}
	o.Tags, o.Comments = slices.DeleteFunc(o.Tags, others), slices.DeleteFunc(o.Comments, others)
	o.Hits = slices.DeleteFunc(o.Hits, func(i int) bool { return !p.decides(i) })
	o.Attempts = slices.DeleteFunc(o.Attempts, func(a engine.Attempt) bool { return !p.decides(a.Rule) })
	return o
}

// A compiled is the pipeline of one version of the rules. It is only a cache: the database
// determines which version is current, and until when.
type compiled struct {
	version id.ID
	until   *time.Time // when the first of the rules expires
	all     *pipeline
}

// reads returns the fields that the rules' conditions read.
func (p *pipeline) reads() (fields engine.Fields) {
	for _, r := range p.set.Rules() {
		fields |= r.Conditions.Reads()
	}
	return fields
}

type loaded struct {
	ID         id.ID    `db:"id"`
	Name       string   `db:"name"`
	Conditions []byte   `db:"conditions"`
	Actions    []byte   `db:"actions"`
	Trigger    string   `db:"trigger"`
	Priority   int      `db:"priority"`
	ExpiresAt  *pg.Time `db:"expires_at"`
	CreatedAt  pg.Time  `db:"created_at"`
	IsSystem   bool     `db:"is_system"`
}

const loadedColumns = `r.id, r.name, r.conditions, r.actions, r.trigger, r.priority, r.expires_at, r.created_at,
	r.is_system`

// rule converts the stored rule for the engine.
func (l loaded) rule() (engine.Rule, error) {
	// The built-in rule puts new transactions into review. An account can limit it to recent
	// transactions.
	r := engine.Rule{
		ID: l.ID, Priority: l.Priority, CreatedAt: l.CreatedAt.Time(), Trigger: engine.Trigger(l.Trigger),
		Recent: l.IsSystem,
	}
	if err := json.Unmarshal(l.Conditions, &r.Conditions); err != nil {
		return r, fmt.Errorf("stored conditions of rule %s: %w", l.ID, err)
	}
	if err := json.Unmarshal(l.Actions, &r.Actions); err != nil {
		return r, fmt.Errorf("stored actions of rule %s: %w", l.ID, err)
	}
	return r, nil
}

// every returns all rules that are not deleted, enabled or not.
func every(ctx context.Context, q pg.Querier) ([]engine.Rule, error) {
	rows, err := pg.All[loaded](ctx, q, `select `+loadedColumns+` from rule r where r.deleted_at is null
		order by r.priority, r.created_at, r.id`)
	if err != nil {
		return nil, err
	}
	rules := make([]engine.Rule, len(rows))
	for i, l := range rows {
		if rules[i], err = l.rule(); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// active returns the rules that are enabled at this moment.
func (b *Rulebook) active(ctx context.Context, q pg.Querier) (*pipeline, error) {
	type state struct {
		Version id.ID   `db:"version"`
		Now     pg.Time `db:"now"`
		Settled bool    `db:"settled"`
	}
	// This transaction may have written the version itself, if the version is not older than the
	// transaction. Such a version may never be committed, so it must not replace the cached one,
	// which all other calls use.
	now, err := pg.One[state](ctx, q, `select version, clock_timestamp() as now, age(xmin) > 0 as settled
		from rulebook`)
	if err != nil {
		return nil, fmt.Errorf("read the rules' version: %w", err)
	}
	c := b.kept.Load()
	if c == nil || c.version != now.Version || c.until != nil && !now.Now.Time().Before(*c.until) {
		if c, err = load(ctx, q); err != nil {
			return nil, err
		}
		if q == pg.Querier(b.db) || now.Settled && c.version == now.Version {
			b.kept.Store(c)
		}
	}
	return c.all, nil
}

// load reads and compiles the rules together with their version. It uses one statement, so that
// both are from the same moment.
func load(ctx context.Context, q pg.Querier) (*compiled, error) {
	type versioned struct {
		loaded
		Version id.ID `db:"version"`
	}
	rows, err := pg.All[versioned](ctx, q, `
		select b.version, `+loadedColumns+` from rulebook b, rule r
		where r.deleted_at is null and r.enabled and (r.expires_at is null or r.expires_at > clock_timestamp())`)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return &compiled{all: compile(nil, nil)}, nil // no row has a version, so the next call reads again
	}
	c := &compiled{version: rows[0].Version}
	var all []engine.Rule
	names := make(map[id.ID]string, len(rows))
	for _, l := range rows {
		r, err := l.rule()
		if err != nil {
			return nil, err
		}
		all, names[l.ID] = append(all, r), l.Name
		if l.ExpiresAt != nil && (c.until == nil || l.ExpiresAt.Time().Before(*c.until)) {
			c.until = new(l.ExpiresAt.Time())
		}
	}
	c.all = compile(all, names)
	c.all.version = c.version
	return c, nil
}

func compile(rules []engine.Rule, names map[id.ID]string) *pipeline {
	return &pipeline{set: engine.Compile(rules), names: names}
}

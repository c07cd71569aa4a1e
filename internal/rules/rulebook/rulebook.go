package rulebook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

// A Rulebook holds the rules of one household.
type Rulebook struct {
	db         *pg.DB
	categories *category.Categories
	books      *ledger.Books
	jobs       *job.Jobs
	kept       atomic.Pointer[compiled]
	size       int // of a batch; tests reduce it
}

// New returns a Rulebook.
func New(db *pg.DB, f *category.Categories, books *ledger.Books, jobs *job.Jobs) *Rulebook {
	return &Rulebook{db: db, categories: f, books: books, jobs: jobs, size: batchSize}
}

// Subjects returns the subjects that reverts restore.
func (b *Rulebook) Subjects() []journal.Subject {
	rules := definition
	rules.Fits = fits
	return []journal.Subject{subject{rules}}
}

var definition = journal.Definition{
	Subject: journal.RuleSubject, Table: "rule", Columns: []string{
		"name", "conditions", "actions", "trigger",
		"priority", "enabled", "expires_at", "proposed",
	},
}

// subject reverts changes of rules. Like every writer of rules, it waits for the lock on the
// rulebook.
type subject struct{ journal.Definition }

// Lock implements journal.Subject.
func (s subject) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	if err := changing(ctx, tx); err != nil {
		return err
	}
	return s.Definition.Lock(ctx, tx, ids)
}

// Standing returns the rules in use that have the same name, conditions and actions as planned
// ones. Names of rules need not be unique, so a rule with other conditions or actions is a
// different rule.
func (s subject) Standing(ctx context.Context, q pg.Querier, planned []journal.Entry) (map[id.ID]id.ID, error) {
	type pair struct {
		Was id.ID `db:"was"`
		Is  id.ID `db:"stands"`
	}
	ids, records := make([]id.ID, len(planned)), make([]string, len(planned))
	for i, e := range planned {
		ids[i], records[i] = e.SubjectID, *e.After
	}
	pairs, err := pg.All[pair](ctx, q, `
		select v.id as was, r.id as stands from unnest($1::uuid[], $2::text[]) v (id, record)
			join rule r on lower(r.name) = lower(v.record::jsonb ->> 'name') and r.id <> v.id and r.deleted_at is null
				and r.conditions = v.record::jsonb -> 'conditions' and r.actions = v.record::jsonb -> 'actions'
		order by r.created_at desc, r.id`, ids, records)
	out := make(map[id.ID]id.ID, len(pairs))
	for _, p := range pairs {
		out[p.Was] = p.Is
	}
	return out, err
}

// fits returns the rules that cannot be restored: those with a category that no longer exists, and
// those that an agent would accept. Deleting a category locks the rulebook first, so a deletion
// waits for this transaction.
func fits(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	named := make([][]string, len(entries))
	var all set
	for i, e := range entries {
		if e.After == nil {
			continue
		}
		var record struct {
			Conditions engine.Tree     `json:"conditions"`
			Actions    []engine.Action `json:"actions"`
		}
		if err := json.Unmarshal([]byte(*e.After), &record); err != nil {
			return nil, fmt.Errorf("read a recorded rule: %w", err)
		}
		for _, ref := range record.Conditions.Refs() {
			if ref.Field == categoryField {
				named[i] = append(named[i], ref.Value)
			}
		}
		for _, a := range record.Actions {
			if a.CategorySlug != "" {
				named[i] = append(named[i], a.CategorySlug)
			}
		}
		for _, slug := range named[i] {
			all.add(slug)
		}
	}
	there, err := bySlug(ctx, tx, `select id, slug from category where slug = any($1) and deleted_at is null`, all.list)
	if err != nil {
		return nil, err
	}
	accepts, err := accepted(ctx, tx, entries)
	if err != nil {
		return nil, err
	}
	var left []journal.Skipped
	for i, e := range entries {
		if accepts[e.SubjectID] {
			left = append(left, journal.Skip(e, "held"))
		} else if slices.ContainsFunc(named[i], func(slug string) bool { _, ok := there[slug]; return !ok }) {
			left = append(left, journal.Skip(e, "conflict"))
		}
	}
	return left, nil
}

// changing makes this transaction the only one that changes rules until it ends, and invalidates
// everything that was compiled before.
func changing(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `update rulebook set version = gen_random_uuid()`)
	return err
}

// Conditions is a rule's condition tree as it was written.
type Conditions map[string]json.RawMessage

// ShortJSON returns the tree with short forms of the ids in it.
func (c Conditions) ShortJSON() ([]byte, error) {
	printed, err := json.Marshal(map[string]json.RawMessage(c))
	if err != nil {
		return nil, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(printed))
	d.UseNumber() // amounts stay as written
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if !shortLeaves(tree) {
		return printed, nil
	}
	return json.Marshal(tree)
}

// shortLeaves shortens the ids in a tree of conditions, and reports whether there were any.
func shortLeaves(node any) (found bool) {
	switch node := node.(type) {
	case []any:
		for _, part := range node {
			found = shortLeaves(part) || found
		}
	case map[string]any:
		if field, _ := node["field"].(string); !strings.HasSuffix(field, "_id") {
			for _, part := range node {
				found = shortLeaves(part) || found
			}
			return found
		}
		switch value := node["value"].(type) {
		case string:
			node["value"] = shortText(value)
		case []any:
			for i, one := range value {
				if text, ok := one.(string); ok {
					value[i] = shortText(text)
				}
			}
		}
		return true
	}
	return found
}

// shortText returns the short id if the text is a UUID, else the text.
func shortText(s string) string {
	if u, err := id.Parse(s); err == nil {
		return u.Short()
	}
	return s
}

// An Action is one change that a rule makes to a transaction that it matches.
type Action struct {
	Type             string `json:"type" enum:"set_category,add_tag,remove_tag,add_comment,assign_counterparty"`
	CategorySlug     string `json:"category_slug,omitempty" maxLength:"64" doc:"For set_category"`
	TagSlug          string `json:"tag_slug,omitempty" maxLength:"64" doc:"For add_tag and remove_tag; add_tag creates an unknown slug"`
	Content          string `json:"content,omitempty" maxLength:"10000" doc:"For add_comment, which runs only at sync"`
	CounterpartyID   string `json:"counterparty_id,omitempty" maxLength:"36" doc:"For assign_counterparty: UUID or short id; or pass counterparty_name"`
	CounterpartyName string `json:"counterparty_name,omitempty" maxLength:"200" format:"line" doc:"For assign_counterparty: a name; the counterparty is created when first needed"`
}

// ShortJSON returns the action with the short id of the counterparty.
func (a Action) ShortJSON() ([]byte, error) {
	type plain Action
	short := plain(a)
	short.CounterpartyID = shortText(a.CounterpartyID)
	return json.Marshal(short)
}

// A Rule describes transactions, and the actions for those that match.
type Rule struct {
	ID                  id.ID               `json:"id"`
	ShortID             string              `json:"short_id,omitempty" required:"true"`
	Name                string              `json:"name"`
	Conditions          Conditions          `json:"conditions" screen:"tree" doc:"A leaf {field, op, value}, or and, or, not; {} matches every transaction"`
	Actions             []Action            `json:"actions"`
	Trigger             string              `json:"trigger" enum:"on_create,on_change,always"`
	CategorySlug        string              `json:"category_slug" doc:"Slug that its set_category action sets; empty without one"`
	CategoryDisplayName string              `json:"category_display_name"`
	Priority            int                 `json:"priority" doc:"0 to 1000; lower runs first"`
	Enabled             bool                `json:"enabled" doc:"false once it has expired"`
	Proposed            bool                `json:"proposed" doc:"Suggested by an agent; it stays disabled until a person enables it"`
	HitCount            int64               `json:"hit_count" doc:"Transactions it has matched at sync since it was created"`
	LastHitAt           *pg.Time            `json:"last_hit_at"`
	IsSystem            bool                `json:"is_system" doc:"Built in: it can be disabled but not changed or deleted"`
	CreatedByType       string              `json:"created_by_type" enum:"user,agent,system"`
	CreatedByID         id.ID               `json:"created_by_id" format:"line" doc:"Empty for the built-in rule"`
	CreatedByName       string              `json:"created_by_name"`
	CreatedAt           pg.Time             `json:"created_at"`
	UpdatedAt           pg.Time             `json:"updated_at"`
	ExpiresAt           *pg.Time            `json:"expires_at" format:"line" doc:"When it expires; empty for never"`
	Record              *trackrecord.Record `json:"record,omitempty" doc:"Track record of its decisions; only in lists, and for a tool only if fields includes it"`
	fields              fieldSet
}

// row is a rule as it is stored.
type row struct {
	ID            id.ID    `db:"id"`
	ShortID       string   `db:"short_id"`
	Name          string   `db:"name"`
	Conditions    []byte   `db:"conditions"`
	Actions       []byte   `db:"actions"`
	Trigger       string   `db:"trigger"`
	Priority      int      `db:"priority"`
	Enabled       bool     `db:"enabled"`
	Proposed      bool     `db:"proposed"`
	ExpiresAt     *pg.Time `db:"expires_at"`
	IsSystem      bool     `db:"is_system"`
	CreatedByType string   `db:"created_by_type"`
	CreatedByID   *id.ID   `db:"created_by_id"`
	CreatedByName string   `db:"created_by_name"`
	CreatedAt     pg.Time  `db:"created_at"`
	UpdatedAt     pg.Time  `db:"updated_at"`
	HitCount      int64    `db:"hit_count"`
	LastHitAt     *pg.Time `db:"last_hit_at"`
	CategoryName  *string  `db:"category_name"`
	CategorySlug  *string  `db:"category_slug"`
}

// ruleRows selects rules r, and whether they are enabled at this moment. A rule has at most one
// set_category. "offset 0" keeps PostgreSQL from extracting its slug again for every category with
// which it is compared.
const ruleRows = `
	select r.id, r.short_id, r.name, r.conditions, r.actions, r.trigger, r.priority,
		r.enabled and (r.expires_at is null or r.expires_at > clock_timestamp()) as enabled, r.proposed, r.expires_at,
		r.is_system, r.created_by_type, r.created_by_id, r.created_by_name, r.created_at, r.updated_at,
		h.hit_count, h.last_hit_at, x.slug as category_slug,
		(select c.display_name from category c where c.slug = x.slug and c.deleted_at is null) as category_name
	from rule r
	cross join lateral (select coalesce(sum(hits), 0)::bigint as hit_count, max(hit_at) as last_hit_at from rule_hit
		where rule_id = r.id) h
	cross join lateral (select jsonb_path_query_first(r.actions,
		'$[*] ? (@.type == "set_category").category_slug') #>> '{}' as slug offset 0) x`

func (r row) rule() (Rule, error) {
	out := Rule{
		ID: r.ID, ShortID: r.ShortID, Name: r.Name, Trigger: r.Trigger, Priority: r.Priority, Enabled: r.Enabled,
		Proposed: r.Proposed, HitCount: r.HitCount, LastHitAt: r.LastHitAt,
		IsSystem: r.IsSystem, CreatedByType: r.CreatedByType, CreatedByName: r.CreatedByName, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, ExpiresAt: r.ExpiresAt, fields: allFields,
	}
	if r.CreatedByID != nil {
		out.CreatedByID = *r.CreatedByID
	}
	if r.CategorySlug != nil {
		out.CategorySlug = *r.CategorySlug
	}
	if r.CategoryName != nil {
		out.CategoryDisplayName = *r.CategoryName
	}
	var tree engine.Tree
	if err := json.Unmarshal(r.Conditions, &tree); err != nil {
		return Rule{}, fmt.Errorf("stored conditions of rule %s: %w", r.ID, err)
	}
	printed, err := json.Marshal(tree)
	if err != nil {
		return Rule{}, fmt.Errorf("print conditions: %w", err)
	}
	if err := json.Unmarshal(printed, &out.Conditions); err != nil {
		return Rule{}, fmt.Errorf("print conditions: %w", err)
	}
	if err := json.Unmarshal(r.Actions, &out.Actions); err != nil {
		return Rule{}, fmt.Errorf("stored actions of rule %s: %w", r.ID, err)
	}
	return out, nil
}

// A Ref names a rule.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The rule's UUID or short id"`
}

const lister = "{rule.list} lists them"

// Get returns one rule.
func (b *Rulebook) Get(ctx context.Context, q pg.Querier, in Ref) (Rule, error) {
	r, err := get(ctx, q, in.ID)
	return r, pg.Found(err, "rule", lister)
}

func get(ctx context.Context, q pg.Querier, ref string) (Rule, error) {
	r, err := pg.One[row](ctx, q, ruleRows+` where r.deleted_at is null
		and (r.id = $1 or r.short_id = $2)`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return Rule{}, err
	}
	return r.rule()
}

// lock is Get with a lock: nobody else can change rules until the transaction ends.
func (b *Rulebook) lock(ctx context.Context, tx pg.Tx, ref string) (Rule, error) {
	if err := changing(ctx, tx); err != nil {
		return Rule{}, err
	}
	return b.Get(ctx, tx, Ref{ref})
}

func errSystem() error {
	return errs.New(errs.SystemProtected,
		"this rule is built in: it can be disabled (enabled: false), but not changed or deleted")
}

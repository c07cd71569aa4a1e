package rulebook

import (
	"context"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

// PatchRule is the input of Patch.
type PatchRule struct {
	ID           string     `json:"id" minLength:"1" doc:"The rule's UUID or short id"`
	Name         *string    `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Conditions   Conditions `json:"conditions,omitempty" doc:"The whole tree; {} matches every transaction" agent:"As rule-dsl"`
	Actions      []Action   `json:"actions,omitempty" minItems:"1" maxItems:"50" parts:"elsewhere" doc:"Replaces the whole list; at least one action" agent:"As rule-dsl"`
	CategorySlug *string    `json:"category_slug,omitempty" minLength:"1" maxLength:"64" doc:"Replaces only the set_category action, or adds one" agent:"-"`
	Trigger      *string    `json:"trigger,omitempty" enum:"on_create,on_change,on_update,always"`
	Stage        *string    `json:"stage,omitempty" enum:"baseline,standard,refinement,override"`
	Priority     *int       `json:"priority,omitempty" minimum:"0" maximum:"1000" doc:"Takes precedence over stage" agent:"-"`
	Enabled      *bool      `json:"enabled,omitempty" doc:"true on an expired rule clears its expiry; on a suggested (proposed) rule it accepts the rule, which only a person can do" agent:"-"`
	ExpiresAt    *string    `json:"expires_at,omitempty" doc:"RFC 3339, or empty for never" example:"2027-01-31T00:00:00Z"`
}

// Patch changes a rule.
func (b *Rulebook) Patch(ctx context.Context, tx pg.Tx, in PatchRule) (Rule, error) {
	r, err := b.lock(ctx, tx, in.ID)
	if err != nil {
		return Rule{}, err
	}
	if err := op.Match(ctx, r); err != nil {
		return Rule{}, err
	}
	if r.IsSystem && (in.Name != nil || in.Conditions != nil || in.Actions != nil || in.CategorySlug != nil ||
		in.Trigger != nil || in.Stage != nil || in.Priority != nil || in.ExpiresAt != nil) {
		return Rule{}, errSystem()
	}
	accepts := in.Enabled != nil && *in.Enabled && r.Proposed
	if accepts && op.ActorOf(ctx).Bound() {
		return Rule{}, errs.New(errs.Forbidden,
			"this rule is proposed; only a person can enable it, so ask a member of the household")
	}
	d, err := b.patched(ctx, tx, r, in)
	if err != nil {
		return Rule{}, err
	}
	conditions, actions, err := d.stored()
	if err != nil {
		return Rule{}, err
	}
	expires, clears, err := in.expiry()
	if err != nil {
		return Rule{}, err
	}
	var tags []journal.Entry
	entries, err := definition.Around(ctx, tx, []id.ID{r.ID}, journal.Source(op.ActorOf(ctx)), func() (err error) {
		if tags, err = b.categories.Register(ctx, tx, added(d.actions)); err != nil {
			return err
		}
		var t *string
		if in.Trigger != nil {
			t = new(trigger(*in.Trigger))
		}
		// Enabling an expired rule clears the expiry that has passed, unless a later one is given.
		_, err = pg.Exec(ctx, tx, `
			update rule set
				name = coalesce(@name, name), conditions = @conditions::jsonb, actions = @actions::jsonb,
					trigger = coalesce(@trigger, trigger), priority = coalesce(@priority, priority),
				enabled = coalesce(@enabled, enabled), proposed = proposed and not coalesce(@enabled, false),
				expires_at = case
					when @expires::timestamptz is not null then @expires::timestamptz
					when @clears or @enabled and expires_at <= clock_timestamp() then null
					else expires_at end,
				updated_at = clock_timestamp()
			where id = @id`, pg.Args{
			"id": r.ID, "name": in.Name, "conditions": string(conditions), "actions": string(actions), "trigger": t,
			"priority": priority(in.Stage, in.Priority),
			"enabled":  in.Enabled, "expires": expires, "clears": clears,
		})
		return err
	})
	if err != nil {
		return Rule{}, err
	}
	if _, err := journal.Record(ctx, tx, journal.Note{}, append(tags, entries...)); err != nil {
		return Rule{}, err
	}
	return b.Get(ctx, tx, Ref{r.ID.String()})
}

// patched returns the rule's content after the patch.
func (b *Rulebook) patched(ctx context.Context, tx pg.Tx, r Rule, in PatchRule) (*draftRule, error) {
	d := &draftRule{}
	if err := d.parse(r.Conditions, r.Actions); err != nil {
		return nil, err
	}
	d.faults = nil // the stored content was valid
	if err := d.parse(in.Conditions, in.Actions); err != nil {
		return nil, err
	}
	if in.CategorySlug != nil {
		d.categorize(*in.CategorySlug)
	}
	if in.Conditions == nil && in.Actions == nil && in.CategorySlug == nil {
		return d, nil
	}
	if err := b.resolve(ctx, tx, []*draftRule{d}); err != nil {
		return nil, err
	}
	return d, errs.Faults(d.faults)
}

// expiry parses expires_at. It returns true if the caller gave a time or cleared it.
func (in PatchRule) expiry() (*time.Time, bool, error) {
	if in.ExpiresAt == nil {
		return nil, false, nil
	}
	if *in.ExpiresAt == "" {
		return nil, true, nil
	}
	t, err := time.Parse(time.RFC3339Nano, *in.ExpiresAt)
	if err != nil || t.Year() > 9999 {
		return nil, false, errs.Field("expires_at", "format",
			"must be an RFC 3339 timestamp, such as 2027-01-31T00:00:00Z, or empty for never")
	}
	if in.Enabled != nil && *in.Enabled && !t.After(time.Now()) {
		return nil, false, errs.Field("expires_at", "conflict",
			"is in the past, but enabled: true needs a rule that runs; pass a later time, or omit expires_at "+
				"to clear the old one")
	}
	return &t, false, nil
}

// Delete leaves a tombstone. A revert restores the rule.
func (b *Rulebook) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	r, err := b.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if r.IsSystem {
		return op.Deleted{}, errSystem()
	}
	entries, err := definition.Around(ctx, tx, []id.ID{r.ID}, journal.Source(op.ActorOf(ctx)), func() error {
		_, err := pg.Exec(ctx, tx, `update rule set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
			where id = $1`, r.ID)
		return err
	})
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return op.Deleted{Deleted: true, ID: r.ID}, err
}

// CategoryUser updates rules when a category is merged into another.
type CategoryUser struct{}

// Uses implements [category.User].
func (CategoryUser) Uses(ctx context.Context, tx pg.Tx, of id.ID) (int64, string, error) {
	if err := changing(ctx, tx); err != nil { // so that a rule that is being created at the same time counts too
		return 0, "", err
	}
	slug, err := pg.Value[string](ctx, tx, `select slug from category where id = $1`, of)
	if err != nil {
		return 0, "", err
	}
	using, err := usersOf(ctx, tx, map[string]string{slug: slug})
	return int64(len(using)), "rules", err
}

// Move implements [category.User].
func (CategoryUser) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) ([]journal.Entry, error) {
	type pair struct {
		From string `db:"from_slug"`
		Into string `db:"into_slug"`
	}
	pairs, err := pg.All[pair](ctx, tx, `
		select f.slug as from_slug, i.slug as into_slug
		from unnest($1::uuid[], $2::uuid[]) v (from_id, into_id) join category f on f.id = v.from_id
			join category i on i.id = v.into_id`, from, into)
	if err != nil {
		return nil, err
	}
	if err := changing(ctx, tx); err != nil {
		return nil, err
	}
	moves := map[string]string{}
	for _, p := range pairs {
		moves[p.From] = p.Into
	}
	using, err := usersOf(ctx, tx, moves)
	if err != nil || len(using) == 0 {
		return nil, err
	}
	ids, conditions, actions := make([]id.ID, len(using)), make([]string, len(using)), make([]string, len(using))
	for i, u := range using {
		tree, acts, err := u.stored()
		if err != nil {
			return nil, err
		}
		ids[i], conditions[i], actions[i] = u.id, string(tree), string(acts)
	}
	return definition.Around(ctx, tx, ids, journal.Source(op.ActorOf(ctx)), func() error {
		_, err := pg.Exec(ctx, tx, `
			update rule r set conditions = v.conditions::jsonb, actions = v.actions::jsonb,
				updated_at = clock_timestamp()
			from unnest($1::uuid[], $2::text[], $3::text[]) v (id, conditions, actions)
				where r.id = v.id`, ids, conditions, actions)
		return err
	})
}

// A user is a rule that names a category, and its content after the move.
type user struct {
	id id.ID
	content
}

// usersOf returns the rules that name a category of moves, with the new category in its place. The
// engine decides what is a reference and what is text that only looks like a slug.
func usersOf(ctx context.Context, q pg.Querier, moves map[string]string) ([]user, error) {
	rules, err := every(ctx, q)
	if err != nil {
		return nil, err
	}
	var using []user
	for _, r := range rules {
		found := false
		moved := func(slug string) string {
			if to, ok := moves[slug]; ok {
				found = true
				return to
			}
			return slug
		}
		tree := r.Conditions.Resolved(func(ref engine.Ref) string {
			if ref.Field == categoryField {
				return moved(ref.Value)
			}
			return ref.Value
		})
		actions := append([]engine.Action(nil), r.Actions...)
		for i := range actions {
			if actions[i].Type == setCategory {
				actions[i].CategorySlug = moved(actions[i].CategorySlug)
			}
		}
		if found {
			using = append(using, user{r.ID, content{tree, actions}})
		}
	}
	return using, nil
}

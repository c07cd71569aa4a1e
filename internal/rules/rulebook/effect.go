package rulebook

import (
	"context"
	"slices"

	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

// A verdict is the outcome of a pipeline for one transaction.
type verdict struct {
	id      id.ID
	outcome engine.Outcome
}

// changes reports whether there is anything to write.
func (v verdict) changes() bool {
	o := v.outcome
	return o.Category != nil || len(o.Tags) > 0 || o.Counterparty != nil || len(o.Comments) > 0
}

// service is the actor of rules. It cannot change fields that people hold, no matter who applies
// the rules.
var service = op.Actor{Type: op.System, Name: "coffer"}

// targets are the records that effects refer to, by the names that rules use.
type targets struct {
	tags   map[string]id.ID
	others counterparty.Assigned
	made   []journal.Entry // tags that were created again
}

// categories returns the categories that the verdicts set, and whether one of them no longer
// exists. The others stay in use until the transaction ends.
func categories(ctx context.Context, tx pg.Tx, verdicts []verdict) (found map[string]id.ID, gone bool, err error) {
	var slugs set
	for _, v := range verdicts {
		if e := v.outcome.Category; e != nil {
			slugs.add(e.Value)
		}
	}
	found, err = bySlug(ctx, tx, `select id, slug from category where slug = any($1) and deleted_at is null
		order by id for share`, slugs.list)
	return found, len(found) < len(slugs.list), err
}

// write writes the verdicts' effects in a few statements, whatever their number. It returns the
// entries for its caller to record. The transactions must be locked.
func (b *Rulebook) write(ctx context.Context, tx pg.Tx, j judged, overwrite bool) ([]journal.Entry, error) {
	acting := op.Acting(ctx, service)
	edits, comments, made, err := b.effects(acting, tx, j)
	if err != nil {
		return nil, err
	}
	_, entries, err := b.books.Apply(acting, tx, edits, overwrite)
	if err != nil {
		return nil, err
	}
	commentEntries, err := journal.Write(acting, tx, comments)
	return slices.Concat(made, entries, commentEntries), err
}

// effects returns the edits and comments of the verdicts. It creates the records that they need,
// and returns the entries for those records.
func (b *Rulebook) effects(ctx context.Context, tx pg.Tx, j judged) (edits []ledger.Edit, comments []journal.Draft,
	made []journal.Entry, err error,
) {
	if len(j.verdicts) == 0 {
		return nil, nil, nil, nil
	}
	to, err := b.targets(ctx, tx, j.verdicts)
	if err != nil {
		return nil, nil, nil, err
	}
	rules := j.pipeline.set.Rules()
	source := "rule"
	for _, v := range j.verdicts {
		edit := func(e engine.Effect, field string, value *string, tag *id.ID) {
			edits = append(edits, ledger.Edit{
				Transaction: v.id, Field: field, Value: value, Tag: tag, Source: &source,
				Rule: &rules[e.Rule].ID, Fill: field == journal.FieldCounterparty,
			})
		}
		if e := v.outcome.Category; e != nil {
			if u, ok := j.categories[e.Value]; ok {
				edit(*e, journal.FieldCategory, new(u.String()), nil)
			}
		}
		if e := v.outcome.Counterparty; e != nil {
			if u, ok := to.counterparty(*e); ok {
				edit(*e, journal.FieldCounterparty, new(u.String()), nil)
			}
		}
		for _, e := range v.outcome.Tags {
			u, ok := to.tags[e.Tag]
			switch {
			case !ok: // the tag to remove no longer exists
			case e.Removed:
				edit(e, journal.FieldTag, nil, &u)
			default:
				edit(e, journal.FieldTag, new(ledger.Present), &u)
			}
		}
		for _, e := range v.outcome.Comments {
			comments = append(comments, journal.Draft{Transaction: v.id, Content: e.Value, Rule: &rules[e.Rule].ID})
		}
	}
	return edits, comments, slices.Concat(to.made, to.others.Made), nil
}

func (t targets) counterparty(e engine.Effect) (id.ID, bool) {
	if e.CounterpartyName != "" {
		u, ok := t.others.ByName[e.CounterpartyName]
		return u, ok
	}
	u, err := id.Parse(e.CounterpartyID)
	if err != nil {
		return id.ID{}, false
	}
	u, ok := t.others.ByID[u]
	return u, ok
}

// targets finds all records that the verdicts refer to, with one query for each kind. A tag that
// was deleted since the rule was saved is created again.
func (b *Rulebook) targets(ctx context.Context, tx pg.Tx, verdicts []verdict) (targets, error) {
	var add, tags, names set
	var ids []id.ID
	for _, v := range verdicts {
		if e := v.outcome.Counterparty; e != nil {
			if e.CounterpartyName != "" {
				names.add(e.CounterpartyName)
			} else if u, err := id.Parse(e.CounterpartyID); err == nil && !slices.Contains(ids, u) {
				ids = append(ids, u)
			}
		}
		for _, e := range v.outcome.Tags {
			tags.add(e.Tag)
			if !e.Removed {
				add.add(e.Tag)
			}
		}
	}
	var t targets
	var err error
	if t.made, err = b.categories.Register(ctx, tx, add.list); err != nil {
		return t, err
	}
	if t.tags, err = bySlug(ctx, tx, `select id, slug from tag where slug = any($1) and deleted_at is null
		order by id for share`, tags.list); err != nil {
		return t, err
	}
	if len(ids)+len(names.list) > 0 {
		t.others, err = counterparty.Assign(ctx, tx, ids, names.list)
	}
	return t, err
}

// A set holds distinct texts in the order in which they were added.
type set struct {
	list []string
	seen map[string]bool
}

func (s *set) add(v string) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if !s.seen[v] {
		s.seen[v], s.list = true, append(s.list, v)
	}
}

// bySlug runs a query that selects ids by slugs, and returns the ids by slug.
func bySlug(ctx context.Context, tx pg.Tx, sql string, slugs []string) (map[string]id.ID, error) {
	if len(slugs) == 0 {
		return map[string]id.ID{}, nil
	}
	rows, err := pg.All[slugged](ctx, tx, sql, slugs)
	out := make(map[string]id.ID, len(rows))
	for _, r := range rows {
		out[r.Slug] = r.ID
	}
	return out, err
}

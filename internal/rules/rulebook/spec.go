package rulebook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

// The actions that need records of the store.
const (
	setCategory = "set_category"
	addTag      = "add_tag"
)

// content holds the parsed conditions and actions of a rule, with every name in them resolved.
type content struct {
	tree    engine.Tree
	actions []engine.Action
}

// A draftRule is a rule's content that is being checked, with the faults found so far.
type draftRule struct {
	content
	faults []errs.Detail
	short  bool // set_category was given in the short form, as category_slug
}

// parse parses conditions and actions as the caller wrote them, and collects all faults. If a part
// is nil, the rule keeps it.
func (d *draftRule) parse(conditions Conditions, actions []Action) error {
	if conditions != nil {
		raw, err := json.Marshal(conditions)
		if err != nil {
			return fmt.Errorf("print conditions: %w", err)
		}
		tree, faults := engine.ParseTree("conditions", raw)
		d.tree = tree
		d.add(faults)
	}
	if actions != nil {
		raw, err := json.Marshal(actions)
		if err != nil {
			return fmt.Errorf("print actions: %w", err)
		}
		parsed, faults := engine.ParseActions("actions", raw)
		d.actions = parsed
		d.add(faults)
	}
	return nil
}

func (d *draftRule) add(faults []engine.Fault) {
	for _, f := range faults {
		d.fault(f.Path, f.Code, "%s", f.Message)
	}
}

func (d *draftRule) fault(field, code, format string, args ...any) {
	d.faults = append(d.faults, errs.Detail{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
}

// missing adds the fault of a field that names a record which does not exist.
func (d *draftRule) missing(field, kind string) {
	d.faults = append(d.faults, errs.Detail{
		Field: field, Code: "reference", Lookup: kind,
		Message: fmt.Sprintf("%[1]s not found; {%[1]s.list} lists them", kind),
	})
}

// categorize sets the category of the rule's set_category action. The other actions stay.
func (d *draftRule) categorize(slug string) {
	d.short = true
	for i := range d.actions {
		if d.actions[i].Type == setCategory {
			d.actions[i].CategorySlug = slug
			return
		}
	}
	d.actions = append(d.actions, engine.Action{Type: setCategory, CategorySlug: slug})
}

// names holds all records that rules refer to. They are resolved with one query for each kind, not
// for each rule.
type names struct {
	accounts, users, categories, counterparties map[string]id.ID
	slugs                                       map[id.ID]string // of categories
}

const (
	accountsNamed = `select id, id::text as name, short_id from account
		where id = any($1::uuid[]) or short_id = any($2)`
	usersNamed = `select id, id::text as name, short_id from member
		where deleted_at is null and (id = any($1::uuid[]) or short_id = any($2))`
	categoriesNamed = `select id, slug as name, short_id from category
		where deleted_at is null and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))`
	counterpartiesNamed = `select coalesce(canonical_id, id) as id, id::text as name, short_id from counterparty
		where deleted_at is null and (id = any($1::uuid[]) or short_id = any($2))`
)

// resolve looks up the records that the drafts refer to, and replaces each reference with an id or
// a slug. A reference to a missing record is a fault.
func (b *Rulebook) resolve(ctx context.Context, q pg.Querier, drafts []*draftRule) error {
	n, err := lookUp(ctx, q, drafts)
	if err != nil {
		return err
	}
	for _, d := range drafts {
		for _, ref := range d.tree.Refs() {
			if n.value(ref) == "" {
				d.missing("conditions."+ref.Path, kinds[ref.Field])
			}
		}
		d.tree = d.tree.Resolved(n.value)
		for i := range d.actions {
			n.action(d, i)
		}
	}
	return nil
}

// The fields of conditions that refer to records.
const (
	accountID     = "account_id"
	userID        = "user_id"
	categoryField = "category"
)

var kinds = map[string]string{accountID: "account", userID: "user", categoryField: "category"}

func lookUp(ctx context.Context, q pg.Querier, drafts []*draftRule) (*names, error) {
	var accounts, users, categories, counterparties []string
	for _, d := range drafts {
		for _, ref := range d.tree.Refs() {
			switch ref.Field {
			case accountID:
				accounts = append(accounts, ref.Value)
			case userID:
				users = append(users, ref.Value)
			case categoryField:
				categories = append(categories, ref.Value)
			}
		}
		for _, a := range d.actions {
			if a.CategorySlug != "" {
				categories = append(categories, a.CategorySlug)
			}
			if a.CounterpartyID != "" {
				counterparties = append(counterparties, a.CounterpartyID)
			}
		}
	}
	n := &names{slugs: map[id.ID]string{}}
	for _, look := range []struct {
		refs []string
		sql  string
		into *map[string]id.ID
	}{
		{accounts, accountsNamed, &n.accounts},
		{users, usersNamed, &n.users},
		{categories, categoriesNamed, &n.categories},
		{counterparties, counterpartiesNamed, &n.counterparties},
	} {
		slices.Sort(look.refs)
		found, err := pg.Names(ctx, q, slices.Compact(look.refs), look.sql)
		if err != nil {
			return nil, err
		}
		*look.into = found
	}
	err := n.readSlugs(ctx, q)
	return n, err
}

// readSlugs reads the slugs of the resolved categories.
func (n *names) readSlugs(ctx context.Context, q pg.Querier) error {
	ids := []id.ID{}
	for _, u := range n.categories {
		ids = append(ids, u)
	}
	rows, err := pg.All[slugged](ctx, q, `select id, slug from category where id = any($1)`, ids)
	for _, r := range rows {
		n.slugs[r.ID] = r.Slug
	}
	return err
}

type slugged struct {
	ID   id.ID  `db:"id"`
	Slug string `db:"slug"`
}

// value returns the stored form of a reference: a UUID, or a category's slug; "" if there is no
// such record.
func (n *names) value(ref engine.Ref) string {
	switch ref.Field {
	case accountID:
		return uuid(n.accounts, ref.Value)
	case userID:
		return uuid(n.users, ref.Value)
	default:
		return n.slugs[n.categories[ref.Value]]
	}
}

func uuid(found map[string]id.ID, ref string) string {
	if u, ok := found[ref]; ok {
		return u.String()
	}
	return ""
}

// action resolves the references of the ith action of a draft.
func (n *names) action(d *draftRule, i int) {
	a, path := &d.actions[i], fmt.Sprintf("actions[%d].", i)
	if a.CategorySlug != "" {
		if slug := n.slugs[n.categories[a.CategorySlug]]; slug != "" {
			a.CategorySlug = slug
		} else {
			if d.short {
				path = ""
			}
			d.missing(path+"category_slug", "category")
		}
	}
	if a.CounterpartyID != "" {
		if u := uuid(n.counterparties, a.CounterpartyID); u != "" {
			a.CounterpartyID = u
		} else {
			d.missing(path+"counterparty_id", "counterparty")
		}
	}
}

// added returns the tags that actions add, to be created.
func added(actions []engine.Action) []string {
	var slugs []string
	for _, a := range actions {
		if a.Type == addTag {
			slugs = append(slugs, a.TagSlug)
		}
	}
	return slugs
}

// stored returns the content in its stored form.
func (c content) stored() (conditions, actions []byte, err error) {
	if conditions, err = json.Marshal(c.tree); err != nil {
		return nil, nil, fmt.Errorf("print conditions: %w", err)
	}
	if actions, err = json.Marshal(c.actions); err != nil {
		return nil, nil, fmt.Errorf("print actions: %w", err)
	}
	return conditions, actions, nil
}

// trigger parses a trigger that the schema has validated.
func trigger(given string) string {
	t, _ := engine.ParseTrigger(given)
	return string(t)
}

// priority returns the rule's priority. If both a number and a stage are given, the number counts.
func priority(stage *string, number *int) *int {
	if number != nil || stage == nil {
		return number
	}
	s, _ := engine.StageNamed(*stage) // the schema has checked it
	return &s.Priority
}

package category

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// newValues holds a category's columns to be written.
type newValues struct {
	ID        id.ID
	Slug      string
	Name      string
	Parent    *id.ID
	Kind      *string
	Icon      string
	Color     string
	SortOrder int
	Hidden    bool
}

// parentOf returns the slug of the category's parent after the import.
func (p *plan) parentOf(slug string) string {
	if l := p.bySlug[slug]; l != nil {
		return l.parent
	}
	return p.parent[slug]
}

func (p *plan) exists(slug string) bool { return p.bySlug[slug] != nil || p.stored[slug] != nil }

// checkWhole finds errors of the file as a whole: unknown slugs, a third level, and merges without
// a target.
func (p *plan) checkWhole() {
	children := map[string]bool{}
	for slug := range p.stored {
		if l := p.bySlug[slug]; l == nil || l.into == "" {
			children[p.parentOf(slug)] = true
		}
	}
	for _, l := range p.lines {
		if l.into == "" {
			children[l.parent] = true
		}
	}
	for _, l := range p.lines {
		slug := l.want.Slug
		switch {
		case l.parent == "":
		case !p.exists(l.parent):
			p.fault(l.number, errs.InvalidReference,
				"parent_slug names a category that is neither in the file nor in the tree")
		case l.parent == slug || p.parentOf(l.parent) != "":
			p.fault(l.number, errs.Conflict, "parent_slug must name a primary: the tree has two levels")
		case p.bySlug[l.parent] != nil && p.bySlug[l.parent].into != "" && l.into == "":
			p.fault(l.number, errs.Conflict, "parent_slug names a category that this file merges into another")
		case children[slug] && l.into == "":
			p.fault(l.number, errs.Conflict, "%s has subcategories and cannot become a subcategory", slug)
		}
		if l.into != "" {
			p.settleMerge(l)
		}
	}
}

func (p *plan) settleMerge(l *line) {
	switch target := p.bySlug[l.into]; {
	case l.old == nil:
		p.fault(l.number, errs.InvalidReference, "%s does not exist, and only existing categories can be merged",
			l.want.Slug)
	case !p.exists(l.into):
		p.fault(l.number, errs.InvalidReference,
			"merge_into names a category that is neither in the file nor in the tree")
	case l.into == l.want.Slug || target != nil && target.into != "":
		p.fault(l.number, errs.Conflict, "merge_into must name a category that is not merged itself")
	}
}

// changes sorts the lines into categories to create, to update and to merge. Primaries come before
// their subcategories.
func (p *plan) changes() (created, updated []*newValues, merges []*line) {
	for _, primary := range []bool{true, false} {
		for _, l := range p.lines {
			if (l.parent == "") != primary {
				continue
			}
			switch {
			case l.into != "":
				merges = append(merges, l)
			case l.old == nil:
				created = append(created, p.placed(l))
			case p.differs(l):
				updated = append(updated, p.placed(l))
			}
		}
	}
	return created, updated, merges
}

func (p *plan) differs(l *line) bool {
	o, w := l.old, l.want
	return o.Name != w.Name || o.Icon != w.Icon || o.Color != w.Color || o.SortOrder != w.SortOrder ||
		o.Archived != w.Hidden || p.parent[w.Slug] != l.parent
}

// placed sets the category's parent, or its kind if it has no parent. The same file may create the
// parent.
func (p *plan) placed(l *line) *newValues {
	w := &l.want
	switch {
	case l.parent == "":
		w.Kind = new("expense")
		if l.old != nil {
			w.Kind = &l.old.Kind
		}
	case p.stored[l.parent] != nil:
		w.Parent = &p.stored[l.parent].ID
	default:
		w.Parent = &p.bySlug[l.parent].want.ID
	}
	return w
}

func (p *plan) resolve(now []Category, merges []*line) []merge {
	at := map[string]Category{}
	for _, c := range now {
		at[c.Slug] = c
	}
	out := make([]merge, len(merges))
	for i, l := range merges {
		out[i] = merge{at[l.want.Slug], at[l.into]}
	}
	return out
}

// columns turns categories into one array per column, for unnest.
func columns(rows []*newValues) pg.Args {
	n := len(rows)
	ids, shorts, slugs, names := make([]id.ID, n), make([]string, n), make([]string, n), make([]string, n)
	parents, kinds := make([]*id.ID, n), make([]*string, n)
	icons, colors, sorts, hidden := make([]string, n), make([]string, n), make([]int, n), make([]bool, n)
	usual := make([]string, n)
	for i, r := range rows {
		ids[i], shorts[i], slugs[i] = r.ID, r.ID.Short(), r.Slug
		names[i], parents[i], kinds[i] = r.Name, r.Parent, r.Kind
		icons[i], colors[i], sorts[i], hidden[i], usual[i] = r.Icon, r.Color, r.SortOrder, r.Hidden, colorOf(r.Slug)
	}
	return pg.Args{
		"ids": ids, "shorts": shorts, "slugs": slugs, "names": names, "parents": parents, "kinds": kinds,
		"icons": icons, "colors": colors, "sorts": sorts, "hidden": hidden, "usual": usual,
	}
}

// insert writes new categories in one statement, and generates their ids.
func (f *Categories) insert(ctx context.Context, tx pg.Tx, rows []*newValues) error {
	if len(rows) == 0 {
		return nil
	}
	err := pg.Redraw(ctx, tx, "category_short_id", func(tx pg.Tx) error {
		for _, r := range rows {
			r.ID = id.New() // in place: subcategories in the same batch refer to it
		}
		_, err := pg.Exec(ctx, tx, `
			insert into category (id, short_id, slug, display_name, parent_id, kind, icon, color, sort_order, hidden)
			select v.id, v.short_id, v.slug, v.display_name, v.parent_id, v.kind, v.icon,
				coalesce(nullif(lower(v.color), ''), nullif(p.color, ''), v.usual), v.sort_order, v.hidden -- without a color it has its primary's
			from unnest(@ids::uuid[], @shorts::text[], @slugs::text[], @names::text[], @parents::uuid[],
				@kinds::text[], @icons::text[], @colors::text[], @sorts::int[], @hidden::bool[], @usual::text[])
				v (id, short_id, slug, display_name, parent_id, kind, icon, color, sort_order, hidden, usual)
			left join category p on p.id = v.parent_id`, columns(rows))
		return err
	})
	return treeFault(err)
}

// rewrite updates the changed categories in one statement.
func (f *Categories) rewrite(ctx context.Context, tx pg.Tx, rows []*newValues) error {
	if len(rows) == 0 {
		return nil
	}
	if err := forsake(ctx, tx, idsOf(rows)); err != nil {
		return err
	}
	_, err := pg.Exec(ctx, tx, `
		update category c set
			display_name = v.display_name, parent_id = v.parent_id, kind = v.kind, icon = v.icon, color = v.color,
			sort_order = v.sort_order, hidden = v.hidden, updated_at = clock_timestamp()
		from unnest(@ids::uuid[], @names::text[], @parents::uuid[], @kinds::text[], @icons::text[], @colors::text[],
			@sorts::int[], @hidden::bool[])
			v (id, display_name, parent_id, kind, icon, color, sort_order, hidden)
		where c.id = v.id`, columns(rows))
	return treeFault(err)
}

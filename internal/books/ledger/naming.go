package ledger

import (
	"context"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A naming holds the names that transactions are shown with, at one version: accounts with their
// owners, categories, tags. It is immutable. A page that joined these tables would spend more on
// them than on its transactions.
//
// Servers cache a naming but never trust it: every statement that reads transactions also returns
// the current version, and the names of another version are read again.
type naming struct {
	version    id.ID
	accounts   map[id.ID]*namedAccount
	categories map[id.ID]*namedCategory
	slugs      map[string]*namedCategory // of categories that are not deleted
	shorts     map[string]*namedCategory
	tags       map[id.ID]string // slugs of tags that are not deleted
}

type namedAccount struct {
	name       text.Untrusted
	provider   string
	connection *id.ID
	user       *id.ID
	userName   *string
}

type namedCategory struct {
	id          id.ID
	slug        string
	displayName string
	deleted     bool
	children    []id.ID // not deleted
}

// names returns the names of that version.
func (b *Books) names(ctx context.Context, q pg.Querier, version id.ID) (*naming, error) {
	if n := b.known(q); n != nil && n.version == version {
		return n, nil
	}
	n, err := readNaming(ctx, q)
	if err == nil && q == pg.Querier(b.db) {
		b.naming.Store(n)
	}
	return n, err
}

// known returns the naming that was read last, or nil. In a transaction it is always nil, because
// the transaction's own changes have no version before it commits.
func (b *Books) known(q pg.Querier) *naming {
	if q != pg.Querier(b.db) {
		return nil
	}
	return b.naming.Load()
}

func readNaming(ctx context.Context, q pg.Querier) (*naming, error) {
	rows, err := pg.All[struct {
		Version    id.ID          `db:"version"`
		Kind       string         `db:"kind"`
		ID         id.ID          `db:"id"`
		Short      string         `db:"short_id"`
		Name       text.Untrusted `db:"name"` // of an account; slugs are not untrusted
		Other      string         `db:"other"`
		Deleted    bool           `db:"deleted"`
		Connection *id.ID         `db:"connection_id"`
		Above      *id.ID         `db:"above"`
		UserName   *string        `db:"user_name"`
	}](ctx, q, `
		select n.version, x.* from naming n left join (
			select 'account' as kind, a.id, a.short_id, coalesce(nullif(a.display_name, ''), a.name) as name,
				a.provider as other, false as deleted, a.connection_id, m.id as above, m.name as user_name
			from account a left join connection cn on cn.id = a.connection_id left
				join member m on m.id = coalesce(a.owner_id, cn.member_id)
			union all
			select 'category', id, short_id, slug, display_name, (deleted_at is not null), null, parent_id, null
				from category
			union all
			select 'tag', id, short_id, slug, '', deleted_at is not null, null::uuid, null, null::text
				from tag) x on true`)
	if err != nil {
		return nil, err
	}
	n := &naming{
		accounts: map[id.ID]*namedAccount{}, categories: map[id.ID]*namedCategory{},
		slugs: map[string]*namedCategory{}, shorts: map[string]*namedCategory{}, tags: map[id.ID]string{},
	}
	above := map[id.ID][]id.ID{}
	for _, r := range rows {
		n.version = r.Version
		switch {
		case r.Kind == "account":
			n.accounts[r.ID] = &namedAccount{
				name: r.Name, provider: r.Other, connection: r.Connection,
				user: r.Above, userName: r.UserName,
			}
		case r.Kind == "category":
			c := &namedCategory{id: r.ID, slug: r.Name.Plain(), displayName: r.Other, deleted: r.Deleted}
			n.categories[r.ID] = c
			if !r.Deleted {
				n.slugs[c.slug], n.shorts[r.Short] = c, c
			}
			if r.Above != nil && !r.Deleted {
				above[*r.Above] = append(above[*r.Above], r.ID)
			}
		case !r.Deleted:
			n.tags[r.ID] = r.Name.Plain()
		}
	}
	for u, c := range n.categories {
		c.children = above[u]
	}
	return n, nil
}

// under returns the named category and its subcategories, or nil if there is no such category.
func (n *naming) under(ref string) []id.ID {
	var c *namedCategory
	if u, err := id.Parse(ref); err == nil {
		c = n.categories[u]
	} else if c = n.slugs[strings.ToLower(ref)]; c == nil { // a slug may have the shape of a short id
		c = n.shorts[ref]
	}
	if c == nil || c.deleted {
		return nil
	}
	return append([]id.ID{c.id}, c.children...)
}

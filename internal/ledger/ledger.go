// Package ledger keeps the books: categories and tags, and with them what every transaction is filed under.
// It must not know where transactions come from nor what a rule is; packages that hang on a category hand themselves in as a CategoryUser.
package ledger

import (
	"context"

	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Books are one household's books.
type Books struct {
	users []CategoryUser
}

// New makes Books. The users are asked before a category goes and told where its things go.
func New(users ...CategoryUser) *Books {
	return &Books{users: append([]CategoryUser{mappings{}}, users...)}
}

// A CategoryUser is anything that points at categories and must follow when one is merged into another.
type CategoryUser interface {
	// Uses says how many things point at the category, and what they are in the plural: "rules".
	Uses(ctx context.Context, q pg.Querier, category id.ID) (count int64, what string, err error)
	// Move points what points at from[i] at into[i], for all i at once.
	Move(ctx context.Context, tx pg.Tx, from, into []id.ID) error
}

// mappings are the rows that turn a bank's category into ours.
type mappings struct{}

func (mappings) Uses(ctx context.Context, q pg.Querier, category id.ID) (int64, string, error) {
	n, err := pg.Value[int64](ctx, q, `select count(*) from category_mapping where category_id = $1`, category)
	return n, "mappings of bank categories", err
}

func (mappings) Move(ctx context.Context, tx pg.Tx, from, into []id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update category_mapping m set category_id = v.into_id
		from unnest($1::uuid[], $2::uuid[]) v (from_id, into_id) where m.category_id = v.from_id`, from, into)
	return err
}

// Ops is the ledger's menu.
func (b *Books) Ops() []*op.Op { return append(b.tagOps(), b.categoryOps()...) }

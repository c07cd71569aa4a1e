package ledger

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// refundsOf returns the confirmed refunds of transactions that get another category.
func refundsOf(ctx context.Context, q pg.Querier, edits []Edit, ids []id.ID) ([]id.ID, error) {
	if !slices.ContainsFunc(edits, func(e Edit) bool { return e.Field == journal.FieldCategory }) {
		return nil, nil
	}
	return pg.Values[id.ID](ctx, q, `select t.id from transaction t where t.refund_of = any($1)
		and t.deleted_at is null and `+journal.Leaf, ids)
}

// filed returns, for each purchase, its refunds that have the same category. Refunds with another
// category do not follow their purchase.
func (c *current) filed(refunds []id.ID) map[id.ID][]id.ID {
	out := map[id.ID][]id.ID{}
	for _, u := range refunds {
		r := c.rows[u]
		if r == nil || r.Refund == nil {
			continue
		}
		if p, err := id.Parse(*r.Refund); err == nil && c.rows[p] != nil && equal(c.rows[p].Category, r.Category) {
			out[p] = append(out[p], u)
		}
	}
	return out
}

// follow returns the edits that give refunds the new category of their purchase. A refund whose
// category the same call sets keeps the category from the call.
func (c *current) follow(filed map[id.ID][]id.ID, entries []journal.Entry, given []Edit, outcomes []Outcome) []Edit {
	own := map[id.ID]bool{}
	for i, e := range given {
		if e.Field == journal.FieldCategory && (outcomes[i] == Changed || outcomes[i] == Unchanged) {
			own[e.Transaction] = true
		}
	}
	var edits []Edit
	for _, e := range entries {
		if e.Field != journal.FieldCategory {
			continue
		}
		for _, u := range filed[e.SubjectID] {
			if own[u] {
				continue
			}
			edits = append(edits, Edit{
				Transaction: u, Field: e.Field, Value: e.After, Source: c.rows[u].CategorySource, Rule: e.RuleID,
				Note: e.Note, follows: true,
			})
		}
	}
	return edits
}

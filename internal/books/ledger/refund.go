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

// filed returns the refunds, by purchase, that have its category. One that somebody filed elsewhere
// goes its own way.
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

// follow returns the edits by which refunds get the new category of their purchase.
func (c *current) follow(filed map[id.ID][]id.ID, entries []journal.Entry) []Edit {
	var edits []Edit
	for _, e := range entries {
		if e.Field != journal.FieldCategory {
			continue
		}
		for _, u := range filed[e.SubjectID] {
			edits = append(edits, Edit{
				Transaction: u, Field: e.Field, Value: e.After, Source: c.rows[u].CategorySource, Rule: e.RuleID,
				Note: e.Note, follows: true,
			})
		}
	}
	return edits
}

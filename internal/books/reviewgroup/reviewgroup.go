// Package reviewgroup shows the transactions that wait for review by payee, with the category that
// earlier decisions suggest. It changes nothing: package review closes the reviews of a group.
package reviewgroup

import (
	"coffer/internal/books/ledger"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Groups are the review groups of one household.
type Groups struct {
	db    *pg.DB
	books *ledger.Books
}

// New returns Groups that use those books.
func New(db *pg.DB, books *ledger.Books) *Groups { return &Groups{db, books} }

// Ops returns the operations on review groups.
func (g *Groups) Ops() []*op.Op {
	return []*op.Op{
		op.Quiet(ledger.CommonFilters(op.Reading(op.Spec{
			Name: "review.groups", Route: "GET /review/groups", Tool: "list_review_groups", Core: true,
			Summary: "Groups the review queue by payee, largest group first.",
			Agent: "Groups the review queue by payee, largest first, with amounts, categories and a " +
				"suggestion: what people (basis person), rules or agents (history) decided for this payee " +
				"before, or its counterparty's category. Start a review here. Categorize a group with " +
				"update_transactions: filter {tags: [\"needs-review\"], counterparty_id}, or {tags, payee, " +
				"counterparty_id: \"none\"}. Takes all filters of query_transactions.",
		}, g.ReviewGroups)), "user_id", "category", "tags", "counterparty_id", "search"),
	}
}

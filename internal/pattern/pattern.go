// Package pattern finds what transactions have in common: the payees that wait for review, payments
// that come back regularly, and findings that somebody should look at. It changes
// transactions only when somebody confirms a finding, through the ledger.
package pattern

import (
	"coffer/internal/account"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Patterns looks for patterns in one household's transactions.
type Patterns struct {
	db       *pg.DB
	books    *ledger.Books
	accounts *account.Register
	many     int // manyForms; only a test has another
}

// New returns the patterns of those books and accounts.
func New(db *pg.DB, books *ledger.Books, accounts *account.Register) *Patterns {
	return &Patterns{db, books, accounts, manyForms}
}

// Ops is the menu of patterns.
func (p *Patterns) Ops() []*op.Op {
	return append(p.recurringOps(),
		op.Quiet(ledger.CommonFilters(op.Reading(op.Spec{
			Name: "review.groups", Route: "GET /review/groups", Tool: "list_review_groups",
			Summary: "Groups the review queue by payee, largest group first.",
			Agent: "Groups the review queue by payee, largest first, with amounts, categories and a " +
				"suggestion: what people (basis person), rules or agents (history) decided for this payee " +
				"before, or its counterparty's category. Start a review here. Categorize a group with " +
				"update_transactions: filter {tags: [\"needs-review\"], counterparty_id}, or {tags, payee, " +
				"counterparty_id: \"none\"}. Takes all filters of query_transactions.",
		}, p.ReviewGroups)), "user_id", "category", "tags", "counterparty_id", "search"),
	)
}

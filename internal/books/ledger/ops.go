package ledger

import (
	"strings"

	"coffer/internal/platform/op"
)

// Ops returns the ledger's operations.
func (b *Books) Ops() []*op.Op {
	return []*op.Op{
		op.Quiet(op.Reading(op.Spec{
			Name: "transaction.list", Route: "GET /transactions", Tool: "query_transactions", Core: true,
			Summary: "Lists transactions, newest first.",
			Agent: "Finds transactions by account, date, amount, category, tag, counterparty or text. amount: " +
				"positive is money out. For totals use transaction_summary and for a count use count_only; do not " +
				"add amounts up yourself. Also takes: " + strings.Join(rareFilters, ", ") + ". " +
				"The review queue is tags: [\"needs-review\"].",
		}, b.Transactions), rareFilters...),
		op.Reading(op.Spec{
			Name: "transaction.count", Route: "GET /transactions/count",
			Summary: "Counts transactions, and adds them up by currency.",
		}, b.Counted),
		op.StreamingText(op.Spec{
			Name: "transaction.export", Heavy: true, Route: "GET /transactions/export", TextOut: "text/csv",
			Summary: "Exports the transactions that match a filter as CSV, newest first.",
		}, b.Export),
		op.Reading(op.Spec{
			Name: "transaction.get", Route: "GET /transactions/{transaction_id}", Tool: "get_transaction", Core: true,
			Summary: "Shows one transaction.",
			Agent:   "Shows every field of one transaction.",
		}, b.Transaction),
		op.Writing(op.Spec{
			Name: "transaction.update", Route: "PATCH /transactions/{transaction_id}",
			Summary: "Changes a transaction's category or counterparty, adds a comment, leaves it out of totals, or " +
				"edits a manually entered transaction.",
		}, b.PatchTransaction),
		op.Writing(op.Spec{
			Name: "transaction.delete", Route: "DELETE /transactions/{transaction_id}",
			Summary: "Deletes a transaction; it can be restored.",
		}, b.DeleteTransaction),
		op.Writing(op.Spec{
			Name: "transaction.restore", Route: "POST /transactions/{transaction_id}/restore",
			Summary: "Restores a deleted transaction.",
		}, b.RestoreTransaction),
		op.Writing(op.Spec{
			Name: "transaction.split", Route: "PUT /transactions/{transaction_id}/split",
			Tool: "split_transaction", Overwrites: true,
			Runs: op.Runs{
				Reach: op.ReachNever, Instead: "only people can split transactions; add a comment suggesting the split",
			},
			Summary: "Splits a transaction into parts, which totals count instead, or edits its parts.",
			Agent: "Splits a transaction into 2 to 20 parts with amounts and categories of their own, such " +
				"as the items of a receipt. One part without an amount gets the remainder. To edit a split, " +
				"pass all parts, with the id of those to keep. revert_change removes the split.",
		}, b.SplitTransaction),
		op.Writing(op.Spec{
			Name: "transaction.join", Route: "DELETE /transactions/{transaction_id}/split",
			Summary: "Removes a split.",
		}, b.JoinTransaction),
		op.Writing(op.Spec{
			Name: "transaction.categorize", Route: "POST /transactions/batch-categorize",
			Summary: "Sets the category of up to 500 transactions.",
		}, b.BatchCategorize),
		op.Shaped(op.Writing(op.Spec{
			Name: "transaction.change", Route: "POST /transactions/update",
			Tool: "update_transactions", Core: true, Overwrites: true,
			Runs:    op.Runs{Reach: op.ReachNamed, Plans: []string{"filter"}},
			Summary: "Changes up to 50 transactions with a result for each, or applies one change to many.",
			Agent: "Changes transactions in one change: category, tags, counterparty, comment. Pass " +
				"operations; or set for the same change to many, with transaction_ids or filter. With " +
				"filter, call it with dry_run first, then with expect: its matched count. The result lists " +
				"only operations that were not fully applied. Close a review with tags_to_remove: " +
				"[\"needs-review\"] in the operation that sets the category. held: a person set the field; " +
				"use force only if the person asks for it.",
		}, b.UpdateTransactions), toolUpdated),
		op.Writing(op.Spec{
			Name: "transaction.bulk", Route: "POST /transactions/bulk",
			Summary: "Applies one change to all transactions that match a filter, up to 10,000.",
		}, b.BulkTransactions),
		op.Writing(op.Spec{
			Name: "transaction.tag", Route: "POST /transactions/{transaction_id}/tags",
			Tool: "add_transaction_tag", Idempotent: true,
			Runs:    op.Runs{Reach: op.ReachNamed},
			Summary: "Adds a tag to a transaction.",
			Agent: "Adds a tag to a transaction; an unknown slug is created. For several transactions use " +
				"update_transactions.",
		}, b.AddTag),
		op.Writing(op.Spec{
			Name: "transaction.untag", Route: "DELETE /transactions/{transaction_id}/tags/{tag_slug}",
			Tool: "remove_transaction_tag", Overwrites: true, Runs: op.Runs{Reach: op.ReachNamed},
			Summary: "Removes a tag from a transaction.",
			Agent:   "Removes a tag from a transaction. Removing needs-review closes its review.",
		}, b.RemoveTag),
	}
}

package finding

import "coffer/internal/platform/op"

// Ops returns the operations on findings, and the tools with which agents find and review patterns.
func (d *Desk) Ops() []*op.Op {
	return []*op.Op{
		op.Writing(op.Spec{
			Tool:    "review_pattern",
			Summary: "Confirms, dismisses or names a recurring payment, or confirms or dismisses a finding.",
			Agent: "Confirms, dismisses or names a recurring payment from find_patterns, confirms a refund or " +
				"duplicate, or dismisses a finding (auto reopens it). Dismissed items are not shown again. " +
				"Fails if a person " +
				"already decided; use force only if the person asks.",
		}, d.Review),
		op.Reading(op.Spec{
			Tool: "find_patterns", Core: true, Heavy: true,
			Summary: "Finds recurring payments, duplicate charges, refunds and unusual charges.",
			Agent: "Finds patterns in transactions: recurring (subscriptions, bills, wages; highest yearly " +
				"amount first), price_change, missed (overdue), duplicate (charged twice), refund (with its " +
				"purchase), unusual (much larger than usual, or a large first one). Use it instead of " +
				"reading transactions. yearly is the yearly total by currency, without transfers. For the " +
				"transactions of one, use query_transactions with recurring_id.",
		}, d.Find),
		op.Reading(op.Spec{
			Name: "finding.list", Route: "GET /findings", Heavy: true,
			Summary: "Lists findings, newest first: duplicate charges, refunds, unusual charges, price " +
				"changes, missed payments, balance mismatches.",
		}, d.Findings),
		op.Writing(op.Spec{
			Name: "finding.dismiss", Route: "PUT /findings/{id}",
			Summary: "Confirms, dismisses or reopens a finding.",
		}, d.SetFinding),
	}
}

package pattern

import "coffer/internal/op"

// recurringOps is the menu of recurring payments and findings.
func (p *Patterns) recurringOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "recurring.list", Route: "GET /recurring",
			Summary: "Lists recurring payments, those with the newest price change first.",
		}, p.List),
		op.Writing(op.Spec{
			Name: "recurring.create", Route: "POST /recurring",
			Summary: "Adds a recurring payment that coffer didn't detect, starting from one transaction.",
		}, p.Create),
		op.Reading(op.Spec{
			Name: "recurring.get", Route: "GET /recurring/{id}",
			Summary: "Shows one recurring payment with its price changes and payments.",
		}, p.Show),
		op.Writing(op.Spec{
			Name: "recurring.update", Route: "PATCH /recurring/{id}",
			Summary: "Confirms, dismisses or names a recurring payment.",
		}, p.Patch),
		op.Writing(op.Spec{
			Tool:    "review_pattern",
			Summary: "Confirms, dismisses or names a recurring payment, or confirms or dismisses a finding.",
			Agent: "Confirms, dismisses or names a recurring payment from find_patterns, confirms a refund or " +
				"duplicate, or dismisses a finding (auto reopens it). Dismissed items are not shown again. " +
				"Fails if a person " +
				"already decided; use force only if the person asks.",
		}, p.Review),
		op.Reading(op.Spec{
			Tool: "find_patterns", Heavy: true,
			Summary: "Finds recurring payments, duplicate charges, refunds and unusual charges.",
			Agent: "Finds patterns in transactions: recurring (subscriptions, bills, wages; highest yearly " +
				"amount first), price_change, missed (overdue), duplicate (charged twice), refund (with its " +
				"purchase), unusual (much larger than usual, or a large first one). Use it instead of " +
				"reading transactions. yearly is the yearly total by currency, without transfers. For the " +
				"transactions of one, use query_transactions with recurring_id.",
		}, p.Find),
		op.Reading(op.Spec{
			Name: "finding.list", Route: "GET /findings", Heavy: true,
			Summary: "Lists findings, newest first: duplicate charges, refunds, unusual charges, price " +
				"changes, missed payments, balance mismatches.",
		}, p.Findings),
		op.Writing(op.Spec{
			Name: "finding.dismiss", Route: "PUT /findings/{id}",
			Summary: "Confirms, dismisses or reopens a finding.",
		}, p.SetFinding),
	}
}

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
			Summary: "Adds a recurring payment that was not found, from one of its transactions.",
		}, p.Create),
		op.Reading(op.Spec{
			Name: "recurring.get", Route: "GET /recurring/{id}", Summary: "Shows one recurring payment.",
		}, p.Get),
		op.Writing(op.Spec{
			Name: "recurring.update", Route: "PATCH /recurring/{id}",
			Summary: "Confirms, dismisses or names a recurring payment.",
		}, p.Patch),
		op.Writing(op.Spec{
			Tool:    "review_pattern",
			Summary: "Confirms, dismisses or names a recurring payment, or dismisses a finding.",
			Agent: "Confirms, dismisses or names a recurring payment of find_patterns, or dismisses a finding " +
				"(state auto opens it again). What is dismissed is not shown again. It fails if a person has " +
				"decided; use force only if the person asks for it.",
		}, p.Review),
		op.Reading(op.Spec{
			Tool: "find_patterns", Heavy: true,
			Summary: "Finds recurring payments, double charges, refunds and unusual charges.",
			Agent: "Finds patterns in the transactions: recurring (subscriptions, bills, wages; largest a " +
				"year first), price_change (a recurring payment went up or down), missed (one is " +
				"overdue), duplicate (charged twice), refund (with its purchase), unusual (much larger " +
				"than usual, or a large first charge). Use it instead of reading transactions. " +
				"yearly_amount is what a year comes to; add up one currency at a time. For the payments " +
				"of one: query_transactions with recurring_id.",
		}, p.Find),
		op.Reading(op.Spec{
			Name: "finding.list", Route: "GET /findings", Heavy: true,
			Summary: "Lists what somebody should look at, newest first: double charges, refunds, unusual charges, " +
				"gaps.",
		}, p.Findings),
		op.Writing(op.Spec{
			Name: "finding.dismiss", Route: "PUT /findings/{id}",
			Summary: "Dismisses a finding, or opens it again.",
		}, p.SetFinding),
	}
}

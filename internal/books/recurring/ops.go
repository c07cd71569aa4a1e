package recurring

import "coffer/internal/platform/op"

// Ops returns the operations on recurring payments.
func (p *Payments) Ops() []*op.Op {
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
	}
}

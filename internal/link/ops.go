package link

import "coffer/internal/op"

// Ops is the menu of account links.
func (l *Links) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{Name: "account-link.list", Route: "GET /account-links", Summary: "Lists which accounts belong together, proposals included, newest first."}, l.List),
		op.Writing(op.Spec{Name: "account-link.create", Route: "POST /account-links", Summary: "Links two accounts, or takes over a proposal; a job then looks for pairs of their transactions."}, l.Create),
		op.Reading(op.Spec{Name: "account-link.get", Route: "GET /account-links/{id}", Summary: "Shows one link."}, l.Get),
		op.Writing(op.Spec{Name: "account-link.update", Route: "PUT /account-links/{id}", Summary: "Confirms or rejects a link; totals follow at once."}, l.Put),
		op.Writing(op.Spec{Name: "account-link.delete", Route: "DELETE /account-links/{id}", Summary: "Takes a link away; the two accounts are not proposed again."}, l.Delete),
		op.Reading(op.Spec{Name: "account-link.matches", Route: "GET /account-links/{id}/matches", Summary: "Lists a link's pairs of transactions, newest first."}, l.Matches),
		op.Writing(op.Spec{Name: "account-link.match", Route: "PUT /account-links/{id}/matches/{match_id}", Summary: "Confirms or rejects one pair of transactions; totals follow at once."}, l.PutMatch),
		op.Long(op.Writing(op.Spec{Name: "account-link.reconcile", Route: "POST /account-links/{id}/reconcile", Summary: "Looks through both accounts for pairs, as a job."}, l.Reconcile), 0, l.jobs.Await),
	}
}

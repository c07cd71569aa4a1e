package accountlink

import "coffer/internal/platform/op"

// Ops returns the operations on account links.
func (l *Links) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "account-link.list", Route: "GET /account-links", Tool: "list_account_links", Core: true,
			Summary: "Lists account links, including suggested ones, newest first.",
			Agent: "Lists account links: pairs of accounts where one duplicates the other (mirror) or money " +
				"moves between them (transfer). Links with confidence auto are only suggested: until " +
				"confirmed, totals count that money twice; check them before you report spending. evidence: " +
				"how many of the possible pairs match. coffer confirms clear transfers itself (source rule).",
		}, l.List),
		op.Writing(op.Spec{
			Name: "account-link.create", Route: "POST /account-links",
			Summary: "Links two accounts or accepts a suggested link; a job then pairs their transactions.",
		}, l.Create),
		op.Reading(op.Spec{
			Name: "account-link.get", Route: "GET /account-links/{id}",
			Summary: "Shows one account link.",
		}, l.Get),
		op.Writing(op.Spec{
			Name: "account-link.update", Route: "PUT /account-links/{id}", Tool: "review_account_link",
			Summary: "Confirms or rejects an account link; totals change immediately.",
			Agent: "Confirms or rejects a suggested account link. A confirmed link changes every total of " +
				"both accounts, so be certain, and tell the household. Counts as one write per pair. Fails " +
				"if a person already decided; use force only if the person asks.",
		}, l.Put),
		op.Writing(op.Spec{
			Name: "account-link.review", Route: "POST /account-links/review",
			Summary: "Confirms or rejects several account links as one change: all of them or none.",
		}, l.Review),
		op.Writing(op.Spec{
			Name: "account-link.delete", Route: "DELETE /account-links/{id}",
			Summary: "Deletes an account link; it is not suggested again.",
		}, l.Delete),
		op.Reading(op.Spec{
			Name: "account-link.matches", Route: "GET /account-links/{id}/matches",
			Summary: "Lists an account link's transaction pairs, newest first.",
		}, l.Matches),
		op.Writing(op.Spec{
			Name: "account-link.match", Route: "PUT /account-links/{id}/matches/{match_id}",
			Summary: "Confirms or rejects one transaction pair; totals change immediately.",
		}, l.PutMatch),
		op.Long(op.Writing(op.Spec{
			Name: "account-link.reconcile", Route: "POST /account-links/{id}/reconcile",
			Summary: "Pairs the transactions of both accounts, as a job.",
		}, l.Reconcile), 0, l.jobs.Await),
	}
}
